//! What readers make a link of although it names no protocol (`evil.example/x`), and protocols that are no pages
//! (`mailto:`, `tel:`).
//!
//! Nothing is taken away: the dots of a host are put in brackets, and a space follows a protocol, so a name that only
//! looks like a host can still be read. Which names are hosts is not known here. One with something behind it
//! (`name.example/x`) is taken for one unless it ends like a file; one by itself only when it ends like the names that
//! readers know.

/// Bytes of a word that is looked at; a host has at most 253.
const MAX_WORD: usize = 512;
/// Protocols that readers make links of, without their colon.
const PROTOCOLS: &[&str] = &["mailto", "tel", "sms", "xmpp", "sip", "callto", "facetime", "skype", "whatsapp"];
/// Endings that make a link of a name by itself, besides those of two letters.
const KNOWN: &[&str] = &[
    "aero", "app", "asia", "biz", "com", "coop", "dev", "edu", "gov", "info", "int", "mil", "museum", "name", "net",
    "org", "pro", "shop", "web", "xxx", "xyz",
];
/// Endings of files that no host has.
const OF_FILES: &[&str] = &[
    "bmp", "cfg", "conf", "css", "csv", "db", "doc", "docx", "eml", "gif", "go", "gz", "htm", "html", "ini", "jpeg",
    "jpg", "js", "json", "jsonl", "log", "msg", "ods", "odt", "pdf", "png", "pptx", "rtf", "svg", "tif", "tiff",
    "toml", "ts", "txt", "xls", "xlsx", "xml", "yaml",
];

/// A word at the beginning of a text, and what is shown for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeadingWord<'a> {
    /// How much of the text it is.
    pub(super) text: &'a str,
    /// The address that it is, or begins, with what belongs to it: it may be one that stays.
    pub(super) address: Option<&'a str>,
    /// What is written in its place; `None` for what is no link.
    pub(super) broken: Option<String>,
}

/// Whether a word can begin after that letter. Readers let it behind any sign, also behind one that goes on in a word.
pub(super) fn may_follow(before: Option<char>) -> bool {
    before.is_none_or(|before| !before.is_alphanumeric())
}

/// What stands beside a name and makes readers take it for a host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    Nothing,
    /// One stroke before it, as in the path of a file.
    Stroke,
    /// A path, a query or a port behind it.
    More,
    /// Two strokes before it.
    Strokes,
}

/// What surrounds a word.
#[derive(Clone, Copy)]
pub(super) struct WordContext {
    /// Whether nothing more comes.
    pub(super) is_end: bool,
    /// Whether two strokes stand before it: then readers take any name for a host.
    pub(super) is_after_strokes: bool,
    /// Whether one stroke stands before it: then it may be the name of a file.
    pub(super) is_after_stroke: bool,
    pub(super) ends_address: fn(char) -> bool,
    /// The most bytes of an address.
    pub(super) most: usize,
}

/// The word with which a text begins; `None` when what comes next decides.
pub(super) fn word(rest: &str, around: WordContext) -> Option<LeadingWord<'_>> {
    let length = rest.find(|letter: char| !belongs(letter)).unwrap_or(rest.len());
    if length > MAX_WORD {
        // Too long for any host: the first part is a word, wherever the text was cut.
        let cut = (0..=MAX_WORD).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(0);
        let text = &rest[..cut];
        return Some(LeadingWord { text, address: None, broken: without_hosts(text, Neighbour::Nothing) });
    }
    let (text, after) = rest.split_at(length);
    let mut after = after.chars();
    let (next, second) = (after.next(), after.next());
    let follows = matches!(next, Some('/' | '?' | '#' | ':'));
    if !around.is_end && (next.is_none() || (follows && second.is_none())) {
        return None;
    }
    let is_joined = second.is_some_and(|letter| !letter.is_whitespace());
    if next == Some(':') && is_joined && is_protocol(text) {
        let broken = without_hosts(text, Neighbour::Nothing).unwrap_or_else(|| text.to_owned());
        return Some(LeadingWord { text: &rest[..=length], address: None, broken: Some(format!("{broken}: ")) });
    }
    let has_more = match next {
        Some('/') => true,
        Some('?' | '#') => is_joined,
        Some(':') => second.is_some_and(|letter| letter.is_ascii_digit()),
        _ => false,
    };
    let beside = match (around.is_after_strokes, has_more) {
        (true, _) => Neighbour::Strokes,
        (false, true) => Neighbour::More,
        (false, false) if around.is_after_stroke => Neighbour::Stroke,
        (false, false) => Neighbour::Nothing,
    };
    let Some(broken) = without_hosts(text, beside) else {
        return Some(LeadingWord { text, address: None, broken: None });
    };
    let address = match rest.find(around.ends_address).filter(|_| has_more) {
        Some(end) => Some(&rest[..end]),
        None if !has_more => Some(text),
        None if around.is_end => Some(rest),
        None if rest.len() > around.most => None,
        None => return None,
    };
    Some(LeadingWord { text, address, broken: Some(broken) })
}

/// Whether a word of a text may be taken for a host.
pub(super) fn names_a_host(text: &str) -> bool {
    text.split(|letter: char| !belongs(letter)).any(|word| without_hosts(word, Neighbour::Nothing).is_some())
}

fn belongs(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '.' | '-') || separates(letter)
}

fn separates(letter: char) -> bool {
    matches!(letter, '_' | '%' | '+' | '@')
}

fn is_protocol(word: &str) -> bool {
    let last = word.rsplit(|letter| separates(letter) || matches!(letter, '.' | '-')).next().unwrap_or_default();
    PROTOCOLS.iter().any(|protocol| last.eq_ignore_ascii_case(protocol))
}

/// A word whose hosts are no hosts any more; `None` when it has none. The address of a mailbox carries nothing and stays.
fn without_hosts(word: &str, beside: Neighbour) -> Option<String> {
    if let Some((name, host)) = word.split_once('@')
        && matches!(beside, Neighbour::Nothing | Neighbour::Stroke)
        && is_mailbox_name(name)
        && host.starts_with(char::is_alphanumeric)
        && !host.contains(separates)
        && is_host(host.trim_end_matches(['.', '-']), Neighbour::Strokes)
    {
        return None;
    }
    let mut broken = String::with_capacity(word.len());
    let (mut found, mut rest) = (false, word);
    while !rest.is_empty() {
        let dots = rest.find("..").unwrap_or(rest.len());
        let end = rest.find(separates).unwrap_or(rest.len()).min(dots);
        let (part, after) = rest.split_at(end);
        // The dot or the stroke of a sentence is no part of a host.
        let begun = part.trim_start_matches(['.', '-']);
        let host = begun.trim_end_matches(['.', '-']);
        let is_beside = after.is_empty() && host.len() == begun.len();
        let is_host = is_host(host, if is_beside || beside == Neighbour::Stroke { beside } else { Neighbour::Nothing });
        found |= is_host;
        broken.push_str(&part[..part.len() - begun.len()]);
        broken.push_str(&if is_host { host.replace('.', "[.]") } else { host.to_owned() });
        broken.push_str(&begun[host.len()..]);
        let mark = after.find(|letter: char| letter != '.' && !separates(letter)).unwrap_or(after.len());
        broken.push_str(&after[..mark]);
        rest = &after[mark..];
    }
    found.then_some(broken)
}

/// Whether readers take what stands before an `@` for the name of a mailbox, and no host at its beginning for a link:
/// they could of `evil.com.@example.com` and of `evil.com_a@example.com`.
fn is_mailbox_name(name: &str) -> bool {
    let front = name.rfind(separates).map_or("", |at| &name[..at]);
    name.ends_with(char::is_alphanumeric) && !name.contains("..") && without_hosts(front, Neighbour::Nothing).is_none()
}

/// Whether readers may take a name for a host. Behind two strokes it is one whatever it ends with, before a path unless it
/// ends like a file, behind one stroke only with an ending that everybody knows.
fn is_host(name: &str, beside: Neighbour) -> bool {
    let labels: Vec<String> = name.split('.').map(str::to_lowercase).collect();
    let Some((last, before)) = labels.split_last().filter(|(_, before)| !before.is_empty()) else { return false };
    if labels.iter().any(String::is_empty) {
        return false;
    }
    if before.first().is_some_and(|first| first == "www") {
        return true;
    }
    let head = |label: &String| label.split('-').next().unwrap_or_default().to_owned();
    if labels.iter().skip(1).any(|label| KNOWN.contains(&head(label).as_str())) {
        return true;
    }
    let is_puny = last.starts_with("xn--");
    let (ending, all) =
        (head(last), |ending: &str| ending.chars().count() > 1 && ending.chars().all(char::is_alphabetic));
    if !(is_puny || all(&ending)) {
        return false;
    }
    let is_known = beside != Neighbour::Stroke && (is_puny || ending.len() == 2 || !ending.is_ascii());
    beside == Neighbour::Strokes || ((is_known || beside == Neighbour::More) && !OF_FILES.contains(&ending.as_str()))
}
