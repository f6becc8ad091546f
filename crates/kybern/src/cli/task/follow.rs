//! Following a task until it ends or waits for a person.

use std::time::Duration;

use kybern_core::id::TaskId;
use serde_json::Value;

use super::show;
use crate::cli::{Context, Exit, Format};
use crate::client::{Client, Event, Reply, pause};
use crate::output::{Failure, Progress, field, log_line};

/// The longest that one request waits, in milliseconds: what the API allows.
const WAIT_MS: u64 = 60_000;
/// How often a server that does not answer is asked again.
const MAX_FAILURES: u32 = 10;
/// Between two requests, so that a server that does not wait is not flooded.
const BETWEEN: Duration = Duration::from_millis(250);

/// `kybern task watch`
pub(super) async fn watch(id: TaskId, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let task = stream(&client, id, format, context).await?;
    if format.json {
        return Ok(Exit::of_task(&task.value));
    }
    ending(&client, id, &task.value, context).await
}

/// For `--wait`: live lines on a terminal, otherwise only the end.
pub(super) async fn to_the_end(
    client: &Client,
    id: TaskId,
    format: Format,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let live = context.screen().is_terminal() && !format.json;
    let task = match live {
        true => match stream(client, id, format, context).await {
            // Too many streams are open: then without live lines.
            Err(Failure::Client(error)) if error.is_passing() => poll(client, id).await?,
            result => result?,
        },
        false => poll(client, id).await?,
    };
    if format.json {
        context.raw(&task);
        return Ok(Exit::of_task(&task.value));
    }
    ending(client, id, &task.value, context).await
}

async fn ending(client: &Client, id: TaskId, task: &Value, context: &mut Context) -> Result<Exit, Failure> {
    if !context.screen().is_broken() {
        context.screen().line("");
        show::print(client, id, task, context).await?;
    }
    Ok(Exit::of_task(task))
}

/// Asks until the task rests, with requests that wait.
async fn poll(client: &Client, id: TaskId) -> Result<Reply, Failure> {
    let mut failures = 0;
    loop {
        match client.get(&format!("/api/tasks/{id}"), &[("waitMs", Some(WAIT_MS.to_string()))]).await {
            Ok(reply) if rests(&reply.value) => return Ok(reply),
            Ok(_runs) => failures = 0,
            // The task goes on without us; a server that is started again tells how it ended.
            Err(error) if error.is_passing() && failures < MAX_FAILURES => failures += 1,
            Err(error) => return Err(error.into()),
        }
        pause(BETWEEN.saturating_mul(failures + 1)).await;
    }
}

/// Prints the log as it grows, and gives the task as it stands at the end.
async fn stream(client: &Client, id: TaskId, format: Format, context: &mut Context) -> Result<Reply, Failure> {
    let path = format!("/api/tasks/{id}");
    let mut events = client.events(format!("{path}/events"));
    let progress = Progress::start(context.screen().is_terminal() && !format.json, "waiting for the first step");
    while let Some(event) = events.next().await? {
        let entry = event.data.clone();
        print(&event, format, &progress, context);
        if context.screen().is_broken() {
            break;
        }
        // The log keeps every wait that there ever was; only the task says whether it waits now.
        if kind(&event) == "needs_review" {
            let task = client.get(&path, &[]).await?;
            if field(&task.value, "status") == "needs_review" && still_waits(&task.value, &entry) {
                return Ok(task);
            }
        }
    }
    Ok(client.get(&path, &[]).await?)
}

fn print(event: &Event, format: Format, progress: &Progress, context: &mut Context) {
    if format.json {
        context.screen().line(event.data.to_string());
        return;
    }
    let paint = context.screen().paint();
    match log_line(&event.data, paint) {
        Some(line) => progress.aside(|| context.screen().line(line)),
        None => progress.about(&field(&event.data, "stepId")),
    }
}

/// What an event of the log is: its `eventType`, or its name.
fn kind(event: &Event) -> String {
    match field(&event.data, "eventType") {
        kind if kind.is_empty() => event.name.clone(),
        kind => kind,
    }
}

/// Whether the wait that the entry tells of is among those that the task has now.
fn still_waits(task: &Value, entry: &Value) -> bool {
    let step = field(entry, "stepId");
    let waits = task.get("waits").and_then(Value::as_array);
    waits.is_none_or(|waits| step.is_empty() || waits.iter().any(|wait| field(wait, "stepId") == step))
}

/// Whether nothing more happens without somebody.
fn rests(task: &Value) -> bool {
    matches!(field(task, "status").as_str(), "completed" | "failed" | "cancelled" | "needs_review")
}
