//! Trying a failed task again, and what a parent wants of its children.

use kybern_core::audit::AuditEvent;
use kybern_core::error::Result;
use kybern_core::id::{TaskId, TenantId};
use kybern_core::task::{Signal, Task, TaskStatus};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use super::state::{MemState, TaskRow, conflict};

impl MemState {
    pub(super) fn reopen(
        &mut self,
        scope: TenantScope,
        id: TaskId,
        signal: Signal,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Task> {
        let now = self.moment(at);
        let row = self.known(scope, id)?;
        if row.task.status != TaskStatus::Failed {
            return Err(conflict(format!("task {id} is {}, only a failed task can be tried again", row.task.status)));
        }
        row.task.status = TaskStatus::Pending;
        row.task.cancel_requested = false;
        row.task.completed_at = None;
        row.task.result = None;
        row.task.error = None;
        row.push_signal(None, None, signal);
        row.make_due(now);
        let task = row.task.clone();
        self.append_audit(scope.tenant(), at, audit);
        Ok(task)
    }

    /// A failed child is tried again; the end of one that has ended otherwise is told once more.
    pub(super) fn cancel_child(&mut self, (tenant, parent): (TenantId, TaskId), child: TaskId, at: Timestamp) {
        let now = self.moment(at);
        let is_open = |row: &TaskRow| {
            let of = row.task.parent.as_ref().map(|(of, _)| *of);
            row.task.tenant == tenant && of == Some(parent) && !row.task.status.is_terminal()
        };
        let Some(row) = self.tasks.get_mut(&child).filter(|row| is_open(row)) else { return };
        row.task.cancel_requested = true;
        row.task.paused_at = None;
        row.make_due(now);
        let detail = json!({"parent": parent});
        self.append_audit(tenant, at, AuditEvent::by_executor("task.cancel", format!("task:{child}"), detail));
    }

    pub(super) fn reopen_child(
        &mut self,
        (tenant, parent): (TenantId, TaskId),
        child: TaskId,
        signals_seen: i64,
        at: Timestamp,
    ) {
        let of_child = |signal: &Signal| matches!(signal, Signal::ChildEnded { child: of, .. } if *of == child);
        let unseen = |row: &TaskRow| {
            let seen = usize::try_from(signals_seen).unwrap_or(0);
            row.signals.iter().skip(seen).any(|stored| of_child(&stored.signal))
        };
        if self.tasks.get(&parent).is_some_and(unseen) {
            // Its end has been told already, and will be taken in next.
            return;
        }
        let known = self.tasks.get(&child).map(|row| row.task.clone()).filter(|row| row.tenant == tenant);
        let of_parent = |row: &Task| row.parent.as_ref().is_some_and(|(of, _)| *of == parent);
        let Some(found) = known.filter(of_parent) else { return };
        if found.status == TaskStatus::Failed {
            let detail = json!({"parent": parent});
            let audit = AuditEvent::by_executor("task.retry", format!("task:{child}"), detail);
            let signal = Signal::Retry { by: format!("task:{parent}") };
            let reopened = self.reopen(crate::actors::scope(tenant), child, signal, at, audit);
            debug_assert!(reopened.is_ok(), "a failed task can be reopened");
        } else if found.status.is_terminal() {
            self.tell_parent(&found, at);
        }
    }

    /// The row of a task that has not ended.
    pub(super) fn running(&mut self, scope: TenantScope, id: TaskId) -> Result<&mut TaskRow> {
        let row = self.known(scope, id)?;
        if row.task.status.is_terminal() {
            return Err(conflict(format!("task {id} is {} already", row.task.status)));
        }
        Ok(row)
    }
}
