//! One walk: every call goes to both stores.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::money::{NanoUsd, Usage};
use kybern_core::plan::StepId;
use kybern_core::ports::{IdentityStore as _, Store, TaskStore as _};
use kybern_core::record::{Expect, Lookup, Merge, PutRecord};
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{
    Attempt, Commit, Effect, Lease, NewChild, NewTask, RenderedArgs, Signal, TaskChange, TaskStatus, WorkerId,
};
use serde_json::json;

use super::super::fixture::{HOUR, LONG, end, release, review};
use super::super::{Harness, Home, World};
use super::compare::{answered, claimed, committed, holdings, refused, steered, submitted};
use super::{ChangeMove, EffectMove, ModelMove, Steering};
use crate::MemStore;

/// What parted the two.
type Divergence = String;

pub(super) struct ModelWalk {
    world: World,
    home: Home,
    model: MemStore,
    tasks: Vec<TaskId>,
    /// Every lease that was granted, oldest first.
    leases: BTreeMap<TaskId, Vec<Lease>>,
}

fn same(store: &str, model: &str) -> Result<(), Divergence> {
    if store == model { Ok(()) } else { Err(format!("\n store: {store}\n model: {model}")) }
}

impl ModelWalk {
    pub(super) async fn new(harness: Harness) -> Self {
        let (world, home) = World::new(harness).await;
        let model = MemStore::simple(world.harness.clock.clone());
        let tenant = world.store().tenant(home.scope.tenant()).await.unwrap().expect("the tenant is there");
        let user = world.store().user(home.scope, home.user).await.unwrap().expect("its user is there");
        let key = world.store().keys(home.scope).await.unwrap().remove(0);
        let event = world.event("tenant.create");
        model.create_tenant(&tenant, &user, &key, &home.key_hash, event).await.unwrap();
        Self { world, home, model, tasks: Vec::new(), leases: BTreeMap::new() }
    }

    pub(super) async fn step(&mut self, next: &ModelMove) -> Result<(), Divergence> {
        match *next {
            ModelMove::Submit { key, body, claim } => self.submit(key, body, claim).await,
            ModelMove::Claim => self.claim().await,
            ModelMove::Heartbeat => self.heartbeat().await,
            ModelMove::TakeOver => self.take_over().await,
            ModelMove::Advance => {
                if !self.world.harness.db_clock {
                    self.world.harness.clock.advance(HOUR);
                }
                Ok(())
            }
            ModelMove::Commit { task, stale, ref effect, ref change, seen } => {
                let Some((id, lease)) = self.lease(task, stale) else { return Ok(()) };
                self.commit(id, &lease, effect, change, seen).await
            }
            ModelMove::Begin { task, generation, attempt, args } => {
                let Some((_, lease)) = self.lease(task, false) else { return Ok(()) };
                self.begin(&lease, generation, attempt, args).await
            }
            ModelMove::Answer { task, wait } => self.answer(self.pick(task), wait).await,
            ModelMove::Callback { task, workflow, body } => self.callback(self.pick(task), workflow, body).await,
            ModelMove::Steer { task, how } => self.steer(self.pick(task), how).await,
        }
    }

    /// Everything that both hold.
    pub(super) async fn finish(&self) -> Result<(), Divergence> {
        let now = self.world.now();
        let store = holdings(self.world.store(), self.home.scope, &self.tasks, now).await;
        let model = holdings(&self.model, self.home.scope, &self.tasks, now).await;
        for (store, model) in store.iter().zip(&model) {
            same(store, model)?;
        }
        same(&store.len().to_string(), &model.len().to_string())
    }

    fn pick(&self, n: usize) -> Option<TaskId> {
        n.checked_rem(self.tasks.len()).and_then(|n| self.tasks.get(n)).copied()
    }

    fn lease(&self, n: usize, stale: bool) -> Option<(TaskId, Lease)> {
        let id = self.pick(n)?;
        let granted = self.leases.get(&id)?;
        let lease = if stale { granted.first() } else { granted.last() };
        lease.map(|lease| (id, lease.clone()))
    }

    fn granted(&mut self, lease: &Lease) {
        self.leases.entry(lease.task()).or_default().push(lease.clone());
    }

    async fn submit(&mut self, key: Option<u8>, body: u8, claim: bool) -> Result<(), Divergence> {
        let key = key.map(|key| format!("key {key}"));
        let task = NewTask { dedupe_key: key, body_hash: Some(format!("body {body}")), ..self.world.new_task() };
        let worker = WorkerId::new("w");
        let claim = claim.then_some((&worker, LONG));
        let store = self.world.store().submit(self.home.scope, task.clone(), claim).await;
        let model = self.model.submit(self.home.scope, task.clone(), claim).await;
        same(&submitted(&store), &submitted(&model))?;
        match model {
            Ok(kybern_core::task::Submitted::New(new)) => {
                self.tasks.push(task.id);
                self.granted(&new.lease);
            }
            Ok(kybern_core::task::Submitted::Queued(_)) => self.tasks.push(task.id),
            Ok(kybern_core::task::Submitted::Duplicate { .. }) | Err(_) => {}
        }
        Ok(())
    }

    /// Claims everything that is due, because which of two that are due equally long comes first is free.
    async fn claim(&mut self) -> Result<(), Divergence> {
        let (worker, now) = (WorkerId::new("w"), self.world.now());
        let mut store = self.world.store().claim_due(&worker, &WorkerCapacity::of(200), LONG, now).await.unwrap();
        let mut model = self.model.claim_due(&worker, &WorkerCapacity::of(200), LONG, now).await.unwrap();
        store.sort_by_key(|claimed| claimed.task.id);
        model.sort_by_key(|claimed| claimed.task.id);
        let told = |found: &[kybern_core::task::Claimed]| found.iter().map(claimed).collect::<Vec<_>>().join("\n");
        same(&told(&store), &told(&model))?;
        model.iter().for_each(|claimed| self.granted(&claimed.lease));
        Ok(())
    }

    async fn heartbeat(&self) -> Result<(), Divergence> {
        let leases: Vec<Lease> = self.leases.values().flatten().cloned().collect();
        let now = self.world.now();
        let store = self.world.store().heartbeat(&leases, LONG, now).await.unwrap();
        let model = self.model.heartbeat(&leases, LONG, now).await.unwrap();
        same(&format!("{store:?}"), &format!("{model:?}"))
    }

    async fn take_over(&self) -> Result<(), Divergence> {
        if self.world.harness.db_clock {
            return Ok(());
        }
        let now = self.world.now();
        let store = self.world.store().take_over(now).await.unwrap();
        let model = self.model.take_over(now).await.unwrap();
        same(&store.to_string(), &model.to_string())
    }

    async fn commit(
        &mut self,
        id: TaskId,
        lease: &Lease,
        effect: &EffectMove,
        change: &ChangeMove,
        seen: bool,
    ) -> Result<(), Divergence> {
        let next = self.model.journal(self.home.scope, id, 0, 1000).await.unwrap().len() + 1;
        let signals = self.model.task(self.home.scope, id).await.unwrap().map_or(0, |task| task.signals);
        let commit = Commit {
            rows: vec![self.world.row(i64::try_from(next).expect("walks are short"))],
            effects: self.effects(id, effect),
            change: self.change(change),
            usage: Usage { cost_nanos: NanoUsd(3), ..Usage::default() },
            audit: vec![self.world.event("step.done")],
            signals_seen: if seen { signals } else { 0 },
            at: self.world.now(),
        };
        let child = commit.effects.iter().find_map(|effect| match effect {
            Effect::Spawn(child) => Some(child.task.id),
            Effect::Put(_)
            | Effect::Link { .. }
            | Effect::Send(_)
            | Effect::Enqueue(_)
            | Effect::Delegate(_)
            | Effect::Answer(_)
            | Effect::Attach(_)
            | Effect::Ask(_)
            | Effect::Close { .. }
            | Effect::Reopen(_)
            | Effect::Cancel(_)
            | Effect::Noun(_) => None,
        });
        let commit = Arc::new(commit);
        let store = self.world.store().commit(lease, Arc::clone(&commit)).await;
        let model = self.model.commit(lease, Arc::clone(&commit)).await;
        same(&committed(&store), &committed(&model))?;
        // Whoever has not heard the answer asks again: nothing is written twice, and what was refused stays refused.
        let store = self.world.store().commit_again(lease, Arc::clone(&commit)).await;
        let again = self.model.commit_again(lease, commit).await;
        same(&committed(&store), &committed(&again))?;
        self.tasks.extend(child.filter(|_| model.is_ok()));
        Ok(())
    }

    fn effects(&self, task: TaskId, effect: &EffectMove) -> Vec<Effect> {
        let effect = match *effect {
            EffectMove::Nothing => return Vec::new(),
            EffectMove::Put { key, expect, merge, value, lookup } => {
                let expect = match expect {
                    0 => Expect::Absent,
                    1 => Expect::Version(1),
                    _ => Expect::Any,
                };
                let merge = [Merge::Fill, Merge::Overwrite, Merge::Union][usize::from(merge % 3)];
                let props = json!({"n": value, "list": [value, "x"]});
                let lookups = lookup.map(|value| Lookup::unique("DOT", value.to_string())).into_iter().collect();
                let put = self.world.put("test.thing", &format!("key {key}"), props, expect);
                Effect::Put(Box::new(PutRecord { merge, lookups, ..put }))
            }
            EffectMove::Send => Effect::Send(Box::new(crate::conformance::outbox::message(&self.world))),
            EffectMove::Spawn => {
                let task = NewTask { parent: Some((task, "start".to_owned())), depth: 1, ..self.world.new_task() };
                Effect::Spawn(Box::new(NewChild { task }))
            }
            EffectMove::Reopen { task: n } => Effect::Reopen(self.pick(n).unwrap_or(task)),
            EffectMove::Cancel { task: n } => Effect::Cancel(self.pick(n).unwrap_or(task)),
            EffectMove::Delegate { workflow } => {
                Effect::Delegate(Box::new(self.world.delegation(&format!("wf-{task}-{workflow}"))))
            }
        };
        vec![effect]
    }

    fn change(&self, change: &ChangeMove) -> TaskChange {
        let now = self.world.now();
        match *change {
            ChangeMove::Keep => TaskChange::Keep,
            ChangeMove::Progress { phase } => TaskChange::Progress {
                status: [TaskStatus::Planning, TaskStatus::Executing][usize::from(phase % 2)],
                intent: (phase == 0).then(|| ("test.intent".to_owned(), 0.5)),
                plan: None,
            },
            ChangeMove::Sleep { waits } => {
                let waits = (1..=waits).map(|seq| self.world.wait("ask", seq)).collect();
                release(TaskStatus::NeedsReview, None, waits)
            }
            ChangeMove::Later => release(TaskStatus::Executing, Some(now.plus(HOUR)), vec![]),
            ChangeMove::Now => release(TaskStatus::Executing, Some(now), vec![]),
            ChangeMove::End { how } => {
                end([TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Cancelled][usize::from(how % 3)])
            }
        }
    }

    async fn begin(&self, lease: &Lease, generation: u32, attempt: u32, args: u8) -> Result<(), Divergence> {
        let attempt = Attempt {
            generation,
            attempt,
            args_hash: format!("args {args}"),
            rendered: (attempt == 1).then(|| {
                let rendered = serde_json::Map::from_iter([("n".to_owned(), args.into())]);
                std::sync::Arc::new(RenderedArgs { args: rendered, saw: 0, tainted: Vec::new() })
            }),
            ..self.world.attempt()
        };
        let store = self.world.store().begin_attempt(lease, &attempt).await;
        let model = self.model.begin_attempt(lease, &attempt).await;
        same(&committed(&store), &committed(&model))
    }

    async fn answer(&self, task: Option<TaskId>, seq: i64) -> Result<(), Divergence> {
        let Some(id) = task else { return Ok(()) };
        let wait = self.world.wait("ask", seq);
        let event = || self.world.event("task.review");
        let store = self.world.store().answer(self.home.scope, id, &wait, review(&wait), event()).await;
        let model = self.model.answer(self.home.scope, id, &wait, review(&wait), event()).await;
        same(&answered(&store), &answered(&model))
    }

    /// Not for a task that has ended: how a late callback is kept is free.
    async fn callback(&self, task: Option<TaskId>, workflow: u8, body: u8) -> Result<(), Divergence> {
        let Some(id) = task else { return Ok(()) };
        if self.model.task(self.home.scope, id).await.unwrap().is_none_or(|task| task.status.is_terminal()) {
            return Ok(());
        }
        let (step, hash, now) = (StepId::trusted("hand_over"), format!("body {body}"), self.world.now());
        let signal = Signal::Callback {
            step: step.clone(),
            workflow_id: format!("wf-{id}-{workflow}"),
            success: true,
            data: json!({"body": body}),
            error: None,
        };
        let store = self.world.store().callback(self.home.scope, id, &step, signal.clone(), &hash, now).await;
        let model = self.model.callback(self.home.scope, id, &step, signal, &hash, now).await;
        let told = |answer: &Result<_, _>| answer.as_ref().map_or_else(refused, |outcome| format!("{outcome:?}"));
        same(&told(&store), &told(&model))
    }

    async fn steer(&self, task: Option<TaskId>, how: Steering) -> Result<(), Divergence> {
        let Some(id) = task else { return Ok(()) };
        let (scope, now) = (self.home.scope, self.world.now());
        let act = async |store: &dyn Store| {
            let event = self.world.event("task.steer");
            match how {
                Steering::Cancel => store.request_cancel(scope, id, now, event).await,
                Steering::Pause(paused) => store.set_paused(scope, id, paused, now, event).await,
                Steering::Reopen => {
                    let retry = Signal::Retry { by: "user:test".to_owned() };
                    store.reopen(scope, id, retry, now, event).await
                }
            }
        };
        let (store, model) = (act(self.world.store()).await, act(&self.model).await);
        same(&steered(&store), &steered(&model))
    }
}
