//! `kybern task submit`: an e-mail as it is, or a text with files.

use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use kybern_core::id::TaskId;
use serde_json::{Map, Value, json};

use super::follow;
use crate::cli::{Context, Exit, Format, input};
use crate::client::{Client, PostedBody, Reply};
use crate::output::{Failure, field, kybern, kybern_here, quoted};

/// The longest text that is read from standard input, in bytes.
const MAX_STDIN: u64 = 16 * 1024 * 1024;

/// `kybern task submit`
#[derive(Args, Debug)]
pub(in crate::cli) struct SubmitArgs {
    /// An e-mail (a path that ends in .eml), a text, or - to read a text from standard input
    #[arg(value_name = "FILE.eml|TEXT")]
    what: String,
    /// A file to go with a text; may be repeated
    #[arg(long = "attach", value_name = "FILE")]
    attach: Vec<PathBuf>,
    /// The plan to walk; found by intent when not stated
    #[arg(long, value_name = "KEY")]
    plan: Option<String>,
    /// What else goes in, a JSON object
    #[arg(long, value_name = "JSON", value_parser = input::object)]
    payload: Option<Value>,
    /// The most steps it may take
    #[arg(long, value_name = "N")]
    max_steps: Option<u32>,
    /// The most it may cost, in billionths of a dollar
    #[arg(long, value_name = "NANOS", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(0..))]
    budget_nanos: Option<i64>,
    /// Within a day the same key and the same input make no second task
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Wait until it ends or waits for a person
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn run(args: SubmitArgs, context: &mut Context) -> Result<Exit, Failure> {
    let mail = mail(&args.what)?;
    let submitted = match &mail {
        Some(path) => {
            refuse_for_mail(&args)?;
            let bytes = input::bytes(path)?;
            let client = context.connect().await?;
            let reply = client.post("/api/inbound/email", PostedBody::Mail(bytes), None).await?;
            (client, reply)
        }
        None => {
            let body = body(&args)?;
            let client = context.connect().await?;
            let reply = client.post("/api/tasks", PostedBody::Json(&body), args.idempotency_key.as_deref()).await?;
            (client, reply)
        }
    };
    let (client, reply) = submitted;
    finish(&args, &client, &reply, context).await
}

/// Endings of files that are sent for work. A text of one word that ends so is a file's name.
const FILES: &[&str] = &[
    "eml", "msg", "pdf", "doc", "docx", "xls", "xlsx", "csv", "txt", "md", "html", "htm", "json", "zip", "png", "jpg",
];

/// The e-mail that is named, if one is. A text may end like a file too, or have a slash, but then it has words in it.
fn mail(what: &str) -> Result<Option<PathBuf>, Failure> {
    let path = Path::new(what);
    if path.is_dir() {
        return Err(Failure::usage(format!("{what} is a folder"), "name an e-mail in it, or give a text"));
    }
    let is_mail = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("eml"));
    if path.is_file() && !is_mail {
        let remedy = format!(
            "an e-mail ends in .eml; for another file: {kybern} task submit 'what to do' --attach {file}",
            kybern = kybern(),
            file = quoted(what)
        );
        return Err(Failure::usage(format!("{what} is a file and no e-mail"), remedy));
    }
    if path.is_file() {
        return Ok(Some(path.to_owned()));
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let looks_like_a_file = FILES.iter().any(|known| known.eq_ignore_ascii_case(ending));
    if what.contains(char::is_whitespace) || what.contains("://") || !looks_like_a_file {
        return Ok(None);
    }
    Err(Failure::usage(format!("there is no file {what}"), "name an e-mail that exists, or give a text"))
}

async fn finish(args: &SubmitArgs, client: &Client, reply: &Reply, context: &mut Context) -> Result<Exit, Failure> {
    let id = match field(&reply.value, "taskId") {
        id if id.is_empty() => field(&reply.value, "id"),
        id => id,
    };
    let duplicate = reply.value.get("duplicate") == Some(&Value::Bool(true));
    if !args.format.json {
        let line = if duplicate || reply.replayed {
            format!("this came in before, as task {id}; nothing new was made")
        } else {
            format!("task {id} is submitted")
        };
        context.screen().line(line);
    }
    if args.wait {
        let id: TaskId = id.parse().map_err(|error: kybern_core::id::IdError| anyhow::anyhow!(error))?;
        return follow::to_the_end(client, id, args.format, context).await;
    }
    if args.format.json {
        context.raw(reply);
    } else if duplicate || reply.replayed {
        context.screen().line(format!("next: {kybern} task show {id}", kybern = kybern()));
    } else if context.is_local() {
        let line = match context.rested(client, &id).await {
            Some(rested) => rested,
            None => format!(
                "no server runs, so what is left of it waits: start one with {} serve, or submit with --wait",
                kybern_here()
            ),
        };
        context.screen().line(line);
    } else {
        context.screen().line(format!("next: {kybern} task watch {id}", kybern = kybern()));
    }
    Ok(Exit::Done)
}

/// An e-mail brings everything itself.
fn refuse_for_mail(args: &SubmitArgs) -> Result<(), Failure> {
    let flags = [
        ("--attach", !args.attach.is_empty()),
        ("--plan", args.plan.is_some()),
        ("--payload", args.payload.is_some()),
        ("--max-steps", args.max_steps.is_some()),
        ("--budget-nanos", args.budget_nanos.is_some()),
        ("--idempotency-key", args.idempotency_key.is_some()),
    ];
    match flags.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            let remedy = format!("leave {flag} out, or submit a text and --attach the e-mail");
            Err(Failure::usage(format!("{flag} does not go with an e-mail"), remedy))
        }
        None => Ok(()),
    }
}

fn body(args: &SubmitArgs) -> Result<Value, Failure> {
    let text = if args.what == "-" { stdin()? } else { args.what.clone() };
    let mut body = Map::from_iter([("channel".to_owned(), json!("api")), ("input".to_owned(), json!(text))]);
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            body.insert(name.to_owned(), value);
        }
    };
    put("planKey", json!(args.plan));
    put("payload", json!(args.payload));
    put("maxSteps", json!(args.max_steps));
    put("budgetNanos", json!(args.budget_nanos));
    if !args.attach.is_empty() {
        let files: Result<Vec<Value>, Failure> = args.attach.iter().map(|path| attachment(path)).collect();
        put("attachments", Value::Array(files?));
    }
    Ok(Value::Object(body))
}

fn attachment(path: &Path) -> Result<Value, Failure> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let data = STANDARD.encode(input::bytes(path)?);
    Ok(json!({"filename": name, "contentType": input::content_type(path), "dataBase64": data}))
}

fn stdin() -> Result<String, Failure> {
    text_of(std::io::stdin(), MAX_STDIN)
}

/// A text of at most `most` bytes: of a longer one nothing is submitted, because its end would be missing.
fn text_of(input: impl Read, most: u64) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let unread = |source| Failure::File { path: "standard input".to_owned(), source };
    input.take(most + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > most {
        let message = format!("standard input holds more than {most} bytes, the most that a text may have");
        return Err(Failure::usage(message, "submit a short text, and the rest as a file with --attach FILE"));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::Content { path: "standard input".to_owned(), problem: "is not UTF-8 text".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_is_refused_and_not_cut() {
        assert_eq!(text_of("four".as_bytes(), 4).unwrap(), "four");
        let refused = text_of("fünf".as_bytes(), 4).unwrap_err();
        assert!(refused.is_usage() && refused.to_string().contains("more than 4 bytes"), "{refused}");
        assert!(text_of(&[0xff][..], 4).unwrap_err().to_string().contains("is not UTF-8 text"));
    }
}
