//! The lease is given back: for a while, or for good. Parents and completion webhooks are told in the same commit.

use kybern_core::id::{OutboxId, TaskId};
use kybern_core::money::Usage;
use kybern_core::outbox::{NewOutbox, OutboxChannel};
use kybern_core::plan::StepId;
use kybern_core::task::{Committed, Signal, StepError, TaskChange, TaskEnding, TaskStatus};
use serde_json::{Value, json};

use super::commit::PreparedCommit;
use super::{effects, row, signals};
use crate::db::{Arg, Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::identity;

statements! {
    RELEASE = shared "task_release";
    END = split "task_end";
    ENDING = shared "task_ending";
}

/// Larger results are left out of completion messages; the task's own page has them.
const MAX_ANNOUNCED_RESULT: usize = 64 * 1024;

/// Gives the lease back until something helps.
pub(super) async fn release(tx: &mut Tx, prepared: &PreparedCommit) -> Result<Committed> {
    let (lease, commit) = (&prepared.lease, &prepared.commit);
    let TaskChange::Release { status, due, waits, current_step, workflow_id } = &commit.change else {
        return Err(StoreError::Fenced);
    };
    let (input, output, cost) = row::amounts(&commit.usage);
    let args = args![
        lease.scope(),
        lease.task().as_uuid(),
        lease.epoch(),
        *status,
        json!(waits).to_string(),
        current_step.as_deref(),
        workflow_id.as_deref(),
        commit.signals_seen,
        commit.at,
        *due,
        input,
        output,
        cost,
    ];
    let mut left = tx.write_row(&RELEASE, args).await?.ok_or(StoreError::Fenced)?;
    let told = row::told(&mut left)?;
    if left.flag()? {
        tx.wake();
    }
    if *status == TaskStatus::NeedsReview {
        let intent = left.opt_text()?;
        if left.i64()? > 0 {
            let waiting: Vec<Value> = waits
                .iter()
                .map(|wait| json!({"stepId": wait.step_id, "kind": wait.kind, "reason": wait.reason}))
                .collect();
            Box::pin(announce(tx, prepared, json!({"status": status, "intent": intent, "waits": waiting}))).await?;
        }
    }
    Ok(told)
}

/// Ends the task.
pub(super) async fn end(tx: &mut Tx, prepared: &PreparedCommit, end: &TaskEnding) -> Result<Committed> {
    let (lease, commit) = (&prepared.lease, &prepared.commit);
    if !end.status.is_terminal() {
        return Err(StoreError::Conflict(format!("a task cannot end as {}", end.status)));
    }
    let (input, output, cost) = row::amounts(&commit.usage);
    let [id, epoch, status, result, error, current_step, at] = columns(prepared, end);
    let args = &[
        lease.scope().into(),
        id,
        epoch,
        status,
        result,
        error,
        current_step,
        at,
        input.into(),
        output.into(),
        cost.into(),
    ];
    let ended = if tx.is_postgres() {
        tx.write_row(&END, args).await?
    } else {
        let asked = args![lease.scope(), lease.task().as_uuid(), lease.epoch(), input, output, cost];
        let ending = tx.fetch_optional(&ENDING, asked).await?;
        tx.execute(&END, args).await?;
        ending
    };
    let mut ended = ended.ok_or(StoreError::Fenced)?;
    let told = row::told(&mut ended)?;
    let news = EndNews::read(&mut ended)?;
    tell(tx, prepared, end, news).await?;
    Ok(told)
}

/// What an end writes: the task, the epoch of its lease, status, result, error, current step, moment.
pub(super) fn columns<'a>(prepared: &'a PreparedCommit, end: &'a TaskEnding) -> [Arg<'a>; 7] {
    [
        prepared.lease.task().as_uuid().into(),
        prepared.lease.epoch().into(),
        end.status.into(),
        prepared.result.as_deref().into(),
        end.error.as_ref().map(|error| json!(error).to_string()).into(),
        end.current_step.as_deref().into(),
        prepared.commit.at.into(),
    ]
}

/// What the row of a task that has just ended says of those who are to be told.
struct EndNews {
    parent: Option<(TaskId, String)>,
    intent: Option<String>,
    usage: Usage,
    webhooks: bool,
}

impl EndNews {
    /// Reads the columns that follow those of the lease.
    fn read(ended: &mut Row) -> Result<Self> {
        Ok(Self {
            parent: ended.opt_uuid()?.map(TaskId::from_uuid).zip(ended.opt_text()?),
            intent: ended.opt_text()?,
            usage: row::usage(ended)?,
            webhooks: ended.i64()? > 0,
        })
    }
}

/// Tells the parent of a task that has just ended, and completion webhooks.
async fn tell(tx: &mut Tx, prepared: &PreparedCommit, end: &TaskEnding, news: EndNews) -> Result<()> {
    if let Some((parent, step)) = news.parent {
        Box::pin(tell_parent(tx, prepared, end, parent, &step, news.usage)).await?;
    }
    if news.webhooks {
        let fits = prepared.result.as_ref().is_some_and(|result| result.len() <= MAX_ANNOUNCED_RESULT);
        let announced = fits.then_some(&end.result);
        let data = json!({
            "status": end.status,
            "intent": news.intent,
            "result": announced,
            "error": end.error.clone().map(StepError::redacted),
            "completedAt": prepared.commit.at,
        });
        Box::pin(announce(tx, prepared, data)).await?;
    }
    Ok(())
}

/// Leaves the end of a child for its parent. A parent that has failed may be tried again, and finds it then.
async fn tell_parent(
    tx: &mut Tx,
    prepared: &PreparedCommit,
    end: &TaskEnding,
    parent: TaskId,
    step: &str,
    usage: Usage,
) -> Result<()> {
    let (lease, scope) = (&prepared.lease, prepared.lease.scope());
    let Some(stand) = signals::stand(tx, scope, parent).await? else { return Ok(()) };
    if stand.status.is_terminal() && stand.status != TaskStatus::Failed {
        return Ok(());
    }
    let signal = Signal::ChildEnded {
        step: StepId::trusted(step),
        child: lease.task(),
        status: end.status,
        result: end.result.clone(),
        error: end.error.clone(),
        usage,
    };
    // With the epoch, because a child that a person tried again ends twice.
    let dedupe = format!("child:{}:{}", lease.task(), lease.epoch());
    signals::leave(
        tx,
        scope,
        parent,
        &signals::KeyedSignal { dedupe, signal: &signal, body_hash: None },
        prepared.commit.at,
    )
    .await
}

/// Puts a message for each completion webhook that wants this event into the outbox.
async fn announce(tx: &mut Tx, prepared: &PreparedCommit, data: Value) -> Result<()> {
    let (lease, at) = (&prepared.lease, prepared.commit.at);
    let (scope, task) = (lease.scope(), lease.task());
    let status = data.get("status").and_then(Value::as_str).unwrap_or_default();
    let event = format!("task.{status}");
    let mut body = json!({"type": event, "timestamp": at, "data": {"taskId": task}});
    if let (Some(Value::Object(inside)), Value::Object(data)) = (body.get_mut("data"), data) {
        inside.extend(data);
    }
    for webhook in identity::webhooks(tx, scope).await? {
        if webhook.active && (webhook.events.is_empty() || webhook.events.contains(&event)) {
            let id = message_id(at.as_millis(), &format!("{}/{task}/{}/{event}", webhook.id, lease.epoch()));
            let message = NewOutbox {
                id,
                channel: OutboxChannel::Completion,
                target: webhook.url,
                key: format!("completion:{id}"),
                body: body.clone(),
            };
            effects::send(tx, scope, Some(task), &message, at).await?;
        }
    }
    Ok(())
}

/// An id made of the moment and of what the message is about: the same message has the same id.
fn message_id(at: i64, about: &str) -> OutboxId {
    let hash = blake3::hash(about.as_bytes());
    let mut tail = [0_u8; 10];
    tail.copy_from_slice(&hash.as_bytes()[..10]);
    let at = u64::try_from(at).unwrap_or(0);
    OutboxId::from_uuid(uuid::Builder::from_unix_timestamp_millis(at, &tail).into_uuid())
}
