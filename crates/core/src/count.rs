//! So many of something, for people.

use std::fmt::Display;

/// `1 step`, `9 steps`, `2 policies`, `3 losses`: a whole number, and a noun of which English makes the plural by its
/// rules.
#[must_use]
pub fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    if number == "1" {
        return format!("1 {noun}");
    }
    let stem = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match stem {
        Some(stem) => format!("{number} {stem}ies"),
        None if noun.ends_with(['s', 'x']) => format!("{number} {noun}es"),
        None => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_else_plural() {
        assert_eq!(["step", "key"].map(|noun| count(1, noun)), ["1 step", "1 key"]);
        assert_eq!(["step", "key", "day"].map(|noun| count(0, noun)), ["0 steps", "0 keys", "0 days"]);
        assert_eq!(
            ["policy", "memory", "loss"].map(|noun| count(21, noun)),
            ["21 policies", "21 memories", "21 losses"]
        );
        assert_eq!(count("1", "event"), "1 event");
    }
}
