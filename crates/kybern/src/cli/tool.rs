//! `kybern tool`: what can be done, and doing it.

use clap::Subcommand;
use serde_json::{Value, json};

use super::list::{List, Page};
use super::own_tool::{self, OwnToolCommand};
use super::{Context, Exit, Format, input};
use crate::client::{PostedBody, segment};
use crate::output::{Cell, Failure, field, fields, in_full, kybern, span};

/// `kybern tool …`
#[derive(Subcommand, Debug)]
pub(super) enum ToolCommand {
    /// List the tools
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Show a tool and what it takes
    Show {
        /// The tool's key
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Call a tool
    Call {
        /// The tool's key
        name: String,
        /// Its arguments, a JSON object
        #[arg(value_parser = input::object, default_value = "{}")]
        arguments: Value,
        #[command(flatten)]
        format: Format,
    },
    #[command(flatten)]
    Own(OwnToolCommand),
}

pub(super) async fn run(command: ToolCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        ToolCommand::List { page } => {
            let headings = ["KEY", "RISK", "EFFECT", "WHAT IT DOES"];
            List::at("/api/tools", "tool list").print_rows(&page, headings, row, context).await
        }
        ToolCommand::Show { name, format } => show(&name, format, context).await,
        ToolCommand::Call { name, arguments, format } => call(&name, &arguments, format, context).await,
        ToolCommand::Own(command) => own_tool::run(command, context).await,
    }
}

fn row(tool: &Value) -> [Cell; 4] {
    let [key, risk, effect] = ["key", "risk", "effect"].map(|name| field(tool, name).into());
    [key, risk, effect, Cell::fitting(field(tool, "description"), 72)]
}

async fn show(name: &str, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let Some(reply) = context.read(&format!("/api/tools/{}", segment(name)), &[], format).await? else {
        return Ok(Exit::Done);
    };
    let tool = &reply.value;
    let paint = context.screen().paint();
    let screen = context.screen();
    screen.line(format!("tool {}", paint.bold(&field(tool, "key"))));
    screen.line(format!("  {}", field(tool, "description")));
    for name in ["risk", "effect", "right", "level", "category"] {
        let text = field(tool, name);
        if !text.is_empty() {
            screen.line(format!("  {name:<8} {text}"));
        }
    }
    let arguments = tool.get("inputSchema").map(fields).unwrap_or_default();
    screen.line(if arguments.is_empty() { "takes no named arguments" } else { "arguments" });
    for argument in &arguments {
        screen.line(format!("  {}", argument.describe()));
    }
    screen.line(format!(
        "{} {kybern} tool call {} '{{…}}'",
        paint.bold("call it:"),
        field(tool, "key"),
        kybern = kybern()
    ));
    Ok(Exit::Done)
}

async fn call(name: &str, arguments: &Value, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let path = format!("/api/tools/{}/invoke", segment(name));
    let reply = context.post(&path, PostedBody::Json(&json!({ "input": arguments }))).await?;
    let answer = &reply.value;
    let status = field(answer, "status");
    let exit = match status.as_str() {
        "success" => Exit::Done,
        "waiting" => Exit::Review,
        _failure => Exit::Failed,
    };
    if format.json {
        context.raw(&reply);
        return Ok(exit);
    }
    let paint = context.screen().paint();
    let screen = context.screen();
    let took = answer.get("durationMs").and_then(Value::as_u64).map(span).unwrap_or_default();
    screen.line(format!("{}  {}", paint.status(&status), paint.dim(&took)));
    if let Some(output) = answer.get("output").filter(|output| !output.is_null()) {
        screen.line(in_full(output, ""));
    }
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        screen.line(format!("{}: {}", field(error, "code"), field(error, "message")));
        if error.get("retryable") == Some(&Value::Bool(true)) {
            screen.line("another try may help");
        }
    }
    let approval = field(answer, "approvalId");
    if !approval.is_empty() {
        screen.line(format!("it waits for a person: {kybern} approval show {approval}", kybern = kybern()));
    }
    Ok(exit)
}
