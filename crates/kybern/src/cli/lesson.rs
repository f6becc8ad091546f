//! `kybern lesson`: what is learned from answers, what it would change, and who decides.

use clap::{Subcommand, ValueEnum};
use kybern_core::id::LessonId;
use serde_json::{Map, Value, json};

use super::list::{List, Page};
use super::{Context, Exit, Format, input};
use crate::client::PostedBody;
use crate::output::{Cell, Failure, field, kybern, short};

/// `kybern lesson …`
#[derive(Subcommand, Debug)]
pub(super) enum LessonCommand {
    /// List lessons: suggested, used and withdrawn ones
    List {
        /// Which ones
        #[arg(long, value_enum)]
        status: Option<Status>,
        #[command(flatten)]
        page: Page,
    },
    /// Show a lesson
    Show {
        /// The lesson's id
        id: LessonId,
        #[command(flatten)]
        format: Format,
    },
    /// Say what a lesson changes on the last hundred mails
    Preview {
        /// The lesson's id
        id: LessonId,
        #[command(flatten)]
        format: Format,
    },
    /// Write a lesson down: an example of an intent, a label or a spelling of a field, or a sender
    Add {
        #[command(subcommand)]
        taught: TaughtLesson,
        /// Print JSON
        #[arg(long, global = true)]
        json: bool,
    },
    /// Use a lesson for every message from now on
    Accept {
        /// The lesson's id
        id: LessonId,
    },
    /// Use a lesson no more, or never
    Withdraw {
        /// The lesson's id
        id: LessonId,
    },
}

/// What is written down.
#[derive(Subcommand, Debug)]
pub(super) enum TaughtLesson {
    /// A message that asks for an intent
    Example {
        /// The intent's key
        intent: String,
        /// What the message says
        text: String,
    },
    /// Words under which a field's value stands
    Label {
        /// The extraction schema
        schema: String,
        /// The field: insured.name, or policies/policy_number in a list
        field: String,
        /// The words
        label: String,
        /// The value of the field's closed list that the words stand for
        #[arg(long)]
        value: Option<String>,
    },
    /// Another way in which a field's value is written, such as an insurer's name
    Spelling {
        /// The extraction schema
        schema: String,
        /// The field: policies/insurer
        field: String,
        /// The words as they are written
        label: String,
        /// The value that they mean
        value: String,
    },
    /// A sender whose mail is taken as theirs although the receiving server could not prove it
    Sender {
        /// The e-mail address
        address: String,
    },
    /// A sender whose mail counts as an answer of a company
    Speaker {
        /// The e-mail address
        address: String,
        /// The company that they answer for
        company: String,
    },
}

impl TaughtLesson {
    fn body(self) -> Value {
        match self {
            Self::Example { intent, text } => json!({"kind": "intent_example", "intent": intent, "text": text}),
            Self::Label { schema, field, label, value } => {
                let mut body = Map::from_iter([
                    ("kind".to_owned(), json!("label")),
                    ("schema".to_owned(), json!(schema)),
                    ("field".to_owned(), json!(field)),
                    ("label".to_owned(), json!(label)),
                ]);
                body.extend(value.map(|value| ("value".to_owned(), json!(value))));
                Value::Object(body)
            }
            Self::Spelling { schema, field, label, value } => {
                json!({"kind": "spelling", "schema": schema, "field": field, "label": label, "value": value})
            }
            Self::Sender { address } => json!({"kind": "trusted_sender", "address": address}),
            Self::Speaker { address, company } => json!({"kind": "speaker", "address": address, "company": company}),
        }
    }
}

/// How lessons stand.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Status {
    Suggested,
    Accepted,
    Withdrawn,
}

pub(super) async fn run(command: LessonCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        LessonCommand::List { status, page } => {
            let lessons = List::at("/api/lessons", "lesson list").only("status", status.as_ref().map(input::word));
            let headings = ["ID", "STATUS", "KIND", "WHAT IT TEACHES"];
            lessons.or("nothing has been learned").print_rows(&page, headings, row, context).await
        }
        LessonCommand::Show { id, format } => show(id, format, context).await,
        LessonCommand::Preview { id, format } => preview(id, format, context).await,
        LessonCommand::Add { taught, json } => {
            let reply = context.post("/api/lessons", PostedBody::Json(&taught.body())).await?;
            Ok(context.told(&reply, Format { json }, |lesson| {
                let id = field(lesson, "id");
                format!("lesson {id} is suggested; use it with: {kybern} lesson accept {id}", kybern = kybern())
            }))
        }
        LessonCommand::Accept { id } => decide(id, "accept", context).await,
        LessonCommand::Withdraw { id } => decide(id, "withdraw", context).await,
    }
}

/// What a lesson teaches, in one line.
fn teaching(lesson: &Value) -> String {
    match field(lesson, "kind").as_str() {
        "intent_example" => format!("{}: {}", field(lesson, "intent"), field(lesson, "text")),
        "label" | "spelling" => {
            let value = field(lesson, "value");
            let stands = if value.is_empty() { String::new() } else { format!(" = {value}") };
            let (schema, at) = (field(lesson, "schema"), field(lesson, "field"));
            format!("{schema} {at}: {:?}{stands}", field(lesson, "label"))
        }
        "speaker" => format!("{} answers for {}", field(lesson, "address"), field(lesson, "company")),
        _ => field(lesson, "address"),
    }
}

fn row(lesson: &Value) -> [Cell; 4] {
    let [id, status, kind] = ["id", "status", "kind"].map(|name| field(lesson, name).into());
    [id, status, kind, Cell::fitting(teaching(lesson), 72)]
}

async fn show(id: LessonId, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let Some(reply) = context.read(&format!("/api/lessons/{id}"), &[], format).await? else { return Ok(Exit::Done) };
    let lesson = &reply.value;
    let paint = context.screen().paint();
    let screen = context.screen();
    screen.line(format!("lesson {id}  {}", paint.status(&field(lesson, "status"))));
    screen.line(format!("  teaches  {}", teaching(lesson)));
    let (by, task) = (field(&lesson["source"], "by"), field(&lesson["source"], "taskId"));
    screen.line(format!("  from     {by}{}", if task.is_empty() { String::new() } else { format!(", task {task}") }));
    Ok(Exit::Done)
}

async fn preview(id: LessonId, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let Some(reply) = context.read(&format!("/api/lessons/{id}/preview"), &[], format).await? else {
        return Ok(Exit::Done);
    };
    let preview = &reply.value;
    let (paint, screen) = (context.screen().paint(), context.screen());
    let changed = preview.get("changed").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (mails, left_out) = (field(preview, "mails"), field(preview, "leftOut"));
    screen.line(format!("it changes {} of the last {mails} mails; {left_out} could not be read", changed.len()));
    if preview["complete"] == json!(false) {
        screen.line(paint.dim("older mails were not looked at: the time was over"));
    }
    for mail in changed {
        screen.line(format!("  task {}  {}", field(mail, "taskId"), short(&mail["subject"], 60)));
        screen.line(format!("    without  {}", short(&json!(mail["without"].to_string()), 100)));
        screen.line(format!("    with     {}", short(&json!(mail["with"].to_string()), 100)));
    }
    Ok(Exit::Done)
}

async fn decide(id: LessonId, act: &str, context: &mut Context) -> Result<Exit, Failure> {
    let lesson = context.post(&format!("/api/lessons/{id}/{act}"), PostedBody::Empty).await?.value;
    let status = field(&lesson, "status");
    context.screen().line(format!("lesson {id} is {status}"));
    Ok(Exit::Done)
}
