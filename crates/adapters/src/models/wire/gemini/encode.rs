//! A request as contents to generate from.

use bytes::Bytes;
use kybern_core::model::{Effort, FunctionChoice, FunctionSpec, ModelFailure, ModelFailureKind, ModelRequest, Role};
use serde::Serialize;
use serde_json::{Map, Value};

use super::contents::contents;
use crate::models::quirks::Images;
use crate::models::wire::body::JsonBody;
use crate::models::wire::openai_chat::{check_images, size_of};
use crate::models::wire::{WireRequest, find_tool, no_such_tool};

const CONFIG: &str = "generationConfig";

/// The request.
///
/// # Errors
/// `Unsupported` for images by URL; `Request` for a model's name that does not fit into a path.
pub fn encode(request: &ModelRequest, stream: bool) -> Result<WireRequest, ModelFailure> {
    check_images(request, Images::Data, "google")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@');
    if !request.model.chars().all(is_plain) || request.model.contains("..") {
        let message = format!("{:?} cannot be the name of a model", request.model);
        return Err(ModelFailure::new(ModelFailureKind::Request, message));
    }
    let mut body = JsonBody::with_capacity(1024 + size_of(request));
    body.field("contents", &contents(&request.messages))?;
    let system = request.messages.iter().filter(|message| message.role == Role::System);
    let system: Vec<_> = system.map(|message| TextPart { text: message.joined_text() }).collect();
    if !system.is_empty() {
        body.field("systemInstruction", &Instruction { parts: system })?;
    }
    tools(&mut body, request)?;
    body.object(CONFIG, &config(request)?)?;
    // A wish of OpenAI's clients; here nothing is kept under such a name.
    body.leave_out("store");
    let body = body.finish(&request.extra)?;
    let verb = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let path = format!("{}:{verb}", super::model_path(&request.model));
    Ok(WireRequest { method: "POST", path, headers: Vec::new(), body })
}

#[derive(Serialize)]
struct Instruction {
    parts: Vec<TextPart>,
}

#[derive(Serialize)]
struct TextPart {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
}

/// How to generate. What the caller passes on of it stands beside what is set here.
fn config(request: &ModelRequest) -> Result<Bytes, ModelFailure> {
    let mut config = JsonBody::with_capacity(256);
    config.maybe("maxOutputTokens", request.max_output_tokens)?;
    config.maybe("temperature", request.temperature)?;
    config.maybe("topP", request.top_p)?;
    config.maybe("stopSequences", Some(&request.stop).filter(|stop| !stop.is_empty()))?;
    config.maybe("seed", request.seed)?;
    if let Some(output) = &request.output {
        config.field("responseMimeType", "application/json")?;
        config.maybe("responseJsonSchema", output.schema.as_ref())?;
    }
    config.maybe("thinkingConfig", request.effort.map(|effort| thinking(&request.model, effort)))?;
    let nothing = Map::new();
    config.finish(request.extra.get(CONFIG).and_then(Value::as_object).unwrap_or(&nothing))
}

/// Version 2.5 thinks by a budget, whose smallest value differs by model; its successors by a level:
/// <https://ai.google.dev/gemini-api/docs/thinking>.
fn thinking(model: &str, effort: Effort) -> ThinkingConfig {
    let (budget, level) = match effort {
        Effort::Minimal => (512, "minimal"),
        Effort::Low => (1024, "low"),
        Effort::Medium => (8192, "medium"),
        Effort::High => (24_576, "high"),
    };
    let by_budget = model.contains("gemini-2");
    // The large models of version 3 know nothing below `low`.
    let level = if level == "minimal" && model.contains("-pro") { "low" } else { level };
    ThinkingConfig {
        include_thoughts: true,
        thinking_budget: by_budget.then_some(budget),
        thinking_level: (!by_budget).then_some(level),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

impl<'a> Declaration<'a> {
    fn new(function: &'a FunctionSpec) -> Self {
        let FunctionSpec { name, description, parameters, strict: _ } = function;
        Self { name, description, parameters_json_schema: parameters }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: CallingConfig<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallingConfig<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_function_names: Option<[&'a str; 1]>,
}

fn tools(body: &mut JsonBody, request: &ModelRequest) -> Result<(), ModelFailure> {
    let (mode, allowed_function_names) = match &request.function_choice {
        FunctionChoice::Auto => (None, None),
        FunctionChoice::None => (Some("NONE"), None),
        FunctionChoice::Required => (Some("ANY"), None),
        FunctionChoice::Named(name) => {
            find_tool(request, name)?;
            (Some("ANY"), Some([name.as_str()]))
        }
    };
    if request.functions.is_empty() {
        return if mode == Some("ANY") { Err(no_such_tool()) } else { Ok(()) };
    }
    let function_declarations = request.functions.iter().map(Declaration::new).collect();
    body.field("tools", &[Tools { function_declarations }])?;
    let config =
        mode.map(|mode| ToolConfig { function_calling_config: CallingConfig { mode, allowed_function_names } });
    body.maybe("toolConfig", config)
}
