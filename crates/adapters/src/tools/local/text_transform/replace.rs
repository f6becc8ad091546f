//! Finding and replacing, with words or with a regular expression whose time is linear.

use kybern_core::tool::ToolFailure;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use super::super::{refuse, short};
use super::options::Options;
use super::{MAX_RESULT, answer, too_long};

/// Bytes of a compiled pattern. The time of a search is the text's length times this, at the worst.
const MAX_PATTERN: usize = 64 * 1024;
/// How deep a pattern's groups may lie in one another.
const MAX_NESTING: u32 = 50;

/// Replaces every occurrence, and says how many there were.
///
/// # Errors
/// When the pattern is none, or the result too long.
pub(super) fn replace(text: &str, options: &Options<'_>) -> Result<Map<String, Value>, ToolFailure> {
    let find = options.text("find").filter(|find| !find.is_empty());
    let find = find.ok_or_else(|| refuse("replace needs options.find: give what to look for"))?;
    let with = options.text("with").unwrap_or_default();
    let is_regex = options.flag("regex");
    let pattern = compile(&if is_regex { find.to_owned() } else { regex::escape(find) }, options.flag("ignoreCase"))?;
    let mut result = String::new();
    let (mut count, mut last) = (0_usize, 0);
    for groups in pattern.captures_iter(text) {
        let Some(whole) = groups.get(0) else { continue };
        result.push_str(&text[last..whole.start()]);
        if is_regex {
            groups.expand(with, &mut result);
        } else {
            result.push_str(with);
        }
        last = whole.end();
        count += 1;
        if result.len() > MAX_RESULT {
            return Err(too_long());
        }
    }
    result.push_str(&text[last..]);
    let mut data = answer(result)?;
    data.insert("replacements".to_owned(), json!(count));
    Ok(data)
}

fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, ToolFailure> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .size_limit(MAX_PATTERN)
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
