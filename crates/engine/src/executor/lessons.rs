//! What a tenant has learned, as one task uses it: at the version with which it was read first, however long it waits.
//! The version stands in the outcomes of its phases.

use std::sync::Arc;

use kybern_core::id::JobId;
use kybern_core::lesson::Lessons;
use kybern_core::plan::{FrozenPlan, StepKind, StepSpec};
use kybern_core::ports::Extractor;
use kybern_core::task::{Channel, Effect, Signal, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Value, json};

use super::node::{NodeState, Phase};
use super::phases::finished;
use super::run::Run;
use super::step::RowDraft;
use super::walk::Walk;
use crate::lesson::Answered;
use crate::parts::Inner;

/// Under what the version stands in a phase's outcome; where it does not, nothing had been learned.
const VERSION: &str = "lessonsVersion";

/// The lessons that a task uses: those with which its phases read it, else those of now.
pub(super) fn read_with(walk: &Walk, now: &Lessons) -> Lessons {
    let outcomes =
        [Phase::Extraction, Phase::Intent].into_iter().filter_map(|phase| walk.phase(phase)?.outcome.as_ref());
    let version =
        |data: &Value| data.get(VERSION).and_then(Value::as_u64).and_then(|version| u32::try_from(version).ok());
    match outcomes.map(|outcome| version(&outcome.data).unwrap_or_default()).next() {
        Some(version) => now.as_of(version),
        None => now.clone(),
    }
}

/// Whether a plan has a step that reads by an extraction schema.
pub(super) fn asks_extractor(inner: &Inner, plan: &FrozenPlan) -> bool {
    fn asks(inner: &Inner, step: &StepSpec) -> bool {
        let tool = match &step.kind {
            StepKind::Tool { tool, .. } => inner.catalog.registry().find_tool(tool),
            _ => None,
        };
        tool.is_some_and(|tool| tool.spec().needs.model)
            || step.kind.inner().into_iter().flatten().any(|step| asks(inner, step))
    }
    plan.steps.iter().any(|step| asks(inner, step))
}

impl Run {
    /// The rules that read papers, with the labels that the tenant has added.
    pub(super) fn rules(&self) -> Arc<dyn Extractor> {
        self.inner.catalog.taught.get(&self.inner.extractor, self.task.tenant, &self.lessons)
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
