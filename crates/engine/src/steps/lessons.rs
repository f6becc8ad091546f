//! What a tenant has learned, as one task uses it: at the version with which it was read first, however long it waits.
//! The version stands in the outcomes of its phases. Where none has ended yet it stands in a row of its own: before the
//! question of a phase that asks a person, or before the first call that reads.

use std::sync::Arc;

use kybern_core::id::JobId;
use kybern_core::lesson::{Lessons, Teaching};
use kybern_core::plan::StepId;
use kybern_core::ports::Extractor;
use kybern_core::task::{Channel, Effect, JournalEntry, Signal, StepOutcome, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Value, json};

use super::task_steps::TaskSteps;
use crate::executor::lessons::{VERSION, version_of};
use crate::executor::phases::finished;
use crate::executor::step::RowDraft;
use crate::executor::walk::Walk;
use crate::executor::{NodeState, Phase, TaskRun};
use crate::lesson::{TakenAnswer, ToldByTool};

/// The lessons that a task uses: those with which it was read first, else those of now.
pub(super) fn read_with(walk: &Walk, now: &Lessons) -> Lessons {
    version_of(walk).map_or_else(|| now.clone(), |version| now.as_of(version))
}

impl TaskSteps {
    /// The rules that read papers, with the labels that the tenant has added. They read each once.
    pub(super) fn rules(&self, run: &TaskRun) -> Arc<dyn Extractor> {
        let taught = self.services.plan_catalogue.taught.get(&self.services.extractor, run.task.tenant, &self.lessons);
        self.shared.read.caching(taught, self.lessons.version())
    }

    /// The row that says with which lessons a phase has read that asks a person, unless something says so already:
    /// however long the answer takes, the task goes on with them.
    pub(super) fn first_lessons(&self, run: &TaskRun) -> Option<RowDraft> {
        version_of(&run.walk).is_none().then(|| self.says_lessons())
    }

    /// The row that says with which lessons the task reads.
    pub(super) fn says_lessons(&self) -> RowDraft {
        let version = self.lessons.version();
        let summary = match version {
            0 => "reads without lessons: there were none".to_owned(),
            _ => format!("reads with lessons version {version}"),
        };
        let entry = JournalEntry::Finished(Arc::new(StepOutcome::completed(json!({VERSION: version}))));
        RowDraft::bare(Some(StepId::trusted(StepId::LESSONS)), 1, summary, entry)
    }

    /// A phase's end, with the version of the lessons that it was found out with.
    pub(super) fn found_out(&self, phase: Phase, summary: String, mut data: Value, tainted: bool) -> RowDraft {
        let version = self.lessons.version();
        if version == 0 {
            return finished(phase, summary, data, tainted);
        }
        data[VERSION] = json!(version);
        finished(phase, format!("{summary}; lessons version {version}"), data, tainted)
    }
}

/// The job that suggests what a step's tool has learned from an answer.
pub(super) fn taught_by(run: &TaskRun, step: &StepId, lessons: Vec<Teaching>, now: Timestamp) -> Option<Effect> {
    let told = ToldByTool::new(run.task.id, step, lessons)?;
    Some(Effect::Enqueue(Box::new(told.job(JobId::from_uuid(run.kernel.ids.next()), now))))
}

/// The job that looks what can be learned from a person's answer, where it is one about what a message wants or
/// about what papers say. Called before the walk has taken the answer in.
pub(super) fn learning(run: &TaskRun, signal: &Signal, now: Timestamp) -> Option<Effect> {
    let Signal::Review { step, wait_seq, corrections, resolution: None, .. } = signal else { return None };
    if corrections.is_empty() || run.task.channel == Channel::Chat {
        return None;
    }
    let teaches = match Phase::of_step(step.as_str()) {
        Some(Phase::Intent) => run.walk.phase(Phase::Intent)?.wait.as_ref()?.seq == *wait_seq,
        Some(Phase::Extraction | Phase::Planning) => false,
        None => match &run.walk.node(run.walk.find(step)?).state {
            NodeState::Waiting(wait) => wait.seq == *wait_seq && wait.kind == WaitKind::Review && !wait.answer_ends,
            NodeState::Pending
            | NodeState::Running
            | NodeState::Opened
            | NodeState::Backoff(_)
            | NodeState::Done(_) => false,
        },
    };
    let answered = TakenAnswer { task: run.task.id, wait_seq: *wait_seq };
    teaches.then(|| Effect::Enqueue(Box::new(answered.job(JobId::from_uuid(run.kernel.ids.next()), now))))
}
