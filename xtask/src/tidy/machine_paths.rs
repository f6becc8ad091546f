//! The project speaks of itself only: no path of a particular machine.

use super::finding::Finding;
use super::tree::Tree;

/// How such paths begin. They are put together here, so that this file does not accuse itself.
const PREFIXES: &[&str] = &[
    concat!("/", "work/"),
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("/", "root/"),
    concat!("C:", "\\Users\\"),
    concat!("..", "/shared"),
];

/// Checks every line of every text file, except in what others wrote.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| !file.path().starts_with("third_party/")) {
        if !PREFIXES.iter().any(|prefix| file.text().contains(prefix)) {
            continue;
        }
        for (index, line) in file.text().lines().enumerate() {
            if let Some(prefix) = PREFIXES.iter().find(|prefix| names(line, prefix)) {
                findings.push(Finding::violation(
                    file.path(),
                    index + 1,
                    format!("names {prefix:?}, a path of a particular machine"),
                    "say it relative to the project, or take it as a setting",
                ));
            }
        }
    }
    findings
}

/// Whether the path starts there, and is not the middle of a longer one or of a URL.
fn names(line: &str, prefix: &str) -> bool {
    line.match_indices(prefix).any(|(at, _)| {
        let inside = line[..at].ends_with(|c: char| c.is_alphanumeric() || "_-.~}/*".contains(c));
        !inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(line: &str) -> usize {
        check(&Tree::of(&[("docs/a.md", line)])).len()
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        assert_eq!(count(&format!("see {}design.md", PREFIXES[0])), 1);
        assert_eq!(count(&format!("\"{}someone/x\"", PREFIXES[1])), 1);
        assert_eq!(count(&format!("(see {}/x.md)", PREFIXES[5])), 1);
    }

    #[test]
    fn parts_of_longer_paths_and_urls_pass() {
        assert_eq!(count(&format!("https://example.com{}x", PREFIXES[0])), 0);
        assert_eq!(count(&format!("src{}x.rs", PREFIXES[0])), 0);
    }
}
