//! What knows no domain has no word of one, in comments neither.
//!
//! Left out: tests, whose examples may be of any trade, and the adapters, whose offline rules read papers of all trades by
//! their words.

use super::finding::Finding;
use super::tree::Tree;

/// What knows no domain.
const DOMAIN_FREE: &[&str] = &["crates/core/src/", "crates/engine/src/", "crates/store/src/", "crates/server/src/"];

/// How words of the bundled packs' domains begin; a space at the end makes it the whole word.
const WORDS: &[&str] = &[
    "broker",
    "carrier",
    "fleet ",
    "freight",
    "insur",
    "loss run",
    "naic ",
    "policyholder",
    "trucking",
    "underwrit",
    "vin ",
];

/// Where one stands although: the names of kinds of values that papers are searched for, and of a migration that was
/// released.
const KNOWN: &[(&str, &[&str])] = &[
    ("crates/core/src/model/schema.rs", &["carrier", "naic ", "vin "]),
    ("crates/core/src/model/own_schema/field.rs", &["naic ", "vin "]),
    ("crates/store/src/migrate.rs", &["insur"]),
];

/// Checks every line outside tests.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust_files() {
        let path = file.path();
        if file.is_test() || !DOMAIN_FREE.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let known = KNOWN.iter().find(|(place, _)| *place == path).map_or(&[][..], |(_, words)| *words);
        let lines: Vec<&str> = file.text().lines().collect();
        for (number, _) in source.code() {
            let line = lines.get(number - 1).copied().unwrap_or_default().to_ascii_lowercase();
            let found = WORDS.iter().filter(|word| !known.contains(word)).find(|word| has(&line, word));
            if let Some(word) = found {
                findings.push(Finding::violation(
                    path,
                    number,
                    format!("{:?} is a word of a domain", word.trim_end()),
                    "the core knows no domain: say what it is for any, or move it into a pack",
                ));
            }
        }
    }
    findings
}

/// Whether a line has such a word, perhaps as a part of a name.
fn has(line: &str, word: &str) -> bool {
    let (start, whole) = (word.trim_end(), word.ends_with(' '));
    line.match_indices(start).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + start.len()..]);
        !(before.ends_with(char::is_alphabetic) || whole && after.starts_with(char::is_alphabetic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, &format!("{text}\n"))])).len()
    }

    #[test]
    fn a_word_of_a_domain_is_found_in_comments_names_and_texts() {
        for line in [
            "/// Of `insured.name`.",
            "fn notify_broker() {}",
            "const A: &str = \"the Loss Runs\";",
            "// a VIN's digit",
        ] {
            assert_eq!(findings("crates/core/src/a.rs", line), 1, "{line}");
        }
        for line in ["// ensured, driving, a policy", "const VINE: u8 = 1;"] {
            assert_eq!(findings("crates/engine/src/a.rs", line), 0, "{line}");
        }
    }

    #[test]
    fn tests_packs_and_what_is_known_may_have_it() {
        let test = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    // insured\n}\n";
        assert_eq!(findings("crates/core/src/a.rs", test), 0);
        for path in ["crates/packs/src/a.rs", "crates/core/tests/a.rs", "crates/store/src/migrate.rs"] {
            assert_eq!(findings(path, "// insured\n"), 0, "{path}");
        }
        assert_eq!(findings("crates/store/src/migrate.rs", "// freight\n"), 1);
    }
}
