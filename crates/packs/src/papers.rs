//! What people are told of the papers when they are asked about them: which ones there were, and which nobody could read.

use kybern_core::ports::ToolContext;
use kybern_core::task::AttachmentSource;
use kybern_core::tool::ToolFailure;
use serde_json::{Value, json};

use crate::reading::ReadDocument;

/// The names of attached files that are not among those that were read.
pub(crate) async fn unread(context: &ToolContext, read: &[ReadDocument]) -> Result<Vec<String>, ToolFailure> {
    let files = context.documents()?.list().await?.into_iter();
    let unread = files
        .filter(|file| file.source == AttachmentSource::Attached && !read.iter().any(|document| document.n == file.n));
    Ok(unread.map(|file| file.filename).collect())
}

/// Which files were not looked into.
pub(crate) fn left_out(unread: &[String]) -> String {
    match unread {
        [] => String::new(),
        files => format!(
            ", and {} could not be read",
            files.iter().map(|file| format!("{file:?}")).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Where it was looked for, by file name.
pub(crate) fn places(read: &[ReadDocument]) -> String {
    let files: Vec<String> =
        read.iter().filter(|document| document.n > 0).map(|document| format!("{:?}", document.filename)).collect();
    if files.is_empty() { "the message, and no file came with it".to_owned() } else { files.join(", ") }
}

/// The papers, for people.
pub(crate) fn documents(read: &[ReadDocument]) -> Value {
    read.iter()
        .map(|document| json!({"n": document.n, "filename": document.filename, "category": document.extraction.analysis.category}))
        .collect()
}
