//! Questions to persons. Opened and withdrawn by commits of tasks, answered with the signal that tells the task.

use async_trait::async_trait;
use kybern_core::approval::{Approval, ApprovalFilter, ApprovalStatus, DecidedApproval, NewApproval};
use kybern_core::error::Result as PortResult;
use kybern_core::id::{ApprovalId, TaskId, UserId};
use kybern_core::plan::StepId;
use kybern_core::ports::{ApprovalStore, MAX_PAGE_BYTES, Page};
use kybern_core::task::{Resolution, Signal, Wait, WaitKind};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use uuid::Uuid;

use crate::db::{Row, Tx, args, statements};
use crate::error::Result;
use crate::page;
use crate::store::SqlStore;

statements! {
    INSERT = shared "approval_insert";
    DECIDE = shared "approval_decide";
    CLOSE = shared "approval_close";
    GET = shared "approval_get";
    LIST = shared "approval_list";
    LIST_OPEN = shared "approval_list_open";
    LIST_STATUS = shared "approval_list_status";
    LIST_TASK = shared "approval_list_task";
}

/// Bytes of a page: what a question shows stands in it, in its task and in the answer.
const MAX_BYTES: usize = MAX_PAGE_BYTES / 4;

/// Opens a question.
pub(crate) async fn ask(tx: &mut Tx, scope: TenantScope, task: TaskId, new: &NewApproval, at: Timestamp) -> Result<()> {
    let args = args![
        scope,
        new.id.as_uuid(),
        task.as_uuid(),
        new.step.as_str(),
        new.wait_seq,
        new.kind.as_str(),
        new.tool.as_deref(),
        new.user.map(UserId::as_uuid),
        new.reason.as_str(),
        new.input.to_string(),
        new.input_hash.as_deref(),
        at,
        new.expires_at,
    ];
    tx.execute(&INSERT, args).await.map(|_| ())
}

/// Closes what a task asked: one question, or all.
pub(crate) async fn close(
    tx: &mut Tx,
    (scope, task): (TenantScope, TaskId),
    wait_seq: Option<i64>,
    status: ApprovalStatus,
    at: Timestamp,
) -> Result<()> {
    match wait_seq {
        None => tx.execute(&CLOSE, args![scope, task.as_uuid(), status.as_str(), at]).await?,
        Some(seq) => {
            let nothing: Option<&str> = None;
            let args = args![scope, task.as_uuid(), seq, status.as_str(), at, "executor", nothing, false];
            tx.execute(&DECIDE, args).await?
        }
    };
    Ok(())
}

/// Writes down what a person's answer decided.
pub(crate) async fn decide(
    tx: &mut Tx,
    scope: TenantScope,
    task: TaskId,
    (wait, signal): (&Wait, &Signal),
    at: Timestamp,
) -> Result<()> {
    let Signal::Review { wait_seq, resolution, note, by, .. } = signal else { return Ok(()) };
    let denied = *resolution == Some(Resolution::Fail);
    let status = if denied { ApprovalStatus::Denied } else { ApprovalStatus::Approved };
    let edited = signal.edits(wait);
    let args = args![scope, task.as_uuid(), *wait_seq, status.as_str(), at, by.as_str(), note.as_deref(), edited];
    tx.execute(&DECIDE, args).await.map(|_| ())
}

fn read(row: &mut Row) -> Result<Approval> {
    let (id, task) = (ApprovalId::from_uuid(row.uuid()?), TaskId::from_uuid(row.uuid()?));
    let (step, wait_seq, kind, tool) = (StepId::trusted(&row.text()?), row.i64()?, row.text()?, row.opt_text()?);
    let user = row.opt_uuid()?.map(UserId::from_uuid);
    let mut unreadable = None;
    let (reason, input, input_hash) = (row.text()?, row.json_or_default(&mut unreadable), row.opt_text()?);
    let (status, created_at, expires_at) = (row.text()?, row.time()?, row.opt_time()?);
    let (at, by, note, edited) = (row.opt_time()?, row.opt_text()?, row.opt_text()?, row.flag()?);
    let kind = WaitKind::parse(&kind).ok_or_else(|| row.fault(format!("{kind:?} is nothing that a step waits for")))?;
    let status = ApprovalStatus::parse(&status).ok_or_else(|| row.fault(format!("{status:?} is no status")))?;
    let decision = at.zip(by).map(|(at, by)| DecidedApproval { by, note, edited, at });
    let asked = NewApproval { id, step, wait_seq, kind, tool, user, reason, input, input_hash, expires_at };
    Ok(Approval { asked, task, status, created_at, decision, unreadable })
}

async fn get(tx: &mut Tx, scope: TenantScope, id: ApprovalId) -> Result<Option<Approval>> {
    tx.find(&GET, args![scope, id.as_uuid()], read).await
}

type ListApprovals = (TenantScope, ApprovalFilter, Option<ApprovalId>, u32);

async fn list(tx: &mut Tx, &(scope, filter, after, limit): &ListApprovals) -> Result<Page<Approval>> {
    let begin = after.map_or(Uuid::nil(), ApprovalId::as_uuid);
    let talks_of = filter.talks_of.map(UserId::as_uuid);
    let status = filter.status.map_or("", ApprovalStatus::as_str);
    match (filter.task, filter.status) {
        (Some(task), _) => {
            let task = task.as_uuid();
            let args = |after: Uuid, most: u32| {
                [
                    scope.into(),
                    task.into(),
                    most.into(),
                    talks_of.into(),
                    after.into(),
                    status.into(),
                    filter.calls.into(),
                ]
            };
            page::of_large(tx, (&LIST_TASK, args), begin, (limit, MAX_BYTES), read).await
        }
        (None, None | Some(ApprovalStatus::Pending)) => {
            let list = if filter.status.is_none() { &LIST } else { &LIST_OPEN };
            let args = |after: Uuid, most: u32| {
                [scope.into(), after.into(), most.into(), talks_of.into(), filter.calls.into()]
            };
            page::of_large(tx, (list, args), begin, (limit, MAX_BYTES), read).await
        }
        (None, Some(_)) => {
            let args = |after: Uuid, most: u32| {
                [scope.into(), after.into(), most.into(), status.into(), talks_of.into(), filter.calls.into()]
            };
            page::of_large(tx, (&LIST_STATUS, args), begin, (limit, MAX_BYTES), read).await
        }
    }
}

#[async_trait]
impl<D: 'static> ApprovalStore for SqlStore<D> {
    async fn approval(&self, scope: TenantScope, id: ApprovalId) -> PortResult<Option<Approval>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(get(tx, *scope, *id))).await?)
    }

    async fn approvals(
        &self,
        scope: TenantScope,
        filter: ApprovalFilter,
        after: Option<ApprovalId>,
        limit: u32,
    ) -> PortResult<Page<Approval>> {
        Ok(self.read(scope, (scope, filter, after, limit), |tx, args| Box::pin(list(tx, args))).await?)
    }
}
