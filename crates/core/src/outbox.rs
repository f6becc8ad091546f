//! Messages that leave the house. They are committed with the step that makes them and sent afterwards by a job.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{OutboxId, TaskId};
use crate::time::Timestamp;

/// The kind of the job that sends a message.
pub const SEND_JOB: &str = "outbox.send";

words! {
    /// By which way a message leaves.
    pub enum OutboxChannel {
        /// SMTP, when it is configured; otherwise the message stays in the outbox for people to see.
        Email = "email",
        /// An HTTP POST of the message as JSON.
        Webhook = "webhook",
        /// The dispatch of a delegation to a workflow engine.
        Workflow = "workflow",
        /// The completion webhook of a task.
        Completion = "completion",
    }
}

words! {
    /// How far a message has got.
    pub enum OutboxStatus {
        /// Waiting for its job.
        Pending = "pending",
        /// Handed over, no answer yet. After a crash this means that nobody knows.
        Sending = "sending",
        /// The receiver took it.
        Sent = "sent",
        /// Kept, and not sent, because no way out is configured.
        Kept = "kept",
        /// Given up after its tries.
        Failed = "failed",
        /// It may or may not have been sent; it is not sent again by itself.
        Uncertain = "uncertain",
    }
}

/// Whether the dispatch of a delegation may leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// It may, and is `sending`.
    Goes,
    /// Not now: its task is to be cancelled, or has failed and may be tried again while the workflow has time.
    Rests,
    /// Never: no step waits for it any more.
    Over,
}

/// Where the `Message-ID`s of the outbox's mails end: in a domain that nobody can have.
const MESSAGE_DOMAIN: &str = "@kybern.invalid";

/// The `Message-ID`, without angle brackets, of a mail in the outbox: known when the mail is committed, and the same at
/// every try.
#[must_use]
pub fn message_id(id: OutboxId) -> String {
    format!("{id}{MESSAGE_DOMAIN}")
}

/// The mail of an outbox that a `Message-ID` names; `None` when it is somebody else's.
#[must_use]
pub fn mail_of(message_id: &str) -> Option<OutboxId> {
    message_id.trim().to_ascii_lowercase().strip_suffix(MESSAGE_DOMAIN)?.parse().ok()
}

/// Whether a mail can go there: one address, without a name beside it.
#[must_use]
pub fn is_address(to: &str) -> bool {
    let well_formed = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control());
    match to.split_once('@') {
        Some((local, domain)) => {
            well_formed(local) && well_formed(domain) && !domain.contains('@') && !to.contains(['<', '>', ',', ';'])
        }
        None => false,
    }
}

/// Files that one mail takes along at most, and their bytes together: many servers take no more, once it is encoded.
pub const MAX_MAIL_FILES: usize = 10;
/// See [`MAX_MAIL_FILES`].
pub const MAX_MAIL_FILE_BYTES: u64 = 10 * 1024 * 1024;

/// A file that goes along with a mail, as the mail's body lists it under `attachments`. Its bytes are those that are
/// kept under the hash, whoever changes the file later.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailFile {
    /// Its name.
    pub filename: String,
    pub content_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// BLAKE3 of its bytes in hex.
    pub hash: String,
}

/// A message to the outside: one that has left, waits to, or was given up.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = in_place::NewOutbox))]
pub struct NewOutbox {
    pub id: OutboxId,
    /// How it leaves.
    pub channel: OutboxChannel,
    /// An address, a URL, or a workflow's name.
    pub target: String,
    /// The idempotency key that every try carries.
    pub key: String,
    /// The message: `{subject, body, attachments, references}` for mail; the JSON body otherwise. The last two may be left
    /// out and list files and the `Message-ID`s of the thread's earlier mails.
    #[cfg_attr(feature = "schema", schema(required))]
    pub body: Value,
}

/// A message to the outside: one that has left, waits to, or was given up.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutboxMessage {
    #[serde(flatten)]
    pub message: NewOutbox,
    /// The task that made it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub task_id: Option<TaskId>,
    /// The trace of the task that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// How far it is.
    pub status: OutboxStatus,
    /// Tries so far; of a mail those in which the mail server was ready to take it.
    pub attempts: u32,
    /// What went wrong last.
    #[cfg_attr(feature = "schema", schema(required))]
    pub error: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When the receiver took it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub sent_at: Option<Timestamp>,
    /// What of it this program cannot read, and why; it is empty here. Only there when something is wrong: see `kybern
    /// doctor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_message_id_names_its_mail_and_no_other() {
        let id = OutboxId::from_uuid(Uuid::from_u128(0xA1));
        let written = message_id(id);
        assert_eq!((mail_of(&written), mail_of(&written.to_ascii_uppercase())), (Some(id), Some(id)));
        for other in ["", "@kybern.invalid", "7@kybern.invalid", "CAF1@mail.example.com", &format!("{id}@example.com")]
        {
            assert_eq!(mail_of(other), None, "{other}");
        }
    }
}
