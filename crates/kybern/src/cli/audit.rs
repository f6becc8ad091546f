//! `kybern audit`: whether the trail is whole.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::Value;

use super::{Context, Exit, Format, input};
use crate::output::{Failure, Table, count, field};

/// `kybern audit …`
#[derive(Subcommand, Debug)]
pub(super) enum AuditCommand {
    /// Check the whole chain of the audit trail
    Verify {
        /// Hold it against a head that `kybern audit head --json` has written
        #[arg(long, value_name = "FILE")]
        head: Option<PathBuf>,
        #[command(flatten)]
        format: Format,
    },
    /// Sign what the audit trail ends with now, to be kept somewhere else
    Head {
        #[command(flatten)]
        format: Format,
    },
}

pub(super) async fn run(command: AuditCommand, context: &mut Context) -> Result<Exit, Failure> {
    let (head, format) = match command {
        AuditCommand::Verify { head, format } => (head, format),
        AuditCommand::Head { format } => return sign(format, context).await,
    };
    let query = head.map(|path| kept(&path)).transpose()?.unwrap_or_default();
    let client = context.connect_to_read().await?;
    let reply = client.get("/api/audit/verify", &query).await?;
    let valid = reply.value.get("valid") == Some(&Value::Bool(true));
    let exit = if valid { Exit::Done } else { Exit::Failed };
    if format.json {
        context.raw(&reply);
        return Ok(exit);
    }
    let paint = context.screen().paint();
    let length = count(&field(&reply.value, "length"), "event");
    if valid {
        context.screen().line(format!("{} the audit trail is whole: {length}", paint.good("✓")));
        return Ok(exit);
    }
    let mut table = Table::new(&["EVENT", "PROBLEM"]);
    for fault in reply.value.get("faults").and_then(Value::as_array).into_iter().flatten() {
        table.row([field(fault, "seq").into(), field(fault, "problem").into()]);
    }
    let head = format!("{} the audit trail of {length} has been changed or damaged", paint.bad("✗"));
    context.screen().line(head);
    context.screen().line(table.render(paint));
    Ok(exit)
}

/// The four values of a signed head, as the verification asks for them.
fn kept(path: &Path) -> Result<Vec<(&'static str, Option<String>)>, Failure> {
    let head = input::json_file(path)?;
    let text = |name: &str| head.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    Ok(["seq", "hash", "at", "signature"].map(|name| (name, text(name))).into())
}

async fn sign(format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect_to_read().await?;
    let reply = client.get("/api/audit/head", &[]).await?;
    if format.json {
        context.raw(&reply);
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["EVENT", "HASH", "SIGNED AT", "SIGNATURE"]);
    table.row(["seq", "hash", "at", "signature"].map(|name| field(&reply.value, name).into()));
    let paint = context.screen().paint();
    context.screen().line(table.render(paint));
    Ok(Exit::Done)
}
