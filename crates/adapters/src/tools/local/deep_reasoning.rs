//! `deep_reasoning`: a problem that a language model thinks through, step by step.

use kybern_core::ports::{ModelQuestion, StatelessTool, ToolContext, ToolPrompt};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::{fields, optional_text, refuse, text};

/// Characters of the problem, and of its context.
const MAX_TEXT: usize = 100_000;
/// The most tokens of the answer: reasoning counts.
const MAX_OUTPUT: u32 = 8_000;

/// The tool.
pub(super) fn deep_reasoning() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "problem": {
                "type": "string", "minLength": 1, "maxLength": MAX_TEXT,
                "description": "The problem to think through."
            },
            "context": {
                "type": ["string", "null"], "maxLength": MAX_TEXT,
                "description": "What else is known: facts, limits, documents."
            }
        },
        "required": ["problem"],
        "additionalProperties": false
    });
    let description = "Has a language model think a problem through step by step: mathematics, logic, planning, \
                       analysis of code or contracts. Answers with answer, the conclusion, and reasoning, the \
                       whole text. It needs a configured model and costs money.";
    let spec = ToolSpec {
        timeout: Millis::from_secs(120),
        needs: ToolNeeds { language_model: true, ..ToolNeeds::default() },
        ..ToolSpec::read("deep_reasoning", description, schema).shown(
            &["think", "logic", "analysis"],
            json!({"problem": "Which of the two offers is cheaper over three years?"}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let problem = text(&args, "problem")?;
    if problem.trim().is_empty() {
        return Err(refuse("argument problem is empty: say what is to be thought through"));
    }
    let mut material = vec![("problem", problem.to_owned())];
    if let Some(given) = optional_text(&args, "context").filter(|given| !given.trim().is_empty()) {
        material.push(("context", given.to_owned()));
    }
    let question = ModelQuestion {
        prompt: ToolPrompt::DeepReasoning,
        wishes: Vec::new(),
        material,
        schema: None,
        correction: None,
        max_output: MAX_OUTPUT,
    };
    let answered = context.models()?.ask(&question).await?;
    let data = fields([
        ("answer", json!(conclusion(&answered.text))),
        ("reasoning", json!(answered.text)),
        ("model", json!(answered.model)),
    ]);
    let summary = format!("thought through by {}", answered.model);
    Ok(ToolOutcome { usage: answered.usage, ..ToolOutcome::new(data, summary) })
}

/// What follows the last line that begins with `Answer:`; the whole text when no line does.
fn conclusion(text: &str) -> &str {
    let mut from = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        // Models like to emphasise it.
        let bare = line.trim_start_matches(['*', '#', ' ', '_']);
        if let Some(rest) = bare.strip_prefix("Answer:") {
            from = Some(at + line.len() - rest.len());
        }
        at += line.len();
    }
    let found = from.and_then(|from| text.get(from..)).map(|rest| rest.trim_start_matches(['*', '_']).trim());
    found.filter(|found| !found.is_empty()).unwrap_or(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conclusion_is_what_follows_its_mark() {
        assert_eq!(conclusion("One and one.\n\nAnswer: two"), "two");
        assert_eq!(conclusion("Answer: no\nwait\n**Answer:** yes,\nand more\n"), "yes,\nand more");
        assert_eq!(conclusion(" just text "), "just text");
        assert_eq!(conclusion("Answer:"), "Answer:");
    }
}
