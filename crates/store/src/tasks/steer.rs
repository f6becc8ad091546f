//! People steer: cancel, pause, resume, try again.

use kybern_core::audit::AuditEvent;
use kybern_core::id::TaskId;
use kybern_core::plan::StepId;
use kybern_core::task::{Lease, Signal, SteerAction, Task, TaskStatus};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use super::read;
use super::signals::{KeyedSignal, expect, leave, stand};
use crate::audit;
use crate::chats;
use crate::db::{Tx, args, statements};
use crate::error::{Result, StoreError};

statements! {
    CANCEL = shared "task_cancel";
    PAUSE = shared "task_pause";
    REOPEN = shared "task_reopen";
}

/// What is wanted of which task, and since when.
#[derive(Debug)]
pub(super) struct SteerAct {
    pub(super) scope: TenantScope,
    pub(super) id: TaskId,
    pub(super) at: Timestamp,
    pub(super) audit: AuditEvent,
}

/// Wants the task cancelled.
pub(super) async fn cancel(tx: &mut Tx, aim: &SteerAct) -> Result<Task> {
    let (scope, id) = (aim.scope, aim.id);
    let stand = expect(tx, scope, id).await?;
    if stand.status.is_terminal() {
        return Err(StoreError::Conflict(format!("the task is {} already", stand.status)));
    }
    tx.execute(&CANCEL, args![scope, id.as_uuid(), aim.at]).await?;
    tx.wake();
    audit::append(tx, scope, aim.at, &aim.audit).await?;
    read::expect(tx, scope, id).await
}

/// Pauses or resumes the task.
pub(super) async fn pause(tx: &mut Tx, (aim, paused): &(SteerAct, bool)) -> Result<Task> {
    let (scope, id) = (aim.scope, aim.id);
    let stand = expect(tx, scope, id).await?;
    if stand.status.is_terminal() {
        return Err(StoreError::Conflict(format!("the task is {} already", stand.status)));
    }
    if stand.paused == *paused {
        let word = if *paused { "paused already" } else { "not paused" };
        return Err(StoreError::Conflict(format!("the task is {word}")));
    }
    tx.execute(&PAUSE, args![scope, id.as_uuid(), paused.then_some(aim.at)]).await?;
    if !*paused {
        tx.wake();
    }
    audit::append(tx, scope, aim.at, &aim.audit).await?;
    read::expect(tx, scope, id).await
}

/// Steers a task as a step of another one wants it.
pub(super) async fn steer(tx: &mut Tx, aim: SteerAct, wish: SteerAction) -> Result<()> {
    match wish {
        SteerAction::Cancel => cancel(tx, &aim).await.map(drop),
        SteerAction::Pause => pause(tx, &(aim, true)).await.map(drop),
        SteerAction::Resume => pause(tx, &(aim, false)).await.map(drop),
    }
}

/// Reopens a failed task.
pub(super) async fn reopen(tx: &mut Tx, (aim, signal): &(SteerAct, Signal)) -> Result<Task> {
    let (scope, id) = (aim.scope, aim.id);
    let stand = expect(tx, scope, id).await?;
    if stand.status != TaskStatus::Failed {
        return Err(StoreError::Conflict(format!("the task is {}; only a failed one can be retried", stand.status)));
    }
    let known = read::expect(tx, scope, id).await?;
    if let Some(turn) = known.turn() {
        chats::take_again(tx, scope, id, &turn, aim.at).await?;
    }
    let dedupe = format!("retry:{}", stand.signals + 1);
    tx.execute(&REOPEN, args![scope, id.as_uuid(), aim.at]).await?;
    leave(tx, scope, id, &KeyedSignal { dedupe, signal, body_hash: None }, aim.at).await?;
    audit::append(tx, scope, aim.at, &aim.audit).await?;
    read::expect(tx, scope, id).await
}

/// Wants a task's child cancelled for which the task waits no more; nothing happens when it has ended.
pub(super) async fn cancel_child(tx: &mut Tx, parent: &Lease, child: TaskId, at: Timestamp) -> Result<()> {
    let scope = parent.scope();
    let Some(stand) = stand(tx, scope, child).await? else { return Ok(()) };
    let known = read::expect(tx, scope, child).await?;
    if stand.status.is_terminal() || known.parent.is_none_or(|(of, _)| of != parent.task()) {
        return Ok(());
    }
    let detail = json!({"parent": parent.task()});
    let audit = AuditEvent::by_executor("task.cancel", format!("task:{child}"), detail);
    cancel(tx, &SteerAct { scope, id: child, at, audit }).await.map(|_| ())
}

/// Lets a task's child be waited for once more: a failed one is tried again, the end of one that has ended otherwise
/// is told again, and one that still runs will tell of its end by itself.
pub(super) async fn reopen_child(
    tx: &mut Tx,
    parent: &Lease,
    child: TaskId,
    signals_seen: i64,
    at: Timestamp,
) -> Result<()> {
    let scope = parent.scope();
    let Some(stand) = stand(tx, scope, child).await? else { return Ok(()) };
    let known = read::expect(tx, scope, child).await?;
    let Some((_, step)) = known.parent.filter(|(of, _)| *of == parent.task()) else { return Ok(()) };
    let of_child = |signal: &Signal| matches!(signal, Signal::ChildEnded { child: of, .. } if *of == child);
    if read::signals(tx, scope, parent.task(), signals_seen).await?.iter().any(|(_, signal)| of_child(signal)) {
        // Its end has been told already, and will be taken in next.
        return Ok(());
    }
    if stand.status == TaskStatus::Failed {
        let by = format!("task:{}", parent.task());
        let detail = json!({"parent": parent.task()});
        let audit = AuditEvent::by_executor("task.retry", format!("task:{child}"), detail);
        let aim = SteerAct { scope, id: child, at, audit };
        reopen(tx, &(aim, Signal::Retry { by })).await.map(|_| ())
    } else if stand.status.is_terminal() {
        let signal = Signal::ChildEnded {
            step: StepId::trusted(&step),
            child,
            status: known.status,
            result: known.result.unwrap_or_default(),
            error: known.error,
            usage: known.usage,
        };
        let dedupe = format!("child:{child}:{}:{}", known.epoch, parent.epoch());
        leave(tx, scope, parent.task(), &KeyedSignal { dedupe, signal: &signal, body_hash: None }, at).await
    } else {
        Ok(())
    }
}
