//! The routes that outside engines know by their older names: a review, and the callback of a delegation.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use bytes::Bytes;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{TaskId, TenantId};
use kybern_core::ports::CallbackOutcome;
use kybern_engine::task::{CallbackProof, CallbackRequest, TaskView};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::task_steer::ReviewBody;
use crate::auth::{self, unauthenticated};
use crate::body::Holder;
use crate::error::ApiResult;
use crate::extract::{self, CallerRequest, JsonBody, PathArgs, check_text};
use crate::schema::task::{CallbackSchema, TaskSchema};
use crate::state::AppState;
use crate::{body, error::Problem};

/// Answer a task that waits for a person
///
/// The same as `POST /api/tasks/{id}/review`.
#[utoipa::path(post, path = "/api/internal/brain/review/{id}", operation_id = "review_task_internal",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    request_body = ReviewBody,
    responses((status = 200, description = "The task", body = TaskSchema)))]
pub(crate) async fn review(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<ReviewBody>,
) -> ApiResult<Json<TaskView>> {
    let id = path.parse("id")?;
    Ok(Json(state.engine.tasks().review(&actor, id, body.value.checked()?).await?))
}

/// How a workflow ended.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = WorkflowCallback, example = json!({"workflowId": "v1:…", "success": true, "data": {"quotes": 3}}))]
pub(crate) struct CallbackBody {
    /// The delegation, as it was named in the dispatch.
    #[serde(alias = "workflow_id")]
    #[schema(max_length = 1_000)]
    workflow_id: String,
    /// Whether it succeeded.
    success: bool,
    /// Why not.
    #[schema(max_length = 10_000)]
    error: Option<String>,
    /// Its result: any JSON.
    data: Option<Value>,
}

/// End a delegated step
///
/// Proven by the delegation's own secret in `X-Callback-Secret`, or by a Standard Webhooks signature made with it. The
/// same callback again is 200 and changes nothing; another body is 409; one that comes before the delegation is
/// committed is kept and applied (202); one after the end is recorded (200), and only a retry of a failed task may take
/// it in. A body of more than 1 MiB (`server.max_unproven_body_bytes`) needs `X-Workflow-Id` beside the secret, which
/// is then checked before it is read.
#[utoipa::path(post, path = "/api/internal/brain/callback/{id}", operation_id = "end_delegated_step",
    params(
        ("id" = String, Path, format = "uuid", description = "The task"),
        ("X-Callback-Secret" = Option<String>, Header, description = "The delegation's secret"),
        ("X-Workflow-Id" = Option<String>, Header,
            description = "With the secret: the delegation, so that the body may be larger than 1 MiB"),
        ("webhook-id" = Option<String>, Header, description = "With a signature: the message's id"),
        ("webhook-timestamp" = Option<String>, Header, description = "With a signature: seconds since 1970"),
        ("webhook-signature" = Option<String>, Header, description = "The signature, `v1,BASE64`"),
    ),
    request_body = CallbackBody,
    responses(
        (status = 200, description = "Taken, or known already", body = CallbackSchema),
        (status = 202, description = "Kept until the delegation is committed", body = CallbackSchema),
    ))]
pub(crate) async fn callback(
    State(state): State<AppState>,
    path: PathArgs,
    mut request: Request,
) -> ApiResult<(axum::http::StatusCode, Json<Value>)> {
    let id: TaskId = path.parse("id")?;
    let has_proof = request.headers().contains_key("x-callback-secret") || auth::is_signed(request.headers());
    if !has_proof {
        return Err(unauthenticated("send the delegation's secret as X-Callback-Secret, or sign the body with it"));
    }
    // Whoever proves itself before its body is read may send as much as anybody; the others first send little.
    let limit = match known_beforehand(&state, id, request.headers())? {
        Some(tenant) => {
            request.extensions_mut().insert(Holder::Tenant(tenant));
            state.limits.max_body
        }
        None => state.limits.max_unproven_body(),
    };
    let (parts, raw) = body::read(&state, request, limit).await?;
    extract::expect_json(&parts.headers)?;
    let proof = proof(&parts.headers, &raw)?;
    let callback = checked(extract::object(&raw)?, &raw)?;
    let (status, outcome) = match state.engine.tasks().callback(id, &proof, callback).await? {
        CallbackOutcome::Accepted => (200, "accepted"),
        CallbackOutcome::Kept => (202, "kept"),
        CallbackOutcome::Duplicate => (200, "duplicate"),
        CallbackOutcome::Late => (200, "late"),
        CallbackOutcome::Conflict => {
            let message = "another callback for this delegation came before, with another body; the first one holds";
            return Err(Error::new(ErrorCode::Conflict, message).into());
        }
    };
    let status = axum::http::StatusCode::from_u16(status).unwrap_or(axum::http::StatusCode::OK);
    Ok((status, Json(json!({"taskId": id, "outcome": outcome}))))
}

/// The tenant of the delegation that `X-Workflow-Id` names and `X-Callback-Secret` proves.
///
/// # Errors
/// `UNAUTHENTICATED` when the secret is not that delegation's.
fn known_beforehand(state: &AppState, id: TaskId, headers: &HeaderMap) -> ApiResult<Option<TenantId>> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let (Some(workflow), Some(secret)) = (text("x-workflow-id"), text("x-callback-secret")) else { return Ok(None) };
    Ok(Some(state.engine.tasks().delegation_tenant(id, workflow, secret)?))
}

fn proof(headers: &HeaderMap, raw: &Bytes) -> ApiResult<CallbackProof> {
    if let Some(secret) = headers.get("x-callback-secret") {
        let secret = secret.to_str().map_err(|_| unauthenticated("X-Callback-Secret is not ASCII"))?;
        return Ok(CallbackProof::Secret(secret.trim().to_owned()));
    }
    let signed = auth::signature(headers)?;
    Ok(CallbackProof::Signed {
        id: signed.id.to_owned(),
        timestamp: signed.timestamp.to_owned(),
        signature: signed.signature.to_owned(),
        body: raw.clone(),
    })
}

fn checked(body: CallbackBody, raw: &[u8]) -> ApiResult<CallbackRequest> {
    let mut faults = Vec::new();
    faults.extend(check_text("/workflowId", &body.workflow_id, 1000));
    faults.extend(check_text("/error", body.error.as_deref().unwrap_or_default(), 10_000));
    Problem::refuse(faults)?;
    Ok(CallbackRequest {
        workflow_id: body.workflow_id,
        success: body.success,
        error: body.error,
        data: body.data.unwrap_or_default(),
        body_hash: blake3::hash(raw).to_hex().to_string(),
    })
}
