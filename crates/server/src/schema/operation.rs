//! Errors and health.

use kybern_core::error::ErrorCode;
use utoipa::ToSchema;

use super::words::AliveSchema;
/// Every error.
#[derive(ToSchema)]
#[schema(as = Error)]
pub struct ErrorSchema {
    /// What went wrong.
    pub error: ErrorBody,
}

/// What went wrong.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase", example = json!({"code": "VALIDATION_ERROR", "message": "maxSteps must be between 1 and 10000",
    "requestId": "0198c1d2-7a3b-7000-8000-000000000001",
    "details": [{"path": "/maxSteps", "message": "maxSteps must be between 1 and 10000"}]}))]
pub struct ErrorBody {
    /// What a program may rely on.
    pub code: ErrorCode,
    /// What a person reads: what failed and what to do.
    pub message: String,
    /// The request, as in the header `X-Request-Id`.
    pub request_id: String,
    /// Faults of the input, or more about the error: at most 100.
    pub details: Vec<ErrorDetail>,
}

/// One fault of the input, or one more fact about the error.
#[derive(ToSchema)]
pub struct ErrorDetail {
    /// JSON pointer into the input, empty for the whole; of a fact, its name.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

/// The process lives.
#[derive(ToSchema)]
#[schema(as = Health, rename_all = "camelCase")]
pub struct HealthSchema {
    /// Always `ok`.
    pub status: AliveSchema,
    /// The version that runs.
    pub version: String,
    /// For how long.
    pub uptime_ms: u64,
}

/// Whether the server can work.
#[derive(ToSchema)]
#[schema(as = Readiness)]
pub struct ReadinessSchema {
    /// Whether everything that is required works.
    pub ready: bool,
    /// Part by part.
    pub checks: Vec<CheckSchema>,
}

/// How a part is: well, not configured, at fault while work goes on, or not working.
#[derive(ToSchema)]
#[schema(as = CheckState, rename_all = "snake_case")]
pub enum CheckStateSchema {
    Ok,
    Off,
    Warning,
    Broken,
}

/// One part.
#[derive(ToSchema)]
#[schema(as = Check)]
pub struct CheckSchema {
    /// Its name.
    pub name: String,
    /// Whether nothing is wrong with it: its state is `ok` or `off`.
    pub ok: bool,
    /// How it is.
    pub state: CheckStateSchema,
    /// Whether the server takes no work while its state is `broken`, and answers 503.
    pub required: bool,
    /// What it says, to a key that may read.
    #[schema(nullable = false)]
    pub message: Option<String>,
    /// More of it that names tenants or settings, to a key of a platform admin.
    #[schema(nullable = false)]
    pub details: Option<Vec<String>>,
}
