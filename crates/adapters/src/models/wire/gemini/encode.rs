//! A request as contents to generate from.

use kybern_core::model::{Effort, FunctionChoice, FunctionSpec, ModelFailure, ModelFailureKind, ModelRequest, Role};
use serde::Serialize;
use serde_json::Value;

use super::contents::Contents;
use crate::models::quirks::Images;
use crate::models::wire::body::Body;
use crate::models::wire::openai_chat::{check_images, size_of};
use crate::models::wire::{WireRequest, find_tool, no_such_tool};

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
    let mut body = Body::with_capacity(1024 + size_of(request));
    body.field("contents", &Contents(&request.messages))?;
    let system = request.messages.iter().filter(|message| message.role == Role::System);
    let system: Vec<_> = system.map(|message| TextPart { text: message.joined_text() }).collect();
    if !system.is_empty() {
        body.field("systemInstruction", &Instruction { parts: system })?;
    }
    tools(&mut body, request)?;
    body.field("generationConfig", &config(request))?;
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
struct Config<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
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

fn config(request: &ModelRequest) -> Config<'_> {
    let output = request.output.as_ref();
    Config {
        max_output_tokens: request.max_output_tokens,
        temperature: request.temperature,
        top_p: request.top_p,
        stop_sequences: &request.stop,
        seed: request.seed,
        response_mime_type: output.map(|_| "application/json"),
        response_json_schema: output.and_then(|output| output.schema.as_ref()),
        thinking_config: request.effort.map(|effort| thinking(&request.model, effort)),
    }
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

fn tools(body: &mut Body, request: &ModelRequest) -> Result<(), ModelFailure> {
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
