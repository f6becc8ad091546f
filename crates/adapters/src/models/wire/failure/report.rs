//! The shapes in which providers report errors.

use kybern_core::json as bounded;
use kybern_core::time::Millis;
use serde_json::Value;

use super::retry_after;

/// What an error body says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// For people.
    pub message: String,
    /// Every code, type, status word and reason that it names, lower case.
    pub codes: Vec<String>,
    /// A status, when the body names one.
    pub status: Option<u16>,
    /// When to come again, when the body says so.
    pub retry_after: Option<Millis>,
}

impl Report {
    /// Reads an error body. What is not JSON is the message itself, unless it is a page.
    #[must_use]
    pub fn parse(body: &[u8]) -> Self {
        match bounded::read(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self { message: plain(body), ..Self::default() },
        }
    }

    /// Reads an error object.
    ///
    /// OpenAI, DeepSeek, Groq, Together, Fireworks, OpenRouter, llama.cpp: `{"error":{message,type,code,param}}`.
    /// Anthropic: `{"type":"error","error":{type,message}}`. Gemini: `{"error":{code,message,status,details}}`, in a
    /// list when it does not stream events. Mistral, vLLM: `{"object":"error",message,type,code}`, Mistral also
    /// `{"detail":[{msg,loc}]}`. Cohere: `{"message"}`. xAI: `{"code":"sentence","error":"sentence"}`. Ollama, LM
    /// Studio: `{"error":"sentence"}`.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        let mut report = Self::default();
        report.read(value, 0);
        report
    }

    fn read(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => self.say(text),
            Value::Array(items) if depth < 4 => {
                if let Some(first) = items.first() {
                    self.read(first, depth + 1);
                }
            }
            Value::Object(fields) => {
                for name in ["code", "type", "status", "reason", "error_type"] {
                    self.code(fields.get(name));
                }
                for name in ["message", "msg"] {
                    if let Some(Value::String(text)) = fields.get(name) {
                        self.say(text);
                    }
                }
                for name in ["error", "message", "detail", "errors"] {
                    match fields.get(name) {
                        Some(Value::Null) | None => {}
                        Some(Value::String(text)) => self.say(text),
                        Some(inner) if depth < 4 => self.read(inner, depth + 1),
                        Some(_) => {}
                    }
                }
                self.details(fields.get("details"));
                self.metadata(fields.get("metadata"));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }
    }

    /// Gemini's details: a reason, and how long to wait.
    fn details(&mut self, details: Option<&Value>) {
        for detail in details.and_then(Value::as_array).into_iter().flatten() {
            self.code(detail.get("reason"));
            if let Some(delay) = detail.get("retryDelay").and_then(Value::as_str) {
                self.retry_after = self.retry_after.or_else(|| retry_after::span(delay));
            }
        }
    }

    /// OpenRouter's: what the provider behind it said, and its own headers.
    fn metadata(&mut self, metadata: Option<&Value>) {
        let Some(metadata) = metadata else { return };
        if let Some(raw) = metadata.get("raw").and_then(Value::as_str) {
            self.message = format!("{}: {}", self.message, plain(raw.as_bytes()));
        }
        self.code(metadata.get("error_type"));
        if let Some(seconds) = metadata.get("retry_after_seconds").and_then(Value::as_f64) {
            self.retry_after = self.retry_after.or_else(|| retry_after::seconds(seconds));
        }
    }

    fn say(&mut self, text: &str) {
        // The more specific message stands deeper, and comes later.
        text.clone_into(&mut self.message);
    }

    fn code(&mut self, code: Option<&Value>) {
        match code {
            Some(Value::String(text)) if !text.is_empty() => self.codes.push(text.to_ascii_lowercase()),
            Some(Value::Number(number)) => {
                let status = number.as_u64().and_then(|number| u16::try_from(number).ok());
                match status.filter(|status| (400..600).contains(status)) {
                    Some(status) => self.status = Some(status),
                    None => self.codes.push(number.to_string()),
                }
            }
            _ => {}
        }
    }
}

/// A body that is no JSON, in one line. A page of a proxy says nothing that helps.
fn plain(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    if text.trim_start().starts_with('<') {
        return String::new();
    }
    let mut words = String::new();
    for word in text.split_whitespace() {
        if words.len() > 2000 {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}
