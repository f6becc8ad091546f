//! `kybern outbox`: what left, or wants to leave.

use clap::Subcommand;
use kybern_core::id::OutboxId;
use serde_json::json;

use super::list::{List, Page};
use super::{Context, Exit, Format};
use crate::client::Body;
use crate::output::{Failure, kybern};

/// `kybern outbox …`
#[derive(Subcommand, Debug)]
pub(super) enum OutboxCommand {
    /// List outgoing messages, newest first
    List {
        #[command(flatten)]
        page: Page,
        #[command(flatten)]
        format: Format,
    },
    /// Send a message once more that was given up or kept
    Retry {
        /// The message
        id: OutboxId,
        /// Send it although it may have arrived already
        #[arg(long)]
        even_if_sent: bool,
    },
}

pub(super) async fn run(command: OutboxCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        OutboxCommand::List { page, format } => {
            let messages = List {
                path: "/api/outbox",
                query: Vec::new(),
                columns: &[
                    ("ID", "/id"),
                    ("STATUS", "/status"),
                    ("CHANNEL", "/channel"),
                    ("TO", "/target"),
                    ("SUBJECT", "/body/subject"),
                    ("TRIES", "/attempts"),
                    ("ERROR", "/error"),
                ],
                nothing: "nothing has left, and nothing wants to",
                command: format!("{} outbox list", kybern()),
            };
            messages.print(&page, format, context).await
        }
        OutboxCommand::Retry { id, even_if_sent } => {
            let client = context.connect().await?;
            let body = json!({"evenIfSent": even_if_sent});
            client.post(&format!("/api/outbox/{id}/retry"), Body::Json(&body), None).await?;
            context
                .screen()
                .line(format!("message {id} is sent once more; see {kybern} outbox list", kybern = kybern()));
            Ok(Exit::Done)
        }
    }
}
