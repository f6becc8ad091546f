//! `kybern record`: what tasks have written about the world.

use clap::Subcommand;
use kybern_core::id::RecordId;

use super::list::{self, List, Page};
use super::{Context, Exit, Format};
use crate::client::segment;
use crate::output::{Failure, kybern, quoted};

/// `kybern record …`
#[derive(Subcommand, Debug)]
pub(super) enum RecordCommand {
    /// List the kinds of records, and how many there are
    Kinds {
        #[command(flatten)]
        format: Format,
    },
    /// List the records of a kind
    List {
        /// The kind, such as insurance.policy
        kind: String,
        /// Only the one with this key
        #[arg(long)]
        key: Option<String>,
        #[command(flatten)]
        page: Page,
        #[command(flatten)]
        format: Format,
    },
    /// Show a record
    Show {
        /// Its kind
        kind: String,
        /// Its id
        id: RecordId,
        #[command(flatten)]
        format: Format,
    },
}

pub(super) async fn run(command: RecordCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        RecordCommand::Kinds { format } => {
            let kinds = List {
                path: "/api/records",
                query: Vec::new(),
                columns: &[("KIND", "/kind"), ("RECORDS", "/count")],
                nothing: "no records yet",
                command: format!("{} record kinds", kybern()),
            };
            // All kinds are one page.
            kinds.print(&Page::default(), format, context).await
        }
        RecordCommand::List { kind, key, page, format } => {
            let filter = list::flags([("key", key.as_deref())]);
            let command = format!("{} record list {}{filter}", kybern(), quoted(&kind));
            let records = List {
                path: &format!("/api/records/{}", segment(&kind)),
                query: vec![("key", key)],
                columns: &[("ID", "/id"), ("KEY", "/key"), ("VERSION", "/version"), ("CHANGED (UTC)", "/updatedAt")],
                nothing: &format!("no such records; {} record kinds lists what there is", kybern()),
                command,
            };
            records.print(&page, format, context).await
        }
        RecordCommand::Show { kind, id, format } => {
            list::show(&format!("/api/records/{}/{id}", segment(&kind)), format, context).await
        }
    }
}
