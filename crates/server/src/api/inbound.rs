//! What arrives from outside: mail, SMS, webhooks. Each is one task per message, however often it is delivered.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use kybern_core::actor::{Actor, Right};
use kybern_core::error::{Detail, Error, ErrorCode};
use kybern_core::policy::{sms, webhook};
use kybern_engine::intake::DeliveryOutcome;
use serde_json::{Value, json};

use crate::auth::{self, Caller, unauthenticated};
use crate::body;
use crate::error::{ApiResult, Problem};
use crate::extract::{self, CallerRequest, PathArgs, check_text};
use crate::idempotency::KEY_HEADER;
use crate::request::RequestInfo;
use crate::schema::inbound::{ReceivedSchema, SmsForm};
use crate::state::{AppState, InboundSource};

/// Parts of an SMS form.
const MAX_FIELDS: usize = 200;

/// A mail.
const EXAMPLE: &str = "Message-ID: <1@example.com>\r\nFrom: ada@example.com\r\nTo: intake@example.com\r\n\
    Subject: Invoices\r\n\r\nPlease send the invoices for order 4711.\r\n";

/// Take in a mail
///
/// The whole message as it came. Its `Message-ID` and its content are the dedupe key: another message under a known
/// `Message-ID` is a task of its own.
#[utoipa::path(post, path = "/api/inbound/email", operation_id = "take_in_email",
    request_body(description = "The message, up to `server.max_mail_bytes` (25 MiB)", content(
        (String = "message/rfc822", example = json!(EXAMPLE)),
        (String = "application/octet-stream", example = json!(EXAMPLE)),
    )),
    responses((status = 202, description = "The task", body = ReceivedSchema)))]
pub(crate) async fn email(
    CallerRequest { state, actor, .. }: CallerRequest,
    asked: RequestInfo,
    request: Request,
) -> ApiResult<(StatusCode, Json<Value>)> {
    let (parts, raw) = body::read(&state, request, state.limits.max_mail).await?;
    let declared = extract::content_type(&parts.headers).unwrap_or_default();
    if !matches!(declared.as_str(), "" | "message/rfc822" | "message/global" | "application/octet-stream") {
        let message = format!("the body is declared as {declared:?}, send the message as message/rfc822");
        return Err(Problem::invalid("", message));
    }
    if raw.trim_ascii().is_empty() {
        return Err(Problem::invalid("", "the body is empty, send the whole message"));
    }
    Ok(received(&state.engine.intake().receive_email(&actor, raw, asked.trace_id.clone()).await?))
}

/// The source under which the gateway of text messages is configured.
const GATEWAY: &str = "sms";

/// Take in an SMS
///
/// The form that gateways such as Twilio send. `MessageSid` is the dedupe key. With an API key, or signed by the gateway
/// that the operator has configured (`X-Twilio-Signature`, over this server's public URL and the form).
#[utoipa::path(post, path = "/api/inbound/sms", operation_id = "take_in_sms",
    params(("X-Twilio-Signature" = Option<String>, Header, description = "The gateway's signature")),
    request_body(content = SmsForm, content_type = "application/x-www-form-urlencoded"),
    responses((status = 202, description = "The task", body = ReceivedSchema)))]
pub(crate) async fn sms(
    State(state): State<AppState>,
    asked: RequestInfo,
    mut request: Request,
) -> ApiResult<(StatusCode, Json<Value>)> {
    let headers = request.headers().clone();
    let signature = headers.get(sms::SIGNATURE_HEADER).map(|value| value.to_str().unwrap_or_default());
    let by_key = match auth::has_key(&headers) {
        true => {
            let actor = auth::authenticate(&state, &headers, &asked).await?;
            auth::demand(&actor, Right::Operate)?;
            request.extensions_mut().insert(Caller(actor.clone()));
            Some(actor)
        }
        false => None,
    };
    let gateway = state.sources.get(GATEWAY).and_then(|source| Some((source, source.secret.as_deref()?)));
    // A signature is proven by the body alone, which a stranger may make less large.
    let limit = match (&by_key, signature, gateway) {
        (Some(_), _, _) => state.limits.max_body,
        (None, Some(_), Some(_)) => state.limits.max_unproven_body(),
        (None, _, _) => {
            let message = "send Authorization: Bearer <api key>, or configure the gateway's token in [webhooks.sms]";
            return Err(unauthenticated(message));
        }
    };
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    let (_, raw) = body::read(&state, request, limit).await?;
    let declared = extract::content_type(&headers).unwrap_or_default();
    if !matches!(declared.as_str(), "" | "application/x-www-form-urlencoded") {
        let message = format!("the body is declared as {declared:?}, send application/x-www-form-urlencoded");
        return Err(Problem::invalid("", message));
    }
    let form: Vec<(String, String)> = url::form_urlencoded::parse(&raw).into_owned().take(MAX_FIELDS + 1).collect();
    let mut actor = by_key;
    if let (Some(signature), Some((source, token))) = (signature, gateway) {
        let url = format!("{}/api/inbound/sms{query}", state.engine.settings().public_url);
        if !sms::verify(token, &url, &form, signature) {
            let message =
                format!("x-twilio-signature does not fit: it is checked for {url} and the token of [webhooks.sms]");
            return Err(unauthenticated(message));
        }
        // The signature covers names and values without anything between them: a longer id could swallow the field
        // behind it, and the same message would be a new one.
        let sid = form.iter().find(|(name, _)| name == "MessageSid").map(|(_, sid)| sid.as_str());
        if !sid.is_some_and(is_message_sid) {
            let message = "MessageSid of a signed message must be SM or MM and 32 lower-case hex digits";
            return Err(Problem::invalid("/MessageSid", message));
        }
        actor.get_or_insert_with(|| auth::source_actor(&state, GATEWAY, source, &asked));
    }
    Problem::refuse(sms_faults(&form))?;
    let actor = actor.ok_or_else(no_source)?;
    Ok(received(&state.engine.intake().receive_sms(&actor, form, asked.trace_id.clone()).await?))
}

/// Whether a text is an id that Twilio gives a message.
fn is_message_sid(text: &str) -> bool {
    let digits = text.strip_prefix("SM").or_else(|| text.strip_prefix("MM"));
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    digits.is_some_and(|digits| digits.len() == 32 && digits.bytes().all(is_hex))
}

fn sms_faults(form: &[(String, String)]) -> Vec<Detail> {
    let mut faults = Vec::new();
    if form.len() > MAX_FIELDS {
        faults.push(Detail::new("", format!("the form has more than {MAX_FIELDS} fields")));
    }
    for name in ["From", "To", "Body", "MessageSid"] {
        let path = format!("/{name}");
        match form.iter().find(|(known, _)| known == name) {
            None => faults.push(Detail::new(path, format!("field {name} is missing"))),
            Some((_, value)) if value.trim().is_empty() => {
                faults.push(Detail::new(path, format!("field {name} is empty")));
            }
            Some((_, value)) => faults.extend(check_text(&path, value, 10_000)),
        }
    }
    faults
}

/// Take in a webhook
///
/// With an API key, or signed by a source that the operator has configured (Standard Webhooks headers). The header
/// `webhook-id`, `Idempotency-Key` or `X-Delivery-Id` is the dedupe key; without one every delivery is a task of its
/// own. Without a key the body may have 1 MiB (`server.max_unproven_body_bytes`).
#[utoipa::path(post, path = "/api/inbound/webhook/{source}", operation_id = "take_in_webhook",
    params(
        ("source" = String, Path, description = "Where it comes from", pattern = "^[A-Za-z0-9_.-]{1,64}$"),
        ("webhook-id" = Option<String>, Header, description = "The delivery's id; signed"),
        ("webhook-timestamp" = Option<String>, Header, description = "Seconds since 1970; signed"),
        ("webhook-signature" = Option<String>, Header, description = "The signature, `v1,BASE64`"),
        ("Idempotency-Key" = Option<String>, Header, description = "The delivery's id, where it is not signed"),
        ("X-Delivery-Id" = Option<String>, Header, description = "The delivery's id, where it is not signed"),
    ),
    request_body(content = Value, content_type = "application/json", description = "Any JSON",
        example = json!({"event": "lead.created", "company": "Pinewood"})),
    responses((status = 202, description = "The task", body = ReceivedSchema)))]
pub(crate) async fn webhook(
    State(state): State<AppState>,
    asked: RequestInfo,
    path: PathArgs,
    mut request: Request,
) -> ApiResult<(StatusCode, Json<Value>)> {
    let source = path.text("source")?.to_owned();
    let headers = request.headers().clone();
    // A key is judged before anything is read; so is a caller who shows neither key nor signature.
    let by_key = match auth::has_key(&headers) {
        true => Some(auth::authenticate(&state, &headers, &asked).await?),
        false if !auth::is_signed(&headers) => {
            return Err(unauthenticated("send Authorization: Bearer <api key>, or sign the delivery"));
        }
        false => None,
    };
    check_source(&source)?;
    let delivery = delivery_id(&headers)?;
    let limit = match &by_key {
        Some(actor) => {
            auth::demand(actor, Right::Operate)?;
            request.extensions_mut().insert(Caller(actor.clone()));
            state.limits.max_body
        }
        // A signature is proven by the body alone. What cannot hold is refused before it is read.
        None => {
            may_hold(&state, &source, &headers)?;
            state.limits.max_unproven_body()
        }
    };
    let (_, raw) = body::read(&state, request, limit).await?;
    let actor = signed_or(&state, &source, &headers, &raw, by_key, &asked)?;
    extract::expect_json(&headers)?;
    let body = extract::json(&raw)?;
    let taken =
        state.engine.intake().receive_webhook(&actor, &source, delivery, body, &raw, asked.trace_id.clone()).await?;
    Ok(received(&taken))
}

/// Refuses a signed delivery whose signature cannot hold, whatever its body is.
fn may_hold(state: &AppState, source: &str, headers: &HeaderMap) -> ApiResult<()> {
    auth::signature(headers)?;
    match state.sources.get(source) {
        Some(InboundSource { secret: Some(_), .. }) => Ok(()),
        Some(_) | None => Err(no_source()),
    }
}

fn no_source() -> Problem {
    unauthenticated("no such signed source is configured, send an API key")
}

/// Who delivers: whoever's key it is, or the source itself when its signature holds. A signature of a configured
/// source has to hold in any case.
fn signed_or(
    state: &AppState,
    source: &str,
    headers: &HeaderMap,
    raw: &[u8],
    by_key: Option<Actor>,
    asked: &RequestInfo,
) -> ApiResult<Actor> {
    let configured = state.sources.get(source);
    let secret = configured.and_then(|configured| configured.secret.as_deref());
    if let (true, Some(secret)) = (auth::is_signed(headers), secret) {
        let signature = auth::signature(headers)?;
        let now = state.engine.clock().now();
        webhook::verify(secret, signature, raw, now).map_err(|fault| unauthenticated(fault.to_string()))?;
        if let (None, Some(configured)) = (&by_key, configured) {
            return Ok(auth::source_actor(state, source, configured, asked));
        }
    }
    by_key.ok_or_else(no_source)
}

fn check_source(source: &str) -> ApiResult<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if (1..=64).contains(&source.len()) && source.chars().all(plain) {
        return Ok(());
    }
    Err(Problem::invalid("/source", "source must be 1 to 64 characters of [A-Za-z0-9_.-]"))
}

fn delivery_id(headers: &HeaderMap) -> ApiResult<Option<String>> {
    let value = headers.get(webhook::ID_HEADER).or(headers.get(KEY_HEADER)).or(headers.get("x-delivery-id"));
    let Some(value) = value else { return Ok(None) };
    let id = value.to_str().unwrap_or_default().trim();
    if id.is_empty() || id.len() > 255 {
        let message = "the delivery's id must be 1 to 255 visible ASCII characters";
        return Err(Error::new(ErrorCode::Validation, message).into());
    }
    Ok(Some(id.to_owned()))
}

fn received(received: &DeliveryOutcome) -> (StatusCode, Json<Value>) {
    (StatusCode::ACCEPTED, Json(json!({"taskId": received.task_id, "duplicate": received.duplicate})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_plain_name() {
        assert!(check_source("forms").is_ok() && check_source("crm-2_eu").is_ok());
        for bad in ["", "a b", "a/b", "ä", &"a".repeat(65)] {
            assert!(check_source(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn every_missing_field_of_an_sms_is_named() {
        let form = vec![("From".to_owned(), "+1".to_owned()), ("To".to_owned(), " ".to_owned())];
        let paths: Vec<String> = sms_faults(&form).into_iter().map(|fault| fault.path).collect();
        assert_eq!(paths, ["/To", "/Body", "/MessageSid"]);
    }
}
