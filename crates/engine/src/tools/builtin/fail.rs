//! `core.fail`: fails on purpose.

use async_trait::async_trait;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::text;

pub(super) struct Fail {
    spec: ToolSpec,
}

impl Fail {
    pub(super) fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"message": {"type": "string"}, "retryable": {"type": "boolean"}},
            "required": ["message"],
            "additionalProperties": false
        });
        Self {
            spec: ToolSpec::read("core.fail", "Fails with the given message.", schema)
                .shown(&["error", "stop"], json!({"message": "the invoice has no number"})),
        }
    }
}

#[async_trait]
impl Tool for Fail {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let message = text(&args, "message")?;
        if args.get("retryable").and_then(Value::as_bool) == Some(true) {
            return Err(ToolFailure::transient(message));
        }
        Err(ToolFailure::permanent(message))
    }
}
