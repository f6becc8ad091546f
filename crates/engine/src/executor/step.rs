//! Starting one step: everything that is decided before anything outside is touched.
//!
//! Pure but for the ids it mints: the walk and the surroundings go in, and out comes either what to journal at once,
//! or the call to make.

use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::error::ErrorCode;
use kybern_core::json::check_value;
use kybern_core::money::Usage;
use kybern_core::plan::{FrozenPlan, StepId};
use kybern_core::task::{
    Attempt, ContainerOpening, Effect, JournalEntry, JournalRow, StepError, StepOutcome, StepStatus, TaskEnding, Wait,
    WaitKind, limits,
};
use kybern_core::time::{Millis, Timestamp};
use serde_json::{Map, Value};

use super::node::{Node, NodeState};
use super::run::TaskRun;
use super::steps::StepBegin;
use super::taint::anything_is_tainted;
use crate::templates::{self, RenderError};

/// What a step may still add to a full journal: a task that is over its limit ends as its plan says.
const WEIGHTLESS: usize = 4 * 1024;

/// A row before it has its place.
#[derive(Clone, Debug)]
pub(crate) struct RowDraft {
    pub(crate) step: Option<StepId>,
    pub(crate) tool: Option<String>,
    pub(crate) attempt: u32,
    pub(crate) generation: u32,
    pub(crate) duration: Millis,
    pub(crate) summary: String,
    pub(crate) entry: JournalEntry,
}

impl RowDraft {
    /// A row about the task, or about a step of the kernel's own.
    pub(crate) fn bare(step: Option<StepId>, attempt: u32, summary: impl Into<String>, entry: JournalEntry) -> Self {
        Self { step, tool: None, attempt, generation: 0, duration: Millis(0), summary: summary.into(), entry }
    }

    /// The row in its place.
    pub(crate) fn at(self, seq: i64, at: Timestamp) -> JournalRow {
        let Self { step, tool, attempt, generation, duration, summary, entry } = self;
        JournalRow { seq, step, tool, attempt, generation, at, duration, summary, entry }
    }

    /// A row about a node.
    pub(crate) fn of(node: &Node, attempt: u32, summary: impl Into<String>, entry: JournalEntry) -> Self {
        Self {
            step: Some(node.id.clone()),
            tool: node.spec.tool_key().map(str::to_owned),
            attempt,
            generation: node.generation,
            duration: Millis(0),
            summary: summary.into(),
            entry,
        }
    }
}

/// What is to be journaled and written together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) rows: Vec<RowDraft>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) usage: Usage,
    /// Acts to be explained later.
    pub(crate) audit: Vec<AuditEvent>,
    /// The node to begin anew when a record has changed under it.
    pub(crate) redo: Option<usize>,
    /// The attempt whose end it is.
    pub(crate) attempt: Option<Box<Attempt>>,
    /// Whether rows that wait may be written together with it although it has used something.
    pub(crate) takes_along: bool,
    /// Whether nothing outside was asked for it, so that its rows may wait for the next commit.
    pub(crate) may_wait: bool,
    /// What becomes of the task.
    pub(crate) then: AfterJournal,
}

/// What becomes of a task with what is journaled.
#[derive(Clone, Debug, Default)]
pub(crate) enum AfterJournal {
    /// What the walk says once it knows the rows.
    #[default]
    Follows,
    /// It stays with its holder.
    Stays,
    /// A phase has found this out of it.
    Found {
        /// What is wanted, and how sure that is.
        intent: Option<(String, f64)>,
        /// The plan that was chosen.
        plan: Option<Arc<FrozenPlan>>,
    },
    /// Its lease is given back, until then or until somebody answers.
    Rests(Option<Timestamp>),
    /// It ends so.
    Ends(Box<TaskEnding>),
    /// It ends, because somebody cancelled it.
    Cancelled,
    /// It ends, because it cannot go on: why, and at which step.
    Fails(StepError, Option<String>),
}

impl Draft {
    pub(crate) fn row(row: RowDraft) -> Self {
        Self { rows: vec![row], ..Self::default() }
    }

    /// Nothing but what becomes of the task.
    pub(crate) fn only(then: AfterJournal) -> Self {
        Self { then, ..Self::default() }
    }

    /// The end of a phase that has found nothing but what its row says, or its question.
    pub(crate) fn phase(row: RowDraft) -> Self {
        Self { then: AfterJournal::Found { intent: None, plan: None }, ..Self::row(row) }
    }
}

/// Begins a step.
pub(crate) fn begin(run: &TaskRun, index: usize, now: Timestamp) -> StepBegin {
    let node = run.walk.node(index);
    let holds = condition_holds(run, index);
    let cap = usize::try_from(run.task.max_steps).unwrap_or(usize::MAX);
    // A step that is skipped is not scheduled, and one that begins again has its place.
    if holds != Ok(false) && !node.scheduled && !node.is_open() && run.walk.scheduled() >= cap {
        let message = format!(
            "Max execution steps exceeded ({}): the plan, its loops and injected steps together may schedule no more",
            run.task.max_steps
        );
        let mut outcome = StepOutcome::failed(failure(ErrorCode::Unprocessable, message), false);
        outcome.over_cap = Some(run.task.max_steps);
        let entry = JournalEntry::Finished(Arc::new(outcome));
        return StepBegin::Rows(Draft::row(RowDraft::of(node, 0, "the task may schedule no more steps", entry)));
    }
    match holds {
        Ok(true) => super::step_kinds::begin(run, index, now),
        Ok(false) => {
            let entry = JournalEntry::Finished(Arc::new(StepOutcome::bare(StepStatus::Skipped)));
            StepBegin::Rows(Draft::row(RowDraft::of(node, 0, "its condition is false", entry)))
        }
        Err(error) => StepBegin::Rows(unrendered(run, index, "condition", &error)),
    }
}

/// Whether a step's condition holds. It is asked before the first try only; a later try has been let in already.
pub(crate) fn condition_holds(run: &TaskRun, index: usize) -> Result<bool, RenderError> {
    let node = run.walk.node(index);
    let has_begun = node.attempts > 0 || node.is_open();
    match &node.spec.condition {
        Some(condition) if node.state == NodeState::Pending && !has_begun => {
            templates::truth(condition, &run.surroundings.context(&run.walk, Some(index)))
        }
        Some(_) | None => Ok(true),
    }
}

/// A step that has failed for good, before or without a call. `tainted` says whether the error may repeat what
/// strangers wrote.
pub(crate) fn fail(run: &TaskRun, index: usize, error: StepError, tainted: bool) -> Draft {
    let node = run.walk.node(index);
    Draft::row(failed_row(run, node, node.attempts.max(1), error, tainted))
}

/// The row of a step that has failed for good. `tainted` says whether the error may repeat what strangers wrote.
pub(crate) fn failed_row(run: &TaskRun, node: &Node, attempt: u32, error: StepError, tainted: bool) -> RowDraft {
    let tolerated = !stops(run, node);
    let summary = if tolerated { "failed; the task goes on" } else { "failed" };
    let mut outcome = StepOutcome::failed(error, tainted);
    outcome.tolerated = tolerated;
    RowDraft::of(node, attempt, summary, JournalEntry::Finished(Arc::new(outcome)))
}

/// The draft as it can be kept: a step has failed whose data is nested too deep, or with whose data the task's journal
/// would weigh too much, whatever the data came from. What it wanted written and sent goes with its data.
pub(crate) fn kept(run: &TaskRun, mut draft: Draft) -> Draft {
    for row in &mut draft.rows {
        let Some(error) = unkept(run, &row.entry) else { continue };
        refuse(run, row, error);
        draft.effects.retain(|effect| match effect {
            Effect::Put(_)
            | Effect::Link { .. }
            | Effect::Send(_)
            | Effect::Enqueue(_)
            | Effect::Spawn(_)
            | Effect::Reopen(_)
            | Effect::Delegate(_)
            | Effect::Noun(_) => false,
            Effect::Cancel(_) | Effect::Answer(_) | Effect::Attach(_) | Effect::Ask(_) | Effect::Close { .. } => true,
        });
    }
    draft
}

/// Makes the end of a step, or its opening, its failure.
fn refuse(run: &TaskRun, row: &mut RowDraft, error: StepError) {
    let node = row.step.as_ref().and_then(|step| run.walk.find(step)).map(|index| run.walk.node(index));
    match &mut row.entry {
        JournalEntry::Finished(outcome) => {
            let outcome = Arc::make_mut(outcome);
            outcome.status = StepStatus::Failed;
            outcome.data = Value::Null;
            outcome.injected = Vec::new();
            outcome.patch = None;
            outcome.artifacts = Vec::new();
            outcome.error.get_or_insert(error);
            outcome.tolerated = node.is_some_and(|node| !stops(run, node));
            row.summary = "failed".to_owned();
        }
        _ => {
            if let Some(node) = node {
                *row = failed_row(run, node, row.attempt, error, false);
            }
        }
    }
}

/// Why an entry cannot be kept.
fn unkept(run: &TaskRun, entry: &JournalEntry) -> Option<StepError> {
    if let JournalEntry::Finished(outcome) = entry
        && let Err(deep) = check_value(&outcome.data)
    {
        return Some(failure(ErrorCode::Unprocessable, format!("the step's data cannot be kept: {deep}")));
    }
    // What else is written ends, asks or answers a step, and is small beside what the steps made.
    if !matches!(entry, JournalEntry::Finished(_) | JournalEntry::Opened(ContainerOpening::Items { .. })) {
        return None;
    }
    let weight = super::weight::of(entry);
    if weight <= WEIGHTLESS || run.walk.weight.saturating_add(weight) <= limits::MAX_TASK_DATA {
        return None;
    }
    let message = format!(
        "the step's data cannot be kept: it takes about {weight} bytes of memory, all steps before {}, and the limit of \
         a task is {}: let steps return less, or keep large content as files",
        run.walk.weight,
        limits::MAX_TASK_DATA
    );
    Some(failure(ErrorCode::PayloadTooLarge, message))
}

/// Whether a node's failure stops the task: the step says so, else the tool, else yes. The limit on a task's steps is
/// the task's, so no step around one that is over it can tolerate that.
pub(crate) fn stops(run: &TaskRun, node: &Node) -> bool {
    let tool = || Some(run.steps.tool(node.spec.tool_key()?)?.stop_on_failure);
    node.spec.stop_on_failure.or_else(tool).unwrap_or(true) || run.walk.is_over_cap_inside(node)
}

/// The row of a wait. Its place is filled in when it is committed.
pub(crate) fn wait_row(node: &Node, wait: Wait) -> RowDraft {
    let summary = wait.reason.clone();
    RowDraft::of(node, node.attempts, summary, JournalEntry::Waiting(Box::new(wait)))
}

/// A wait of a node with everything optional left out.
pub(crate) fn wait_of(id: &StepId, kind: WaitKind, reason: impl Into<String>, now: Timestamp) -> Wait {
    Wait {
        step_id: id.clone(),
        seq: 0,
        kind,
        reason: reason.into(),
        title: None,
        schema: Value::Null,
        details: Value::Null,
        since: now,
        until: None,
        approval_id: None,
        answer_ends: false,
        reference: None,
        tainted_args: Vec::new(),
    }
}

pub(crate) fn failure(code: ErrorCode, message: impl Into<String>) -> StepError {
    StepError { code, message: message.into(), retryable: false }
}

/// A step whose templates cannot be filled in. The error may quote any value that they read.
pub(crate) fn unrendered(run: &TaskRun, index: usize, what: &str, error: &RenderError) -> Draft {
    let error = failure(ErrorCode::Unprocessable, format!("the step's {what} cannot be made: {error}"));
    fail(run, index, error, anything_is_tainted(&run.walk, index, run.task.channel))
}

pub(crate) fn render_object(
    run: &TaskRun,
    index: usize,
    args: &Map<String, Value>,
) -> Result<Map<String, Value>, RenderError> {
    let node = run.walk.node(index);
    if node.literal_args || !args.values().any(templates::has_expression) {
        return Ok(args.clone());
    }
    let context = run.surroundings.context(&run.walk, Some(index));
    templates::render_members(args, &context)
}

pub(crate) fn render_value(run: &TaskRun, index: usize, value: &Value) -> Result<Value, RenderError> {
    if run.walk.node(index).literal_args || !templates::has_expression(value) {
        return Ok(value.clone());
    }
    templates::render(value, &run.surroundings.context(&run.walk, Some(index)))
}
