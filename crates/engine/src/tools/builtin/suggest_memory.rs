//! `suggest_memory`: how an agent says what should be remembered of the user for whom it works. Its turn takes it in and
//! nobody is called; a step or a call of its own has `POST /api/memories`.

use kybern_core::memory::MAX_SUGGESTION;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

/// The tool with which a model suggests to remember something: the only way, and nothing is remembered by it.
pub(crate) const SUGGEST_MEMORY: &str = "suggest_memory";

/// The tool.
pub(super) fn tool() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {"memory": {
            "type": "string", "maxLength": MAX_SUGGESTION,
            "description": "One fact about the user, in one sentence. Nothing secret, nothing of today only.",
        }},
        "required": ["memory"],
    });
    let about = "Suggests one fact about the user to be remembered for later conversations. The user accepts or \
                 rejects it; until then it is not remembered.";
    let spec = ToolSpec::read(SUGGEST_MEMORY, about, schema)
        .shown(&["remember", "preference"], json!({"memory": "Prefers trains to planes."}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(_context: &ToolContext, _args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    Err(ToolFailure::permanent("agents suggest memories in their turns: use POST /api/memories elsewhere"))
}
