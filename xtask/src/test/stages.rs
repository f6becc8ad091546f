//! Which stages a run has, and how each is carried out.

use std::path::Path;

use anyhow::{Context, Result};

use super::options::Options;
use super::summary::Outcome;
use crate::cargo;
use crate::services::Client;

/// One step of the run.
pub(super) struct Stage {
    /// What it does, as a line.
    pub(super) title: String,
    /// How.
    pub(super) run: Run,
}

/// How a stage is carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Run {
    /// Not at all, for that reason.
    Skip(String),
    /// The project's own rules, in this process.
    Tidy,
    /// Licences, bans and sources, by cargo-deny.
    Licenses,
    /// A cargo call that passes or fails.
    Cargo(Vec<String>),
    /// The servers for the tests.
    Servers,
    /// A client for the tests.
    Client(Client),
    /// A cargo call that runs tests.
    Tests(Vec<String>),
    /// The floor of understanding, with the program that the tests have built.
    Understanding,
    /// The Debian package of that program, tried by `docs/production.md`.
    Package,
}

/// The stages for these options on this machine.
pub(super) fn plan(root: &Path, options: &Options) -> Vec<Stage> {
    let mut stages = Vec::new();
    if options.packages.is_empty() {
        checks(root, &mut stages);
    }
    stages.push(stage("servers for the tests", Run::Servers));
    // Only the binary's tests ask by them.
    let asked = options.packages.is_empty() || options.packages.iter().any(|package| package == "kybern");
    for client in Client::ALL.into_iter().filter(|_| asked) {
        stages.push(if options.without.iter().any(|without| without == super::CLIENTS) {
            skip(client.title(), "left out by --no-clients")
        } else {
            stage(client.title(), Run::Client(client))
        });
    }
    let nextest = cargo::has(root, "nextest");
    let scope = scope(options);
    if nextest {
        let tests = words(&["nextest", "run", "--no-fail-fast", "--no-tests=warn"], &scope, &options.rest);
        stages.push(cargo_stage(Run::Tests(tests)));
        stages.push(doc_tests(root, options));
    } else {
        println!("xtask test: cargo-nextest is not installed; cargo test runs the tests, doc tests included");
        stages.push(cargo_stage(Run::Tests(words(&["test", "--no-fail-fast"], &scope, &options.rest))));
    }
    if options.packages.is_empty() && options.rest.is_empty() {
        stages.push(stage("xtask eval: understanding keeps its floor", Run::Understanding));
        stages.push(stage("xtask package: installed, upgraded and removed by docs/production.md", Run::Package));
    }
    stages
}

/// Runs a check to its end, with its output on the terminal.
///
/// # Errors
/// When cargo cannot be started.
pub(super) fn cargo(root: &Path, args: &[String]) -> Result<Outcome> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let status = cargo::command(root, &args).status().context("cannot start cargo")?;
    Ok(Outcome::of(status.success(), "see the lines above"))
}

fn checks(root: &Path, stages: &mut Vec<Stage>) {
    stages.push(if cargo::has(root, "fmt") {
        cargo_stage(Run::Cargo(words(&["fmt", "--all", "--check"], &[], &[])))
    } else {
        skip("cargo fmt", "rustfmt is not installed; rustup component add rustfmt")
    });
    stages.push(stage("xtask tidy", Run::Tidy));
    stages.push(if cargo::has(root, "clippy") {
        let args = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
        cargo_stage(Run::Cargo(words(&args, &[], &[])))
    } else {
        skip("cargo clippy", "clippy is not installed; rustup component add clippy")
    });
    // Links in comments, those of private items too.
    let args = [
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
        "--config",
        "build.rustdocflags=['-Dwarnings']",
    ];
    stages.push(cargo_stage(Run::Cargo(words(&args, &[], &[]))));
    stages.push(stage("xtask licenses", Run::Licenses));
}

/// Cargo refuses doc tests of a package without a library, so with `-p` only libraries are named.
fn doc_tests(root: &Path, options: &Options) -> Stage {
    if !options.rest.is_empty() {
        return skip("doc tests", "the arguments after -- are for cargo nextest");
    }
    let libraries: Vec<String> =
        options.packages.iter().filter(|package| has_library(root, package)).cloned().collect();
    if libraries.is_empty() && !options.packages.is_empty() {
        return skip("doc tests", "none of the crates is a library");
    }
    let scope = scope(&Options { packages: libraries, ..Options::default() });
    cargo_stage(Run::Tests(words(&["test", "--doc", "--no-fail-fast"], &scope, &[])))
}

fn has_library(root: &Path, package: &str) -> bool {
    let folder = package.strip_prefix("kybern-").unwrap_or(package);
    root.join("crates").join(folder).join("src/lib.rs").exists()
}

fn scope(options: &Options) -> Vec<String> {
    if options.packages.is_empty() {
        return vec!["--workspace".to_owned()];
    }
    options.packages.iter().flat_map(|package| ["-p".to_owned(), package.clone()]).collect()
}

fn words(first: &[&str], then: &[String], last: &[String]) -> Vec<String> {
    first.iter().map(|word| (*word).to_owned()).chain(then.iter().cloned()).chain(last.iter().cloned()).collect()
}

fn stage(title: &str, run: Run) -> Stage {
    Stage { title: title.to_owned(), run }
}

fn skip(title: &str, reason: &str) -> Stage {
    stage(title, Run::Skip(reason.to_owned()))
}

fn cargo_stage(run: Run) -> Stage {
    let title = match &run {
        Run::Cargo(args) | Run::Tests(args) => format!("cargo {}", args.join(" ")),
        Run::Skip(_)
        | Run::Tidy
        | Run::Licenses
        | Run::Servers
        | Run::Client(_)
        | Run::Understanding
        | Run::Package => String::new(),
    };
    Stage { title, run }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(options: &Options) -> Vec<String> {
        let root = crate::root::find().unwrap();
        plan(&root, options).into_iter().map(|stage| stage.title).collect()
    }

    #[test]
    fn a_whole_run_begins_with_the_checks_and_ends_with_tests() {
        let titles = titles(&Options::default());
        assert!(titles[0].starts_with("cargo fmt"), "{titles:?}");
        assert_eq!(titles[1], "xtask tidy");
        assert!(
            titles.iter().any(|title| title.starts_with("cargo doc") && title.contains("-Dwarnings")),
            "{titles:?}"
        );
        assert!(titles.iter().any(|title| title.contains("--workspace")), "{titles:?}");
    }

    #[test]
    fn named_crates_get_only_their_tests() {
        let titles = titles(&Options { packages: vec!["xtask".into()], ..Options::default() });
        assert_eq!(titles[0], "servers for the tests");
        assert!(titles[1].contains("-p xtask"), "{titles:?}");
        assert!(!titles.iter().any(|title| title.contains("--workspace")), "{titles:?}");
    }

    #[test]
    fn only_libraries_have_doc_tests() {
        let root = crate::root::find().unwrap();
        assert!(has_library(&root, "kybern-core"));
        assert!(!has_library(&root, "xtask"));
    }
}
