//! Answers: what can be read from one, and what each has to be like.

use std::collections::BTreeSet;

use reqwest::header::HeaderMap;
use serde_json::Value;
use uuid::Uuid;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The places that an error names.
    pub(crate) fn places(&self) -> Vec<String> {
        let body = self.json();
        let details = body["error"]["details"].as_array().or(body["faults"].as_array()).cloned().unwrap_or_default();
        details.iter().map(|detail| detail["path"].as_str().unwrap_or("?").to_owned()).collect()
    }

    /// What two answers have to agree in, without what differs in every answer and without what was `named`.
    pub(crate) fn essence(&self, named: &[&str]) -> String {
        let mut body = self.json();
        if let Some(error) = body["error"].as_object_mut() {
            error.remove("requestId");
        }
        let whole = format!(
            "{} {:?} {body}",
            self.status,
            self.headers.keys().map(ToString::to_string).collect::<BTreeSet<_>>()
        );
        named.iter().fold(whole, |text, name| text.replace(name, "NAMED"))
    }
}

/// Every id in a text.
pub(crate) fn ids_in(text: &str) -> impl Iterator<Item = String> + '_ {
    let hex = |c: char| c.is_ascii_hexdigit() || c == '-';
    let words = text.split(move |c: char| !hex(c)).filter(|word| word.len() == 36);
    words.filter(|word| Uuid::parse_str(word).is_ok()).map(str::to_lowercase)
}

/// Whether an error is shaped as all are, with the code of its status.
pub(crate) fn is_envelope(answer: &Answer) -> bool {
    let code = match answer.status {
        400 => "VALIDATION_ERROR",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "CONFLICT",
        413 => "PAYLOAD_TOO_LARGE",
        422 => "UNPROCESSABLE",
        429 => "RATE_LIMITED",
        _other => return false,
    };
    let body = answer.json();
    let error = &body["error"];
    let members: BTreeSet<&str> = error.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let detailed =
        |detail: &Value| detail["path"].is_string() && detail["message"].as_str().is_some_and(|text| text.len() > 5);
    members == BTreeSet::from(["code", "message", "requestId", "details"])
        && body.as_object().is_some_and(|body| body.len() == 1)
        && error["code"] == code
        && error["message"].as_str().is_some_and(|text| text.len() > 5)
        && error["requestId"] == answer.header("x-request-id")
        && error["details"].as_array().is_some_and(|details| details.iter().all(detailed))
        && answer.header("content-type") == "application/json"
}

pub(crate) fn cut(text: &str) -> String {
    text.chars().take(300).collect()
}
