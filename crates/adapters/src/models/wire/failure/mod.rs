//! Error answers of all providers as typed failures: first by the codes that they document, then by their wording,
//! then by the status.

mod report;
mod retry_after;
mod rules;

use kybern_core::model::{ModelFailure, ModelFailureKind};

pub use self::report::Report;
pub use self::retry_after::Headers;

/// The most bytes of an error body that are read.
pub const MAX_ERROR_BYTES: usize = 256 << 10;

/// What an answer with an error status means.
#[must_use]
pub fn of_answer(status: u16, headers: &Headers<'_>, body: &[u8]) -> ModelFailure {
    let report = Report::parse(body);
    let kind = rules::kind(status, &report);
    let retry_after = matches!(kind, ModelFailureKind::RateLimited | ModelFailureKind::Provider)
        .then(|| headers.span().or(report.retry_after).or_else(|| retry_after::in_words(&report.message)))
        .flatten();
    let message = match (status, report.message.as_str()) {
        (300..=399, _) => "answers with a redirect, which is not followed: check the base URL".to_owned(),
        (_, "") => format!("answers with status {status}"),
        (_, said) => said.to_owned(),
    };
    ModelFailure::new(kind, message).status(status).retry_after(retry_after)
}

/// What an answer with a good status means that lacks what was asked for: some report errors in shapes of their own.
pub(super) fn without(body: &[u8], what: &str) -> ModelFailure {
    let report = Report::parse(body);
    if report.message.is_empty() {
        return ModelFailure::new(ModelFailureKind::Garbage, format!("the answer holds no {what}"));
    }
    of_report(report)
}

/// What an error inside of an answer means whose status was a good one.
#[must_use]
pub fn of_report(report: Report) -> ModelFailure {
    let status = report.status.or_else(|| rules::status_of(&report)).unwrap_or(500);
    let kind = rules::kind(status, &report);
    let retry_after = (kind == ModelFailureKind::RateLimited)
        .then(|| report.retry_after.or_else(|| retry_after::in_words(&report.message)))
        .flatten();
    let message = if report.message.is_empty() { "reports an error without a message".into() } else { report.message };
    ModelFailure::new(kind, message).retry_after(retry_after)
}
