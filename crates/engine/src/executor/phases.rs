//! The phases before the plan, as the journal has them: documents become text, the intent is found out, the plan is
//! chosen. What they find out is found out above the kernel.

use std::sync::Arc;

use kybern_core::error::{Error, ErrorCode};
use kybern_core::plan::StepId;
use kybern_core::task::{JournalEntry, StepOutcome, TaskStatus, Wait};
use serde_json::{Map, Value};

use super::drive::RunStop;
use super::node::Phase;
use super::signals::{NO, said};
use super::step::{RowDraft, failure};

/// Under what persons answer about documents, by number.
pub(crate) const DOCUMENTS: &str = "documents";
/// Under what the fields of all documents stand in the outcome, in a question's details, and in the state.
pub(crate) const EXTRACTIONS: &str = "extractions";

/// Why a phase did not come to its end. What it had asked models is in the journal.
#[derive(Debug)]
pub(crate) enum PhaseInterrupted {
    /// A port failed.
    Port(Error),
    /// The run stops.
    Stop(RunStop),
    /// The task is to be cancelled or paused, or the process ends.
    Held,
}

impl From<Error> for PhaseInterrupted {
    fn from(error: Error) -> Self {
        Self::Port(error)
    }
}

pub(crate) const fn status_in(phase: Phase) -> TaskStatus {
    match phase {
        Phase::Extraction => TaskStatus::Extracting,
        Phase::Intent => TaskStatus::DetectingIntent,
        Phase::Planning => TaskStatus::Planning,
    }
}

/// A row about a phase.
pub(crate) fn row_of(phase: Phase, summary: impl Into<String>, entry: JournalEntry) -> RowDraft {
    RowDraft::bare(Some(StepId::trusted(phase.step_id())), 1, summary, entry)
}

pub(crate) fn finished(phase: Phase, summary: impl Into<String>, data: Value, tainted: bool) -> RowDraft {
    let mut outcome = StepOutcome::completed(data);
    outcome.tainted = tainted;
    row_of(phase, summary, JournalEntry::Finished(Arc::new(outcome)))
}

pub(crate) fn waits(phase: Phase, wait: Wait) -> RowDraft {
    row_of(phase, wait.reason.clone(), JournalEntry::Waiting(Box::new(wait)))
}

/// A phase to which a person said no.
pub(crate) fn refused(phase: Phase, note: Option<&str>) -> RowDraft {
    let error = failure(ErrorCode::Unprocessable, said(NO, note));
    let outcome = StepOutcome { refused: true, ..StepOutcome::failed(error, false) };
    row_of(phase, "refused by a person", JournalEntry::Finished(Arc::new(outcome)))
}

/// Corrections that are no phase's own names enter the state, as the specifications have it.
pub(crate) fn free_corrections(corrections: &Map<String, Value>) -> Map<String, Value> {
    let own = ["intent", "planKey", "documents"];
    corrections
        .iter()
        .filter(|(name, _)| !own.contains(&name.as_str()) && !name.starts_with('_'))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
