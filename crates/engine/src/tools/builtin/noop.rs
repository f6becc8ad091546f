//! `core.noop`: does nothing, durably.

use async_trait::async_trait;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

pub(super) struct Noop {
    spec: ToolSpec,
}

impl Noop {
    pub(super) fn new() -> Self {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
        Self {
            spec: ToolSpec::read("core.noop", "Does nothing. Its step is journaled like any other.", schema)
                .shown(&["nothing", "placeholder"], json!({})),
        }
    }
}

#[async_trait]
impl Tool for Noop {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _context: &ToolContext, _args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        Ok(ToolOutcome::default())
    }
}
