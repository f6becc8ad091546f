//! A call of an own tool: the request that its definition makes of the arguments, sent as `core.http_request` sends one,
//! with the same egress rules, secrets and idempotency key.

use std::cell::Cell;

use async_trait::async_trait;
use kybern_core::error::ErrorCode;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::task::EffectClass;
use kybern_core::tool::{OwnDefinition, ToolFailure, ToolOutcome, ToolSpec};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use crate::schema;
use crate::size;
use crate::templates::{self, Context, RenderError};
use crate::tools::builtin::HttpCall;

/// What an argument in a URL is encoded to: everything that is more than a letter, a digit or one of `-._~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(crate) struct OwnHttpTool {
    definition: OwnDefinition,
    spec: ToolSpec,
    http: HttpCall,
}

impl OwnHttpTool {
    pub(super) fn new(definition: OwnDefinition) -> Self {
        Self { spec: definition.spec(), definition, http: HttpCall::new() }
    }

    /// The arguments of `core.http_request` that make the request.
    fn request(&self, args: Map<String, Value>) -> Result<Map<String, Value>, ToolFailure> {
        let invalid = |message: String| ToolFailure::permanent(message).code(ErrorCode::Validation);
        let unrendered = |place: &str| {
            let message = format!("the tool's {place} cannot be made");
            move |error: RenderError| ToolFailure::permanent(format!("{message}: {error}")).code(ErrorCode::Validation)
        };
        let http = &self.definition.http;
        let weight = size::of_members(&args);
        let context = Context::of_args(self.with_all(args), weight);
        let mut request = Map::new();
        request.insert("method".to_owned(), json!(http.method));
        request.insert("url".to_owned(), json!(url(&http.url, &context).map_err(invalid)?));
        let mut headers = Map::new();
        for (name, value) in &http.headers {
            let value = templates::render(value, &context).map_err(unrendered("header"))?;
            match value {
                Value::Null => {}
                Value::String(_) | Value::Object(_) => drop(headers.insert(name.clone(), value)),
                Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                    headers.insert(name.clone(), json!(value.to_string()));
                }
            }
        }
        request.insert("headers".to_owned(), Value::Object(headers));
        if let Some(auth) = &http.auth {
            request.insert("auth".to_owned(), auth.clone());
        }
        if let Some(json) = &http.json {
            let mut body = templates::render(json, &context).map_err(unrendered("body"))?;
            leave_out_nulls(json, &mut body);
            request.insert("json".to_owned(), body);
        }
        request.insert("effect".to_owned(), json!(self.definition.effect));
        Ok(request)
    }

    /// The arguments, and null for each that may be left out and was.
    fn with_all(&self, mut args: Map<String, Value>) -> Map<String, Value> {
        let names = self.definition.input_schema.get("properties").and_then(Value::as_object);
        for name in names.into_iter().flat_map(Map::keys) {
            args.entry(name.as_str()).or_insert(Value::Null);
        }
        args
    }
}

/// The URL with its arguments encoded: none of them becomes another part of the path, and none leads up.
fn url(template: &str, context: &Context) -> Result<String, String> {
    let encode = |value: String| utf8_percent_encode(&value, ENCODED).to_string();
    let (path, query) = template.split_once('?').map_or((template, None), |(path, query)| (path, Some(query)));
    let unmade = |error: RenderError| format!("the tool's url cannot be made: {error}");
    let has_empty = Cell::new(false);
    let path = templates::render_encoded(path, context, &|value| {
        has_empty.set(has_empty.get() || value.is_empty());
        encode(value)
    });
    let mut url = path.map_err(unmade)?;
    // Without one of its parts a path is another one: that of a list, or of all.
    if has_empty.get() {
        return Err("an argument that is a part of the tool's url is empty".to_owned());
    }
    if url.split('/').any(|part| matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")) {
        return Err("an argument would lead the tool's url to another place: it is \".\" or \"..\"".to_owned());
    }
    if let Some(query) = query {
        url.push('?');
        url.push_str(&templates::render_encoded(query, context, &encode).map_err(unmade)?);
    }
    Ok(url)
}

/// Leaves out the members of a body that are one expression each and came to nothing.
fn leave_out_nulls(template: &Value, body: &mut Value) {
    match (template, body) {
        (Value::Object(template), Value::Object(body)) => {
            body.retain(|name, value| !(value.is_null() && template.get(name).is_some_and(Value::is_string)));
            for (name, value) in body.iter_mut() {
                if let Some(template) = template.get(name) {
                    leave_out_nulls(template, value);
                }
            }
        }
        (Value::Array(template), Value::Array(body)) => {
            template.iter().zip(body).for_each(|(template, value)| leave_out_nulls(template, value));
        }
        _ => {}
    }
}

#[async_trait]
impl Tool for OwnHttpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let mut outcome = self.http.call(context, self.request(args)?).await?;
        outcome.data.remove("headers");
        let Some(expected) = &self.definition.output_schema else { return Ok(outcome) };
        let answer = outcome.data.get("json").unwrap_or(&Value::Null);
        match schema::check(expected, answer).first() {
            None => Ok(outcome),
            Some(fault) => {
                let place = if fault.path.is_empty() { "as a whole" } else { fault.path.as_str() };
                let message = format!("the answer does not fit the tool's outputSchema, {place}: {}", fault.message);
                let failure = ToolFailure::permanent(message).code(ErrorCode::Validation);
                // It came from outside after the call: whatever the call does, it has done.
                Err(if self.definition.effect == EffectClass::Read { failure.lost() } else { failure.unknown() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(http: &Value) -> OwnHttpTool {
        let definition = serde_json::from_value(json!({
            "key": "crm.change", "description": "Changes.", "effect": "keyed", "http": http,
            "inputSchema": {"type": "object", "properties": {"id": {}, "name": {}, "tags": {}, "note": {}}},
        }));
        OwnHttpTool::new(definition.unwrap())
    }

    fn args(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn an_argument_stays_one_part_of_the_path_or_one_value_of_the_query() {
        let tool =
            tool(&json!({"method": "GET", "url": "https://crm.example.com/c/{{ args.id }}?q={{ args.name }}&x=1"}));
        let made = |id: Value, name: Value| {
            let request = tool.request(args(&json!({"id": id, "name": name})));
            request.map(|request| request["url"].as_str().unwrap().to_owned()).map_err(|failure| failure.message)
        };
        let plain = made(json!(17), json!("Müller & Co")).unwrap();
        assert_eq!(plain, "https://crm.example.com/c/17?q=M%C3%BCller%20%26%20Co&x=1");
        for id in ["../admin", "a/b", "a?b", "a#b", "a\\b", "a%2fb", "//evil.test", "x@evil.test"] {
            let made = made(json!(id), json!("")).unwrap();
            let url = url::Url::parse(&made).unwrap();
            assert_eq!(url.host_str(), Some("crm.example.com"), "{made}");
            assert_eq!((url.path_segments().unwrap().count(), url.query()), (2, Some("q=&x=1")), "{made}");
        }
        for id in [json!(""), json!(null), json!("."), json!("..")] {
            assert!(made(id.clone(), json!("x")).is_err(), "{id} would be another place");
        }
    }

    #[test]
    fn two_arguments_do_not_lead_up_together() {
        let tool = tool(&json!({"method": "DELETE", "url": "https://crm.example.com/c/{{ args.id }}{{ args.name }}"}));
        assert!(tool.request(args(&json!({"id": ".", "name": "."}))).is_err());
        assert!(tool.request(args(&json!({"id": "a", "name": "b"}))).is_ok());
    }

    #[test]
    fn a_body_keeps_types_and_leaves_out_what_was_not_given() {
        let tool = tool(&json!({
            "method": "POST", "url": "https://crm.example.com/c", "auth": {"secret": "crm"},
            "headers": {"X-Note": "{{ args.note }}", "X-Fixed": "1"},
            "json": {"name": "{{ args.name }}", "tags": "{{ args.tags }}", "note": "{{ args.note }}", "kept": null,
                "inner": {"text": "about {{ args.note }}", "note": "{{ args.note }}"}},
        }));
        let request = tool.request(args(&json!({"name": "{{ args.id }}", "tags": ["a", 1]}))).unwrap();
        let inner = json!({"text": "about "});
        assert_eq!(request["json"], json!({"name": "{{ args.id }}", "tags": ["a", 1], "kept": null, "inner": inner}));
        assert_eq!(request["headers"], json!({"X-Fixed": "1"}));
        assert_eq!((&request["auth"], &request["effect"]), (&json!({"secret": "crm"}), &json!("keyed")));
    }
}
