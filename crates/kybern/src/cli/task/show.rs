//! `kybern task list`, `show` and `log`.

use kybern_core::id::TaskId;
use serde_json::Value;

use crate::cli::list::{self, List, Page, items};
use crate::cli::{Context, Exit, Format};
use crate::client::Client;
use crate::output::{
    Cell, Failure, Paint, TaskView, field, kybern, log_table, moment, plan_of, render_message, render_read,
    render_task, unreadable,
};

/// The most characters of a subject in a list.
const ABOUT: usize = 40;

pub(super) async fn list(tasks: List, narrowed: bool, page: &Page, context: &mut Context) -> Result<Exit, Failure> {
    let nothing = match narrowed || page.cursor.is_some() {
        true => "no such tasks".to_owned(),
        false => format!("no tasks; submit one with: {} task submit FILE.eml", kybern()),
    };
    let headings = ["ID", "STATUS", "CHANNEL", "ABOUT", "INTENT", "PLAN", "CREATED (UTC)"];
    let row = |task: &Value| {
        [
            field(task, "id").into(),
            status(task),
            field(task, "channel").into(),
            Cell::fitting(about(task), ABOUT),
            field(task, "detectedIntent").into(),
            plan_of(task).into(),
            moment(&field(task, "createdAt")).into(),
        ]
    };
    tasks.or(nothing).print_rows(page, headings, row, context).await
}

/// The subject of a task's mail, or how its text begins.
fn about(task: &Value) -> String {
    let input = task.get("input").and_then(Value::as_str).unwrap_or_default();
    let subject = task.pointer("/payload/subject").and_then(Value::as_str).filter(|subject| !subject.is_empty());
    let about = subject.or_else(|| input.lines().find(|line| !line.trim().is_empty()));
    about.unwrap_or_default().to_owned()
}

/// Where a task stands; one that is paused or cannot be read keeps its status, and yet nothing happens.
fn status(task: &Value) -> Cell {
    let status = field(task, "status");
    match task.get("pausedAt") {
        _damaged if !unreadable(task).is_empty() => Cell::from(format!("{status}, unreadable")),
        Some(Value::String(_)) => Cell::from(format!("{status}, paused")),
        _goes_on => Cell::status(status),
    }
}

pub(super) async fn show(id: TaskId, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect_to_read().await?;
    let reply = client.get(&format!("/api/tasks/{id}"), &[]).await?;
    if format.json {
        context.raw(&reply);
    } else {
        print(&client, id, &reply.value, context).await?;
    }
    Ok(Exit::of_task(&reply.value))
}

/// Prints the whole view of a task.
pub(super) async fn print(client: &Client, id: TaskId, task: &Value, context: &mut Context) -> Result<(), Failure> {
    let log = list::all(client, &format!("/api/tasks/{id}/log")).await?;
    let artifacts = client.get(&format!("/api/tasks/{id}/artifacts"), &[]).await?.value;
    let files = files_of(client, id).await?;
    let paint = context.screen().paint();
    context
        .screen()
        .line(render_task(TaskView { task, log: &log, artifacts: list::items(&artifacts), files: &files }, paint));
    Ok(())
}

/// What a task came with.
///
/// # Errors
/// [`Failure`]
pub(crate) async fn files_of(client: &Client, id: TaskId) -> Result<Vec<Value>, Failure> {
    let reply = client.get(&format!("/api/tasks/{id}/attachments"), &[]).await?;
    Ok(items(&reply.value).to_vec())
}

/// What a person has to see to answer for a task: its message with the files, and what was read out of them.
///
/// # Errors
/// [`Failure`]
pub(crate) async fn matter(client: &Client, id: TaskId, task: &Value, paint: Paint) -> Result<String, Failure> {
    let files = files_of(client, id).await?;
    let parts = [render_message(task, &files, paint), render_read(task, paint)];
    Ok(parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
}

pub(super) async fn log(id: TaskId, page: &Page, context: &mut Context) -> Result<Exit, Failure> {
    let path = format!("/api/tasks/{id}/log");
    if !page.format.json && page.limit.is_none() && page.cursor.is_none() {
        let log = list::all(&context.connect_to_read().await?, &path).await?;
        context.table(&log_table(&log));
        return Ok(Exit::Done);
    }
    let Some(reply) = context.read(&path, &page.query(), page.format).await? else { return Ok(Exit::Done) };
    context.table(&log_table(items(&reply.value)));
    list::more(&reply.value, &format!("{} task log {id}", kybern()), page, context);
    Ok(Exit::Done)
}
