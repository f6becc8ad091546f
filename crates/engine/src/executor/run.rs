//! One run: what is known of a claimed task.

use std::collections::HashMap;
use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::money::NanoUsd;
use kybern_core::plan::{FrozenPlan, StepId};
use kybern_core::task::{Attempt, Channel, Claimed, Lease, NewKind, NewTask, RenderedArgs, Task, TaskStatus};
use kybern_core::time::Timestamp;
use serde_json::Value;

use super::active::ActiveRun;
use super::calls::{Calls, NoteReceiver};
use super::drive::{Flow, RunStop};
use super::earlier::EarlierRuns;
use super::held::UnwrittenRows;
use super::kernel::Kernel;
use super::load::{LoadedTask, asks_agents};
use super::node::Node;
use super::patience::Failure as _;
use super::snapshot::RunContext;
use super::step::Draft;
use super::steps::Steps;
use super::walk::Walk;
use super::wanted::PendingSignals;

/// A claimed task, and how far it has come.
pub(crate) struct TaskRun {
    pub(crate) kernel: Arc<Kernel>,
    pub(super) active: ActiveRun,
    pub(crate) lease: Lease,
    claimed_at: Timestamp,
    pub(crate) task: Task,
    pub(super) row_status: TaskStatus,
    pub(crate) walk: Walk,
    /// What the walk has taken in and the store has not.
    pub(super) held: UnwrittenRows,
    pub(crate) surroundings: RunContext,
    /// Whether it is of somebody who acts here from another tenant, and so has no memory here.
    pub(crate) is_abroad: bool,
    /// Whether any documents came with it.
    pub(crate) has_documents: bool,
    pub(crate) earlier: EarlierRuns,
    pub(crate) wanted: PendingSignals,
    /// What carries out its steps, as it was when the last of them began.
    pub(crate) steps: Arc<dyn Steps>,
    /// The calls on their way.
    pub(super) calls: Calls,
    /// What they have to have journaled before they go on.
    pub(super) notes: NoteReceiver,
    /// Behind which row the last question was asked whose reply is not there.
    pub(crate) asked_behind: Option<i64>,
    /// How often each step has begun anew because a record had changed under it.
    pub(super) restarts: HashMap<usize, u32>,
}

impl TaskRun {
    /// A run of a claimed task, from what is known of it.
    pub(crate) fn new(kernel: &Arc<Kernel>, active: ActiveRun, claimed: Claimed, known: LoadedTask) -> Box<Self> {
        let Claimed { lease, task, recovered_from, at: claimed_at } = claimed;
        let LoadedTask { walk, earlier_attempts, user, is_abroad, has_documents, tenant_name, loaded } = known;
        let earlier = EarlierRuns {
            after_crash: recovered_from.is_some(),
            recovered_from: recovered_from.map(|worker| worker.as_str().to_owned()),
            attempts: earlier_attempts,
        };
        Box::new(Self {
            surroundings: RunContext::new(&task, &tenant_name, user.as_ref()),
            kernel: Arc::clone(kernel),
            active,
            walk,
            held: UnwrittenRows::default(),
            is_abroad,
            has_documents,
            earlier,
            wanted: PendingSignals::of(&task),
            steps: loaded.steps,
            row_status: task.status,
            calls: Calls::default(),
            notes: NoteReceiver(loaded.notes),
            asked_behind: None,
            restarts: HashMap::new(),
            claimed_at,
            lease,
            task,
        })
    }

    /// The moment, and never before the claim: what was due by the clock of the database is due here, although this
    /// process may have it a little behind.
    pub(crate) fn now(&self) -> Timestamp {
        self.kernel.time.now().max(self.claimed_at)
    }

    /// Looks at what holds now for whoever the task works for, and at what can be called: both are looked at again before
    /// steps begin, because they may have changed since.
    pub(super) async fn look_at_rules(&mut self) -> Result<(), RunStop> {
        let changed = match self.steps.look_at_rules(&self.lease, &self.task).await {
            Err(error) if error.is_unavailable() => {
                let (steps, lease, task) = (Arc::clone(&self.steps), self.lease.clone(), self.task.clone());
                Box::pin(self.ask(|_kernel| {
                    let (steps, lease, task) = (Arc::clone(&steps), lease.clone(), task.clone());
                    async move { steps.look_at_rules(&lease, &task).await }
                }))
                .await?
            }
            looked => looked?,
        };
        if let Some(steps) = changed {
            self.steps = steps;
        }
        Ok(())
    }

    /// Looks up the agents that a plan asks, where the run has not begun with it.
    pub(super) async fn look_up_agents(&mut self, plan: &FrozenPlan) -> Result<(), RunStop> {
        if plan.steps.iter().any(|step| asks_agents(step)) {
            let (steps, lease) = (Arc::clone(&self.steps), self.lease.clone());
            self.steps = self
                .ask(|_kernel| {
                    let (steps, lease) = (Arc::clone(&steps), lease.clone());
                    async move { steps.with_agents(&lease).await }
                })
                .await?;
        }
        Ok(())
    }

    /// Reads what every call of the task needs that reads first, now and later. The row is written before the first of them
    /// begins, since such a call is never made while rows are held back.
    pub(super) async fn read_first(&mut self) -> Result<Flow, RunStop> {
        let (steps, lease) = (Arc::clone(&self.steps), self.lease.clone());
        let (read, row) = self
            .ask(|_kernel| {
                let (steps, lease) = (Arc::clone(&steps), lease.clone());
                async move { steps.read_first(&lease).await }
            })
            .await?;
        self.steps = read;
        let flow = self.settle(Draft { may_wait: true, ..Draft::row(row) }).await?;
        // A journal that is full has refused the row: the task reads as its next life would.
        self.steps = self.steps.as_journaled(&self.walk);
        Ok(flow)
    }

    /// The last row that tells a reader something, or lies before what is held. Pieces of a reply stand behind it: were
    /// it a row that a crash may take away, they would stand behind what comes after the crash.
    pub(crate) fn told_until(&self) -> i64 {
        self.walk.last_seq() - i64::try_from(self.held.untold()).unwrap_or(0)
    }

    /// When a step that holds steps was opened.
    pub(crate) fn opened_at(&self, index: usize) -> Option<Timestamp> {
        self.walk.node(index).opened_at
    }

    /// The attempt of a step that began in an earlier life and of which no row says how it ended.
    pub(crate) fn open_attempt(&self, step: &StepId, generation: u32) -> Option<&Attempt> {
        self.open_attempts(step, generation).find(|attempt| attempt.effect.needs_attempt_row())
    }

    /// Whether a call without any effect outside was recorded after a worker had died, and no row says how it ended.
    pub(crate) fn died_in(&self, step: &StepId, generation: u32) -> bool {
        self.open_attempts(step, generation).any(|attempt| !attempt.effect.needs_attempt_row())
    }

    fn open_attempts(&self, step: &StepId, generation: u32) -> impl Iterator<Item = &Attempt> {
        // Most tasks have one life: then there is nothing to look for.
        let node = if self.earlier.attempts.is_empty() { None } else { self.walk.find(step) };
        let ended = node.map_or(0, |index| self.walk.node(index).attempts);
        self.earlier.open(step, generation, ended)
    }

    /// What an earlier try of a step's generation was called with, as far as it was made of templates.
    pub(crate) fn rendered(&self, node: &Node) -> Option<Arc<RenderedArgs>> {
        node.rendered.clone().or_else(|| self.earlier.rendered(node))
    }

    /// A task that a step starts: for the same user with the same rights, one deeper, with what is left of the budget.
    pub(crate) fn child(&self, id: TaskId, step: &StepId, at: Timestamp) -> NewTask {
        let task = &self.task;
        NewTask {
            id,
            channel: Channel::System,
            source: format!("task/{}", task.id),
            dedupe_key: None,
            body_hash: None,
            input: String::new(),
            payload: Value::Null,
            created_by: task.created_by.clone(),
            user: task.user,
            rights: task.rights,
            plan: None,
            intent: None,
            attachments: Vec::new(),
            max_steps: task.max_steps,
            confidence_threshold: task.confidence_threshold,
            budget: task.budget.map(|budget| NanoUsd((budget.0 - task.usage.cost_nanos.0).max(0))),
            trace_id: task.trace_id.clone(),
            parent: Some((task.id, step.as_str().to_owned())),
            depth: task.depth + 1,
            forked_from: None,
            kind: NewKind::Plan,
            at,
        }
    }
}
