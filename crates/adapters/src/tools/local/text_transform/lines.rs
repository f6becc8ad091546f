//! Lines. A line's end may be `\n` or `\r\n`; results have `\n`.

use std::collections::HashSet;

use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};

use super::super::{fields, refuse};
use super::options::Options;
use super::{MAX_RESULT, too_long};

/// Pieces of a split text.
const MAX_PIECES: usize = 100_000;

/// The pieces as a list.
///
/// # Errors
/// When there are too many, or the separator is empty.
pub(super) fn split(text: &str, options: &Options<'_>) -> Result<Map<String, Value>, ToolFailure> {
    let pieces: Vec<&str> = match options.text("separator") {
        Some("") => return Err(refuse("options.separator is empty: leave it out to split at line ends")),
        Some(separator) => text.split(separator).take(MAX_PIECES + 1).collect(),
        None => text.lines().take(MAX_PIECES + 1).collect(),
    };
    if pieces.len() > MAX_PIECES {
        return Err(refuse(format!("there are more than {MAX_PIECES} pieces: split a part of the text")));
    }
    Ok(fields([("count", json!(pieces.len())), ("lines", json!(pieces))]))
}

/// The lines in one, without the empty ones.
///
/// # Errors
/// When the result is too long.
pub(super) fn join(text: &str, options: &Options<'_>) -> Result<String, ToolFailure> {
    let separator = options.text("separator").unwrap_or(" ");
    let mut result = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !result.is_empty() {
            result.push_str(separator);
        }
        result.push_str(line);
        if result.len() > MAX_RESULT {
            return Err(too_long());
        }
    }
    Ok(result)
}

/// The lines in the order of their code points; equal ones stay as they were.
pub(super) fn sort(text: &str, options: &Options<'_>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if options.flag("ignoreCase") {
        lines.sort_by_cached_key(|line| line.to_lowercase());
    } else {
        lines.sort();
    }
    if options.flag("descending") {
        lines.reverse();
    }
    lines.join("\n")
}

/// Each line once, where it came first.
pub(super) fn unique(text: &str, options: &Options<'_>) -> String {
    let ignore_case = options.flag("ignoreCase");
    let mut seen = HashSet::new();
    let key = |line: &str| if ignore_case { line.to_lowercase() } else { line.to_owned() };
    let lines: Vec<&str> = text.lines().filter(|line| seen.insert(key(line))).collect();
    lines.join("\n")
}
