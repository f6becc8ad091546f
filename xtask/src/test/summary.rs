//! What a run comes to: a table, the runner's own words, a verdict.

use std::fmt;
use std::time::Duration;

use super::counts::Counts;
use super::tee::Tests;
use crate::clock::readable;

/// How a stage ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Well.
    Passed,
    /// Not run, for that reason.
    Skipped(String),
    /// Badly, for that reason.
    Failed(String),
}

impl Outcome {
    /// Passed, or failed with a reason.
    pub(super) fn of(good: bool, reason: &str) -> Self {
        if good { Self::Passed } else { Self::Failed(reason.to_owned()) }
    }

    /// Says what the stage itself has not said yet.
    pub(super) fn print(&self) {
        match self {
            Self::Passed => {}
            Self::Skipped(reason) => println!("    skipped: {reason}"),
            Self::Failed(reason) => println!("    FAILED: {reason}"),
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Skipped(_) => "skipped",
            Self::Failed(_) => "FAILED",
        }
    }
}

/// The stages with how they ended, and what the test runners counted.
#[derive(Debug, Default)]
pub(super) struct Report {
    rows: Vec<(String, Outcome, Duration)>,
    counts: Option<Counts>,
    lines: Vec<String>,
}

impl Report {
    /// Adds a stage.
    pub(super) fn add(&mut self, title: &str, outcome: Outcome, took: Duration) {
        self.rows.push((title.to_owned(), outcome, took));
    }

    /// Adds a run of tests. A runner that printed no summary adds no number.
    pub(super) fn count(&mut self, tests: Tests) {
        self.lines.extend(tests.lines);
        self.counts = match (self.counts, tests.counts) {
            (Some(a), Some(b)) => Some(a.plus(b)),
            (a, b) => a.or(b),
        };
    }

    /// Whether nothing failed.
    pub(super) fn is_good(&self) -> bool {
        self.failed().is_empty()
    }

    fn failed(&self) -> Vec<&str> {
        let failed = self.rows.iter().filter(|(_, outcome, _)| matches!(outcome, Outcome::Failed(_)));
        failed.map(|(title, _, _)| title.as_str()).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nstages")?;
        for (title, outcome, took) in &self.rows {
            writeln!(f, "  {:<8} {:>11}  {title}", outcome.word(), readable(*took))?;
        }
        let failed = self.failed();
        if failed.is_empty() {
            let skipped = self.rows.iter().filter(|(_, outcome, _)| matches!(outcome, Outcome::Skipped(_))).count();
            let but = if skipped == 0 { String::new() } else { format!(" ({skipped} skipped, see above)") };
            writeln!(f, "verdict: every stage that ran passed{but}")?;
        } else {
            writeln!(f, "verdict: FAILED in {}: {}", failed.len(), failed.join("; "))?;
        }
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        if let Some(Counts { passed, failed }) = self.counts {
            writeln!(f, "{passed} passed, {failed} failed")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(success: bool, counts: Option<Counts>) -> Tests {
        Tests { success, counts, lines: counts.iter().map(|c| format!("runner: {}", c.passed)).collect() }
    }

    #[test]
    fn the_last_line_adds_up_what_the_runners_counted() {
        let mut report = Report::default();
        report.add("cargo nextest run", Outcome::Passed, Duration::from_secs(1));
        report.count(tests(true, Some(Counts { passed: 5, failed: 0 })));
        report.count(tests(true, Some(Counts { passed: 2, failed: 0 })));
        let text = report.to_string();
        assert!(report.is_good());
        assert!(text.ends_with("runner: 5\nrunner: 2\n7 passed, 0 failed\n"), "{text}");
    }

    #[test]
    fn numbers_are_not_invented() {
        let mut report = Report::default();
        report.add("cargo nextest run", Outcome::Failed("nothing compiled".into()), Duration::ZERO);
        report.count(tests(false, None));
        let text = report.to_string();
        assert!(!report.is_good());
        assert!(text.ends_with("verdict: FAILED in 1: cargo nextest run\n"), "{text}");
    }
}
