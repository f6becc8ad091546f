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

use super::drive::{Flow, Stop};
use super::node::{NodeState, Phase};
use super::phases::finished;
use super::run::Run;
use super::step::{Call, Draft, RowDraft, Target};
use super::walk::Walk;
use crate::lesson::{Answered, ToldByTool};

/// Under what the version stands in a phase's outcome; where it does not, nothing had been learned.
const VERSION: &str = "lessonsVersion";

/// The version that an outcome names.
pub(super) fn version_in(data: &Value) -> u32 {
    data.get(VERSION).and_then(Value::as_u64).and_then(|version| u32::try_from(version).ok()).unwrap_or_default()
}

/// The version with which a task reads, once its journal says so.
pub(super) fn version_of(walk: &Walk) -> Option<u32> {
    let outcome = |phase| walk.phase(phase)?.outcome.as_ref();
    let of_phase = [Phase::Extraction, Phase::Intent].into_iter().find_map(outcome);
    of_phase.map(|outcome| version_in(&outcome.data)).or(walk.lessons_version)
}

/// The lessons that a task uses: those with which it was read first, else those of now.
pub(super) fn read_with(walk: &Walk, now: &Lessons) -> Lessons {
    version_of(walk).map_or_else(|| now.clone(), |version| now.as_of(version))
}

impl Run {
    /// The rules that read papers, with the labels that the tenant has added. They read each once.
    pub(super) fn rules(&self) -> Arc<dyn Extractor> {
        let taught = self.inner.catalog.taught.get(&self.inner.extractor, self.task.tenant, &self.own.lessons);
        self.papers.read.beside(taught, self.own.lessons.version())
    }

    /// Whether a call uses lessons, as one does that reads by an extraction schema, and nothing says yet which.
    pub(super) fn lacks_lessons(&self, call: &Call) -> bool {
        let uses = match &call.target {
            Target::Tool(prepared) => prepared.needs().lessons,
            Target::Handler(..) | Target::Question(_) => false,
        };
        (uses || call.context.extractor.is_some()) && version_of(&self.walk).is_none()
    }

    /// Takes up the lessons of now for every call of the task that reads, now and later. The row is written before the
    /// first of them begins, since such a call is never made while rows are held back.
    pub(super) async fn take_up_lessons(&mut self) -> Result<Flow, Stop> {
        let scope = self.lease.scope();
        let now = self.ask(|inner| async move { inner.store.lessons_in_use(scope).await }).await?;
        self.own.lessons = (*now).clone();
        let mut draft = Draft::row(self.says_lessons());
        draft.may_wait = true;
        let flow = self.settle(draft).await?;
        // A journal that is full has refused the version: the task reads as its next life would.
        self.own.lessons = read_with(&self.walk, &now);
        Ok(flow)
    }

    /// The row that says with which lessons a phase has read that asks a person, unless something says so already:
    /// however long the answer takes, the task goes on with them.
    pub(super) fn first_lessons(&self) -> Option<RowDraft> {
        version_of(&self.walk).is_none().then(|| self.says_lessons())
    }

    /// The row that says with which lessons the task reads.
    fn says_lessons(&self) -> RowDraft {
        let version = self.own.lessons.version();
        let summary = match version {
            0 => "reads without lessons: there were none".to_owned(),
            _ => format!("reads with lessons version {version}"),
        };
        let entry = JournalEntry::Finished(Box::new(StepOutcome::completed(json!({VERSION: version}))));
        RowDraft::bare(Some(StepId::trusted(StepId::LESSONS)), 1, summary, entry)
    }

    /// A phase's end, with the version of the lessons that it was found out with.
    pub(super) fn found_out(&self, phase: Phase, summary: String, mut data: Value, tainted: bool) -> RowDraft {
        let version = self.own.lessons.version();
        if version == 0 {
            return finished(phase, summary, data, tainted);
        }
        data[VERSION] = json!(version);
        finished(phase, format!("{summary}; lessons version {version}"), data, tainted)
    }

    /// The job that suggests what a step's tool has learned from an answer.
    pub(super) fn taught_by(&self, step: &StepId, lessons: Vec<Teaching>, now: Timestamp) -> Option<Effect> {
        let told = ToldByTool::new(self.task.id, step, lessons)?;
        Some(Effect::Enqueue(Box::new(told.job(JobId::from_uuid(self.inner.ids.next()), now))))
    }

    /// The job that looks what can be learned from a person's answer, where it is one about what a message wants or
    /// about what papers say. Called before the walk has taken the answer in.
    pub(super) fn learning(&self, signal: &Signal, now: Timestamp) -> Option<Effect> {
        let Signal::Review { step, wait_seq, corrections, resolution: None, .. } = signal else { return None };
        if corrections.is_empty() || self.task.channel == Channel::Chat {
            return None;
        }
        let teaches = match Phase::of_step(step.as_str()) {
            Some(Phase::Intent) => self.walk.phase(Phase::Intent)?.wait.as_ref()?.seq == *wait_seq,
            Some(Phase::Extraction | Phase::Planning) => false,
            None => match &self.walk.node(self.walk.find(step)?).state {
                NodeState::Waiting(wait) => wait.seq == *wait_seq && wait.kind == WaitKind::Review && !wait.answer_ends,
                NodeState::Pending
                | NodeState::Running
                | NodeState::Opened
                | NodeState::Backoff(_)
                | NodeState::Done(_) => false,
            },
        };
        let answered = Answered { task: self.task.id, wait_seq: *wait_seq };
        teaches.then(|| Effect::Enqueue(Box::new(answered.job(JobId::from_uuid(self.inner.ids.next()), now))))
    }
}
