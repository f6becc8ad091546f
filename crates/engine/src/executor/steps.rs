//! What the kernel knows of steps that reach outside: that somebody carries them out.
//!
//! The kernel walks, journals and waits. What a tool is, or a model, or a conversation, it does not know: it asks
//! [`Steps`], which knows all of a task's steps, and makes the [`Call`]s that it is given.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::money::Usage;
use kybern_core::plan::{Plan, PlanFault, StepSpec};
use kybern_core::task::{Effect, Lease, Signal, StepOutcome, Task, TaskStatus};
use kybern_core::time::Timestamp;
use kybern_core::tool::ToolSpec;
use tokio::sync::{mpsc, oneshot};

use super::call::Call;
use super::node::Phase;
use super::phases::PhaseInterrupted;
use super::run::TaskRun;
use super::step::{Draft, RowDraft};
use super::walk::Walk;

/// Every kind of step that reaches outside.
#[async_trait]
pub(crate) trait StepKinds: Send + Sync {
    /// Reads what the steps of a claimed task need: how far it has come, whether documents came with it, and whether it
    /// asks agents is known.
    async fn load(&self, lease: &Lease, task: &Task, walk: (&Walk, bool), asks_agents: bool) -> Result<LoadedSteps>;

    /// What the end of a task leaves whose journal cannot be read.
    fn effect_of_lost_end(&self, task: &Task, at: Timestamp) -> Option<Effect>;
}

/// What was read for the steps of a task.
pub(crate) struct LoadedSteps {
    pub(crate) steps: Arc<dyn Steps>,
    /// What its calls have to have journaled before they go on; none where no call ever does.
    pub(crate) notes: Option<mpsc::Receiver<CallNote>>,
}

/// What a call wants journaled before it goes on.
pub(crate) struct CallNote {
    pub(crate) row: RowDraft,
    pub(crate) usage: Usage,
    pub(crate) written: oneshot::Sender<Arc<StepOutcome>>,
}

/// The steps of one task, with what holds for them now. It does not change: what has changed is another one.
#[async_trait]
pub(crate) trait Steps: Send + Sync {
    /// Looks at what holds now for whoever the task works for, and at what can be called; `None` when nothing has
    /// changed.
    async fn look_at_rules(&self, lease: &Lease, task: &Task) -> Result<Option<Arc<dyn Steps>>>;

    /// The same with the agents of the tenant.
    async fn with_agents(&self, lease: &Lease) -> Result<Arc<dyn Steps>>;

    /// Begins a step that calls a tool, or asks a model.
    fn begin(&self, run: &TaskRun, index: usize, now: Timestamp) -> StepBegin;

    /// Reads what a call needs that [`super::call::KernelFacts::reads_first`], and the row that has to say so before it.
    async fn read_first(&self, lease: &Lease) -> Result<(Arc<dyn Steps>, RowDraft)>;

    /// What was read first, as the journal has it.
    fn as_journaled(&self, walk: &Walk) -> Arc<dyn Steps>;

    /// What a tool says of itself.
    fn tool(&self, key: &str) -> Option<&ToolSpec>;

    /// The plan that a child is started with.
    fn plan(&self, key: &str) -> Option<&Plan>;

    /// The faults of steps that a tool proposes.
    fn faults(&self, proposed: &[StepSpec], path: &str) -> Vec<PlanFault>;

    /// Whether somebody may see a task in that phase.
    fn takes_time(&self, run: &TaskRun, phase: Phase) -> bool;

    /// Runs a phase.
    ///
    /// # Errors
    /// When a port fails; nothing but answers of models was written, and the task is tried again later.
    async fn phase(&self, run: &mut TaskRun, phase: Phase, now: Timestamp) -> Result<Draft, PhaseInterrupted>;

    /// What follows from a person's answer beside what it says. Asked before the walk has taken the answer in.
    fn learns(&self, run: &TaskRun, answer: &Signal, now: Timestamp) -> Option<Effect>;

    /// The rows that end every open turn of a task that was cancelled: what there is stays.
    fn cut(&self, run: &TaskRun) -> Vec<RowDraft>;

    /// What the end of a task leaves beside its row.
    async fn effects_of_end(&self, run: &TaskRun, end: (TaskStatus, Usage), now: Timestamp) -> Vec<Effect>;
}

/// How a step begins.
pub(crate) enum StepBegin {
    /// This is to be journaled; nothing outside is touched.
    Rows(Draft),
    /// This call is to be made.
    Call(Box<dyn Call>),
}
