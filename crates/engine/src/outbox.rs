//! The outbox for people: what left or wants to leave, and another try by hand.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{JobId, OutboxId};
use kybern_core::job::{NewJob, limits};
use kybern_core::outbox::{OutboxMessage, OutboxStatus, SEND_JOB};
use kybern_core::ports::{Clock, IdSource, OutboxStore, Page, TaskStore};
use serde_json::json;

/// What left or wants to leave.
#[derive(Clone)]
pub struct Outbox {
    pub(crate) store: Arc<dyn OutboxStore>,
    pub(crate) tasks: Arc<dyn TaskStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl Outbox {
    /// A page of the outbox, newest first: what the actor may see of it.
    pub async fn list(&self, actor: &Actor, before: Option<OutboxId>, limit: u32) -> Result<Page<OutboxMessage>> {
        self.store.outbox(actor.scope(), actor.sees_talks_of(), before, limit).await
    }

    /// Lets a message leave once more that was given up or kept. Of one that may have left already nobody knows whether
    /// it arrives twice: it leaves only `even_if_sent`.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` for one that is under way or has arrived, or may have and nobody says that it may twice.
    pub async fn retry(&self, actor: &Actor, id: OutboxId, even_if_sent: bool) -> Result<OutboxMessage> {
        let (store, scope) = (&self.store, actor.scope());
        let unknown = || Error::not_found("message", id);
        let known = store.outbox_message(scope, id).await?.ok_or_else(unknown)?;
        if let Some(task) = known.task_id
            && let Some(task) = self.tasks.task(scope, task).await?
            && !task.is_visible_to(actor)
        {
            return Err(unknown());
        }
        let conflict = |why: &str| Err(Error::new(ErrorCode::Conflict, format!("the message {why}")));
        match known.status {
            _ if known.unreadable.is_some() => return conflict("cannot be read; `kybern doctor` names it"),
            OutboxStatus::Sent => return conflict("has arrived"),
            OutboxStatus::Pending | OutboxStatus::Sending => return conflict("is under way"),
            OutboxStatus::Uncertain if !even_if_sent => {
                return conflict("may have arrived: look there first, then ask with evenIfSent");
            }
            OutboxStatus::Uncertain | OutboxStatus::Failed | OutboxStatus::Kept => {}
        }
        let now = self.clock.now();
        let job = NewJob {
            id: JobId::from_uuid(self.ids.next()),
            kind: SEND_JOB.to_owned(),
            // How long it may wait for its receiver counts from here on.
            payload: json!({"outboxId": id, "since": now}),
            // The message itself lets no second one begin: it is moved once, from where it was.
            dedupe_key: None,
            max_attempts: limits::DEFAULT_ATTEMPTS,
            due_at: now,
        };
        let detail = json!({"was": known.status.as_str(), "evenIfSent": even_if_sent, "taskId": known.task_id});
        let audit = AuditEvent::by(actor, "outbox.retry", format!("outbox:{id}"), detail);
        if !store.send_again(scope, id, known.status, job, audit, now).await? {
            return conflict("is under way");
        }
        store.outbox_message(scope, id).await?.ok_or_else(unknown)
    }
}
