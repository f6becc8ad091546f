//! The lease is given back: for a while, or for good. Parents and completion webhooks are told in the same commit.

use kybern_core::id::{OutboxId, TaskId};
use kybern_core::money::Usage;
use kybern_core::outbox::{NewOutbox, OutboxChannel};
use kybern_core::plan::StepId;
use kybern_core::task::{Committed, Ending, Signal, TaskChange, TaskStatus};
use serde_json::{Value, json};

use super::commit::Prepared;
use super::{effects, row, signals};
use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::identity;

statements! {
    RELEASE = shared "task_release";
    END = shared "task_end";
}

/// Larger results are left out of completion messages; the task's own page has them.
const MAX_ANNOUNCED_RESULT: usize = 64 * 1024;

/// Gives the lease back until something helps.
pub(super) async fn release(tx: &mut Tx, prepared: &Prepared) -> Result<Committed> {
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
            announce(tx, prepared, json!({"status": status, "intent": intent, "waits": waiting})).await?;
        }
    }
    Ok(told)
}

/// Ends the task.
pub(super) async fn end(tx: &mut Tx, prepared: &Prepared, end: &Ending) -> Result<Committed> {
    let (lease, commit) = (&prepared.lease, &prepared.commit);
    if !end.status.is_terminal() {
        return Err(StoreError::Conflict(format!("a task cannot end as {}", end.status)));
    }
    let (input, output, cost) = row::amounts(&commit.usage);
    let result = end.result.to_string();
    let announced = (result.len() <= MAX_ANNOUNCED_RESULT).then_some(&end.result);
    let args = args![
        lease.scope(),
        lease.task().as_uuid(),
        lease.epoch(),
        end.status,
        result.as_str(),
        end.error.as_ref().map(|error| json!(error).to_string()),
        end.current_step.as_deref(),
        commit.at,
        input,
        output,
        cost,
    ];
    let mut ended = tx.write_row(&END, args).await?.ok_or(StoreError::Fenced)?;
    let told = row::told(&mut ended)?;
    let parent = ended.opt_uuid()?.map(TaskId::from_uuid).zip(ended.opt_text()?);
    let intent = ended.opt_text()?;
    let usage = row::usage(&mut ended)?;
    if let Some((parent, step)) = parent {
        tell_parent(tx, prepared, end, parent, &step, usage).await?;
    }
    if webhooks(&mut ended)? {
        let data = json!({
            "status": end.status,
            "intent": intent,
            "result": announced,
            "error": end.error,
            "completedAt": commit.at,
        });
        announce(tx, prepared, data).await?;
    }
    Ok(told)
}

fn webhooks(row: &mut Row) -> Result<bool> {
    Ok(row.i64()? > 0)
}

/// Leaves the end of a child for its parent. A parent that has failed may be tried again, and finds it then.
async fn tell_parent(
    tx: &mut Tx,
    prepared: &Prepared,
    end: &Ending,
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
    signals::leave(tx, scope, parent, &signals::Left { dedupe, signal: &signal, body_hash: None }, prepared.commit.at)
        .await
}

/// Puts a message for each completion webhook that wants this event into the outbox.
async fn announce(tx: &mut Tx, prepared: &Prepared, data: Value) -> Result<()> {
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
