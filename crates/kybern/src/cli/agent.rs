//! `kybern agent`: who answers.

use clap::Subcommand;
use serde_json::Value;

use super::list::{List, Page};
use super::{Context, Exit, Format};
use crate::client::segment;
use crate::output::{Cell, Failure, field, in_full};

/// `kybern agent …`
#[derive(Subcommand, Debug)]
pub(super) enum AgentCommand {
    /// List the agents
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Show an agent, its tools and what it is told
    Show {
        /// The agent's id, key or name
        id: String,
        #[command(flatten)]
        format: Format,
    },
}

pub(super) async fn run(command: AgentCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        AgentCommand::List { page } => {
            let headings = ["KEY", "NAME", "FROM", "MODEL", "WHAT IT IS FOR"];
            List::at("/api/agents", "agent list").print_rows(&page, headings, row, context).await
        }
        AgentCommand::Show { id, format } => show(&id, format, context).await,
    }
}

fn row(agent: &Value) -> [Cell; 5] {
    [
        field(agent, "key").into(),
        field(agent, "name").into(),
        origin(agent).into(),
        model(agent).into(),
        Cell::fitting(field(agent, "description"), 60),
    ]
}

async fn show(id: &str, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let Some(reply) = context.read(&format!("/api/agents/{}", segment(id)), &[], format).await? else {
        return Ok(Exit::Done);
    };
    let agent = &reply.value;
    let paint = context.screen().paint();
    let screen = context.screen();
    screen.line(format!("agent {} {}", paint.bold(&field(agent, "key")), field(agent, "name")));
    let [questions, calls, ms] = ["maxTurns", "maxToolCalls", "timeoutMs"].map(|name| field(agent, name));
    let limits = format!("at most {questions} questions, {calls} calls, {ms} ms");
    for (label, text) in [
        ("id", field(agent, "id")),
        ("about", field(agent, "description")),
        ("from", format!("{}, version {}", origin(agent), field(agent, "version"))),
        ("model", model(agent)),
        ("a turn", limits),
        ("tools", names(agent, "toolKeys")),
        ("missing", names(agent, "missingTools")),
        ("triggers", names(agent, "triggers")),
    ] {
        if !text.is_empty() {
            screen.line(format!("  {label:<8} {text}"));
        }
    }
    screen.line("is told");
    screen.line(in_full(agent.get("systemPrompt").unwrap_or(&Value::Null), "  "));
    screen.line(paint.dim("unless a prompt is active for it or for all agents"));
    Ok(Exit::Done)
}

/// Who has written the agent as it is.
fn origin(agent: &Value) -> &'static str {
    if agent.get("bundled") == Some(&Value::Bool(true)) { "program" } else { "tenant" }
}

/// By what its model is chosen.
fn model(agent: &Value) -> String {
    match (field(agent, "provider"), field(agent, "model")) {
        (provider, model) if provider == model || provider == "default" => model,
        (provider, model) => format!("{provider}/{model}"),
    }
}

fn names(agent: &Value, list: &str) -> String {
    let names = agent.get(list).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    crate::output::clean(&names.collect::<Vec<_>>().join(", "))
}
