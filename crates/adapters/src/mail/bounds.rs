//! What a message may cost, counted before the library takes it apart.
//!
//! The library keeps some hundred bytes for every address, header field and part, and goes back over what it could not
//! decode: three bytes of a message become a hundred of memory, or a quadratic amount of work. So the message is walked
//! here first, by the library's own primitives and in its own order, but nothing is kept: fields are measured before
//! they are read. Only messages that are encoded as a whole are decoded, since the library opens those as well.

use std::ops::AddAssign;

use kybern_core::mail::MailFault;
use mail_parser::parsers::MessageStream;
use mail_parser::{ContentType, HeaderName, HeaderValue};
use memchr::memchr;

/// Bytes of all header fields, those of parts and of enclosed messages included.
const MAX_HEADERS: usize = 1024 * 1024;
/// Bytes of one header field. Exchange takes 256 KiB for all of them.
const MAX_FIELD: usize = 256 * 1024;
/// Bytes of a field that describes a part: the library compares its parameters with one another.
const MAX_MIME_FIELD: usize = 8 * 1024;
/// Header fields, those of parts and of enclosed messages included.
const MAX_FIELDS: usize = 10_000;
/// Parts, those of enclosed messages included.
const MAX_PARTS: usize = 2_000;
/// Enclosed messages, however deep: the library opens each.
const MAX_ENCLOSED: usize = 500;
/// Multiparts whose boundary never comes: each is looked for to the end of the message.
const MAX_TORN: usize = 20;
/// How deep an encoded message may lie in encoded messages; the library leaves deeper ones closed.
const MAX_ENCODED: usize = 3;
/// Bytes that the library may have to read while it decodes the words of headers.
const MAX_DECODING: usize = 32 * 1024 * 1024;

/// Refuses a message that would take too much memory or time.
pub(super) fn check(raw: &[u8]) -> Result<(), MailFault> {
    let mut spent = MailCost::default();
    walk(raw, MAX_ENCODED, &mut spent)
}

/// What a message has cost so far.
#[derive(Default)]
struct MailCost {
    header_bytes: usize,
    fields: usize,
    parts: usize,
    enclosed: usize,
    torn: usize,
    decoding: usize,
}

/// Adds to an account, and refuses when that is more than the account holds.
fn spend(account: &mut usize, amount: usize, most: usize, what: &str) -> Result<(), MailFault> {
    account.add_assign(amount);
    if *account > most {
        return Err(MailFault::TooLarge(format!("it has more than {most} {what}")));
    }
    Ok(())
}

/// What the parts of a container are when they do not say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainerKind {
    Message,
    Digest,
    Multipart,
}

/// A container that is being walked.
struct OpenContainer {
    within: ContainerKind,
    boundary: Option<Vec<u8>>,
}

/// The headers of a part, as far as they say what follows.
#[derive(Default)]
struct PartHead<'x> {
    kind: Option<ContentType<'x>>,
    encoded: Option<Encoded>,
}

#[derive(Clone, Copy)]
enum Encoded {
    Base64,
    QuotedPrintable,
}

/// What follows the headers of a part.
enum PartContent {
    Parts(ContainerKind, Vec<u8>),
    Message,
    Bytes,
}

impl PartHead<'_> {
    fn follows(&self, within: ContainerKind) -> PartContent {
        let Some(kind) = &self.kind else {
            return if within == ContainerKind::Digest { PartContent::Message } else { PartContent::Bytes };
        };
        match (kind.ctype(), kind.subtype()) {
            ("multipart", subtype) => match kind.attribute("boundary") {
                Some(boundary) => {
                    let within =
                        if subtype == Some("digest") { ContainerKind::Digest } else { ContainerKind::Multipart };
                    PartContent::Parts(within, boundary.as_bytes().to_vec())
                }
                None => PartContent::Bytes,
            },
            ("message", Some("rfc822" | "global")) => PartContent::Message,
            _ => PartContent::Bytes,
        }
    }
}

/// Walks a message in the library's order: `MessageParser::parse` without what it keeps.
fn walk(raw: &[u8], encoded_left: usize, spent: &mut MailCost) -> Result<(), MailFault> {
    let mut stream = MessageStream::new(raw);
    let mut open = OpenContainer { within: ContainerKind::Message, boundary: None };
    let mut outer: Vec<OpenContainer> = Vec::new();
    while let Some(head) = part_head(raw, &mut stream, spent)? {
        spend(&mut spent.parts, 1, MAX_PARTS, "parts")?;
        let mut follows = head.follows(open.within);
        if let PartContent::Parts(within, boundary) = follows {
            if stream.seek_next_part(&boundary) {
                outer.push(std::mem::replace(&mut open, OpenContainer { within, boundary: Some(boundary) }));
                stream.skip_crlf();
                continue;
            }
            spend(&mut spent.torn, 1, MAX_TORN, "containers without an end")?;
            follows = PartContent::Bytes;
        }
        if matches!(follows, PartContent::Message) {
            spend(&mut spent.enclosed, 1, MAX_ENCLOSED, "enclosed messages")?;
            if head.encoded.is_none() {
                let boundary = open.boundary.take();
                outer.push(std::mem::replace(&mut open, OpenContainer { within: ContainerKind::Message, boundary }));
                continue;
            }
        }
        let boundary = open.boundary.as_deref().unwrap_or_default();
        let end = match (&follows, head.encoded) {
            (PartContent::Message, Some(encoded)) => {
                let (end, bytes) = match encoded {
                    Encoded::Base64 => stream.decode_base64_mime(boundary),
                    Encoded::QuotedPrintable => stream.decode_quoted_printable_mime(boundary),
                };
                if end != usize::MAX && encoded_left > 0 {
                    walk(&bytes, encoded_left - 1, spent)?;
                }
                end
            }
            _ => stream.mime_part(boundary).0,
        };
        if end == usize::MAX && !stream.seek_part_end(open.boundary.as_deref()).1 {
            open.boundary = None;
        }
        if !next_part(&mut stream, &mut open, &mut outer) {
            break;
        }
    }
    Ok(())
}

/// Goes to the headers of the next part, out of the containers that end here; `false` at the end of the message.
fn next_part(stream: &mut MessageStream<'_>, open: &mut OpenContainer, outer: &mut Vec<OpenContainer>) -> bool {
    if open.boundary.is_none() {
        return stream.offset() < stream.len();
    }
    loop {
        if open.within == ContainerKind::Message {
            let Some(around) = outer.pop() else { return false };
            *open = OpenContainer { within: around.within, boundary: open.boundary.take() };
        }
        if !stream.is_multipart_end() {
            return true;
        }
        let Some(around) = outer.pop() else { return false };
        *open = around;
        let ends_here = open.boundary.as_deref().and_then(|boundary| stream.seek_next_part_offset(boundary));
        if ends_here.is_none() {
            return false;
        }
    }
}

/// Reads the headers of a part, measuring each field before it is looked at; `None` where there is no part.
fn part_head<'x>(
    raw: &[u8],
    stream: &mut MessageStream<'x>,
    spent: &mut MailCost,
) -> Result<Option<PartHead<'x>>, MailFault> {
    let mut head = PartHead::default();
    loop {
        loop {
            match stream.peek() {
                None => return Ok(None),
                Some(b'\n') => {
                    stream.next();
                    return Ok(Some(head));
                }
                Some(byte) if !byte.is_ascii_whitespace() => break,
                Some(_) => {
                    stream.next();
                }
            }
        }
        let begins = stream.offset();
        let Some(name) = stream.parse_header_name() else {
            if stream.is_eof() {
                return Ok(None);
            }
            continue;
        };
        spend(&mut spent.fields, 1, MAX_FIELDS, "header fields")?;
        let field = field(raw.get(stream.offset()..).unwrap_or_default());
        let describes = matches!(name, HeaderName::ContentType | HeaderName::ContentDisposition);
        let most = if describes { MAX_MIME_FIELD } else { MAX_FIELD };
        if field.len() > most {
            return Err(MailFault::TooLarge(format!("its header {} has more than {most} bytes", shown(&name))));
        }
        spend(&mut spent.header_bytes, stream.offset() - begins + field.len(), MAX_HEADERS, "bytes of headers")?;
        spend(&mut spent.decoding, decoding(field), MAX_DECODING, "bytes to decode in its headers")?;
        match name {
            HeaderName::ContentType => head.kind = stream.parse_content_type().into_content_type(),
            HeaderName::ContentTransferEncoding => head.encoded = encoded(&stream.parse_unstructured()),
            _ => stream.parse_and_ignore(),
        }
    }
}

/// The bytes of a field: up to the first line end after which no white space comes.
fn field(rest: &[u8]) -> &[u8] {
    let mut length = 0;
    while let Some(end) = memchr(b'\n', rest.get(length..).unwrap_or_default()) {
        length += end + 1;
        if !matches!(rest.get(length), Some(b' ' | b'\t')) {
            return rest.get(..length).unwrap_or_default();
        }
    }
    rest
}

/// How many bytes the library reads at most to decode the words of a field: each `=?` to the second `?=` after it,
/// since the first one may belong to the word's head. What is not a word in the end is read again from its second byte.
fn decoding(field: &[u8]) -> usize {
    let (mut next, mut after_next) = (field.len(), field.len());
    let mut bytes = 0_usize;
    for at in (1..field.len()).rev() {
        match (field[at - 1], field[at]) {
            (b'?', b'=') => (next, after_next) = (at, next),
            (b'=', b'?') => bytes = bytes.saturating_add(after_next - at),
            _ => {}
        }
    }
    bytes
}

fn encoded(value: &HeaderValue<'_>) -> Option<Encoded> {
    match value {
        HeaderValue::Text(name) if name.eq_ignore_ascii_case("base64") => Some(Encoded::Base64),
        HeaderValue::Text(name) if name.eq_ignore_ascii_case("quoted-printable") => Some(Encoded::QuotedPrintable),
        _ => None,
    }
}

/// A header's name, short enough to be shown.
fn shown(name: &HeaderName<'_>) -> String {
    name.as_str().chars().filter(|c| c.is_ascii_graphic()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(raw: &str) -> String {
        match check(raw.as_bytes()) {
            Err(MailFault::TooLarge(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_bound_is_named() {
        let fields = "A:\n".repeat(MAX_FIELDS + 1);
        assert!(refused(&format!("{fields}\nx")).contains("10000 header fields"));
        let one = format!("To: {}\n\nx", "a@b.example, ".repeat(MAX_FIELD / 13 + 1));
        assert!(refused(&one).contains("header To has more than 262144 bytes"));
        let folded = format!("References: {}\n\nx", "<a@b.example>\n ".repeat(MAX_FIELD / 15 + 1));
        assert!(refused(&folded).contains("header References"));
        let many = format!("Received: {}\n", "x".repeat(MAX_FIELD - 20)).repeat(5);
        assert!(refused(&format!("{many}\nx")).contains("1048576 bytes of headers"));
        let described = format!("Content-Type: text/plain; {}\n\nx", "a*0*=x;".repeat(MAX_MIME_FIELD / 7 + 1));
        assert!(refused(&described).contains("header Content-Type has more than 8192 bytes"));
        let parts = "--b\n\n".repeat(MAX_PARTS + 1);
        assert!(refused(&format!("Content-Type: multipart/mixed; boundary=b\n\n{parts}")).contains("2000 parts"));
        let enclosed = "Content-Type: message / rfc822\n\n".repeat(MAX_ENCLOSED + 1);
        assert!(refused(&enclosed).contains("500 enclosed messages"));
        let torn = "--b\nContent-Type: multipart/mixed; boundary=c\n\n".repeat(MAX_TORN + 1);
        assert!(
            refused(&format!("Content-Type: multipart/mixed; boundary=b\n\n{torn}--b--\n")).contains("20 containers")
        );
    }

    #[test]
    fn a_boundary_in_the_middle_of_a_line_is_counted() {
        // The library takes it for one wherever it stands.
        let parts = "x --b\n\n".repeat(MAX_PARTS + 1);
        assert!(refused(&format!("Content-Type: multipart/mixed; boundary=b\n\n{parts}")).contains("parts"));
    }

    #[test]
    fn an_encoded_message_is_measured_like_any_other() {
        use base64::Engine as _;
        let inner = format!("To: {}\n\nx", "a@b.example, ".repeat(MAX_FIELD / 13 + 1));
        let base64 = base64::engine::general_purpose::STANDARD.encode(&inner);
        let outer = |encoding: &str, body: &str| {
            format!("Content-Type: message/rfc822\nContent-Transfer-Encoding: {encoding}\n\n{body}")
        };
        assert!(refused(&outer("base64", &base64)).contains("header To"));
        assert!(refused(&outer("quoted-printable", &inner)).contains("header To"));
    }

    #[test]
    fn words_that_have_no_end_are_not_decoded_again_and_again() {
        // Each would be read to the end of the field.
        let words = "=?aa?q?x".repeat(12_000);
        assert!(refused(&format!("Subject: {words}\n\nx")).contains("to decode"));
        let short = "=?utf-8?q?Zo=C3=AB?= <zoe@b.example>,\n ".repeat(2_000);
        check(format!("To: {short}x@b.example\n\nx").as_bytes()).unwrap();
    }

    #[test]
    fn fields_end_where_the_library_ends_them() {
        assert_eq!(field(b" a\r\n b\r\nTo: c\n"), b" a\r\n b\r\n");
        assert_eq!(field(b" a"), b" a");
        assert_eq!(field(b"\n\n"), b"\n");
    }

    #[test]
    fn what_mail_usually_is_fits_in() {
        let received = "Received: from a.example by b.example; Mon, 2 Mar 2026 10:00:00 -0600\n".repeat(60);
        let to = "\"A Person\" <person@client.example>, ".repeat(1_500);
        let parts = "--b\nContent-Type: application/pdf; name=a.pdf\n\nx\n".repeat(100);
        let raw = format!("{received}To: {to}\nContent-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n");
        check(raw.as_bytes()).unwrap();
    }
}
