//! Finding and replacing, with words or with a regular expression.
//!
//! One search takes time in line with the text. All of them together need not: what is looked for may be found at each
//! letter only after a look at all that follow. So the work is looked at between two matches, whether it is to stop.

use std::ops::Range;

use kybern_core::tool::ToolFailure;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use super::super::{refuse, short};
use super::options::Options;
use super::{MAX_RESULT, answer, too_long};
use crate::workers::StopFlag;

/// Bytes of a compiled pattern. The time of one search is the text's length times this, at the worst.
const MAX_PATTERN: usize = 64 * 1024;
/// Bytes of what a search remembers of a pattern's states.
const MAX_STATES: usize = 1024 * 1024;
/// How deep a pattern's groups may lie in one another.
const MAX_NESTING: u32 = 50;

/// Replaces every occurrence, and says how many there were.
///
/// # Errors
/// When the pattern is none, or the result too long.
pub(super) fn replace(text: &str, options: &Options<'_>, stop: &StopFlag) -> Result<Map<String, Value>, ToolFailure> {
    let find = options.text("find").filter(|find| !find.is_empty());
    let find = find.ok_or_else(|| refuse("replace needs options.find: give what to look for"))?;
    let with = options.text("with").unwrap_or_default();
    let is_regex = options.flag("regex");
    let pattern = compile(&if is_regex { find.to_owned() } else { regex::escape(find) }, options.flag("ignoreCase"))?;
    let mut replaced = TextReplacer { text, result: String::new(), count: 0, last: 0 };
    if is_regex && with.contains('$') {
        for groups in pattern.captures_iter(text) {
            stop.check()?;
            let Some(whole) = groups.get(0) else { continue };
            replaced.put(whole.range(), |result| groups.expand(with, result))?;
        }
    } else {
        for found in pattern.find_iter(text) {
            stop.check()?;
            replaced.put(found.range(), |result| result.push_str(with))?;
        }
    }
    replaced.result.push_str(&text[replaced.last..]);
    let mut data = answer(replaced.result)?;
    data.insert("replacements".to_owned(), json!(replaced.count));
    Ok(data)
}

/// A text up to the last match, with what stands in its place.
struct TextReplacer<'a> {
    text: &'a str,
    result: String,
    count: usize,
    last: usize,
}

impl TextReplacer<'_> {
    fn put(&mut self, found: Range<usize>, write: impl FnOnce(&mut String)) -> Result<(), ToolFailure> {
        self.result.push_str(&self.text[self.last..found.start]);
        write(&mut self.result);
        self.last = found.end;
        self.count += 1;
        if self.result.len() > MAX_RESULT { Err(too_long()) } else { Ok(()) }
    }
}

fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, ToolFailure> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_STATES)
        .nest_limit(MAX_NESTING)
        .build()
        .map_err(|problem| match problem {
            regex::Error::CompiledTooBig(_) => {
                refuse("options.find is too large a pattern: use smaller counts and fewer Unicode classes")
            }
            other => {
                let reason = other.to_string();
                let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
                refuse(format!("options.find {:?} is no regular expression: {reason}", short(pattern)))
            }
        })
}
