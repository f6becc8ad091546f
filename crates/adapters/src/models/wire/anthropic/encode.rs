//! A request as messages.

use kybern_core::model::{Effort, FunctionChoice, FunctionSpec, ModelFailure, ModelRequest, Role};
use serde::Serialize;
use serde_json::Value;

use super::messages::messages;
use crate::models::quirks::{ClaudeThinking, Images, claude_takes_sampling, claude_thinking};
use crate::models::wire::body::JsonBody;
use crate::models::wire::openai_chat::{check_images, size_of};
use crate::models::wire::{WireRequest, find_tool, no_such_tool, unsupported};

/// The version of the format.
pub(in crate::models::wire) const VERSION: &str = "2023-06-01";
/// The most tokens of a reply when the request does not say: the format wants a number.
const DEFAULT_MAX_TOKENS: u32 = 4000;
/// The fewest tokens that a budget for thinking may have.
const MIN_BUDGET: u32 = 1024;

/// The request.
///
/// # Errors
/// `Unsupported` for a JSON answer without a schema, and for images in messages of the model itself.
pub fn encode(request: &ModelRequest, stream: bool) -> Result<WireRequest, ModelFailure> {
    check_images(request, Images::Any, "anthropic")?;
    let mut body = JsonBody::with_capacity(1024 + size_of(request));
    body.field("model", &request.model)?;
    let max_tokens = request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    let (thinking, effort) = thinking(request, max_tokens);
    body.field("max_tokens", &max_tokens)?;
    let system = request.messages.iter().filter(|message| message.role == Role::System);
    let system = system.map(kybern_core::model::ModelMessage::joined_text).filter(|text| !text.is_empty());
    let system = system.collect::<Vec<_>>().join("\n\n");
    if !system.is_empty() {
        body.field("system", &system)?;
    }
    body.field("messages", &messages(&request.messages))?;
    tools(&mut body, request)?;
    options(&mut body, request, effort)?;
    body.maybe("thinking", thinking)?;
    if thinking.is_none() && claude_takes_sampling(&request.model) {
        // It goes to 1 only, and newer models take one of the two.
        body.maybe("temperature", request.temperature.map(|temperature| temperature.min(1.0)))?;
        body.maybe("top_p", request.top_p.filter(|_| request.temperature.is_none()))?;
    }
    if !request.stop.is_empty() {
        body.field("stop_sequences", &request.stop)?;
    }
    if let Some(user_id) = request.user.as_deref() {
        body.field("metadata", &Metadata { user_id })?;
    }
    if stream {
        body.field("stream", &true)?;
    }
    // A wish of OpenAI's clients; here nothing is kept under such a name.
    body.leave_out("store");
    let body = body.finish(&request.extra)?;
    let headers = vec![("anthropic-version", VERSION)];
    Ok(WireRequest { method: "POST", path: "/messages".to_owned(), headers, body })
}

#[derive(Serialize)]
struct Metadata<'a> {
    user_id: &'a str,
}

#[derive(Serialize, Clone, Copy)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Enabled { budget_tokens: u32 },
    Adaptive,
}

/// How the model is told to think, and with which effort. A model that must call a tool cannot think first.
fn thinking(request: &ModelRequest, max_tokens: u32) -> (Option<Thinking>, Option<&'static str>) {
    let is_forced = matches!(request.function_choice, FunctionChoice::Required | FunctionChoice::Named(_));
    let Some(effort) = request.effort.filter(|_| !is_forced) else { return (None, None) };
    match claude_thinking(&request.model) {
        ClaudeThinking::No => (None, None),
        ClaudeThinking::Adaptive => match effort {
            Effort::Minimal => (None, Some("low")),
            Effort::Low => (Some(Thinking::Adaptive), Some("low")),
            Effort::Medium => (Some(Thinking::Adaptive), Some("medium")),
            Effort::High => (Some(Thinking::Adaptive), Some("high")),
        },
        ClaudeThinking::Budget => {
            let wanted = match effort {
                Effort::Minimal => 0,
                Effort::Low => MIN_BUDGET,
                Effort::Medium => 4 * MIN_BUDGET,
                Effort::High => 16 * MIN_BUDGET,
            };
            // The budget is part of the most tokens, which are what the caller pays for: the reply needs room too.
            let budget_tokens = wanted.min(max_tokens / 2);
            ((budget_tokens >= MIN_BUDGET).then_some(Thinking::Enabled { budget_tokens }), None)
        }
    }
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a Value,
}

fn options(body: &mut JsonBody, request: &ModelRequest, effort: Option<&'static str>) -> Result<(), ModelFailure> {
    let format = match &request.output {
        None => None,
        Some(output) => match &output.schema {
            Some(schema) => Some(Format { r#type: "json_schema", schema }),
            None => return Err(unsupported("anthropic answers with JSON by a schema only")),
        },
    };
    if effort.is_none() && format.is_none() {
        return Ok(());
    }
    body.field("output_config", &OutputConfig { effort, format })
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

impl<'a> Tool<'a> {
    fn new(function: &'a FunctionSpec) -> Self {
        let FunctionSpec { name, description, parameters, strict } = function;
        Self { name, description, input_schema: parameters, strict: strict.filter(|strict| *strict) }
    }
}

#[derive(Serialize)]
struct Choice<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_parallel_tool_use: Option<bool>,
}

fn tools(body: &mut JsonBody, request: &ModelRequest) -> Result<(), ModelFailure> {
    let (word, name) = match &request.function_choice {
        FunctionChoice::Auto => ("auto", None),
        FunctionChoice::None => ("none", None),
        FunctionChoice::Required => ("any", None),
        FunctionChoice::Named(name) => {
            find_tool(request, name)?;
            ("tool", Some(name.as_str()))
        }
    };
    if request.functions.is_empty() {
        return if word == "any" { Err(no_such_tool()) } else { Ok(()) };
    }
    let tools: Vec<_> = request.functions.iter().map(Tool::new).collect();
    body.field("tools", &tools)?;
    let one = request.parallel_calls.filter(|_| word != "none").map(|parallel| !parallel);
    if word == "auto" && one.is_none() {
        return Ok(());
    }
    body.field("tool_choice", &Choice { r#type: word, name, disable_parallel_tool_use: one })
}
