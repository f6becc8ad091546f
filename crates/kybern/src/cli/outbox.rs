//! `kybern outbox`: what left, or wants to leave.

use clap::Subcommand;
use kybern_core::id::OutboxId;
use serde_json::json;

use super::list::{List, Page};
use super::{Context, Exit};
use crate::client::PostedBody;
use crate::output::{Failure, kybern};

/// `kybern outbox …`
#[derive(Subcommand, Debug)]
pub(super) enum OutboxCommand {
    /// List outgoing messages, newest first
    List {
        #[command(flatten)]
        page: Page,
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
        OutboxCommand::List { page } => {
            let columns = [
                ("ID", "/id"),
                ("STATUS", "/status"),
                ("CHANNEL", "/channel"),
                ("TO", "/target"),
                ("SUBJECT", "/body/subject"),
                ("TRIES", "/attempts"),
                ("ERROR", "/error"),
            ];
            let messages = List::at("/api/outbox", "outbox list").or("nothing has left, and nothing wants to");
            messages.print(&page, columns, context).await
        }
        OutboxCommand::Retry { id, even_if_sent } => {
            let body = json!({"evenIfSent": even_if_sent});
            let done = format!("message {id} is sent once more; see {kybern} outbox list", kybern = kybern());
            context.act(&format!("/api/outbox/{id}/retry"), PostedBody::Json(&body), done).await
        }
    }
}
