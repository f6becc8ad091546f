//! Both databases go through the same migrations, under the same numbers and names.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::tree::Tree;

/// The two folders.
const FOLDERS: [&str; 2] = ["crates/store/migrations/sqlite/", "crates/store/migrations/postgres/"];

/// Where they are listed in their order.
const LIST: &str = "crates/store/src/migrate.rs";

/// Checks names, numbers, that each file has its twin, and that it is listed.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let list = tree.files().iter().find(|file| file.path() == LIST).map_or("", |file| file.text());
    for (folder, other) in [(FOLDERS[0], FOLDERS[1]), (FOLDERS[1], FOLDERS[0])] {
        let mut numbers = BTreeMap::new();
        for file in tree.below(folder) {
            let path = file.path();
            let name = &path[folder.len()..];
            if !tree.files().iter().any(|twin| twin.path().strip_prefix(other) == Some(name)) {
                let remedy = format!("add {other}{name}; it may be a comment that says why nothing is to do");
                findings.push(Finding::violation(path, 1, "has no twin for the other database", remedy));
            }
            let Some(number) = number(name) else {
                findings.push(Finding::violation(path, 1, "is not named NNNN_name.sql", "rename it in both folders"));
                continue;
            };
            if !list.contains(&format!("\"{}\"", name.trim_end_matches(".sql"))) {
                findings.push(Finding::violation(path, 1, "is never run", format!("list it in {LIST}")));
            }
            if let Some(first) = numbers.insert(number, name) {
                let message = format!("has the number of {first}");
                findings.push(Finding::violation(path, 1, message, "take the next free number in both folders"));
            }
        }
    }
    findings
}

/// The four digits of `NNNN_name.sql`.
fn number(name: &str) -> Option<&str> {
    let (digits, rest) = name.split_once('_')?;
    let stem = rest.strip_suffix(".sql")?;
    let plain = stem.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()) && plain && !stem.is_empty()).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(files: &[&str]) -> usize {
        let files: Vec<(String, &str)> =
            files.iter().map(|name| (format!("crates/store/migrations/{name}"), "")).collect();
        let list = r#"migration!(1, "0001_base"), migration!(1, "0001_other"), "0001_a", "0001_b""#;
        let files = files.iter().map(|(path, text)| (path.as_str(), *text)).chain([(LIST, list)]);
        let files: Vec<(&str, &str)> = files.collect();
        check(&Tree::of(&files)).len()
    }

    #[test]
    fn twins_pass_and_a_lone_file_is_found() {
        assert_eq!(count(&["sqlite/0001_base.sql", "postgres/0001_base.sql"]), 0);
        assert_eq!(count(&["sqlite/0001_base.sql", "postgres/0001_other.sql"]), 2);
    }

    #[test]
    fn a_file_that_is_not_listed_is_found() {
        assert_eq!(count(&["sqlite/0002_more.sql", "postgres/0002_more.sql"]), 2);
    }

    #[test]
    fn names_and_numbers_are_checked() {
        assert_eq!(count(&["sqlite/1_base.sql", "postgres/1_base.sql"]), 2);
        let twice = ["sqlite/0001_a.sql", "postgres/0001_a.sql", "sqlite/0001_b.sql", "postgres/0001_b.sql"];
        assert_eq!(count(&twice), 2);
    }
}
