//! Messages that leave the house: written by commits, moved on by the job that sends them.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{OutboxId, TaskId, UserId};
use kybern_core::job::NewJob;
use kybern_core::outbox::{Dispatch, NewOutbox, OutboxChannel, OutboxMessage, OutboxStatus};
use kybern_core::ports::{MAX_PAGE_BYTES, OutboxStore, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use uuid::Uuid;

use crate::audit;
use crate::db::{Row, Tx, args, statements};
use crate::error::Result;
use crate::jobs;
use crate::page;
use crate::store::SqlStore;
use crate::tasks;

pub(crate) use kybern_core::outbox::SEND_JOB;

statements! {
    INSERT = shared "outbox_insert";
    GET = shared "outbox_get";
    LIST = shared "outbox_list";
    MOVE = shared "outbox_move";
}

/// Stores a message.
pub(crate) async fn insert(
    tx: &mut Tx,
    scope: TenantScope,
    task: Option<TaskId>,
    message: &NewOutbox,
    at: Timestamp,
) -> Result<()> {
    let args = args![
        scope,
        message.id.as_uuid(),
        task.map(TaskId::as_uuid),
        message.channel.as_str(),
        message.target.as_str(),
        message.key.as_str(),
        message.body.to_string(),
        at,
    ];
    tx.execute(&INSERT, args).await.map(|_| ())
}

/// Reads a message. What cannot be read is left empty and told: it is listed, and never sent.
fn message(row: &mut Row) -> Result<OutboxMessage> {
    let mut unreadable = None;
    let message = NewOutbox {
        id: OutboxId::from_uuid(row.uuid()?),
        channel: row.named(OutboxChannel::parse)?,
        target: row.text()?,
        key: row.text()?,
        body: row.json_or_default(&mut unreadable),
    };
    Ok(OutboxMessage {
        message,
        task_id: row.opt_uuid()?.map(TaskId::from_uuid),
        status: row.named(OutboxStatus::parse)?,
        attempts: row.u32()?,
        error: row.opt_text()?,
        created_at: row.time()?,
        sent_at: row.opt_time()?,
        trace_id: row.opt_text()?,
        unreadable,
    })
}

async fn get(tx: &mut Tx, scope: TenantScope, id: OutboxId) -> Result<Option<OutboxMessage>> {
    tx.find(&GET, args![scope, id.as_uuid()], message).await
}

type ListOutbox = (TenantScope, Option<UserId>, Option<OutboxId>, u32);

async fn list(tx: &mut Tx, &(scope, talks_of, before, limit): &ListOutbox) -> Result<Page<OutboxMessage>> {
    let begin = before.map_or(Uuid::max(), OutboxId::as_uuid);
    let talks_of = talks_of.map(UserId::as_uuid);
    let args = |before: Uuid, most: u32| [scope.into(), before.into(), most.into(), talks_of.into()];
    page::of_large(tx, (&LIST, args), begin, (limit, MAX_PAGE_BYTES), message).await
}

/// A message on its way from one status to the next.
struct StatusMove {
    scope: TenantScope,
    id: OutboxId,
    from: OutboxStatus,
    to: OutboxStatus,
    error: Option<String>,
    audit: Option<AuditEvent>,
    at: Timestamp,
}

async fn move_on(tx: &mut Tx, step: &StatusMove) -> Result<bool> {
    let (from, to) = (step.from.as_str(), step.to.as_str());
    let args = args![step.scope, step.id.as_uuid(), from, to, step.error.as_deref(), step.at];
    let moved = tx.execute(&MOVE, args).await? > 0;
    if let Some(audit) = step.audit.as_ref().filter(|_| moved) {
        audit::append(tx, step.scope, step.at, audit).await?;
    }
    Ok(moved)
}

async fn send_again(tx: &mut Tx, (step, job): &(StatusMove, NewJob)) -> Result<bool> {
    let moved = move_on(tx, step).await?;
    if moved {
        jobs::insert(tx, step.scope, job, step.at).await?;
    }
    Ok(moved)
}

type BeginDispatch = (TenantScope, OutboxId, Timestamp);

async fn begin_dispatch(tx: &mut Tx, (scope, id, at): &BeginDispatch) -> Result<Dispatch> {
    let Some(known) = get(tx, *scope, *id).await? else { return Ok(Dispatch::Over) };
    if let Some(task) = known.task_id {
        let may = tasks::may_dispatch(tx, *scope, task, &known.message.key, *at).await?;
        if may != Dispatch::Goes {
            return Ok(may);
        }
    }
    let (from, to) = (OutboxStatus::Pending.as_str(), OutboxStatus::Sending.as_str());
    let moved = tx.execute(&MOVE, args![*scope, id.as_uuid(), from, to, None::<&str>, *at]).await? > 0;
    Ok(if moved || known.status == OutboxStatus::Sending { Dispatch::Goes } else { Dispatch::Over })
}

#[async_trait]
impl<D: 'static> OutboxStore for SqlStore<D> {
    async fn outbox_message(&self, scope: TenantScope, id: OutboxId) -> PortResult<Option<OutboxMessage>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(get(tx, *scope, *id))).await?)
    }

    async fn outbox(
        &self,
        scope: TenantScope,
        talks_of: Option<UserId>,
        before: Option<OutboxId>,
        limit: u32,
    ) -> PortResult<Page<OutboxMessage>> {
        Ok(self.read(scope, (scope, talks_of, before, limit), |tx, args| Box::pin(list(tx, args))).await?)
    }

    async fn move_outbox(
        &self,
        scope: TenantScope,
        id: OutboxId,
        (from, to): (OutboxStatus, OutboxStatus),
        error: Option<&str>,
        audit: Option<&AuditEvent>,
        at: Timestamp,
    ) -> PortResult<bool> {
        let step = StatusMove { scope, id, from, to, error: error.map(str::to_owned), audit: audit.cloned(), at };
        Ok(self.write_about(scope, id.as_uuid(), step, |tx, step| Box::pin(move_on(tx, step))).await?)
    }

    async fn send_again(
        &self,
        scope: TenantScope,
        id: OutboxId,
        from: OutboxStatus,
        job: NewJob,
        audit: AuditEvent,
        at: Timestamp,
    ) -> PortResult<bool> {
        let step = StatusMove { scope, id, from, to: OutboxStatus::Pending, error: None, audit: Some(audit), at };
        let args = (step, job);
        Ok(self.write_about(scope, id.as_uuid(), args, |tx, args| Box::pin(send_again(tx, args))).await?)
    }

    async fn begin_dispatch(&self, scope: TenantScope, id: OutboxId, at: Timestamp) -> PortResult<Dispatch> {
        let args = (scope, id, at);
        Ok(self.write_about(scope, id.as_uuid(), args, |tx, args| Box::pin(begin_dispatch(tx, args))).await?)
    }
}
