//! The lines of a message, told apart: what is new, who signed, what every mail carries, what is quoted, what is
//! handed on.
//!
//! One walk over the lines with a few lines looked ahead, so the work grows with the text alone. Every line has
//! exactly one role. In doubt a line is new: what is taken for history by mistake would never be answered.

use kybern_core::mail::{MAX_PASSAGES, MailAddress, Passage, PassageRole};

use super::manners::{
    CERTAIN, CLOSINGS, FOOTERS, FORWARD_PREFIXES, FORWARDED, FROM, ORIGINAL, OTHER, PROGRAM_NOTES, WROTE, WROTE_AT,
};
use super::visible::{QUOTE_CLOSE, QUOTE_OPEN};

/// Bytes of a line that are looked at.
const MAX_LINE: usize = 300;
/// Lines that are told apart; what is beyond them belongs to the last passage.
const MAX_LINES: usize = 20_000;
/// Lines over which "On … wrote:" may be spread.
const ATTRIBUTION_LINES: usize = 3;
/// Lines of the header of an older message.
const HEADER_LINES: usize = 10;
/// A line that belongs to a signature is no longer than this, in characters, and there are no more of them.
const SIGNATURE_LINE: usize = 90;
const SIGNATURE_LINES: usize = 14;
/// Words of a line that greets: `Hi Ann,`.
const GREETING_WORDS: usize = 4;
/// A first name that signs alone has at least so many characters.
const SHORTEST_NAME: usize = 3;

/// A line, and where it stands.
struct MailLine<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    /// Whether the HTML shows it as a quotation.
    cited: bool,
}

impl MailLine<'_> {
    /// The line in lower case, without marks of emphasis.
    fn plain(&self) -> String {
        let end = self.text.floor_char_boundary(MAX_LINE);
        self.text[..end].trim().trim_matches('*').trim().to_lowercase().replace('\u{a0}', " ").replace('’', "'")
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn is_quoted(&self) -> bool {
        self.cited || self.text.trim_start().starts_with('>')
    }

    fn is_quoted_twice(&self) -> bool {
        self.text.trim_start().strip_prefix('>').is_some_and(|rest| rest.trim_start().starts_with('>'))
    }
}

/// Takes the marks of quotations out of a text, and tells its passages. `writer` is the sender's name as the header has it.
pub(super) fn split(marked: String, subject: &str, writer: &str) -> (String, Vec<Passage>) {
    let (text, cited) = unmarked(marked);
    let lines = lines(&text, &cited);
    let mut walk = PassageWalk {
        lines: &lines,
        passages: Vec::new(),
        state: PassageRole::Newest,
        handed_on: is_forward(subject),
        marked: false,
        writer: in_order(writer),
    };
    walk.run();
    let mut passages = walk.passages;
    if let Some(last) = passages.last_mut() {
        last.end = text.len();
    }
    hand_on_quotation(&mut passages, &text, subject);
    if !is_forward(subject) {
        answer_beneath(&mut passages, &text, &lines);
    }
    (text, passages)
}

/// Where a message begins with the one that it answers, without marks, what stands behind that one's signature is new.
fn answer_beneath(passages: &mut Vec<Passage>, text: &str, lines: &[MailLine<'_>]) {
    let written = |passage: &Passage| text[passage.start..passage.end].contains(char::is_alphanumeric);
    let is_answered = passages.iter().any(|passage| passage.role == PassageRole::Newest && written(passage));
    if is_answered || passages.len() >= MAX_PASSAGES {
        return;
    }
    let is_older = |passage: &Passage| passage.role == PassageRole::Quoted && passage.author.is_some();
    let Some(place) = passages.iter().position(is_older) else { return };
    let older = passages[place].clone();
    let author = older.author.as_ref().map(|author| in_order(&author.name)).unwrap_or_default();
    let inside: Vec<&MailLine<'_>> =
        lines.iter().filter(|line| (older.start..older.end).contains(&line.start)).collect();
    let signed = inside.iter().rposition(|line| !author.is_empty() && line.plain() == author && !line.is_quoted());
    let Some(signed) = signed.filter(|at| *at > 0) else { return };
    let from = (signed + 1..inside.len()).find(|at| {
        let (before, line) = (&inside[at - 1], inside[*at].text.trim_end());
        let greets = line.ends_with([',', ':', '-']) && line.split_whitespace().count() <= GREETING_WORDS;
        !line.is_empty() && (before.is_blank() || greets)
    });
    let Some(start) = from.map(|at| inside[at].start) else { return };
    let newest = Passage { role: PassageRole::Newest, start, end: older.end, author: None };
    passages[place].end = start;
    passages.insert(place + 1, newest);
}

/// A name in lower case, first name first: `Example, Ann` is `ann example`.
fn in_order(name: &str) -> String {
    let name = name.trim().trim_matches(['"', '\'']).to_lowercase();
    match name.split_once(',') {
        Some((last, first)) if !first.contains(',') => format!("{} {}", first.trim(), last.trim()),
        _ => name,
    }
}

/// Whether a subject says that a message is handed on.
fn is_forward(subject: &str) -> bool {
    let subject = subject.trim_start().to_lowercase();
    FORWARD_PREFIXES.iter().any(|prefix| subject.starts_with(prefix))
}

/// The text without marks, and for each line whether it lies between them.
fn unmarked(marked: String) -> (String, Vec<bool>) {
    if !marked.contains([QUOTE_OPEN, QUOTE_CLOSE]) {
        return (marked, Vec::new());
    }
    let mut depth = 0_usize;
    let mut cited = Vec::new();
    let mut text = String::with_capacity(marked.len());
    for line in marked.split_inclusive('\n') {
        depth += line.matches(QUOTE_OPEN).count();
        cited.push(depth > 0);
        depth = depth.saturating_sub(line.matches(QUOTE_CLOSE).count());
        text.extend(line.chars().filter(|c| !matches!(*c, QUOTE_OPEN | QUOTE_CLOSE)));
    }
    (text, cited)
}

fn lines<'a>(text: &'a str, cited: &[bool]) -> Vec<MailLine<'a>> {
    let mut start = 0;
    let line = |(number, whole): (usize, &'a str)| {
        let from = start;
        start += whole.len();
        let text = whole.trim_end_matches(['\n', '\r']);
        MailLine { text, start: from, end: start, cited: cited.get(number).copied().unwrap_or(false) }
    };
    text.split_inclusive('\n').take(MAX_LINES).enumerate().map(line).collect()
}

/// Where a message is handed on as a quotation without a header of its own, the quotation is what is handed on.
fn hand_on_quotation(passages: &mut [Passage], text: &str, subject: &str) {
    let has = |passages: &[Passage], role| passages.iter().any(|passage| passage.role == role);
    if !is_forward(subject) || has(passages, PassageRole::Forwarded) {
        return;
    }
    let newest = passages.iter().filter(|passage| passage.role == PassageRole::Newest);
    let words: usize = newest
        .filter_map(|passage| text.get(passage.start..passage.end))
        .map(|text| text.split_whitespace().count())
        .sum();
    if words < SIGNATURE_LINE {
        for passage in passages.iter_mut().filter(|passage| passage.role == PassageRole::Quoted) {
            passage.role = PassageRole::Forwarded;
        }
    }
}

/// The header of an older message: how many lines it takes, and who wrote.
struct Header {
    lines: usize,
    author: Option<MailAddress>,
}

struct PassageWalk<'a> {
    lines: &'a [MailLine<'a>],
    passages: Vec<Passage>,
    /// What a line is that nothing else is said of.
    state: PassageRole,
    handed_on: bool,
    /// Whether what is handed on has the marks of a quotation from its header on.
    marked: bool,
    /// The sender's name, first name first, in lower case; may be empty.
    writer: String,
}

impl PassageWalk<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while at < self.lines.len() {
            at += self.step(at).max(1);
        }
    }

    /// Gives the lines that begin at `at` their role, and says how many they are.
    fn step(&mut self, at: usize) -> usize {
        let line = &self.lines[at];
        if line.is_blank() {
            return self.take(at, 1, self.state, None);
        }
        let plain = line.plain();
        if is_banner(&plain, FORWARDED) {
            return self.begin(at, 1, PassageRole::Forwarded);
        }
        if is_banner(&plain, ORIGINAL) {
            return self.begin(at, 1, self.older());
        }
        if let Some(header) = self.header(at) {
            self.state = self.older();
            self.marked = self.state == PassageRole::Forwarded && line.is_quoted();
            return self.take(at, header.lines, self.state, header.author);
        }
        if line.is_quoted() {
            let role = if self.marked && !line.is_quoted_twice() { self.state } else { PassageRole::Quoted };
            return self.take(at, 1, role, None);
        }
        if let Some(count) = self.attribution(at) {
            let quoted =
                self.lines.iter().skip(at + count).find(|line| !line.is_blank()).is_some_and(MailLine::is_quoted);
            // With marks at the quotation, what has none is new; without, everything below is old.
            let author = attributed(&self.lines[at..at + count]);
            if !quoted && self.state != PassageRole::Forwarded {
                self.state = PassageRole::Quoted;
            }
            let role = if quoted { PassageRole::Quoted } else { self.state };
            return self.take(at, count, role, author);
        }
        if matches!(self.state, PassageRole::Newest | PassageRole::Signature) {
            return self.own(at, &plain);
        }
        self.take(at, 1, self.state, None)
    }

    /// A line of the sender: new, a signature, or what every mail carries.
    fn own(&mut self, at: usize, plain: &str) -> usize {
        if is_footer(plain) || self.paragraph_is_footer(at) {
            let count = self.lines[at..].iter().take_while(|line| !line.is_blank() && !line.is_quoted()).count();
            return self.take(at, count.max(1), PassageRole::Footer, None);
        }
        if PROGRAM_NOTES.iter().any(|note| plain.starts_with(note)) && plain.len() < SIGNATURE_LINE {
            return self.take(at, 1, PassageRole::Footer, None);
        }
        let dashes = matches!(self.lines[at].text.trim_end(), "--" | "\u{2014}" | "-- ");
        let closes = is_closing(plain) || self.is_signed(at, plain);
        if self.state == PassageRole::Newest && (dashes || (closes && self.signs(at + 1))) {
            self.state = PassageRole::Signature;
        }
        self.take(at, 1, self.state, None)
    }

    /// Whether this line is the sender's name, alone or with what they are behind it, beneath what they wrote.
    fn is_signed(&self, at: usize, plain: &str) -> bool {
        let first = self.writer.split(' ').next().unwrap_or_default();
        let bare = plain.trim_matches(|c: char| matches!(c, '-' | '–' | '—' | '~' | ',' | '.' | ' '));
        let goes_on = |rest: &str| rest.trim_start().starts_with(['|', ',', '-', '–', '—', '/', '•', '·']);
        let is_name = !bare.is_empty()
            && (bare == self.writer
                || (bare == first && bare.chars().count() >= SHORTEST_NAME)
                || (self.writer.contains(' ') && bare.strip_prefix(self.writer.as_str()).is_some_and(goes_on)));
        // Beneath words that announce it, a name is what was announced.
        let above = is_name.then(|| self.lines[..at].iter().rev().find(|line| !line.is_blank())).flatten();
        above.is_some_and(|line| !line.text.trim_end().ends_with(':'))
    }

    /// What an older message is here: handed on, or quoted.
    fn older(&self) -> PassageRole {
        let handed_on = self.state == PassageRole::Forwarded || (self.handed_on && self.state != PassageRole::Quoted);
        if handed_on { PassageRole::Forwarded } else { PassageRole::Quoted }
    }

    fn begin(&mut self, at: usize, count: usize, role: PassageRole) -> usize {
        self.state = role;
        let header = self.next_written(at + count).and_then(|next| Some((next, self.header(next)?)));
        match header {
            Some((next, header)) => {
                self.marked = role == PassageRole::Forwarded && self.lines[next].is_quoted();
                self.take(at, next + header.lines - at, role, header.author)
            }
            None => self.take(at, count, role, None),
        }
    }

    /// The next line with anything on it, if it is near.
    fn next_written(&self, from: usize) -> Option<usize> {
        (from..self.lines.len().min(from + 3)).find(|at| !self.lines[*at].is_blank())
    }

    fn take(&mut self, at: usize, count: usize, role: PassageRole, author: Option<MailAddress>) -> usize {
        let last = (at + count).min(self.lines.len()) - 1;
        let (start, end) = (self.lines[at].start, self.lines[last].end);
        let full = self.passages.len() >= MAX_PASSAGES;
        match self.passages.last_mut() {
            Some(passage) if (passage.role == role && author.is_none()) || full => passage.end = end,
            _ => self.passages.push(Passage { role, start, end, author }),
        }
        count
    }

    /// The header block that begins here: a line that says from whom, and at least one that stands nowhere else.
    fn header(&self, at: usize) -> Option<Header> {
        let first = self.lines[at].text.trim_start_matches(['>', ' ', '_', '*', '\t']);
        let (name, value) = field(first)?;
        if !FROM.contains(&name.as_str()) || value.is_empty() {
            return None;
        }
        let (mut certain, mut lines) = (false, 1);
        for line in self.lines.iter().skip(at + 1).take(HEADER_LINES) {
            let Some((name, _)) = field(line.text.trim_start_matches(['>', ' ', '*', '\t'])) else {
                // A long list of receivers goes on in the next line.
                let folded = !line.is_blank() && line.text.contains('@') && lines > 1;
                if folded {
                    lines += 1;
                    continue;
                }
                break;
            };
            if !(CERTAIN.contains(&name.as_str()) || OTHER.contains(&name.as_str())) {
                break;
            }
            certain |= CERTAIN.contains(&name.as_str());
            lines += 1;
        }
        (certain && lines > 1).then(|| Header { lines, author: Some(address(value)) })
    }

    /// How many lines "On … wrote:" takes here.
    fn attribution(&self, at: usize) -> Option<usize> {
        let first = self.lines[at].plain();
        if !WROTE_AT.iter().any(|start| first.starts_with(start)) {
            return ends_with_wrote(&first).filter(|_| first.contains('@') && first.len() < 200).map(|()| 1);
        }
        let mut joined = String::new();
        for (count, line) in self.lines.iter().skip(at).take(ATTRIBUTION_LINES).enumerate() {
            if line.is_blank() {
                return None;
            }
            joined.push(' ');
            joined.push_str(&line.plain());
            let dated = joined.bytes().any(|byte| byte.is_ascii_digit()) || joined.contains('@');
            // German names the writer after the verb.
            let inside = joined.ends_with(':') && dated && joined.contains(" schrieb ");
            if inside || (ends_with_wrote(&joined).is_some() && (dated || joined.ends_with(':'))) {
                return Some(count + 1);
            }
        }
        None
    }

    /// Whether what follows a closing is a signature: a few short lines until the end or until something older.
    fn signs(&self, from: usize) -> bool {
        for (count, line) in self.lines.iter().skip(from).filter(|line| !line.is_blank()).enumerate() {
            let plain = line.plain();
            let ends = line.is_quoted()
                || is_footer(&plain)
                || is_banner(&plain, ORIGINAL)
                || is_banner(&plain, FORWARDED)
                || plain.starts_with("____")
                || WROTE_AT.iter().any(|start| plain.starts_with(start))
                || field(line.text).is_some_and(|(name, _)| FROM.contains(&name.as_str()));
            if ends || count == SIGNATURE_LINES {
                return true;
            }
            if line.text.chars().count() > SIGNATURE_LINE
                || plain.contains('?')
                || plain.starts_with("p.s")
                || plain.starts_with("ps")
            {
                return false;
            }
        }
        true
    }

    /// Whether the paragraph that begins here is a disclaimer by the lines behind its first, of which a few are looked at.
    fn paragraph_is_footer(&self, at: usize) -> bool {
        let begins = at == 0 || self.lines[at - 1].is_blank();
        begins
            && self.lines[at + 1..]
                .iter()
                .take(3)
                .take_while(|line| !line.is_blank())
                .any(|line| is_footer(&line.plain()))
    }
}

/// Whether a line is one of these phrases between dashes, or ends in a colon.
fn is_banner(plain: &str, phrases: &[&str]) -> bool {
    let bare = plain.trim_matches(|c: char| matches!(c, '-' | '_' | '=' | ' ' | ':' | '>' | '*' | '–' | '—'));
    let framed = plain.len() > bare.len();
    framed && phrases.iter().any(|phrase| bare.starts_with(phrase) && bare.len() < phrase.len() + 60)
}

fn is_closing(plain: &str) -> bool {
    CLOSINGS.contains(&plain.trim_end_matches([',', '.', '!', ' ', '-']))
}

fn is_footer(plain: &str) -> bool {
    FOOTERS.iter().any(|mark| plain.contains(mark))
}

fn ends_with_wrote(plain: &str) -> Option<()> {
    let plain = plain.trim_end_matches([':', ' ', '\u{a0}']);
    WROTE.iter().any(|verb| plain.ends_with(verb)).then_some(())
}

/// The name and the value of a line `Name: value`.
fn field(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim().trim_matches('*').trim();
    let plain = !name.is_empty() && name.chars().count() <= 16;
    plain.then(|| (name.to_lowercase().replace('’', "'"), value.trim().trim_start_matches('*').trim()))
}

/// `Name <address>` in a header of text.
fn address(value: &str) -> MailAddress {
    let value = value.replace("mailto:", "");
    let clean = |text: &str| text.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
    let pieces = value.split(['<', '>', '[', ']', ' ', '(', ')', ',', ';', '"']);
    let found = pieces.map(str::trim).find(|piece| piece.contains('@') && piece.len() > 3).unwrap_or_default();
    let name = value.split(['<', '[', '(']).next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    let name = if name == found { "" } else { name };
    let address = match found.rsplit_once('@') {
        Some((local, domain)) => format!("{local}@{}", domain.to_lowercase()),
        None => String::new(),
    };
    MailAddress { name: clean(name), address: clean(&address) }
}

/// Whom "On … wrote:" names, when it has an address.
fn attributed(lines: &[MailLine<'_>]) -> Option<MailAddress> {
    let joined = lines.iter().map(|line| line.text.trim()).collect::<Vec<_>>().join(" ");
    let found = address(&joined);
    (!found.address.is_empty()).then_some(MailAddress { name: String::new(), ..found })
}

#[cfg(test)]
mod tests;
