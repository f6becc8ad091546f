//! `core.http_request`: one HTTP request through the egress policy, with the step's idempotency key.

use async_trait::async_trait;
use kybern_core::error::ErrorCode;
use kybern_core::json::{self as bounded, check_members};
use kybern_core::policy::{PermissionLevel, ToolCategory};
use kybern_core::ports::{HttpBody, HttpFailure, HttpRequest, HttpResponse, Tool, ToolContext};
use kybern_core::task::EffectClass;
use kybern_core::time::Millis;
use kybern_core::tool::{Risk, ToolFailure, ToolNeeds, ToolOutcome, ToolReach, ToolSpec};
use kybern_core::trace::traceparent;
use serde_json::{Map, Value, json};

use super::{http_headers, text};
use crate::secret::Scrub;

/// Bytes of an answer that are taken.
const MAX_ANSWER: usize = 2 * 1024 * 1024;

pub(in crate::tools) struct HttpCall {
    spec: ToolSpec,
}

impl HttpCall {
    pub(in crate::tools) fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "method": {"type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]},
                "url": {"type": "string", "minLength": 1, "maxLength": 4096},
                "headers": {
                    "type": "object",
                    "description": "Each a text, or {\"secret\": name}.",
                    "additionalProperties": {"anyOf": [{"type": "string"}, http_headers::reference()]}
                },
                "auth": {
                    "anyOf": [{"type": "null"}, http_headers::reference()],
                    "description": "A secret that is sent as Authorization: Bearer."
                },
                "json": {},
                "text": {"type": "string"},
                "effect": {"type": "string", "enum": ["read", "keyed", "unkeyed"]}
            },
            "required": ["method", "url"],
            "not": {"required": ["json", "text"]},
            "additionalProperties": false
        });
        let description = "Sends an HTTP request. The effect says what happens if the process dies in between: read \
                           and keyed requests are sent again with the same Idempotency-Key, unkeyed ones stop for a \
                           person. Default: read for GET and HEAD, keyed otherwise. Secrets are named, never \
                           written out.";
        Self {
            spec: ToolSpec {
                aliases: vec!["http_request".to_owned()],
                effect: EffectClass::Keyed,
                risk: Risk::R2,
                category: ToolCategory::NetworkWrite,
                timeout: Millis::from_secs(60),
                // Which secret goes out is nothing that a stranger decides; for that of a header see `confirm`.
                destinations: vec!["url".to_owned(), "auth".to_owned()],
                untrusted_output: true,
                needs: ToolNeeds { http: true, secrets: true, ..ToolNeeds::default() },
                ..ToolSpec::local("core.http_request", description, schema).shown(
                    &["web", "api", "fetch", "page", "download"],
                    json!({"method": "GET", "url": "https://example.com/prices.json"}),
                )
            },
        }
    }
}

#[async_trait]
impl Tool for HttpCall {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect_of(&self, args: &Map<String, Value>) -> EffectClass {
        match args.get("effect").and_then(Value::as_str) {
            Some("read") => EffectClass::Read,
            Some("keyed") => EffectClass::Keyed,
            Some("unkeyed") => EffectClass::Unkeyed,
            Some(_) | None => match args.get("method").and_then(Value::as_str) {
                Some("GET" | "HEAD") => EffectClass::Read,
                Some(_) | None => EffectClass::Keyed,
            },
        }
    }

    /// What is fetched is looked at; whatever else a method does, it changes something outside. What the caller says
    /// about the effect does not count here.
    fn reach_of(&self, args: &Map<String, Value>) -> ToolReach {
        match args.get("method").and_then(Value::as_str) {
            Some("GET" | "HEAD") => self.least_reach(),
            Some(_) | None => self.spec.reach(),
        }
    }

    fn least_reach(&self) -> ToolReach {
        ToolReach { level: PermissionLevel::Read, category: ToolCategory::NetworkRead, risk: Risk::R1 }
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let http = context.http.as_ref().ok_or_else(|| ToolFailure::permanent("no HTTP client"))?;
        let method = text(&args, "method")?.to_owned();
        let (mut headers, scrub) = http_headers::of(context, &args).await?;
        let has = |headers: &[(String, String)], name: &str| headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        if self.effect_of(&args) != EffectClass::Read && !has(&headers, "Idempotency-Key") {
            headers.push(("Idempotency-Key".to_owned(), context.key.clone()));
        }
        if !has(&headers, "traceparent")
            && let Some(traceparent) = traceparent(&context.trace_id, &context.key)
        {
            headers.push(("traceparent".to_owned(), traceparent));
        }
        let body = match (args.get("json"), args.get("text").and_then(Value::as_str)) {
            (Some(json), _) if !json.is_null() => HttpBody::Json(json.clone()),
            (_, Some(text)) => HttpBody::Text(text.to_owned()),
            (_, None) => HttpBody::Empty,
        };
        let request = HttpRequest {
            method: method.clone(),
            url: text(&args, "url")?.to_owned(),
            headers,
            body,
            timeout: context.timeout,
            max_bytes: MAX_ANSWER,
            only_hosts: None,
            trusted_endpoint: false,
        };
        match http.send(request).await {
            Ok(answer) => judge(&method, answer, &scrub),
            Err(failure) => Err(explain(failure, &scrub)),
        }
    }
}

/// 2xx and 3xx succeed; 408, 425, 429 and 5xx may succeed later; other answers do not.
fn judge(method: &str, answer: HttpResponse, scrub: &Scrub) -> Result<ToolOutcome, ToolFailure> {
    let status = answer.status;
    if status < 400 {
        let mut data = Map::new();
        data.insert("status".to_owned(), json!(status));
        let headers: Map<String, Value> =
            answer.headers.into_iter().map(|(name, value)| (name, scrub.value(json!(value)))).collect();
        if let Ok(body) = bounded::read(&answer.body) {
            data.insert("json".to_owned(), scrub.value(body));
        }
        // JSON that cannot be kept as it is (nested too deep, too large, an integer of too many digits) stays text.
        if !data.contains_key("json") || check_members(&data).is_err() {
            data.remove("json");
            data.insert("text".to_owned(), json!(clean(&answer.body, scrub)));
        }
        data.insert("headers".to_owned(), Value::Object(headers));
        return Ok(ToolOutcome::new(data, format!("{method} answered {status}")));
    }
    let excerpt: String = clean(&answer.body, scrub).chars().take(200).collect();
    let message = format!("{method} answered {status}: {excerpt}");
    let later = matches!(status, 408 | 425 | 429 | 500..=599);
    let failure = if later { ToolFailure::transient(message) } else { ToolFailure::permanent(message) };
    // A server error says nothing about what happened before it.
    Err(if status >= 500 { failure.unknown() } else { failure })
}

/// A body as text, without the secrets that went out.
fn clean(body: &[u8], scrub: &Scrub) -> String {
    scrub.text(String::from_utf8_lossy(body).into_owned())
}

fn explain(failure: HttpFailure, scrub: &Scrub) -> ToolFailure {
    let failure = unscrubbed(failure);
    ToolFailure { message: scrub.text(failure.message), ..failure }
}

fn unscrubbed(failure: HttpFailure) -> ToolFailure {
    match failure {
        HttpFailure::Denied(denied) => ToolFailure::permanent(denied.to_string()).code(ErrorCode::PermissionDenied),
        HttpFailure::Invalid(message) => ToolFailure::permanent(message).code(ErrorCode::Validation),
        HttpFailure::Connect(message) => ToolFailure::transient(format!("cannot connect: {message}")),
        HttpFailure::NoAnswer(message) => ToolFailure::transient(format!("no answer: {message}")).unknown(),
        HttpFailure::TimedOut(limit) => {
            ToolFailure::transient(format!("no answer within {limit}")).code(ErrorCode::Timeout).unknown()
        }
        HttpFailure::TooLarge(limit) => {
            let message = format!("the answer is larger than {limit} bytes");
            ToolFailure::permanent(message).code(ErrorCode::PayloadTooLarge).unknown()
        }
    }
}
