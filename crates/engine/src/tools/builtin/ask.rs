//! `core.ask`: asks a person to fill in a form; the answer is the step's data.

use kybern_core::error::ErrorCode;
use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Review, ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::text;
use crate::schema;

pub(super) fn tool() -> StatelessTool {
    let schema =
        object(json!({"title": {"type": "string", "minLength": 1}, "fields": {"type": "object"}}), ["title", "fields"]);
    let description = "Asks a person to fill in a form (fields: JSON Schema). The answer is the step's data.";
    let spec = ToolSpec::read("core.ask", description, schema).shown(
        &["person", "form", "question"],
        json!({"title": "When does the policy end?", "fields": {"ends_on": {"type": "string"}}}),
    );
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(_context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let title = text(&args, "title")?;
    let form = schema::form(args.get("fields").unwrap_or(&Value::Null));
    // Nobody could answer it.
    schema::compile(&form).map_err(|problem| ToolFailure::permanent(problem).code(ErrorCode::Validation))?;
    Ok(ToolOutcome::ask(Review {
        reason: title.to_owned(),
        title: Some(title.to_owned()),
        schema: form,
        details: Value::Null,
        answer_is_result: true,
    }))
}
