//! A request as a chat completion.

use kybern_core::model::{Effort, FunctionChoice, FunctionSpec, ModelFailure, ModelRequest, OutputSchema};
use serde::Serialize;
use serde_json::Value;

use super::messages::{self, Messages};
use crate::models::quirks::{ChatQuirks, EffortFormat, JsonAnswers, Quirks, ToolChoices, openai_effort, thinks_always};
use crate::models::wire::body::JsonBody;
use crate::models::wire::{WireRequest, find_tool, no_such_tool, unsupported};

/// The request.
///
/// # Errors
/// `Unsupported` for tools, choices, schemas and images that this provider does not take.
pub fn encode(request: &ModelRequest, stream: bool, quirks: &Quirks) -> Result<WireRequest, ModelFailure> {
    let chat = &quirks.chat;
    messages::check(request, chat.images, quirks.kind.as_str())?;
    let thinks = chat.openai_models && thinks_always(&request.model);
    let mut body = JsonBody::with_capacity(1024 + messages::size(request));
    body.field("model", &request.model)?;
    body.field("messages", &Messages { request, chat, developer: thinks })?;
    tools(&mut body, request, quirks)?;
    if let Some(output) = &request.output {
        body.field("response_format", &answer(output, chat.json, quirks.kind.as_str())?)?;
    }
    body.maybe(chat.max_tokens, request.max_output_tokens)?;
    if !thinks {
        body.maybe("temperature", request.temperature)?;
        body.maybe("top_p", request.top_p)?;
    }
    if !request.stop.is_empty() {
        if !chat.stop || thinks {
            let who = if thinks { &request.model } else { quirks.kind.as_str() };
            return Err(unsupported(format!("{who} knows no stop sequences")));
        }
        body.field("stop", &request.stop)?;
    }
    if let Some(name) = chat.seed {
        body.maybe(name, request.seed)?;
    }
    if let Some(name) = chat.user {
        body.maybe(name, request.user.as_ref())?;
    }
    if let Some(others) = request.logprobs {
        body.field("logprobs", &true)?;
        body.maybe("top_logprobs", Some(others).filter(|others| *others > 0))?;
    }
    if let Some(effort) = request.effort {
        write_effort(&mut body, effort, &request.model, chat, thinks)?;
    }
    if stream {
        body.field("stream", &true)?;
        if chat.stream_usage {
            body.field("stream_options", &StreamOptions { include_usage: true })?;
        }
    }
    let body = body.finish(&request.extra)?;
    Ok(WireRequest { method: "POST", path: "/chat/completions".to_owned(), headers: Vec::new(), body })
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

fn tools(body: &mut JsonBody, request: &ModelRequest, quirks: &Quirks) -> Result<(), ModelFailure> {
    let (chat, who) = (&quirks.chat, quirks.kind.as_str());
    if request.functions.is_empty() {
        return match request.function_choice {
            FunctionChoice::Auto | FunctionChoice::None => Ok(()),
            FunctionChoice::Required | FunctionChoice::Named(_) => Err(no_such_tool()),
        };
    }
    let word = match chat.tools {
        ToolChoices::NoTools => return Err(unsupported(format!("{who} does not call tools"))),
        ToolChoices::Auto => None,
        ToolChoices::Word(word) | ToolChoices::Full(word) => Some(word),
    };
    let mut offered: Vec<&FunctionSpec> = request.functions.iter().collect();
    let choice = match (&request.function_choice, word) {
        (FunctionChoice::Auto, _) => None,
        (FunctionChoice::None, _) if chat.none_word => Some(Choice::Word("none")),
        // Without a word for it, a model that must not call tools is not told of any.
        (FunctionChoice::None, _) => return Ok(()),
        (FunctionChoice::Required, Some(word)) => Some(Choice::Word(word)),
        (FunctionChoice::Named(name), Some(word)) => {
            find_tool(request, name)?;
            if matches!(chat.tools, ToolChoices::Full(_)) {
                Some(Choice::Named { r#type: "function", function: Name { name } })
            } else {
                // The only tool that it is told of is the one that it must call.
                offered.retain(|function| function.name == *name);
                Some(Choice::Word(word))
            }
        }
        (FunctionChoice::Required | FunctionChoice::Named(_), None) => {
            return Err(unsupported(format!("{who} cannot be made to call a tool")));
        }
    };
    let tools: Vec<_> = offered.into_iter().map(|function| Tool::new(function, chat.strict)).collect();
    body.field("tools", &tools)?;
    body.maybe("tool_choice", choice)?;
    if chat.parallel { body.maybe("parallel_tool_calls", request.parallel_calls) } else { Ok(()) }
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

impl<'a> Tool<'a> {
    fn new(function: &'a FunctionSpec, takes_strict: bool) -> Self {
        let FunctionSpec { name, description, parameters, strict } = function;
        let strict = strict.filter(|_| takes_strict);
        Self { r#type: "function", function: Function { name, description, parameters, strict } }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named { r#type: &'static str, function: Name<'a> },
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    json_schema: Option<JsonSchema<'a>>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

fn answer<'a>(output: &'a OutputSchema, json: JsonAnswers, who: &str) -> Result<ResponseFormat<'a>, ModelFailure> {
    match (&output.schema, json) {
        (Some(schema), JsonAnswers::Schema | JsonAnswers::OnlySchema) => {
            let json_schema = JsonSchema { name: &output.name, schema, strict: output.strict };
            Ok(ResponseFormat { r#type: "json_schema", json_schema: Some(json_schema) })
        }
        (None, JsonAnswers::Schema | JsonAnswers::Object) => {
            Ok(ResponseFormat { r#type: "json_object", json_schema: None })
        }
        (Some(_), JsonAnswers::Object) => Err(unsupported(format!("{who} answers with JSON, but not by a schema"))),
        (None, JsonAnswers::OnlySchema) => Err(unsupported(format!("{who} answers with JSON by a schema only"))),
        (_, JsonAnswers::No) => Err(unsupported(format!("{who} cannot be made to answer with JSON"))),
    }
}

#[derive(Serialize)]
struct ReasoningObject {
    effort: &'static str,
}

fn write_effort(
    body: &mut JsonBody,
    effort: Effort,
    model: &str,
    chat: &ChatQuirks,
    thinks: bool,
) -> Result<(), ModelFailure> {
    let least = |least| match effort {
        Effort::Minimal => least,
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    };
    match chat.efforts {
        EffortFormat::No => Ok(()),
        EffortFormat::OpenAi if thinks => body.field("reasoning_effort", openai_effort(model, effort)),
        EffortFormat::OpenAi => Ok(()),
        EffortFormat::Three => body.field("reasoning_effort", least("low")),
        EffortFormat::Four => body.field("reasoning_effort", least("minimal")),
        EffortFormat::Object => body.field("reasoning", &ReasoningObject { effort: least("minimal") }),
    }
}
