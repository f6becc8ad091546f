//! `kybern plan prove`: what a plan does when things go wrong, found out on this machine alone.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use super::{Context, Exit, Format, input, plan};
use crate::output::{Failure, Paint, count, kybern};
use crate::prove::{self, Finding, Proof, ProveOptions, Proving};

/// `kybern plan prove`
#[derive(Args, Debug)]
pub(super) struct ProveArgs {
    /// A JSON file with a plan or a list of plans, or the key of a bundled plan
    plan: String,
    /// A JSON file with the payload that tasks come with; made up when not given
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// A JSON file with what tools, models, workflows and persons answer, by step: one answer, or a list in order
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// A JSON file with the definition of an HTTP tool of your own that the plans call, or a list of them
    #[arg(long, value_name = "FILE")]
    tools: Vec<PathBuf>,
    /// Write a JUnit report into this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn run(args: &ProveArgs, context: &mut Context) -> Result<Exit, Failure> {
    context.refuse_url("plan prove runs on this machine alone", "leave it out")?;
    let options = options(args)?;
    let runtime = tokio::runtime::Handle::current();
    let proving = tokio::task::spawn_blocking(move || prove::prove(&runtime, options)).await;
    let proofs = match proving.map_err(|error| Failure::Other(error.into()))?? {
        Proving::Proved(proofs) => proofs,
        Proving::Refused(key, faults) => return refused(&key, &json!(faults), args, context),
    };
    if let Some(path) = &args.junit {
        std::fs::write(path, prove::junit(&proofs)).map_err(|error| {
            Failure::usage(format!("{} cannot be written: {error}", path.display()), "name a file that can be written")
        })?;
    }
    let found = proofs.iter().any(|proof| proof.faults().next().is_some());
    if args.format.json {
        let all = json!({"plans": proofs.iter().map(Proof::to_json).collect::<Vec<_>>()});
        context.screen().line(all.to_string());
    } else {
        proofs.iter().for_each(|proof| show(proof, context));
    }
    Ok(if found { Exit::Failed } else { Exit::Done })
}

fn options(args: &ProveArgs) -> Result<ProveOptions, Failure> {
    let path = Path::new(&args.plan);
    // A key that is bundled is meant, unless there is a file of that name.
    let bundled = if path.exists() { None } else { prove::bundled(&args.plan)? };
    let plans = match bundled {
        Some(plan) => vec![plan],
        None => plan::read(path).map_err(unreadable)?,
    };
    let payload = args.payload.as_deref().map(input::json_file).transpose().map_err(unreadable)?;
    let answers = match args.answers.as_deref().map(input::json_file).transpose().map_err(unreadable)? {
        None => Map::new(),
        Some(Value::Object(answers)) => answers,
        Some(_) => {
            let remedy = "write what each step answers under its id, as in {\"find\": {\"name\": \"Acme\"}}";
            return Err(Failure::usage("--answers holds no JSON object", remedy));
        }
    };
    let mut tools = Vec::new();
    for path in &args.tools {
        let definitions = match input::json_file(path).map_err(unreadable)? {
            Value::Array(all) => all,
            one => vec![one],
        };
        for definition in definitions {
            tools.push(prove::own_definition(definition).map_err(|problem| {
                let message = format!("{} holds no definition of an HTTP tool: {problem}", path.display());
                Failure::usage(message, format!("write it as for {} tool create", kybern()))
            })?);
        }
    }
    Ok(ProveOptions { plans, payload, answers, tools })
}

/// A file that cannot be read as what it was named for: nothing was proved, which is no finding.
fn unreadable(failure: Failure) -> Failure {
    match failure {
        Failure::Content { path, problem } => Failure::usage(format!("{path} {problem}"), "correct the file"),
        Failure::File { path, source } if source.kind() == std::io::ErrorKind::NotFound => {
            let remedy = "name a file that exists, or a bundled plan by its key";
            Failure::usage(format!("there is no file {path}"), remedy)
        }
        other => other,
    }
}

fn refused(key: &str, faults: &Value, args: &ProveArgs, context: &mut Context) -> Result<Exit, Failure> {
    if args.format.json {
        context.screen().line(json!({"plan": key, "valid": false, "faults": faults}).to_string());
        return Ok(Exit::Usage);
    }
    let paint = context.screen().paint();
    let faults = faults.as_array().map(Vec::as_slice).unwrap_or_default();
    let what = count(faults.len(), "fault");
    context.screen().line(format!("{} {key} has {what}, and nothing was run", paint.bad("✗")));
    plan::fault_lines(faults).into_iter().for_each(|line| context.screen().line(line));
    Ok(Exit::Usage)
}

fn show(proof: &Proof, context: &mut Context) {
    let paint = context.screen().paint();
    let findings = proof.in_short();
    for finding in &findings {
        context.screen().line(told(finding, paint));
    }
    let notes = findings.iter().filter(|finding| finding.is_note).count();
    let faults = findings.len() - notes;
    let mark = if faults == 0 { paint.good("✓") } else { paint.bad("✗") };
    let (runs, calls) = (count(proof.runs.len(), "run"), count(proof.calls, "call"));
    let found = format!("{}, {}", count(faults, "finding"), count(notes, "note"));
    context.screen().line(format!("{mark} {}: {runs}, {calls}, {found}", proof.plan));
    if proof.left_out > 0 {
        let left = count(proof.left_out, "more run");
        context
            .screen()
            .line(paint.dim(&format!("  {left} would have been made, which is too many: prove parts of the plan")));
    }
}

fn told(finding: &Finding, paint: Paint) -> String {
    let line = prove::line_of(finding);
    if finding.is_note { paint.dim(&format!("  note {line}")) } else { format!("{} {line}", paint.bad("✗")) }
}
