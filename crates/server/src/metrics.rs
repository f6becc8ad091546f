//! What Prometheus scrapes.

mod figures;

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kybern_core::time::Millis;
use kybern_engine::meter::Meter;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use self::figures::FiguresCollector;
use crate::auth;
use crate::error::{ApiResult, Problem};
use crate::request::RequestInfo;
use crate::schema::operation::ErrorSchema;
use crate::state::AppState;

/// Seconds: from a cached read to the longest wait that a caller may ask for.
const BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 60.0];

/// What everybody is told.
const UP: &str = "# HELP kybern_up Whether the server answers.\n# TYPE kybern_up gauge\nkybern_up 1\n# EOF\n";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    method: &'static str,
    route: String,
}

/// The numbers of this process.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<AnswerLabels, Counter>,
    latency: Family<RouteLabel, Histogram>,
    figures: Arc<FiguresCollector>,
    streams: Gauge<i64, AtomicI64>,
}

impl Metrics {
    pub(crate) fn new(meter: Arc<Meter>) -> Self {
        let mut registry = Registry::with_prefix("kybern");
        let requests = Family::<AnswerLabels, Counter>::default();
        let latency = Family::<RouteLabel, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS));
        let figures = Arc::new(FiguresCollector::of(meter));
        let streams = Gauge::<i64, AtomicI64>::default();
        registry.register("http_requests", "Requests that were answered", requests.clone());
        let help = "Time until an answer's headers";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, latency.clone());
        registry.register_collector(Box::new(Arc::clone(&figures)));
        registry.register("event_streams", "Event streams that are open", streams.clone());
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "What is running", build);
        Self { registry, requests, latency, figures, streams }
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, asked: &RequestInfo, status: StatusCode, took: Millis) {
        let (method, route) = (method_name(&asked.method), asked.route.clone());
        self.requests.get_or_create(&AnswerLabels { method, route: route.clone(), status: status.as_u16() }).inc();
        self.latency.get_or_create(&RouteLabel { method, route }).observe(took.as_duration().as_secs_f64());
    }
}

/// The methods that have a name; a caller's own would make a new series each.
fn method_name(method: &Method) -> &'static str {
    const NAMES: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    NAMES.into_iter().find(|name| *name == method.as_str()).unwrap_or("OTHER")
}

/// Numbers for Prometheus
///
/// Requests by route, method and status with their latency; tasks by status, and how old they were when they ended;
/// questions to models with what they took and cost; approvals, messages and jobs that are open, and how long
/// the oldest work of each kind has waited; slots, the disk, the
/// build. In the OpenMetrics text format. Without a key that may read only `kybern_up` is shown, unless `server.public_metrics` opens the rest.
#[utoipa::path(get, path = "/metrics", operation_id = "show_metrics", responses(
    (status = 200, description = "The numbers", body = String, content_type = "application/openmetrics-text"),
    (status = 503, description = "The database does not answer, so neither the numbers nor the key can be looked up",
        body = ErrorSchema),
))]
pub(crate) async fn show(State(state): State<AppState>, headers: HeaderMap, asked: RequestInfo) -> ApiResult {
    if !state.limits.public_metrics && auth::reader(&state, &headers, &asked).await?.is_none() {
        return Ok(answer(UP.to_owned()));
    }
    state.metrics.figures.show(state.figures.get(state.engine.health().figures()).await?);
    state.metrics.streams.set(i64::from(state.streams.count()));
    let mut text = String::new();
    encode(&mut text, &state.metrics.registry).map_err(|error| Problem::internal(error.to_string()))?;
    Ok(answer(text))
}

fn answer(text: String) -> Response {
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_up_method_makes_no_series() {
        assert_eq!(method_name(&Method::from_bytes(b"BREW").unwrap()), "OTHER");
        assert_eq!(method_name(&Method::PATCH), "PATCH");
    }
}
