//! `cargo xtask eval`: how well mails and papers are understood, beside the truth.
//!
//! A real server gets every mail of a set, in order, in an empty organisation that knows the set's insurers. What it
//! decided, asked, read and made is held against `truth.json`. The mails of `parts.json` that are locked are fed like
//! the others, because later mails refer to them, and are scored only when somebody asks for them. With `--model` the
//! server asks a language model about everything: one that knows the truth, in the format of a provider, or a real one.

mod feed;
mod floor;
mod normal;
mod report;
mod score;
mod scripted;
mod set;
mod told;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::args::Args;
use crate::server::{self, Server};
use score::Score;
use scripted::{Reader, Scripted};
use set::{Part, Set};

/// The line in the help.
pub(crate) const USAGE: &str = "eval [--set DIR] [--part learn|locked|all] [--bin FILE] [--model FORMAT|URL#NAME [--unsure]] [--worst N] [--raw FILE] [--json]";

/// The set of the project.
const SET: &str = "samples/understanding";
/// Mails whose faults are listed.
const WORST: usize = 10;

#[derive(Clone, PartialEq, Eq, Debug)]
struct Options {
    set: Option<PathBuf>,
    part: Part,
    program: Option<PathBuf>,
    model: Option<Reader>,
    /// Whether the model is asked only where the rules are unsure.
    unsure: bool,
    worst: usize,
    raw: Option<PathBuf>,
    json: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self {
            set: None,
            part: Part::Learn,
            program: None,
            model: None,
            unsure: false,
            worst: WORST,
            raw: None,
            json: false,
        };
        let mut args = Args::new(args, USAGE);
        while let Some(arg) = args.next() {
            match arg {
                "--json" => options.json = true,
                "--unsure" => options.unsure = true,
                "--set" => options.set = Some(args.value(arg)?.into()),
                "--part" => options.part = Part::named(args.value(arg)?)?,
                "--model" => options.model = Some(Reader::named(args.value(arg)?)?),
                "--bin" => options.program = Some(args.value(arg)?.into()),
                "--worst" => options.worst = args.number(arg)?,
                "--raw" => options.raw = Some(args.value(arg)?.into()),
                unknown => return Err(args.unknown(unknown)),
            }
        }
        Ok(options)
    }
}

/// Runs the command.
///
/// # Errors
/// When the arguments are wrong, the set cannot be read, or the server cannot be built or started.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let folder = options.set.clone().map_or_else(|| crate::root::find().map(|root| root.join(SET)), Ok)?;
    let set = Set::read(&folder)?;
    let program = options.program.clone().map_or_else(server::built, Ok)?;
    let when = if options.unsure { "unsure" } else { "always" };
    let (model, settings) = match &options.model {
        None => (None, String::new()),
        Some(Reader::Real { url, name }) => (None, Reader::settings(url, name, when)),
        Some(Reader::Scripted(format)) => {
            let model = Scripted::start(*format)?;
            let settings = model.settings(when);
            (Some(model), settings)
        }
    };
    let server = Server::start_with(&program, "eval", &settings)?;
    let fed = feed::feed(&server, &set, model.as_ref())?;
    if let Some(model) = &model {
        eprintln!("the scripted model was asked {} questions", model.questions());
    }
    if let Some(file) = &options.raw {
        let tasks = fed.outcomes.iter().map(|(name, outcome)| (name.clone(), outcome.task.clone().unwrap_or_default()));
        let tasks: serde_json::Map<String, serde_json::Value> = tasks.collect();
        std::fs::write(file, serde_json::to_vec_pretty(&tasks)?)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    let score = Score::of(&set, options.part, &fed);
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report::json(&score))?);
    } else {
        print!("{}", report::text(&score, options.worst));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a program understands the mails that may be looked at as well as it must; says what it does not.
///
/// # Errors
/// When the program cannot be started, or a set cannot be read.
pub(crate) fn keeps_the_floor(root: &Path, program: &Path) -> Result<bool> {
    let mut keeps = true;
    for (folder, floor) in floor::SETS {
        let set = Set::read(&root.join(folder))?;
        let server = Server::start(program, "eval")?;
        let part = if *folder == SET { Part::Learn } else { Part::All };
        let score = Score::of(&set, part, &feed::feed(&server, &set, None)?);
        let beneath = floor::beneath(&score, floor);
        if !beneath.is_empty() {
            println!("{folder}:");
            print!("{}", report::text(&score, WORST));
        }
        beneath.iter().for_each(|line| println!("    {line}"));
        keeps &= beneath.is_empty();
    }
    Ok(keeps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_locked_is_looked_at_only_when_somebody_says_so() {
        assert_eq!(parse("").unwrap().part, Part::Learn);
        let all = parse("--set somewhere --part locked --bin kybern --worst 3 --json").unwrap();
        assert_eq!((all.part, all.worst, all.json), (Part::Locked, 3, true));
        assert_eq!(all.set, Some(PathBuf::from("somewhere")));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for line in
            ["--set", "--part some", "--worst many", "--fast 1", "--model parrot", "--model http://127.0.0.1:1/v1"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
