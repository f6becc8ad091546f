//! Is it alive, and can it work?

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::schema::operation::{HealthSchema, ReadinessSchema};
use crate::state::AppState;

/// Alive
///
/// Answers as long as the process does. Asks nothing of the database.
#[utoipa::path(get, path = "/healthz", operation_id = "show_health", tag = "operation", responses(
    (status = 200, description = "Alive", body = HealthSchema),
))]
pub(crate) async fn alive(State(state): State<AppState>) -> Json<Value> {
    let up = state.engine.clock().now().since(state.started_at);
    Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "uptimeMs": up}))
}

/// Ready
///
/// Each part is named with what is wrong with it. 503 only when a part fails without which nothing works: the
/// database and its migrations.
#[utoipa::path(get, path = "/readyz", operation_id = "show_readiness", tag = "operation", responses(
    (status = 200, description = "Everything that is required works", body = ReadinessSchema),
    (status = 503, description = "Something that is required does not work", body = ReadinessSchema),
))]
pub(crate) async fn ready(State(state): State<AppState>) -> Response {
    let (ready, checks) = checks(&state).await;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({"ready": ready, "checks": checks}))).into_response()
}

/// The checks on the wire, and whether all that are required hold.
pub(crate) async fn checks(state: &AppState) -> (bool, Vec<Value>) {
    let readiness = state.engine.readiness().await;
    (readiness.is_ready(), readiness.checks.iter().map(|check| json!(check)).collect())
}
