//! `kybern memory`: what is remembered of users and of records.

use clap::Subcommand;
use kybern_core::id::MemoryId;
use serde_json::{Value, json};

use super::list::{self, List, Page};
use super::{Context, Exit, Format};
use crate::client::Body;
use crate::output::{Failure, field, kybern};

/// `kybern memory …`
#[derive(Subcommand, Debug)]
pub(super) enum MemoryCommand {
    /// List what is remembered
    List {
        /// Of whom: user:ID or entity:ID
        #[arg(long, value_name = "SUBJECT", value_parser = subject)]
        of: Option<(String, String)>,
        /// What it is about
        #[arg(long)]
        query: Option<String>,
        /// Only what stands so: pending, active or rejected
        #[arg(long)]
        status: Option<String>,
        #[command(flatten)]
        page: Page,
        #[command(flatten)]
        format: Format,
    },
    /// Show a memory, and where it comes from
    Show {
        /// The memory
        id: MemoryId,
        #[command(flatten)]
        format: Format,
    },
    /// Remember something
    Add {
        /// What
        content: String,
        /// Of whom: user:ID or entity:ID; of you when not stated
        #[arg(long, value_name = "SUBJECT", value_parser = subject)]
        of: Option<(String, String)>,
        /// What it is: fact, preference, insight or event
        #[arg(long)]
        category: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Use what was suggested
    Accept {
        /// The memory
        id: MemoryId,
    },
    /// Do not use what was suggested
    Reject {
        /// The memory
        id: MemoryId,
    },
    /// Forget it
    Delete {
        /// The memory
        id: MemoryId,
    },
    /// Print all that is remembered of somebody, as JSON
    Export {
        /// Of whom: user:ID or entity:ID
        #[arg(long, value_name = "SUBJECT", value_parser = subject)]
        of: (String, String),
    },
}

fn subject(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((kind @ ("user" | "entity"), id)) if !id.is_empty() => Ok((kind.to_owned(), id.to_owned())),
        _other => Err("is neither user:ID nor entity:ID".to_owned()),
    }
}

const PATH: &str = "/api/memories";

pub(super) async fn run(command: MemoryCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        MemoryCommand::List { of, query, status, page, format } => {
            let subject = of.as_ref().map(|(kind, id)| format!("{kind}:{id}"));
            let filter = [("of", subject.as_deref()), ("query", query.as_deref()), ("status", status.as_deref())];
            let command = format!("{} memory list{}", kybern(), list::flags(filter));
            let mut narrowed = of.map(of_whom).unwrap_or_default();
            narrowed.extend([("query", query), ("status", status)]);
            let memories = List {
                path: PATH,
                query: narrowed,
                columns: &[
                    ("ID", "/id"),
                    ("OF", "/subject/type"),
                    ("STATUS", "/status"),
                    ("CATEGORY", "/category"),
                    ("TRUST", "/trust"),
                    ("WHAT", "/content"),
                ],
                nothing: "nothing is remembered",
                command,
            };
            memories.print(&page, format, context).await
        }
        MemoryCommand::Show { id, format } => list::show(&format!("{PATH}/{id}"), format, context).await,
        MemoryCommand::Add { content, of, category, format } => {
            let mut body = json!({"content": content});
            if let Some((kind, id)) = of {
                body["subject"] = json!({"type": kind, "id": id});
            }
            if let Some(category) = category {
                body["category"] = Value::String(category);
            }
            let client = context.connect().await?;
            let reply = client.post(PATH, Body::Json(&body), None).await?;
            Ok(context.told(&reply, format, |memory| format!("remembered as {}", field(memory, "id"))))
        }
        MemoryCommand::Accept { id } => decide(id, "accept", "is used from now on", context).await,
        MemoryCommand::Reject { id } => decide(id, "reject", "is not used", context).await,
        MemoryCommand::Delete { id } => {
            let client = context.connect().await?;
            client.delete(&format!("{PATH}/{id}")).await?;
            context.screen().line(format!("memory {id} is forgotten"));
            Ok(Exit::Done)
        }
        MemoryCommand::Export { of } => {
            let client = context.connect_to_read().await?;
            let reply = client.get(&format!("{PATH}/export"), &of_whom(of)).await?;
            context.raw(&reply);
            Ok(Exit::Done)
        }
    }
}

fn of_whom((kind, id): (String, String)) -> Vec<(&'static str, Option<String>)> {
    vec![("subjectType", Some(kind)), ("subjectId", Some(id))]
}

async fn decide(id: MemoryId, verb: &str, done: &str, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    client.post(&format!("{PATH}/{id}/{verb}"), Body::Empty, None).await?;
    context.screen().line(format!("memory {id} {done}"));
    Ok(Exit::Done)
}
