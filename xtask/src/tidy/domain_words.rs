//! What knows no domain has no word of one, in comments, prompts and statements neither.
//!
//! Left out: tests, whose examples may be of any trade, and the adapters, whose offline rules read papers of all trades by
//! their words.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::tree::{SourceFile, Tree};

/// What knows no domain.
const DOMAIN_FREE: &[&str] = &["crates/core/", "crates/engine/", "crates/store/", "crates/server/"];

/// Words of the bundled packs' domains, also in the plural. A `*` at the end stands for any end of the word.
const WORDS: &[&str] = &[
    "acord",
    "broker*",
    "carrier*",
    "dot number",
    "fleet",
    "freight*",
    "insur*",
    "loss run",
    "mc number",
    "naic",
    "policy number",
    "policyholder*",
    "trucking",
    "underwrit*",
    "vin",
];

/// Where one stands although: the names of kinds of values that papers are searched for, and of a migration that was
/// released.
const KNOWN: &[(&str, &[&str])] = &[
    ("crates/core/src/model/schema.rs", &["carrier*", "dot number", "mc number", "naic", "policy number", "vin"]),
    ("crates/core/src/model/own_schema/field.rs", &["dot number", "mc number", "naic", "policy number", "vin"]),
    ("crates/store/src/migrate.rs", &["insur*"]),
];

/// Checks every line outside tests, and that what is let pass is still there.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let found = found(tree);
    let is_known = |path: &str, word: &str| KNOWN.iter().any(|(place, words)| *place == path && words.contains(&word));
    let mut findings: Vec<Finding> = found
        .iter()
        .filter(|(path, _, word)| !is_known(path, word))
        .map(|(path, line, word)| {
            Finding::violation(
                path,
                *line,
                format!("{:?} is a word of a domain", word.trim_end_matches('*')),
                "the core knows no domain: say what it is for any, or move it into a pack",
            )
        })
        .collect();
    findings.extend(outlived(tree, &found));
    findings
}

/// Entries of [`KNOWN`] for files of this tree that let nothing pass any more.
fn outlived(tree: &Tree, found: &BTreeSet<(String, usize, &'static str)>) -> Vec<Finding> {
    let of_tree = KNOWN.iter().filter(|(place, _)| tree.files().iter().any(|file| file.path() == *place));
    let entries = of_tree.flat_map(|(place, words)| words.iter().map(move |word| (*place, *word)));
    let is_there = |(place, word): &(&str, &str)| found.iter().any(|(path, _, found)| path == place && found == word);
    let outlived = entries.filter(|entry| !is_there(entry)).map(|(place, word)| {
        let message = format!("{word:?} does not stand in {place} any more");
        Finding::violation("xtask/src/tidy/domain_words.rs", 1, message, "take it out of KNOWN")
    });
    outlived.collect()
}

/// Every word of a domain, with its place.
fn found(tree: &Tree) -> BTreeSet<(String, usize, &'static str)> {
    let mut found = BTreeSet::new();
    let mut look = |file: &SourceFile, numbers: &mut dyn Iterator<Item = usize>| {
        let lines: Vec<&str> = file.text().lines().collect();
        for number in numbers {
            let words = words_of(lines.get(number - 1).copied().unwrap_or_default());
            let of_domain = WORDS.iter().filter(|word| has(&words, word));
            found.extend(of_domain.map(|word| (file.path().to_owned(), number, *word)));
        }
    };
    let is_read = |file: &SourceFile, folders: &[&str]| {
        let rest = DOMAIN_FREE.iter().find_map(|free| file.path().strip_prefix(free));
        !file.is_test() && rest.is_some_and(|rest| folders.iter().any(|folder| rest.starts_with(folder)))
    };
    for (file, source) in tree.rust_files().filter(|(file, _)| is_read(file, &["src/"])) {
        look(file, &mut source.code().map(|(number, _)| number));
    }
    for file in tree.files().iter().filter(|file| is_read(file, &["prompts/", "sql/"])) {
        look(file, &mut (1..=file.text().lines().count()));
    }
    found
}

/// The words of a line in small letters, those too of which its identifiers are made. An empty one stands where a comma
/// parts them.
fn words_of(line: &str) -> Vec<String> {
    let words = |part: &str| part.split(|c: char| !c.is_alphanumeric()).flat_map(humps).collect::<Vec<_>>();
    line.split(',').flat_map(|part| words(part).into_iter().chain([String::new()])).collect()
}

fn humps(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| chars.get(before));
        let behind = chars.get(at + 1);
        // The `s` behind capitals is their plural.
        let ends_capitals = behind.is_some_and(|next| next.is_lowercase() && chars.get(at + 1..) != Some(&['s']));
        let is_hump = c.is_uppercase() && before.is_some_and(|before| !before.is_uppercase() || ends_capitals);
        match words.last_mut().filter(|_| !is_hump) {
            Some(word) => word.extend(c.to_lowercase()),
            None => words.push(c.to_lowercase().collect()),
        }
    }
    words
}

/// Whether one of these stands among the words of a line, one behind the other where there are several.
fn has(words: &[String], wanted: &str) -> bool {
    let wanted: Vec<&str> = wanted.split(' ').collect();
    let fits = |(word, wanted): (&String, &&str)| match wanted.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word.strip_suffix('s').is_some_and(|one| one == *wanted) || word == wanted,
    };
    words.windows(wanted.len()).any(|words| words.iter().zip(&wanted).all(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        let tree = Tree::of(&[(path, &format!("{text}\n"))]);
        check(&tree).len() - outlived(&tree, &found(&tree)).len()
    }

    #[test]
    fn a_word_of_a_domain_is_found_in_comments_names_and_texts() {
        for line in [
            "/// Of `insured.name`.",
            "fn notify_broker() {}",
            "fn find_by_vin() {}",
            "struct VinCheck;",
            "struct CheckVIN;",
            "const HTTPVinHeader: u8 = 1;",
            "const A: &str = \"the Loss Runs\";",
            "const A: &str = \"policy_numbers\";",
            "const A: &str = \"acord-125.pdf\";",
            "let lossRun = 1;",
            "// a VIN's digit, or several",
            "// many VINs",
        ] {
            assert_eq!(findings("crates/core/src/a.rs", line), 1, "{line}");
        }
        for line in ["// ensured, driving, a policy, numbers", "const VINE: u8 = 1;", "struct Vine;", "// losses run"] {
            assert_eq!(findings("crates/engine/src/a.rs", line), 0, "{line}");
        }
    }

    #[test]
    fn prompts_and_statements_are_read_too() {
        for path in ["crates/engine/prompts/a.md", "crates/store/sql/shared/a.sql"] {
            assert_eq!(findings(path, "-- the insured's name\n\nSELECT vin"), 2, "{path}");
        }
    }

    #[test]
    fn tests_packs_and_what_is_known_may_have_it() {
        let test = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    // insured\n}\n";
        assert_eq!(findings("crates/core/src/a.rs", test), 0);
        for path in ["crates/packs/src/a.rs", "crates/packs/prompts/a.md", "crates/core/tests/a.rs"] {
            assert_eq!(findings(path, "// insured\n"), 0, "{path}");
        }
        assert_eq!(findings("crates/store/src/migrate.rs", "// insured\n"), 0);
        assert_eq!(findings("crates/store/src/migrate.rs", "// freight\n"), 1);
    }

    #[test]
    fn what_is_let_pass_and_is_gone_is_found() {
        let of = |text: &str| {
            let tree = Tree::of(&[("crates/store/src/migrate.rs", text)]);
            outlived(&tree, &found(&tree)).len()
        };
        assert_eq!(of("// freight\n"), of("// insured\n") + 1);
    }
}
