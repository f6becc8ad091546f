//! `kybern record`: what tasks have written about the world.

use std::path::PathBuf;

use clap::Subcommand;
use kybern_core::id::RecordId;
use kybern_core::json::{self, Unreadable};
use serde_json::{Map, Value, json};

use super::list::{self, List, Page};
use super::{Context, Exit, Format, file};
use crate::client::segment;
use crate::output::{Cell, Failure, clean, count, field, kybern, moment, quoted};

/// Which records of a kind.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct RecordFilter {
    /// Only those found by this name and value, such as DOT:9104417
    #[arg(long, value_name = "NAME:VALUE")]
    lookup: Option<String>,
    /// Only those whose prop is this value, or a list that holds it, such as status:requested
    #[arg(long, value_name = "NAME:VALUE")]
    field: Option<String>,
    /// Only those with this text in their key or a prop
    #[arg(long)]
    text: Option<String>,
}

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
        /// The kind, such as crm.contact
        kind: String,
        /// Only the one with this key
        #[arg(long, conflicts_with_all = ["lookup", "field", "text"])]
        key: Option<String>,
        #[command(flatten)]
        filter: RecordFilter,
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
    /// List what became of a record: what changed, when, by whom and why
    History {
        /// Its kind
        kind: String,
        /// Its id
        id: RecordId,
        #[command(flatten)]
        page: Page,
    },
    /// List the tasks that touched a record
    Tasks {
        /// Its kind
        kind: String,
        /// Its id
        id: RecordId,
        #[command(flatten)]
        page: Page,
    },
    /// Change a record by hand
    Change {
        /// Its kind
        kind: String,
        /// Its id
        id: RecordId,
        /// A prop and its new value: JSON, or else taken as text ("5125550142" in quotes is one); null takes the prop away
        #[arg(long = "set", value_name = "PROP=VALUE", required = true, value_parser = prop)]
        props: Vec<(String, Value)>,
        /// Why; it stands in the history
        #[arg(long)]
        reason: String,
        /// The version that you saw, which `record show` prints; the one of now when not stated
        #[arg(long, value_name = "VERSION")]
        seen: Option<i64>,
        #[command(flatten)]
        format: Format,
    },
    /// Write the records of a kind as CSV
    Export {
        /// The kind
        kind: String,
        #[command(flatten)]
        filter: RecordFilter,
        /// The file to write; standard output when not stated, or -
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Write over a file that is there
        #[arg(long, requires = "out")]
        force: bool,
    },
}

fn prop(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => {
            let value = match json::read(value.as_bytes()) {
                Ok(read) => read,
                Err(Unreadable::Syntax(_)) => Value::String(value.to_owned()),
                // An integer that is too long would be kept as another number.
                Err(Unreadable::TooMuch(fault)) => return Err(format!("cannot be kept: {fault}")),
            };
            Ok((name.to_owned(), value))
        }
        _other => Err("is not PROP=VALUE".to_owned()),
    }
}

/// The props, each of which is given once.
fn once_each(props: Vec<(String, Value)>) -> Result<Map<String, Value>, Failure> {
    let mut all = Map::new();
    for (name, value) in props {
        if all.contains_key(&name) {
            return Err(Failure::usage(format!("--set {name} is given twice"), "leave one of them out"));
        }
        all.insert(name, value);
    }
    Ok(all)
}

fn of_kind(kind: &str) -> String {
    format!("/api/records/{}", segment(kind))
}

pub(super) async fn run(command: RecordCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        RecordCommand::Kinds { format } => {
            // All kinds are one page.
            let page = Page { format, ..Page::default() };
            let columns = [("KIND", "/kind"), ("RECORDS", "/count")];
            List::at("/api/records", "record kinds").or("no records yet").print(&page, columns, context).await
        }
        RecordCommand::List { kind, key, filter, page } => {
            let columns = [("ID", "/id"), ("KEY", "/key"), ("VERSION", "/version"), ("CHANGED (UTC)", "/updatedAt")];
            let records = List::at(of_kind(&kind), format!("record list {}", quoted(&kind))).only("key", key);
            let records = records.only("lookup", filter.lookup).only("field", filter.field).only("text", filter.text);
            let nothing = format!("no such records; {} record kinds lists what there is", kybern());
            records.or(nothing).print(&page, columns, context).await
        }
        RecordCommand::Show { kind, id, format } => {
            list::show(&format!("{}/{id}", of_kind(&kind)), format, context).await
        }
        RecordCommand::History { kind, id, page } => history(&kind, id, &page, context).await,
        RecordCommand::Tasks { kind, id, page } => {
            let columns = [
                ("TASK", "/taskId"),
                ("DID", "/role"),
                ("STEP", "/stepId"),
                ("TOOL", "/toolKey"),
                ("WHEN (UTC)", "/createdAt"),
            ];
            let verb = format!("record tasks {} {id}", quoted(&kind));
            let tasks = List::at(format!("{}/{id}/tasks", of_kind(&kind)), verb);
            tasks.or("no task that is still kept has touched it").print(&page, columns, context).await
        }
        RecordCommand::Change { kind, id, props, reason, seen, format } => {
            let path = format!("{}/{id}", of_kind(&kind));
            let props = once_each(props)?;
            let client = context.connect().await?;
            let seen = match seen {
                Some(seen) => json!(seen),
                None => client.get(&path, &[]).await?.value["version"].clone(),
            };
            let reply = client.patch(&path, &json!({"version": seen, "props": props, "reason": reason})).await?;
            Ok(context.told(&reply, format, |record| {
                format!(
                    "{} {} has version {} now",
                    field(record, "kind"),
                    field(record, "key"),
                    field(record, "version")
                )
            }))
        }
        RecordCommand::Export { kind, filter, out, force } => {
            let out = out.filter(|out| out.as_os_str() != "-");
            if let Some(out) = &out {
                file::may_write(out, force)?;
            }
            let query = [("lookup", filter.lookup), ("field", filter.field), ("text", filter.text)];
            let client = context.connect_to_read().await?;
            let text = client.bytes(&format!("{}/export", of_kind(&kind)), &query).await?;
            match out {
                None => context.screen().bytes(&text),
                Some(out) => {
                    file::write(&out, &text, force)?;
                    let name = clean(&out.display().to_string());
                    context.screen().line(format!("{} in {name}", count(text.len(), "byte")));
                }
            }
            Ok(Exit::Done)
        }
    }
}

async fn history(kind: &str, id: RecordId, page: &Page, context: &mut Context) -> Result<Exit, Failure> {
    let row = |version: &Value| -> [Cell; 5] {
        let by = match (version["taskId"].as_str(), version["userId"].as_str()) {
            (Some(task), _) => format!("task {task}"),
            (None, Some(user)) => format!("user {user}"),
            (None, None) => "a key of no user".to_owned(),
        };
        let why = version["reason"].as_str().or_else(|| version["stepId"].as_str()).unwrap_or_default();
        let changed: Vec<&String> = version["changed"].as_object().into_iter().flat_map(Map::keys).collect();
        let names = changed.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        [
            field(version, "version").into(),
            moment(&field(version, "createdAt")).into(),
            by.into(),
            Cell::fitting(why, list::CELL),
            Cell::fitting(names, list::CELL),
        ]
    };
    let verb = format!("record history {} {id}", quoted(kind));
    let versions = List::at(format!("{}/{id}/history", of_kind(kind)), verb);
    let headings = ["VERSION", "WHEN (UTC)", "BY", "STEP OR REASON", "CHANGED"];
    versions.or("it is older than the histories").print_rows(page, headings, row, context).await
}
