//! What the headers and parts of a message say about it: which machine wrote it, which requests it names, and what
//! receiving servers found out about its sender. No word of the text decides here.

use kybern_core::list;
use kybern_core::mail::{AuthenticationResults, MailAddress, MailKind, RequestToken, TokenPlace};
use kybern_core::mail::{MAX_REQUEST_TOKENS, Passage, PassageRole};
use mail_parser::{HeaderName, Message, MessageParser, MimeHeaders};

use super::parse_part;

/// `Authentication-Results` headers that are read, and results of one.
const MAX_RESULTS: usize = 10;
const MAX_METHODS: usize = 20;
/// How each request token begins.
const TOKEN: &str = "[request:";

/// Headers that are read beside the usual ones, as their names are spelt.
const READ: &[&str] = list!(
    "Return-Path, Reply-To, Auto-Submitted, X-Autoreply, X-Autorespond, X-Auto-Reply-From, X-Failed-Recipients, \
     Precedence, X-Precedence, List-Id, List-Unsubscribe, List-Post, Feedback-ID, X-Campaign-Id, \
     Authentication-Results"
);

/// Has the parser keep the headers that are read here.
pub(super) fn with_headers(parser: MessageParser) -> MessageParser {
    READ.iter().fold(parser, |parser, name| parser.header_raw(header(name)))
}

fn header(name: &'static str) -> HeaderName<'static> {
    HeaderName::parse(name).unwrap_or(HeaderName::Other(name.into()))
}

fn value(message: &Message<'_>, name: &'static str) -> Option<String> {
    Some(message.header_values(header(name)).next()?.as_text()?.trim().to_ascii_lowercase())
}

/// What sent the message.
pub(super) fn kind(message: &Message<'_>, from: &str) -> MailKind {
    let has = |name| value(message, name).is_some_and(|value| !value.is_empty());
    let content = |part: &mail_parser::MessagePart<'_>| parse_part::content_type(part);
    let attribute = |name: &str| {
        message.content_type().and_then(|kind| kind.attribute(name)).map(str::to_ascii_lowercase).unwrap_or_default()
    };
    let report = attribute("report-type");
    let of_machine = {
        let local = from.split('@').next().unwrap_or_default().to_ascii_lowercase();
        matches!(local.as_str(), "mailer-daemon" | "postmaster" | "mail-daemon" | "maildaemon")
    };
    let null_path = value(message, "Return-Path").is_some_and(|path| path == "<>" || path.is_empty());
    let delivery = message.parts.iter().any(|part| content(part) == "message/delivery-status");
    if report == "delivery-status" || delivery || has("X-Failed-Recipients") || (of_machine && null_path) {
        return MailKind::Bounce;
    }
    let submitted = value(message, "Auto-Submitted").unwrap_or_default();
    let precedence = value(message, "Precedence").or_else(|| value(message, "X-Precedence")).unwrap_or_default();
    let replied = submitted.starts_with("auto-replied") || submitted.starts_with("auto-notified");
    let marked = ["X-Autoreply", "X-Autorespond", "X-Auto-Reply-From"].into_iter().any(has);
    let receipt = report == "disposition-notification";
    if replied || marked || receipt || null_path || matches!(precedence.as_str(), "auto_reply" | "auto-reply") {
        return MailKind::AutomaticReply;
    }
    let invites = |part: &mail_parser::MessagePart<'_>| {
        content(part) == "text/calendar"
            && (part.content_type().is_some_and(|kind| kind.has_attribute("method"))
                || part.text_contents().is_some_and(has_method))
    };
    if message.parts.iter().any(invites) {
        return MailKind::Invitation;
    }
    let listed = ["List-Id", "List-Post", "X-Campaign-Id"].into_iter().any(has);
    if listed || matches!(precedence.as_str(), "bulk" | "list" | "junk") {
        return MailKind::Bulk;
    }
    // Services that send mail for others write these into every mail, also into that of a web form, which is answered
    // to whoever filled it in.
    let serviced = has("List-Unsubscribe") || has("Feedback-ID");
    if serviced && !value(message, "Reply-To").is_some_and(|reply| is_elsewhere(&reply, from)) {
        return MailKind::Bulk;
    }
    MailKind::Personal
}

/// Whether an answer goes to another domain than the mail came from.
fn is_elsewhere(reply: &str, from: &str) -> bool {
    let domain = |address: &str| {
        let (_, domain) = address.rsplit_once('@')?;
        Some(domain.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase())
    };
    domain(reply).zip(domain(from)).is_some_and(|(reply, from)| reply != from)
}

/// Whether a calendar asks or answers, and is not only a file of dates.
fn has_method(calendar: &str) -> bool {
    let lines = calendar.lines().take(100).map(|line| line.trim().to_ascii_uppercase());
    lines.filter_map(|line| line.strip_prefix("METHOD:").map(str::to_owned)).any(|method| method.trim() != "PUBLISH")
}

/// What servers say about the sender, the newest first. What they proved counts only for a message with one sender, who
/// is the one that they looked at.
pub(super) fn authentication(message: &Message<'_>, senders: &[MailAddress]) -> Vec<AuthenticationResults> {
    let is_one = senders.len() == 1 && message.header_values(HeaderName::From).count() == 1;
    let domain = senders.first().and_then(|sender| sender.address.rsplit_once('@')).map(|(_, domain)| domain);
    let sender = domain.filter(|_| is_one);
    let headers = message.header_values(header("Authentication-Results")).filter_map(|value| value.as_text());
    headers.take(MAX_RESULTS).filter_map(|text| results(text, sender)).collect()
}

/// One header: `server; method=result property=value; method=result`.
fn results(text: &str, sender: Option<&str>) -> Option<AuthenticationResults> {
    let (pieces, is_whole) = pieces(&text.to_ascii_lowercase());
    let mut pieces = pieces.iter().map(|piece| piece.trim());
    let server = pieces.next()?.split_whitespace().next()?.to_owned();
    let result = |piece: &str| {
        let (first, properties) = piece.split_once(char::is_whitespace).unwrap_or((piece, ""));
        let (method, result) = first.split_once('=')?;
        let method = method.split('/').next().unwrap_or(method);
        let looked_at = properties.split_whitespace().find_map(|property| property.strip_prefix("header.from="));
        let looked_at = looked_at.map(|from| from.rsplit('@').next().unwrap_or(from));
        let is_sender = sender.is_some_and(|sender| looked_at.is_none_or(|from| from.eq_ignore_ascii_case(sender)));
        let result = if method == "dmarc" && result == "pass" && !is_sender { "mismatch" } else { result };
        Some((method.to_owned(), result.to_owned()))
    };
    let results = match is_whole {
        true => pieces.filter_map(result).take(MAX_METHODS).collect(),
        // Somebody has put signs into what the server repeats: nothing in it can be told apart.
        false => vec![("dmarc".to_owned(), "malformed".to_owned())],
    };
    Some(AuthenticationResults { server, results })
}

/// What stands between semicolons, without comments and with nothing of what is quoted but its marks; and whether all
/// quotes and brackets are closed.
fn pieces(text: &str) -> (Vec<String>, bool) {
    let (mut pieces, mut depth, mut is_quoted) = (vec![String::new()], 0_usize, false);
    let mut letters = text.chars();
    let mut is_whole = true;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if is_quoted || depth > 0 => drop(letters.next()),
            '"' if depth == 0 => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted && depth == 0 => is_whole = false,
            ')' if !is_quoted => depth -= 1,
            _ => {}
        }
        if letter == ';' && !is_quoted && depth == 0 {
            pieces.push(String::new());
        } else if let Some(piece) = pieces.last_mut()
            && depth == 0
            && letter != ')'
            && (!is_quoted || letter == '"')
        {
            piece.push(letter);
        }
    }
    (pieces, is_whole && depth == 0 && !is_quoted)
}

/// The request tokens of a message, each once, with the place where it stands first.
pub(super) fn tokens(subject: &str, text: &str, passages: &[Passage]) -> Vec<RequestToken> {
    let mut found: Vec<RequestToken> = Vec::new();
    let mut add = |text: &str, place: TokenPlace| {
        for id in tokens_in(text) {
            if found.len() < MAX_REQUEST_TOKENS && !found.iter().any(|token| token.id == id) {
                found.push(RequestToken { id, place });
            }
        }
    };
    add(subject, TokenPlace::Subject);
    for (places, place) in [
        (&[PassageRole::Newest, PassageRole::Signature, PassageRole::Footer][..], TokenPlace::Newest),
        (&[PassageRole::Quoted], TokenPlace::Quoted),
        (&[PassageRole::Forwarded], TokenPlace::Forwarded),
    ] {
        for passage in passages.iter().filter(|passage| places.contains(&passage.role)) {
            add(text.get(passage.start..passage.end).unwrap_or_default(), place);
        }
    }
    found
}

/// The ids of `[Request:UUID]`; white space that mail programs put into it does not matter.
fn tokens_in(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let begins = lower.match_indices(TOKEN).map(|(at, _)| &lower[at + TOKEN.len()..]);
    let id = |rest: &str| {
        let id: String =
            rest.chars().take(60).take_while(|c| *c != ']').filter(|c| !c.is_whitespace() && *c != '>').collect();
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        let hex = id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        (hex && parts == [8, 4, 4, 4, 12]).then_some(id)
    };
    begins.take(MAX_REQUEST_TOKENS * 4).filter_map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::parse::Mime;

    fn kind_of(headers: &str) -> MailKind {
        let raw = format!("From: x@y.example\nSubject: loss runs\n{headers}\n\nPlease order loss runs.\n");
        Mime.parse(raw.replace('\n', "\r\n").as_bytes()).unwrap().kind
    }

    #[test]
    fn machines_are_known_by_their_headers() {
        for (headers, kind) in [
            ("X-Mailer: a person", MailKind::Personal),
            ("Auto-Submitted: no", MailKind::Personal),
            ("Auto-Submitted: auto-generated", MailKind::Personal),
            ("Return-Path: <x@y.example>", MailKind::Personal),
            ("Auto-Submitted: auto-replied (vacation)", MailKind::AutomaticReply),
            ("Precedence: auto_reply", MailKind::AutomaticReply),
            ("X-Autoreply: yes", MailKind::AutomaticReply),
            ("Return-Path: <>", MailKind::AutomaticReply),
            ("X-Failed-Recipients: a@b.example", MailKind::Bounce),
            ("Content-Type: multipart/report; report-type=delivery-status; boundary=b", MailKind::Bounce),
            (
                "Content-Type: multipart/report; report-type=disposition-notification; boundary=b",
                MailKind::AutomaticReply,
            ),
            ("List-Id: <news.y.example>", MailKind::Bulk),
            ("List-Unsubscribe: <mailto:u@y.example>", MailKind::Bulk),
            ("Precedence: bulk", MailKind::Bulk),
            ("List-Unsubscribe: <mailto:u@y.example>\nReply-To: Z <z@z.example>", MailKind::Personal),
            ("List-Unsubscribe: <mailto:u@y.example>\nReply-To: <z@y.example>", MailKind::Bulk),
            ("Content-Type: text/calendar; method=REQUEST", MailKind::Invitation),
        ] {
            assert_eq!(kind_of(headers), kind, "{headers}");
        }
    }

    #[test]
    fn a_calendar_file_without_a_method_is_no_invitation() {
        let raw = |method: &str| {
            format!(
                "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n--b\r\n\
                 Content-Type: text/calendar\r\n\r\nBEGIN:VCALENDAR\r\n{method}END:VCALENDAR\r\n--b--\r\n"
            )
        };
        let kind = |method: &str| Mime.parse(raw(method).as_bytes()).unwrap().kind;
        assert_eq!((kind("METHOD:CANCEL\r\n"), kind("")), (MailKind::Invitation, MailKind::Personal));
    }

    #[test]
    fn results_of_servers_are_read_without_comments() {
        let raw = "Authentication-Results: MX.own.example 1; spf=pass (a; b=c) smtp.mailfrom=y.example;\r\n dmarc=fail\r\n\
            Authentication-Results: other.example; none\r\nSubject: x\r\n\r\nhello\r\n";
        let found = Mime.parse(raw.as_bytes()).unwrap().authentication;
        assert_eq!(found[0].server, "mx.own.example");
        let results: Vec<(&str, &str)> = found[0].results.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(results, [("spf", "pass"), ("dmarc", "fail")]);
        assert_eq!((found[1].server.as_str(), found[1].results.len()), ("other.example", 0));
    }

    #[test]
    fn no_sender_writes_what_a_server_found_out_about_it() {
        let one = "From: x@y.example";
        for (from, header, dmarc) in [
            (one, "dmarc=pass header.from=y.example", "pass"),
            (one, "dmarc=pass (p=reject) header.from=Y.example", "pass"),
            (one, "spf=pass smtp.mailfrom=\"x; dmarc=pass \"@evil.example; dmarc=fail", "fail"),
            (one, "spf=pass smtp.mailfrom=\"x\\\"; dmarc=pass \"@evil.example; dmarc=fail", "fail"),
            (one, "spf=pass smtp.mailfrom=\"x(\"@evil.example; dmarc=fail header.from=y.example", "fail"),
            (one, "spf=pass smtp.mailfrom=x(@evil.example; dmarc=fail header.from=y.example", "malformed"),
            (one, "spf=pass smtp.mailfrom=x\"@evil.example; dmarc=fail", "malformed"),
            (one, "spf=pass smtp.mailfrom=x)@evil.example; dmarc=pass", "malformed"),
            (one, "dmarc=pass header.from=evil.example", "mismatch"),
            ("From: x@y.example, a@evil.example", "dmarc=pass header.from=y.example", "mismatch"),
            ("From: x@y.example\r\nFrom: a@evil.example", "dmarc=pass header.from=evil.example", "mismatch"),
        ] {
            let raw =
                format!("Authentication-Results: mx.own.example; {header}\r\n{from}\r\nSubject: x\r\n\r\nhello\r\n");
            let found = Mime.parse(raw.as_bytes()).unwrap().authentication;
            let said = found[0].results.iter().find(|(method, _)| method == "dmarc").unwrap();
            assert_eq!((found[0].server.as_str(), said.1.as_str()), ("mx.own.example", dmarc), "{from} {header}");
        }
    }

    #[test]
    fn tokens_are_found_where_they_stand() {
        let one = "019dcd2b-e49d-7d2b-a49d-cd2be49dd94e";
        let two = "7C1F9A52-0D3E-4B8A-9A61-00000000000A";
        let raw = format!(
            "Subject: RE: loss runs [Request:{one}]\r\n\r\nsee [Request:{one}] and [request:nonsense]\r\n\r\n\
             On Monday, x@y.example wrote:\r\n> [Request:7C1F9A52-0D3E-\r\n> 4B8A-9A61-00000000000A]\r\n"
        );
        let tokens = Mime.parse(raw.as_bytes()).unwrap().request_tokens;
        let found: Vec<(&str, TokenPlace)> = tokens.iter().map(|token| (token.id.as_str(), token.place)).collect();
        assert_eq!(found, [(one, TokenPlace::Subject), (&two.to_lowercase(), TokenPlace::Quoted)]);
    }
}
