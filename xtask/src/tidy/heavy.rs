//! Heavy dependencies stay in the crate that exists to isolate them, and core stays pure.

use super::finding::Finding;
use super::manifest::{Kind, Manifest};
use super::tree::Tree;

/// A dependency, the crates that may have it, and why.
const HOMES: &[(&str, &[&str], &str)] = &[
    ("sqlx", &["kybern-store"], "all SQL is in the store"),
    ("axum", &["kybern-server"], "HTTP routes are the server's"),
    ("tower-http", &["kybern-server"], "HTTP routes are the server's"),
    (
        "utoipa",
        &["kybern-server", "kybern-core"],
        "the edge has the OpenAPI document, and core describes its own shapes",
    ),
    ("reqwest", &["kybern-adapters", "kybern"], "outside calls go through the adapters' egress policy"),
    ("clap", &["kybern"], "the command line is the binary's"),
    ("figment", &["kybern"], "nothing below the binary reads configuration"),
];

/// What core must not import: it has no runtime, no I/O, no clock and no randomness.
const IMPURE: &[&str] = &["tokio", "tokio-util", "futures", "getrandom", "rand", "tracing", "anyhow"];

/// The crate whose tests look at the rows beneath a running server.
const LOOKS_BENEATH: &str = "kybern";

/// Checks every manifest. Dev-dependencies are free, except in SQL's case: that is for one crate's tests.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.below("crates/").filter(|file| file.path().ends_with("/Cargo.toml")) {
        let manifest = Manifest::read(file.text());
        for dependency in &manifest.dependencies {
            let (name, package) = (dependency.name.as_str(), manifest.package.as_str());
            if dependency.kind == Kind::Dev && (name != "sqlx" || package == LOOKS_BENEATH) {
                continue;
            }
            if package == "kybern-core" && IMPURE.contains(&name) {
                findings.push(Finding::violation(
                    file.path(),
                    dependency.line,
                    format!("core must not import {name}"),
                    "core is pure: declare a port and let an outer crate carry it out",
                ));
            }
            if let Some((_, homes, reason)) = HOMES.iter().find(|(heavy, _, _)| *heavy == name)
                && !homes.contains(&package)
            {
                findings.push(Finding::violation(
                    file.path(),
                    dependency.line,
                    format!("{package} must not import {name}: {reason}"),
                    format!("move the code to {}", homes.join(" or ")),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(package: &str, rest: &str) -> usize {
        let text = format!("[package]\nname = \"{package}\"\n{rest}\n");
        check(&Tree::of(&[("crates/x/Cargo.toml", &text)])).len()
    }

    #[test]
    fn heavy_dependencies_stay_at_home() {
        assert_eq!(count("kybern-store", "[dependencies]\nsqlx.workspace = true"), 0);
        assert_eq!(count("kybern-engine", "[dependencies]\nsqlx.workspace = true"), 1);
        assert_eq!(count("kybern-engine", "[dev-dependencies]\nsqlx.workspace = true"), 1);
        assert_eq!(count("kybern", "[dev-dependencies]\nsqlx.workspace = true"), 0);
        assert_eq!(count("kybern", "[dependencies]\nsqlx.workspace = true"), 1);
        assert_eq!(count("kybern", "[dev-dependencies]\naxum.workspace = true"), 0);
    }

    #[test]
    fn core_is_pure() {
        assert_eq!(count("kybern-core", "[dependencies]\ntokio.workspace = true\nserde = \"1\""), 1);
        assert_eq!(count("kybern-core", "[dev-dependencies]\ntokio.workspace = true"), 0);
    }
}
