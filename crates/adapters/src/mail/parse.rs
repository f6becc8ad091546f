//! MIME messages taken apart. Behind [`kybern_core::ports::MailParser`] it is done on the slots of documents, see
//! `super::reader`.
//!
//! The library finds the parts; this module decides what is text to read, what is a file, and what is decoration.
//! Nested messages are opened: their files are lifted, their text follows that of the outer message.
//!
//! It does not read the files (see [`crate::documents`]) and does not know who may send what.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use kybern_core::document::limits;
use kybern_core::mail::{MAX_RECIPIENTS, MAX_REFERENCES, MailAddress, MailFault, MailPart, ParsedMail};
use mail_parser::{Address, HeaderName, HeaderValue, Message, MessageParser, MessagePart, PartType};

use super::enclosed::{self, UnpackBudget};
use super::manners::STUBS;
use super::{bounds, empty_parts, parse_part as part, passages, structure, uuencode, visible};
use crate::documents::html::pieces_to_text;
use crate::workers::StopFlag;

/// How far into a message its first header must stand.
const HEADER_WITHIN: usize = 8 * 1024;
/// Bytes of one message.
const MAX_MESSAGE: usize = 100 * 1024 * 1024;
/// Set before the text of a message that lies in another one.
const SEPARATOR: &str = "---------- Message enclosed in this message ----------";
/// A text part with more words says more than that there is HTML, or something else than it.
const FEW_WORDS: usize = 15;
/// A text part with fewer words than one in this many of the HTML, and this many less, is a stub.
const STUB_SHARE: usize = 4;
const STUB_WORDS: usize = 20;
/// A longer text part is a message, whatever it says of HTML.
const MAX_STUB: usize = 600;

/// Takes MIME messages apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mime;

impl Mime {
    /// Takes one message apart, on the thread that calls.
    ///
    /// # Errors
    /// When it is no message, or over a limit.
    pub fn parse(self, raw: &[u8]) -> Result<ParsedMail, MailFault> {
        self.parse_until(raw, &StopFlag::default())
    }

    /// The same, until `stop` cuts it short: nobody waits for the result then.
    ///
    /// # Errors
    /// The same.
    pub(super) fn parse_until(self, raw: &[u8], stop: &StopFlag) -> Result<ParsedMail, MailFault> {
        let raw = empty_parts::filled(without_envelope(raw));
        check(&raw)?;
        catch_unwind(AssertUnwindSafe(|| take_apart(&raw, stop)))
            .unwrap_or_else(|_| Err(MailFault::Broken("its structure is damaged".to_owned())))
    }
}

/// Leaves out a byte order mark and the `From ` line of mailbox files.
fn without_envelope(raw: &[u8]) -> &[u8] {
    let raw = raw.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(raw);
    let start = raw.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(0);
    let raw = &raw[start..];
    if raw.starts_with(b"From ") {
        let end = raw.iter().position(|byte| *byte == b'\n').map_or(raw.len(), |end| end + 1);
        return &raw[end..];
    }
    raw
}

/// Refuses what is no message, and what is built to exhaust memory or the stack.
fn check(raw: &[u8]) -> Result<(), MailFault> {
    if raw.len() > MAX_MESSAGE {
        return Err(MailFault::TooLarge(format!("it has {} bytes, {MAX_MESSAGE} are allowed", raw.len())));
    }
    let head = &raw[..raw.len().min(HEADER_WITHIN)];
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let is_header = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        name.len() < line.len() && !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic())
    };
    if !lines.by_ref().take_while(|line| !line.is_empty()).any(is_header) {
        return Err(MailFault::Broken("it has no header".to_owned()));
    }
    if head.iter().take_while(|byte| **byte != b'\n').any(|byte| *byte == 0) {
        return Err(MailFault::Broken("it is binary".to_owned()));
    }
    bounds::check(raw)
}

fn take_apart(raw: &[u8], stop: &StopFlag) -> Result<ParsedMail, MailFault> {
    // Only what is read below: every other field is passed over.
    let parser = MessageParser::new()
        .with_mime_headers()
        .with_message_ids()
        .header_text(HeaderName::Subject)
        .header_date(HeaderName::Date)
        .header_address(HeaderName::From)
        .header_address(HeaderName::To)
        .header_address(HeaderName::Cc)
        .default_header_ignore();
    let parser = structure::with_headers(parser);
    let message = parser.parse(raw).ok_or_else(|| MailFault::Broken("it has no header".to_owned()))?;
    let (references, references_left_out) = last_references(ids(message.references()));
    let mut mail = ParsedMail {
        message_id: message.message_id().and_then(clean_id),
        in_reply_to: ids(message.in_reply_to()).into_iter().next(),
        references,
        references_left_out,
        date: date(&message),
        from: addresses(message.from()).into_iter().next().unwrap_or_default(),
        to: recipients(&message)?,
        subject: subject(&message),
        ..ParsedMail::default()
    };
    collect(&message, 0, &mut mail, stop, &mut UnpackBudget::new())?;
    mail.kind = structure::kind(&message, &mail.from.address);
    mail.authentication = structure::authentication(&message, &addresses(message.from()));
    (mail.text, mail.passages) = passages::split(std::mem::take(&mut mail.text), &mail.subject, &mail.from.name);
    mail.request_tokens = structure::tokens(&mail.subject, &mail.text, &mail.passages);
    Ok(mail)
}

/// Adds the text and the files of a message, then those of the messages in it.
fn collect(
    message: &Message<'_>,
    depth: usize,
    mail: &mut ParsedMail,
    stop: &StopFlag,
    room: &mut UnpackBudget,
) -> Result<(), MailFault> {
    if depth > limits::MAX_NESTING {
        return Err(MailFault::TooLarge(format!("it encloses messages more than {} deep", limits::MAX_NESTING)));
    }
    let MailBody { text, from_html, files } =
        body(message, stop, limits::MAX_ATTACHMENTS.saturating_sub(mail.parts.len()));
    stop.check()?;
    for file in files {
        let file = enclosed::from_text(file, mail.parts.len() + 1, depth);
        let free = limits::MAX_ATTACHMENTS.saturating_sub(mail.parts.len() + message.attachments.len());
        mail.parts.extend(enclosed::open(file, free.max(1), room));
    }
    if !text.is_empty() {
        if !mail.text.is_empty() {
            mail.text.push_str(if mail.text.ends_with('\n') { "" } else { "\n\n" });
        }
        mail.text.push_str(&text);
        mail.from_html |= from_html;
    }
    if mail.text.len() > limits::MAX_TEXT {
        return Err(MailFault::TooLarge(format!("it has more than {} bytes of text", limits::MAX_TEXT)));
    }
    let cids = part::referenced(message);
    for &id in &message.attachments {
        let Some(found) = message.part(id) else { continue };
        if let PartType::Message(nested) = &found.body {
            introduce(nested, &mut mail.text);
            collect(nested, depth + 1, mail, stop, room)?;
            continue;
        }
        if part::is_container(found) {
            continue;
        }
        // A multipart whose boundary never comes and that says nothing before it.
        if part::content_type(found).starts_with("multipart/") && part::bytes(message, found).trim_ascii().is_empty() {
            continue;
        }
        if mail.parts.len() >= limits::MAX_ATTACHMENTS {
            return Err(MailFault::TooLarge(format!("it has more than {} attachments", limits::MAX_ATTACHMENTS)));
        }
        let file = file(message, id, found, &cids, mail.parts.len(), depth);
        // Whatever is still to come has its place among the attachments, too.
        let free = limits::MAX_ATTACHMENTS.saturating_sub(mail.parts.len() + message.attachments.len());
        mail.parts.extend(enclosed::open(file, free.max(1), room));
    }
    Ok(())
}

fn file(
    message: &Message<'_>,
    id: u32,
    found: &MessagePart<'_>,
    cids: &[String],
    index: usize,
    depth: usize,
) -> MailPart {
    let content_type = part::content_type(found);
    let inside = part::uuencoded(message, found);
    let name = inside.as_ref().map(|inside| inside.name.as_str());
    MailPart {
        filename: part::filename(message, found, name, &content_type, index + 1),
        inline: part::is_inline(message, id, found, &content_type, cids),
        bytes: Bytes::from(inside.map_or_else(|| part::bytes(message, found), |inside| inside.bytes)),
        content_type,
        depth,
    }
}

/// What a message says itself.
struct MailBody {
    text: String,
    from_html: bool,
    /// Files that stood in its text.
    files: Vec<uuencode::UuencodedFile>,
}

/// The text to read, and the files that stand in it, `most` at most.
fn body(message: &Message<'_>, stop: &StopFlag, most: usize) -> MailBody {
    let mut texts: Vec<String> = Vec::new();
    let mut from_html = false;
    let mut files = Vec::new();
    for &id in &message.text_body {
        match message.part(id) {
            Some(found) if matches!(found.body, PartType::Text(_)) => {
                let mut text = part::text(message, found);
                files.extend(uuencode::take_out(&mut text, most.saturating_sub(files.len())));
                texts.push(tidy(&text));
            }
            Some(found) if matches!(found.body, PartType::Html(_)) => {
                from_html = true;
                texts.push(seen(message, found, stop));
            }
            _ => {}
        }
    }
    texts.retain(|text| !text.is_empty());
    let text = texts.join("\n\n");
    if from_html {
        return MailBody { text, from_html, files };
    }
    // Senders that leave the plain alternative blank, or put a note into it, mean the other one.
    let html = message.html_body.iter().filter(|id| !message.text_body.contains(id)).filter_map(|id| message.part(*id));
    let html = html.filter(|found| matches!(found.body, PartType::Html(_)));
    let html: Vec<String> = html.map(|found| seen(message, found, stop)).filter(|text| !text.is_empty()).collect();
    let html = html.join("\n\n");
    let from_html = is_stub(&text, &html);
    MailBody { text: if from_html { html } else { text }, from_html, files }
}

/// The text of an HTML part as a reader sees it.
fn seen(message: &Message<'_>, html: &MessagePart<'_>, stop: &StopFlag) -> String {
    tidy(&pieces_to_text(visible::visible(&part::text(message, html)), stop))
}

/// Whether a text part only stands in for the HTML.
fn is_stub(text: &str, html: &str) -> bool {
    if html.is_empty() || text.is_empty() {
        return text.is_empty() && !html.is_empty();
    }
    let (words, of_html) = (text.split_whitespace().count(), html.split_whitespace().count());
    let lower = text.get(..MAX_STUB).unwrap_or(text).to_lowercase();
    let says_so = text.len() <= MAX_STUB && STUBS.iter().any(|phrase| lower.contains(phrase));
    // A few words about HTML, of which the HTML itself says nothing, are the sending program's.
    let about_html = words <= FEW_WORDS && lower.contains("html") && !html.to_lowercase().contains("html");
    let is_other = words <= FEW_WORDS && of_html > words && !says_the_same(text, html);
    about_html
        || is_other
        || (says_so && of_html > words)
        || (words * STUB_SHARE < of_html && words + STUB_WORDS < of_html)
}

/// Whether half of the words of a text stand in the HTML too, as in one that says the same for readers without HTML.
fn says_the_same(text: &str, html: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (said, of_html) = (words(text), words(html).into_iter().collect::<HashSet<_>>());
    let again = said.iter().filter(|word| of_html.contains(*word)).count();
    again * 2 >= said.len()
}

/// Writes the headers of an enclosed message before its text.
fn introduce(nested: &Message<'_>, text: &mut String) {
    let show = |address: MailAddress| match address.name.as_str() {
        "" => address.address,
        name => format!("{name} <{}>", address.address),
    };
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(SEPARATOR);
    let people = |found: Option<&Address<'_>>| addresses(found).into_iter().map(show).collect::<Vec<_>>().join(", ");
    for (name, value) in [
        ("From", people(nested.from())),
        ("To", people(nested.to())),
        ("Date", date(nested).unwrap_or_default()),
        ("Subject", subject(nested)),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("\n{name}: {value}"));
        }
    }
    text.push_str("\n\n");
}

/// Lines without white space at their ends, without a forest of blank lines.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.replace("\r\n", "\n").replace(['\r', '\u{2028}'], "\n").lines() {
        let line = line.trim_end_matches([' ', '\t', '\u{a0}']);
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank <= 2 {
            tidied.push_str(line);
            tidied.push('\n');
        }
    }
    tidied.trim_matches('\n').to_owned()
}

fn subject(message: &Message<'_>) -> String {
    message.subject().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn date(message: &Message<'_>) -> Option<String> {
    message.date().filter(|date| date.is_valid()).map(mail_parser::DateTime::to_rfc3339)
}

/// Everybody a message is addressed to. A list that is cut would hide for whom a message came.
fn recipients(message: &Message<'_>) -> Result<Vec<MailAddress>, MailFault> {
    let all: Vec<MailAddress> = addresses(message.to()).into_iter().chain(addresses(message.cc())).collect();
    if all.len() > MAX_RECIPIENTS {
        let message = format!("it is addressed to {} recipients, {MAX_RECIPIENTS} are allowed", all.len());
        return Err(MailFault::TooLarge(message));
    }
    Ok(all)
}

fn addresses(found: Option<&Address<'_>>) -> Vec<MailAddress> {
    let Some(found) = found else { return Vec::new() };
    found
        .iter()
        .filter_map(|address| {
            let name = one_line(address.name().unwrap_or_default());
            let address = one_line(address.address()?);
            let address = match address.rsplit_once('@') {
                Some((local, domain)) => format!("{local}@{}", domain.to_lowercase()),
                None => address,
            };
            Some(MailAddress { name, address })
        })
        .collect()
}

/// White space and control characters as single spaces: a line end in a name would look like another header.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn ids(found: &HeaderValue<'_>) -> Vec<String> {
    match found {
        HeaderValue::Text(id) => clean_id(id).into_iter().collect(),
        HeaderValue::TextList(ids) => ids.iter().filter_map(|id| clean_id(id)).collect(),
        _ => Vec::new(),
    }
}

/// The last references, and how many came before them: a thread is found by its newest messages.
fn last_references(mut all: Vec<String>) -> (Vec<String>, usize) {
    let left_out = all.len().saturating_sub(MAX_REFERENCES);
    all.drain(..left_out);
    (all, left_out)
}

fn clean_id(id: &str) -> Option<String> {
    let id = id.trim().trim_start_matches('<').trim_end_matches('>').trim();
    (!id.is_empty()).then(|| id.to_owned())
}

#[cfg(test)]
mod tests;
