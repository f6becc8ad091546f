//! Reading a submission: JSON or a form, inside its limits.

use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::GeneralPurposeConfig;
use bytes::Bytes;
use kybern_core::error::Detail;
use kybern_core::json::check_exact as check_json;
use kybern_core::money::NanoUsd;
use kybern_core::task::{Channel, limits};
use kybern_engine::task::{AttachmentRequest, SubmitRequest};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::body;
use crate::error::{ApiResult, Problem};
use crate::extract::{self, check_text};
use crate::schema::words::SubmitChannelSchema;
use crate::state::AppState;

/// Characters of a name, a key or a type.
const MAX_NAME: usize = 255;

/// Base64 as people's tools write it: with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
);

/// A submission.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = SubmitTask, example = json!({"input": "Please send the invoices for order 4711", "maxSteps": 40}))]
pub(crate) struct SubmitBody {
    /// `api`, or `web`: what a stranger typed into a form, and so untrusted.
    #[schema(value_type = Option<SubmitChannelSchema>, default = "api")]
    channel: Option<String>,
    /// The instruction, or the text that came in. May be left out with a `planKey` or a file.
    #[schema(max_length = 4_194_304)]
    input: Option<String>,
    /// The plan to walk; otherwise the intent is detected.
    #[serde(alias = "plan_key")]
    #[schema(min_length = 1, max_length = 255)]
    plan_key: Option<String>,
    /// What else the plan can read: at most 4 MiB as JSON.
    payload: Option<Map<String, Value>>,
    /// Files.
    #[schema(max_items = 100)]
    attachments: Option<Vec<AttachmentBody>>,
    /// The most steps it may schedule; `limits.max_steps` (50) when not given.
    #[serde(alias = "max_steps")]
    #[schema(minimum = 1, maximum = 10_000)]
    max_steps: Option<i64>,
    /// Below this confidence a person is asked which intent it is; `model.confidence_threshold` (0.8) when not given.
    #[serde(alias = "confidence_threshold")]
    #[schema(minimum = 0, maximum = 1)]
    confidence_threshold: Option<f64>,
    /// The most it and its children may cost, in nano-dollars.
    #[serde(alias = "budget_nanos")]
    #[schema(minimum = 0)]
    budget_nanos: Option<i64>,
    /// Within a day the same key twice is one task; with other content 409.
    #[serde(alias = "idempotency_key")]
    #[schema(min_length = 1, max_length = 255)]
    idempotency_key: Option<String>,
}

/// A file of a submission.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = SubmitAttachment)]
pub(crate) struct AttachmentBody {
    /// Its name.
    #[schema(example = "contract.pdf", max_length = 255, pattern = "\\S")]
    pub(super) filename: String,
    /// Its type; the content decides in the end.
    #[serde(alias = "content_type")]
    #[schema(example = "application/pdf", max_length = 255)]
    pub(super) content_type: Option<String>,
    /// Its bytes in base64: at most 20 MiB, and no more than the server's limit of bodies lets through. White space
    /// between the characters is passed over.
    #[serde(alias = "data_base64")]
    #[schema(content_encoding = "base64", pattern = r"^[A-Za-z0-9+/\s]*(=\s*){0,2}$", example = "aGVsbG8=")]
    pub(super) data_base64: String,
}

/// A submission as a form. Every part with a file name is an attachment, whatever the part is called.
#[derive(ToSchema)]
#[schema(as = SubmitTaskForm, rename_all = "camelCase",
    example = json!({"input": "Please send the invoices for order 4711", "payload": "{\"name\": \"Pinewood\"}"}))]
#[expect(dead_code, reason = "describes the form for the OpenAPI document; parts are read one by one")]
pub(crate) struct SubmitForm {
    /// The instruction.
    #[schema(nullable = false, max_length = 4_194_304)]
    input: Option<String>,
    /// `api`, or `web`: what a stranger typed into a form, and so untrusted.
    #[schema(value_type = Option<SubmitChannelSchema>, nullable = false)]
    channel: Option<String>,
    /// The plan to walk.
    #[schema(nullable = false, min_length = 1, max_length = 255)]
    plan_key: Option<String>,
    /// A JSON object of at most 4 MiB: what else the plan can read.
    #[schema(nullable = false, content_media_type = "application/json")]
    payload: Option<String>,
    /// The most steps it may schedule; `limits.max_steps` (50) when not given.
    #[schema(nullable = false, minimum = 1, maximum = 10_000)]
    max_steps: Option<i64>,
    /// Below this confidence a person is asked which intent it is; `model.confidence_threshold` (0.8) when not given.
    #[schema(nullable = false, minimum = 0, maximum = 1)]
    confidence_threshold: Option<f64>,
    /// The most it and its children may cost, in nano-dollars.
    #[schema(nullable = false, minimum = 0)]
    budget_nanos: Option<i64>,
    /// Within a day the same key twice is one task; with other content 409.
    #[schema(nullable = false, min_length = 1, max_length = 255)]
    idempotency_key: Option<String>,
    /// Files.
    #[schema(value_type = Option<Vec<String>>, format = Binary, nullable = false, max_items = 100)]
    files: Option<Vec<Vec<u8>>>,
}

/// Reads a submission, and what it says as one text.
pub(super) async fn read(state: &AppState, request: Request) -> ApiResult<(SubmitRequest, Bytes)> {
    let (parts, raw) = body::read(state, request, state.limits.max_body).await?;
    if extract::content_type(&parts.headers).as_deref() == Some("multipart/form-data") {
        let (fields, files) = form(parts, raw).await?;
        let mut whole = serde_json::to_vec(&fields).unwrap_or_default();
        for file in &files {
            whole.extend(file.filename.as_bytes());
            whole.extend(blake3::hash(&file.bytes).as_bytes());
        }
        let task = checked(extract::shaped(Value::Object(fields))?, files)?;
        return Ok((task, whole.into()));
    }
    extract::expect_json(&parts.headers)?;
    let task = checked(extract::object(&raw)?, Vec::new())?;
    Ok((task, raw))
}

/// Checks everything and says all that is wrong.
fn checked(body: SubmitBody, mut files: Vec<AttachmentRequest>) -> ApiResult<SubmitRequest> {
    let mut faults = Vec::new();
    let channel = match body.channel.as_deref() {
        None | Some("api") => Channel::Api,
        Some("web") => Channel::Web,
        Some(other) => {
            let message = format!(
                "channel {other:?} is not for this route, use api or web; mail, webhooks and SMS have routes of their own"
            );
            faults.push(Detail::new("/channel", message));
            Channel::Api
        }
    };
    let attachments = body.attachments.unwrap_or_default();
    let says_enough = body.plan_key.is_some() || !attachments.is_empty() || !files.is_empty();
    let input = body.input.unwrap_or_default();
    if input.trim().is_empty() && !says_enough {
        faults.push(Detail::new("/input", "input is missing: say what is wanted, attach a file, or name a plan"));
    }
    if input.len() > limits::MAX_INPUT {
        let message = format!("input is {} bytes, the limit is {}", input.len(), limits::MAX_INPUT);
        faults.push(Detail::new("/input", message));
    }
    faults.extend(check_text("/input", &input, usize::MAX));
    for (path, text) in [("/planKey", &body.plan_key), ("/idempotencyKey", &body.idempotency_key)] {
        match text.as_deref() {
            Some("") => faults.push(Detail::new(path, format!("{} is empty, leave it out", &path[1..]))),
            Some(text) => faults.extend(check_text(path, text, MAX_NAME)),
            None => {}
        }
    }
    let max_steps = ranged(body.max_steps, 1..=i64::from(limits::MAX_MAX_STEPS), "/maxSteps", &mut faults);
    if body.budget_nanos.is_some_and(|budget| budget < 0) {
        faults.push(Detail::new("/budgetNanos", "budgetNanos must not be negative"));
    }
    if body.confidence_threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
        faults.push(Detail::new("/confidenceThreshold", "confidenceThreshold must be between 0 and 1"));
    }
    for (n, file) in files.iter().enumerate() {
        check_file(&format!("/files/{n}"), file, &mut faults);
    }
    files.extend(attached(&attachments, &mut faults));
    Problem::refuse(faults)?;
    Ok(SubmitRequest {
        channel,
        input,
        payload: body.payload.map_or(Value::Null, Value::Object),
        plan_key: body.plan_key,
        attachments: files,
        max_steps: max_steps.and_then(|steps| u32::try_from(steps).ok()),
        confidence_threshold: body.confidence_threshold,
        budget: body.budget_nanos.map(NanoUsd),
        idempotency_key: body.idempotency_key,
        trace_id: None,
    })
}

fn ranged(
    value: Option<i64>,
    range: std::ops::RangeInclusive<i64>,
    path: &str,
    faults: &mut Vec<Detail>,
) -> Option<i64> {
    let value = value?;
    if !range.contains(&value) {
        let message = format!("{} must be between {} and {}", &path[1..], range.start(), range.end());
        faults.push(Detail::new(path, message));
    }
    Some(value)
}

/// The files of a body.
pub(super) fn attached(attachments: &[AttachmentBody], faults: &mut Vec<Detail>) -> Vec<AttachmentRequest> {
    let files = attachments.iter().enumerate();
    files.map(|(n, attachment)| decoded(&format!("/attachments/{n}"), attachment, faults)).collect()
}

pub(super) fn decoded(path: &str, attachment: &AttachmentBody, faults: &mut Vec<Detail>) -> AttachmentRequest {
    // Tools that wrap their base64 in lines are common enough.
    let text: Vec<u8> = attachment.data_base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = BASE64.decode(text).unwrap_or_else(|error| {
        faults.push(Detail::new(format!("{path}/dataBase64"), format!("dataBase64 is not base64: {error}")));
        Vec::new()
    });
    let file = AttachmentRequest {
        filename: attachment.filename.clone(),
        content_type: attachment.content_type.clone().unwrap_or_else(unknown_type),
        bytes: Bytes::from(bytes),
    };
    check_file(path, &file, faults);
    file
}

pub(super) fn check_file(path: &str, file: &AttachmentRequest, faults: &mut Vec<Detail>) {
    if file.filename.trim().is_empty() {
        faults.push(Detail::new(format!("{path}/filename"), "filename is empty"));
    }
    faults.extend(check_text(&format!("{path}/filename"), &file.filename, MAX_NAME));
    faults.extend(check_text(&format!("{path}/contentType"), &file.content_type, MAX_NAME));
}

fn unknown_type() -> String {
    "application/octet-stream".to_owned()
}

/// Reads the parts of a form: those with a file name are files, the others are fields.
pub(super) async fn form(parts: Parts, raw: Bytes) -> ApiResult<(Map<String, Value>, Vec<AttachmentRequest>)> {
    let request = Request::from_parts(parts, Body::from(raw));
    let broken = |message: String| Problem::invalid("", format!("the form cannot be read: {message}"));
    let mut multipart = Multipart::from_request(request, &()).await.map_err(|error| broken(error.body_text()))?;
    let (mut fields, mut files) = (Map::new(), Vec::new());
    while let Some(part) = multipart.next_field().await.map_err(|error| broken(error.body_text()))? {
        let name = part.name().unwrap_or_default().to_owned();
        let filename = part.file_name().map(str::to_owned);
        let content_type = part.content_type().map(str::to_owned);
        let bytes = part.bytes().await.map_err(|error| broken(error.body_text()))?;
        match filename {
            // A browser sends an empty part for a file input in which nothing was chosen.
            Some(filename) if filename.is_empty() && bytes.is_empty() => {}
            Some(filename) => {
                let content_type = content_type.unwrap_or_else(unknown_type);
                files.push(AttachmentRequest { filename, content_type, bytes });
            }
            None => {
                let value = field(&name, &bytes)?;
                if fields.insert(name.clone(), value).is_some() {
                    return Err(Problem::invalid(format!("/{name}"), format!("field {name:?} is given twice")));
                }
            }
        }
    }
    Ok((fields, files))
}

/// A field's value: texts as they are, everything else as JSON.
fn field(name: &str, bytes: &[u8]) -> ApiResult<Value> {
    let path = format!("/{name}");
    let text = std::str::from_utf8(bytes);
    let text = text.map_err(|_| Problem::invalid(&path, format!("field {name:?} is not UTF-8")))?;
    match name {
        "payload"
        | "maxSteps"
        | "max_steps"
        | "confidenceThreshold"
        | "confidence_threshold"
        | "budgetNanos"
        | "budget_nanos" => {
            check_json(bytes).map_err(|fault| fault.at(&path))?;
            let value = serde_json::from_str(text);
            value.map_err(|error| Problem::invalid(path, format!("field {name:?} is not JSON: {error}")))
        }
        _text => Ok(Value::String(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<SubmitRequest, Vec<(String, String)>> {
        let body = extract::shaped(value).unwrap();
        checked(body, Vec::new()).map_err(|problem| {
            problem.0.details().iter().map(|detail| (detail.path.clone(), detail.message.clone())).collect()
        })
    }

    fn faulty_paths(value: Value) -> Vec<String> {
        read(value).unwrap_err().into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn a_submission_in_either_spelling_is_the_same() {
        let camel = read(json!({"input": "a", "planKey": "p.q", "maxSteps": 5, "budgetNanos": 7})).unwrap();
        let snake = read(json!({"input": "a", "plan_key": "p.q", "max_steps": 5, "budget_nanos": 7})).unwrap();
        assert_eq!(camel, snake);
        assert_eq!((camel.max_steps, camel.budget, camel.channel), (Some(5), Some(NanoUsd(7)), Channel::Api));
    }

    #[test]
    fn every_fault_is_listed() {
        let value = json!({"input": "", "channel": "email", "maxSteps": 0, "confidenceThreshold": 1.5,
            "budgetNanos": -1, "idempotencyKey": "", "attachments": null});
        let paths = ["/channel", "/input", "/idempotencyKey", "/maxSteps", "/budgetNanos", "/confidenceThreshold"];
        assert_eq!(faulty_paths(value), paths);
    }

    #[test]
    fn a_text_over_its_limit_is_refused() {
        let long = |length: usize| "x".repeat(length);
        assert!(read(json!({"input": long(limits::MAX_INPUT), "planKey": long(MAX_NAME)})).is_ok());
        assert_eq!(faulty_paths(json!({"input": long(limits::MAX_INPUT + 1)})), ["/input"]);
        for name in ["planKey", "idempotencyKey"] {
            assert_eq!(faulty_paths(json!({"input": "x", name: long(MAX_NAME + 1)})), [format!("/{name}")]);
        }
        let file = json!({"filename": long(MAX_NAME + 1), "contentType": long(MAX_NAME + 1), "dataBase64": ""});
        let paths = ["/attachments/0/filename", "/attachments/0/contentType"];
        assert_eq!(faulty_paths(json!({"attachments": [file]})), paths);
    }

    #[test]
    fn a_nul_is_refused_before_a_database_sees_it() {
        assert_eq!(faulty_paths(json!({"input": "a\u{0}b"})), ["/input"]);
    }

    #[test]
    fn attachments_are_decoded_and_checked_one_by_one() {
        let task = read(json!({"attachments": [{"filename": "a.txt", "dataBase64": "aGVs\nbG8"}]})).unwrap();
        assert_eq!(task.attachments[0].bytes, "hello");
        assert_eq!(task.attachments[0].content_type, "application/octet-stream");
        let value = json!({"input": "x", "attachments": [
            {"filename": "a", "dataBase64": "aGVsbG8="}, {"filename": "b", "dataBase64": "%%"}, {"filename": " ", "dataBase64": ""}]});
        assert_eq!(faulty_paths(value), ["/attachments/1/dataBase64", "/attachments/2/filename"]);
    }
}
