//! The steps of one task: what holds for them now, and which file carries out which kind.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::agent::Agent;
use kybern_core::error::{ErrorCode, Result};
use kybern_core::id::JobId;
use kybern_core::lesson::Lessons;
use kybern_core::money::Usage;
use kybern_core::plan::{Plan, PlanFault, StepKind, StepSpec};
use kybern_core::task::{Effect, JournalEntry, Lease, Signal, Task, TaskStatus};
use kybern_core::time::Timestamp;
use kybern_core::tool::ToolSpec;
use tokio::sync::mpsc;

use super::answers::CallAnswers;
use super::services::StepServices;
use super::talk::TaskTalk;
use super::{handler, phases, question, tool_step};
use crate::executor::phases::PhaseInterrupted;
use crate::executor::step::{Draft, RowDraft, fail, failure};
use crate::executor::steps::{CallNote, StepBegin, Steps};
use crate::executor::walk::Walk;
use crate::executor::{Phase, TaskRun};
use crate::memory::Suggestions;
use crate::plans::check::{self, StepParts};
use crate::tools::read_once::ExtractionCache;
use crate::tools::{Grant, ToolSnapshot};

/// The steps of one task, as it was when the last of them began.
#[derive(Clone)]
pub(super) struct TaskSteps {
    pub(super) services: Arc<StepServices>,
    /// What does not change with what holds.
    pub(super) shared: Arc<TaskShared>,
    /// By what right they call.
    pub(super) grant: Grant,
    /// What they may call.
    pub(super) tools: Arc<ToolSnapshot>,
    /// The stored plans, where a step or a phase may ask for one.
    pub(super) plans: Arc<Vec<Plan>>,
    /// What was learned, at the version with which it was read first.
    pub(super) lessons: Lessons,
    /// The agents, where a step may ask one.
    pub(super) agents: Arc<Vec<Agent>>,
}

/// What the steps of one task have from its first to its last.
pub(super) struct TaskShared {
    /// What the rules have found in its documents.
    pub(super) read: ExtractionCache,
    pub(super) talk: TaskTalk,
    /// What its calls have asked language models.
    pub(super) answers: Arc<CallAnswers>,
    /// How they have it journaled; none where no model is asked.
    pub(super) notes: Option<mpsc::Sender<CallNote>>,
}

impl TaskSteps {
    /// The agent that is named so, by its key before its name.
    pub(super) fn agent(&self, name: &str) -> Option<&Agent> {
        let by_key = self.agents.iter().find(|agent| agent.draft.key == name);
        by_key.or_else(|| self.agents.iter().find(|agent| agent.is_called(name)))
    }
}

#[async_trait]
impl Steps for TaskSteps {
    async fn look_at_rules(&self, lease: &Lease, task: &Task) -> Result<Option<Arc<dyn Steps>>> {
        let tools = self.services.catalogue.of(lease.scope()).await;
        let grant = Grant::of_task(self.services.store.as_ref(), lease.scope(), task).await?;
        if Arc::ptr_eq(&tools, &self.tools) && grant == self.grant {
            return Ok(None);
        }
        Ok(Some(Arc::new(Self { grant, tools, ..self.clone() })))
    }

    async fn with_agents(&self, lease: &Lease) -> Result<Arc<dyn Steps>> {
        let agents = self.services.agents.list(lease.scope()).await?;
        Ok(Arc::new(Self { agents, ..self.clone() }))
    }

    fn begin(&self, run: &TaskRun, index: usize, now: Timestamp) -> StepBegin {
        let spec = &run.walk.node(index).spec;
        match &spec.kind {
            StepKind::Tool { tool, args } => tool_step::begin(self, run, index, (tool, args), now),
            StepKind::Agent { agent, task } => question::begin(self, run, index, agent, task),
            StepKind::Question => question::begin_question(self, run, index, now),
            StepKind::Decision { prompt, .. } => handler::begin(self, run, index, (&spec.kind, prompt), now),
            StepKind::Input { .. }
            | StepKind::Condition { .. }
            | StepKind::Parallel { .. }
            | StepKind::Loop { .. }
            | StepKind::Workflow { .. }
            | StepKind::Task { .. } => {
                let error = failure(ErrorCode::Internal, "the kernel itself carries out such a step");
                StepBegin::Rows(fail(run, index, error, false))
            }
        }
    }

    async fn read_first(&self, lease: &Lease) -> Result<(Arc<dyn Steps>, RowDraft)> {
        let lessons = self.services.store.lessons_in_use(lease.scope()).await?;
        let read = Self { lessons: (*lessons).clone(), ..self.clone() };
        let row = read.says_lessons();
        Ok((Arc::new(read), row))
    }

    fn as_journaled(&self, walk: &Walk) -> Arc<dyn Steps> {
        Arc::new(Self { lessons: super::lessons::read_with(walk, &self.lessons), ..self.clone() })
    }

    fn tool(&self, key: &str) -> Option<&ToolSpec> {
        self.tools.find(key).map(|definition| definition.spec())
    }

    fn plan(&self, key: &str) -> Option<&Plan> {
        self.services.plan_catalogue.find(&self.plans, key)
    }

    fn faults(&self, proposed: &[StepSpec], path: &str) -> Vec<PlanFault> {
        let parts = StepParts { plan_catalogue: &self.services.plan_catalogue, tools: &self.tools, agents: None };
        let mut faults = Vec::new();
        check::steps_with(proposed, path, parts, check::Values::Literal, &mut faults);
        faults
    }

    fn takes_time(&self, _run: &TaskRun, phase: Phase) -> bool {
        match phase {
            Phase::Extraction => true,
            Phase::Intent => !self.services.intents.answers_at_once() || self.services.reads_with_model(),
            Phase::Planning => false,
        }
    }

    async fn phase(&self, run: &mut TaskRun, phase: Phase, now: Timestamp) -> Result<Draft, PhaseInterrupted> {
        let mut draft = phases::run_phase(self, run, phase, now).await?;
        let asks = draft.rows.iter().any(|row| matches!(row.entry, JournalEntry::Waiting(_)));
        if let Some(lessons) = asks.then(|| self.first_lessons(run)).flatten() {
            draft.rows.insert(0, lessons);
        }
        Ok(draft)
    }

    fn learns(&self, run: &TaskRun, answer: &Signal, now: Timestamp) -> Option<Effect> {
        super::lessons::learning(run, answer, now)
    }

    fn cut(&self, run: &TaskRun) -> Vec<RowDraft> {
        question::cut(self, run)
    }

    async fn effects_of_end(&self, run: &TaskRun, (status, used): (TaskStatus, Usage), now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        if let Some(turn) = run.task.turn() {
            let said = question::said(&run.walk, &self.tools);
            let answer = crate::chat::answer(&run.walk, (turn, run.task.id), (status, used), said, now);
            effects.push(Effect::Answer(Box::new(answer)));
            if run.has_documents {
                let attached = Box::pin(question::attached(self, run, turn)).await;
                effects.extend(attached.map(Box::new).map(Effect::Attach));
            }
        }
        if let Some(user) = run.task.user {
            let memories = question::suggestions(&run.walk);
            if !memories.is_empty() {
                let said = Suggestions { task: run.task.id, user, turn: run.task.turn(), memories };
                effects.push(Effect::Enqueue(Box::new(said.job(JobId::from_uuid(run.kernel.ids.next()), now))));
            }
        }
        effects
    }
}
