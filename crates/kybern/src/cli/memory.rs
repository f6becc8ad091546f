//! `kybern memory`: what is remembered of users and of records.

use clap::Subcommand;
use kybern_core::id::MemoryId;
use serde_json::{Value, json};

use super::list::{self, List, Page};
use super::{Context, Exit, Format};
use crate::client::PostedBody;
use crate::output::{Failure, field};

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
    },
    /// Show a memory, and where it comes from
    Show {
        /// The memory's id
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
        /// How sure it is, from 0 to 1
        #[arg(long, value_name = "SHARE", value_parser = confidence)]
        confidence: Option<f64>,
        #[command(flatten)]
        format: Format,
    },
    /// Use what was suggested
    Accept {
        /// The memory's id
        id: MemoryId,
    },
    /// Do not use what was suggested
    Reject {
        /// The memory's id
        id: MemoryId,
    },
    /// Forget it
    Delete {
        /// The memory's id
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

/// A share as it can be sent: what is no number would be left out of the body, and nobody would know.
fn confidence(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "is no number from 0 to 1".to_owned())
}

const PATH: &str = "/api/memories";

pub(super) async fn run(command: MemoryCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        MemoryCommand::List { of, query, status, page } => {
            let subject = of.as_ref().map(|(kind, id)| format!("{kind}:{id}"));
            let columns = [
                ("ID", "/id"),
                ("OF", "/subject/type"),
                ("STATUS", "/status"),
                ("CATEGORY", "/category"),
                ("TRUST", "/trust"),
                ("CONFIDENCE", "/confidence"),
                ("TASK", "/provenance/task"),
                ("WHAT", "/content"),
            ];
            let memories = List::at(PATH, "memory list").only_as("of", subject, of.map(of_whom).unwrap_or_default());
            let memories = memories.only("query", query).only("status", status);
            memories.or("nothing is remembered").print(&page, columns, context).await
        }
        MemoryCommand::Show { id, format } => list::show(&format!("{PATH}/{id}"), format, context).await,
        MemoryCommand::Add { content, of, category, confidence, format } => {
            let mut body = json!({"content": content});
            if let Some((kind, id)) = of {
                body["subject"] = json!({"type": kind, "id": id});
            }
            if let Some(category) = category {
                body["category"] = Value::String(category);
            }
            if let Some(confidence) = confidence {
                body["confidence"] = json!(confidence);
            }
            let reply = context.post(PATH, PostedBody::Json(&body)).await?;
            Ok(context.told(&reply, format, |memory| format!("remembered as {}", field(memory, "id"))))
        }
        MemoryCommand::Accept { id } => decide(id, "accept", "is used from now on", context).await,
        MemoryCommand::Reject { id } => decide(id, "reject", "is not used", context).await,
        MemoryCommand::Delete { id } => {
            context.remove(&format!("{PATH}/{id}"), format!("memory {id} is forgotten")).await
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
    context.act(&format!("{PATH}/{id}/{verb}"), PostedBody::Empty, format!("memory {id} {done}")).await
}

#[cfg(test)]
mod tests {
    use super::confidence;

    #[test]
    fn a_confidence_is_a_number_from_0_to_1() {
        assert_eq!((confidence("0"), confidence("0.85"), confidence("1")), (Ok(0.0), Ok(0.85), Ok(1.0)));
        for wrong in ["nan", "inf", "1.01", "-0.1", "high", ""] {
            assert!(confidence(wrong).is_err(), "{wrong}");
        }
    }
}
