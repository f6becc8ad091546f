//! `cargo xtask fuzz`: each fuzz target plays a million inputs in a release build.
//!
//! The targets are tests of the crates they belong to; the tests of a run play a few thousand of the same inputs. This
//! chore only says how many, from which seed, and where findings go. A target that finds something stops; the others
//! go on. With `--guided` it builds programs that count their branches, so that what reaches a new one is kept and
//! changed further.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::cargo;
use crate::clock::{Stopwatch, readable};

/// Its arguments.
pub(crate) const USAGE: &str =
    "fuzz [--target T]… [--count N] [--seed S] [--from N] [--input FILE] [--guided] [--list]";

/// A target: its name, its crate, and the test that plays it. In the order of their speed.
struct Target(&'static str, &'static str, &'static str);

const TARGETS: &[Target] = &[
    Target("signatures", "kybern-engine", "fuzz::signatures::signatures"),
    Target("templates", "kybern-engine", "fuzz::templates::templates"),
    Target("schemas", "kybern-engine", "fuzz::schemas::schemas"),
    Target("exports", "kybern-engine", "fuzz::exports::exports"),
    Target("plans", "kybern-engine", "fuzz::plans::plans"),
    Target("mail", "kybern-adapters", "fuzz::mail::mail"),
    Target("mail-wrappers", "kybern-adapters", "fuzz::enclosed::wrappers"),
    Target("mail-zips", "kybern-adapters", "fuzz::enclosed::zips"),
    Target("mail-floods", "kybern-adapters", "fuzz::mail::floods"),
    Target("text", "kybern-adapters", "fuzz::documents::text"),
    Target("csv", "kybern-adapters", "fuzz::documents::csv"),
    Target("html", "kybern-adapters", "fuzz::documents::html"),
    Target("html-floods", "kybern-adapters", "fuzz::documents::html_floods"),
    Target("docx", "kybern-adapters", "fuzz::office::docx"),
    Target("xlsx", "kybern-adapters", "fuzz::office::xlsx"),
    Target("pdf", "kybern-adapters", "fuzz::paper::pdf"),
    Target("provider-streams", "kybern-adapters", "fuzz::providers::provider_streams"),
    Target("provider-bodies", "kybern-adapters", "fuzz::providers::provider_bodies"),
    Target("imap-servers", "kybern-adapters", "fuzz::servers::imap_servers"),
    Target("smtp-servers", "kybern-adapters", "fuzz::servers::smtp_servers"),
    Target("callbacks", "kybern-server", "fuzz::callbacks"),
    Target("forms", "kybern-server", "fuzz::forms::forms"),
    Target("archives", "kybern-store", "fuzz::archives"),
    Target("doors", "kybern-server", "fuzz::doors::doors_of_json"),
    Target("messages", "kybern", "fuzz::messages::messages"),
    Target("message-floods", "kybern", "fuzz::floods::message_floods"),
];

/// What is to be played.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    targets: Vec<String>,
    variables: Vec<(&'static str, String)>,
    list: bool,
    guided: bool,
}

/// How a program is built that counts its branches, which stable compilers can do too.
const COUNTED: &str = "--cfg guided -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 \
                       -Cllvm-args=-sanitizer-coverage-inline-8bit-counters";

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { targets: Vec::new(), variables: Vec::new(), list: false, guided: false };
        let mut count: u64 = 1_000_000;
        let mut args = Args::new(args, USAGE);
        while let Some(arg) = args.next() {
            match arg {
                "--list" => options.list = true,
                "--guided" => options.guided = true,
                "--target" => options.targets.push(target(args.value(arg)?)?),
                "--count" => count = args.number(arg)?,
                "--seed" => options.variables.push(("KYBERN_FUZZ_SEED", args.number::<u64>(arg)?.to_string())),
                "--from" => options.variables.push(("KYBERN_FUZZ_FROM", args.number::<u64>(arg)?.to_string())),
                "--input" => options.variables.push(("KYBERN_FUZZ_INPUT", absolute(args.value(arg)?)?)),
                unknown => return Err(args.unknown(unknown)),
            }
        }
        if options.variables.iter().any(|(name, _)| *name == "KYBERN_FUZZ_INPUT") && options.targets.len() != 1 {
            bail!("--input is for one target, name it with --target");
        }
        options.variables.push(("KYBERN_FUZZ_COUNT", count.to_string()));
        Ok(options)
    }

    fn wants(&self, target: &Target) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|name| name == target.0)
    }
}

fn target(name: &str) -> Result<String> {
    if TARGETS.iter().any(|target| target.0 == name) {
        return Ok(name.to_owned());
    }
    bail!("there is no target {name:?}; see cargo xtask fuzz --list")
}

fn absolute(path: &str) -> Result<String> {
    let path = std::fs::canonicalize(path).with_context(|| format!("cannot find {path}"))?;
    Ok(path.to_string_lossy().into_owned())
}

/// Runs the command.
///
/// # Errors
/// When the arguments are wrong, or cargo cannot be started.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    if options.list {
        TARGETS.iter().for_each(|target| println!("{}", target.0));
        return Ok(ExitCode::SUCCESS);
    }
    let root = crate::root::find()?;
    let mut failed = Vec::new();
    for target in TARGETS.iter().filter(|target| options.wants(target)) {
        let watch = Stopwatch::start();
        println!("fuzz {}: begins", target.0);
        if !play(&root, target, &options)? {
            failed.push(target.0);
        }
        println!("fuzz {}: {} with its build", target.0, readable(watch.elapsed()));
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("fuzz: findings in {}; see the lines above", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

fn play(root: &Path, target: &Target, options: &Options) -> Result<bool> {
    let mut args = vec!["test", "--release", "-p", target.1, "--test", "it"];
    let host;
    if options.guided {
        host = cargo::host()?;
        // A target that is named keeps what only the compiler runs free of counters.
        args.extend(["--target", &host]);
    }
    args.extend(["--", target.2, "--exact", "--nocapture"]);
    let mut command = cargo::command(root, &args);
    if options.guided {
        command.env("RUSTFLAGS", COUNTED).env("CARGO_TARGET_DIR", cargo::target(root).join("guided"));
    }
    let out = root.join("target/fuzz");
    let note = out.join(format!("{}.at", target.0));
    drop(std::fs::remove_file(&note));
    command.env("KYBERN_FUZZ_OUT", &out);
    command.envs(options.variables.iter().map(|(name, value)| (*name, value.as_str())));
    let good = command.status().context("cannot start cargo")?.success();
    if !good && options.guided {
        println!("fuzz {}: the last input is in {}; --input FILE repeats it", target.0, note.display());
    } else if !good && let Ok(number) = std::fs::read_to_string(note) {
        // Where the test could not say it itself, because its process is gone.
        let number = number.trim_start_matches('0');
        println!("fuzz {}: the last input was {number}; --from {number} --count 1 repeats and saves it", target.0);
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_million_inputs_of_every_target_are_the_default() {
        let options = parse("").unwrap();
        assert!(TARGETS.iter().all(|target| options.wants(target)));
        assert_eq!(options.variables, [("KYBERN_FUZZ_COUNT", "1000000".to_owned())]);
    }

    #[test]
    fn named_targets_and_numbers_are_taken() {
        let options = parse("--target pdf --seed 7 --guided --from 12 --count 1").unwrap();
        assert!(options.guided && !parse("--target pdf").unwrap().guided);
        assert_eq!(TARGETS.iter().filter(|target| options.wants(target)).count(), 1);
        assert!(options.variables.contains(&("KYBERN_FUZZ_SEED", "7".to_owned())));
        assert!(options.variables.contains(&("KYBERN_FUZZ_COUNT", "1".to_owned())));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for line in ["--target ghost", "--count", "--count many", "--fast 1", "--input xtask"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn every_target_is_a_test() {
        let root = crate::root::find().unwrap();
        for Target(name, package, test) in TARGETS {
            let folder = root.join("crates").join(package.trim_start_matches("kybern-")).join("tests/it");
            let modules: Vec<&str> = test.split("::").collect();
            let file = folder.join(modules[..modules.len() - 1].join("/")).with_extension("rs");
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let written = [format!("Target::new(\"{name}\""), format!("fn {}()", modules[modules.len() - 1])];
            assert!(written.iter().all(|part| text.contains(part)), "{name} is not in {}", file.display());
        }
    }

    #[test]
    fn every_test_of_a_target_is_played() {
        let names: std::collections::BTreeSet<_> = TARGETS.iter().map(|target| target.0).collect();
        let mut found = 0;
        for file in crate::root::find().unwrap().join("crates").read_dir().unwrap() {
            let mut folders = vec![file.unwrap().path().join("tests/it")];
            while let Some(folder) = folders.pop() {
                for entry in folder.read_dir().into_iter().flatten() {
                    let path = entry.unwrap().path();
                    if path.is_dir() {
                        folders.push(path);
                        continue;
                    }
                    let text = std::fs::read_to_string(&path).unwrap();
                    for name in text.split("Target::new(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                        assert!(names.contains(name), "{name} of {} is not in TARGETS", path.display());
                        found += 1;
                    }
                }
            }
        }
        assert_eq!(found, TARGETS.len());
    }
}
