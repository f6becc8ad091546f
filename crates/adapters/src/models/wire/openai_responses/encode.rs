//! A request as a response to be created: <https://developers.openai.com/api/reference/resources/responses>.

use kybern_core::model::{FunctionChoice, FunctionSpec, ModelFailure, ModelRequest};
use serde::Serialize;
use serde_json::Value;

use super::input::Input;
use crate::models::quirks::{Images, Quirks, openai_effort, thinks_always};
use crate::models::wire::body::JsonBody;
use crate::models::wire::openai_chat::{check_images, size_of};
use crate::models::wire::{WireRequest, find_tool, no_such_tool, unsupported};

/// The request.
///
/// # Errors
/// `Unsupported` for stop sequences, which this format does not have.
pub fn encode(request: &ModelRequest, stream: bool, quirks: &Quirks) -> Result<WireRequest, ModelFailure> {
    check_images(request, Images::Any, quirks.kind.as_str())?;
    if !request.stop.is_empty() {
        return Err(unsupported("the responses API knows no stop sequences"));
    }
    let thinks = thinks_always(&request.model);
    let mut body = JsonBody::with_capacity(1024 + size_of(request));
    body.field("model", &request.model)?;
    body.field("input", &Input(&request.messages))?;
    body.field("store", &false)?;
    tools(&mut body, request)?;
    if let Some(output) = &request.output {
        let format = match &output.schema {
            Some(schema) => Format {
                r#type: "json_schema",
                name: Some(&output.name),
                schema: Some(schema),
                strict: Some(output.strict),
            },
            None => Format { r#type: "json_object", name: None, schema: None, strict: None },
        };
        body.field("text", &TextOptions { format })?;
    }
    body.maybe("max_output_tokens", request.max_output_tokens)?;
    if thinks {
        let effort = request.effort.map(|effort| openai_effort(&request.model, effort));
        body.field("reasoning", &Reasoning { effort, summary: "auto" })?;
        body.field("include", &["reasoning.encrypted_content"])?;
    } else {
        body.maybe("temperature", request.temperature)?;
        body.maybe("top_p", request.top_p)?;
    }
    body.maybe("safety_identifier", request.user.as_ref())?;
    if stream {
        body.field("stream", &true)?;
    }
    let body = body.finish(&request.extra)?;
    Ok(WireRequest { method: "POST", path: "/responses".to_owned(), headers: Vec::new(), body })
}

fn tools(body: &mut JsonBody, request: &ModelRequest) -> Result<(), ModelFailure> {
    let choice = match &request.function_choice {
        FunctionChoice::Auto => None,
        FunctionChoice::None => Some(Choice::Word("none")),
        FunctionChoice::Required => Some(Choice::Word("required")),
        FunctionChoice::Named(name) => {
            find_tool(request, name)?;
            Some(Choice::Named { r#type: "function", name })
        }
    };
    if request.functions.is_empty() {
        return if request.function_choice == FunctionChoice::Required { Err(no_such_tool()) } else { Ok(()) };
    }
    let tools: Vec<_> = request.functions.iter().map(Tool::new).collect();
    body.field("tools", &tools)?;
    body.maybe("tool_choice", choice)?;
    body.maybe("parallel_tool_calls", request.parallel_calls)
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named { r#type: &'static str, name: &'a str },
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// Unlike in chat completions, a missing one means `true`.
    strict: bool,
}

impl<'a> Tool<'a> {
    fn new(function: &'a FunctionSpec) -> Self {
        let FunctionSpec { name, description, parameters, strict } = function;
        Self { r#type: "function", name, description, parameters, strict: strict.unwrap_or(false) }
    }
}

#[derive(Serialize)]
struct TextOptions<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    summary: &'static str,
}
