//! `kybern tenant`: the organisations of a server, for platform admins.

use clap::Subcommand;
use serde_json::json;

use super::list::{List, Page};
use super::{Context, Exit, Format};
use crate::client::Body;
use crate::output::{Failure, aside, field, kybern};

/// `kybern tenant …`
#[derive(Subcommand, Debug)]
pub(super) enum TenantCommand {
    /// List the organisations
    List {
        #[command(flatten)]
        page: Page,
        #[command(flatten)]
        format: Format,
    },
    /// Make an organisation; the key of its first admin is shown once
    Create {
        /// Its name
        name: String,
        #[command(flatten)]
        format: Format,
    },
}

pub(super) async fn run(command: TenantCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        TenantCommand::List { page, format } => {
            let tenants = List {
                path: "/api/admin/tenants",
                query: Vec::new(),
                columns: &[("ID", "/id"), ("NAME", "/name"), ("SLUG", "/slug"), ("MADE (UTC)", "/createdAt")],
                nothing: "no organisations",
                command: format!("{} tenant list", kybern()),
            };
            tenants.print(&page, format, context).await
        }
        TenantCommand::Create { name, format } => {
            let client = context.connect().await?;
            let reply = client.post("/api/admin/tenants", Body::Json(&json!({"name": name})), None).await?;
            let [id, slug] = ["id", "slug"].map(|name| field(&reply.value, name));
            let lost = format!(
                "{id} ({slug}) was made, and the key of its first admin is lost: make another one, under another name"
            );
            if format.json {
                context.raw(&reply);
                context.screen().secret_written(lost)?;
                return Ok(Exit::Done);
            }
            let paint = context.screen().paint();
            context.screen().line(paint.bold(&field(&reply.value, "adminKey")));
            context.screen().secret_written(lost)?;
            // The key alone is on standard output, so that a script can take it.
            aside(format!("The key of the first admin of {id} ({slug}). This is shown once."));
            Ok(Exit::Done)
        }
    }
}
