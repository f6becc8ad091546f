//! A whole engine with the real packs over the store in memory. It lives through lives, each with a runtime of its
//! own, and dies as with `kill -9` at the step that is disturbed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use kybern_adapters::clock::SystemClock;
use kybern_core::actor::Actor;
use kybern_core::error::ErrorCode;
use kybern_core::id::{TaskId, TenantId};
use kybern_core::outbox::OutboxStatus;
use kybern_core::pack::PackRegistry;
use kybern_core::plan::Plan;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::task::{EffectClass, Resolution, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use kybern_engine::Engine;
use kybern_engine::task::{ReviewRequest, SubmitRequest, TaskView};
use kybern_testkit::{Fault, FaultPoint, FaultyStore, MemStore, actors};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use crate::in_memory;

/// What happens to a step, the first time that its tool is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Disturbance {
    /// The tool cannot now.
    Fails,
    /// The tool has done it, and the process dies before it is committed.
    DiesBeforeCommit,
    /// It is committed, and the process dies before it knows.
    DiesAfterCommit,
}

/// Counts the calls, and strikes.
struct Fate {
    /// Nothing is counted, and nothing strikes, before the plan's own task begins.
    armed: AtomicBool,
    disturbed: Option<(String, Disturbance)>,
    calls: Mutex<BTreeMap<String, usize>>,
    /// The next commit is the last thing that the process does.
    last_commit: AtomicBool,
    dead: AtomicBool,
    struck: Notify,
}

impl Fate {
    /// How the store's call ends.
    fn of(&self, point: FaultPoint) -> Fault {
        if self.dead.load(Ordering::SeqCst) {
            return Fault::CrashBefore;
        }
        if point.call == "commit" && self.last_commit.swap(false, Ordering::SeqCst) {
            self.die();
            return Fault::CrashAfter;
        }
        Fault::None
    }

    fn die(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.struck.notify_one();
    }

    /// What happens to this call of a step's tool.
    fn begins(&self, step: &str) -> Option<Disturbance> {
        if !self.armed.load(Ordering::SeqCst) {
            return None;
        }
        let mut calls = self.calls.lock().unwrap();
        let count = calls.entry(step.to_owned()).or_default();
        *count += 1;
        let (disturbed, how) = self.disturbed.as_ref()?;
        (*count == 1 && disturbed == step).then_some(*how)
    }
}

/// A tool of a pack, under the eyes of fate.
struct Watched {
    tool: Arc<dyn Tool>,
    fate: Arc<Fate>,
}

#[async_trait]
impl Tool for Watched {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn effect_of(&self, args: &Map<String, Value>) -> EffectClass {
        self.tool.effect_of(args)
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let how = context.step.as_ref().and_then(|step| self.fate.begins(step.as_str()));
        if how == Some(Disturbance::Fails) {
            return Err(ToolFailure::transient("not now"));
        }
        let outcome = self.tool.call(context, args).await;
        match how {
            Some(Disturbance::DiesBeforeCommit) => self.fate.die(),
            Some(Disturbance::DiesAfterCommit) => self.fate.last_commit.store(true, Ordering::SeqCst),
            Some(Disturbance::Fails) | None => {}
        }
        outcome
    }
}

/// Everything that outlives the process.
pub(super) struct World {
    pub(super) store: Arc<FaultyStore<MemStore>>,
    mem: Arc<MemStore>,
    pub(super) actor: Actor,
    registry: PackRegistry,
    fate: Arc<Fate>,
}

impl World {
    /// A world with these packs, in which that step is disturbed.
    pub(super) fn new(packs: PackRegistry, disturbed: Option<(&String, Disturbance)>) -> Self {
        let fate = Arc::new(Fate {
            armed: AtomicBool::new(false),
            disturbed: disturbed.map(|(step, how)| (step.clone(), how)),
            calls: Mutex::default(),
            last_commit: AtomicBool::new(false),
            dead: AtomicBool::new(false),
            struck: Notify::new(),
        });
        let judge = Arc::clone(&fate);
        let mem = Arc::new(in_memory::store());
        let store = Arc::new(FaultyStore::new(mem.clone(), Arc::new(SystemClock), move |point| judge.of(point)));
        let registry = watched(&packs, &fate);
        Self { store, mem, actor: actors::admin(TenantId::DEFAULT), registry, fate }
    }

    /// How often each step's tool was called.
    pub(super) fn calls(&self) -> BTreeMap<String, usize> {
        self.fate.calls.lock().unwrap().clone()
    }

    /// Submits a task that walks the plan, before anybody works.
    pub(super) fn begin(&self, plan: &Plan, message: Option<&[u8]>) -> TaskId {
        let asked = if plan.key.starts_with("insurance.loss_run_") { self.ask() } else { Value::Null };
        self.fate.armed.store(true, Ordering::SeqCst);
        let begun = self.life(false, async |engine| match message {
            Some(raw) => {
                let raw = String::from_utf8_lossy(raw).replace(super::REQUEST, asked.as_str().unwrap_or_default());
                engine.intake().receive_email(&self.actor, Bytes::from(raw), None).await.unwrap().task_id
            }
            None => {
                let payload = json!({"request_id": asked, "wait_ms": 1});
                let request =
                    SubmitRequest { plan_key: Some(plan.key.clone()), payload, ..SubmitRequest::text("do it") };
                engine.tasks().submit(&self.actor, request, None).await.unwrap().id
            }
        });
        begun.unwrap()
    }

    /// A loss-run request that was sent, by its id.
    fn ask(&self) -> Value {
        let args = json!({"kind": "insurance.loss_run_request", "key": "r", "props": {
            "deal_id": "d", "entity_id": "e", "insurer": "Harrow Plains Mutual", "status": "requested",
            "policy_numbers": ["HPM-93318"], "lines": [], "sent_to": "desk@harrowplains.example",
            "message_ids": ["{{ steps.tell.result.outbox_id }}@kybern.invalid"]
        }});
        let mail = json!({"to": "desk@harrowplains.example", "subject": "Loss runs", "body": "Please"});
        let steps = json!([{"id": "tell", "tool": "core.notify", "args": mail}, {"id": "ask", "tool": "core.put_record", "args": args}]);
        let plan = json!({"key": "test.ask", "intentKey": "test.ask", "steps": steps});
        let asked = self.life(true, async |engine| {
            engine.plans().put(&self.actor, &plan).await.unwrap();
            let request = SubmitRequest { plan_key: Some("test.ask".to_owned()), ..SubmitRequest::text("ask") };
            let task = engine.tasks().submit(&self.actor, request, None).await.unwrap().id;
            engine.tasks().wait_for(&self.actor, task, Millis::from_secs(30)).await.unwrap()
        });
        asked.unwrap().state["record_id"].clone()
    }

    /// Lives, and lives again, until the task has ended and all messages are out. Whoever is asked says that it is
    /// done.
    pub(super) fn to_the_end(&self, id: TaskId) {
        for _life in 0..3 {
            let ended = self.life(true, async |engine| {
                loop {
                    let task = engine.tasks().wait_for(&self.actor, id, Millis::from_secs(30)).await.unwrap();
                    match task.status {
                        TaskStatus::NeedsReview => done(&engine, &self.actor, &task).await,
                        _ => break self.drained(&task).await,
                    }
                }
            });
            if ended.is_some() {
                return;
            }
        }
        panic!("the task has not ended after three lives");
    }

    /// Waits until nothing is on its way any more.
    async fn drained(&self, task: &TaskView) {
        assert!(task.status.is_terminal(), "{task:?}");
        crate::server::client::until("the outbox is empty", || async {
            let messages = super::seen::outbox(self).await;
            let waits = |status| matches!(status, OutboxStatus::Pending | OutboxStatus::Sending);
            (!messages.iter().any(|message| waits(message.status))).then_some(())
        })
        .await;
    }

    /// One life: to the end of `story`, or to the stroke of fate; then `None`. What still runs is gone afterwards.
    fn life<T>(&self, work: bool, story: impl AsyncFnOnce(Engine) -> T) -> Option<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let told = runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.fate.struck.notified() => None,
                told = async {
                    story(in_memory::start(self.store.clone(), &self.mem, self.registry.clone(), work).await).await
                } => Some(told),
            }
        });
        // Until everything that ran is gone, the store is out of its reach.
        drop(runtime);
        self.fate.dead.store(false, Ordering::SeqCst);
        told
    }
}

/// The same packs, every tool of them watched.
fn watched(packs: &PackRegistry, fate: &Arc<Fate>) -> PackRegistry {
    let mut registry = PackRegistry::default();
    for tool in packs.registered_tools() {
        let watched = Watched { tool: Arc::clone(tool), fate: Arc::clone(fate) };
        registry.tool(Arc::new(watched)).unwrap();
    }
    for plan in packs.plans() {
        registry.plan((**plan).clone()).unwrap();
    }
    for kind in packs.kinds() {
        registry.kind(kind.clone()).unwrap();
    }
    for (name, schema) in packs.extractions() {
        registry.extraction(name, (**schema).clone()).unwrap();
    }
    registry
}

async fn done(engine: &Engine, actor: &Actor, task: &TaskView) {
    let request = ReviewRequest {
        corrections: Map::from_iter([("handled".to_owned(), Value::Bool(true))]),
        step_id: None,
        resolution: Some(Resolution::Done),
        ..ReviewRequest::default()
    };
    // The answer is taken in a moment after it was accepted; until then the task still asks.
    if let Err(error) = engine.tasks().review(actor, task.id, request).await {
        assert_eq!(error.code(), ErrorCode::Conflict, "{error}");
    }
}
