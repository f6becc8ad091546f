//! `cargo xtask perf`: what the server and its stores can do, with the goals, in one run on this machine.
//!
//! It builds the floor and the load driver of `bench/`, and then runs the benches of the store and of the server.
//! Figures of a busy machine say little; the ratios are what to look at.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cargo;

pub(crate) const USAGE: &str = "perf [--seconds S] [--history N] [--postgres URL]";

/// The programs that are run, with the options each takes.
const BENCHES: &[(&str, &str, &[&str])] = &[
    ("kybern-store", "store", &["--seconds", "--history", "--postgres"]),
    ("kybern", "performance", &["--seconds", "--postgres"]),
];

/// Runs the command.
///
/// # Errors
/// When the arguments are wrong, or something cannot be built or measured.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let mut options = Vec::new();
    let mut words = args.iter();
    while let Some(name) = words.next() {
        let known = BENCHES.iter().any(|(_, _, takes)| takes.contains(&name.as_str()));
        match words.next() {
            Some(value) if known => options.push((name.as_str(), value.as_str())),
            _ => bail!("usage: cargo xtask {USAGE}"),
        }
    }
    let root = crate::root::find()?;
    println!("building the floor and the load driver of bench/");
    carry_out(&root.join("bench"), &["build", "--release", "--quiet"])?;
    println!("machine: {} cores, load {}\n", cores(), load());
    for (package, bench, takes) in BENCHES {
        let mut call = vec!["bench", "--quiet", "-p", package, "--bench", bench, "--"];
        for (name, value) in options.iter().filter(|(name, _)| takes.contains(name)) {
            call.extend([name, value]);
        }
        carry_out(&root, &call)?;
        println!("\nload {}\n", load());
    }
    Ok(ExitCode::SUCCESS)
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
