//! `core.set`: puts values into the state.

use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

pub(super) fn tool() -> StatelessTool {
    let schema = json!({"type": "object", "additionalProperties": true});
    let description = "Puts its arguments into the state under their names.";
    let spec = ToolSpec::read("core.set", description, schema)
        .shown(&["state", "value", "constant"], json!({"greeting": "Hello"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(_context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    if let Some(name) = args.keys().find(|name| name.starts_with('_')) {
        let message = format!("{name:?} cannot be set: names with a leading _ are the kernel's");
        return Err(ToolFailure::permanent(message).code(kybern_core::error::ErrorCode::Validation));
    }
    let summary = format!("set {}", args.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    Ok(ToolOutcome::new(args, summary))
}
