//! Multiparts without a part, and headers that a boundary ends and no blank line: the message's own, that of a part, or
//! none at all where two boundaries follow each other. The parser takes such a boundary for a line of the header and
//! loses what comes after it, so blank lines, and where it is missing the first boundary, are put between. Where the parser
//! sees no header or no boundary in the same place, they stay in the file: only a message that is broken in more than one
//! way has such a place.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

/// Boundaries of one message that are looked at.
const MAX_BOUNDARIES: usize = 10_000;

/// Bytes of a boundary that a line may go on behind, and different lengths of such.
const MAX_LENGTH: usize = 100;
const MAX_LENGTHS: usize = 8;

/// The message with an empty part wherever there is none.
pub(super) fn filled(raw: &[u8]) -> Cow<'_, [u8]> {
    let mut place = LineState { in_header: true, ..LineState::default() };
    let mut declared: HashSet<&[u8]> = HashSet::new();
    let mut begun: HashSet<&[u8]> = HashSet::new();
    let mut lengths: BTreeSet<usize> = BTreeSet::new();
    let mut filled: Vec<u8> = Vec::new();
    let (mut at, mut from) = (0, 0);
    // What the type of this header declares: of two types the last one counts.
    let mut new = None;
    for line in raw.split_inclusive(|byte| *byte == b'\n') {
        let mark = line.strip_prefix(b"--").map(<[u8]>::trim_ascii_end);
        let is_declared = |mark: &[u8]| declared.contains(mark) || new == Some(mark);
        let begins = mark.is_some_and(is_declared);
        let ended = mark.filter(|_| !begins).and_then(|mark| mark.strip_suffix(b"--"));
        let ended = ended.filter(|ended| is_declared(ended));
        if begins || ended.is_some() || line.trim_ascii().is_empty() {
            let new = new.take().filter(|_| declared.len() < MAX_BOUNDARIES);
            let length = new.map(<[u8]>::len).filter(|length| *length <= MAX_LENGTH && lengths.len() < MAX_LENGTHS);
            lengths.extend(length);
            declared.extend(new);
        }
        // The parser takes a line that goes on behind the boundary for one too: nothing is put there.
        let loosely = mark.filter(|_| !begins && ended.is_none()).and_then(|mark| {
            let mut heads = lengths.iter().filter_map(|length| mark.get(..*length));
            heads.find(|head| declared.contains(head))
        });
        if let Some(loosely) = loosely {
            begun.insert(loosely);
            place = LineState { in_header: true, enclosed: true, ..LineState::default() };
            at += line.len();
            continue;
        }
        if begins || ended.is_some() {
            let lacks_begin = ended.filter(|ended| !begun.contains(ended));
            let lacks_blank_line = place.lacks_blank_line();
            if lacks_blank_line || lacks_begin.is_some() {
                filled.extend_from_slice(&raw[from..at]);
                from = at;
                if lacks_blank_line && lacks_begin.is_some() {
                    filled.extend_from_slice(b"\r\n");
                }
                for part in lacks_begin.iter().flat_map(|boundary| [b"--".as_slice(), boundary, b"\r\n"]) {
                    filled.extend_from_slice(part);
                }
                filled.extend_from_slice(b"\r\n\r\n");
            }
            begun.extend(mark.filter(|_| begins).into_iter().chain(ended));
            place = LineState { in_header: begins, ..LineState::default() };
        } else {
            let parted = place.parted;
            let is_other = !line.starts_with(b" ") && !line.starts_with(b"\t") && value_of_type(line).is_some();
            let found = place.header_line(line).then(|| boundary(line, parted)).flatten();
            new = found.or(new.filter(|_| !is_other));
        }
        at += line.len();
    }
    if filled.is_empty() {
        return Cow::Borrowed(raw);
    }
    filled.extend_from_slice(&raw[from..]);
    Cow::Owned(filled)
}

/// Where a line stands.
#[derive(Default)]
struct LineState {
    in_header: bool,
    /// Whether the field that goes on here is that of the type, and nothing of its value has come.
    of_type: bool,
    /// Whether the field that goes on here says that it is a multipart.
    of_multipart: bool,
    /// Whether its last line has ended a parameter, so that the next begins one.
    parted: bool,
    /// Whether the header is that of an enclosed message, whose own header follows the blank line.
    of_message: bool,
    /// Whether it is the header of an enclosed message, which stays as it was sent.
    enclosed: bool,
}

impl LineState {
    /// Whether a boundary here would end a header that no blank line has ended.
    const fn lacks_blank_line(&self) -> bool {
        self.in_header && !self.of_message && !self.enclosed
    }

    /// Goes on by a line; whether that is one of a field that declares a multipart.
    fn header_line(&mut self, line: &[u8]) -> bool {
        if !self.in_header {
            return false;
        }
        if line.trim_ascii().is_empty() {
            *self = Self { in_header: self.of_message, enclosed: self.of_message, ..Self::default() };
            return false;
        }
        let goes_on = line.starts_with(b" ") || line.starts_with(b"\t");
        let value = match goes_on {
            true => self.of_type.then_some(line),
            false => value_of_type(line),
        };
        let value = value.map(<[u8]>::trim_ascii_start);
        // `multipart/ boundary=b` says of what kind it is no more than a text does, and is read as one.
        let begins = |value: &[u8]| {
            value.get(..MULTIPART.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(MULTIPART))
                && value.get(MULTIPART.len()).is_some_and(u8::is_ascii_alphanumeric)
        };
        self.of_message |= value.is_some_and(is_message);
        self.of_type = value.is_some_and(<[u8]>::is_empty);
        self.parted = line.trim_ascii_end().ends_with(b";");
        self.of_multipart = (goes_on && self.of_multipart) || value.is_some_and(begins);
        self.of_multipart
    }
}

const MULTIPART: &[u8] = b"multipart/";
const MESSAGE: &[u8] = b"message/rfc822";

/// Whether a type is that of an enclosed message: `umessage/rfc822` and `message/rfc822-x` are files.
fn is_message(value: &[u8]) -> bool {
    let begins = value.get(..MESSAGE.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(MESSAGE));
    // What may stand in the name of a type, by RFC 2045.
    let goes_on = |byte: &u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(byte);
    begins && !value.get(MESSAGE.len()).is_some_and(goes_on)
}

/// What a line says of the type, when it is that field.
fn value_of_type(line: &[u8]) -> Option<&[u8]> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = line.split_at_checked(colon)?;
    name.trim_ascii().eq_ignore_ascii_case(b"content-type").then(|| value.get(1..)).flatten()
}

/// The boundary that a line declares; `parted` says that the line before it has ended a parameter.
fn boundary(line: &[u8], parted: bool) -> Option<&[u8]> {
    const NAME: &[u8] = b"boundary=";
    let at = line.windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME))?;
    // `multipart/mixed boundary=b` and `multipart/boundary=b` are types and declare none.
    line[..at].trim_ascii_end().last().map_or(parted, |before| *before == b';').then_some(())?;
    let value = &line[at + NAME.len()..];
    let value = match value.strip_prefix(b"\"") {
        Some(quoted) => quoted.split(|byte| *byte == b'"').next(),
        // Words behind it are part of it for one reader and not for another.
        None => {
            value.split(|byte| *byte == b';').next().map(<[u8]>::trim_ascii_end).filter(|value| !value.contains(&b' '))
        }
    };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(byte);
    value.filter(|value| !value.is_empty() && value.iter().all(is_plain) && !value.ends_with(b" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> String {
        String::from_utf8(filled(raw.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn a_multipart_that_only_ends_gets_a_part() {
        let head = "Content-Type: multipart/mixed;\r\n boundary=\"b\"\r\n\r\n";
        assert_eq!(text(&format!("{head}--b--\r\nrest")), format!("{head}--b\r\n\r\n\r\n--b--\r\nrest"));
        let folded = "content-type :\r\n Multipart/mixed;\r\n boundary=b\r\n\r\n";
        assert_eq!(text(&format!("{folded}--b--\r\n")), format!("{folded}--b\r\n\r\n\r\n--b--\r\n"));
        let twice = "Content-Type: text/csv\nContent-Type: multipart/mixed; boundary=b\n\n";
        assert_eq!(text(&format!("{twice}--b--\n")), format!("{twice}--b\r\n\r\n\r\n--b--\n"));
        let inside = "Content-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=b\n\n";
        assert_eq!(text(&format!("{inside}--b--\n")), format!("{inside}--b\r\n\r\n\r\n--b--\n"));
    }

    #[test]
    fn boundaries_that_follow_each_other_are_set_apart() {
        let head = "Content-Type: multipart/mixed; boundary=b\n\n";
        assert_eq!(text(&format!("{head}--b\n--b\n\nx\n--b--\n")), format!("{head}--b\n\r\n\r\n--b\n\nx\n--b--\n"));
    }

    #[test]
    fn a_header_that_a_boundary_ends_gets_its_blank_line() {
        let head = "Content-Type: multipart/mixed; boundary=b\n";
        for header in [head.to_owned(), format!("{head}\n--b\nContent-Type: text/csv;\n name=a.csv\nx\n")] {
            let found = text(&format!("{header}--b\n\nx\n--b--\n"));
            assert_eq!(found, format!("{header}\r\n\r\n--b\n\nx\n--b--\n"));
        }
        assert_eq!(text(&format!("{head}--b--\n")), format!("{head}\r\n--b\r\n\r\n\r\n--b--\n"));
    }

    #[test]
    fn every_other_message_stays_as_it_is() {
        for raw in [
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--\n",
            "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nSubject: x\n--b--\n",
            "Content-Type: multipart/ boundary=b\n\n--b--\n",
            "Content-Type: multipart/mixed boundary=b\n\n--b--\n",
            "Content-Type: multipart/mixed\n boundary=b\n\n--b--\n",
            "Content-Type: multipart/mixed; boundary=b a\n\n--b--\n",
            "Content-Type: multipart/mixed; boundary=b--\n\n--b--\n\nx\n--b----\n",
            "Content-Type:boundary=b\n\n--b--\n",
            "Content-Type:boundary=\"b\"multipart/\n--b--",
            "Content-Type:multipart/boundary=\"b\"\n--b--",
            "Content-Type:multipart/t;boundary=b\nContent-Type:a\n--b--",
            "Content-Type:multipart/t;boundary=b\n--\nContent-Type:a\n--b--",
            "Content-Type: multipart/mixed; boundary=b\nContent-Type: text/csv\n\n--b--\n",
            "Content-Type:multipart/d;boundary=b\n\n--bContent-Type:multipart;boundary=c\n\n--c\n--b--",
            "Content-Type:message/rfc822-\n\nx\nContent-Type:multipart/r;boundary=b\n--b--",
            "Content-Type:umessage/rfc822\n\nx\nContent-Type:multipart/m;boundary=b\n--b--",
            "Subject: multipart/mixed; boundary=b\n\n--b--\n",
            "Subject: x\n\nContent-Type: multipart/mixed; boundary=b\n\n--b--\n",
            "Subject: x\n\n--b--\n",
            "",
        ] {
            assert!(matches!(filled(raw.as_bytes()), Cow::Borrowed(_)), "{raw:?}");
        }
    }
}
