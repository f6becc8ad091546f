//! The numbers in a test runner's summary.

/// How many tests passed and failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    /// Passed.
    pub(super) passed: u64,
    /// Failed, timed out, or could not be run.
    pub(super) failed: u64,
}

impl Counts {
    /// Reads a summary line of nextest or of cargo test; `None` for any other line.
    pub(super) fn read(line: &str) -> Option<Self> {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("test result: ") {
            let (_, numbers) = rest.split_once(". ")?;
            return Self::sum(numbers.split(';'));
        }
        let rest = line.strip_prefix("Summary [")?;
        let (_, numbers) = rest.split_once(" run: ")?;
        let numbers = without_brackets(numbers);
        Self::sum(numbers.split(','))
    }

    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }

    fn sum<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut counts = Self::default();
        let mut seen = false;
        for part in parts {
            let Some((number, what)) = part.trim().split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match what {
                "passed" => {
                    seen = true;
                    counts.passed += number;
                }
                what if is_failure(what) => {
                    seen = true;
                    counts.failed += number;
                }
                _ => {}
            }
        }
        seen.then_some(counts)
    }
}

fn is_failure(what: &str) -> bool {
    ["failed", "timed out", "exec failed"].iter().any(|word| what.starts_with(word))
}

/// The text without what stands in round brackets.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::new();
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept.replace(" ,", ",")
}

/// The text without colour codes.
pub(super) fn plain(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // A code ends with its first letter.
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            kept.push(c);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(u64, u64)> {
        Counts::read(line).map(|counts| (counts.passed, counts.failed))
    }

    #[test]
    fn nextest_summaries_are_read() {
        assert_eq!(read("     Summary [   0.005s] 3 tests run: 3 passed, 0 skipped"), Some((3, 0)));
        let busy =
            "Summary [ 1.2s] 9 tests run: 5 passed (1 slow, 1 leaky), 2 failed, 1 timed out, 1 exec failed, 3 skipped";
        assert_eq!(read(busy), Some((5, 4)));
        assert_eq!(read("Summary [ 1.2s] 2/9 tests run: 1 passed, 1 failed, 0 skipped"), Some((1, 1)));
        assert_eq!(read("Summary [ 0.0s] 0 tests run: 0 passed, 0 skipped"), Some((0, 0)));
    }

    #[test]
    fn cargo_test_summaries_are_read() {
        let line = "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(read(line), Some((3, 1)));
    }

    #[test]
    fn other_lines_are_not_summaries() {
        assert_eq!(read("error: 3 tests run: 3 passed"), None);
        assert_eq!(read("test result: unknown"), None);
    }

    #[test]
    fn colours_are_left_out() {
        assert_eq!(plain("\u{1b}[32;1m3\u{1b}[0m passed"), "3 passed");
    }
}
