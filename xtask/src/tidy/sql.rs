//! SQL is in the store, and in files.

use super::finding::Finding;
use super::tree::Tree;

/// The crate that owns SQL.
const STORE: &str = "crates/store/";

/// Folders whose statements exist because the two databases disagree.
const DIFFERING: &[&str] = &["crates/store/sql/sqlite/", "crates/store/sql/postgres/"];

/// How such a file opens.
const OPENING: &str = "-- differs because";

/// Checks literals, the place of `.sql` files, and their opening.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = literals(tree);
    for file in tree.files().iter().filter(|file| file.path().ends_with(".sql")) {
        let path = file.path();
        if !path.starts_with(STORE) && !path.starts_with("third_party/") {
            findings.push(Finding::violation(path, 1, "SQL outside the store", "move it to crates/store/sql"));
        }
        if DIFFERING.iter().any(|folder| path.starts_with(folder)) && !file.text().starts_with(OPENING) {
            findings.push(Finding::violation(
                path,
                1,
                "does not say why the databases differ here",
                format!("open with `{OPENING} …`, or share one statement in crates/store/sql/shared"),
            ));
        }
    }
    findings
}

fn literals(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust_files() {
        let path = file.path();
        if !path.starts_with("crates/") || path.starts_with(STORE) || file.is_test() {
            continue;
        }
        for literal in source.literals().filter(|literal| is_statement(&literal.text)) {
            findings.push(Finding::violation(
                path,
                literal.line,
                "an SQL statement outside the store",
                "add a unit of work to the port in core, and the statement to crates/store/sql",
            ));
        }
    }
    findings
}

/// Whether a text opens like a statement. `SELECT` counts in capitals only: the word opens sentences too.
fn is_statement(text: &str) -> bool {
    let text = text.replace("\\n", " ");
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    match lower.as_slice() {
        ["select", _, ..] => words[0] == "SELECT",
        ["insert", "into" | "or", ..] | ["delete", "from", ..] | ["create", "table", ..] => true,
        ["update", _, "set", ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_from_sentences() {
        for statement in [
            "SELECT 1",
            "\n    insert into tasks (id) values ($1)",
            "INSERT OR IGNORE INTO a",
            "update tasks set a = 1",
            "DELETE FROM tasks",
            "create table if not exists a",
        ] {
            assert!(is_statement(statement), "{statement}");
        }
        for sentence in ["select a tool", "update the plan", "SELECT", "selected", "delete the task", ""] {
            assert!(!is_statement(sentence), "{sentence}");
        }
    }

    #[test]
    fn statements_outside_the_store_are_found_and_tests_are_free() {
        let text = "fn f() {\n    run(\"DELETE FROM tasks\");\n}\n#[cfg(test)]\nmod tests {\n    // x\n    const A: &str = \"SELECT 1\";\n}\n";
        let tree = Tree::of(&[
            ("crates/engine/src/a.rs", text),
            ("crates/store/src/a.rs", text),
            ("crates/kybern/tests/a.rs", text),
        ]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/engine/src/a.rs:2: "), "{found:?}");
    }

    #[test]
    fn files_that_differ_say_why_and_live_in_the_store() {
        let tree = Tree::of(&[
            ("crates/store/sql/sqlite/a.sql", "-- differs because SQLite has no arrays\nSELECT 1;\n"),
            ("crates/store/sql/postgres/a.sql", "SELECT 1;\n"),
            ("crates/store/sql/shared/b.sql", "SELECT 1;\n"),
            ("crates/engine/sql/a.sql", "SELECT 1;\n"),
        ]);
        assert_eq!(check(&tree).len(), 2);
    }
}
