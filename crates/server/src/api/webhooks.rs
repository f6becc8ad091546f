//! Completion webhooks: who is told when a task ends.

use axum::Json;
use axum::http::StatusCode;
use kybern_core::error::Detail;
use kybern_core::id::WebhookId;
use kybern_engine::identity::MAX_WEBHOOK_URL;
use serde::Deserialize;
use serde_json::Value;
use url::Url;
use utoipa::ToSchema;

use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, check_text};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::identity::{NewWebhookSchema, WebhookPage};
use crate::schema::words::{WEBHOOK_EVENTS, WebhookEventSchema};

/// A new completion webhook.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewCompletionWebhook, example = json!({"url": "https://example.com/kybern", "events": ["task.completed"]}))]
pub(crate) struct NewWebhookBody {
    /// Where to: `http` or `https`, a public address unless the operator has opened a private one.
    #[schema(max_length = 2_000, pattern = "^[Hh][Tt][Tt][Pp][Ss]?:")]
    url: String,
    /// Which events; all when empty.
    #[serde(default)]
    #[schema(value_type = Vec<WebhookEventSchema>)]
    events: Vec<String>,
}

fn faults(body: &NewWebhookBody) -> Vec<Detail> {
    let mut faults = Vec::new();
    let url = Url::parse(&body.url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match url {
        None => faults.push(Detail::new("/url", "url must be a whole http or https URL")),
        Some(url) if !url.username().is_empty() || url.password().is_some() => {
            faults.push(Detail::new("/url", "url must not carry a name and a password; deliveries are signed"));
        }
        Some(_) => {}
    }
    faults.extend(check_text("/url", &body.url, MAX_WEBHOOK_URL));
    for (n, event) in body.events.iter().enumerate().filter(|(_, event)| !WEBHOOK_EVENTS.contains(&event.as_str())) {
        let shown: String = event.chars().take(64).collect();
        let message = format!("event {shown:?} is none of {}", WEBHOOK_EVENTS.join(", "));
        faults.push(Detail::new(format!("/events/{n}"), message));
    }
    faults
}

/// Create a completion webhook
///
/// The answer shows the secret with which deliveries are signed (Standard Webhooks). A tenant has one for all its
/// webhooks, and every answer of this route shows it again; no other route does.
/// A URL that leads to a closed address is refused: no delivery could be made.
#[utoipa::path(post, path = "/api/webhooks/outbound", operation_id = "create_completion_webhook",
    request_body = NewWebhookBody,
    responses((status = 201, description = "The webhook", body = NewWebhookSchema)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewWebhookBody>) -> ApiResult {
    Problem::refuse(faults(&body.value))?;
    let new = body.value;
    attempt
        .once(body.raw, move |engine, actor| async move {
            let (webhook, secret) = engine.identity().create_webhook(&actor, &new.url, new.events).await?;
            let mut shown = shown(&webhook)?;
            shown["secret"] = Value::String(secret);
            SuccessAnswer::created("/api/webhooks/outbound", &webhook.id, &shown)
        })
        .await
}

/// List completion webhooks
#[utoipa::path(get, path = "/api/webhooks/outbound", operation_id = "list_completion_webhooks",
    params(PageParams),
    responses((status = 200, description = "A page of webhooks, oldest first", body = WebhookPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let webhooks = state.engine.identity().webhooks(actor.scope()).await?;
    paging.cut(webhooks, |webhook| webhook.id.to_string(), |webhook| webhook)
}

/// Remove a completion webhook
#[utoipa::path(delete, path = "/api/webhooks/outbound/{id}", operation_id = "remove_completion_webhook",
    params(("id" = String, Path, format = "uuid", description = "The webhook")),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<StatusCode> {
    let id: WebhookId = path.parse("id")?;
    state.engine.identity().delete_webhook(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_goes_to_a_whole_url_and_known_events() {
        let paths = |url: &str, events: &[&str]| {
            let events = events.iter().map(|event| (*event).to_owned()).collect();
            let body = NewWebhookBody { url: url.to_owned(), events };
            faults(&body).into_iter().map(|fault| fault.path).collect::<Vec<_>>()
        };
        assert!(paths("https://example.com/x", &["task.failed"]).is_empty());
        for bad in ["", "example.com", "/x", "ftp://example.com", "https://", "https://a:b@example.com"] {
            assert_eq!(paths(bad, &[]), ["/url"], "{bad}");
        }
        assert_eq!(paths("https://example.com", &["task.failed", "task.born"]), ["/events/1"]);
    }
}
