//! The `kybern` binary: the server, and the command line that talks to it.

// Everything that is printed goes through `output::Screen`, which notices when it does not arrive; what is said beside it
// through `output::aside`, which does not panic then.
#![deny(clippy::print_stdout, clippy::print_stderr)]

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
mod prove;
mod recover;
mod serve;
mod telemetry;
mod wiring;

use std::process::ExitCode;

use kybern_adapters::documents::{READER_VERB, read_as_child};

fn main() -> ExitCode {
    // Nobody's to call: a server starts itself so for each document. Before there is a command line or a runtime, which
    // take time, and memory that is the document's.
    if std::env::args_os().nth(1).is_some_and(|verb| verb == READER_VERB) {
        return if read_as_child(std::env::args().skip(2)).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    cli::main()
}
