//! A name says what it stands for.

use super::finding::Finding;
use super::tree::Tree;

/// Names of files and folders that say nothing, in singular and plural.
const EMPTY_FILES: &[&str] = &["util", "utils", "common", "commons", "helper", "helpers", "manager", "managers"];

/// Names of types that every module could give to something else, so that a reader has to look each one up.
const EMPTY_TYPES: &[&str] = &[
    "About",
    "After",
    "Aim",
    "Answered",
    "Answering",
    "Around",
    "Asked",
    "Asking",
    "Before",
    "Begun",
    "Behind",
    "Beneath",
    "Beside",
    "By",
    "Called",
    "Counted",
    "Data",
    "Decided",
    "Deleting",
    "Doing",
    "Done",
    "Drawn",
    "Dropping",
    "Due",
    "Either",
    "End",
    "Ended",
    "Ending",
    "Entered",
    "Fate",
    "Filled",
    "Found",
    "Full",
    "Gathered",
    "Had",
    "Held",
    "Helper",
    "Info",
    "Inner",
    "Inside",
    "Kept",
    "Keeping",
    "Known",
    "Lately",
    "Leaving",
    "Left",
    "Limited",
    "Listing",
    "Look",
    "Looked",
    "Loaded",
    "Made",
    "Manager",
    "Moment",
    "Move",
    "Named",
    "News",
    "Next",
    "Of",
    "One",
    "Open",
    "Opened",
    "Opening",
    "Order",
    "Out",
    "Parts",
    "Picked",
    "Piece",
    "Place",
    "Placed",
    "Putting",
    "Read",
    "Reading",
    "Received",
    "Replied",
    "Reserved",
    "Room",
    "Running",
    "Said",
    "Same",
    "Seen",
    "Settled",
    "Shared",
    "Shown",
    "Standing",
    "State",
    "Taken",
    "Taking",
    "Taught",
    "Then",
    "Told",
    "Together",
    "Towards",
    "Understood",
    "Unmade",
    "Use",
    "Waited",
    "Waiting",
    "Wanted",
    "Way",
    "What",
    "Which",
    "Why",
    "Within",
    "Work",
    "Writing",
    "Written",
];

/// How a type is declared.
const KEYWORDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

/// Checks the name of every file, folder and type, except in what others wrote.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let own = tree.files().iter().filter(|file| !file.path().starts_with("third_party/"));
    let mut findings = Vec::new();
    for file in own {
        let folders = file.path().rsplit_once('/').map_or("", |(folders, _)| folders);
        for name in folders.split('/').chain([file.stem()]) {
            if EMPTY_FILES.contains(&name.to_ascii_lowercase().as_str()) {
                findings.push(empty(file.path(), 1, name, "name it after the noun or the duty that is in it"));
            }
        }
        if is_program(file.path()) {
            let declared = file.text().lines().enumerate().filter_map(|(at, line)| Some((at, declared(line)?)));
            for (at, name) in declared.filter(|(_, name)| EMPTY_TYPES.contains(name)) {
                findings.push(empty(file.path(), at + 1, name, "say of what: `ProviderAnswer`, `OpenContainer`"));
            }
        }
    }
    findings
}

/// Whether a reader of the program meets it.
fn is_program(path: &str) -> bool {
    path.ends_with(".rs") && (path.contains("/src/")) && !path.contains("/tests/") && !path.ends_with("tests.rs")
}

/// The type that a line declares, outside of every block.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split(' ');
    let word = words.by_ref().find(|word| !word.starts_with("pub") && !word.ends_with(')'))?;
    let name = KEYWORDS.contains(&word).then(|| words.next())??;
    Some(name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(name))
}

fn empty(path: &str, line: usize, name: &str, remedy: &str) -> Finding {
    Finding::violation(path, line, format!("the name {name:?} says nothing"), remedy)
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

    #[test]
    fn empty_names_of_types_are_found() {
        let text =
            "struct Found {\n}\npub(in crate::a) enum Known<'a> {}\npub type Told = u8;\npub trait Written: Send {}\n";
        let findings = check(&Tree::of(&[("crates/x/src/a.rs", text)]));
        assert_eq!(findings.len(), 4, "{findings:?}");
    }

    #[test]
    fn what_stands_in_tests_in_blocks_and_in_longer_names_passes() {
        let text = "struct FoundFile;\nmod a {\n    struct Found;\n}\n// struct Found\n";
        assert_eq!(check(&Tree::of(&[("crates/x/src/a.rs", text), ("crates/x/tests/it/a.rs", "struct Found;")])), []);
    }
}
