//! What others leave for a task: answers of people, callbacks of engines, ends of children.

use kybern_core::audit::AuditEvent;
use kybern_core::id::TaskId;
use kybern_core::outbox::Dispatch;
use kybern_core::ports::CallbackOutcome;
use kybern_core::task::{Signal, SignalKind, TaskStatus, Wait};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::{approvals, audit};

statements! {
    STAND = split "task_stand";
    BUMP = shared "task_signal";
    INSERT = shared "signal_insert";
    BY_DEDUPE = shared "signal_by_dedupe";
    LOWEST = shared "signal_lowest";
    DELEGATION = shared "delegation_get";
    FINISHED_AFTER = shared "step_finished_after";
}

/// How a task stands, read before it is judged; on PostgreSQL its row is locked from here on.
pub(super) struct TaskState {
    pub(super) status: TaskStatus,
    pub(super) waits: Vec<Wait>,
    pub(super) paused: bool,
    pub(super) signals: i64,
    leased: bool,
    cancel_requested: bool,
}

/// Reads how a task stands.
pub(super) async fn stand(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Option<TaskState>> {
    let Some(mut row) = tx.fetch_optional(&STAND, args![scope, id.as_uuid()]).await? else { return Ok(None) };
    // A task whose questions cannot be read waits for none that could be answered; it can still be cancelled.
    let (status, waits) = (row.named(TaskStatus::parse)?, row.json_or_default(&mut None));
    let (signals, paused) = (row.i64()?, row.opt_i64()?.is_some());
    let (leased, cancel_requested) = (row.opt_text()?.is_some(), row.flag()?);
    Ok(Some(TaskState { status, waits, paused, signals, leased, cancel_requested }))
}

/// The same, where the task has to be there.
pub(super) async fn expect(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<TaskState> {
    stand(tx, scope, id).await?.ok_or_else(|| StoreError::not_found("task", id))
}

/// Locks a task's row.
pub(crate) async fn must_exist(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<()> {
    expect(tx, scope, id).await.map(drop)
}

/// A signal with the key under which it is left at most once.
pub(super) struct KeyedSignal<'a> {
    pub(super) dedupe: String,
    pub(super) signal: &'a Signal,
    pub(super) body_hash: Option<&'a str>,
}

const fn kind(signal: &Signal) -> &'static str {
    match signal.kind() {
        SignalKind::Review => "review",
        SignalKind::Callback => "callback",
        SignalKind::ChildEnded => "child_ended",
        SignalKind::Retry => "retry",
        // No store takes it: the column knows no such kind.
        SignalKind::Unreadable => "unreadable",
    }
}

/// Leaves a signal and makes the task due if nobody holds it.
pub(super) async fn leave(
    tx: &mut Tx,
    scope: TenantScope,
    id: TaskId,
    left: &KeyedSignal<'_>,
    at: Timestamp,
) -> Result<()> {
    let bumped = tx.write_row(&BUMP, args![scope, id.as_uuid(), at]).await?;
    let number = bumped.ok_or_else(|| StoreError::not_found("task", id))?.i64()?;
    tx.wake();
    insert(tx, scope, id, number, left, at).await
}

async fn insert(
    tx: &mut Tx,
    scope: TenantScope,
    id: TaskId,
    number: i64,
    left: &KeyedSignal<'_>,
    at: Timestamp,
) -> Result<()> {
    let body = json!(left.signal).to_string();
    let kind = kind(left.signal);
    let args = args![scope, id.as_uuid(), number, kind, left.dedupe.as_str(), left.body_hash, body, at];
    tx.execute(&INSERT, args).await.map(|_| ())
}

/// The body's hash of an earlier signal with that key.
async fn known(tx: &mut Tx, scope: TenantScope, id: TaskId, dedupe: &str) -> Result<Option<Option<String>>> {
    tx.find(&BY_DEDUPE, args![scope, id.as_uuid(), dedupe], Row::opt_text).await
}

/// A person's answer.
#[derive(Debug)]
pub(super) struct ReviewSignal {
    pub(super) scope: TenantScope,
    pub(super) id: TaskId,
    pub(super) wait: Wait,
    pub(super) signal: Signal,
    pub(super) audit: AuditEvent,
    pub(super) at: Timestamp,
}

/// Takes a person's answer, exactly once for each wait.
pub(super) async fn answer(tx: &mut Tx, answer: &ReviewSignal) -> Result<()> {
    let ReviewSignal { scope, id, wait, signal, audit, at } = answer;
    let stand = expect(tx, *scope, *id).await?;
    let waits = stand.waits.iter().any(|known| known.step_id == wait.step_id && known.seq == wait.seq);
    let dedupe = format!("wait:{}", wait.seq);
    if stand.status.is_terminal() || !waits || known(tx, *scope, *id, &dedupe).await?.is_some() {
        return Err(StoreError::NotWaiting);
    }
    leave(tx, *scope, *id, &KeyedSignal { dedupe, signal, body_hash: None }, *at).await?;
    approvals::decide(tx, *scope, *id, (wait, signal), *at).await?;
    audit::append(tx, *scope, *at, audit).await
}

/// An engine's callback.
#[derive(Debug)]
pub(super) struct Callback {
    pub(super) scope: TenantScope,
    pub(super) id: TaskId,
    pub(super) step: String,
    pub(super) signal: Signal,
    pub(super) body_hash: String,
    pub(super) at: Timestamp,
}

/// Takes an engine's callback.
pub(super) async fn callback(tx: &mut Tx, callback: &Callback) -> Result<CallbackOutcome> {
    let Callback { scope, id, step, signal, body_hash, at } = callback;
    let Signal::Callback { workflow_id, .. } = signal else {
        return Err(StoreError::Conflict("only a callback can end a delegation".to_owned()));
    };
    let stand = expect(tx, *scope, *id).await?;
    let dedupe = format!("callback:{workflow_id}");
    if let Some(earlier) = known(tx, *scope, *id, &dedupe).await? {
        if earlier.as_deref() == Some(body_hash) {
            return Ok(CallbackOutcome::Duplicate);
        }
        let event = AuditEvent {
            action: "delegation.conflict".to_owned(),
            actor: format!("workflow:{workflow_id}"),
            subject: format!("task:{id}"),
            request_id: None,
            detail: json!({"step": step, "workflowId": workflow_id}),
        };
        audit::append(tx, *scope, *at, &event).await?;
        return Ok(CallbackOutcome::Conflict);
    }
    let left = KeyedSignal { dedupe, signal, body_hash: Some(body_hash) };
    let outcome = match delegation(tx, *scope, *id, workflow_id).await? {
        _ if stand.status.is_terminal() => CallbackOutcome::Late,
        Delegated::Closed => CallbackOutcome::Late,
        Delegated::Open(_) => CallbackOutcome::Accepted,
        Delegated::NotYet => CallbackOutcome::Kept,
    };
    // A failed task may be tried again, and what came late may still count then.
    let over = stand.status.is_terminal() && stand.status != TaskStatus::Failed;
    if over {
        let number = tx.count(&LOWEST, args![*scope, id.as_uuid()]).await? - 1;
        insert(tx, *scope, *id, number, &left, *at).await?;
    } else {
        leave(tx, *scope, *id, &left, *at).await?;
        tracing::debug!(task.id = %id, leased = stand.leased, "a callback was taken");
    }
    Ok(outcome)
}

enum Delegated {
    NotYet,
    /// Until its deadline.
    Open(Timestamp),
    Closed,
}

/// How a delegation stands. An end of its step after it began has closed it, also by the deadline.
async fn delegation(tx: &mut Tx, scope: TenantScope, id: TaskId, workflow_id: &str) -> Result<Delegated> {
    let found = tx.fetch_optional(&DELEGATION, args![scope, id.as_uuid(), workflow_id]).await?;
    let Some(mut found) = found else { return Ok(Delegated::NotYet) };
    let (step, seq, deadline) = (found.text()?, found.i64()?, found.time()?);
    let ended = tx.fetch_optional(&FINISHED_AFTER, args![id.as_uuid(), scope, seq, step]).await?;
    Ok(if ended.is_some() { Delegated::Closed } else { Delegated::Open(deadline) })
}

/// Whether the dispatch of a delegation may leave. On PostgreSQL the task's row is locked from here on.
pub(crate) async fn may_dispatch(
    tx: &mut Tx,
    scope: TenantScope,
    id: TaskId,
    workflow_id: &str,
    at: Timestamp,
) -> Result<Dispatch> {
    let Some(stand) = stand(tx, scope, id).await? else { return Ok(Dispatch::Over) };
    match delegation(tx, scope, id, workflow_id).await? {
        Delegated::Closed => return Ok(Dispatch::Over),
        Delegated::Open(deadline) if deadline <= at => return Ok(Dispatch::Over),
        Delegated::Open(_) | Delegated::NotYet => {}
    }
    Ok(match stand.status {
        TaskStatus::Completed | TaskStatus::Cancelled => Dispatch::Over,
        TaskStatus::Failed => Dispatch::Rests,
        TaskStatus::Pending
        | TaskStatus::Extracting
        | TaskStatus::DetectingIntent
        | TaskStatus::Planning
        | TaskStatus::Executing
        | TaskStatus::NeedsReview
        | TaskStatus::Delegated => match stand.cancel_requested {
            true => Dispatch::Rests,
            false => Dispatch::Goes,
        },
    })
}
