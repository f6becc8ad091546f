//! `kybern outbox`: what left, or wants to leave.

use clap::Subcommand;
use kybern_core::id::OutboxId;
use serde_json::{Value, json};

use super::list::{CELL, List, Page};
use super::{Context, Exit};
use crate::client::PostedBody;
use crate::output::{Cell, Failure, UNREADABLE, field, kybern, short, unreadable};

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

/// A message in the list. One that cannot be read keeps its status; while it cannot be read it is not sent.
fn row(message: &Value) -> [Cell; 7] {
    let (mut status, mut error) = (field(message, "status"), field(message, "error"));
    let problem = unreadable(message);
    if !problem.is_empty() {
        status.push_str(UNREADABLE);
        // Why a delivery failed is worth as much as why the message cannot be read.
        error = if error.is_empty() { problem } else { format!("{error}; {problem}") };
    }
    [
        field(message, "id").into(),
        status.into(),
        field(message, "channel").into(),
        field(message, "target").into(),
        message.pointer("/body/subject").map(|subject| short(subject, CELL)).unwrap_or_default().into(),
        field(message, "attempts").into(),
        Cell::fitting(error, CELL),
    ]
}

pub(super) async fn run(command: OutboxCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        OutboxCommand::List { page } => {
            let headings = ["ID", "STATUS", "CHANNEL", "TO", "SUBJECT", "TRIES", "ERROR"];
            let messages = List::at("/api/outbox", "outbox list").or("nothing has left, and nothing wants to");
            messages.print_rows(&page, headings, row, context).await
        }
        OutboxCommand::Retry { id, even_if_sent } => {
            let body = json!({"evenIfSent": even_if_sent});
            let done = format!("message {id} is sent once more; see {kybern} outbox list", kybern = kybern());
            context.act(&format!("/api/outbox/{id}/retry"), PostedBody::Json(&body), done).await
        }
    }
}
