//! `core.fail`: fails on purpose.

use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::text;

pub(super) fn tool() -> StatelessTool {
    let schema = object(json!({"message": {"type": "string"}, "retryable": {"type": "boolean"}}), ["message"]);
    let spec = ToolSpec::read("core.fail", "Fails with the given message.", schema)
        .shown(&["error", "stop"], json!({"message": "the invoice has no number"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(_context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let message = text(&args, "message")?;
    if args.get("retryable").and_then(Value::as_bool) == Some(true) {
        return Err(ToolFailure::transient(message));
    }
    Err(ToolFailure::permanent(message))
}
