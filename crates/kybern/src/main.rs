//! The `kybern` binary: the server, and the command line that talks to it.

// Everything that is printed goes through `output::Screen`, which notices when it does not arrive.
#![deny(clippy::print_stdout)]

mod backup;
mod cli;
mod client;
mod config;
mod demo;
mod doctor;
mod heads;
mod local;
mod mailbox;
mod models;
mod opening;
mod output;
mod packs;
mod recover;
mod serve;
mod telemetry;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
