//! The table of contents: every route, and what it asks of its caller.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::{Method, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{self, MethodRouter};
use kybern_core::actor::Right;
use kybern_core::error::{Error, ErrorCode};

use crate::error::Problem;
use crate::state::AppState;
use crate::{api, auth, health, metrics, openapi, request, status_page};

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

/// What a route does with the parameters of the query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Query {
    /// It takes none, and refuses any.
    None,
    /// It reads its own, and refuses all others.
    Own,
    /// It takes none, and ignores any: who asks is a program that adds some of its own.
    Any,
}

/// A route.
pub struct Route {
    /// Its method.
    pub method: &'static str,
    /// Its path, with `{name}` for what varies.
    pub path: &'static str,
    /// What it asks of its caller.
    pub access: Access,
    /// Whether `Idempotency-Key` is honoured.
    pub once: bool,
    /// What it does with the parameters of the query.
    pub query: Query,
    /// Whether what stands last in the path may have slashes.
    slashes: bool,
    handler: MethodRouter<AppState>,
}

impl Route {
    fn slashes(self) -> Self {
        Self { slashes: true, ..self }
    }

    fn once(self) -> Self {
        Self { once: true, ..self }
    }

    fn query(self) -> Self {
        Self { query: Query::Own, ..self }
    }

    fn any_query(self) -> Self {
        Self { query: Query::Any, ..self }
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

/// Takes every route once, and makes of them the table and the paths of the OpenAPI document.
macro_rules! routes {
    ($($verb:ident $path:literal, $access:expr, $($handler:ident)::+ $(, $mark:ident)*;)+) => {
        /// Every route.
        #[must_use]
        pub fn table() -> Vec<Route> {
            vec![$($verb($path, $access, $($handler)::+)$(.$mark())*),+]
        }

        /// The paths of the document.
        #[derive(utoipa::OpenApi)]
        #[openapi(paths($($($handler)::+),+))]
        pub(crate) struct Paths;
    };
}

// A method, a path, what is asked of the caller, and the handler. `once`: `Idempotency-Key` is honoured; `slashes`: what
// stands last in the path may have some; `query`: the handler reads parameters of the query, and refuses those that it
// does not know; `any_query`: parameters are ignored, because monitors and services outside add their own. Any other
// route refuses parameters.
routes! {
    // Tasks
    post "/api/tasks", Needs(Operate), api::tasks::submit, once, query;
    get "/api/tasks", Needs(Read), api::tasks::list, query;
    get "/api/tasks/{id}", Needs(Read), api::tasks::show, query;
    get "/api/tasks/{id}/log", Needs(Read), api::tasks::log, query;
    get "/api/tasks/{id}/events", Needs(Read), api::tasks::events;
    get "/api/tasks/{id}/artifacts", Needs(Read), api::task_files::artifacts;
    get "/api/tasks/{id}/attachments", Needs(Read), api::task_files::attachments;
    get "/api/tasks/{id}/attachments/{n}", Needs(Read), api::task_files::attachment, query;
    post "/api/tasks/{id}/cancel", Needs(Operate), api::task_steer::cancel;
    post "/api/tasks/{id}/pause", Needs(Operate), api::task_steer::pause;
    post "/api/tasks/{id}/resume", Needs(Operate), api::task_steer::resume;
    post "/api/tasks/{id}/retry", Needs(Operate), api::task_steer::retry;
    post "/api/tasks/{id}/fork", Needs(Operate), api::task_steer::fork, once;
    post "/api/tasks/{id}/replay", Needs(Operate), api::task_steer::replay;
    post "/api/tasks/{id}/hold", Needs(Administer), api::retention::hold;
    post "/api/tasks/{id}/release", Needs(Administer), api::retention::release;
    post "/api/tasks/{id}/review", Needs(Review), api::task_steer::review;
    post "/api/internal/brain/review/{id}", Needs(Review), api::task_internal::review;
    post "/api/internal/brain/callback/{id}", Callback, api::task_internal::callback;
    // What arrives
    post "/api/inbound/email", Needs(Operate), api::inbound::email;
    post "/api/inbound/sms", SignedOr(Operate), api::inbound::sms, any_query;
    post "/api/inbound/webhook/{source}", SignedOr(Operate), api::inbound::webhook, any_query;
    // Plans
    post "/api/plans", Needs(Administer), api::plans::put, once;
    get "/api/plans", Needs(Read), api::plans::list, query;
    post "/api/plans/check", Needs(Read), api::plans::check;
    get "/api/plans/{key}", Needs(Read), api::plans::show;
    get "/api/plans/{key}/versions", Needs(Read), api::plans::versions, query;
    patch "/api/plans/{key}", Needs(Administer), api::plans::change;
    // Tools
    get "/api/tools", Needs(Read), api::tools::list, query;
    get "/api/tools/{name}", Needs(Read), api::tools::show;
    post "/api/tools/{name}/invoke", Needs(Operate), api::tools::invoke, once, query;
    patch "/api/tools/{name}", Needs(Administer), api::tools::change;
    // Tools that a tenant makes itself
    post "/api/tools", Needs(Administer), api::own_tools::create, once;
    get "/api/tools/{name}/versions", Needs(Read), api::own_tools::versions, query;
    post "/api/tools/{name}/submit", Needs(Administer), api::own_tools::submit;
    post "/api/tools/{name}/reject", Needs(Administer), api::own_tools::reject;
    post "/api/tools/{name}/approve", Needs(Administer), api::own_tools::approve;
    post "/api/tools/{name}/activate", Needs(Administer), api::own_tools::activate;
    post "/api/tools/{name}/disable", Needs(Administer), api::own_tools::disable;
    delete "/api/tools/{name}", Needs(Administer), api::own_tools::remove;
    // Who answers, what they are told, and what users wish
    post "/api/agents", Needs(Administer), api::agents::create, once;
    get "/api/agents", Needs(Read), api::agents::list, query;
    post "/api/agents/resync", Needs(Administer), api::agents::resync;
    get "/api/agents/{id}", Needs(Read), api::agents::show;
    patch "/api/agents/{id}", Needs(Administer), api::agents::change;
    delete "/api/agents/{id}", Needs(Administer), api::agents::remove;
    post "/api/agents/{id}/reset", Needs(Administer), api::agents::reset;
    post "/api/prompts", Needs(Administer), api::prompts::create, once;
    get "/api/prompts", Needs(Administer), api::prompts::list, query;
    post "/api/prompts/preview", Needs(Administer), api::prompts::preview;
    get "/api/prompts/{id}", Needs(Administer), api::prompts::show;
    patch "/api/prompts/{id}", Needs(Administer), api::prompts::change;
    post "/api/prompts/{id}/submit", Needs(Administer), api::prompts::submit;
    post "/api/prompts/{id}/approve", Needs(Administer), api::prompts::approve;
    post "/api/prompts/{id}/reject", Needs(Administer), api::prompts::reject;
    post "/api/prompts/{id}/activate", Needs(Administer), api::prompts::activate;
    get "/api/preferences", Needs(Read), api::preferences::show, query;
    put "/api/preferences", Needs(Operate), api::preferences::set;
    delete "/api/preferences", Needs(Operate), api::preferences::remove;
    // Conversations
    post "/api/chats", Needs(Operate), api::chats::create, once;
    get "/api/chats", Needs(Read), api::chats::list, query;
    post "/api/chats/import", Needs(Operate), api::chats::import, once;
    get "/api/chats/{id}", Needs(Read), api::chats::show;
    delete "/api/chats/{id}", Needs(Operate), api::chats::remove;
    post "/api/chats/{id}/fork", Needs(Operate), api::chats::fork, once;
    post "/api/chats/{id}/reset", Needs(Operate), api::chats::reset;
    get "/api/chats/{id}/export", Needs(Read), api::chats::export;
    post "/api/chats/{id}/messages", Needs(Operate), api::messages::send, once;
    get "/api/chats/{id}/messages", Needs(Read), api::messages::list, query;
    post "/api/chats/{id}/messages/{message}/redact", Needs(Operate), api::messages::redact;
    get "/api/chats/{id}/stream", Needs(Read), api::messages::stream, query;
    // What is remembered, and what agents may quote
    get "/api/entities", Needs(Read), api::dossiers::find, query;
    get "/api/entities/{id}/dossier", Needs(Read), api::dossiers::show, query;
    post "/api/memories", Needs(Operate), api::memories::create, once;
    get "/api/memories", Needs(Read), api::memories::list, query;
    get "/api/memories/export", Needs(Read), api::memories::export, query;
    get "/api/memories/{id}", Needs(Read), api::memories::show;
    patch "/api/memories/{id}", Needs(Operate), api::memories::change;
    delete "/api/memories/{id}", Needs(Operate), api::memories::remove;
    post "/api/memories/{id}/accept", Needs(Operate), api::memories::accept;
    post "/api/memories/{id}/reject", Needs(Operate), api::memories::reject;
    post "/api/knowledge", Needs(Administer), api::knowledge::create, once;
    get "/api/knowledge", Needs(Read), api::knowledge::list, query;
    get "/api/knowledge/search", Needs(Read), api::knowledge::search, query;
    get "/api/knowledge/{id}", Needs(Read), api::knowledge::show;
    delete "/api/knowledge/{id}", Needs(Administer), api::knowledge::remove;
    post "/api/knowledge/{id}/publish", Needs(Administer), api::knowledge::publish;
    post "/api/knowledge/{id}/unpublish", Needs(Administer), api::knowledge::unpublish;
    post "/api/knowledge/{id}/reindex", Needs(Administer), api::knowledge::reindex;
    // What is learned from answers
    post "/api/lessons", Needs(Administer), api::lessons::create, once;
    get "/api/lessons", Needs(Read), api::lessons::list, query;
    get "/api/lessons/{id}", Needs(Read), api::lessons::show;
    get "/api/lessons/{id}/preview", Needs(Administer), api::lessons::preview;
    post "/api/lessons/{id}/accept", Needs(Administer), api::lessons::accept;
    post "/api/lessons/{id}/withdraw", Needs(Administer), api::lessons::withdraw;
    // What waits for a person
    get "/api/approvals", Needs(Read), api::approvals::list, query;
    get "/api/approvals/{id}", Needs(Read), api::approvals::show;
    post "/api/approvals/{id}", Needs(Review), api::approvals::decide;
    // Language models, as OpenAI's clients ask for them
    post "/v1/chat/completions", Needs(Operate), api::models::chat;
    get "/v1/models", Needs(Read), api::models::list;
    get "/v1/models/{id}", Needs(Read), api::models::show, slashes;
    post "/v1/embeddings", Needs(Operate), api::models::embed;
    get "/api/models/policy", Needs(Administer), api::models::policy;
    put "/api/models/policy", Needs(Administer), api::models::set_policy;
    // What may be spent, and what has been
    post "/api/budgets", Needs(Administer), api::budgets::create, once;
    get "/api/budgets", Needs(Read), api::budgets::list, query;
    get "/api/budgets/{id}", Needs(Read), api::budgets::show;
    patch "/api/budgets/{id}", Needs(Administer), api::budgets::change;
    delete "/api/budgets/{id}", Needs(Administer), api::budgets::remove;
    get "/api/usage", Needs(Read), api::usage::report, query;
    // Records and messages
    get "/api/records", Needs(Read), api::records::kinds;
    get "/api/records/{kind}", Needs(Read), api::records::list, query;
    get "/api/records/{kind}/export", Needs(Read), api::records::export, query;
    get "/api/records/{kind}/{id}", Needs(Read), api::records::show;
    patch "/api/records/{kind}/{id}", Needs(Operate), api::records::change;
    get "/api/records/{kind}/{id}/history", Needs(Read), api::records::history, query;
    get "/api/records/{kind}/{id}/tasks", Needs(Read), api::records::tasks, query;
    get "/api/outbox", Needs(Read), api::outbox::list, query;
    post "/api/outbox/{id}/retry", Needs(Operate), api::outbox::retry;
    // Who may do what
    post "/api/users", Needs(Administer), api::users::create, once;
    get "/api/users", Needs(Administer), api::users::list, query;
    get "/api/users/{id}", Needs(Administer), api::users::show;
    get "/api/users/{id}/permissions", Needs(Administer), api::permissions::show;
    put "/api/users/{id}/permissions", Needs(Administer), api::permissions::change;
    post "/api/keys", Needs(Administer), api::keys::create, once;
    get "/api/keys", Needs(Administer), api::keys::list, query;
    delete "/api/keys/{id}", Needs(Administer), api::keys::revoke, query;
    // What tools may send, and where to
    post "/api/secrets", Needs(Administer), api::secrets::set, once;
    get "/api/secrets", Needs(Administer), api::secrets::list, query;
    get "/api/secrets/{name}", Needs(Administer), api::secrets::show;
    delete "/api/secrets/{name}", Needs(Administer), api::secrets::remove;
    post "/api/webhooks/outbound", Needs(Administer), api::webhooks::create, once;
    get "/api/webhooks/outbound", Needs(Administer), api::webhooks::list, query;
    delete "/api/webhooks/outbound/{id}", Needs(Administer), api::webhooks::remove;
    post "/api/admin/tenants", Needs(Platform), api::tenants::create, once;
    get "/api/admin/tenants", Needs(Platform), api::tenants::list, query;
    // The audit
    get "/api/audit", Needs(Administer), api::audit::list, query;
    get "/api/audit/head", Needs(Administer), api::audit::head;
    get "/api/audit/verify", Needs(Administer), api::audit::verify, query;
    post "/api/audit/check", Needs(Administer), api::audit::check;
    post "/api/audit/purge", Needs(Administer), api::audit::purge;
    // Operation
    get "/healthz", Open, health::alive, any_query;
    post "/api/purge", Needs(Administer), api::retention::purge;
    get "/readyz", Open, health::ready, any_query;
    get "/metrics", Open, metrics::show, any_query;
    get "/openapi.json", Open, openapi::show;
    get "/", Open, status_page::show;
}

/// The whole application.
pub fn router(state: AppState) -> Router {
    let mut router = Router::new();
    for route in table() {
        let guard = from_fn_with_state((state.clone(), route.access, route.query), auth::guard);
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

/// One function for each method, as the lines above begin.
macro_rules! methods {
    ($($verb:ident $method:literal)+) => {$(
        fn $verb<H: Handler<T, AppState>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
            let (query, handler) = (Query::None, routing::$verb(handler));
            Route { method: $method, path, access, once: false, query, slashes: false, handler }
        }
    )+};
}

methods! { get "GET" post "POST" put "PUT" patch "PATCH" delete "DELETE" }
