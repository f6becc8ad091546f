//! Holds on tasks.

use kybern_core::audit::AuditEvent;
use kybern_core::id::{ChatId, TaskId};
use kybern_core::retention::TaskHold;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use crate::audit;
use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::tasks::must_exist;

statements! {
    INSERT = shared "hold_insert";
    DELETE = shared "hold_delete";
    GET = shared "hold_get";
    OF_CHAT = shared "chat_held";
}

/// Puts a task on hold. Its row is locked first: a removal either comes before, and then there is no task, or sees the
/// hold.
pub(super) async fn hold(tx: &mut Tx, (scope, held, event): &(TenantScope, TaskHold, AuditEvent)) -> Result<()> {
    let scope = *scope;
    must_exist(tx, scope, held.task_id).await?;
    let args = args![scope, held.task_id.as_uuid(), held.reason.as_str(), held.held_by.as_str(), held.held_at];
    if tx.execute(&INSERT, args).await? == 0 {
        return Err(StoreError::Conflict("the task is on hold already".to_owned()));
    }
    audit::append(tx, scope, held.held_at, event).await
}

type ReleaseHold = (TenantScope, TaskId, Timestamp, AuditEvent);

pub(super) async fn release(tx: &mut Tx, (scope, id, at, event): &ReleaseHold) -> Result<()> {
    must_exist(tx, *scope, *id).await?;
    if tx.execute(&DELETE, args![*scope, id.as_uuid()]).await? == 0 {
        return Err(StoreError::Conflict("the task is not on hold".to_owned()));
    }
    audit::append(tx, *scope, *at, event).await
}

fn read(row: &mut Row, task_id: TaskId) -> Result<TaskHold> {
    Ok(TaskHold { task_id, reason: row.text()?, held_by: row.text()?, held_at: row.time()? })
}

pub(super) async fn get(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Option<TaskHold>> {
    tx.find(&GET, args![scope, id.as_uuid()], |row| read(row, id)).await
}

/// Refuses to take anything away from a conversation that shows a task whose tree is on hold.
pub(crate) async fn refuse_if_held(tx: &mut Tx, scope: TenantScope, chat: ChatId) -> Result<()> {
    let of_task = |row: &mut Row| row.uuid().and_then(|task| read(row, TaskId::from_uuid(task)));
    match tx.find(&OF_CHAT, args![scope, chat.as_uuid()], of_task).await? {
        Some(hold) => Err(StoreError::Conflict(hold.keeps_its_conversation())),
        None => Ok(()),
    }
}
