//! Letters by which a company lets us ask its insurers. They came with the message, and go along with the requests.

use kybern_core::outbox::{MAX_MAIL_FILE_BYTES, MAX_MAIL_FILES, MailFile};
use kybern_core::ports::ToolContext;
use kybern_core::record::Lookup;
use kybern_core::task::{Attachment, AttachmentSource};
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};

use super::insurer_policies::InsurerPolicies;
use crate::args::{objects, text};

/// The member of a request that lists them.
pub(super) const ATTACHMENTS: &str = "attachments";
/// The member that lists those for which one mail has no room.
pub(super) const LEFT_OUT: &str = "attachments_left_out";
/// Letters that it lists at most.
const MAX_LEFT_OUT: usize = 50;
/// The kind of paper.
const CATEGORY: &str = "LOA";

/// Gives each insurer's request the letters that are for it: one that describes policies is for their insurers, any
/// other for all.
pub(super) async fn add(context: &ToolContext, groups: &mut [InsurerPolicies]) -> Result<(), ToolFailure> {
    let read = objects(&context.state, "extractions");
    let letters = read.iter().filter(|paper| text(paper, "category").as_deref() == Some(CATEGORY));
    let numbers: Vec<u64> = letters.filter_map(|paper| paper.get("n")?.as_u64()).collect();
    if numbers.is_empty() {
        return Ok(());
    }
    let files = context.documents()?.list().await?;
    let is_letter =
        |file: &&Attachment| file.source == AttachmentSource::Attached && numbers.contains(&u64::from(file.n));
    for file in files.iter().filter(is_letter) {
        let describes = |group: &&mut InsurerPolicies| group.documents.contains(&file.n);
        let is_for_some = groups.iter_mut().any(|group| describes(&group));
        for group in groups.iter_mut().filter(|group| !is_for_some || describes(group)) {
            group.letters.push(json!({
                "task": context.task,
                "n": file.n,
                "filename": file.filename,
                "content_type": file.content_type,
                "size": file.size,
                "hash": file.hash,
            }));
        }
    }
    Ok(())
}

/// The lookups of a request by which its letters are kept as long as it is.
pub(super) fn lookups(request: &Map<String, Value>) -> Vec<Lookup> {
    let letters = [ATTACHMENTS, LEFT_OUT].into_iter().flat_map(|member| objects(request, member));
    letters.filter_map(|letter| text(&letter, "hash")).map(Lookup::file).collect()
}

/// The letters of a request.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Letters {
    /// Those that go along: as many as one mail takes.
    pub(super) taken: Vec<Value>,
    /// The others, the first [`MAX_LEFT_OUT`].
    pub(super) left_out: Vec<Value>,
}

/// The letters that a request has, and the others that it is to have, each once, as far as one mail takes them.
pub(super) fn joined(present: Vec<Value>, others: &[Value]) -> Letters {
    let mut letters = Letters::default();
    let mut bytes = 0_u64;
    for letter in present.into_iter().chain(others.iter().cloned()) {
        let Letters { taken, left_out } = &mut letters;
        let size = letter["size"].as_u64().unwrap_or(u64::MAX);
        let grown = bytes.saturating_add(size);
        let is_known = |known: &[Value]| known.iter().any(|other| other["hash"] == letter["hash"]);
        if is_known(taken) {
            continue;
        }
        if taken.len() < MAX_MAIL_FILES && grown <= MAX_MAIL_FILE_BYTES {
            bytes = grown;
            taken.push(letter);
        } else if left_out.len() < MAX_LEFT_OUT && !is_known(left_out) {
            left_out.push(letter);
        }
    }
    letters
}

/// The letters of a request as files of a mail.
pub(super) fn files(props: &Map<String, Value>) -> Vec<MailFile> {
    let file = |letter: &Map<String, Value>| {
        Some(MailFile {
            filename: text(letter, "filename")?,
            content_type: text(letter, "content_type").unwrap_or_default(),
            size: letter.get("size")?.as_u64()?,
            hash: text(letter, "hash")?,
        })
    };
    objects(props, ATTACHMENTS).iter().filter_map(file).collect()
}
