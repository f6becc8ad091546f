//! `kybern tool create …`: HTTP tools of the tenant's own, from the draft to what a call makes.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::list::{List, Page, items};
use super::{Context, Exit, Format, input};
use crate::client::{Client, PostedBody, segment};
use crate::output::{Failure, field, in_full, kybern, quoted};

/// The verbs of `kybern tool` that are about tools of the tenant's own.
#[derive(Subcommand, Debug)]
pub(super) enum OwnToolCommand {
    /// Write a draft of an HTTP tool, or of its next version
    Create {
        /// The file with the tool as JSON; - reads it from the standard input
        file: PathBuf,
        #[command(flatten)]
        format: Format,
    },
    /// List the versions of a tool
    Versions {
        /// The tool's key
        name: String,
        /// Only those that stand so: draft, review, rejected, approved, active or disabled
        #[arg(long)]
        status: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Hand the newest draft in, so that another person may approve it
    Submit(NamedTool),
    /// Send the newest version in review back
    Reject {
        #[command(flatten)]
        tool: NamedTool,
        /// What is to be changed
        #[arg(long)]
        note: String,
    },
    /// Approve the version in review as it is shown before
    Approve(ReadTool),
    /// Put an approved or disabled version into use, as it is shown before
    Activate(ReadTool),
    /// Turn the active version off
    Disable(NamedTool),
    /// Delete a tool with every version of it
    Delete {
        /// The tool's key
        name: String,
    },
}

/// A tool.
#[derive(Args, Debug)]
pub(super) struct NamedTool {
    /// The tool's key
    name: String,
    #[command(flatten)]
    format: Format,
}

/// A tool of which somebody has read a version.
#[derive(Args, Debug)]
pub(super) struct ReadTool {
    #[command(flatten)]
    tool: NamedTool,
    /// The hash of the version that you have read; else the version is shown, and asked about on a terminal
    #[arg(long)]
    hash: Option<String>,
}

const PATH: &str = "/api/tools";

pub(super) async fn run(command: OwnToolCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        OwnToolCommand::Create { file, format } => {
            let definition = definition(&file)?;
            let reply = context.post(PATH, PostedBody::Json(&definition)).await?;
            Ok(context.told(&reply, format, |draft| {
                let [key, version] = ["key", "version"].map(|name| field(draft, name));
                format!("version {version} of {key} is a draft; hand it in with: {} tool submit {key}", kybern())
            }))
        }
        OwnToolCommand::Versions { name, status, page } => {
            let columns = [
                ("VERSION", "/version"),
                ("STATUS", "/status"),
                ("METHOD", "/http/method"),
                ("URL", "/http/url"),
                ("HASH", "/hash"),
            ];
            let verb = format!("tool versions {}", quoted(&name));
            let versions = List::at(format!("{PATH}/{}/versions", segment(&name)), verb).only("status", status);
            versions.or("no versions").print(&page, columns, context).await
        }
        OwnToolCommand::Submit(tool) => {
            let next = format!("another person approves it with: {} tool approve {}", kybern(), quoted(&tool.name));
            act(&tool, "submit", PostedBody::Empty, &format!("is handed in; {next}"), context).await
        }
        OwnToolCommand::Reject { tool, note } => {
            act(&tool, "reject", PostedBody::Json(&json!({"note": note})), "is sent back", context).await
        }
        OwnToolCommand::Approve(reading) => {
            let name = quoted(&reading.tool.name);
            let next = format!("is approved; put it into use with: {} tool activate {name}", kybern());
            decide(reading, "approve", &["review"], &next, context).await
        }
        OwnToolCommand::Activate(reading) => {
            decide(reading, "activate", &["approved", "disabled"], "is in use", context).await
        }
        OwnToolCommand::Disable(tool) => act(&tool, "disable", PostedBody::Empty, "is turned off", context).await,
        OwnToolCommand::Delete { name } => {
            let done = format!("tool {name} is deleted with every version of it");
            context.remove(&format!("{PATH}/{}", segment(&name)), done).await
        }
    }
}

/// A tool out of a file, or out of the standard input.
fn definition(file: &Path) -> Result<Value, Failure> {
    if file != Path::new("-") {
        return input::json_file(file);
    }
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).map_err(|error| Failure::Other(error.into()))?;
    let problem = |error: serde_json::Error| format!("is not JSON: {error}");
    serde_json::from_slice(&text)
        .map_err(|error| Failure::Content { path: "the standard input".to_owned(), problem: problem(error) })
}

/// Does something with a tool, and says what its version has become.
async fn act(
    tool: &NamedTool,
    verb: &str,
    body: PostedBody<'_>,
    done: &str,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let reply = context.post(&format!("{PATH}/{}/{verb}", segment(&tool.name)), body).await?;
    Ok(context.told(&reply, tool.format, |version| {
        format!("version {} of {} {done}", field(version, "version"), field(version, "key"))
    }))
}

/// A decision about a version holds for the definition that was read, and for no other.
async fn decide(
    ReadTool { tool, hash }: ReadTool,
    verb: &str,
    statuses: &[&str],
    done: &str,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let hash = match hash {
        Some(hash) => hash,
        None => {
            let client = context.connect().await?;
            let version = newest(&client, &tool.name, statuses).await?;
            // Whoever reads JSON is a program: it gets the version with its hash, and is not asked.
            if tool.format.json {
                context.screen().line(version.to_string());
                return Ok(Exit::Review);
            }
            let Some(hash) = read(&version, &tool.name, verb, context)? else {
                return Ok(Exit::Review);
            };
            hash
        }
    };
    act(&tool, verb, PostedBody::Json(&json!({"hash": hash})), done, context).await
}

/// Shows a version and asks; `None` without a yes.
fn read(version: &Value, name: &str, verb: &str, context: &mut Context) -> Result<Option<String>, Failure> {
    print(version, context);
    let hash = field(version, "hash");
    let command = format!("{} tool {verb} {} --hash {hash}", kybern(), quoted(name));
    Ok(input::says_yes(context.screen(), verb, ("version", "version"), &command)?.then_some(hash))
}

/// The newest version that stands so.
async fn newest(client: &Client, name: &str, statuses: &[&str]) -> Result<Value, Failure> {
    let path = format!("{PATH}/{}/versions", segment(name));
    for status in statuses {
        let query = [("status", Some((*status).to_owned())), ("limit", Some("1".to_owned()))];
        let versions = client.get(&path, &query).await?.value;
        if let Some(version) = items(&versions).first() {
            return Ok(version.clone());
        }
    }
    let wanted = statuses.join(" or ");
    let message = format!("{name} has no version with the status {wanted}");
    Err(Failure::usage(message, format!("{} tool versions {} lists what there is", kybern(), quoted(name))))
}

/// Everything that a version says.
fn print(version: &Value, context: &mut Context) {
    let [key, number, status, hash] = ["key", "version", "status", "hash"].map(|name| field(version, name));
    let paint = context.screen().paint();
    context.screen().line(format!("tool {key}, version {number}  {}", paint.status(&status)));
    context.screen().line(format!("  hash {hash}"));
    let said = ["description", "effect", "risk", "price", "category", "destinations", "timeoutMs", "tags"];
    let objects = ["http", "inputSchema", "outputSchema"];
    for name in said.into_iter().chain(objects) {
        let value = version.get(name).unwrap_or(&Value::Null);
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            context.screen().line(format!("  {name}"));
            context.screen().line(in_full(value, "    "));
        }
    }
}
