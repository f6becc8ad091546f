//! `cargo xtask sim`: the simulator of the executor, over as many seeds as one likes.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::args::Args;
use crate::cargo;
use crate::clock::{Stopwatch, readable};

/// The line in the help.
pub(crate) const USAGE: &str = "sim [--seed N] [--count N]";

/// Seeds of one run when nobody says.
const COUNT: u64 = 20_000;

/// Which seeds are played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seeds {
    from: u64,
    count: u64,
}

/// Plays seeds: the named one, or many from one that nobody has chosen.
///
/// # Errors
/// When the arguments are wrong, or cargo cannot be started.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let seeds = Seeds::parse(args)?;
    println!("xtask sim: {} seeds from {}", seeds.count, seeds.from);
    let args = ["test", "--package", "kybern-engine", "--test", "it", "sim::whatever"];
    let watch = Stopwatch::start();
    let status = cargo::command(&crate::root::find()?, &args)
        .env("KYBERN_SIM_SEED", seeds.from.to_string())
        .env("KYBERN_SIM_COUNT", seeds.count.to_string())
        .status()
        .context("cannot start cargo")?;
    let verdict = if status.success() { "every one came to a legal end" } else { "see the failure above" };
    println!("xtask sim: {verdict} ({})", readable(watch.elapsed()));
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Seeds {
    fn parse(args: &[String]) -> Result<Self> {
        let (mut seed, mut count) = (None, None);
        let mut args = Args::new(args, USAGE);
        while let Some(arg) = args.next() {
            match arg {
                "--seed" => seed = Some(args.number(arg)?),
                "--count" => count = Some(args.number(arg)?),
                unknown => return Err(args.unknown(unknown)),
            }
        }
        // Small enough to be typed again.
        let any = || RandomState::new().build_hasher().finish() >> 34;
        let count = count.unwrap_or(if seed.is_some() { 1 } else { COUNT });
        Ok(Self { from: seed.unwrap_or_else(any), count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Seeds> {
        Seeds::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_named_seed_is_played_alone_unless_more_are_asked_for() {
        assert_eq!(parse(&["--seed", "7"]).unwrap(), Seeds { from: 7, count: 1 });
        assert_eq!(parse(&["--count", "5", "--seed", "7"]).unwrap(), Seeds { from: 7, count: 5 });
        assert_eq!(parse(&[]).unwrap().count, COUNT);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for args in [&["--seed"][..], &["--seed", "x"], &["--seeds", "1"], &["7"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}
