//! How a verb fails, and how that is told: the message, each detail, the remedy, the request.

use std::io;

use kybern_core::error::{Detail, Error, ErrorCode};
use kybern_store::StoreError;
use serde_json::{Map, Value, json};

use super::aside::aside;
use super::paint::Paint;
use super::text::clean;
use crate::cli::Exit;
use crate::client::ClientError;
use crate::config::{ConfigError, Fault};
use crate::opening::OpenError;

/// A verb that could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server said no, or nothing.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The configuration is faulty.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// What was typed cannot be done.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to type instead.
        remedy: Option<String>,
    },
    /// A file cannot be read.
    #[error("{path} cannot be read: {source}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{path} {problem}")]
    Content {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Standard output did not take what was to be printed.
    #[error("the output could not be written: {problem}")]
    Output {
        /// Why.
        problem: String,
        /// What to do about what is lost.
        remedy: Option<String>,
    },
    /// Something inside this process.
    #[error(transparent)]
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let error = match error.downcast::<Self>() {
            Ok(failure) => return failure,
            Err(error) => error,
        };
        error.downcast::<ConfigError>().map_or_else(Self::Other, Self::Config)
    }
}

impl Failure {
    /// A fault in what was typed, and what to type instead.
    pub(crate) fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), remedy: Some(remedy.into()) }
    }

    /// Whether what was typed or set is at fault: the same again fails the same way, whatever answers. A file that was
    /// named and is not there was mistyped; one that cannot be read for another reason may be well tomorrow.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            Self::Usage { .. } | Self::Config(_) | Self::Client(ClientError::Url { .. } | ClientError::User) => true,
            Self::File { source, .. } => {
                matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory)
            }
            Self::Client(_) | Self::Content { .. } | Self::Output { .. } | Self::Other(_) => false,
        }
    }

    /// How the process ends by it.
    pub(crate) fn exit(&self) -> Exit {
        if self.is_usage() { Exit::Usage } else { Exit::Failed }
    }

    /// All of it in one line, for a log: with what to do about it.
    pub(crate) fn in_one_line(&self) -> String {
        let said = match self {
            // Each fault says its own remedy.
            Self::Config(error) => return error.faults().iter().map(Fault::told).collect::<Vec<_>>().join("; "),
            Self::Other(error) => error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": "),
            other => other.to_string(),
        };
        match self.told().remedy {
            Some(remedy) => format!("{said}; {remedy}"),
            None => said,
        }
    }

    /// All that is said of it.
    fn told(&self) -> FailureText {
        let mut told = FailureText { message: self.to_string(), code: self.code(), ..FailureText::default() };
        let mut detail = |text: String| told.details.push(Detail::new("", text));
        match self {
            Self::Client(error) => {
                if let ClientError::Api(api) = error {
                    told.details.clone_from(&api.details);
                    told.request.clone_from(&api.request_id);
                }
                told.remedy = error.remedy();
            }
            Self::Config(error) => {
                error.faults().iter().for_each(|fault| detail(fault.to_string()));
                told.remedy = Some(remedy_of(error.faults()));
            }
            Self::Usage { remedy, .. } | Self::Output { remedy, .. } => told.remedy.clone_from(remedy),
            Self::Other(error) => {
                let mut said = error.to_string();
                for cause in error.chain().skip(1).map(ToString::to_string) {
                    // Libraries repeat what their source says, or the other way round.
                    if !said.contains(&cause) && !cause.ends_with(&said) {
                        detail(cause.clone());
                        said = cause;
                    }
                }
                told.remedy = error.downcast_ref::<OpenError>().and_then(OpenError::remedy).map(str::to_owned);
            }
            Self::File { path, source } => {
                told.remedy = Some(match source.kind() {
                    io::ErrorKind::NotFound => format!("name a file that exists, {path} does not"),
                    io::ErrorKind::IsADirectory => format!("{path} is a folder, name a file"),
                    _other => format!("let this user read {path}"),
                });
            }
            Self::Content { .. } => {}
        }
        told
    }

    fn lines(&self, paint: Paint) -> Vec<String> {
        let told = self.told();
        let mut lines = vec![format!("{} {}", paint.bad("error:"), clean(&told.message))];
        if let Self::Config(error) = self {
            // Several faults are easier read each with its remedy.
            let each =
                |fault: &Fault| [format!("  {}", clean(&fault.to_string())), format!("    {}", clean(&fault.remedy))];
            lines.extend(error.faults().iter().flat_map(each));
            return lines;
        }
        let details = told.details.iter().filter_map(|fault| unsaid(fault, &told.message));
        lines.extend(details.map(|text| format!("  {}", clean(&text))));
        if let Some(remedy) = told.remedy {
            lines.push(format!("  {} {}", paint.bold("try:"), clean(&remedy)));
        }
        let code = told.code.map(|code| format!("code {code}"));
        let request = told.request.map(|id| format!("request {}", clean(&id)));
        let known: Vec<String> = code.into_iter().chain(request).collect();
        if !known.is_empty() {
            lines.push(paint.dim(&format!("  {}", known.join(", "))));
        }
        lines
    }

    /// In the shape of the API's errors, with the remedy.
    fn json(&self) -> Value {
        let told = self.told();
        let own = if self.is_usage() { ErrorCode::Validation } else { ErrorCode::Internal };
        envelope(told.code.unwrap_or(own), &told.message, |error| {
            error.insert("details".to_owned(), json!(told.details));
            error.extend(told.remedy.map(|remedy| ("remedy".to_owned(), json!(remedy))));
            error.extend(told.request.map(|request| ("requestId".to_owned(), json!(request))));
        })
    }

    /// The stable code, where there is one.
    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Client(ClientError::Api(api)) => api.code,
            Self::Client(ClientError::Unreachable { .. }) => Some(ErrorCode::Unavailable),
            Self::Other(error) => error.chain().find_map(|cause| {
                let opening = cause.downcast_ref::<OpenError>().and_then(OpenError::code);
                let told = opening.or_else(|| cause.downcast_ref::<Error>().map(Error::code));
                told.or_else(|| cause.downcast_ref::<StoreError>().map(StoreError::code))
            }),
            Self::Client(_)
            | Self::Config(_)
            | Self::Usage { .. }
            | Self::File { .. }
            | Self::Content { .. }
            | Self::Output { .. } => None,
        }
    }
}

/// What to do about wrong settings; of several, by their keys.
fn remedy_of(faults: &[Fault]) -> String {
    match faults {
        [only] => only.remedy.clone(),
        several => {
            several.iter().map(|fault| format!("{}: {}", fault.key, fault.remedy)).collect::<Vec<_>>().join("; ")
        }
    }
}

/// What is said of a failure, before anybody has made lines or JSON of it.
#[derive(Default)]
struct FailureText {
    message: String,
    details: Vec<Detail>,
    remedy: Option<String>,
    code: Option<ErrorCode>,
    request: Option<String>,
}

fn envelope(code: ErrorCode, message: &str, more: impl FnOnce(&mut Map<String, Value>)) -> Value {
    let mut error = Map::from_iter([("code".to_owned(), json!(code)), ("message".to_owned(), json!(message))]);
    more(&mut error);
    json!({ "error": error })
}

/// A detail as a line, unless the message has said it all.
fn unsaid(fault: &Detail, message: &str) -> Option<String> {
    let whole =
        if fault.path.is_empty() { fault.message.clone() } else { format!("{}: {}", fault.path, fault.message) };
    if message.contains(&whole) {
        return None;
    }
    Some(if message == fault.message { format!("at {}", fault.path) } else { whole })
}

/// How failures are told on standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FailureFormat {
    /// In lines, so painted.
    Lines(Paint),
    /// In JSON, where the output was to be JSON.
    Json,
}

impl FailureFormat {
    /// Tells a failure.
    pub(crate) fn report(self, failure: &Failure) {
        aside(match self {
            Self::Lines(paint) => failure.lines(paint).join("\n"),
            Self::Json => failure.json().to_string(),
        });
    }

    /// Tells what is wrong with a command line that names no verb.
    pub(crate) fn misread(self, error: &clap::Error) {
        match self {
            // When standard error is closed there is nobody to tell.
            Self::Lines(_) => error.print().unwrap_or_default(),
            Self::Json => {
                let text = error.render().to_string();
                let text = text.trim().strip_prefix("error: ").unwrap_or(text.trim());
                let no_details = |error: &mut Map<String, Value>| {
                    error.insert("details".to_owned(), json!([]));
                };
                aside(envelope(ErrorCode::Validation, text, no_details).to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ApiError;

    #[test]
    fn everything_a_person_needs_is_told() {
        let api = ApiError {
            status: 403,
            code: Some(kybern_core::error::ErrorCode::PermissionDenied),
            message: "this key may not do that".to_owned(),
            details: vec![kybern_core::error::Detail::new("/roles", "needs \u{1b}admin")],
            request_id: Some("r-1".to_owned()),
            retry_after_s: None,
        };
        let lines = Failure::from(ClientError::from(Box::new(api))).lines(Paint::new(false));
        assert_eq!(lines[0], "error: this key may not do that");
        assert_eq!(lines[1], "  /roles: needs  admin");
        assert!(lines[2].starts_with("  try: use a key whose role allows it"), "{lines:?}");
        assert_eq!(lines[3], "  code PERMISSION_DENIED, request r-1");
    }

    #[test]
    fn in_json_a_failure_has_the_shape_of_the_apis_errors() {
        let wrong = Failure::usage("there is no file a.eml", "give a text").json();
        let shape = json!({"error": {"code": "VALIDATION_ERROR", "message": "there is no file a.eml", "details": [],
            "remedy": "give a text"}});
        assert_eq!(wrong, shape);
        let full = Failure::Output { problem: "no room".to_owned(), remedy: None }.json();
        assert_eq!(full["error"]["code"], "INTERNAL_ERROR", "{full}");
    }

    #[test]
    fn a_line_of_a_log_says_what_to_do_too() {
        let lost = Failure::Output { problem: "no room".to_owned(), remedy: Some("make another".to_owned()) };
        assert_eq!(lost.in_one_line(), "the output could not be written: no room; make another");
        let plain = Failure::Output { problem: "no room".to_owned(), remedy: None };
        assert_eq!(plain.in_one_line(), "the output could not be written: no room");
    }

    #[test]
    fn nothing_is_said_twice() {
        let detail = |path: &str, message: &str| Detail::new(path, message);
        assert_eq!(unsaid(&detail("", "the body is empty"), "the body is empty"), None);
        assert_eq!(unsaid(&detail("/name", "is missing"), "/name: is missing"), None);
        assert_eq!(unsaid(&detail("/name", "it is empty"), "it is empty").as_deref(), Some("at /name"));
        assert_eq!(unsaid(&detail("/a", "is wrong"), "2 faults").as_deref(), Some("/a: is wrong"));
        let chain = anyhow::anyhow!("no such database").context("database: no such database").context("cannot open");
        let lines = Failure::from(chain).lines(Paint::new(false));
        assert_eq!(lines, ["error: cannot open", "  database: no such database"]);
    }
}
