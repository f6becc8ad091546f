//! A file's name says what is in it.

use super::finding::Finding;
use super::tree::Tree;

/// Names that say nothing, in singular and plural.
const BANNED: &[&str] = &["util", "utils", "common", "commons", "helper", "helpers", "manager", "managers"];

/// Checks the name of every file and folder, except in what others wrote.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let own = tree.files().iter().filter(|file| !file.path().starts_with("third_party/"));
    let mut findings = Vec::new();
    for file in own {
        let folders = file.path().rsplit_once('/').map_or("", |(folders, _)| folders);
        for name in folders.split('/').chain([file.stem()]) {
            let name = name.to_ascii_lowercase();
            if BANNED.contains(&name.as_str()) {
                findings.push(Finding::violation(
                    file.path(),
                    1,
                    format!("the name {name:?} says nothing"),
                    "name it after the noun or the duty that is in it",
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_names_are_found_in_files_and_folders() {
        let tree = Tree::of(&[
            ("crates/x/src/utils.rs", ""),
            ("crates/x/tests/common/mod.rs", ""),
            ("crates/x/src/Manager.rs", ""),
        ]);
        assert_eq!(check(&tree).len(), 3);
    }

    #[test]
    fn names_that_only_contain_one_pass() {
        let tree = Tree::of(&[("crates/x/src/common_law.rs", ""), ("third_party/utils/a.py", "")]);
        assert_eq!(check(&tree), []);
    }
}
