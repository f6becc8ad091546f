//! Finds JSON inside other text by following brackets and strings, never by a pattern.

use super::strict::{self, MAX_DEPTH, Parsed, past_string};

/// Bytes that are looked at in all, so that a text full of open brackets ends the search, not the server.
const MAX_LOOKED_AT: usize = 16 * 1024 * 1024;

/// How a search went.
#[derive(Debug, Default)]
pub(super) struct Search {
    looked_at: usize,
    /// The line of the first bracket that opens what may be JSON and is never closed.
    unclosed: Option<usize>,
    too_deep: bool,
    given_up: bool,
}

impl Search {
    /// What the reader should know about it.
    pub(super) fn warning(&self) -> Option<String> {
        if self.given_up {
            return Some("the search was given up: the text has too many brackets that are not closed".to_owned());
        }
        if self.too_deep {
            return Some(format!("brackets lie more than {MAX_DEPTH} deep in one another and were not read"));
        }
        self.unclosed.map(|line| format!("the text is cut off: what begins on line {line} is never closed"))
    }

    /// Pays for looking at so many bytes.
    fn pay(&mut self, bytes: usize) -> bool {
        self.looked_at = self.looked_at.saturating_add(bytes);
        self.given_up |= self.looked_at > MAX_LOOKED_AT;
        !self.given_up
    }
}

/// Offers every object or array in turn, those in code fences first, until one is taken.
pub(super) fn search(text: &str, mut take: impl FnMut(Parsed) -> bool) -> Search {
    let mut search = Search::default();
    for block in fenced(text) {
        if scan(block, &mut Search::default(), &mut search, &mut take) {
            return search;
        }
    }
    let mut whole = Search::default();
    scan(text, &mut whole, &mut search, &mut take);
    Search { unclosed: whole.unclosed, too_deep: whole.too_deep, ..search }
}

/// The contents of code fences that may hold JSON.
fn fenced(text: &str) -> impl Iterator<Item = &str> {
    let mut parts = text.split("```");
    parts.next();
    let mut rest = parts;
    std::iter::from_fn(move || {
        let block = rest.next()?;
        // What follows the block's end is prose again.
        rest.next()?;
        Some(block)
    })
    .filter_map(|block| {
        let (label, content) = block.split_once('\n').unwrap_or(("", block));
        let label = label.trim().to_ascii_lowercase();
        match label.as_str() {
            "" | "json" | "jsonc" | "json5" | "js" | "javascript" => Some(content),
            _ if label.starts_with(['{', '[']) => Some(block),
            _ => None,
        }
    })
}

/// Offers what stands in one piece of text; answers whether something was taken.
fn scan(text: &str, seen: &mut Search, budget: &mut Search, take: &mut impl FnMut(Parsed) -> bool) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(length) = bytes.get(at..).and_then(|rest| rest.iter().position(|b| matches!(b, b'{' | b'['))) {
        at += length;
        if !may_begin(bytes, at) {
            at += 1;
            continue;
        }
        let nest = close(bytes, at, seen);
        let looked_at = nest.as_ref().map_or_else(|reached| *reached, |nest| nest.end) - at;
        if !budget.pay(looked_at) {
            return false;
        }
        at = match nest {
            // What lies too deep is passed over whole: a part from its middle is not what the text gives.
            Ok(BracketSpan { end, too_deep: true }) => end,
            Ok(BracketSpan { end, too_deep: false }) => match text.get(at..end).map(strict::parse) {
                Some(Ok(parsed)) => {
                    if take(parsed) {
                        return true;
                    }
                    end
                }
                Some(Err(_)) | None => at + 1,
            },
            Err(_) => at + 1,
        };
    }
    false
}

/// Whether what follows the bracket could stand there in JSON.
fn may_begin(bytes: &[u8], at: usize) -> bool {
    let next = bytes[at + 1..].iter().find(|b| !b.is_ascii_whitespace());
    match (bytes[at], next) {
        (_, None) => false,
        (b'{', Some(next)) => matches!(next, b'"' | b'}'),
        (_, Some(next)) => next.is_ascii_digit() || b"\"[]{-tfn".contains(next),
    }
}

/// From a bracket to the one that closes it.
struct BracketSpan {
    /// One past the closing bracket.
    end: usize,
    /// Whether brackets lie more than [`MAX_DEPTH`] deep in it.
    too_deep: bool,
}

/// What the bracket there opens, or how far was looked in vain.
fn close(bytes: &[u8], start: usize, seen: &mut Search) -> Result<BracketSpan, usize> {
    let mut open: Vec<u8> = Vec::new();
    let mut too_deep = false;
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = past_string(bytes, at);
                continue;
            }
            b'{' | b'[' => {
                too_deep |= open.len() == MAX_DEPTH;
                seen.too_deep |= too_deep;
                open.push(byte);
            }
            b'}' | b']' => {
                if open.pop() != Some(if byte == b'}' { b'{' } else { b'[' }) {
                    return Err(at);
                }
                if open.is_empty() {
                    return Ok(BracketSpan { end: at + 1, too_deep });
                }
            }
            _ => {}
        }
        at += 1;
    }
    if seen.unclosed.is_none() {
        seen.unclosed = Some(bytes[..start].iter().filter(|b| **b == b'\n').count() + 1);
    }
    Err(bytes.len())
}
