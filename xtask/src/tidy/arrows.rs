//! Import arrows between our crates: what may depend on what.

use super::finding::Finding;
use super::manifest::{Dependency, Kind, Manifest};
use super::tree::Tree;

/// Each crate and the crates of ours that it may import. The test kit is a dev-dependency of any.
const ALLOWED: &[(&str, &[&str])] = &[
    ("kybern-core", &[]),
    ("kybern-engine", &["kybern-core"]),
    ("kybern-store", &["kybern-core"]),
    ("kybern-adapters", &["kybern-core"]),
    ("kybern-packs", &["kybern-core"]),
    ("kybern-testkit", &["kybern-core", "kybern-coverage"]),
    ("kybern-coverage", &[]),
    ("kybern-server", &["kybern-core", "kybern-engine"]),
    ("kybern", &["kybern-core", "kybern-engine", "kybern-store", "kybern-adapters", "kybern-packs", "kybern-server"]),
    ("xtask", &[]),
];

/// The crate that only tests may import.
const TESTKIT: &str = "kybern-testkit";

/// The crate that the tests of these may import as well: they run over a real store.
const STORE: &str = "kybern-store";
const TESTED_ON_A_STORE: &[&str] = &["kybern-engine", "kybern-server"];

/// Checks every manifest.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| file.path().ends_with("/Cargo.toml")) {
        let manifest = Manifest::read(file.text());
        if manifest.package.is_empty() {
            continue;
        }
        let known = ALLOWED.iter().find(|(name, _)| *name == manifest.package);
        let Some((_, allowed)) = known else {
            if file.path().starts_with("crates/") {
                findings.push(unknown(file.path(), &manifest.package));
            }
            continue;
        };
        for dependency in manifest.dependencies.iter().filter(|d| is_ours(&d.name)) {
            if !permits(&manifest.package, allowed, dependency) {
                findings.push(forbidden(file.path(), &manifest.package, allowed, dependency));
            }
        }
    }
    findings
}

fn is_ours(name: &str) -> bool {
    name == "kybern" || name == "xtask" || name.starts_with("kybern-")
}

fn permits(package: &str, allowed: &[&str], dependency: &Dependency) -> bool {
    let is_for_tests = dependency.name == TESTKIT || (dependency.name == STORE && TESTED_ON_A_STORE.contains(&package));
    allowed.contains(&dependency.name.as_str()) || (dependency.kind == Kind::Dev && is_for_tests)
}

fn unknown(path: &str, package: &str) -> Finding {
    Finding::violation(
        path,
        1,
        format!("the crate {package} has no import arrows"),
        "a crate exists to forbid an import: say which in xtask/src/tidy/arrows.rs",
    )
}

fn forbidden(path: &str, package: &str, allowed: &[&str], dependency: &Dependency) -> Finding {
    let name = &dependency.name;
    let is_for_tests = name == TESTKIT || (name == STORE && TESTED_ON_A_STORE.contains(&package));
    let remedy = if is_for_tests {
        "make it a dev-dependency".to_owned()
    } else if allowed.is_empty() {
        "it may import no crate of ours; move what it needs, or put a port into core".to_owned()
    } else {
        format!("it may import {}; put a port into core", allowed.join(", "))
    };
    Finding::violation(path, dependency.line, format!("{package} must not import {name}"), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(package: &str, rest: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"{package}\"\n{rest}\n");
        let tree = Tree::of(&[("crates/x/Cargo.toml", &text)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn allowed_arrows_pass() {
        assert!(findings("kybern-engine", "[dependencies]\nkybern-core.workspace = true\ntokio = \"1\"").is_empty());
        assert!(findings("kybern-core", "[dev-dependencies]\nkybern-testkit.workspace = true").is_empty());
        assert!(findings("kybern", "[dependencies]\nkybern-packs.workspace = true").is_empty());
    }

    #[test]
    fn an_arrow_back_is_refused_with_its_line() {
        let found = findings("kybern-store", "[dependencies]\nkybern-engine.workspace = true");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/x/Cargo.toml:4: kybern-store must not import kybern-engine"));
    }

    #[test]
    fn the_test_kit_and_other_crates_stay_out_of_builds() {
        assert_eq!(findings("kybern", "[dependencies]\nkybern-testkit.workspace = true").len(), 1);
        assert_eq!(findings("kybern-packs", "[dev-dependencies]\nkybern-store.workspace = true").len(), 1);
        assert_eq!(findings("xtask", "[dependencies]\nkybern-core.workspace = true").len(), 1);
    }

    #[test]
    fn a_store_is_for_the_tests_of_what_runs_over_one() {
        for package in TESTED_ON_A_STORE {
            assert!(findings(package, "[dev-dependencies]\nkybern-store.workspace = true").is_empty());
            assert_eq!(findings(package, "[dependencies]\nkybern-store.workspace = true").len(), 1);
        }
    }

    #[test]
    fn a_new_crate_needs_arrows() {
        assert_eq!(findings("kybern-console", "").len(), 1);
    }
}
