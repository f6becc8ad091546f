//! What a rule has to say about one place.

use std::fmt;

/// Whether a finding fails the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Weight {
    /// It fails.
    Violation,
    /// It is printed, and passes.
    Warning,
}

/// A place, what is wrong there, and the remedy. Lines count from 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    weight: Weight,
    message: String,
    remedy: String,
}

impl Finding {
    /// Something that must be changed.
    pub(crate) fn violation(path: &str, line: usize, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, weight: Weight::Violation, message: message.into(), remedy: remedy.into() }
    }

    /// Something that should be changed soon.
    pub(crate) fn warning(path: &str, line: usize, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { weight: Weight::Warning, ..Self::violation(path, line, message, remedy) }
    }

    /// Whether it fails the run.
    pub(crate) fn weight(&self) -> Weight {
        self.weight
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, weight, message, remedy } = self;
        let mark = match weight {
            Weight::Violation => "",
            Weight::Warning => "warning: ",
        };
        write!(f, "{path}:{line}: {mark}{message} ({remedy})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_path_line_message_remedy() {
        let finding = Finding::violation("a/b.rs", 7, "is wrong", "mend it");
        assert_eq!(finding.to_string(), "a/b.rs:7: is wrong (mend it)");
        let warning = Finding::warning("a/b.rs", 7, "is long", "split it");
        assert_eq!(warning.to_string(), "a/b.rs:7: warning: is long (split it)");
    }
}
