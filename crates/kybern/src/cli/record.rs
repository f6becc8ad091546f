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
            // All kinds are one page.
            let page = Page { format, ..Page::default() };
            let columns = [("KIND", "/kind"), ("RECORDS", "/count")];
            List::at("/api/records", "record kinds").or("no records yet").print(&page, columns, context).await
        }
        RecordCommand::List { kind, key, page } => {
            let columns = [("ID", "/id"), ("KEY", "/key"), ("VERSION", "/version"), ("CHANGED (UTC)", "/updatedAt")];
            let verb = format!("record list {}", quoted(&kind));
            let records = List::at(format!("/api/records/{}", segment(&kind)), verb).only("key", key);
            let nothing = format!("no such records; {} record kinds lists what there is", kybern());
            records.or(nothing).print(&page, columns, context).await
        }
        RecordCommand::Show { kind, id, format } => {
            list::show(&format!("/api/records/{}/{id}", segment(&kind)), format, context).await
        }
    }
}
