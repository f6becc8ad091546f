//! `kybern webhook`: who is told when tasks end.

use clap::Subcommand;
use serde_json::json;

use super::list::{List, Page};
use super::{Context, Exit, Format};
use crate::client::{Body, segment};
use crate::output::{Failure, aside, field, kybern};

/// `kybern webhook …`
#[derive(Subcommand, Debug)]
pub(super) enum WebhookCommand {
    /// List the completion webhooks
    List {
        #[command(flatten)]
        page: Page,
        #[command(flatten)]
        format: Format,
    },
    /// Tell a URL when tasks end or wait for a person; prints the secret with which deliveries are signed, the same
    /// for all of them
    Create {
        /// Where to
        #[arg(value_name = "URL")]
        receiver: String,
        /// Only of this event, such as task.completed; may be repeated, all when none is stated
        #[arg(long = "event", value_name = "EVENT")]
        events: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Tell it nothing more
    Delete {
        /// Its id
        id: String,
    },
}

pub(super) async fn run(command: WebhookCommand, context: &mut Context) -> Result<Exit, Failure> {
    const PATH: &str = "/api/webhooks/outbound";
    match command {
        WebhookCommand::List { page, format } => {
            let webhooks = List {
                path: PATH,
                query: Vec::new(),
                columns: &[("ID", "/id"), ("URL", "/url"), ("EVENTS", "/events"), ("MADE (UTC)", "/createdAt")],
                nothing: &format!("nobody is told; {} webhook create URL", kybern()),
                command: format!("{} webhook list", kybern()),
            };
            webhooks.print(&page, format, context).await
        }
        WebhookCommand::Create { receiver, events, format } => {
            let client = context.connect().await?;
            let reply = client.post(PATH, Body::Json(&json!({"url": receiver, "events": events})), None).await?;
            let remove = format!("{kybern} webhook delete {}", field(&reply.value, "id"), kybern = kybern());
            let lost = format!("the webhook was made and its secret is lost, remove it with: {remove}");
            if format.json {
                context.raw(&reply);
                context.screen().secret_written(lost)?;
                return Ok(Exit::Done);
            }
            let paint = context.screen().paint();
            context.screen().line(paint.bold(&field(&reply.value, "secret")));
            context.screen().secret_written(lost)?;
            // The secret alone is on standard output, so that a script can take it.
            aside(format!("Deliveries of all webhooks are signed with this. Remove this one with: {remove}"));
            Ok(Exit::Done)
        }
        WebhookCommand::Delete { id } => {
            let client = context.connect().await?;
            client.delete(&format!("{PATH}/{}", segment(&id))).await?;
            context.screen().line(format!("webhook {id} is removed"));
            Ok(Exit::Done)
        }
    }
}
