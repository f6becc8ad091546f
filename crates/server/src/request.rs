//! What every request gets before and after its handler: an id, a trace, a span, metrics, the error envelope and the
//! security headers.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::Deref;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt as _;
use kybern_core::actor::Actor;
use kybern_core::id::RequestId;
use kybern_core::policy::redact::redact_text;
use kybern_core::time::Timestamp;
use kybern_core::trace;
use kybern_engine::models::CallContext;
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{SpanContext, TraceContextExt as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Instrument;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::body;
use crate::error::{self, Problem};
use crate::peer::Peer;
use crate::state::AppState;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest request id of a caller that is taken over.
const MAX_REQUEST_ID: usize = 64;

/// The request as handlers know it. Copies are one pointer.
#[derive(Clone, Debug)]
pub(crate) struct RequestInfo(Arc<RequestFacts>);

/// What is known of a request.
#[derive(Debug)]
pub(crate) struct RequestFacts {
    /// Its id for the engine and the audit.
    pub(crate) id: RequestId,
    /// Its id as the caller wrote it; the same as `id` unless the caller's is no UUID.
    pub(crate) shown: String,
    /// The trace that the caller is in, 32 hex digits.
    pub(crate) trace_id: Option<String>,
    /// The caller's span in that trace.
    caller: Option<SpanContext>,
    /// The matched route, or `unmatched`.
    pub(crate) route: String,
    /// The path as it was asked for.
    pub(crate) path: String,
    pub(crate) method: Method,
    /// The address at the other end of its connection.
    pub(crate) peer: Option<IpAddr>,
    /// When it came in.
    pub(crate) at: Timestamp,
}

impl RequestInfo {
    fn of(state: &AppState, request: &Request) -> Self {
        let given = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
        // It is repeated in logs and answers: one that looks like a secret is not taken over.
        let given = given.filter(|text| is_token(text) && matches!(redact_text(text), Cow::Borrowed(_)));
        let parsed = given.and_then(|text| text.parse::<RequestId>().ok());
        let id = parsed.unwrap_or_else(|| RequestId::from_uuid(state.engine.ids().next()));
        let route = request.extensions().get::<MatchedPath>();
        let caller = caller(request.headers());
        Self(Arc::new(RequestFacts {
            id,
            shown: given.map_or_else(|| id.to_string(), str::to_owned),
            trace_id: caller.as_ref().map(|caller| caller.trace_id().to_string()),
            caller,
            route: route.map_or("unmatched", MatchedPath::as_str).to_owned(),
            path: request.uri().path().to_owned(),
            method: request.method().clone(),
            peer: request.extensions().get::<Peer>().map(|peer| peer.0),
            at: state.engine.clock().now(),
        }))
    }
}

impl RequestInfo {
    /// What goes along to whoever is asked on behalf of this request, so that its trace goes on there.
    pub(crate) fn traceparent(&self) -> Option<String> {
        let caller = self.caller.as_ref()?;
        let (trace, span) = (caller.trace_id().to_string(), caller.span_id().to_string());
        Some(trace::written(&trace, &span, caller.trace_flags().to_u8()))
    }

    /// For whom this request asks models, in its trace.
    pub(crate) fn asks_models(&self, actor: &Actor) -> CallContext {
        let mut caller = CallContext::of(actor);
        if let Some(given) = self.traceparent() {
            caller.traceparent = Some(given);
        }
        caller
    }
}

impl Deref for RequestInfo {
    type Target = RequestFacts;

    fn deref(&self) -> &RequestFacts {
        &self.0
    }
}

impl FromRequestParts<AppState> for RequestInfo {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &AppState) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| Problem::internal("a route without its request layer"))
    }
}

/// The one layer around every route: one, because each costs every request an allocation and a dispatch.
pub(crate) async fn enter(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let asked = RequestInfo::of(&state, &request);
    request.extensions_mut().insert(asked.clone());
    let span = tracing::info_span!(
        "request",
        otel.kind = "server",
        http.request.method = %asked.method,
        http.route = %asked.route,
        http.response.status_code = Empty,
        request.id = %asked.shown,
        trace.id = asked.trace_id.as_deref().unwrap_or_default(),
        tenant.id = Empty,
        duration_ms = Empty,
    );
    if let Some(caller) = asked.caller.clone() {
        // Without an exporter of traces nobody takes the parent, and nothing is lost.
        span.set_parent(Context::new().with_remote_span_context(caller)).unwrap_or_default();
    }
    let request = body::drained(&state, request);
    let mut response = caught(next.run(request)).instrument(span.clone()).await;
    let _entered = span.enter();
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        error::log(&problem.0);
        *response.body_mut() = Body::from(error::envelope(&problem.0, &asked.shown).to_string());
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().remove(header::CONTENT_LENGTH);
        if asked.path.starts_with("/v1/") {
            response.headers_mut().insert("x-should-retry", HeaderValue::from_static(error::should_retry(&problem.0)));
        }
    }
    let took = state.engine.clock().now().since(asked.at);
    span.record("http.response.status_code", response.status().as_u16());
    span.record("duration_ms", took.0);
    state.metrics.answered(&asked, response.status(), took);
    // Whoever looks whether the server lives asks all the time.
    match asked.route.as_str() {
        "/healthz" | "/readyz" | "/metrics" => tracing::debug!("answered"),
        _asked => tracing::info!("answered"),
    }
    if let Ok(value) = HeaderValue::from_str(&asked.shown) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    secure(response.headers_mut());
    response
}

/// The answer of a handler. A panic is a fault of the server, and its words are for the log only.
async fn caught(run: impl Future<Output = Response>) -> Response {
    // Nothing of a request is used after a panic of its handler.
    AssertUnwindSafe(run).catch_unwind().await.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Problem::internal(format!("a handler panicked: {text}")).into_response()
    })
}

/// Headers that cost nothing and close what a browser leaves open. A handler's own headers stay.
fn secure(headers: &mut HeaderMap) {
    const SECURITY: [(HeaderName, &str); 6] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in SECURITY {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// Whether a caller's request id is short and plain enough to stand in a log.
fn is_token(text: &str) -> bool {
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b':');
    !text.is_empty() && text.len() <= MAX_REQUEST_ID && text.bytes().all(plain)
}

/// The caller's span, as the W3C trace context of its headers says. The propagator reads numbers of any length and sign, so
/// the form is looked at first.
fn caller(headers: &HeaderMap) -> Option<SpanContext> {
    let mut parents = headers.get_all(TRACE_PARENT).iter();
    let (Some(parent), None) = (parents.next(), parents.next()) else { return None };
    let parent = parent.to_str().ok().filter(|parent| trace::has_form(parent))?;
    let states = headers.get_all(TRACE_STATE).iter().filter_map(|state| state.to_str().ok());
    let told = TraceHeaders { parent, state: states.collect::<Vec<_>>().join(",") };
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &told);
    Some(context.span().span_context().clone()).filter(SpanContext::is_valid)
}

const TRACE_PARENT: &str = "traceparent";
const TRACE_STATE: &str = "tracestate";

/// The headers of a trace context. A list that came in several headers is one.
struct TraceHeaders<'a> {
    parent: &'a str,
    state: String,
}

impl Extractor for TraceHeaders<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            TRACE_PARENT => Some(self.parent),
            TRACE_STATE => Some(&self.state),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACE_PARENT, TRACE_STATE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;

    #[tokio::test]
    async fn a_panic_becomes_a_problem_without_its_message() {
        let words = "hunter2";
        let boom: [Pin<Box<dyn Future<Output = Response>>>; 2] =
            [Box::pin(async { panic!("hunter2") }), Box::pin(async move { panic!("{words}") })];
        for run in boom {
            let response = caught(run).await;
            assert_eq!(response.status(), 500);
            let problem = response.extensions().get::<Problem>().unwrap();
            assert!(!error::envelope(&problem.0, "r").to_string().contains(words));
        }
    }

    #[test]
    fn a_traceparent_is_taken_over_when_it_is_well_formed() {
        let span = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", HeaderValue::from_static(text));
            headers.append("tracestate", HeaderValue::from_static("vendor=1"));
            headers.append("tracestate", HeaderValue::from_static("other=2, third=3"));
            caller(&headers)
        };
        let parse = |text| span(text).map(|caller| caller.trace_id().to_string());
        let whole = span("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
        for (tracer, says) in [("vendor", "1"), ("other", "2"), ("third", "3")] {
            assert_eq!(whole.trace_state().get(tracer), Some(says), "what other tracers say goes on");
        }
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").as_deref(), Some(trace));
        assert_eq!(parse("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later").as_deref(), Some(trace));
        for broken in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "0-1-1-1",
            "00-+1-+1-+1",
            "+0-abc-1-1",
            "00-000004bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-000000f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011-later",
        ] {
            assert_eq!(parse(broken), None, "{broken}");
        }
        let mut twice = HeaderMap::new();
        for _ in 0..2 {
            let one = HeaderValue::from_static("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
            twice.append("traceparent", one);
        }
        assert!(caller(&twice).is_none(), "nobody knows which of two counts");
    }

    #[test]
    fn a_request_id_that_could_forge_a_log_line_is_not_taken_over() {
        assert!(is_token("0198c1d2-7a3b") && is_token("a"));
        for bad in ["", "a b", "a\nb", "a\"b", &"a".repeat(65)] {
            assert!(!is_token(bad), "{bad:?}");
        }
    }
}
