//! E-mail as it comes in and goes out. Parsing and sending are ports.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::time::Millis;

/// How long sending one message may take in all. The sender keeps to it, because only the sender knows whether the
/// message was handed over when time is up.
pub const MAX_SEND: Millis = Millis(240_000);

/// The recipients (`To` and `Cc`) of one message that comes in. Mail services take 500 to 2,000.
pub const MAX_RECIPIENTS: usize = 2_000;
/// The references of one message that are kept: the last ones.
pub const MAX_REFERENCES: usize = 100;

/// A mailbox with its display name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MailAddress {
    /// The display name; empty when there is none.
    pub name: String,
    /// `local@domain`, lower-cased domain.
    pub address: String,
}

/// A message that came in, taken apart.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ParsedMail {
    /// `Message-ID` without angle brackets; `None` when the message has none.
    pub message_id: Option<String>,
    /// `In-Reply-To` without angle brackets.
    pub in_reply_to: Option<String>,
    /// `References`, oldest first: at most the last [`MAX_REFERENCES`].
    pub references: Vec<String>,
    /// How many older references were left out.
    pub references_left_out: usize,
    /// `Date` as RFC 3339, when it can be read.
    pub date: Option<String>,
    /// The first sender.
    pub from: MailAddress,
    /// `To`, then `Cc`.
    pub to: Vec<MailAddress>,
    /// The decoded subject.
    pub subject: String,
    /// The text to read: the plain part, or the HTML part as text; forwarded messages follow with their own headers.
    pub text: String,
    /// Whether `text` was made from HTML.
    pub from_html: bool,
    /// Attachments in order, those of nested messages included.
    pub parts: Vec<MailPart>,
}

/// A part that is a file.
#[derive(Clone, PartialEq, Debug)]
pub struct MailPart {
    /// Its decoded file name; made up from its type when it has none.
    pub filename: String,
    /// Its declared content type, lower-cased, without parameters.
    pub content_type: String,
    /// Its decoded bytes.
    pub bytes: Bytes,
    /// Whether it is shown inside the text (a logo) rather than attached.
    pub inline: bool,
    /// In how many nested messages it lies; 0 for the message itself.
    pub depth: usize,
}

/// Why a message was not taken apart.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MailFault {
    /// It is no message at all.
    #[error("not an e-mail message: {0}")]
    Broken(String),
    /// It has too many parts, they lie too deep, or it took too long.
    #[error("over a limit: {0}")]
    TooLarge(String),
    /// Too much is read already; the same message may be taken apart later.
    #[error("{0}")]
    Busy(String),
}

/// A message that goes out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OutgoingMail {
    /// The receiver's address.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// Plain text.
    pub body: String,
    /// `Message-ID` without angle brackets, the same for every try.
    pub message_id: String,
}

/// How sending ended when it did not succeed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendFault {
    /// The server said no, or could not be reached before the message was handed over: it was surely not sent.
    #[error("not sent: {message}")]
    NotSent {
        /// What happened.
        message: String,
        /// Whether another try may help.
        retryable: bool,
    },
    /// The server did not answer before the message was handed over: it was surely not sent, and another try may help.
    #[error("not sent: {message}")]
    Unreachable {
        /// What happened.
        message: String,
    },
    /// The connection ended after the message was handed over: nobody knows.
    #[error("unknown whether it was sent: {message}")]
    Unknown {
        /// What happened.
        message: String,
    },
}
