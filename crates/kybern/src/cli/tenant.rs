//! `kybern tenant`: the organisations of a server, for platform admins.

use clap::Subcommand;
use serde_json::json;

use super::list::{List, Page};
use super::{Context, Exit, Format};
use crate::client::PostedBody;
use crate::output::{Failure, field};

/// `kybern tenant …`
#[derive(Subcommand, Debug)]
pub(super) enum TenantCommand {
    /// List the organisations
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Make an organisation; the key of its first admin is shown once
    Create {
        /// Its name
        name: String,
        #[command(flatten)]
        format: Format,
    },
}

const PATH: &str = "/api/admin/tenants";

pub(super) async fn run(command: TenantCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        TenantCommand::List { page } => {
            let columns = [("ID", "/id"), ("NAME", "/name"), ("SLUG", "/slug"), ("MADE (UTC)", "/createdAt")];
            List::at(PATH, "tenant list").or("no organisations").print(&page, columns, context).await
        }
        TenantCommand::Create { name, format } => {
            let reply = context.post(PATH, PostedBody::Json(&json!({"name": name}))).await?;
            let [id, slug] = ["id", "slug"].map(|name| field(&reply.value, name));
            let lost = format!(
                "{id} ({slug}) was made, and the key of its first admin is lost: make another one, under another name"
            );
            let about = format!("The key of the first admin of {id} ({slug}). This is shown once.");
            context.told_once((&reply, "adminKey"), format, lost, about)
        }
    }
}
