//! The audit.

use kybern_core::audit::ChainedEvent;
use serde_json::Value;
use utoipa::ToSchema;

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

/// What was removed from the beginning of the audit, or would be.
#[derive(ToSchema)]
#[schema(as = AuditPurged, rename_all = "camelCase")]
pub struct AuditPurgedSchema {
    /// Whether it was only counted.
    pub dry_run: bool,
    /// How many events.
    pub count: u64,
}

page! {
    /// A page of events.
    pub AuditPage of ChainedEvent: "The events."
}
