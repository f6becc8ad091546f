//! `cargo xtask soak`: a real server takes in mails, webhooks, tasks and messages of chats for as long as one likes,
//! and must need no more in the end than after its warm-up.
//!
//! Each round hands in the same work, waits until all of it is over, and then reads what the process holds. Memory is
//! judged by the line that fits the rounds after the warm-up best: bytes for each task that has ended. What is open in
//! the store must come down to nothing after each round, and handles to what they were after the first.

mod held;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::args::Args;
use crate::clock::{Stopwatch, readable};
use crate::server::{self, Server};
use held::{Sample, Verdict};

/// The line in the help.
pub(crate) const USAGE: &str = "soak [--minutes M] [--bin FILE] [--mails N]";

/// An hour shows a hundred bytes a task.
const MINUTES: u64 = 60;
/// Mails of one round; of everything else half as many.
const MAILS: u32 = 100;
/// The work of one round is over by then, on any machine.
const PATIENCE: Duration = Duration::from_secs(300);
/// After all work the server rests for so long before its handles are counted.
const REST: Duration = Duration::from_secs(5);

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Options {
    minutes: u64,
    mails: u32,
    program: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { minutes: MINUTES, mails: MAILS, program: None };
        let mut args = Args::new(args, USAGE);
        while let Some(arg) = args.next() {
            match arg {
                "--minutes" => options.minutes = args.number(arg)?,
                "--mails" => options.mails = args.number(arg)?,
                "--bin" => options.program = Some(args.value(arg)?.into()),
                unknown => return Err(args.unknown(unknown)),
            }
        }
        Ok(options)
    }
}

/// Runs the command.
///
/// # Errors
/// When the arguments are wrong, the server cannot be built or started, or work is refused or never over.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let program = options.program.clone().map_or_else(server::built, Ok)?;
    let server = Server::start(&program, "soak")?;
    let samples = rounds(&server, &options)?;
    std::thread::sleep(REST);
    let last = Sample { handles: server.handles()?, ..*samples.last().context("not one round was played")? };
    let verdict = Verdict::of(&samples, &last);
    println!("xtask soak: {verdict}");
    Ok(if verdict.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Plays rounds until the time is over.
fn rounds(server: &Server, options: &Options) -> Result<Vec<Sample>> {
    let watch = Stopwatch::start();
    let time = Duration::from_secs(options.minutes * 60);
    let mut samples: Vec<Sample> = Vec::new();
    work::prepare(server)?;
    while samples.len() < held::LEAST || watch.elapsed() < time {
        let round = samples.len();
        let tasks = samples.last().map_or(0, |sample| sample.tasks) + work::hand_in(server, round, options.mails)?;
        work::wait_for_all(server, PATIENCE)?;
        let sample = Sample { tasks, memory: server.memory()?, handles: server.handles()? };
        println!("round {round}, {}: {sample}", readable(watch.elapsed()));
        samples.push(sample);
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn an_hour_is_the_default_and_everything_can_be_said() {
        assert_eq!(parse("").unwrap(), Options { minutes: 60, mails: 100, program: None });
        let all = parse("--minutes 2 --mails 5 --bin target/debug/kybern").unwrap();
        assert_eq!(all, Options { minutes: 2, mails: 5, program: Some(PathBuf::from("target/debug/kybern")) });
    }

    #[test]
    fn what_is_wrong_is_said() {
        for line in ["--minutes", "--minutes soon", "--mails -1", "--hours 1"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
