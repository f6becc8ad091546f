//! `cargo xtask test`: everything that must hold before a change lands, in one command.
//!
//! A stage that fails does not stop the next ones: one run shows all that is wrong. A stage whose tool is missing is
//! skipped, and the table at the end says so.

mod counts;
mod options;
mod stages;
mod summary;
mod tee;

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::clock::{Stopwatch, readable};
use crate::services::{self, Brought, Client, RunningService};
use options::Options;
use stages::{Run, Stage};
use summary::{Outcome, Report};

pub(crate) use options::USAGE;

/// Runs the command.
///
/// # Errors
/// When the arguments are wrong, or a server for the tests cannot be had.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let root = crate::root::find()?;
    let stages = stages::plan(&root, &options);
    println!("xtask test: {} stages, {}", stages.len(), scope(&options));
    let mut report = Report::default();
    let mut servers = Servers::default();
    for (index, stage) in stages.iter().enumerate() {
        println!("\n[{}/{}] {}", index + 1, stages.len(), stage.title);
        let watch = Stopwatch::start();
        let outcome = carry_out(stage, &root, &options, &mut servers, &mut report)
            .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        outcome.print();
        report.add(&stage.title, outcome, watch.elapsed());
    }
    servers.take_down();
    print!("{report}");
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn scope(options: &Options) -> String {
    if options.packages.is_empty() {
        return "the whole workspace".to_owned();
    }
    format!(
        "only the tests of {} (formatting, tidy, lints and licences are for the whole workspace)",
        options.packages.join(", ")
    )
}

fn carry_out(
    stage: &Stage,
    root: &std::path::Path,
    options: &Options,
    servers: &mut Servers,
    report: &mut Report,
) -> Result<Outcome> {
    match &stage.run {
        Run::Skip(reason) => Ok(Outcome::Skipped(reason.clone())),
        Run::Tidy => Ok(Outcome::of(crate::tidy::report(root)?, "see the lines above")),
        Run::Licenses => match crate::licenses::command(root) {
            Ok(mut deny) => {
                let passed = deny.status().context("cannot start cargo-deny")?.success();
                Ok(Outcome::of(passed, "see the lines above"))
            }
            Err(missing) => Ok(Outcome::Skipped(format!("cargo-deny cannot be had: {missing:#}"))),
        },
        Run::Cargo(args) => stages::cargo(root, args),
        Run::Servers => servers.bring_up(options),
        Run::Client(client) => Ok(servers.bring(*client)),
        Run::Understanding => {
            let program = crate::server::built_for_tests()?;
            Ok(Outcome::of(crate::eval::keeps_the_floor(root, &program)?, "see the lines above"))
        }
        Run::Package => {
            let program = crate::server::built_for_tests()?;
            Ok(match crate::package::passes(root, &program)? {
                Ok(()) => Outcome::Passed,
                Err(missing) => Outcome::Skipped(missing.to_string()),
            })
        }
        Run::Tests(args) => {
            let missing = servers.missing();
            if !missing.is_empty() {
                return Ok(Outcome::Failed(format!("not run: {} did not start", missing.join(", "))));
            }
            let tests = tee::run(root, args, &servers.environment())?;
            servers.notice_deaths();
            let good = tests.success;
            report.count(tests);
            Ok(Outcome::of(good, "see the failures above"))
        }
    }
}

/// The servers of this run.
#[derive(Default)]
struct Servers {
    running: Vec<(&'static str, RunningService)>,
    missing: Vec<&'static str>,
    clients: Vec<Brought>,
}

impl Servers {
    fn bring_up(&mut self, options: &Options) -> Result<Outcome> {
        let mut errors = Vec::new();
        for services::Service { name, variables, asked_by, start } in services::ALL {
            if options.without.iter().any(|without| without == name) {
                println!("    {name}: left out by --no-{name}; tests that need it say how they go on");
                continue;
            }
            if services::is_given(variables) {
                println!("    {name}: taken from {}", variables.join(", "));
                continue;
            }
            if let Some(variable) = asked_by.filter(|variable| !services::is_asked(variable)) {
                println!("    {name}: not asked for; {variable}=1 brings it");
                continue;
            }
            let watch = Stopwatch::start();
            match start() {
                Ok(running) => {
                    println!("    {name}: {} ({})", running.about(), readable(watch.elapsed()));
                    self.running.push((name, running));
                }
                Err(error) => {
                    self.missing.push(name);
                    errors.push(format!("{name}: {error:#}; run with --no-{name} to go without it"));
                }
            }
        }
        Ok(if errors.is_empty() { Outcome::Passed } else { Outcome::Failed(errors.join("\n")) })
    }

    /// Brings a client. Without it the tests that need it say so and pass: a network that is closed is no fault of the
    /// project.
    fn bring(&mut self, client: Client) -> Outcome {
        if services::is_given(client.variables()) {
            println!("    taken from {}", client.variables().join(", "));
            return Outcome::Passed;
        }
        match client.bring() {
            Ok(brought) => {
                println!("    {}", brought.about);
                self.clients.push(brought);
                Outcome::Passed
            }
            Err(error) => Outcome::Skipped(format!("{error:#}; its tests say that they are skipped")),
        }
    }

    fn missing(&self) -> &[&'static str] {
        &self.missing
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let servers = self.running.iter().flat_map(|(_, running)| running.environment());
        servers.chain(self.clients.iter().flat_map(|client| &client.environment)).cloned().collect()
    }

    fn notice_deaths(&mut self) {
        for (name, running) in &mut self.running {
            if !running.is_alive() {
                println!("    {name}: the server ended during the tests; failures may come from that");
            }
        }
    }

    fn take_down(&mut self) {
        for (name, running) in self.running.drain(..) {
            let watch = Stopwatch::start();
            drop(running);
            println!("    {name}: taken down ({})", readable(watch.elapsed()));
        }
    }
}

/// What `--no-clients` leaves out.
const CLIENTS: &str = "clients";

/// Splits `--no-NAME` into the name of a service.
fn service_of(option: &str) -> Result<String> {
    let name = option.strip_prefix("--no-").context("not of the form --no-NAME")?;
    let known: Vec<&str> = services::ALL.iter().map(|service| service.name).chain([CLIENTS]).collect();
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    anyhow::bail!("there is no service {name:?} to leave out; there are {}", known.join(", "))
}
