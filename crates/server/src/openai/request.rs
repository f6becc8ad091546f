//! Requests as OpenAI's clients write them.

use kybern_core::error::Detail;
use kybern_core::list;
use kybern_core::model::{Effort, FunctionChoice, FunctionSpec, ModelRequest, OutputSchema};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::message::{MessageBody, messages};
use crate::error::{ApiResult, Problem};
use crate::extract::check_text;
use crate::schema::model::{ChatStopSchema, MAX_STOPS};
use crate::schema::words::{ChatToolKindSchema, EffortSchema, FormatKindSchema, ToolChoiceWordSchema};

/// A question to a model.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(expecting = "an object")]
#[schema(as = ChatCompletionRequest, example = json!({
    "model": "balanced", "messages": [{"role": "user", "content": "Say hello."}]}))]
pub(crate) struct ChatBody {
    /// `provider/model`, a provider, a strategy (`balanced`, `cheapest`, `fastest`, `smartest`, `reasoning`,
    /// `fallback`), or `agent:NAME`.
    #[serde(default)]
    #[schema(max_length = 256)]
    pub(crate) model: String,
    /// The conversation.
    #[schema(min_items = 1)]
    pub(super) messages: Vec<MessageBody>,
    /// Whether the reply comes in pieces, as server-sent events.
    pub(crate) stream: Option<bool>,
    /// `{"include_usage": true}` adds a last piece with the usage.
    stream_options: Option<Map<String, Value>>,
    /// The tools that the model may call.
    tools: Option<Vec<ToolBody>>,
    /// Whether the model calls, or which function.
    tool_choice: Option<ChoiceBody>,
    /// Whether the model may ask for several calls at once.
    parallel_tool_calls: Option<bool>,
    /// What the reply is: text, JSON, or JSON by a schema.
    response_format: Option<FormatBody>,
    /// The most tokens of the reply.
    #[schema(minimum = 1)]
    max_tokens: Option<u32>,
    /// The same under its newer name.
    #[schema(minimum = 1)]
    max_completion_tokens: Option<u32>,
    /// From 0 to 2.
    #[schema(minimum = 0, maximum = 2)]
    temperature: Option<f64>,
    /// From 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    top_p: Option<f64>,
    /// Where the reply ends: a text or a list of up to four.
    #[schema(value_type = Option<ChatStopSchema>)]
    stop: Option<StopBody>,
    /// For replies that can be repeated.
    seed: Option<i64>,
    /// Whether the reply says how likely its tokens were, where the provider tells.
    logprobs: Option<bool>,
    /// With how many others that could have stood in the place of each.
    #[schema(minimum = 0, maximum = 20)]
    top_logprobs: Option<u8>,
    /// How hard the model thinks, where it does.
    #[schema(value_type = Option<EffortSchema>)]
    reasoning_effort: Option<String>,
    /// An opaque name of the end user.
    #[schema(max_length = 256)]
    user: Option<String>,
    /// Only 1.
    #[schema(minimum = 1, maximum = 1)]
    n: Option<u32>,
    /// `frequency_penalty`, `presence_penalty`, `logit_bias`, `top_k` and the like go along to the provider.
    #[serde(flatten)]
    #[schema(ignore)]
    rest: Map<String, Value>,
}

/// A tool.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatTool)]
pub(crate) struct ToolBody {
    /// Always `function`.
    #[serde(rename = "type")]
    #[schema(value_type = ChatToolKindSchema)]
    kind: String,
    /// The function.
    #[schema(required, nullable = false)]
    function: Option<FunctionBody>,
}

/// A function.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatFunction)]
struct FunctionBody {
    /// Its name.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    name: String,
    /// What it does.
    description: Option<String>,
    /// JSON Schema of its arguments.
    #[schema(value_type = Option<Object>)]
    parameters: Option<Map<String, Value>>,
    /// Whether the model is held to the schema.
    strict: Option<bool>,
}

/// Whether the model calls, or which function it calls.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "auto, none, required or a function")]
#[schema(as = ChatToolChoice)]
enum ChoiceBody {
    /// As it likes, never, or at least one; `any` is `required`.
    #[schema(value_type = ToolChoiceWordSchema)]
    Word(String),
    /// This one.
    Function {
        /// The function.
        function: NamedBody,
    },
}

/// A function by its name.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatNamedFunction)]
struct NamedBody {
    /// The name of one of the tools.
    name: String,
}

/// What the reply is.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatResponseFormat)]
struct FormatBody {
    /// Text, JSON, or JSON by a schema.
    #[serde(rename = "type")]
    #[schema(value_type = FormatKindSchema)]
    kind: String,
    /// The schema, beside `json_schema`.
    json_schema: Option<SchemaBody>,
}

/// A schema of a reply.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatReplySchema)]
struct SchemaBody {
    /// Its name.
    name: String,
    /// JSON Schema of the reply.
    #[schema(value_type = Option<Object>)]
    schema: Option<Map<String, Value>>,
    /// Whether the model is held to it.
    strict: Option<bool>,
}

/// Where a reply ends.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
enum StopBody {
    /// At this text.
    One(String),
    /// At the first of these.
    Many(Vec<String>),
}

/// Characters of a model's name, and of an end user's.
pub(super) const MAX_NAME: usize = 256;

/// Members that go along to the provider as they are: they shape the words and change neither the price nor what the
/// call reaches.
const PASSED_ON: &[&str] = list!(
    "frequency_penalty, presence_penalty, logit_bias, top_k, min_p, repetition_penalty, verbosity, prompt_cache_key, \
     safety_identifier, metadata, store"
);

/// Members that ask for nothing when they hold this.
fn is_neutral(name: &str, value: &Value) -> bool {
    match name {
        "frequency_penalty" | "presence_penalty" => value.as_f64() == Some(0.0),
        "modalities" => value == &json!(["text"]),
        "service_tier" => value == "auto",
        _ => value.is_null(),
    }
}

impl ChatBody {
    /// Whether the reply comes in pieces.
    pub(crate) fn streams(&self) -> bool {
        self.stream.unwrap_or(false)
    }

    /// Whether the stream ends with the usage.
    pub(crate) fn tells_usage(&self) -> bool {
        self.stream_options.as_ref().and_then(|options| options.get("include_usage")) == Some(&Value::Bool(true))
    }

    /// The request in words of no provider.
    ///
    /// # Errors
    /// Every fault at once, with its place.
    pub(crate) fn request(self) -> ApiResult<ModelRequest> {
        let mut faults: Vec<Detail> = Vec::new();
        faults.extend(check_text("/model", &self.model, MAX_NAME));
        faults.extend(self.user.as_deref().and_then(|user| check_text("/user", user, MAX_NAME)));
        let mut fault = |path: &str, message: String| faults.push(Detail::new(path, message));
        let tells = self.stream_options.as_ref().and_then(|options| options.get("include_usage"));
        if tells.is_some_and(|tells| !tells.is_boolean() && !tells.is_null()) {
            fault("/stream_options/include_usage", "include_usage is true or false".to_owned());
        }
        if self.n.is_some_and(|n| n != 1) {
            fault("/n", "one reply is given at a time: leave n out, or ask again".to_owned());
        }
        for (range, name, value) in [(0.0..=2.0, "temperature", self.temperature), (0.0..=1.0, "top_p", self.top_p)] {
            if value.is_some_and(|value| !range.contains(&value)) {
                fault(&format!("/{name}"), format!("{name} is a number from 0 to {}", range.end()));
            }
        }
        let max_output_tokens = self.max_completion_tokens.or(self.max_tokens);
        for (place, most) in [("/max_tokens", self.max_tokens), ("/max_completion_tokens", self.max_completion_tokens)]
        {
            if most == Some(0) {
                fault(place, "a reply has at least one token".to_owned());
            }
        }
        let mut extra = self.rest;
        extra.retain(|name, value| !is_neutral(name, value));
        for name in extra.keys().filter(|name| !PASSED_ON.contains(&name.as_str())) {
            let shown: String = name.chars().take(64).collect();
            fault(
                &format!("/{shown}"),
                format!("{shown:?} is not taken: it could change what the call costs or reaches"),
            );
        }
        let logprobs = self.logprobs.unwrap_or(false).then(|| self.top_logprobs.unwrap_or(0));
        match (logprobs, self.top_logprobs) {
            (Some(0..=20), _) | (None, None | Some(0)) => {}
            (Some(_), _) => fault("/top_logprobs", "top_logprobs is a number from 0 to 20".to_owned()),
            (None, Some(_)) => fault("/top_logprobs", "top_logprobs stands beside logprobs: true".to_owned()),
        }
        let effort = effort(self.reasoning_effort.as_deref(), &mut faults);
        let functions = functions(self.tools.unwrap_or_default(), &mut faults);
        let function_choice = choice(self.tool_choice, &functions, &mut faults);
        let output = output(self.response_format, &mut faults);
        let stop = match self.stop {
            None => Vec::new(),
            Some(StopBody::One(text)) => vec![text],
            Some(StopBody::Many(texts)) => texts,
        };
        if stop.len() > MAX_STOPS {
            faults.push(Detail::new("/stop", format!("at most {MAX_STOPS} texts end a reply")));
        }
        let messages = messages(self.messages, &mut faults);
        Problem::refuse(faults)?;
        Ok(ModelRequest {
            messages,
            functions,
            function_choice,
            parallel_calls: self.parallel_tool_calls,
            output,
            max_output_tokens,
            temperature: self.temperature,
            top_p: self.top_p,
            stop,
            seed: self.seed,
            logprobs,
            effort,
            user: self.user,
            extra,
            ..ModelRequest::default()
        })
    }
}

fn effort(word: Option<&str>, faults: &mut Vec<Detail>) -> Option<Effort> {
    match word? {
        "none" | "minimal" => Some(Effort::Minimal),
        "low" => Some(Effort::Low),
        "medium" => Some(Effort::Medium),
        "high" | "xhigh" => Some(Effort::High),
        other => {
            let message = format!("{other:?} is no effort: use minimal, low, medium or high");
            faults.push(Detail::new("/reasoning_effort", message));
            None
        }
    }
}

fn functions(tools: Vec<ToolBody>, faults: &mut Vec<Detail>) -> Vec<FunctionSpec> {
    let mut functions: Vec<FunctionSpec> = Vec::with_capacity(tools.len());
    for (n, tool) in tools.into_iter().enumerate() {
        let place = format!("/tools/{n}");
        let Some(function) = tool.function.filter(|_| tool.kind == "function") else {
            let message = format!("a tool of type {:?} is not taken: use function, with its function", tool.kind);
            faults.push(Detail::new(place, message));
            continue;
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let fits = (1..=64).contains(&function.name.len()) && function.name.chars().all(plain);
        if !fits {
            let message = "a function's name has 1 to 64 letters, digits, underscores and dashes";
            faults.push(Detail::new(format!("{place}/function/name"), message));
        }
        if functions.iter().any(|known| known.name == function.name) {
            faults.push(Detail::new(format!("{place}/function/name"), "another tool has this name"));
        }
        functions.push(FunctionSpec {
            name: function.name,
            description: function.description.unwrap_or_default(),
            parameters: function.parameters.map_or_else(|| json!({"type": "object", "properties": {}}), Value::Object),
            strict: function.strict,
        });
    }
    functions
}

fn choice(choice: Option<ChoiceBody>, functions: &[FunctionSpec], faults: &mut Vec<Detail>) -> FunctionChoice {
    let (chosen, needs_tools) = match choice {
        None => return FunctionChoice::Auto,
        Some(ChoiceBody::Word(word)) => match word.as_str() {
            "auto" => (FunctionChoice::Auto, false),
            "none" => (FunctionChoice::None, false),
            "required" | "any" => (FunctionChoice::Required, true),
            other => {
                let message = format!("{other:?} is no choice: use auto, none, required or a function");
                faults.push(Detail::new("/tool_choice", message));
                (FunctionChoice::Auto, false)
            }
        },
        Some(ChoiceBody::Function { function }) => {
            if !functions.iter().any(|known| known.name == function.name) {
                let message = format!("no tool is named {:?}", function.name);
                faults.push(Detail::new("/tool_choice/function/name", message));
            }
            (FunctionChoice::Named(function.name), false)
        }
    };
    if needs_tools && functions.is_empty() {
        faults.push(Detail::new("/tool_choice", "a call is required, and there are no tools"));
    }
    chosen
}

fn output(format: Option<FormatBody>, faults: &mut Vec<Detail>) -> Option<OutputSchema> {
    let format = format?;
    match (format.kind.as_str(), format.json_schema) {
        ("text", _) => None,
        ("json_object", _) => Some(OutputSchema { name: "answer".to_owned(), schema: None, strict: false }),
        ("json_schema", Some(SchemaBody { name, schema, strict })) => {
            Some(OutputSchema { name, schema: schema.map(Value::Object), strict: strict.unwrap_or(false) })
        }
        ("json_schema", None) => {
            faults.push(Detail::new("/response_format/json_schema", "is needed beside type json_schema"));
            None
        }
        (other, _) => {
            let message = format!("{other:?} is no format: use text, json_object or json_schema");
            faults.push(Detail::new("/response_format/type", message));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_a_provider_shall_store_nothing_is_passed_on() {
        let asked = json!({"messages": [{"role": "user", "content": "x"}], "store": false, "presence_penalty": 0});
        let body: ChatBody = serde_json::from_value(asked).unwrap();
        let request = body.request().unwrap_or_else(|problem| panic!("{}", problem.0));
        assert_eq!(Value::Object(request.extra), json!({"store": false}));
    }
}
