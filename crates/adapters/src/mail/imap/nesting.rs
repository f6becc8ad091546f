//! Looks at an answer before the library's parser does: that one goes as deep into lists in lists as a server wants,
//! until the stack of the whole process is used up, and makes room for whatever length a server announces.
//!
//! Brackets are counted by line and never given back, so that no pair can hide a deeper one. What a message holds is no
//! line: its length is announced in the line before it. Where the parser might take a line for something else than is
//! taken here, the answer is refused; no server has a reason to write so.

use std::io;

/// Opening brackets of one line. What is asked for here needs three.
const MAX_BRACKETS: u32 = 200;
/// The bytes that tell what a line is.
const HEAD_BYTES: usize = 24;
/// Bytes of a line, without the messages in it. The parser reads a line from its beginning whenever some of it comes, so
/// its work grows with the square of this; the numbers of 190,000 messages have room.
const MAX_LINE: usize = 2 << 20;

/// Where an answer stands.
#[derive(Default)]
pub(super) struct Nesting {
    /// Bytes of a message that are still to come.
    literal: u64,
    line: ReplyLine,
}

#[derive(Default)]
struct ReplyLine {
    head: Vec<u8>,
    /// What came of it, without messages.
    bytes: usize,
    brackets: u32,
    quoted: bool,
    escaped: bool,
    /// A number in braces, and whether they are closed, when it is the last that came.
    length: Option<(u64, bool)>,
    after_return: bool,
}

impl Nesting {
    /// Goes on by some bytes, of which the answer may have `left` altogether.
    ///
    /// # Errors
    /// When it is nested too deep, announces more than it may have, or can be read in two ways.
    pub(super) fn take(&mut self, bytes: &[u8], left: u64) -> io::Result<()> {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            if self.literal > 0 {
                let skipped = usize::try_from(self.literal).unwrap_or(usize::MAX).min(rest.len());
                self.literal -= u64::try_from(skipped).unwrap_or(u64::MAX);
                rest = rest.get(skipped..).unwrap_or_default();
                continue;
            }
            rest = after;
            self.literal = self.line.take(*byte)?;
            if self.literal > left {
                return Err(refused("its answer announces more than it may hold"));
            }
        }
        Ok(())
    }
}

impl ReplyLine {
    /// Goes on by a byte; how many bytes of a message follow it.
    fn take(&mut self, byte: u8) -> io::Result<u64> {
        if byte == b'\n' {
            return self.end();
        }
        self.bytes += 1;
        if self.bytes > MAX_LINE {
            return Err(refused("its answer has a line without an end"));
        }
        self.after_return = byte == b'\r';
        if self.after_return {
            return Ok(0);
        }
        if self.head.len() < HEAD_BYTES {
            self.head.push(byte);
        }
        if self.quoted {
            self.quoted = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return Ok(0);
        }
        self.length = match (byte, self.length) {
            (b'{', _) => Some((0, false)),
            (b'}', Some((length, false))) => Some((length, true)),
            (b'0'..=b'9', Some((length, false))) => {
                Some((length.saturating_mul(10).saturating_add(u64::from(byte - b'0')), false))
            }
            _ => None,
        };
        // Elsewhere than among the attributes of a message a quote is only a quote.
        self.quoted = byte == b'"' && self.is_fetch();
        self.brackets += u32::from(byte == b'(');
        if self.brackets > MAX_BRACKETS {
            return Err(refused("its answer is nested too deep"));
        }
        Ok(0)
    }

    fn end(&mut self) -> io::Result<u64> {
        if self.quoted {
            return Err(refused("its answer has a quoted text over the end of a line"));
        }
        let announced = match self.length {
            Some((length, true)) if self.after_return && self.is_fetch() => Some(length),
            Some((_, true)) => return Err(refused("its answer announces a text where none is expected")),
            _ => None,
        };
        match announced {
            // The line goes on behind the message.
            Some(_) => (self.length, self.after_return) = (None, false),
            None => *self = Self::default(),
        }
        Ok(announced.unwrap_or_default())
    }

    /// Whether it begins like `* 12 FETCH (`.
    fn is_fetch(&self) -> bool {
        let number = self.head.strip_prefix(b"* ").unwrap_or_default();
        let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let word = number.get(digits..).unwrap_or_default();
        digits > 0 && word.get(..8).is_some_and(|word| word.eq_ignore_ascii_case(b" FETCH ("))
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer in one piece, and byte by byte.
    fn take(answer: &str) -> Result<(), String> {
        let whole = Nesting::default().take(answer.as_bytes(), 1_000);
        let mut nesting = Nesting::default();
        let single = answer.as_bytes().chunks(1).try_for_each(|byte| nesting.take(byte, 1_000));
        assert_eq!(whole.as_ref().err().map(ToString::to_string), single.err().map(|error| error.to_string()));
        whole.map_err(|error| error.to_string())
    }

    #[test]
    fn what_servers_say_is_taken() {
        let brackets = "(".repeat(600);
        for answer in [
            "* OK [CAPABILITY IMAP4rev1 LITERAL+] it's 5\" wide (or so)\r\n".to_owned(),
            "* 1 FETCH (UID 7 FLAGS (\\Seen KybernBegun) RFC822.SIZE 30)\r\nA1 OK done\r\n".to_owned(),
            format!("* 1 FETCH (UID 7 BODY[] {{600}}\r\n{brackets} FLAGS (\\Seen))\r\n* 2 FETCH (UID 8)\r\n"),
            format!("* 1 fetch (UID 7 BODY[] \"{brackets}\\\"(\\\\\")\r\n"),
            "* 1 FETCH (UID 7 BODY[] {0}\r\n)\r\n".to_owned(),
            "* LIST (\\HasNoChildren) \"/\" {x}\r\n".to_owned(),
        ] {
            assert_eq!(take(&answer), Ok(()), "{answer}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_waited_for() {
        for begins in ["* 1 FETCH (UID 7 BODY[] \"", "* SEARCH 7 ", "* OK "] {
            assert_eq!(
                Nesting::default().take(format!("{begins}{}", "7".repeat(MAX_LINE - 64)).as_bytes(), 9).ok(),
                Some(())
            );
            let error = Nesting::default().take(format!("{begins}{}", "7".repeat(MAX_LINE)).as_bytes(), 9).unwrap_err();
            assert!(error.to_string().contains("without an end"), "{begins}: {error}");
        }
    }

    #[test]
    fn what_is_nested_without_end_is_refused_however_it_is_hidden() {
        let deep = "(".repeat(201);
        let bracketed = "(\")\"".repeat(201);
        for (answer, why) in [
            (format!("* 1 FETCH (BODYSTRUCTURE {deep}"), "deep"),
            (format!("* 1 FETCH (BODYSTRUCTURE {bracketed}"), "deep"),
            (format!("* OK \"{deep}"), "deep"),
            (format!("* 1 FETCH (BODY[] {{3}}\r\nabc BODYSTRUCTURE {deep}"), "deep"),
            (format!("* OK text {{999}}\r\n* 1 FETCH (BODYSTRUCTURE {deep}"), "none is expected"),
            (format!("* 1 FETCH (FLAGS (\"{{999}}\r\n\" BODYSTRUCTURE {deep}"), "over the end"),
            ("* 1 FETCH (BODY[] {9}\n".to_owned(), "none is expected"),
            ("* 1 FETCH (BODY[] {1001}\r\n".to_owned(), "announces"),
            ("* 1 FETCH (BODY[] {99999999999999999999999}\r\n".to_owned(), "announces"),
        ] {
            assert!(take(&answer).is_err_and(|error| error.contains(why)), "{answer}");
        }
    }
}
