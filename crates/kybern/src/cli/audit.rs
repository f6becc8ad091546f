//! `kybern audit`: whether the trail is whole.

use clap::Subcommand;
use serde_json::Value;

use super::{Context, Exit, Format};
use crate::output::{Failure, Table, count, field};

/// `kybern audit …`
#[derive(Subcommand, Debug)]
pub(super) enum AuditCommand {
    /// Check the whole chain of the audit trail
    Verify {
        #[command(flatten)]
        format: Format,
    },
}

pub(super) async fn run(command: AuditCommand, context: &mut Context) -> Result<Exit, Failure> {
    let AuditCommand::Verify { format } = command;
    let client = context.connect_to_read().await?;
    let reply = client.get("/api/audit/verify", &[]).await?;
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
