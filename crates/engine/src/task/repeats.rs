//! What a fork makes again outside: calls, messages, workflows and child tasks of the steps that it does not take over.
//!
//! Only what the old task is known to have begun is a repeat. What the new one does beyond that, because it decides
//! otherwise, nobody knows before.

use std::collections::{HashMap, HashSet};

use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::id::TaskId;
use kybern_core::plan::StepId;
use kybern_core::task::{Attempt, EffectClass, JournalEntry, JournalRow, StepStatus, WaitKind};
use kybern_core::tenant::TenantScope;
use serde::Serialize;

use super::Tasks;

/// By which way a step writes outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatKind {
    /// A tool is called that changes something outside.
    Call,
    /// A mail or a webhook is put into the outbox.
    Message,
    /// An outside engine is given work.
    Workflow,
    /// A child task is started, and the one before has written outside.
    Task,
}

/// An outside write that would be made again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Repeat {
    pub step_id: String,
    /// By which way it writes.
    pub kind: RepeatKind,
    /// The tool that it calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The effect class of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectClass>,
    /// What its log said of it the first time.
    pub summary: String,
}

/// Refuses where a repeat has no yes, and where a yes is for something else.
pub(super) fn confirmed(repeats: &[Repeat], confirm: &[String]) -> Result<()> {
    let stranger = confirm.iter().position(|step| !repeats.iter().any(|repeat| repeat.step_id == *step));
    if let Some((n, step)) = stranger.and_then(|n| Some((n, confirm.get(n)?))) {
        let message = format!("step {step:?} makes no outside write again, leave it out");
        return Err(Error::invalid(format!("/confirm/{n}"), message));
    }
    let open: Vec<&Repeat> = repeats.iter().filter(|repeat| !confirm.contains(&repeat.step_id)).collect();
    if open.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = open.iter().map(|repeat| repeat.step_id.as_str()).collect();
    let message =
        format!("the fork would make outside writes again, name their steps in confirm: {}", names.join(", "));
    let detail = |repeat: &&Repeat| Detail::new("/confirm", format!("step {}: {}", repeat.step_id, told(repeat)));
    Err(Error::new(ErrorCode::Conflict, message).with_details(open.iter().map(detail).collect()))
}

fn told(repeat: &Repeat) -> String {
    match (repeat.kind, &repeat.tool) {
        (RepeatKind::Call, tool) => {
            let effect = repeat.effect.map_or("", EffectClass::as_str);
            format!("calls {} ({effect})", tool.as_deref().unwrap_or("a tool"))
        }
        (RepeatKind::Message, _) => "sends a message".to_owned(),
        (RepeatKind::Workflow, _) => "starts an outside workflow".to_owned(),
        (RepeatKind::Task, _) => "starts a child task that writes outside".to_owned(),
    }
}

impl Tasks {
    /// What the rows that are not kept have written outside, in their order, once for each step.
    pub(super) async fn repeats(
        &self,
        scope: TenantScope,
        task: TaskId,
        rows: &[JournalRow],
        kept: &[JournalRow],
    ) -> Result<Vec<Repeat>> {
        let attempts = self.kernel.store.attempts(scope, task).await?;
        let started = self.started(scope, task).await?;
        let ends = kept.iter().filter(|row| matches!(row.entry, JournalEntry::Finished(_)));
        let mut known: HashSet<&StepId> = ends.filter_map(|row| row.step.as_ref()).collect();
        let mut repeats = Vec::new();
        for row in rows {
            let Some(step) = row.step.as_ref().filter(|step| !known.contains(step)) else { continue };
            let Some((kind, effect)) = self.outside(scope, row, &attempts, &started).await? else { continue };
            known.insert(step);
            let (step_id, tool, summary) = (step.as_str().to_owned(), row.tool.clone(), row.summary.clone());
            repeats.push(Repeat { step_id, kind, tool, effect, summary });
        }
        Ok(repeats)
    }

    /// Whether a row tells of an outside write.
    async fn outside(
        &self,
        scope: TenantScope,
        row: &JournalRow,
        attempts: &[Attempt],
        started: &HashMap<String, Vec<TaskId>>,
    ) -> Result<Option<(RepeatKind, Option<EffectClass>)>> {
        if let Some(written) = by_itself(row, attempts) {
            return Ok(Some(written));
        }
        let step = row.step.as_ref().map_or("", StepId::as_str);
        for task in started.get(step).into_iter().flatten() {
            if self.tree_writes(scope, *task).await? {
                return Ok(Some((RepeatKind::Task, None)));
            }
        }
        Ok(None)
    }

    /// The tasks that a task has started, by the steps that did: those for which it waits, and those that it submitted.
    async fn started(&self, scope: TenantScope, task: TaskId) -> Result<HashMap<String, Vec<TaskId>>> {
        let mut by_step: HashMap<String, Vec<TaskId>> = HashMap::new();
        for id in self.kernel.store.children(scope, task).await? {
            let child = self.kernel.store.task(scope, id).await?;
            if let Some((_, step)) = child.and_then(|child| child.parent) {
                by_step.entry(step).or_default().push(id);
            }
        }
        Ok(by_step)
    }

    /// Whether a task, or one below it, has written outside.
    async fn tree_writes(&self, scope: TenantScope, root: TaskId) -> Result<bool> {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            // One that was removed meanwhile tells nothing any more.
            if self.kernel.store.task(scope, id).await?.is_none() {
                continue;
            }
            let attempts = self.kernel.store.attempts(scope, id).await?;
            let rows = self.whole_journal(scope, id).await?;
            if rows.iter().any(|row| by_itself(row, &attempts).is_some()) {
                return Ok(true);
            }
            open.extend(self.kernel.store.children(scope, id).await?);
        }
        Ok(false)
    }
}

/// What a row tells of its own task's outside writes.
fn by_itself(row: &JournalRow, attempts: &[Attempt]) -> Option<(RepeatKind, Option<EffectClass>)> {
    // A call that has failed, or of which nobody knows, was begun.
    let begun =
        attempts.iter().find(|attempt| attempt.effect.needs_attempt_row() && row.step.as_ref() == Some(&attempt.step));
    if let Some(attempt) = begun {
        return Some((RepeatKind::Call, Some(attempt.effect)));
    }
    match &row.entry {
        // What was taken over from another task has its attempts there.
        JournalEntry::Finished(outcome) if outcome.status == StepStatus::Completed => match outcome.effect {
            Some(effect) if effect.needs_attempt_row() => Some((RepeatKind::Call, Some(effect))),
            _inside => (outcome.sent > 0).then_some((RepeatKind::Message, None)),
        },
        JournalEntry::Waiting(wait) if wait.kind == WaitKind::Workflow => Some((RepeatKind::Workflow, None)),
        JournalEntry::Finished(_)
        | JournalEntry::Waiting(_)
        | JournalEntry::Retrying { .. }
        | JournalEntry::Opened(_)
        | JournalEntry::Answered { .. }
        | JournalEntry::Recovered { .. }
        | JournalEntry::Ended { .. }
        | JournalEntry::Unreadable { .. } => None,
    }
}
