//! What stands under a name in a text: `password=…`, `"apiKey": "…"` (also inside a string), `token is …`.

use super::bytes::{at, before, run, run_back, slice};
use super::kind::{Kind, MARKER};
use super::names::NameKind;

/// The most spaces between a name, its sign and its value.
const SPACES: usize = 8;
/// The most backslashes before a quote: a string in a string in a string.
const ESCAPES: usize = 16;
/// The longest telephone number or date, and how much of a parameter is looked at.
const SHORT: usize = 64;
/// How far is looked for the next name behind a separator.
const NEXT_NAME: usize = 64;

/// Words between a name and its value in a sentence.
const FILLERS: [&str; 18] = [
    "is", "was", "provided", "given", "supplied", "used", "sent", "received", "value", "equals", "as", "with", "reads",
    "being", "named", "called", "entered", "set",
];

/// What stands behind a name and a colon in a sentence about it, and is no value.
const WORDS: &[&str] = crate::list!(
    "a, absent, already, an, and, any, are, at, be, bytes, cannot, denied, does, empty, error, expected, expired, \
     failed, false, for, from, got, has, have, in, incorrect, invalid, is, it, its, malformed, missing, must, needs, \
     nil, no, none, not, null, object, of, on, one, only, optional, or, read, refused, rejected, required, see, set, \
     should, string, that, the, this, to, too, true, undefined, unknown, unset, unsupported, use, wrong"
);

/// Words with digits that are the names of methods and no secrets.
const METHODS: [&[u8]; 12] = [
    b"base64", b"base32", b"sha1", b"sha256", b"sha512", b"md5", b"utf8", b"utf-8", b"oauth2", b"ed25519", b"aes256",
    b"hs256",
];

/// Behind an escape sequence that colours a terminal; the same place when there is none.
pub(super) fn skip_colour(text: &[u8], from: usize) -> usize {
    if slice(text, from, from + 2) != b"\x1b[" {
        return from;
    }
    let end = run(text, from + 2, 16, |byte| byte.is_ascii_digit() || byte == b';');
    if at(text, end) == b'm' { end + 1 } else { from }
}

/// Behind spaces and colours.
fn skip_gap(text: &[u8], from: usize) -> usize {
    let mut n = from;
    for _ in 0..SPACES {
        let next = match at(text, n) {
            b' ' | b'\t' => n + 1,
            0x1b => skip_colour(text, n),
            _ => n,
        };
        if next == n {
            break;
        }
        n = next;
    }
    n
}

/// How a value follows its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `=`: whatever follows is the value.
    Given,
    /// A colon: unless the value is quoted it may be a sentence.
    Said,
    /// Words: only what looks made up is a value.
    Told,
    /// Nothing at all: only what is quoted, or looks made up for sure.
    Bare,
}

/// Where the value of the name from `begin` to `end` stands.
pub(super) fn value(text: &[u8], begin: usize, end: usize, name: NameKind) -> Option<(usize, usize)> {
    let (closed, is_quoted) = close_name(text, begin, end);
    let after = skip_gap(text, closed);
    let (sign, start) = sign(text, after).filter(|(sign, _)| *sign != Sign::Bare || !is_quoted)?;
    let start = skip_gap(text, start);
    if is_placeholder(text, start) {
        return None;
    }
    if let Some(open) = quote(text, start) {
        let stop = closing(text, open);
        let inside = slice(text, open.end, stop);
        let holds = !is_nothing(inside, name) && (sign == Sign::Given || sign == Sign::Said || inside.len() >= 4);
        let holds = holds && !(sign == Sign::Bare && (is_a_word(inside) || is_id(inside)));
        return holds.then_some((open.end, stop));
    }
    if matches!(at(text, start), b'{' | b'[') && (is_quoted || opens_json(text, start)) {
        let stop = balanced(text, start);
        return (stop > start + 2).then_some((start, stop));
    }
    let stop = bare(text, start, name.kind);
    let inside = slice(text, start, stop);
    let holds = match sign {
        Sign::Given => !is_nothing(inside, name),
        Sign::Said => !is_nothing(inside, name) && !is_a_word(inside),
        Sign::Told => looks_made_up(inside, 5) && !is_nothing(inside, name),
        Sign::Bare => looks_made_up(inside, 12) && !is_id(inside),
    };
    (holds && stop > start).then_some((start, stop))
}

/// Behind the quote, or the bracket, that ends a name, and whether there is a quote.
fn close_name(text: &[u8], begin: usize, end: usize) -> (usize, bool) {
    let quote = run(text, end, ESCAPES, |byte| byte == b'\\');
    let mark = at(text, quote);
    if matches!(mark, b'"' | b'\'' | b'`') && before(text, begin) == mark {
        let next = quote + 1;
        return (if at(text, next) == b']' { next + 1 } else { next }, true);
    }
    (if at(text, end) == b']' { end + 1 } else { end }, false)
}

/// What stands between a name and its value, and where the value begins.
fn sign(text: &[u8], at_sign: usize) -> Option<(Sign, usize)> {
    match (at(text, at_sign), at(text, at_sign + 1)) {
        (b':', b':') => None,
        (b':', b'/') if at(text, at_sign + 2) == b'/' => None,
        (b':' | b'=', b'=') | (b'=', b'>') => Some((Sign::Given, at_sign + 2)),
        (b'=', _) => Some((Sign::Given, at_sign + 1)),
        (b':', _) => Some((Sign::Said, at_sign + 1)),
        _ if before(text, at_sign) == b' ' => Some(told(text, at_sign)),
        _ => None,
    }
}

/// The words between a name and its value, at most three; a colon may end them.
fn told(text: &[u8], from: usize) -> (Sign, usize) {
    let (mut n, mut sign) = (from, Sign::Bare);
    for _ in 0..3 {
        let end = run(text, n, 10, |byte| byte.is_ascii_alphabetic());
        let word = slice(text, n, end);
        if !FILLERS.iter().any(|filler| word.eq_ignore_ascii_case(filler.as_bytes())) {
            break;
        }
        sign = Sign::Told;
        match at(text, end) {
            b':' | b'=' => return (Sign::Said, end + 1),
            b' ' => n = end + 1,
            _ => break,
        }
    }
    (sign, n)
}

/// A quote that opens.
#[derive(Clone, Copy)]
struct OpenQuote {
    mark: u8,
    /// How many backslashes stand before it.
    escapes: usize,
    /// Behind it.
    end: usize,
}

fn quote(text: &[u8], from: usize) -> Option<OpenQuote> {
    let mark_at = run(text, from, ESCAPES, |byte| byte == b'\\');
    let mark = at(text, mark_at);
    matches!(mark, b'"' | b'\'' | b'`').then_some(OpenQuote { mark, escapes: mark_at - from, end: mark_at + 1 })
}

/// Where what a quote opened ends: at the same quote that is escaped no more than it; else at the end of the text.
fn closing(text: &[u8], open: OpenQuote) -> usize {
    let mut n = open.end;
    while n < text.len() {
        n = run(text, n, usize::MAX, |byte| byte != open.mark);
        let slashes = n - run_back(text, n, ESCAPES, |byte| byte == b'\\').max(open.end);
        let closes = if open.escapes == 0 { slashes.is_multiple_of(2) } else { slashes <= open.escapes };
        if closes || n >= text.len() {
            return if open.escapes == 0 { n } else { n - slashes };
        }
        n += 1;
    }
    text.len()
}

/// Whether the bracket at `from` begins an object or a list with a text in it.
fn opens_json(text: &[u8], from: usize) -> bool {
    let first = run(text, from + 1, SPACES, |byte| byte.is_ascii_whitespace() || byte == b'\\');
    at(text, first) == b'"'
}

/// Behind the bracket that closes the one at `from`; the end of the text when none does.
fn balanced(text: &[u8], from: usize) -> usize {
    let (mut depth, mut n) = (0_u32, from);
    while n < text.len() {
        match at(text, n) {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return n + 1,
            b'}' | b']' => depth -= 1,
            b'"' => n = closing(text, OpenQuote { mark: b'"', escapes: 0, end: n + 1 }),
            _ => {}
        }
        n += 1;
    }
    text.len()
}

/// Where a value without quotes ends.
fn bare(text: &[u8], from: usize, kind: Kind) -> usize {
    if matches!(kind, Kind::Phone | Kind::BirthDate) {
        // What is no number may be long, and hold further names.
        return word(slice(text, 0, from + SHORT), from);
    }
    let end = word(text, from);
    if kind == Kind::Authorization && at(text, end) == b' ' {
        let scheme = slice(text, from, end);
        let many: [&[u8]; 4] = [b"digest", b"oauth", b"aws4-hmac-sha256", b"hawk"];
        if many.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return run(text, end, usize::MAX, |byte| !matches!(byte, b'\n' | b'\r'));
        }
        let one: [&[u8]; 8] = [b"bearer", b"basic", b"token", b"apikey", b"api-key", b"key", b"negotiate", b"hmac"];
        if one.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            // `Bearer <api key>`, `Bearer $KEY`: how it is to be written.
            let is_example = matches!(at(text, end + 1), b'<' | b'$' | b'{' | 0) || at(text, end + 1) == 0xe2;
            return if is_example { from } else { word(text, end + 1) };
        }
    }
    if kind == Kind::Cookie {
        // `a=b; c=d`, as in a header.
        let mut end = end;
        while at(text, end) == b';' && at(text, end + 1) == b' ' && pair_follows(text, end + 2) {
            end = word(text, end + 2);
        }
        return end;
    }
    end
}

/// Where a word of a value ends: at white space, at a separator with another pair behind it, at a bracket that it did
/// not open, or at a quote.
fn word(text: &[u8], from: usize) -> usize {
    let (mut n, mut depth) = (from, 0_u32);
    while n < text.len() {
        match at(text, n) {
            b' ' | b'\t' | b'\n' | b'\r' | 0x1b | b'<' | b'>' | b'|' => return n,
            b';' => return n,
            b'&' | b',' if pair_follows(text, n + 1) => return n,
            b',' if !at(text, n + 1).is_ascii_alphanumeric() => return n,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return n,
            b')' | b']' | b'}' => depth -= 1,
            // `Some("…")`.
            mark @ (b'"' | b'\'' | b'`') if depth > 0 => n = closing(text, OpenQuote { mark, escapes: 0, end: n + 1 }),
            b'\\' if depth > 0 && quote(text, n).is_some() => {
                let Some(open) = quote(text, n) else { return n };
                n = closing(text, open) + open.escapes;
            }
            b'"' | b'\'' | b'`' => return n,
            b'\\' if matches!(at(text, n + 1), b'"' | b'n' | b'r' | b't') => return n,
            _ => {}
        }
        n += 1;
    }
    // A full stop ends the sentence, not the value.
    n.min(text.len())
}

/// Whether another `name=` follows.
fn pair_follows(text: &[u8], from: usize) -> bool {
    let start = run(text, from, 2, |byte| byte == b' ');
    let end = run(text, start, NEXT_NAME, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'"' | b'[' | b']')
    });
    end > start && matches!(at(text, end), b'=' | b':')
}

/// Whether a value says nothing: empty, a placeholder, a marker, a template, or a number that counts.
pub(super) fn is_nothing(value: &[u8], name: NameKind) -> bool {
    let value = value.trim_ascii();
    let covered = value.iter().all(|byte| matches!(byte, b'*' | b'.'))
        || (value.len() >= 3 && value.iter().all(|byte| matches!(byte, b'x' | b'X')));
    let is_number = value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    let counts = matches!(name.kind, Kind::Token | Kind::ApiKey | Kind::Secret | Kind::Credentials | Kind::Cookie);
    let word: [&[u8]; 8] = [b"null", b"none", b"nil", b"true", b"false", b"undefined", b"...", b"-"];
    value.is_empty()
        || covered
        || is_placeholder(value, 0)
        || word.iter().any(|known| value.eq_ignore_ascii_case(known))
        || value.starts_with("…".as_bytes())
        || (is_number && (name.several || (counts && value.len() <= 5)))
        || (name.kind == Kind::Phone && value.iter().filter(|byte| byte.is_ascii_digit()).count() < 6)
        || (name.kind == Kind::BirthDate && !value.iter().any(u8::is_ascii_digit))
}

/// Whether a marker, or a template, stands there instead of a value.
fn is_placeholder(text: &[u8], from: usize) -> bool {
    let starts: [&[u8]; 3] = [MARKER.as_bytes(), b"{{", b"${"];
    starts.iter().any(|start| slice(text, from, from + start.len()) == *start)
}

/// Whether it is a word of a sentence.
fn is_a_word(value: &[u8]) -> bool {
    let end = value.len() - value.iter().rev().take_while(|byte| matches!(byte, b'.' | b',' | b'!' | b':')).count();
    let word = slice(value, 0, end);
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether it has letters and digits, so that it is no word and no number, and is `least` long.
fn looks_made_up(value: &[u8], least: usize) -> bool {
    let mixed = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    value.len() >= least && mixed && !METHODS.iter().any(|method| value.eq_ignore_ascii_case(method))
}

/// Whether it has the shape of a UUID, which names a thing and opens nothing.
fn is_id(value: &[u8]) -> bool {
    let hyphens = [8, 13, 18, 23];
    value.len() >= 36
        && slice(value, 0, 36)
            .iter()
            .enumerate()
            .all(|(n, byte)| if hyphens.contains(&n) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
}

/// Whether a parameter of a URL with that short name carries what a key would: `?key=…`, `&sig=…`.
pub(super) fn parameter(text: &[u8], begin: usize, end: usize) -> Option<(usize, usize)> {
    let in_query = matches!(before(text, begin), b'?' | b'&') && at(text, end) == b'=';
    if !in_query {
        return None;
    }
    let names: [&[u8]; 6] = [b"key", b"sig", b"signature", b"x-amz-signature", b"x-goog-signature", b"code"];
    let name = slice(text, begin, end);
    if !names.iter().any(|known| name.eq_ignore_ascii_case(known)) {
        return None;
    }
    if !looks_made_up(slice(text, end + 1, word(slice(text, 0, end + 1 + SHORT), end + 1)), 16) {
        return None;
    }
    Some((end + 1, word(text, end + 1)))
}
