//! The rules that neither the compiler nor clippy can check.
//!
//! A rule is a function from the [`Tree`] to its findings; it reads no file and starts no process, so that a test
//! gives it a few lines of text. A new rule is one file and one line in [`RULES`].

mod arrows;
mod domain_words;
mod doors;
mod error_pages;
mod finding;
mod floors;
mod heavy;
mod idle_tests;
mod machine_paths;
mod manifest;
mod migrations;
mod modules;
mod names;
mod packs;
mod rust_reader;
mod rust_source;
mod sizes;
mod sql;
mod tree;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::clock::{Stopwatch, readable};
use finding::{Finding, Weight};
use tree::Tree;

/// What a rule is.
type Rule = fn(&Tree) -> Vec<Finding>;

/// Every rule.
const RULES: &[Rule] = &[
    arrows::check,
    heavy::check,
    packs::check,
    domain_words::check,
    sizes::check,
    names::check,
    error_pages::check,
    sql::check,
    migrations::check,
    modules::check,
    doors::check,
    floors::check,
    idle_tests::check,
    machine_paths::check,
];

/// Runs the command.
///
/// # Errors
/// When an argument is given, or the files cannot be listed.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if let Some(arg) = args.first() {
        bail!("takes no arguments, and got {arg:?}");
    }
    Ok(if report(&crate::root::find()?)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks the checkout at `root`, prints what it finds, and says whether it is clean. Warnings leave it clean.
///
/// # Errors
/// When the files cannot be listed.
pub(crate) fn report(root: &std::path::Path) -> Result<bool> {
    let watch = Stopwatch::start();
    let tree = Tree::load(root)?;
    let findings = check(&tree);
    let violations = findings.iter().filter(|finding| finding.weight() == Weight::Violation).count();
    let warnings = findings.len() - violations;
    for finding in &findings {
        println!("{finding}");
    }
    let took = readable(watch.elapsed());
    let files = tree.files().len();
    let rules = RULES.len();
    if violations > 0 {
        println!("tidy: {violations} violations, {warnings} warnings in {files} files ({rules} rules, {took})");
    } else {
        println!("tidy: clean, {warnings} warnings in {files} files ({rules} rules, {took})");
    }
    Ok(violations == 0)
}

/// Every finding of every rule, in the order of path and line.
fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_all_rules_come_in_order_of_place() {
        let tree = Tree::of(&[
            ("crates/server/src/lib.rs", "mod utils;\n"),
            ("crates/server/src/utils.rs", "fn f() { q(\"DELETE FROM tasks\"); }\n"),
            ("crates/engine/src/task/mod.rs", "mod a;\n"),
            ("crates/engine/src/task/a.rs", "fn f() { q(\"SELECT 1\"); }\n"),
            ("crates/engine/src/lib.rs", "mod task;\n"),
        ]);
        let lines: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].starts_with("crates/engine/src/task/a.rs:1: "), "{lines:?}");
        assert!(lines[2].starts_with("crates/server/src/utils.rs:1: "), "{lines:?}");
    }
}
