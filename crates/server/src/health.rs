//! Is it alive, and can it work?

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kybern_core::actor::Right;
use kybern_engine::readiness::{Check, Readiness};
use serde_json::{Value, json};

use crate::auth;
use crate::request::RequestInfo;
use crate::schema::operation::{HealthSchema, ReadinessSchema};
use crate::state::AppState;

/// How long the database may take to say that it is there: less than probes usually wait for an answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Alive
///
/// Answers as long as the process does. Asks nothing of the database.
#[utoipa::path(get, path = "/healthz", operation_id = "show_health", responses(
    (status = 200, description = "Alive", body = HealthSchema),
))]
pub(crate) async fn alive(State(state): State<AppState>) -> Json<Value> {
    let up = state.engine.clock().now().since(state.started_at);
    Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "uptimeMs": up}))
}

/// Ready
///
/// Each part is named. 503 when a part fails without which no work is taken: the database, its migrations, the disk,
/// the worker. What is known of each part is told to a key that may read, and what names tenants to a platform admin's.
/// Looked at once a second at most, however often it is asked for.
#[utoipa::path(get, path = "/readyz", operation_id = "show_readiness", responses(
    (status = 200, description = "Everything that is required works", body = ReadinessSchema),
    (status = 503, description = "Something that is required does not work", body = ReadinessSchema),
))]
pub(crate) async fn ready(State(state): State<AppState>, headers: HeaderMap, asked: RequestInfo) -> Response {
    // Without a database nobody can be told apart, and the names say enough.
    let reader = auth::reader(&state, &headers, &asked).await.unwrap_or_default();
    let told = match reader {
        None => HealthDetail::Names,
        Some(actor) if actor.may(Right::Platform) => HealthDetail::Details,
        Some(_) => HealthDetail::Messages,
    };
    let (ready, checks) = checks(&state, told).await;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({"ready": ready, "checks": checks}))).into_response()
}

/// How much of each part is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthDetail {
    /// What it is called, and how it is.
    Names,
    /// Also what is known of it.
    Messages,
    /// Everything.
    Details,
}

/// The checks on the wire, and whether all that are required hold.
pub(crate) async fn checks(state: &AppState, told: HealthDetail) -> (bool, Vec<Value>) {
    let look =
        async { Ok(tokio::time::timeout(PATIENCE, state.engine.health().readiness()).await.unwrap_or_else(silent)) };
    let readiness: Result<Arc<Readiness>, Infallible> = state.readiness.get(look).await;
    let readiness = match readiness {
        Ok(readiness) => readiness,
        Err(never) => match never {},
    };
    let shown = |check: &Check| match told {
        HealthDetail::Details => json!(check),
        HealthDetail::Messages => json!(Check { details: Vec::new(), ..check.clone() }),
        HealthDetail::Names => {
            json!({"name": check.name, "ok": check.ok, "state": check.state, "required": check.required})
        }
    };
    (readiness.is_ready(), readiness.checks.iter().map(shown).collect())
}

/// What is known when the database does not answer.
fn silent(_: tokio::time::error::Elapsed) -> Readiness {
    let message = format!("does not answer within {} s", PATIENCE.as_secs());
    Readiness { checks: vec![Check::required("database", false, message)] }
}
