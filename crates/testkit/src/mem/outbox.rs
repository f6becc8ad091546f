//! Messages that leave the house, to read and to move on.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result;
use kybern_core::id::{OutboxId, UserId};
use kybern_core::job::NewJob;
use kybern_core::outbox::{Dispatch, OutboxMessage, OutboxStatus};
use kybern_core::ports::{OutboxStore, Page};
use kybern_core::task::{JournalEntry, JournalRow, TaskStatus};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;
use super::page::page_of_large;
use super::state::TaskRow;

#[async_trait]
impl OutboxStore for MemStore {
    async fn outbox_message(&self, scope: TenantScope, id: OutboxId) -> Result<Option<OutboxMessage>> {
        self.run(|state| Ok(state.outbox.get(&(scope.tenant(), id)).cloned()))
    }

    async fn outbox(
        &self,
        scope: TenantScope,
        talks_of: Option<UserId>,
        before: Option<OutboxId>,
        limit: u32,
    ) -> Result<Page<OutboxMessage>> {
        self.run(|state| {
            let own = state.outbox.iter().rev().filter(|((tenant, _), _)| *tenant == scope.tenant());
            let found = own.filter(|((_, id), _)| before.is_none_or(|before| *id < before));
            let strange = |message: &OutboxMessage| {
                message.task_id.is_some_and(|task| state.is_talk_of_another(scope.tenant(), task, talks_of))
            };
            let found = found.filter(|(_, message)| !strange(message));
            Ok(page_of_large(found.map(|(_, message)| message.clone()), limit, |message| {
                message.message.id.to_string()
            }))
        })
    }

    async fn move_outbox(
        &self,
        scope: TenantScope,
        id: OutboxId,
        (from, to): (OutboxStatus, OutboxStatus),
        error: Option<&str>,
        audit: Option<&AuditEvent>,
        at: Timestamp,
    ) -> Result<bool> {
        self.run(|state| {
            let row = state.outbox.get_mut(&(scope.tenant(), id)).filter(|row| row.status == from);
            let Some(row) = row else { return Ok(false) };
            row.status = to;
            row.error = error.map(str::to_owned);
            row.attempts += u32::from(to == OutboxStatus::Sending);
            if to == OutboxStatus::Sent {
                row.sent_at = Some(at);
            }
            if let Some(audit) = audit {
                state.append_audit(scope.tenant(), at, audit.clone());
            }
            Ok(true)
        })
    }

    async fn send_again(
        &self,
        scope: TenantScope,
        id: OutboxId,
        from: OutboxStatus,
        job: NewJob,
        audit: AuditEvent,
        at: Timestamp,
    ) -> Result<bool> {
        self.run(|state| {
            let row = state.outbox.get_mut(&(scope.tenant(), id)).filter(|row| row.status == from);
            let Some(row) = row else { return Ok(false) };
            (row.status, row.error) = (OutboxStatus::Pending, None);
            state.insert_job(scope.tenant(), job, at);
            state.append_audit(scope.tenant(), at, audit);
            Ok(true)
        })
    }

    async fn begin_dispatch(&self, scope: TenantScope, id: OutboxId, at: Timestamp) -> Result<Dispatch> {
        self.run(|state| {
            let place = (scope.tenant(), id);
            let Some(known) = state.outbox.get(&place) else { return Ok(Dispatch::Over) };
            let may = known.task_id.map_or(Dispatch::Goes, |task| match state.row(scope, task) {
                Some(row) => row.may_dispatch(&known.message.key, at),
                None => Dispatch::Over,
            });
            let Some(row) = state.outbox.get_mut(&place).filter(|_| may == Dispatch::Goes) else { return Ok(may) };
            match row.status {
                OutboxStatus::Pending => {
                    (row.status, row.error) = (OutboxStatus::Sending, None);
                    row.attempts += 1;
                    Ok(Dispatch::Goes)
                }
                OutboxStatus::Sending => Ok(Dispatch::Goes),
                OutboxStatus::Sent | OutboxStatus::Kept | OutboxStatus::Failed | OutboxStatus::Uncertain => {
                    Ok(Dispatch::Over)
                }
            }
        })
    }
}

impl TaskRow {
    /// Whether the dispatch of a delegation may leave.
    fn may_dispatch(&self, workflow_id: &str, at: Timestamp) -> Dispatch {
        let known = self.delegations.iter().find(|(known, ..)| known.workflow_id == workflow_id);
        let is_over = known.is_some_and(|(known, began, _)| {
            let ends = |row: &JournalRow| matches!(row.entry, JournalEntry::Finished(_));
            let of_step = |row: &&JournalRow| row.seq > *began && row.step.as_ref() == Some(&known.step);
            known.deadline <= at || self.journal.iter().filter(of_step).any(ends)
        });
        match self.task.status {
            _ if is_over => Dispatch::Over,
            TaskStatus::Completed | TaskStatus::Cancelled => Dispatch::Over,
            TaskStatus::Failed => Dispatch::Rests,
            _ if self.task.cancel_requested => Dispatch::Rests,
            _ => Dispatch::Goes,
        }
    }
}
