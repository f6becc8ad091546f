//! `core.hand_to_person`: the honest end of a plan whose next tools are not built yet. A task never completes by
//! doing nothing.

use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Review, ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use crate::args::text;

/// The tool.
#[must_use]
pub fn hand_to_person() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "reason": {"type": "string", "minLength": 1, "maxLength": 1000},
            "next": {"type": ["string", "null"], "maxLength": 1000}
        },
        "required": ["reason"],
        "additionalProperties": false
    });
    let description = "Stops for a person, says why and what to do next; their answer is the step's data.";
    let spec = ToolSpec::read("core.hand_to_person", description, schema).shown(
        &["escalate", "person", "review"],
        json!({"reason": "The two invoices contradict each other.", "next": "Ask the supplier which one holds."}),
    );
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(_context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let reason = text(&args, "reason").unwrap_or_else(|| "this needs a person".to_owned());
    let next = text(&args, "next");
    let reason = match &next {
        Some(next) => format!("{}. Next: {next}", reason.trim_end_matches('.')),
        None => reason,
    };
    Ok(ToolOutcome::ask(Review {
        reason,
        title: None,
        schema: json!({
            "type": "object",
            "properties": {
                "handled": {
                    "type": "boolean",
                    "const": true,
                    "description": "true once the work is done; until then it stays open"
                },
                "note": {"type": "string", "maxLength": 4000, "description": "what was done"}
            },
            "required": ["handled"],
            "additionalProperties": false
        }),
        details: json!({"next": next}),
        answer_is_result: true,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;

    #[tokio::test]
    async fn it_asks_and_says_what_to_do() {
        let args = json!({"reason": "no tool files this yet.", "next": "file it by hand"});
        let review = World::new().call(&hand_to_person(), args).await.unwrap().review.unwrap();
        assert_eq!(review.reason, "no tool files this yet. Next: file it by hand");
        assert!(review.answer_is_result);
    }

    #[tokio::test]
    async fn only_work_that_was_done_ends_it() {
        let review = World::new().call(&hand_to_person(), json!({"reason": "file it"})).await.unwrap().review.unwrap();
        let ends = |answer: Value| jsonschema::is_valid(&review.schema, &answer);
        assert!(ends(json!({"handled": true, "note": "filed"})));
        for open in [json!({}), json!({"note": "later"}), json!({"handled": false}), json!({"handled": null})] {
            assert!(!ends(open.clone()), "{open}");
        }
    }
}
