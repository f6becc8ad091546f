//! Server-sent events: bytes in, events out, wherever the bytes are cut.
//!
//! Follows <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>, except that
//! ids and retry times are ignored and that an event whose last empty line is missing still counts: servers forget it.
//! The bytes of an event with one line of data are handed on where they lie, without a copy.

use std::ops::Range;

use kybern_core::json::MAX_VALUES;
use kybern_core::model::{ModelFailure, ModelFailureKind};
use memchr::memchr2;

/// The most bytes of one event.
pub const MAX_EVENT_BYTES: usize = 4 << 20;

/// Who takes the events: the name, empty when there is none, and the data.
pub type Sink<'a> = dyn FnMut(&str, &[u8]) -> Result<(), ModelFailure> + 'a;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Takes a stream apart.
#[derive(Default)]
pub struct SseParser {
    /// What was not handed on yet.
    buffer: Vec<u8>,
    /// Where the current line begins.
    line: usize,
    /// Up to where the current line was searched for its end.
    searched: usize,
    /// Whether the first bytes were looked at for a byte order mark.
    begun: bool,
    /// Whether the last line ended with a carriage return, so that a line feed belongs to it.
    after_return: bool,
    event: String,
    data: EventData,
}

/// The data of the current event.
#[derive(Default)]
enum EventData {
    #[default]
    None,
    /// One line, in the buffer.
    Line(Range<usize>),
    /// Several lines, joined.
    Lines(Vec<u8>),
}

impl SseParser {
    /// Takes more bytes, and gives each event that is complete to `sink`: its name, empty when it has none, and its
    /// data.
    ///
    /// # Errors
    /// What `sink` returns, at once; `TooLarge` for an event of more than [`MAX_EVENT_BYTES`].
    pub fn feed(&mut self, bytes: &[u8], sink: &mut Sink<'_>) -> Result<(), ModelFailure> {
        self.buffer.extend_from_slice(bytes);
        if !self.begun {
            if self.buffer.len() < BOM.len() && BOM.starts_with(&self.buffer) {
                return Ok(());
            }
            self.begun = true;
            if self.buffer.starts_with(BOM) {
                (self.line, self.searched) = (BOM.len(), BOM.len());
            }
        }
        while let Some(end) = self.next_line() {
            let line = self.line..end;
            (self.line, self.searched) = (end + 1, end + 1);
            self.take_line(line, sink)?;
        }
        self.compact();
        if self.buffer.len() > MAX_EVENT_BYTES || self.data.len() > MAX_EVENT_BYTES {
            let message = format!("an event of the stream is larger than {MAX_EVENT_BYTES} bytes");
            return Err(ModelFailure::new(ModelFailureKind::TooLarge, message));
        }
        Ok(())
    }

    /// Says that nothing follows, and gives the event that was not closed by an empty line, if there is one.
    ///
    /// # Errors
    /// What `sink` returns.
    pub fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), ModelFailure> {
        if self.line < self.buffer.len() {
            let line = self.line..self.buffer.len();
            self.line = self.buffer.len();
            self.take_line(line, sink)?;
        }
        let ended = self.dispatch(sink);
        *self = Self::default();
        ended
    }

    /// Where the current line ends; `None` when its end has not come.
    fn next_line(&mut self) -> Option<usize> {
        if self.after_return
            && let Some(first) = self.buffer.get(self.line)
        {
            self.after_return = false;
            if *first == b'\n' {
                self.line += 1;
                self.searched = self.line;
            }
        }
        let rest = self.buffer.get(self.searched..)?;
        let Some(found) = memchr2(b'\n', b'\r', rest) else {
            self.searched = self.buffer.len();
            return None;
        };
        self.after_return = rest.get(found) == Some(&b'\r');
        Some(self.searched + found)
    }

    fn take_line(&mut self, line: Range<usize>, sink: &mut Sink<'_>) -> Result<(), ModelFailure> {
        let bytes = self.buffer.get(line.clone()).unwrap_or_default();
        if bytes.is_empty() {
            return self.dispatch(sink);
        }
        if let Some(skip) = after_field(bytes, b"data") {
            self.data.add(&self.buffer, line.start + skip..line.end);
        } else if let Some(skip) = after_field(bytes, b"event") {
            let name = bytes.get(skip..).unwrap_or_default();
            self.event = String::from_utf8_lossy(name).into_owned();
        }
        // Everything else is a comment, which keeps the connection alive, or a field that does not matter here.
        Ok(())
    }

    fn dispatch(&mut self, sink: &mut Sink<'_>) -> Result<(), ModelFailure> {
        let data = std::mem::take(&mut self.data);
        let data = match &data {
            EventData::None => None,
            EventData::Line(range) => Some(self.buffer.get(range.clone()).unwrap_or_default()),
            EventData::Lines(lines) => Some(lines.as_slice()),
        };
        let given = data.map_or(Ok(()), |data| {
            // A shorter one cannot hold too much.
            if data.len() > MAX_VALUES {
                super::bounded(data)?;
            }
            sink(&self.event, data)
        });
        self.event.clear();
        given
    }

    /// Forgets what was handed on.
    fn compact(&mut self) {
        let keep = match &self.data {
            EventData::Line(range) => range.start.min(self.line),
            EventData::None | EventData::Lines(_) => self.line,
        };
        if keep == 0 {
            return;
        }
        self.buffer.drain(..keep);
        self.line -= keep;
        self.searched -= keep;
        if let EventData::Line(range) = &mut self.data {
            *range = range.start - keep..range.end - keep;
        }
    }
}

impl EventData {
    fn add(&mut self, buffer: &[u8], line: Range<usize>) {
        let more = buffer.get(line.clone()).unwrap_or_default();
        match self {
            Self::None => *self = Self::Line(line),
            Self::Line(first) => {
                let mut lines = buffer.get(first.clone()).unwrap_or_default().to_vec();
                lines.push(b'\n');
                lines.extend_from_slice(more);
                *self = Self::Lines(lines);
            }
            Self::Lines(lines) => {
                lines.push(b'\n');
                lines.extend_from_slice(more);
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Line(range) => range.len(),
            Self::Lines(lines) => lines.len(),
        }
    }
}

/// Where the value begins, when the line is of that field.
fn after_field(line: &[u8], field: &[u8]) -> Option<usize> {
    let rest = line.strip_prefix(field)?;
    match rest {
        [] => Some(line.len()),
        [b':', b' ', ..] => Some(field.len() + 2),
        [b':', ..] => Some(field.len() + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        let mut sink = |event: &str, data: &[u8]| {
            events.push((event.to_owned(), String::from_utf8(data.to_vec()).unwrap()));
            Ok(())
        };
        for chunk in chunks {
            parser.feed(chunk, &mut sink).unwrap();
        }
        parser.end(&mut sink).unwrap();
        events
    }

    fn event(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    const ODD: &[u8] =
        "\u{feff}: hello\r\n\r\ndata: a\r\ndata:b\r\n\r\nevent: x\rdata: é→𝄞\r\rid: 7\nretry: 5\ndata\n\n\
        event: lonely\n\ndata:  two spaces\nnonsense\n\ndata: last"
            .as_bytes();

    fn odd() -> Vec<(String, String)> {
        vec![event("", "a\nb"), event("x", "é→𝄞"), event("", ""), event("", " two spaces"), event("", "last")]
    }

    #[test]
    fn every_line_end_comments_and_joined_data_are_understood() {
        assert_eq!(parse(&[ODD]), odd());
    }

    #[test]
    fn it_does_not_matter_where_the_bytes_are_cut() {
        for cut in 0..=ODD.len() {
            assert_eq!(parse(&[&ODD[..cut], &ODD[cut..]]), odd(), "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = ODD.chunks(1).collect();
        assert_eq!(parse(&bytes), odd());
    }

    #[test]
    fn an_endless_line_is_too_large() {
        let mut parser = SseParser::default();
        let block = vec![b'x'; 1 << 20];
        let fed = (0..8).find_map(|_| parser.feed(&block, &mut |_, _| Ok(())).err());
        assert_eq!(fed.unwrap().kind, ModelFailureKind::TooLarge);
        let mut parser = SseParser::default();
        let line = [b"data: ".as_slice(), &block, b"\n"].concat();
        let fed = (0..8).find_map(|_| parser.feed(&line, &mut |_, _| Ok(())).err());
        assert_eq!(fed.unwrap().kind, ModelFailureKind::TooLarge);
    }

    #[test]
    fn comments_alone_take_no_room() {
        let mut parser = SseParser::default();
        for _ in 0..100_000 {
            parser.feed(b": keep-alive\n\n", &mut |_, _| Ok(())).unwrap();
        }
        assert!(parser.buffer.is_empty());
    }
}
