//! Regular expressions that are compiled once, when they are first needed.

use std::sync::OnceLock;

use regex::{Captures, Regex};

/// A pattern written in this crate. One that does not compile matches nothing; a test proves that all of them do.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// The pattern with that source.
    pub(crate) const fn new(source: &'static str) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    /// The first match with its groups.
    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.regex()?.captures(text)
    }

    /// The first group of the first match.
    pub(crate) fn group<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.captures(text)?.get(1).map(|found| found.as_str())
    }

    /// The first group of every match.
    pub(crate) fn groups<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let Some(regex) = self.regex() else { return Vec::new() };
        regex.captures_iter(text).filter_map(|found| found.get(1).map(|group| group.as_str())).collect()
    }

    /// Where the first group of every match begins and ends.
    pub(crate) fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        let Some(regex) = self.regex() else { return Vec::new() };
        regex.captures_iter(text).filter_map(|found| found.get(1).map(|group| (group.start(), group.end()))).collect()
    }

    /// Whether it compiles.
    #[cfg(test)]
    pub(crate) fn is_sound(&self) -> bool {
        self.regex().is_some()
    }

    fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(self.source).ok()).as_ref()
    }
}
