//! Errors on the wire: the only place that maps codes to HTTP.
//!
//! A handler's error travels as a [`Problem`] in the response's extensions, and [`crate::request`] writes the body,
//! because only there is the request's id known. So every error has the same envelope, also those of the router.

use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kybern_core::error::{Detail, Error, ErrorCode, Retry};
use kybern_core::policy::redact::{redact_text, redacted};
use serde_json::{Value, json};

/// The most details in one answer.
const MAX_DETAILS: usize = 100;

/// An error on its way to the caller.
#[derive(Clone, Debug)]
pub(crate) struct Problem(pub(crate) Arc<Error>);

/// What handlers answer.
pub(crate) type ApiResult<T = Response> = Result<T, Problem>;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self(Arc::new(error))
    }
}

impl Problem {
    /// A fault of the server. The message is logged and never shown.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Error::new(ErrorCode::Internal, message).into()
    }

    /// A `VALIDATION_ERROR` about one field.
    pub(crate) fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Error::invalid(path, message).into()
    }

    /// A `VALIDATION_ERROR` about several fields, where there are any.
    pub(crate) fn refuse(details: Vec<Detail>) -> ApiResult<()> {
        let message = match details.as_slice() {
            [] => return Ok(()),
            [one] => one.message.clone(),
            [first, ..] => format!("{} faults, first: {}", details.len(), first.message),
        };
        Err(Error::new(ErrorCode::Validation, message).with_details(details).into())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = status_of(self.0.code()).into_response();
        let headers = response.headers_mut();
        if let Retry::After(span) = self.0.retry() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(span.0.div_ceil(1000).max(1)));
        }
        if self.0.code() == ErrorCode::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"kybern\""));
        }
        response.extensions_mut().insert(self);
        response
    }
}

pub(crate) const fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::Validation => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorCode::PermissionDenied => StatusCode::FORBIDDEN,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::Conflict => StatusCode::CONFLICT,
        ErrorCode::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::BudgetExceeded => StatusCode::PAYMENT_REQUIRED,
        ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::Model | ErrorCode::Tool | ErrorCode::Workflow => StatusCode::BAD_GATEWAY,
        ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// What OpenAI's clients are told about trying again by themselves. The model layer has tried as often as it makes
/// sense, so only what says when to come back, and a server that is not ready, are worth another call.
pub(crate) fn should_retry(error: &Error) -> &'static str {
    if matches!(error.retry(), Retry::After(_)) { "true" } else { "false" }
}

/// The body of an error.
pub(crate) fn envelope(error: &Error, request_id: &str) -> Value {
    // What went wrong inside is for the log; a caller can only report it.
    let (message, details) = if error.code() == ErrorCode::Internal {
        ("the server failed; its log says why, under this request id".to_owned(), [].as_slice())
    } else {
        (error.to_string(), error.details())
    };
    // An error repeats what was sent, and what a provider or a receiver said.
    let clean = |detail: &Detail| Detail::new(redact_text(&detail.path), redact_text(&detail.message));
    let details: Vec<Detail> = details.iter().take(MAX_DETAILS).map(clean).collect();
    let message = redacted(message);
    json!({"error": {"code": error.code(), "message": message, "requestId": request_id, "details": details}})
}

/// Logs the chain of an error once, where it is handled: faults of the server as errors, others for whoever debugs.
pub(crate) fn log(error: &Error) {
    let status = status_of(error.code());
    let mut chain = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        chain.push_str(": ");
        chain.push_str(&cause.to_string());
        source = cause.source();
    }
    if error.code() == ErrorCode::Model {
        // A provider's own words may repeat what it was asked: they are for the caller, and for whoever debugs.
        tracing::warn!(error.code = %error.code(), "request failed at the provider, whose answer the caller has");
        tracing::debug!(error.chain = %chain, "the provider's answer");
    } else if status.is_server_error() && error.code() != ErrorCode::Timeout {
        tracing::error!(error.code = %error.code(), error.chain = %chain, "request failed");
    } else {
        tracing::debug!(error.code = %error.code(), error.chain = %chain, "request refused");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_error_status() {
        for code in ErrorCode::ALL {
            let status = status_of(code);
            assert!(status.is_client_error() || status.is_server_error(), "{code}");
        }
    }

    #[test]
    fn a_fault_of_the_server_shows_nothing_of_it() {
        let cause = std::io::Error::other("password is hunter2");
        let error = Error::new(ErrorCode::Internal, "table tasks is broken").caused_by(cause);
        let error = error.with_details(vec![Detail::new("/secret", "hunter2")]);
        let text = envelope(&error, "r1").to_string();
        assert!(!text.contains("hunter2") && !text.contains("tasks") && text.contains("\"requestId\":\"r1\""));
    }

    #[test]
    fn an_error_repeats_no_secret() {
        let error = Error::new(ErrorCode::Model, "the provider said: key sk-0123456789abcdefghij is unknown");
        let error = error.with_details(vec![Detail::new("/bob@example.com", "password is hunter2")]);
        let body = envelope(&error, "r1");
        assert_eq!(body["error"]["message"], "the provider said: key [redacted:api_key] is unknown");
        let detail = json!({"path": "/[redacted:email]", "message": "password is [redacted:password]"});
        assert_eq!(body["error"]["details"], json!([detail]));
    }

    #[test]
    fn a_retry_hint_is_whole_seconds_and_never_zero() {
        for (millis, seconds) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2")] {
            let error = Error::new(ErrorCode::RateLimited, "slow down").retry_after(kybern_core::time::Millis(millis));
            let response = Problem::from(error).into_response();
            assert_eq!(response.headers()[header::RETRY_AFTER], seconds);
        }
    }

    #[test]
    fn several_faults_are_counted_in_the_message() {
        let details = vec![Detail::new("/a", "a is missing"), Detail::new("/b", "b is missing")];
        let problem = Problem::refuse(details).unwrap_err();
        assert_eq!(problem.0.to_string(), "2 faults, first: a is missing");
        assert!(Problem::refuse(Vec::new()).is_ok());
    }
}
