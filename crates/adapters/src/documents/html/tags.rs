//! HTML taken apart into tags and text, tolerating everything.

/// One piece of a page.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'a> {
    /// Text, with its entities.
    Text(&'a str),
    /// The start of an element; the name is in lower case.
    Open {
        /// Its name.
        name: String,
        /// What stands between its name and the end of the tag.
        attributes: &'a str,
    },
    /// The end of an element.
    Close {
        /// Its name.
        name: String,
    },
}

/// Walks over the pieces. Comments, declarations, and the content of scripts and styles are left out.
pub(super) struct Tags<'a> {
    rest: &'a str,
}

/// Elements whose content is no text to read.
const HIDDEN: [&str; 8] = ["script", "style", "head", "template", "noframes", "svg", "math", "object"];
/// Hidden elements whose content is not markup either.
const RAW: [&str; 2] = ["script", "style"];

impl<'a> Tags<'a> {
    pub(super) const fn new(html: &'a str) -> Self {
        Self { rest: html }
    }

    /// Skips to after the end of a hidden element. `head` ends where `body` begins, too.
    fn skip_hidden(&mut self, name: &str) {
        let raw = RAW.contains(&name);
        loop {
            let Some(at) = self.rest.find('<') else {
                self.rest = "";
                return;
            };
            let tag = &self.rest[at..];
            if starts_with_tag(tag, "</", name) {
                let end = tag.find('>').map_or(tag.len(), |end| end + 1);
                self.rest = &tag[end..];
                return;
            }
            if name == "head" && starts_with_tag(tag, "<", "body") {
                self.rest = tag;
                return;
            }
            self.rest = &tag[1..];
            if !raw {
                for inner in RAW {
                    if starts_with_tag(tag, "<", inner) {
                        self.skip_hidden(inner);
                    }
                }
            }
        }
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let Some(at) = tag_start(self.rest) else {
                return Some(Piece::Text(std::mem::take(&mut self.rest)));
            };
            if at > 0 {
                let (text, rest) = self.rest.split_at(at);
                self.rest = rest;
                return Some(Piece::Text(text));
            }
            if let Some(comment) = self.rest.strip_prefix("<!--") {
                self.rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            let end = tag_end(self.rest);
            let tag = &self.rest[1..end];
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if tag.starts_with(['!', '?']) {
                continue;
            }
            if let Some(name) = tag.strip_prefix('/') {
                return Some(Piece::Close { name: name_of(name) });
            }
            let name = name_of(tag);
            if HIDDEN.contains(&name.as_str()) && !tag.ends_with('/') {
                self.skip_hidden(&name);
                continue;
            }
            let attributes = tag.get(name.len()..).unwrap_or_default();
            return Some(Piece::Open { name, attributes });
        }
    }
}

/// Where the next tag starts: a `<` before a letter, `/`, `!` or `?`.
fn tag_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = text[from..].find('<') {
        let at = from + at;
        match bytes.get(at + 1) {
            Some(next) if next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?') => return Some(at),
            _ => from = at + 1,
        }
    }
    None
}

/// Where the tag at the start ends: its `>` outside quotes. A quote that never closes does not swallow the page.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().take(64 * 1024) {
        match (quote, byte) {
            (None, b'>') => return at,
            (None, b'"' | b'\'') if text.as_bytes().get(at.wrapping_sub(1)) == Some(&b'=') => quote = Some(byte),
            (Some(open), byte) if byte == open => quote = None,
            _ => {}
        }
    }
    text.find('>').unwrap_or(text.len())
}

fn name_of(tag: &str) -> String {
    let end = tag.find(|c: char| c.is_whitespace() || matches!(c, '/' | '>')).unwrap_or(tag.len());
    tag[..end].to_ascii_lowercase()
}

fn starts_with_tag(text: &str, open: &str, name: &str) -> bool {
    let Some(rest) = text.strip_prefix(open) else { return false };
    match rest.as_bytes().get(..name.len()) {
        Some(start) if start.eq_ignore_ascii_case(name.as_bytes()) => {
            !rest.as_bytes().get(name.len()).is_some_and(u8::is_ascii_alphanumeric)
        }
        _ => false,
    }
}
