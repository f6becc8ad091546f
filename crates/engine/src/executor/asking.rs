//! What a commit means for the inbox of persons: questions that are opened, and those that nobody needs any more.

use kybern_core::approval::{ApprovalStatus, NewApproval};
use kybern_core::audit::AuditEvent;
use kybern_core::task::{Effect, JournalEntry, JournalRow, TaskChange, Wait, WaitKind};
use serde_json::{Value, json};

use super::run::TaskRun;

/// Adds to a commit what its rows and its change mean for questions to persons.
pub(super) fn questions(
    run: &TaskRun,
    rows: &[JournalRow],
    change: &TaskChange,
    mut effects: Vec<Effect>,
    mut audit: Vec<AuditEvent>,
) -> (Vec<Effect>, Vec<AuditEvent>) {
    for row in rows {
        let wait = match &row.entry {
            JournalEntry::Waiting(wait) => wait,
            JournalEntry::Finished(_) => {
                // A step that has ended asks nobody any more, however it ended.
                let asked = row.step.as_ref().and_then(|step| run.walk.find(step));
                if let Some(seq) = asked.and_then(|index| run.walk.node(index).asked) {
                    effects.push(Effect::Close { wait_seq: Some(seq), status: ApprovalStatus::Withdrawn });
                }
                continue;
            }
            _ => continue,
        };
        let Some(asked) = asked(run, row, wait) else { continue };
        if wait.kind == WaitKind::Confirmation {
            let detail = json!({
                "tool": asked.tool,
                "stepId": asked.step,
                "approvalId": asked.id,
                "argsHash": asked.input_hash,
                "expiresAt": asked.expires_at,
            });
            audit.push(AuditEvent::by_executor("approval.ask", format!("task:{}", run.task.id), detail));
        }
        effects.push(Effect::Ask(Box::new(asked)));
    }
    if matches!(change, TaskChange::End(_)) && run.has_asked(rows) {
        effects.push(Effect::Close { wait_seq: None, status: ApprovalStatus::Withdrawn });
    }
    (effects, audit)
}

fn asked(run: &TaskRun, row: &JournalRow, wait: &Wait) -> Option<NewApproval> {
    let id = wait.approval_id?;
    let shown = |name: &str| wait.details.get(name);
    Some(NewApproval {
        id,
        step: wait.step_id.clone(),
        wait_seq: wait.seq,
        kind: wait.kind,
        tool: row.tool.clone(),
        user: run.task.user,
        reason: wait.reason.clone(),
        input: shown("args").cloned().unwrap_or(Value::Null),
        input_hash: shown("argsHash").and_then(Value::as_str).map(str::to_owned),
        expires_at: wait.until,
    })
}

impl TaskRun {
    /// Whether the task has ever asked a person: in its journal, or in rows that are about to be written.
    fn has_asked(&self, rows: &[JournalRow]) -> bool {
        let asks = |row: &JournalRow| matches!(&row.entry, JournalEntry::Waiting(wait) if wait.kind.is_person());
        self.walk.has_asked() || rows.iter().any(asks)
    }
}
