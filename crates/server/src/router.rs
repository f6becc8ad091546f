//! The table of contents: every route, and what it asks of its caller.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::{Method, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{self, MethodRouter};
use kybern_core::actor::Right;
use kybern_core::error::{Error, ErrorCode};

use crate::api::{
    agents, approvals, audit, budgets, chats, inbound, keys, knowledge, lessons, memories, messages, models, outbox,
    own_tools, permissions, plans, preferences, prompts, records, retention, secrets, task_files, task_internal,
    task_steer, tasks, tenants, tools, usage, users, webhooks,
};
use crate::error::Problem;
use crate::state::AppState;
use crate::{auth, health, metrics, openapi, request, status_page};

/// What a route asks of its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Nothing.
    Open,
    /// A key with that right.
    Needs(Right),
    /// The secret of one delegation, or a signature made with it.
    Callback,
    /// A key with that right, or the signature of a configured source.
    SignedOr(Right),
}

/// A route.
pub struct Route {
    /// Its method.
    pub method: &'static str,
    /// Its path, with `{name}` for what varies.
    pub path: &'static str,
    /// What it asks of its caller.
    pub access: Access,
    /// Whether what stands last in the path may have slashes.
    slashes: bool,
    handler: MethodRouter<AppState>,
}

impl Route {
    fn with_slashes(self) -> Self {
        Self { slashes: true, ..self }
    }

    /// The path as the router takes it.
    fn pattern(&self) -> String {
        match self.path.rsplit_once('{') {
            Some((before, last)) if self.slashes => format!("{before}{{*{last}"),
            Some(_) | None => self.path.to_owned(),
        }
    }
}

use Access::{Callback, Needs, Open, SignedOr};
use Right::{Administer, Operate, Platform, Read, Review};

/// Every route.
#[must_use]
pub fn table() -> Vec<Route> {
    vec![
        // Tasks
        post("/api/tasks", Needs(Operate), tasks::submit),
        get("/api/tasks", Needs(Read), tasks::list),
        get("/api/tasks/{id}", Needs(Read), tasks::show),
        get("/api/tasks/{id}/log", Needs(Read), tasks::log),
        get("/api/tasks/{id}/events", Needs(Read), tasks::events),
        get("/api/tasks/{id}/artifacts", Needs(Read), task_files::artifacts),
        get("/api/tasks/{id}/attachments", Needs(Read), task_files::attachments),
        get("/api/tasks/{id}/attachments/{n}", Needs(Read), task_files::attachment),
        post("/api/tasks/{id}/cancel", Needs(Operate), task_steer::cancel),
        post("/api/tasks/{id}/pause", Needs(Operate), task_steer::pause),
        post("/api/tasks/{id}/resume", Needs(Operate), task_steer::resume),
        post("/api/tasks/{id}/retry", Needs(Operate), task_steer::retry),
        post("/api/tasks/{id}/fork", Needs(Operate), task_steer::fork),
        post("/api/tasks/{id}/replay", Needs(Operate), task_steer::replay),
        post("/api/tasks/{id}/hold", Needs(Administer), retention::hold),
        post("/api/tasks/{id}/release", Needs(Administer), retention::release),
        post("/api/tasks/{id}/review", Needs(Review), task_steer::review),
        post("/api/internal/brain/review/{id}", Needs(Review), task_internal::review),
        post("/api/internal/brain/callback/{id}", Callback, task_internal::callback),
        // What arrives
        post("/api/inbound/email", Needs(Operate), inbound::email),
        post("/api/inbound/sms", SignedOr(Operate), inbound::sms),
        post("/api/inbound/webhook/{source}", SignedOr(Operate), inbound::webhook),
        // Plans
        post("/api/plans", Needs(Administer), plans::put),
        get("/api/plans", Needs(Read), plans::list),
        post("/api/plans/check", Needs(Read), plans::check),
        get("/api/plans/{key}", Needs(Read), plans::show),
        get("/api/plans/{key}/versions", Needs(Read), plans::versions),
        patch("/api/plans/{key}", Needs(Administer), plans::change),
        // Tools
        get("/api/tools", Needs(Read), tools::list),
        get("/api/tools/{name}", Needs(Read), tools::show),
        post("/api/tools/{name}/invoke", Needs(Operate), tools::invoke),
        patch("/api/tools/{name}", Needs(Administer), tools::change),
        // Tools that a tenant makes itself
        post("/api/tools", Needs(Administer), own_tools::create),
        get("/api/tools/{name}/versions", Needs(Read), own_tools::versions),
        post("/api/tools/{name}/submit", Needs(Administer), own_tools::submit),
        post("/api/tools/{name}/reject", Needs(Administer), own_tools::reject),
        post("/api/tools/{name}/approve", Needs(Administer), own_tools::approve),
        post("/api/tools/{name}/activate", Needs(Administer), own_tools::activate),
        post("/api/tools/{name}/disable", Needs(Administer), own_tools::disable),
        delete("/api/tools/{name}", Needs(Administer), own_tools::remove),
        // Who answers, what they are told, and what users wish
        post("/api/agents", Needs(Administer), agents::create),
        get("/api/agents", Needs(Read), agents::list),
        post("/api/agents/resync", Needs(Administer), agents::resync),
        get("/api/agents/{id}", Needs(Read), agents::show),
        patch("/api/agents/{id}", Needs(Administer), agents::change),
        delete("/api/agents/{id}", Needs(Administer), agents::remove),
        post("/api/agents/{id}/reset", Needs(Administer), agents::reset),
        post("/api/prompts", Needs(Administer), prompts::create),
        get("/api/prompts", Needs(Administer), prompts::list),
        post("/api/prompts/preview", Needs(Administer), prompts::preview),
        get("/api/prompts/{id}", Needs(Administer), prompts::show),
        patch("/api/prompts/{id}", Needs(Administer), prompts::change),
        post("/api/prompts/{id}/submit", Needs(Administer), prompts::submit),
        post("/api/prompts/{id}/approve", Needs(Administer), prompts::approve),
        post("/api/prompts/{id}/reject", Needs(Administer), prompts::reject),
        post("/api/prompts/{id}/activate", Needs(Administer), prompts::activate),
        get("/api/preferences", Needs(Read), preferences::show),
        put("/api/preferences", Needs(Operate), preferences::set),
        delete("/api/preferences", Needs(Operate), preferences::remove),
        // Conversations
        post("/api/chats", Needs(Operate), chats::create),
        get("/api/chats", Needs(Read), chats::list),
        post("/api/chats/import", Needs(Operate), chats::import),
        get("/api/chats/{id}", Needs(Read), chats::show),
        delete("/api/chats/{id}", Needs(Operate), chats::remove),
        post("/api/chats/{id}/fork", Needs(Operate), chats::fork),
        post("/api/chats/{id}/reset", Needs(Operate), chats::reset),
        get("/api/chats/{id}/export", Needs(Read), chats::export),
        post("/api/chats/{id}/messages", Needs(Operate), messages::send),
        get("/api/chats/{id}/messages", Needs(Read), messages::list),
        post("/api/chats/{id}/messages/{message}/redact", Needs(Operate), messages::redact),
        get("/api/chats/{id}/stream", Needs(Read), messages::stream),
        // What is remembered, and what agents may quote
        post("/api/memories", Needs(Operate), memories::create),
        get("/api/memories", Needs(Read), memories::list),
        get("/api/memories/export", Needs(Read), memories::export),
        get("/api/memories/{id}", Needs(Read), memories::show),
        patch("/api/memories/{id}", Needs(Operate), memories::change),
        delete("/api/memories/{id}", Needs(Operate), memories::remove),
        post("/api/memories/{id}/accept", Needs(Operate), memories::accept),
        post("/api/memories/{id}/reject", Needs(Operate), memories::reject),
        post("/api/knowledge", Needs(Administer), knowledge::create),
        get("/api/knowledge", Needs(Read), knowledge::list),
        get("/api/knowledge/search", Needs(Read), knowledge::search),
        get("/api/knowledge/{id}", Needs(Read), knowledge::show),
        delete("/api/knowledge/{id}", Needs(Administer), knowledge::remove),
        post("/api/knowledge/{id}/publish", Needs(Administer), knowledge::publish),
        post("/api/knowledge/{id}/unpublish", Needs(Administer), knowledge::unpublish),
        post("/api/knowledge/{id}/reindex", Needs(Administer), knowledge::reindex),
        // What is learned from answers
        post("/api/lessons", Needs(Administer), lessons::create),
        get("/api/lessons", Needs(Read), lessons::list),
        get("/api/lessons/{id}", Needs(Read), lessons::show),
        get("/api/lessons/{id}/preview", Needs(Administer), lessons::preview),
        post("/api/lessons/{id}/accept", Needs(Administer), lessons::accept),
        post("/api/lessons/{id}/withdraw", Needs(Administer), lessons::withdraw),
        // What waits for a person
        get("/api/approvals", Needs(Read), approvals::list),
        get("/api/approvals/{id}", Needs(Read), approvals::show),
        post("/api/approvals/{id}", Needs(Review), approvals::decide),
        // Language models, as OpenAI's clients ask for them
        post("/v1/chat/completions", Needs(Operate), models::chat),
        get("/v1/models", Needs(Read), models::list),
        get("/v1/models/{id}", Needs(Read), models::show).with_slashes(),
        post("/v1/embeddings", Needs(Operate), models::embed),
        get("/api/models/policy", Needs(Administer), models::policy),
        put("/api/models/policy", Needs(Administer), models::set_policy),
        // What may be spent, and what has been
        post("/api/budgets", Needs(Administer), budgets::create),
        get("/api/budgets", Needs(Read), budgets::list),
        get("/api/budgets/{id}", Needs(Read), budgets::show),
        patch("/api/budgets/{id}", Needs(Administer), budgets::change),
        delete("/api/budgets/{id}", Needs(Administer), budgets::remove),
        get("/api/usage", Needs(Read), usage::report),
        // Records and messages
        get("/api/records", Needs(Read), records::kinds),
        get("/api/records/{kind}", Needs(Read), records::list),
        get("/api/records/{kind}/{id}", Needs(Read), records::show),
        get("/api/outbox", Needs(Read), outbox::list),
        post("/api/outbox/{id}/retry", Needs(Operate), outbox::retry),
        // Who may do what
        post("/api/users", Needs(Administer), users::create),
        get("/api/users", Needs(Administer), users::list),
        get("/api/users/{id}", Needs(Administer), users::show),
        get("/api/users/{id}/permissions", Needs(Administer), permissions::show),
        put("/api/users/{id}/permissions", Needs(Administer), permissions::change),
        post("/api/keys", Needs(Administer), keys::create),
        get("/api/keys", Needs(Administer), keys::list),
        delete("/api/keys/{id}", Needs(Administer), keys::revoke),
        // What tools may send, and where to
        post("/api/secrets", Needs(Administer), secrets::set),
        get("/api/secrets", Needs(Administer), secrets::list),
        get("/api/secrets/{name}", Needs(Administer), secrets::show),
        delete("/api/secrets/{name}", Needs(Administer), secrets::remove),
        post("/api/webhooks/outbound", Needs(Administer), webhooks::create),
        get("/api/webhooks/outbound", Needs(Administer), webhooks::list),
        delete("/api/webhooks/outbound/{id}", Needs(Administer), webhooks::remove),
        post("/api/admin/tenants", Needs(Platform), tenants::create),
        get("/api/admin/tenants", Needs(Platform), tenants::list),
        // The audit
        get("/api/audit", Needs(Administer), audit::list),
        get("/api/audit/head", Needs(Administer), audit::head),
        get("/api/audit/verify", Needs(Administer), audit::verify),
        post("/api/audit/check", Needs(Administer), audit::check),
        post("/api/audit/purge", Needs(Administer), audit::purge),
        // Operation
        get("/healthz", Open, health::alive),
        post("/api/purge", Needs(Administer), retention::purge),
        get("/readyz", Open, health::ready),
        get("/metrics", Open, metrics::show),
        get("/openapi.json", Open, openapi::show),
        get("/", Open, status_page::show),
    ]
}

/// The whole application.
pub fn router(state: AppState) -> Router {
    let mut router = Router::new();
    for route in table() {
        let guard = from_fn_with_state((state.clone(), route.access), auth::guard);
        let pattern = route.pattern();
        router = router.route(&pattern, route.handler.route_layer(guard));
    }
    router
        .fallback(unknown_route)
        .method_not_allowed_fallback(unknown_method)
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(state.clone(), request::enter))
        .with_state(state)
}

async fn unknown_route(method: Method, uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(200).collect();
    let message = format!("there is no route {method} {path}, /openapi.json lists all");
    Error::new(ErrorCode::NotFound, message).into()
}

/// The router adds `Allow`; the code is the nearest of the contract's.
async fn unknown_method(method: Method, uri: Uri) -> (axum::http::StatusCode, Problem) {
    let path: String = uri.path().chars().take(200).collect();
    let message = format!("{path} does not take {method}, the header Allow says what it takes");
    (axum::http::StatusCode::METHOD_NOT_ALLOWED, Error::new(ErrorCode::Validation, message).into())
}

fn get<H: Handler<T, AppState>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route { method: "GET", path, access, slashes: false, handler: routing::get(handler) }
}

fn post<H: Handler<T, AppState>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route { method: "POST", path, access, slashes: false, handler: routing::post(handler) }
}

fn put<H: Handler<T, AppState>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route { method: "PUT", path, access, slashes: false, handler: routing::put(handler) }
}

fn patch<H: Handler<T, AppState>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route { method: "PATCH", path, access, slashes: false, handler: routing::patch(handler) }
}

fn delete<H: Handler<T, AppState>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route { method: "DELETE", path, access, slashes: false, handler: routing::delete(handler) }
}
