//! The OpenAPI document. What every route has in common (who may call it, which errors it answers, the idempotency
//! key) is added from the table of [`mod@crate::router`], so that it cannot be forgotten.

mod in_place;
mod input;

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use kybern_core::error::ErrorCode;
use utoipa::OpenApi;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, PathItem, Ref, RefOr};

use crate::error::status_of;
use crate::router::{Access, Paths, Query, Route, table};
use crate::schema::event::LogEntrySchema;
use crate::schema::http_call::HeaderSchema;
use crate::schema::operation::ErrorSchema;
use crate::schema::words::ApprovalFilterSchema;

/// Routes that are calls of a model.
const CALLING: [&str; 2] = ["/v1/chat/completions", "/v1/embeddings"];

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Kybern",
        description = "A self-hosted server in which a model decides, tools act, and services keep the record.\n\nEvery error has the shape `Error`; only a request that is no readable HTTP, or has too large a head, gets a bare status, and `/readyz` answers in its own shape. Unless a schema says otherwise, ids are UUIDs, times RFC 3339 in UTC, money integer nano-dollars (`…Nanos`), and durations integer milliseconds (`…Ms`). Names of input fields may also be written in snake_case, but for those of an audit export and of an SMS. The character U+0000 is refused, or replaced by U+FFFD in payloads, arguments and what arrives from outside.\n\nLists that come in pages take `limit` and `cursor`, and answer `items` and `nextCursor`. A cursor is opaque and says behind which item the next page begins: it does not expire, survives a restart, and still holds when that item is gone. It goes with the list and the filter that it was given for, while `limit` may change; with another list, another filter or another tenant, or changed, it is a `VALIDATION_ERROR` at `/cursor`. Query parameters that a route does not know are refused, and an empty one counts as not given; only `/healthz`, `/readyz`, `/metrics`, and SMS and webhooks from outside ignore any.",
        license(name = "Apache-2.0 OR MIT", identifier = "Apache-2.0 OR MIT"),
    ),
    tags(
        (name = "tasks", description = "Everything that arrives is a task"),
        (name = "inbound", description = "Mail, SMS and webhooks"),
        (name = "plans", description = "What is walked for an intent"),
        (name = "tools", description = "What acts"),
        (name = "agents", description = "Who answers"),
        (name = "prompts", description = "What agents are told, and who approved it"),
        (name = "preferences", description = "What users want to be answered like"),
        (name = "chats", description = "Conversations with agents"),
        (name = "memories", description = "What is remembered of users and entities"),
        (name = "knowledge", description = "Documents that agents may quote"),
        (name = "lessons", description = "What is learned from answers"),
        (name = "approvals", description = "What waits for a person"),
        (name = "models", description = "Language models, governed and metered"),
        (name = "budgets", description = "What may be spent, and what has been"),
        (name = "records", description = "What tasks have made, and what they have sent"),
        (name = "identity", description = "Who may do what"),
        (name = "secrets", description = "What tools may send, and where to"),
        (name = "audit", description = "What was done, provably"),
        (name = "workflows", description = "What outside engines call"),
        (name = "operation", description = "Health, numbers, this document"),
    ),
    components(schemas(ApprovalFilterSchema, ErrorSchema, HeaderSchema, LogEntrySchema)),
)]
struct Document;

static JSON: LazyLock<String> = LazyLock::new(|| {
    let mut document = serde_json::to_value(document()).unwrap_or_default();
    in_place::write(&mut document);
    input::name_unsigned(&mut document);
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
});

/// The document as JSON, with a line feed at its end; the same in every run.
#[must_use]
pub fn openapi_json() -> String {
    JSON.clone()
}

/// This document
#[utoipa::path(get, path = "/openapi.json", operation_id = "show_openapi", responses(
    (status = 200, description = "The OpenAPI document", body = Object, content_type = "application/json"),
))]
pub(crate) async fn show() -> Response {
    let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // Read by tools on other sites; there is nothing secret in it.
    let anyone = (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    ([json, anyone], JSON.as_str()).into_response()
}

/// Objects of requests that are read by hand, and refuse members that they do not know.
const CLOSED: [&str; 4] = ["EmbeddingRequest", "NewPlan", "Retry", "Step"];

fn document() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    document.merge(Paths::openapi());
    let components = document.components.get_or_insert_default();
    input::close(&mut components.schemas, &CLOSED);
    for route in table() {
        let operation = document.paths.paths.get_mut(route.path).and_then(|item| operation(item, route.method));
        if let Some(operation) = operation {
            complete(operation, &route);
            input::complete(operation, &components.schemas);
        }
    }
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("kyb_…").build();
    components.add_security_scheme("key", SecurityScheme::Http(bearer));
    for code in ErrorCode::ALL {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).build();
        let response = ResponseBuilder::new().description(about(code)).content("application/json", content).build();
        components.responses.insert(code.as_str().to_owned(), RefOr::T(response));
    }
    document
}

fn operation<'a>(item: &'a mut PathItem, method: &str) -> Option<&'a mut Operation> {
    match method {
        "GET" => item.get.as_mut(),
        "POST" => item.post.as_mut(),
        "PUT" => item.put.as_mut(),
        "PATCH" => item.patch.as_mut(),
        "DELETE" => item.delete.as_mut(),
        _unused => None,
    }
}

/// Under which heading a route stands: the noun in its path, or what that noun belongs to.
fn tag(path: &str) -> &str {
    let mut parts = path.split('/').skip(1);
    match (parts.next(), parts.next()) {
        (Some("api"), Some("admin" | "keys" | "users" | "webhooks")) => "identity",
        (Some("api"), Some("internal")) => "workflows",
        (Some("api"), Some("entities")) => "memories",
        (Some("api"), Some("outbox")) => "records",
        (Some("api"), Some("usage")) => "budgets",
        (Some("v1"), _) => "models",
        (Some("api"), Some(noun)) if noun != "purge" => noun,
        _ => "operation",
    }
}

/// Adds what follows from the table: headings, rights, errors, headers.
fn complete(operation: &mut Operation, route: &Route) {
    let (right, signed) = match route.access {
        Access::Open => (None, false),
        Access::Needs(right) => (Some(right), false),
        Access::SignedOr(right) => (Some(right), true),
        Access::Callback => (None, true),
    };
    if let Some(right) = right {
        let sentence = format!("Needs the right `{}`.", right.as_str());
        let description = operation.description.take().filter(|text| !text.is_empty());
        operation.description = Some(description.map_or(sentence.clone(), |text| format!("{text}\n\n{sentence}")));
    }
    operation.tags = Some(vec![tag(route.path).to_owned()]);
    let key = SecurityRequirement::new::<_, [&str; 0], &str>("key", []);
    operation.security = Some(match (right, signed) {
        (Some(_), false) => vec![key],
        (Some(_), true) => vec![key, SecurityRequirement::default()],
        (None, _) => vec![SecurityRequirement::default()],
    });
    if route.once {
        let about = "For a day the same key with the same body gives the first success again; with another body 409";
        operation.parameters.get_or_insert_default().push(RefOr::T(header_parameter("Idempotency-Key", about)));
    }
    for code in errors(route, right.is_some() || signed) {
        let status = status_of(code).as_u16().to_string();
        let response = RefOr::Ref(Ref::from_response_name(code.as_str()));
        operation.responses.responses.entry(status).or_insert(response);
    }
}

fn header_parameter(name: &str, about: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .description(Some(about))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(255))))
        .build()
}

fn errors(route: &Route, proven: bool) -> Vec<ErrorCode> {
    let mut codes = vec![ErrorCode::Internal, ErrorCode::Unavailable];
    if proven {
        codes.extend([ErrorCode::Unauthenticated, ErrorCode::PermissionDenied, ErrorCode::Validation]);
        // Also where the path names nothing: a plan, a user, or the tenant crossed into may not be there.
        codes.push(ErrorCode::NotFound);
        // Whoever has sent many wrong keys has to wait, whatever the route.
        codes.push(ErrorCode::RateLimited);
    }
    if route.query != Query::Any {
        codes.push(ErrorCode::Validation);
    }
    if route.method == "POST" {
        codes.extend([ErrorCode::Conflict, ErrorCode::PayloadTooLarge, ErrorCode::Unprocessable]);
    }
    if matches!(route.method, "PUT" | "PATCH") {
        codes.push(ErrorCode::PayloadTooLarge);
    }
    // What other keys were made with, or the last one of all; what is on hold.
    if matches!((route.method, route.path), ("DELETE", "/api/keys/{id}" | "/api/chats/{id}")) {
        codes.push(ErrorCode::Conflict);
    }
    // Two who change or remove the same thing: one of them is told.
    if matches!(route.method, "PATCH" | "DELETE")
        && ["/api/agents", "/api/prompts", "/api/memories", "/api/records"].iter().any(|of| route.path.starts_with(of))
    {
        codes.push(ErrorCode::Conflict);
    }
    // A record that cannot be read, and records with more props than a table has columns.
    if matches!(
        (route.method, route.path),
        ("PATCH", "/api/records/{kind}/{id}") | ("GET", "/api/records/{kind}/export")
    ) {
        codes.push(ErrorCode::Unprocessable);
    }
    // A call by hand that no budget covers.
    if route.path == "/api/tools/{name}/invoke" {
        codes.push(ErrorCode::BudgetExceeded);
    }
    // What is bundled.
    if matches!((route.method, route.path), ("DELETE", "/api/tools/{name}") | ("PATCH", "/api/plans/{key}")) {
        codes.push(ErrorCode::Conflict);
    }
    // A text is embedded first, which a budget may not cover, and which may fail.
    let asks_a_model = ["/api/memories", "/api/knowledge/search", "/api/prompts/preview"];
    if asks_a_model.iter().any(|of| route.path.starts_with(of)) || CALLING.contains(&route.path) {
        codes.extend([ErrorCode::BudgetExceeded, ErrorCode::Model, ErrorCode::Timeout]);
    }
    codes
}

const fn about(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Validation => "The input is malformed; `details` names the places that were found",
        ErrorCode::Unauthenticated => {
            "No key, or one that is unknown, expired or revoked, or a signature or a secret that does not fit"
        }
        ErrorCode::PermissionDenied => {
            "The key does not hold the right, its user may not do this, or a setting of the organisation forbids it"
        }
        ErrorCode::NotFound => "There is no such thing in this tenant, or the caller does not see it",
        ErrorCode::Conflict => {
            "Not in a state that allows this, there already, or an idempotency key was used with another body"
        }
        ErrorCode::PayloadTooLarge => "The body, or something in it, is over its limit",
        ErrorCode::Unprocessable => "Well-formed, and yet it cannot be done",
        ErrorCode::RateLimited => "Too many; `Retry-After` says when to come back",
        ErrorCode::BudgetExceeded => "A budget does not cover it",
        ErrorCode::Timeout => "It took longer than it may",
        ErrorCode::Model => "A model failed",
        ErrorCode::Tool => "A tool failed",
        ErrorCode::Workflow => "An outside workflow failed",
        ErrorCode::Unavailable => "The server, or its database, cannot take this now",
        ErrorCode::Internal => "A fault of the server",
    }
}
