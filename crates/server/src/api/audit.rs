//! The audit: what was done, by whom, and whether somebody has edited it since.

use axum::Json;
use kybern_core::actor::Actor;
use kybern_core::audit::{AuditHead, AuditReport, ChainedEvent, Exported};
use kybern_core::id::TenantId;
use kybern_core::time::Timestamp;
use kybern_engine::audit::AuditExport;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::retention::days;
use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, QueryArgs};
use crate::page::{PageParams, Paging};
use crate::schema::audit::{AuditPage, AuditPurgedSchema, ExportedEventSchema};

/// Events of an export that are checked at once.
const MOST_CHECKED: usize = 500;

/// List audit events
///
/// Oldest first, each with its place in the chain.
#[utoipa::path(get, path = "/api/audit", operation_id = "list_audit_events",
    params(PageParams),
    responses((status = 200, description = "A page of events", body = AuditPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let after = paging.after::<i64>()?.unwrap_or(0);
    // One more than asked for tells whether there is a next page.
    let events = state.engine.audit().events(actor.scope(), after, paging.limit + 1).await?;
    paging.begun(events, |event| event.seq.to_string(), |event| event)
}

/// Verify the audit
///
/// Walks the tenant's whole chain and says what was edited, removed, reordered, or cut while its head stayed. With
/// the four values of a head that was signed earlier it also says whether the chain still goes through it.
#[utoipa::path(get, path = "/api/audit/verify", operation_id = "verify_audit",
    params(
        ("seq" = Option<i64>, Query, minimum = 0, description = "Of the signed head"),
        ("hash" = Option<String>, Query, description = "Of the signed head"),
        ("at" = Option<String>, Query, format = "date-time", description = "Of the signed head"),
        ("signature" = Option<String>, Query, description = "Of the signed head"),
    ),
    responses((status = 200, description = "What was found", body = AuditReport)))]
pub(crate) async fn verify(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let query = query.only(&["seq", "hash", "at", "signature"])?;
    let report = match signed(&query, &actor)? {
        Some(head) => state.engine.audit().verify_against(actor.scope(), &head).await?,
        None => state.engine.audit().verify(actor.scope()).await?,
    };
    Ok(Json(shown(&report)?))
}

/// Sign the head of the audit
///
/// What the tenant's chain ends with now, signed under a key that is derived from the master key. Keep it where nobody
/// who can write the database can write: held against it later, `verify` finds what was changed up to there, even by
/// somebody who made the whole chain anew.
#[utoipa::path(get, path = "/api/audit/head", operation_id = "sign_audit_head",
    responses((status = 200, description = "The signed head", body = AuditHead)))]
pub(crate) async fn head(CallerRequest { state, actor, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    Ok(Json(shown(&state.engine.audit().head(actor.scope()).await?)?))
}

/// Events of an export.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = AuditExportPart, example = json!({"events": [{"seq": 1, "at": "2026-09-01T08:00:00.000Z",
    "action": "tenant.create", "actor": "system", "subject": "tenant:0198c1d2-7a3b-7000-8000-000000000001",
    "requestId": null, "detail": {},
    "prevHash": "0000000000000000000000000000000000000000000000000000000000000000",
    "hash": "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"}]}))]
pub(crate) struct CheckBody {
    /// As they were listed, in order: at most 500, and without a head at least 1.
    #[schema(value_type = Vec<ExportedEventSchema>, max_items = 500)]
    events: Vec<Exported<ChainedEvent>>,
    /// The signed head that the export ends with.
    #[schema(value_type = Option<AuditHead>)]
    head: Option<Exported<AuditHead>>,
}

/// Check events of an export
///
/// Says whether each is exactly as it was written, with nothing added, and follows the one before it; and whether the
/// head was signed by this server. What comes before the first event is taken as that one says.
#[utoipa::path(post, path = "/api/audit/check", operation_id = "check_audit_export",
    request_body = CheckBody,
    responses((status = 200, description = "What was found", body = AuditReport)))]
pub(crate) async fn check(
    CallerRequest { state, actor, .. }: CallerRequest,
    body: JsonBody<CheckBody>,
) -> ApiResult<Json<Value>> {
    let CheckBody { events, head } = body.value;
    if (events.is_empty() && head.is_none()) || events.len() > MOST_CHECKED {
        return Err(Problem::invalid("/events", format!("send 1 to {MOST_CHECKED} events")));
    }
    Ok(Json(shown(&state.engine.audit().check_export(actor.scope(), &events, head.as_ref()))?))
}

/// What is to be removed from the beginning of the audit.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = PurgeAudit, example = json!({"olderThanDays": 400, "from": 1, "dryRun": true, "head": {
    "tenantId": "0198c1d2-7a3b-7000-8000-000000000001", "seq": 4000, "at": "2026-09-01T08:00:00.000Z",
    "hash": "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "signature": "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"}}))]
pub(crate) struct PurgeBody {
    /// Only what is older than so many days.
    #[serde(alias = "older_than_days")]
    #[schema(minimum = 7, maximum = 36500)]
    older_than_days: u32,
    /// The number of the first event that was exported.
    #[schema(minimum = 1)]
    from: i64,
    /// The signed head with which the export ends.
    head: HeadBody,
    /// Only count it.
    #[serde(default, alias = "dry_run")]
    dry_run: bool,
}

/// A signed head, with nothing beside it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = PurgeAuditHead)]
pub(crate) struct HeadBody {
    /// Whose chain it is.
    #[serde(alias = "tenant_id")]
    tenant_id: TenantId,
    /// The number of its last event; 0 when there is none.
    seq: i64,
    /// The hash of that event.
    hash: String,
    /// When it was signed.
    at: Timestamp,
    /// Keyed BLAKE3 over all of this, in hex.
    signature: String,
}

impl From<HeadBody> for AuditHead {
    fn from(body: HeadBody) -> Self {
        let HeadBody { tenant_id, seq, hash, at, signature } = body;
        Self { tenant_id, seq, hash, at, signature }
    }
}

/// Remove the beginning of the audit
///
/// After it was exported: events up to the signed head of the export that are older than so many days, than every task
/// that is open or on hold, and than the current month. The chain begins after them and still verifies; an event says
/// who removed how many.
#[utoipa::path(post, path = "/api/audit/purge", operation_id = "purge_audit",
    request_body = PurgeBody,
    responses((status = 200, description = "What was removed", body = AuditPurgedSchema)))]
pub(crate) async fn purge(
    CallerRequest { state, actor, .. }: CallerRequest,
    body: JsonBody<PurgeBody>,
) -> ApiResult<Json<Value>> {
    let PurgeBody { older_than_days, from, head, dry_run } = body.value;
    if from < 1 {
        return Err(Problem::invalid("/from", "must be 1 or more"));
    }
    let export = AuditExport { from, head: head.into() };
    let count = state.engine.audit().purge(&actor, &export, days(older_than_days), dry_run).await?;
    Ok(Json(json!({"dryRun": dry_run, "count": count})))
}

/// The head that the caller kept, of its own tenant.
fn signed(query: &QueryArgs, actor: &Actor) -> ApiResult<Option<AuditHead>> {
    let seq = query.number("seq", 0..=i64::MAX.unsigned_abs())?;
    let given = ["hash", "at", "signature"].map(|name| query.get(name));
    let (Some(seq), [Some(hash), Some(at), Some(signature)]) = (seq, given) else {
        if seq.is_some() || given.iter().any(Option::is_some) {
            return Err(Problem::invalid("", "a signed head has seq, hash, at and signature: send all four, or none"));
        }
        return Ok(None);
    };
    let kept = json!({"tenantId": actor.tenant(), "seq": seq, "hash": hash, "at": at,
        "signature": signature});
    let unreadable = |error: serde_json::Error| Problem::invalid("/at", format!("the signed head: {error}"));
    serde_json::from_value(kept).map(Some).map_err(unreadable)
}
