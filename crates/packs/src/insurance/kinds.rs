//! The kinds of records that this pack keeps.

use kybern_core::record::RecordKind;
use serde_json::{Value, json};

/// A piece of business with one company: new, or a renewal.
pub(super) const DEAL: &str = "insurance.deal";

/// A policy as documents describe it.
pub(super) const POLICY: &str = "insurance.policy";

/// What one insurer is asked for within one deal.
pub(super) const LOSS_RUN_REQUEST: &str = "insurance.loss_run_request";

/// Companies, kept by another pack: shared by kind and id only.
pub(super) const ENTITY: &str = "network.entity";

/// The ways into business.
pub(super) const PIPELINES: [&str; 2] = ["new_business", "renewal"];

/// The stages of a deal; the last two close it.
pub(super) const STAGES: [&str; 4] = ["new", "in_progress", "won", "lost"];

/// Whether a deal in that stage is over.
pub(super) fn is_closed(stage: &str) -> bool {
    matches!(stage, "won" | "lost")
}

/// The states of a loss-run request: only a draft is still added to, `received` means that loss runs of some of its
/// policies have come, and `closed` that those of all have.
pub(super) const REQUEST_STATES: [&str; 4] = ["draft", "requested", "received", "closed"];

/// Every kind with its schema.
pub(super) fn all() -> [RecordKind; 3] {
    let text = json!({"type": ["string", "null"]});
    let texts = json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true});
    let date = json!({"type": ["string", "null"], "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"});
    [
        kind(
            DEAL,
            "A piece of business with one company: new business or a renewal",
            &["entity_id", "pipeline_type", "stage", "coverage_types"],
            json!({"stage": {"enum": STAGES}, "coverage_types": texts, "effective_date": date}),
            json!({
                "entity_id": {"type": "string"},
                "entity_name": text,
                "pipeline_type": {"enum": PIPELINES},
                "stage": {"enum": STAGES},
                "coverage_types": texts,
                "effective_date": date,
                "source_task": text,
                "assigned_agent": {"type": ["object", "null"]}
            }),
        ),
        kind(
            POLICY,
            "A policy as documents describe it",
            &["policy_number", "entity_id", "lines"],
            json!({"lines": texts, "effective": date, "expiration": date, "premium_nanos": {"type": "integer"}}),
            json!({
                "policy_number": {"type": "string"},
                "insurer": text,
                "naic": text,
                "lines": texts,
                "effective": date,
                "expiration": date,
                "premium_nanos": {"type": ["integer", "null"]},
                "entity_id": {"type": "string"},
                "source": {"type": ["object", "null"]}
            }),
        ),
        kind(
            LOSS_RUN_REQUEST,
            "What one insurer is asked for within one deal",
            &["deal_id", "insurer", "status", "policy_numbers", "lines", "entity_id"],
            // What was sent is not to become a draft again, which would be sent a second time.
            json!({"status": {"enum": ["closed"]}, "to": text, "subject": text, "body": text}),
            json!({
                "deal_id": {"type": "string"},
                "entity_id": {"type": "string"},
                "insurer": {"type": "string"},
                "naic": text,
                "insurer_entity_id": text,
                "status": {"enum": REQUEST_STATES},
                "policy_numbers": texts,
                "lines": texts,
                "source_documents": {"type": "array", "items": {"type": "object"}},
                "attachments": {"type": "array", "items": {"type": "object"}},
                "attachments_left_out": {"type": "array", "items": {"type": "object"}},
                "to": text,
                "subject": text,
                "body": text,
                "sent_to": text,
                "message_ids": texts,
                "chased_by": text,
                "loss_runs": {"type": "array", "items": {"type": "object"}},
                "correspondence": {"type": "array", "items": {"type": "object"}}
            }),
        ),
    ]
}

fn kind(key: &str, description: &str, required: &[&str], by_hand: Value, properties: Value) -> RecordKind {
    RecordKind {
        key: key.to_owned(),
        description: description.to_owned(),
        schema: json!({
            "type": "object",
            "required": required,
            "properties": properties,
            "additionalProperties": false
        }),
        by_hand,
    }
}
