//! `kybern plan`: what is done for an intent.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use super::list::{self, Page, items};
use super::prove::{self, ProveArgs};
use super::{Context, Exit, Format, input};
use crate::client::{Client, ClientError, PostedBody, segment};
use crate::output::{Failure, Paint, Table, count, field, in_full, kybern};

/// `kybern plan …`
#[derive(Subcommand, Debug)]
pub(super) enum PlanCommand {
    /// List the plans, those that cannot be used included
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Show a plan and its steps
    Show {
        /// The plan's key
        key: String,
        #[command(flatten)]
        format: Format,
    },
    /// Say what is wrong with a plan in a file, without storing it
    Check {
        /// A JSON file with a plan, or a list of plans
        file: PathBuf,
        #[command(flatten)]
        format: Format,
    },
    /// Walk a plan while calls fail, answers are lost and the process dies, and say what would be lost or done twice
    Prove(ProveArgs),
    /// Store the plans of files
    Import {
        /// JSON files, each with a plan or a list of plans
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

pub(super) async fn run(command: PlanCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        PlanCommand::List { page } => list(&page, context).await,
        PlanCommand::Show { key, format } => show(&key, format, context).await,
        PlanCommand::Check { file, format } => check(&file, format, context).await,
        PlanCommand::Prove(args) => prove::run(&args, context).await,
        PlanCommand::Import { files } => import(&files, context).await,
    }
}

async fn list(page: &Page, context: &mut Context) -> Result<Exit, Failure> {
    let Some(reply) = context.read("/api/plans", &page.query(), page.format).await? else { return Ok(Exit::Done) };
    let mut table = Table::new(&["KEY", "VERSION", "INTENT", "STEPS", "FROM", "STATE"]);
    let mut faulty = Vec::new();
    for plan in items(&reply.value) {
        let faults = array(plan, "quarantine");
        let state = match plan.get("active") {
            _faulty if !faults.is_empty() => "quarantined",
            Some(Value::Bool(false)) => "inactive",
            _active => "active",
        };
        if !faults.is_empty() {
            faulty.push(field(plan, "key"));
        }
        table.row([
            field(plan, "key").into(),
            field(plan, "version").into(),
            field(plan, "intentKey").into(),
            array(plan, "steps").len().to_string().into(),
            field(plan, "origin").into(),
            state.into(),
        ]);
    }
    context.table(&table);
    let paint = context.screen().paint();
    for key in faulty {
        context.screen().line(format!(
            "{} {key} cannot be used: {kybern} plan show {key}",
            paint.bad("✗"),
            kybern = kybern()
        ));
    }
    list::more(&reply.value, &format!("{} plan list", kybern()), page, context);
    Ok(Exit::Done)
}

async fn show(key: &str, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let Some(reply) = context.read(&format!("/api/plans/{}", segment(key)), &[], format).await? else {
        return Ok(Exit::Done);
    };
    let (plan, paint) = (&reply.value, context.screen().paint());
    let screen = context.screen();
    screen.line(format!("plan {} version {}", paint.bold(&field(plan, "key")), field(plan, "version")));
    for (label, name) in [("intent", "intentKey"), ("about", "description"), ("from", "origin"), ("output", "output")] {
        let text = field(plan, name);
        if !text.is_empty() {
            screen.line(format!("  {label:<8} {text}"));
        }
    }
    screen.line("steps");
    for step in array(plan, "steps") {
        screen.line(step_line(step, paint));
    }
    let faults = array(plan, "quarantine");
    if !faults.is_empty() {
        screen.line(paint.bad("cannot be used, because"));
        fault_lines(faults).into_iter().for_each(|line| screen.line(line));
    }
    Ok(Exit::Done)
}

fn step_line(step: &Value, paint: Paint) -> String {
    let kind = match field(step, "kind") {
        kind if kind.is_empty() => "tool".to_owned(),
        kind => kind,
    };
    let target = ["tool", "workflow", "planKey", "agent", "if", "over", "while"]
        .into_iter()
        .map(|name| field(step, name))
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    let mut line = format!("  {}  {}", field(step, "id"), paint.dim(&kind));
    if !target.is_empty() {
        line.push_str(&format!("  {target}"));
    }
    let condition = field(step, "condition");
    if !condition.is_empty() {
        line.push_str(&paint.dim(&format!("  when {condition}")));
    }
    line
}

async fn check(file: &Path, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let plans = read(file)?;
    let client = context.connect_to_read().await?;
    let paint = context.screen().paint();
    let mut exit = Exit::Done;
    for plan in plans {
        let reply = client.post("/api/plans/check", PostedBody::Json(&plan), None).await?;
        let valid = reply.value.get("valid") == Some(&Value::Bool(true));
        if !valid {
            exit = Exit::Failed;
        }
        if format.json {
            context.raw(&reply);
        } else if valid {
            context.screen().line(format!("{} {} is sound", paint.good("✓"), field(&plan, "key")));
        } else {
            let faults = array(&reply.value, "faults");
            let what = count(faults.len(), "fault");
            context.screen().line(format!("{} {} has {what}", paint.bad("✗"), field(&plan, "key")));
            fault_lines(faults).into_iter().for_each(|line| context.screen().line(line));
        }
    }
    Ok(exit)
}

async fn import(files: &[PathBuf], context: &mut Context) -> Result<Exit, Failure> {
    let (mut plans, mut unread) = (Vec::new(), Vec::new());
    for file in files {
        match read(file) {
            Ok(some) => plans.extend(some),
            Err(failure) => unread.push(failure),
        }
    }
    let paint = context.screen().paint();
    let mut exit = Exit::Done;
    for failure in &unread {
        exit = Exit::Failed;
        context.screen().line(format!("{} {}", paint.bad("✗"), failure.in_one_line()));
    }
    if plans.is_empty() && !unread.is_empty() {
        // What was read of any file, however wrong, shows that something was there.
        return Ok(if unread.iter().all(Failure::is_usage) { Exit::Usage } else { exit });
    }
    let client = context.connect().await?;
    for plan in plans {
        match store(&client, &plan).await {
            Ok(line) => context.screen().line(format!("{} {line}", paint.good("✓"))),
            // A faulty plan does not keep the others out.
            Err(ClientError::Api(error)) if error.status == 422 || error.status == 400 => {
                exit = Exit::Failed;
                context.screen().line(format!("{} {}: {error}", paint.bad("✗"), field(&plan, "key")));
                for fault in &error.details {
                    let line = in_full(&json!(format!("{}: {}", fault.path, fault.message)), "    ");
                    context.screen().line(line);
                }
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(exit)
}

async fn store(client: &Client, plan: &Value) -> Result<String, ClientError> {
    let reply = client.post("/api/plans", PostedBody::Json(plan), None).await?;
    let version = match field(&reply.value, "version") {
        version if version.is_empty() => String::new(),
        version => format!(" version {version}"),
    };
    Ok(format!("{}{version} is stored", field(plan, "key")))
}

/// The plans of a file: one, or a list.
pub(super) fn read(file: &Path) -> Result<Vec<Value>, Failure> {
    match input::json_file(file)? {
        Value::Array(plans) => Ok(plans),
        plan @ Value::Object(_) => Ok(vec![plan]),
        _other => Err(Failure::Content {
            path: file.display().to_string(),
            problem: "holds neither a plan nor a list of plans".to_owned(),
        }),
    }
}

pub(super) fn fault_lines(faults: &[Value]) -> Vec<String> {
    let line = |fault: &Value| match field(fault, "stepId") {
        step if step.is_empty() => format!("    {}: {}", field(fault, "path"), field(fault, "message")),
        step => format!("    {} (step {step}): {}", field(fault, "path"), field(fault, "message")),
    };
    faults.iter().map(line).collect()
}

fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
