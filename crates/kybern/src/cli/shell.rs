//! `kybern completion` and `kybern man`: what a shell and its reader want to know of the other verbs.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::exit::Exit;
use super::{Cli, Context};
use crate::output::Failure;

/// The program's name.
const NAME: &str = "kybern";

/// `kybern completion`
#[derive(Args, Debug)]
pub(super) struct CompletionArgs {
    /// The shell
    shell: Shell,
}

/// `kybern man`
#[derive(Args, Debug)]
pub(super) struct ManArgs {
    /// The folder; made when it is not there
    folder: PathBuf,
}

/// Prints what completes a command line.
pub(super) fn completion(args: &CompletionArgs, context: &mut Context) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    context.screen().bytes(&script);
    Exit::Done
}

/// Writes a page for each verb.
pub(super) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let wrote = clap_mangen::generate_to(Cli::command(), folder);
    wrote.with_context(|| format!("cannot write into {}", folder.display()))?;
    Ok(Exit::Done)
}
