//! Which code, wording and status mean what. Each line is documented by the provider named beside it.

use kybern_core::model::ModelFailureKind as Kind;

use super::report::Report;

/// Codes and types, lower case.
const CODES: &[(&str, Kind)] = &[
    // OpenAI, Azure, Groq
    ("context_length_exceeded", Kind::ContextTooLong),
    ("string_above_max_length", Kind::ContextTooLong),
    ("insufficient_quota", Kind::Quota),
    ("billing_hard_limit_reached", Kind::Quota),
    ("billing_not_active", Kind::Quota),
    ("invalid_api_key", Kind::Key),
    ("model_not_found", Kind::UnknownModel),
    ("model_decommissioned", Kind::UnknownModel),
    ("content_filter", Kind::ContentFilter),
    ("content_policy_violation", Kind::ContentFilter),
    ("invalid_prompt", Kind::ContentFilter),
    ("rate_limit_exceeded", Kind::RateLimited),
    ("server_error", Kind::Provider),
    ("vector_store_timeout", Kind::Provider),
    // Anthropic: platform.claude.com/docs/en/api/errors
    ("authentication_error", Kind::Key),
    ("permission_error", Kind::Key),
    ("billing_error", Kind::Quota),
    ("request_too_large", Kind::ContextTooLong),
    ("rate_limit_error", Kind::RateLimited),
    ("overloaded_error", Kind::Provider),
    ("timeout_error", Kind::Provider),
    ("api_error", Kind::Provider),
    // Gemini: google.rpc.Code and ErrorInfo.reason
    ("api_key_invalid", Kind::Key),
    ("api_key_service_blocked", Kind::Key),
    ("unauthenticated", Kind::Key),
    ("permission_denied", Kind::Key),
    // Mistral
    ("invalid_model", Kind::UnknownModel),
    ("service_tier_capacity_exceeded", Kind::RateLimited),
    // llama.cpp
    ("exceed_context_size_error", Kind::ContextTooLong),
    // Zhipu: docs.bigmodel.cn, error codes
    ("1113", Kind::Quota),
    ("1211", Kind::UnknownModel),
    ("1261", Kind::ContextTooLong),
    ("1301", Kind::ContentFilter),
    ("1302", Kind::RateLimited),
    ("1303", Kind::RateLimited),
    ("1305", Kind::RateLimited),
    // OpenRouter
    ("payment_required", Kind::Quota),
    ("moderation", Kind::ContentFilter),
];

/// Wordings, lower case, all of whose parts occur.
const WORDS: &[(&[&str], Kind)] = &[
    (&["maximum context length"], Kind::ContextTooLong),
    (&["context window"], Kind::ContextTooLong),
    (&["context length"], Kind::ContextTooLong),
    (&["context size"], Kind::ContextTooLong),
    (&["prompt is too long"], Kind::ContextTooLong),
    (&["input is too long"], Kind::ContextTooLong),
    (&["input token count", "exceeds"], Kind::ContextTooLong),
    (&["exceeds the maximum number of tokens"], Kind::ContextTooLong),
    (&["too many tokens"], Kind::ContextTooLong),
    (&["too large for model"], Kind::ContextTooLong),
    (&["maximum prompt length"], Kind::ContextTooLong),
    (&["reduce the length"], Kind::ContextTooLong),
    (&["credit balance is too low"], Kind::Quota),
    (&["insufficient balance"], Kind::Quota),
    (&["insufficient credits"], Kind::Quota),
    (&["used all available credits"], Kind::Quota),
    (&["spending limit"], Kind::Quota),
    (&["key limit exceeded"], Kind::Quota),
    (&["incorrect api key"], Kind::Key),
    (&["api key not valid"], Kind::Key),
    (&["invalid api key"], Kind::Key),
    (&["requires moderation", "flagged"], Kind::ContentFilter),
    (&["content exists risk"], Kind::ContentFilter),
    (&["is not a valid model"], Kind::UnknownModel),
    (&["model not exist"], Kind::UnknownModel),
    (&["invalid model"], Kind::UnknownModel),
    (&["unable to access model"], Kind::UnknownModel),
    (&["model", "does not exist"], Kind::UnknownModel),
];

/// The kind of a failure.
pub(super) fn kind(status: u16, report: &Report) -> Kind {
    let by_status = by_status(status);
    let words = report.message.to_lowercase();
    let said = |needed: &[&str]| needed.iter().all(|part| words.contains(part));
    // Groq speaks of a rate limit, with that code, when one request alone is too large for it.
    if status == 413 {
        return Kind::ContextTooLong;
    }
    if status == 404 && report.codes.iter().any(|code| code == "not_found_error") && words.starts_with("model:") {
        return Kind::UnknownModel;
    }
    // Codes say more than words, except for the general ones, which agree with the status anyway.
    let by_code = report.codes.iter().find_map(|code| CODES.iter().find(|(known, _)| known == code));
    if let Some((_, kind)) = by_code
        && !matches!(kind, Kind::Provider | Kind::RateLimited | Kind::Key)
    {
        return *kind;
    }
    // A limit by the minute often repeats words of quotas and tokens, a failing server anything.
    if !matches!(by_status, Kind::RateLimited | Kind::Provider)
        && let Some((_, kind)) = WORDS.iter().find(|(needed, _)| said(needed))
    {
        return *kind;
    }
    if status == 429 && WORDS.iter().any(|(needed, kind)| *kind == Kind::Quota && said(needed)) {
        return Kind::Quota;
    }
    // Ollama calls every error `api_error`: what the status says of the request is surer.
    if let Some((_, kind)) = by_code
        && !(*kind == Kind::Provider && matches!(by_status, Kind::Request | Kind::Key))
    {
        return *kind;
    }
    match by_status {
        Kind::Request if status == 404 && words.contains("model") => Kind::UnknownModel,
        other => other,
    }
}

const fn by_status(status: u16) -> Kind {
    match status {
        401 | 403 => Kind::Key,
        402 => Kind::Quota,
        413 => Kind::ContextTooLong,
        429 => Kind::RateLimited,
        // 408: the provider waited too long itself. 409: OpenAI asks to try again. 498: Groq has no room.
        408 | 409 | 498 | 500.. => Kind::Provider,
        _ => Kind::Request,
    }
}

/// The status that stands for a code, for errors inside of a stream.
pub(super) fn status_of(report: &Report) -> Option<u16> {
    report.codes.iter().find_map(|code| match code.as_str() {
        "invalid_request_error" | "invalid_argument" | "failed_precondition" | "invalid_request" => Some(400),
        "authentication_error" | "unauthenticated" => Some(401),
        "permission_error" | "permission_denied" => Some(403),
        "not_found_error" | "not_found" => Some(404),
        "rate_limit_error" | "rate_limit_exceeded" | "resource_exhausted" => Some(429),
        "unavailable" | "internal" | "deadline_exceeded" => Some(503),
        _ => None,
    })
}
