//! A reply of a model that has read what strangers wrote, made safe to show: nothing in it is loaded by itself, and
//! nothing can be clicked that the user or the operator has not written. Otherwise a picture of an address with the
//! conversation in it would send that to whoever put the words there.
//!
//! It works on pieces as they stream, and holds back no more than what is not decided yet; however a text is cut, all
//! pieces together are the same. It does not ask what is code: readers disagree on where code ends, and so everything
//! is treated alike.
//!
//! | in the reply | shown |
//! |---|---|
//! | `![text](url)` | `![text] (picture removed: host)`, no longer a picture |
//! | `[text](url)` | `[text] (host/…)`, no longer a link |
//! | `[name]: url` | `[name] : url`, so no picture or link by name has an address |
//! | `https://host/path`, `www.host` | the host, as code |
//! | `host.example/path` | `host[.]example/path`, no longer a host |
//! | `mailto:…`, `tel:…` | `mailto: …`, no longer a protocol |
//! | `https:\/\/host`, `host&period;example` | `https:\\/\\/host`, `host&amp;period;example`, which stay as they are read |
//! | a tag with attributes, or one that loads or runs something | its `<` is written `&lt;` |

mod bare;

use std::collections::BTreeSet;

use crate::policy::place::host_of;

/// Bytes of an address or the target of a link. A longer one is removed before its end is known.
const MAX_URL: usize = 2_048;
/// Letters of a tag's name.
const MAX_NAME: usize = 32;
/// Letters of a host that are shown.
const MAX_HOST: usize = 100;
/// What readers make a link of without being asked.
const BEGINNINGS: [&str; 4] = ["https://", "http://", "ftp://", "www."];
/// Tags that do something without any attribute.
const ACTIVE: [&str; 15] = [
    "base", "embed", "form", "iframe", "link", "math", "meta", "noscript", "object", "script", "style", "svg",
    "template", "textarea", "title",
];

/// The addresses in a text that somebody trusted wrote.
#[must_use]
pub fn links_in(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mut rest, mut before) = (text, None);
    while let Some(first) = rest.chars().next() {
        let taken = match begins(rest, true) {
            Some(true) => {
                let end = rest.find(ends_address).unwrap_or(rest.len());
                let address = without_marks(&rest[..end]);
                if address.len() <= MAX_URL {
                    found.insert(address.to_owned());
                }
                end.max(first.len_utf8())
            }
            Some(false) | None if first.is_alphanumeric() && bare::may_follow(before) => {
                let word = bare::word(rest, around(true, false, before));
                let address = word.as_ref().and_then(|word| word.address).map(without_marks);
                found.extend(address.filter(|address| address.len() <= MAX_URL).map(str::to_owned));
                word.map_or(first.len_utf8(), |word| word.text.len())
            }
            Some(false) | None => first.len_utf8(),
        };
        before = rest[..taken].chars().next_back();
        rest = rest.get(taken..).unwrap_or_default();
    }
    found
}

/// A whole text made safe, and the addresses that stayed in it.
#[must_use]
pub fn without_links(text: &str, kept: &BTreeSet<String>) -> (String, BTreeSet<String>) {
    let mut filter = LinkFilter::new(kept.clone());
    let mut shown = filter.push(text);
    shown.push_str(&filter.end());
    (shown, filter.stayed)
}

/// Makes a text safe piece by piece.
#[derive(Clone, Debug, Default)]
pub struct LinkFilter {
    kept: BTreeSet<String>,
    stayed: BTreeSet<String>,
    /// What is not decided yet.
    held: String,
    /// Whether the rest of an address that was removed is still to come.
    removing: bool,
    /// The last letter that was decided.
    before: Option<char>,
    /// Whether it ends two strokes, behind which a host may stand.
    is_after_strokes: bool,
    /// Whether the bracket that was opened last begins a picture.
    is_picture: bool,
}

impl LinkFilter {
    /// One that lets these addresses stay.
    #[must_use]
    pub fn new(kept: BTreeSet<String>) -> Self {
        Self { kept, ..Self::default() }
    }

    /// What can be shown when this piece has come.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        self.decide(false)
    }

    /// What is left when nothing more comes.
    pub fn end(&mut self) -> String {
        self.decide(true)
    }

    /// The addresses that have stayed so far.
    #[must_use]
    pub fn stayed(self) -> BTreeSet<String> {
        self.stayed
    }

    fn decide(&mut self, is_end: bool) -> String {
        let text = std::mem::take(&mut self.held);
        let mut shown = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            if self.removing && !ends_address(first) {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            self.removing = false;
            let Some((taken, written)) = self.next(rest, first, is_end) else { break };
            if self.before.is_none() && matches!(first, '(' | ':') {
                // The reply before it, which is shown just before, may end with a bracket.
                shown.push(' ');
            }
            shown.push_str(written.as_deref().unwrap_or(&rest[..taken]));
            self.is_picture = if first == '[' { self.before == Some('!') } else { self.is_picture };
            self.before = rest[..taken].chars().next_back();
            self.is_after_strokes = rest[..taken].ends_with("//");
            rest = &rest[taken..];
        }
        rest.clone_into(&mut self.held);
        shown
    }

    /// How many bytes are decided, and what is written for them where that is something else; `None` when what comes
    /// next decides.
    fn next(&mut self, rest: &str, first: char, is_end: bool) -> Option<(usize, Option<String>)> {
        match first {
            '\\' => escape(rest, is_end),
            '&' => entity(rest, is_end),
            ']' => self.bracket(rest, is_end),
            '<' => tag(rest, is_end),
            ':' if rest.starts_with("://") => Some((3, Some(": //".to_owned()))),
            ':' if !is_end && "://".starts_with(rest) => None,
            'h' | 'H' | 'f' | 'F' | 'w' | 'W' if begins(rest, is_end)? => self.address(rest, is_end),
            '/' if rest.starts_with("//") => Some((2, None)),
            '/' if rest.len() == 1 && !is_end => None,
            _ if first.is_alphanumeric() && (self.is_after_strokes || bare::may_follow(self.before)) => {
                self.bare(rest, is_end)
            }
            other => Some((other.len_utf8(), None)),
        }
    }

    /// A word, which may be a host or a protocol.
    fn bare(&mut self, rest: &str, is_end: bool) -> Option<(usize, Option<String>)> {
        let word = bare::word(rest, around(is_end, self.is_after_strokes, self.before))?;
        match word.address.map(without_marks) {
            Some(address) if self.stays(address) => Some((address.len(), None)),
            _ => Some((word.text.len(), word.broken)),
        }
    }

    fn stays(&mut self, address: &str) -> bool {
        let stays = address.len() <= MAX_URL && self.kept.contains(address);
        if stays {
            self.stayed.insert(address.to_owned());
        }
        stays
    }

    fn address(&mut self, rest: &str, is_end: bool) -> Option<(usize, Option<String>)> {
        let end = match rest.find(ends_address) {
            Some(end) => end,
            None if rest.len() > MAX_URL => {
                self.removing = true;
                rest.len()
            }
            None if is_end => rest.len(),
            None => return None,
        };
        let address = without_marks(&rest[..end]);
        if !self.removing && self.stays(address) {
            return Some((address.len(), None));
        }
        let marks = if self.removing { "" } else { &rest[address.len()..end] };
        // What is longer is the same whether its end has come or not.
        let marks = if end > MAX_URL { "" } else { marks };
        Some((end, Some(format!("{}{marks}", removed(&rest[..end])))))
    }

    /// `]` with what follows it.
    fn bracket(&mut self, rest: &str, is_end: bool) -> Option<(usize, Option<String>)> {
        let written = |text: &str| Some(text.to_owned());
        match rest[1..].chars().next() {
            None => is_end.then_some((1, None)),
            Some(':') => Some((1, written("] "))),
            Some('(') => self.target(rest, is_end),
            Some(_) => Some((1, None)),
        }
    }

    /// `](` with the target of a link, or the address of a picture.
    fn target(&mut self, rest: &str, is_end: bool) -> Option<(usize, Option<String>)> {
        let inner = &rest[2..];
        let broken = Some((2, Some("] (".to_owned())));
        let end = match inner.find([')', '\n', '\r']) {
            Some(end) if end <= MAX_URL && inner[end..].starts_with(')') => end,
            Some(_) => return broken,
            None if is_end || inner.len() > MAX_URL => return broken,
            None => return None,
        };
        let target = &inner[..end];
        if is_local(target) || self.stays(target.trim()) {
            return Some((end + 3, None));
        }
        let place = removed(target);
        let shown = if self.is_picture { format!("picture removed: {place}") } else { place };
        Some((end + 3, Some(format!("] ({shown})"))))
    }
}

/// Whether a text begins with what readers make a link of; `None` when what comes next decides.
fn begins(rest: &str, is_end: bool) -> Option<bool> {
    let bytes = rest.as_bytes();
    let alike = |beginning: &&&str| {
        let length = beginning.len().min(bytes.len());
        bytes[..length].eq_ignore_ascii_case(&beginning.as_bytes()[..length])
    };
    let longest = BEGINNINGS.iter().filter(alike).map(|beginning| beginning.len() <= bytes.len());
    let mut undecided = false;
    for is_whole in longest {
        if is_whole {
            return Some(true);
        }
        undecided = true;
    }
    if undecided && !is_end { None } else { Some(false) }
}

fn around(is_end: bool, is_after_strokes: bool, before: Option<char>) -> bare::WordContext {
    bare::WordContext { is_end, is_after_strokes, is_after_stroke: before == Some('/'), ends_address, most: MAX_URL }
}

fn ends_address(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control() || matches!(letter, '<' | '>' | '"' | '`' | '(' | ')' | '[' | ']')
}

/// An address without the marks of the sentence around it.
fn without_marks(address: &str) -> &str {
    address.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '~', '\''])
}

/// Whether a target is a plain name, which no reader takes for a place elsewhere.
fn is_local(target: &str) -> bool {
    !target.contains([':', '/', '\\', '&', '%', '<', '>', '(', '['])
        && !target.contains(char::is_control)
        && !bare::names_a_host(target)
}

/// What is shown for an address: its host, as code.
fn removed(address: &str) -> String {
    let shown = address.char_indices().take_while(|(at, _)| *at < MAX_URL).map(|(_, letter)| letter);
    let address: String = shown.collect();
    let address = address.trim().trim_start_matches('<');
    let host = match address.trim_start_matches("//") {
        whole if whole.len() == address.len() && address.contains("://") => host_of(address),
        bare => host_of(&format!("http://{bare}")),
    };
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
    let host: String = host.unwrap_or_default().chars().filter(is_plain).take(MAX_HOST).collect();
    // What is code for one reader is none for another, who must not take it for a host.
    format!("`{}/…`", host.replace('.', "[.]"))
}

/// `\` with what follows it. Readers of Markdown look for links when they have taken escapes away: before a sign of an
/// address it is doubled, so that it stays.
fn escape(rest: &str, is_end: bool) -> Option<(usize, Option<String>)> {
    match rest[1..].chars().next() {
        None if !is_end => None,
        Some('.' | ':' | '/' | '\\') => Some((1, Some("\\\\".to_owned()))),
        _ => Some((1, None)),
    }
}

/// `&` with what follows it, which may stand for a sign of an address.
fn entity(rest: &str, is_end: bool) -> Option<(usize, Option<String>)> {
    let name = &rest[1..];
    match name.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '#')) {
        Some(end) if end > 0 && end <= MAX_NAME && name[end..].starts_with(';') => Some((1, Some("&amp;".to_owned()))),
        None if !is_end && name.len() <= MAX_NAME => None,
        _ => Some((1, None)),
    }
}

/// `<` with what follows it.
fn tag(rest: &str, is_end: bool) -> Option<(usize, Option<String>)> {
    let escaped = Some((1, Some("&lt;".to_owned())));
    match rest[1..].chars().next() {
        None if is_end => return escaped,
        None => return None,
        Some('!' | '?') => return escaped,
        Some(next) if next == '/' || next.is_ascii_alphabetic() => {}
        Some(_) => return Some((1, None)),
    }
    let slash = usize::from(rest[1..].starts_with('/'));
    let name = &rest[1 + slash..];
    match name.find(|letter: char| !letter.is_ascii_alphanumeric()) {
        Some(end) if end <= MAX_NAME && name[end..].starts_with('>') => {
            let is_active = ACTIVE.iter().any(|active| name[..end].eq_ignore_ascii_case(active));
            if end == 0 || is_active { escaped } else { Some((slash + end + 2, None)) }
        }
        Some(_) => escaped,
        None if is_end || name.len() > MAX_NAME => escaped,
        None => None,
    }
}

#[cfg(test)]
mod tests;
