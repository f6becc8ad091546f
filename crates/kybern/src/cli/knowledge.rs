//! `kybern knowledge`: documents that agents may quote.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::Subcommand;
use kybern_core::id::KnowledgeId;
use serde_json::json;

use super::list::{self, List, Page, items};
use super::{Context, Exit, Format, input};
use crate::client::PostedBody;
use crate::output::{Failure, field, in_full, kybern};

/// `kybern knowledge …`
#[derive(Subcommand, Debug)]
pub(super) enum KnowledgeCommand {
    /// List the documents
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Add a document; no agent quotes it before it is published
    Add {
        /// The file
        file: PathBuf,
        /// What people call it; the name of the file when not stated
        #[arg(long)]
        title: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Look for what documents say
    Search {
        /// The question
        query: String,
        /// At most so many pieces
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
        #[command(flatten)]
        format: Format,
    },
    /// Show a document: how far its reading has come, and what went wrong
    Show {
        /// The document
        id: KnowledgeId,
        #[command(flatten)]
        format: Format,
    },
    /// Let agents quote it
    Publish {
        /// The document
        id: KnowledgeId,
    },
    /// Let agents quote it no more
    Unpublish {
        /// The document
        id: KnowledgeId,
    },
    /// Read it anew
    Reindex {
        /// The document
        id: KnowledgeId,
    },
    /// Remove it
    Delete {
        /// The document
        id: KnowledgeId,
    },
}

const PATH: &str = "/api/knowledge";

pub(super) async fn run(command: KnowledgeCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        KnowledgeCommand::List { page } => {
            let columns = [
                ("ID", "/id"),
                ("TITLE", "/title"),
                ("STATUS", "/status"),
                ("PUBLISHED", "/published"),
                ("PIECES", "/pieces"),
                ("ERROR", "/error"),
            ];
            let nothing = format!("no documents; {} knowledge add FILE", kybern());
            List::at(PATH, "knowledge list").or(nothing).print(&page, columns, context).await
        }
        KnowledgeCommand::Add { file, title, format } => {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let body = json!({"filename": name, "title": title, "contentType": input::content_type(&file),
                "dataBase64": BASE64.encode(input::bytes(&file)?)});
            let reply = context.post(PATH, PostedBody::Json(&body)).await?;
            Ok(context.told(&reply, format, |document| {
                let id = field(document, "id");
                format!("{name} is document {id}; when it is read: {kybern} knowledge publish {id}", kybern = kybern())
            }))
        }
        KnowledgeCommand::Search { query, limit, format } => search(query, limit, format, context).await,
        KnowledgeCommand::Show { id, format } => list::show(&format!("{PATH}/{id}"), format, context).await,
        KnowledgeCommand::Publish { id } => act(id, "publish", "is published", context).await,
        KnowledgeCommand::Unpublish { id } => act(id, "unpublish", "is not published any more", context).await,
        KnowledgeCommand::Reindex { id } => act(id, "reindex", "is read anew", context).await,
        KnowledgeCommand::Delete { id } => {
            context.remove(&format!("{PATH}/{id}"), format!("document {id} is removed")).await
        }
    }
}

async fn act(id: KnowledgeId, verb: &str, done: &str, context: &mut Context) -> Result<Exit, Failure> {
    context.act(&format!("{PATH}/{id}/{verb}"), PostedBody::Empty, format!("document {id} {done}")).await
}

async fn search(query: String, limit: Option<u32>, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let query = [("query", Some(query)), ("limit", limit.map(|limit| limit.to_string()))];
    let Some(reply) = context.read(&format!("{PATH}/search"), &query, format).await? else { return Ok(Exit::Done) };
    let paint = context.screen().paint();
    let found = items(&reply.value);
    if found.is_empty() {
        context.screen().line("nothing is published that is near to it");
    }
    for piece in found {
        let [title, near, id] = ["title", "similarity", "id"].map(|name| field(piece, name));
        context.screen().line(format!("{}  near {near} of 1000  {id}", paint.bold(&title)));
        context.screen().line(in_full(&piece["text"], "  "));
    }
    Ok(Exit::Done)
}
