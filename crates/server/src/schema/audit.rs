//! The audit.

use serde_json::Value;
use utoipa::ToSchema;

/// An event in its place in the chain.
#[derive(ToSchema)]
#[schema(as = AuditEvent, rename_all = "camelCase")]
pub struct AuditSchema {
    /// Its place, from 1, without gaps.
    pub seq: i64,
    /// When it was written.
    #[schema(format = "date-time")]
    pub at: String,
    /// What was done, `noun.verb`.
    pub action: String,
    /// Who did it.
    pub actor: String,
    /// What it was done to.
    pub subject: String,
    /// The request under which it happened.
    #[schema(required)]
    pub request_id: Option<String>,
    /// What else explains it.
    #[schema(required)]
    pub detail: Option<Value>,
    /// The hash of the event before it.
    pub prev_hash: String,
    /// The keyed hash over this event and the one before it.
    pub hash: String,
    /// What of it this program cannot read, and why; it is empty here. Only there when something is wrong: see `kybern
    /// doctor`.
    pub unreadable: Option<String>,
}

/// An event of an export, as it was listed. Whatever was added to it or written otherwise is found.
#[derive(ToSchema)]
#[schema(as = ExportedAuditEvent, rename_all = "camelCase")]
pub struct ExportedEventSchema {
    /// Its place, from 1, without gaps.
    pub seq: i64,
    /// When it was written.
    #[schema(format = "date-time")]
    pub at: String,
    /// What was done, `noun.verb`.
    pub action: String,
    /// Who did it.
    pub actor: String,
    /// What it was done to.
    pub subject: String,
    /// The request under which it happened.
    pub request_id: Option<String>,
    /// What else explains it.
    pub detail: Value,
    /// The hash of the event before it.
    pub prev_hash: String,
    /// The keyed hash over this event and the one before it.
    pub hash: String,
    /// What of it could not be read when it was listed.
    pub unreadable: Option<String>,
}

/// A page of events.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AuditPage {
    /// The events.
    pub items: Vec<AuditSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// What a chain ends with, signed.
#[derive(ToSchema)]
#[schema(as = AuditHead, rename_all = "camelCase")]
pub struct AuditHeadSchema {
    /// Whose chain it is.
    #[schema(format = "uuid")]
    pub tenant_id: String,
    /// The number of its last event; 0 when there is none.
    pub seq: i64,
    /// The hash of that event.
    pub hash: String,
    /// When it was signed.
    #[schema(format = "date-time")]
    pub at: String,
    /// Keyed BLAKE3 over all of this, in hex.
    pub signature: String,
}

/// What a verification found.
#[derive(ToSchema)]
#[schema(as = AuditReport, rename_all = "camelCase")]
pub struct AuditReportSchema {
    /// Whether the chain is whole.
    pub valid: bool,
    /// The number of its last event.
    pub length: i64,
    /// The number of the last event that was exported and removed; 0 when none was.
    pub removed_to: i64,
    /// What is wrong with it.
    pub faults: Vec<AuditFaultSchema>,
}

/// One fault of the chain.
#[derive(ToSchema)]
#[schema(as = AuditFault)]
pub struct AuditFaultSchema {
    /// Where.
    pub seq: i64,
    /// What.
    pub problem: String,
}

/// What was removed from the beginning of the audit, or would be.
#[derive(ToSchema)]
#[schema(as = AuditPurged, rename_all = "camelCase")]
pub struct AuditPurgedSchema {
    /// Whether it was only counted.
    pub dry_run: bool,
    /// How many events.
    pub count: u64,
}
