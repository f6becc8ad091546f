//! Forks: the same plan and input, with what had been done before a step taken over.

use kybern_core::actor::Actor;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::TaskId;
use kybern_core::plan::FrozenPlan;
use kybern_core::task::{JournalEntry, JournalRow, NewAttachment, NewTask, Task};

use crate::Engine;

/// Rows that are read at once.
const PAGE: u32 = 1_000;

impl Engine {
    pub(super) async fn fork_of(&self, actor: &Actor, id: TaskId, from: Option<&str>) -> Result<NewTask> {
        let (scope, inner) = (actor.scope(), &self.inner);
        let task = self.row(scope, id).await?;
        if !task.status.is_terminal() {
            let message = format!("the task is {}, only one that has ended can be forked", task.status);
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        let plan: Option<FrozenPlan> = match &task.plan_hash {
            None => None,
            Some(hash) => Some((*inner.frozen.get(inner.store.as_ref(), scope, hash).await?).clone()),
        };
        let rows = self.whole_journal(&task).await?;
        let kept = match from {
            None => Vec::new(),
            Some(step) => before(&rows, step)
                .ok_or_else(|| Error::invalid("/fromStep", format!("the task has no step {step:?} in its journal")))?,
        };
        let attachments = inner.store.attachments(scope, id).await?;
        Ok(NewTask {
            id: TaskId::from_uuid(inner.ids.next()),
            // A stranger's words stay a stranger's.
            channel: task.channel,
            source: format!("fork/{id}"),
            dedupe_key: None,
            body_hash: None,
            input: task.input,
            payload: task.payload,
            created_by: actor.principal().label(),
            user: actor.user().or(task.user),
            plan,
            attachments: attachments
                .into_iter()
                .map(|a| NewAttachment {
                    filename: a.filename,
                    content_type: a.content_type,
                    size: a.size,
                    hash: a.hash,
                    source: a.source,
                })
                .collect(),
            max_steps: task.max_steps,
            confidence_threshold: task.confidence_threshold,
            budget: task.budget,
            trace_id: task.trace_id,
            parent: None,
            depth: 0,
            forked_from: Some((id, kept)),
            at: inner.clock.now(),
        })
    }

    async fn whole_journal(&self, task: &Task) -> Result<Vec<JournalRow>> {
        let scope = self.inner.store.scope_of(task.id).await?.ok_or_else(|| Error::not_found("task", task.id))?;
        let mut rows: Vec<JournalRow> = Vec::new();
        loop {
            let after = rows.last().map_or(0, |row| row.seq);
            let page = self.inner.store.journal(scope, task.id, after, PAGE).await?;
            let full = page.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
            rows.extend(page);
            if !full {
                return Ok(rows);
            }
        }
    }
}

/// The rows that ended or opened steps before the first row about `step`, renumbered. What waited, was answered or
/// was tried again is not taken over: only how it ended counts.
fn before(rows: &[JournalRow], step: &str) -> Option<Vec<JournalRow>> {
    let at = |row: &JournalRow| row.step.as_ref().is_some_and(|id| id.as_str() == step);
    let first = rows.iter().position(at)?;
    let kept = rows.iter().take(first).filter(|row| match row.entry {
        JournalEntry::Finished(_) | JournalEntry::Opened(_) => true,
        JournalEntry::Retrying { .. }
        | JournalEntry::Waiting(_)
        | JournalEntry::Answered { .. }
        | JournalEntry::Recovered { .. }
        | JournalEntry::Ended { .. } => false,
    });
    Some(kept.cloned().zip(1..).map(|(row, seq)| JournalRow { seq, generation: 0, ..row }).collect())
}
