//! `cargo xtask perf`: what the server and its stores can do, with the goals, in one run on this machine.
//!
//! It builds the floor and the load driver of `bench/`, starts a private PostgreSQL as `cargo xtask test` does, and
//! then runs the benches of the store and of the server. Figures of a busy machine say little; the ratios are what to
//! look at.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::cargo;
use crate::services::{self, RunningService};

pub(crate) const USAGE: &str = "perf [--only PART]… [--seconds S] [--history N] [--postgres URL | --without-postgres]
      PART: store, client, sqlite, memory, intake, documents, recovery, start, gateway,
      chat, postgres, fleet";

/// What can be measured alone, and whether it is measured on PostgreSQL too. All but the first is the server's bench.
const PARTS: &[(&str, bool)] = &[
    (STORE, true),
    ("client", false),
    ("sqlite", false),
    ("memory", false),
    ("intake", false),
    ("documents", false),
    ("recovery", true),
    ("start", false),
    ("gateway", false),
    ("chat", false),
    ("postgres", true),
    ("fleet", true),
];

/// The part that is the store's bench.
const STORE: &str = "store";

/// What the caller asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Options {
    only: Vec<String>,
    seconds: Option<String>,
    history: Option<String>,
    postgres: Option<String>,
    without_postgres: bool,
}

/// Runs the command.
///
/// # Errors
/// When the arguments are wrong, or something cannot be had, built or measured.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let root = crate::root::find()?;
    println!("building the floor and the load driver of bench/");
    carry_out(&root.join("bench"), &["build", "--release", "--quiet"])?;
    // It is taken down at the end of this function, or when this process dies.
    let server = if options.wants_server() { Some(start_postgres()?) } else { None };
    let url = options.postgres.clone().or_else(|| server.as_ref().and_then(url_of)).or_else(|| options.given());
    println!("machine: {} cores, load {}\n", cores(), load());
    for call in options.calls(url.as_deref()) {
        let call: Vec<&str> = call.iter().map(String::as_str).collect();
        carry_out(&root, &call)?;
        println!("\nload {}\n", load());
    }
    Ok(ExitCode::SUCCESS)
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = Args::new(args, USAGE);
        while let Some(arg) = args.next() {
            match arg {
                "--without-postgres" => options.without_postgres = true,
                "--only" => options.only.push(part(args.value(arg)?)?),
                "--seconds" => options.seconds = Some(args.number::<u64>(arg)?.to_string()),
                "--history" => options.history = Some(args.number::<u64>(arg)?.to_string()),
                "--postgres" => options.postgres = Some(args.value(arg)?.to_owned()),
                unknown => return Err(args.unknown(unknown)),
            }
        }
        if options.without_postgres && options.postgres.is_some() {
            bail!("--postgres and --without-postgres contradict each other");
        }
        Ok(options)
    }

    fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }

    /// Whether a private server is needed.
    fn wants_server(&self) -> bool {
        let on_postgres = PARTS.iter().any(|(part, postgres)| *postgres && self.wants(part));
        on_postgres && !self.without_postgres && self.postgres.is_none() && self.given().is_none()
    }

    /// The server that the environment names, as it does for the tests.
    fn given(&self) -> Option<String> {
        if self.without_postgres {
            return None;
        }
        std::env::var(services::POSTGRES.variables.first()?).ok().filter(|url| !url.is_empty())
    }

    /// The calls of cargo, in order.
    fn calls(&self, postgres: Option<&str>) -> Vec<Vec<String>> {
        let mut calls = Vec::new();
        if self.wants(STORE) {
            calls.push(self.call("kybern-store", "store", &[("--history", self.history.as_deref())], postgres));
        }
        if PARTS.iter().any(|(part, _)| *part != STORE && self.wants(part)) {
            let only = self.only.iter().filter(|part| *part != STORE);
            let only: Vec<_> = only.map(|part| ("--only", Some(part.as_str()))).collect();
            calls.push(self.call("kybern", "performance", &only, postgres));
        }
        calls
    }

    fn call(&self, package: &str, bench: &str, more: &[(&str, Option<&str>)], postgres: Option<&str>) -> Vec<String> {
        let mut call = vec!["bench", "--quiet", "-p", package, "--bench", bench, "--"];
        let shared = [("--seconds", self.seconds.as_deref()), ("--postgres", postgres)];
        for (name, value) in more.iter().copied().chain(shared) {
            call.extend(value.into_iter().flat_map(|value| [name, value]));
        }
        call.into_iter().map(str::to_owned).collect()
    }
}

fn part(name: &str) -> Result<String> {
    if PARTS.iter().any(|(part, _)| *part == name) {
        return Ok(name.to_owned());
    }
    bail!("there is no part {name:?}\nusage: cargo xtask {USAGE}")
}

fn start_postgres() -> Result<RunningService> {
    let running = (services::POSTGRES.start)();
    let running = running.context("PostgreSQL cannot be had; run with --without-postgres to go without it")?;
    println!("{}", running.about());
    Ok(running)
}

fn url_of(running: &RunningService) -> Option<String> {
    running.environment().first().map(|(_, url)| url.clone())
}

fn carry_out(folder: &Path, args: &[&str]) -> Result<()> {
    let status = cargo::command(folder, args).status()?;
    if !status.success() {
        bail!("cargo {} ended with {status}", args.join(" "));
    }
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The load of the last minute, as far as the system tells.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn without_options_both_benches_run_and_a_server_is_wanted() {
        let options = parse(&[]).unwrap();
        let calls = options.calls(Some("postgres://a/b"));
        assert_eq!(calls.len(), 2);
        assert!(calls.iter().all(|call| call.ends_with(&["--postgres".to_owned(), "postgres://a/b".to_owned()])));
        assert!(options.given().is_some() || options.wants_server());
    }

    #[test]
    fn one_part_alone_needs_one_bench_and_no_server_that_it_does_not_ask() {
        let options = parse(&["--only", "intake", "--seconds", "2"]).unwrap();
        let calls = options.calls(None);
        assert_eq!(calls.len(), 1);
        assert!(calls[0].join(" ").ends_with("performance -- --only intake --seconds 2"), "{calls:?}");
        assert!(!options.wants_server());
        assert_eq!(parse(&["--only", "store"]).unwrap().calls(None).len(), 1);
    }

    #[test]
    fn postgres_can_be_named_or_left_out() {
        assert!(!parse(&["--postgres", "postgres://a/b"]).unwrap().wants_server());
        assert!(!parse(&["--without-postgres"]).unwrap().wants_server());
        assert!(parse(&["--without-postgres", "--postgres", "postgres://a/b"]).is_err());
    }

    #[test]
    fn unknown_parts_and_arguments_are_refused() {
        for args in [&["--only", "everything"][..], &["--only"], &["--fast"], &["--seconds", "many"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}
