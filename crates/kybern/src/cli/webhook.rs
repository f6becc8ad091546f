//! `kybern webhook`: who is told when tasks end.

use clap::Subcommand;
use serde_json::json;

use super::list::{List, Page};
use super::{Context, Exit, Format};
use crate::client::{PostedBody, segment};
use crate::output::{Failure, field, kybern};

/// `kybern webhook …`
#[derive(Subcommand, Debug)]
pub(super) enum WebhookCommand {
    /// List the completion webhooks
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Tell a URL when tasks end or wait for a person; prints the secret with which deliveries are signed, the same
    /// for all of them
    Create {
        /// The URL to deliver to
        #[arg(value_name = "URL")]
        receiver: String,
        /// Only of this event, such as task.completed; may be repeated, all when none is stated
        #[arg(long = "event", value_name = "EVENT")]
        events: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Delete a completion webhook
    Delete {
        /// Its id
        id: String,
    },
}

pub(super) async fn run(command: WebhookCommand, context: &mut Context) -> Result<Exit, Failure> {
    const PATH: &str = "/api/webhooks/outbound";
    match command {
        WebhookCommand::List { page } => {
            let columns = [("ID", "/id"), ("URL", "/url"), ("EVENTS", "/events"), ("MADE (UTC)", "/createdAt")];
            let nothing = format!("nobody is told; {} webhook create URL", kybern());
            List::at(PATH, "webhook list").or(nothing).print(&page, columns, context).await
        }
        WebhookCommand::Create { receiver, events, format } => {
            let reply = context.post(PATH, PostedBody::Json(&json!({"url": receiver, "events": events}))).await?;
            let remove = format!("{kybern} webhook delete {}", field(&reply.value, "id"), kybern = kybern());
            let lost = format!("the webhook was made and its secret is lost, remove it with: {remove}");
            let about = format!("Deliveries of all webhooks are signed with this. Remove this one with: {remove}");
            context.told_once((&reply, "secret"), format, lost, about)
        }
        WebhookCommand::Delete { id } => {
            context.remove(&format!("{PATH}/{}", segment(&id)), format!("webhook {id} is removed")).await
        }
    }
}
