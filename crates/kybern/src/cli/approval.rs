//! `kybern approval`: the inbox of persons, and their decisions.

use clap::{Args, Subcommand, ValueEnum};
use kybern_core::id::{ApprovalId, TaskId};
use serde_json::{Map, Value, json};

use super::list::{List, Page};
use super::task::matter;
use super::{Context, Exit, Format, input};
use crate::client::{Client, PostedBody};
use crate::output::{Cell, Failure, UNREADABLE, field, in_full, kybern, render_waits, unreadable};

/// `kybern approval …`
#[derive(Subcommand, Debug)]
pub(super) enum ApprovalCommand {
    /// List what waits for a person
    List {
        /// Which ones
        #[arg(long, value_enum, default_value = "pending")]
        status: Status,
        /// Of this task only
        #[arg(long, value_name = "TASK")]
        task: Option<TaskId>,
        #[command(flatten)]
        page: Page,
    },
    /// Show what is asked: every argument of a call, or the message and the fields of a form
    Show {
        /// The approval's id
        id: ApprovalId,
        #[command(flatten)]
        format: Format,
    },
    /// Say yes, to exactly what was shown or to what --input puts in its place
    Approve(ApproveArgs),
    /// Say no
    Deny {
        /// The approval's id
        id: ApprovalId,
        /// Why; whoever asked reads it
        #[arg(long)]
        note: Option<String>,
    },
}

/// How questions stand.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Status {
    Pending,
    Approved,
    Denied,
    Expired,
    Withdrawn,
    All,
}

/// What is approved.
#[derive(Args, Debug)]
pub(super) struct ApproveArgs {
    /// The approval's id
    id: ApprovalId,
    /// Other arguments for the call, or the answer to a form, as a JSON object
    #[arg(long, value_parser = input::object)]
    input: Option<Value>,
    /// What you say about it
    #[arg(long)]
    note: Option<String>,
}

pub(super) async fn run(command: ApprovalCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        ApprovalCommand::List { status, task, page } => {
            let task = task.map(|task| task.to_string());
            let approvals = List::at("/api/approvals", "approval list").only("status", Some(input::word(&status)));
            let approvals = approvals.only_as("task", task.clone(), [("taskId", task)]);
            let headings = ["ID", "STATUS", "WHAT", "ABOUT", "WHY"];
            approvals.or("nothing waits for a person").print_rows(&page, headings, row, context).await
        }
        ApprovalCommand::Show { id, format } => show(id, format, context).await,
        ApprovalCommand::Approve(args) => {
            let mut body = Map::from_iter([("decision".to_owned(), json!("approve"))]);
            body.extend(args.input.map(|input| ("input".to_owned(), input)));
            body.extend(args.note.map(|note| ("note".to_owned(), json!(note))));
            decide(args.id, body, context).await
        }
        ApprovalCommand::Deny { id, note } => {
            let mut body = Map::from_iter([("decision".to_owned(), json!("deny"))]);
            body.extend(note.map(|note| ("note".to_owned(), json!(note))));
            decide(id, body, context).await
        }
    }
}

fn row(approval: &Value) -> [Cell; 5] {
    let tool = field(approval, "toolName");
    let is_unreadable = !unreadable(approval).is_empty();
    [
        field(approval, "id").into(),
        format!("{}{}", field(approval, "status"), if is_unreadable { UNREADABLE } else { "" }).into(),
        if tool.is_empty() { field(approval, "kind") } else { tool }.into(),
        Cell::fitting(field(approval, "subject"), 40),
        Cell::fitting(if is_unreadable { unreadable(approval) } else { why(approval) }, 60),
    ]
}

/// The commands that decide about a question.
pub(super) fn decisions(id: impl std::fmt::Display) -> String {
    format!("{kybern} approval approve {id}   or   {kybern} approval deny {id}", kybern = kybern())
}

/// The reason, beginning with what is to be done where it says so.
fn why(approval: &Value) -> String {
    let reason = field(approval, "reason");
    match reason.split_once(". Next: ") {
        Some((why, next)) => format!("Next: {next}. {why}"),
        None => reason,
    }
}

async fn show(id: ApprovalId, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect_to_read().await?;
    let reply = client.get(&format!("/api/approvals/{id}"), &[]).await?;
    let approval = &reply.value;
    let waiting = field(approval, "status") == "pending";
    if format.json {
        context.raw(&reply);
        return Ok(if waiting { Exit::Review } else { Exit::Done });
    }
    let paint = context.screen().paint();
    let screen = context.screen();
    screen.line(format!("approval {id}  {}", paint.status(&field(approval, "status"))));
    // A form is answered with its fields; with them its task says why.
    let is_form = approval.get("schema").is_some_and(|schema| !schema.is_null())
        && !matches!(field(approval, "kind").as_str(), "confirmation" | "ambiguous");
    if !(is_form && waiting) {
        screen.line(format!("  {}", field(approval, "reason")));
    }
    for (name, shown) in [
        ("toolName", "tool"),
        ("risk", "risk"),
        ("taskId", "task"),
        ("stepId", "step"),
        ("expiresAt", "until"),
        ("decidedBy", "by"),
        ("note", "note"),
    ] {
        let text = field(approval, name);
        if !text.is_empty() {
            screen.line(format!("  {shown:<6} {text}"));
        }
    }
    let task = if waiting { matter_of(&client, approval, context).await? } else { None };
    let screen = context.screen();
    if is_form && waiting && task.is_none() {
        screen.line(format!("  {}", field(approval, "reason")));
    }
    if let Some(arguments) = approval.get("input").filter(|input| !input.is_null()) {
        let edited = approval.get("edited") == Some(&Value::Bool(true));
        screen.line(if edited {
            "  arguments that were asked about; others were put in their place, the task's log has them:"
        } else {
            "  arguments, exactly as they would be used:"
        });
        screen.line(in_full(arguments, "  "));
    }
    if let Some(waits) = task.filter(|_| is_form).and_then(|task| render_waits(&task, paint)) {
        screen.line(format!("\n{waits}"));
        return Ok(Exit::Review);
    }
    if waiting {
        screen.line(format!("{} {}", paint.bold("decide:"), decisions(id)));
        return Ok(Exit::Review);
    }
    Ok(Exit::Done)
}

/// Prints what the task is about that asks, and answers the task; nothing of somebody else's conversation, which is not
/// shown to whoever may only say yes or no to its calls.
async fn matter_of(client: &Client, approval: &Value, context: &mut Context) -> Result<Option<Value>, Failure> {
    let Ok(id) = field(approval, "taskId").parse::<TaskId>() else { return Ok(None) };
    let task = match client.get(&format!("/api/tasks/{id}"), &[]).await {
        Ok(reply) => reply.value,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let paint = context.screen().paint();
    let matter = matter(client, id, &task, paint).await?;
    context.screen().line(format!("\n{matter}\n"));
    Ok(Some(task))
}

async fn decide(id: ApprovalId, body: Map<String, Value>, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let path = format!("/api/approvals/{id}");
    let approval = client.post(&path, PostedBody::Json(&Value::Object(body)), None).await?.value;
    let (status, task) = (field(&approval, "status"), field(&approval, "taskId"));
    let follow = context.follow_up(&client, &task).await;
    context.screen().line(format!("{status}; {follow}"));
    Ok(Exit::Done)
}
