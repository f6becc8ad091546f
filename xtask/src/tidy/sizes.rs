//! Files stay small enough to be read in one go.

use super::finding::Finding;
use super::tree::{SourceFile, Tree};

/// More lines than this fail.
const MOST: usize = 449;

/// More lines than this warn.
const MANY: usize = 400;

/// What counts as source. Data, prose and SQL may be long.
const KINDS: &[&str] = &[".rs", ".py", ".sh", ".js", ".css"];

/// Checks every source file. Tests do not count, nor does what others wrote.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let rust = tree.rust_files().map(|(file, source)| (file, source.lines()));
    let other = tree
        .files()
        .iter()
        .filter(|file| !file.path().ends_with(".rs"))
        .map(|file| (file, file.text().lines().count()));
    rust.chain(other).filter(|(file, _)| counts(file)).filter_map(|(file, lines)| verdict(file, lines)).collect()
}

fn counts(file: &SourceFile) -> bool {
    let vendored = file.path().starts_with("third_party/") || file.path().contains("/vendor/");
    KINDS.iter().any(|kind| file.path().ends_with(kind)) && !vendored && !file.is_test()
}

fn verdict(file: &SourceFile, lines: usize) -> Option<Finding> {
    if lines > MOST {
        let message = format!("{lines} lines, tests aside; {MOST} is the most");
        return Some(Finding::violation(file.path(), MOST + 1, message, "split it by noun or by duty"));
    }
    let message = format!("{lines} lines, tests aside; over {MANY} is hard to read");
    (lines > MANY).then(|| Finding::warning(file.path(), MANY + 1, message, "split it by noun or by duty"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::Weight;

    fn weights(path: &str, text: &str) -> Vec<Weight> {
        check(&Tree::of(&[(path, text)])).iter().map(Finding::weight).collect()
    }

    #[test]
    fn long_files_warn_and_very_long_ones_fail() {
        assert_eq!(weights("crates/x/src/a.rs", &"//\n".repeat(400)), []);
        assert_eq!(weights("crates/x/src/a.rs", &"//\n".repeat(401)), [Weight::Warning]);
        assert_eq!(weights("crates/x/src/a.rs", &"//\n".repeat(450)), [Weight::Violation]);
        assert_eq!(weights("samples/make.py", &"#\n".repeat(450)), [Weight::Violation]);
    }

    #[test]
    fn tests_data_and_others_code_do_not_count() {
        let tests = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{}}}\n", "    x();\n".repeat(700));
        assert_eq!(weights("crates/x/src/a.rs", &tests), []);
        let long = "x\n".repeat(700);
        assert_eq!(weights("crates/x/tests/main.rs", &long), []);
        assert_eq!(weights("crates/store/sql/a.sql", &long), []);
        assert_eq!(weights("third_party/x/a.js", &long), []);
    }
}
