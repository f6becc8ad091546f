//! `core.wait`: lets time pass, durably and without holding the task.

use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::time::Millis;
use kybern_core::tool::outcome::WaitUntil;
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

/// The longest wait: a year.
const MAX_WAIT: u64 = 366 * 24 * 60 * 60 * 1000;

pub(super) fn tool() -> StatelessTool {
    let schema = object(json!({"ms": {"type": "integer", "minimum": 0, "maximum": MAX_WAIT}}), ["ms"]);
    let spec = ToolSpec::read("core.wait", "Waits that many milliseconds; survives restarts.", schema)
        .shown(&["pause", "delay", "later"], json!({"ms": 1000}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let ms = args.get("ms").and_then(Value::as_u64).unwrap_or(0);
    let until = context.now.plus(Millis(ms));
    Ok(ToolOutcome { wait: Some(WaitUntil(until)), summary: format!("waits {ms} ms"), ..ToolOutcome::default() })
}
