//! A test runs, or it is deleted.

use super::finding::Finding;
use super::tree::Tree;

/// Checks every line, tests above all.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust_files() {
        for (line, code) in source.all_code().filter(|(_, code)| code.trim_start().starts_with("#[ignore")) {
            findings.push(Finding::violation(
                file.path(),
                line,
                format!("an ignored test: {}", code.trim()),
                "make it run everywhere, let it skip with a printed reason, or delete it",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_tests_are_found_inside_test_modules() {
        let text = "#[cfg(test)]\nmod tests {\n    #[test]\n    #[ignore = \"slow\"]\n    fn a() {}\n}\n";
        let found: Vec<String> =
            check(&Tree::of(&[("crates/x/src/a.rs", text)])).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/x/src/a.rs:4: "), "{found:?}");
    }

    #[test]
    fn the_word_in_a_comment_passes() {
        assert_eq!(check(&Tree::of(&[("crates/x/src/a.rs", "// #[ignore]\nfn ignore() {}\n")])), []);
    }
}
