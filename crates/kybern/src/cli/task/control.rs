//! `kybern task cancel`, `pause`, `resume`, `retry` and `replay`.

use kybern_core::id::TaskId;
use serde_json::{Value, json};

use crate::cli::{Context, Exit, Format};
use crate::client::PostedBody;
use crate::output::{Failure, count, field, kybern, short};

/// Cancels, pauses, resumes or retries.
pub(super) async fn steer(id: TaskId, verb: &'static str, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let reply = client.post(&format!("/api/tasks/{id}/{verb}"), PostedBody::Empty, None).await?;
    let status = field(&reply.value, "status");
    let line = match (verb, status.as_str()) {
        ("cancel", "cancelled") => format!("task {id} is cancelled"),
        ("cancel", _running) => format!("task {id} will be cancelled after the step that runs now"),
        ("pause", _any) => format!("task {id} rests; let it go on with: {kybern} task resume {id}", kybern = kybern()),
        ("resume", _any) => format!("task {id} is resumed; {}", context.follow_up(&client, id).await),
        _retry => format!("task {id} is tried again; {}", context.follow_up(&client, id).await),
    };
    context.screen().line(line);
    Ok(Exit::Done)
}

/// Puts a task on hold.
pub(super) async fn hold(id: TaskId, reason: &str, context: &mut Context) -> Result<Exit, Failure> {
    let done = format!("task {id} is kept; end that with: {kybern} task release {id}", kybern = kybern());
    context.act(&format!("/api/tasks/{id}/hold"), PostedBody::Json(&json!({ "reason": reason })), done).await
}

/// Releases a task from its hold.
pub(super) async fn release(id: TaskId, context: &mut Context) -> Result<Exit, Failure> {
    let done = format!("task {id} is no longer kept: it goes when it is old, see [retention]");
    context.act(&format!("/api/tasks/{id}/release"), PostedBody::Empty, done).await
}

/// Replays, and says whether the journal arrives at the same end.
pub(super) async fn replay(id: TaskId, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect_to_read().await?;
    let reply = client.post(&format!("/api/tasks/{id}/replay"), PostedBody::Empty, None).await?;
    let matches = reply.value.get("matches") == Some(&Value::Bool(true));
    let exit = if matches { Exit::Done } else { Exit::Failed };
    if format.json {
        context.raw(&reply);
        return Ok(exit);
    }
    let paint = context.screen().paint();
    let steps = field(&reply.value, "steps");
    let (was, arrive) = if steps == "1" { ("was", "arrives") } else { ("were", "arrive") };
    let replayed = format!("{} {was} replayed from the journal and {arrive}", count(&steps, "step"));
    if matches {
        context.screen().line(format!("{} {replayed} at the same end", paint.good("✓")));
        return Ok(exit);
    }
    context.screen().line(format!("{} {replayed} elsewhere", paint.bad("✗")));
    for difference in reply.value.get("differences").and_then(Value::as_array).into_iter().flatten() {
        context.screen().line(format!("  {}", short(difference, 400)));
    }
    let more = reply.value["moreDifferences"].as_u64().unwrap_or_default();
    if more > 0 {
        context.screen().line(format!("  … and {more} more"));
    }
    Ok(exit)
}
