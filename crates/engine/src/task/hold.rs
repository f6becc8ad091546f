//! Keeping a task, with its tree, from being removed.

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::TaskId;
use kybern_core::retention::{MAX_REASON, TaskHold};
use serde_json::json;

use super::TaskView;
use super::Tasks;

impl Tasks {
    /// Puts a task on hold: nothing of its tree is removed until it is released.
    ///
    /// # Errors
    /// `NOT_FOUND`; `VALIDATION_ERROR` without a reason; `CONFLICT` when it is on hold already.
    pub async fn hold(&self, actor: &Actor, id: TaskId, reason: &str) -> Result<TaskView> {
        self.task_for(actor, id).await?;
        let reason = reason.trim();
        if reason.is_empty() || reason.chars().count() > MAX_REASON {
            let problem = format!("say why it is kept, in up to {MAX_REASON} characters");
            return Err(Error::invalid("/reason", problem));
        }
        let hold = TaskHold {
            task_id: id,
            reason: reason.to_owned(),
            held_by: actor.principal().label(),
            held_at: self.kernel.clock.now(),
        };
        let event = AuditEvent::by(actor, "task.hold", format!("task:{id}"), json!({"reason": reason}));
        self.kernel.store.hold_task(actor.scope(), &hold, event).await?;
        self.get(actor, id).await
    }

    /// Releases a task from its hold.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it is not on hold.
    pub async fn release(&self, actor: &Actor, id: TaskId) -> Result<TaskView> {
        self.task_for(actor, id).await?;
        let hold = self.kernel.store.task_hold(actor.scope(), id).await?;
        let detail = json!({"reason": hold.map(|hold| hold.reason)});
        let event = AuditEvent::by(actor, "task.release", format!("task:{id}"), detail);
        self.kernel.store.release_task(actor.scope(), id, self.kernel.clock.now(), event).await?;
        self.get(actor, id).await
    }
}
