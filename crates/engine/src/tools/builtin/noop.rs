//! `core.noop`: does nothing, durably.

use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

pub(super) fn tool() -> StatelessTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
    let spec = ToolSpec::read("core.noop", "Does nothing. Its step is journaled like any other.", schema)
        .shown(&["nothing", "placeholder"], json!({}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(_context: &ToolContext, _args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    Ok(ToolOutcome::default())
}
