//! E-mail as it comes in and goes out. Parsing and sending are ports.

use std::collections::HashSet;

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

/// Passages of one message that are told apart; what is beyond them belongs to the last one.
pub const MAX_PASSAGES: usize = 200;
/// Request tokens of one message that are kept.
pub const MAX_REQUEST_TOKENS: usize = 20;

words! {
    /// What sent a message, told by its structure and never by its words. Its names are written in a task's payload and
    /// in keywords.
    #[derive(Default)]
    pub enum MailKind {
        /// A person, or a program that writes in somebody's place, such as a web form.
        #[default]
        Personal = "personal",
        /// A mail server that could not deliver something.
        Bounce = "bounce",
        /// A program that answers while its owner is away, or confirms that a mail came in.
        AutomaticReply = "automatic_reply",
        /// A mailing list, or mail to many.
        Bulk = "bulk",
        /// A calendar: an invitation, its answer, or its cancellation.
        Invitation = "invitation",
    }
}

/// What a passage of a message is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageRole {
    /// What the sender wrote now.
    Newest,
    /// The sender's name, office and telephone.
    Signature,
    /// What is beneath or above every mail of that sender: disclaimers, notes of mail programs, warnings of servers.
    Footer,
    /// What was written before, and its header.
    Quoted,
    /// A message that is handed on, and its header.
    Forwarded,
}

/// A run of lines of [`ParsedMail::text`] with one role.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Passage {
    pub role: PassageRole,
    /// Its first byte in the text.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// Who wrote it, when its header says so: of quoted and forwarded text only. Nobody has checked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<MailAddress>,
}

/// Where a request token stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenPlace {
    Subject,
    /// In what the sender wrote now.
    Newest,
    /// In quoted text.
    Quoted,
    /// In forwarded text.
    Forwarded,
}

/// `[Request:UUID]`, as our own messages carry it so that the answer finds back. Anybody can write one: it says which
/// request is meant, and does not prove who answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestToken {
    /// The id in lower case.
    pub id: String,
    /// Where it stands first.
    pub place: TokenPlace,
}

/// What a receiving server found out about the sender: one `Authentication-Results` header. It means something only
/// when it comes from a server of one's own, because a sender can write such a header too.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationResults {
    /// The server that says so (its authserv-id), in lower case.
    pub server: String,
    /// Its results by method, in lower case: `("dmarc", "pass")`.
    pub results: Vec<(String, String)>,
}

/// A message that came in, taken apart.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ParsedMail {
    /// What sent it.
    pub kind: MailKind,
    /// What the lines of `text` are, in their order, without gaps; empty when there is no text.
    pub passages: Vec<Passage>,
    /// The request tokens of subject and text, each once: at most [`MAX_REQUEST_TOKENS`].
    pub request_tokens: Vec<RequestToken>,
    /// `Authentication-Results`, the newest (topmost) first.
    pub authentication: Vec<AuthenticationResults>,
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

impl ParsedMail {
    #[must_use]
    pub fn text_of(&self, role: PassageRole) -> String {
        text_of(&self.text, &self.passages, role)
    }

    /// The `Message-ID`s of the messages that it answers, the nearest first, each once.
    #[must_use]
    pub fn answers(&self) -> Vec<&String> {
        let mut ids: Vec<&String> = self.in_reply_to.iter().chain(self.references.iter().rev()).collect();
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(*id));
        ids
    }
}

/// The text of the passages with that role. A passage that does not fit the text is left out.
#[must_use]
pub fn text_of(text: &str, passages: &[Passage], role: PassageRole) -> String {
    let of_role = passages.iter().filter(|passage| passage.role == role);
    let pieces = of_role.filter_map(|passage| text.get(passage.start..passage.end));
    pieces.map(|piece| piece.trim_matches('\n')).filter(|piece| !piece.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

/// The text with blanks in the place of what is quoted, so that what stands there keeps its place: fields are read out of
/// what is said now or handed on. Lines with a request token stay, because answers carry them in what they quote. Who
/// agrees (`Yes to both, go ahead.`) says what the message says that is answered: it stays, without its marks. Of older
/// ones only lines without digits do: whom it is about, and no number.
#[must_use]
pub fn without_quoted(text: &str, passages: &[Passage]) -> String {
    let agrees = agrees(&text_of(text, passages, PassageRole::Newest));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let quoted = passages.iter().filter(|passage| passage.role == PassageRole::Quoted);
    for (older, passage) in quoted.enumerate() {
        // One that does not fit the text, or the one before, is left alone.
        let (Some(before), Some(piece)) = (text.get(at..passage.start), text.get(passage.start..passage.end)) else {
            continue;
        };
        out.push_str(before);
        let depth = depth_of(piece);
        for line in piece.split_inclusive('\n') {
            let (marks, said) = marks_of(line);
            let is_next = older == 0 && marks <= depth || marks == 1 && depth == 1;
            let is_answered = is_next || !said.bytes().any(|b| b.is_ascii_digit());
            if has_token(line) {
                out.push_str(line);
            } else if agrees && is_answered && !is_head(said) {
                out.extend(std::iter::repeat_n(' ', line.len() - said.len()));
                out.push_str(said);
            } else {
                let (blank, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
                out.extend(std::iter::repeat_n(' ', blank.len()));
                out.push_str(end);
            }
        }
        at = passage.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// The marks of a quotation before a line, and the line behind them.
fn marks_of(line: &str) -> (usize, &str) {
    let said = line.trim_start_matches(['>', ' ']);
    (line[..line.len() - said.len()].matches('>').count(), said)
}

/// How many marks the lines of a quoted passage have that answer nothing older: one, or none where most have none.
fn depth_of(piece: &str) -> usize {
    // The line that says who wrote it stands before the marks.
    let lines = || piece.lines().filter(|line| !line.trim().is_empty() && !is_head(marks_of(line).1));
    let marked = lines().filter(|line| line.trim_start().starts_with('>')).count();
    usize::from(2 * marked > lines().count())
}

/// What whoever gives an order to go ahead says, too: the message that is answered, and none before it.
#[must_use]
pub fn ordered(text: &str, passages: &[Passage]) -> Option<String> {
    let newest = text_of(text, passages, PassageRole::Newest);
    let orders = agrees(&newest) && GO_AHEAD.iter().any(|turn| newest.to_lowercase().contains(turn));
    if !orders {
        return None;
    }
    let quoted = passages.iter().filter(|passage| passage.role == PassageRole::Quoted);
    let pieces = quoted.filter_map(|passage| text.get(passage.start..passage.end));
    let answered = pieces.enumerate().find_map(|(older, piece)| {
        let depth = depth_of(piece);
        let lines = piece.lines().map(marks_of).filter(|(marks, said)| *marks == depth && !is_head(said));
        let said = lines.map(|(_, said)| said).collect::<Vec<_>>().join("\n");
        (!said.trim().is_empty() && (older == 0 || depth == 1)).then_some(said)
    });
    Some(answered.unwrap_or_default())
}

/// Whether a line belongs to the head of a quoted message, or says who wrote it.
fn is_head(line: &str) -> bool {
    const HEADS: [&str; 13] =
        ["from", "to", "cc", "sent", "date", "subject", "de", "para", "enviado", "asunto", "à", "objet", "envoyé"];
    const WRITTEN: [&str; 4] = ["wrote:", "escribió:", "a écrit :", "a écrit:"];
    let line = line.trim().to_lowercase();
    let head = line.split_once(':').map_or("", |(head, _)| head.trim());
    HEADS.contains(&head) || line.starts_with("-----") || WRITTEN.iter().any(|written| line.ends_with(written))
}

/// Words of a text that may only agree, and bytes of one with the blanks around it; words of one that begins with a word
/// that alone says little, such as `ok`.
const MAX_AGREEING: usize = 20;
const MAX_WORD: usize = 20;
const MAX_NODDING: usize = 5;
/// Words with which a text agrees at its beginning, and turns that agree within it.
const AGREES: [&str; 11] =
    ["yes", "yep", "yeah", "yup", "agreed", "approved", "confirmed", "absolutely", "sí", "oui", "ja"];
const NODS: [&str; 5] = ["ok", "okay", "sure", "claro", "gerne"];
const GO_AHEAD: [&str; 6] = ["go ahead", "please proceed", "sounds good", "adelante", "de acuerdo", "allez-y"];
/// What does not only agree: it denies, or speaks of what it brings itself.
const MORE: [&str; 16] = [
    "not", "don't", "don’t", "dont", "never", "instead", "except", "but", "attached", "enclosed", "adjunto", "adjunta",
    "ci-joint", "pas", "sino", "pero",
];

/// Turns that put it off, or leave it.
const DENIES: [&str; 9] = ["no need", "can't", "can’t", "cannot", "won't", "won’t", "hold off", "wait", "todavía no"];

/// Whether the newest words agree to what they answer, and say little else.
fn agrees(newest: &str) -> bool {
    if newest.len() > MAX_AGREEING * MAX_WORD {
        return false;
    }
    let said = newest.trim().to_lowercase();
    if said.contains('?') || DENIES.iter().any(|turn| said.contains(turn)) {
        return false;
    }
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let words: Vec<String> = said.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    let first = words.first().map_or("", String::as_str);
    let orders = GO_AHEAD.iter().any(|turn| said.contains(turn));
    // Who gives the number that was asked for may go on to say what to do.
    let numbers = !orders && words.iter().any(|word| word.bytes().any(|b| b.is_ascii_digit()));
    let more = numbers || words.iter().any(|word| MORE.contains(&word.as_str()));
    let yes = AGREES.contains(&first) || orders;
    let nods = NODS.contains(&first) && words.len() <= MAX_NODDING;
    words.len() <= MAX_AGREEING && !more && (yes || nods)
}

/// How a request token begins, in small letters.
const TOKEN: &str = "[request:";

/// Whether a text has a request token in it.
#[must_use]
pub fn has_token(text: &str) -> bool {
    text.to_ascii_lowercase().contains(TOKEN)
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
#[derive(Clone, PartialEq, Debug)]
pub struct OutgoingMail {
    /// The receiver's address.
    pub to: String,
    pub subject: String,
    /// Plain text.
    pub body: String,
    /// `Message-ID` without angle brackets, the same for every try.
    pub message_id: String,
    /// The mails of the thread that it goes on with, by their `Message-ID`s, oldest first.
    pub references: Vec<String>,
    /// Files that go along.
    pub files: Vec<OutgoingFile>,
}

/// A file that goes out with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutgoingFile {
    /// Its name.
    pub filename: String,
    /// Its content type, as it came in.
    pub content_type: String,
    pub bytes: Bytes,
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

#[cfg(test)]
mod tests;
