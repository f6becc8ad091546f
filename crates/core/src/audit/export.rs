//! The events of an export, held against their chain.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{AuditHead, AuditKey, AuditReport, ChainFault, ChainStart, ChainVerifier, ChainedEvent};
use crate::id::TenantId;

/// What stands in an export, and whether nothing stands there beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Exported<T> {
    /// What was read.
    pub value: T,
    /// Whether it would be written exactly so. What would not was added or written otherwise, and no hash covers it.
    pub is_as_written: bool,
}

impl<'de, T: DeserializeOwned + Serialize> Deserialize<'de> for Exported<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        let value: T = serde_json::from_value(given.clone()).map_err(D::Error::custom)?;
        let is_as_written = serde_json::to_value(&value).is_ok_and(|written| written == given);
        Ok(Self { value, is_as_written })
    }
}

/// Checks events of an export as they follow each other, and the head that it ends with. What comes before the first
/// of them is taken as it says.
#[must_use]
pub fn check_export(
    key: AuditKey,
    tenant: TenantId,
    events: &[Exported<ChainedEvent>],
    head: Option<&Exported<AuditHead>>,
) -> AuditReport {
    let first = events.first().map(|first| &first.value);
    let start = first.map(|first| ChainStart { seq: first.seq.saturating_sub(1), hash: first.prev_hash.clone() });
    let start = start.unwrap_or_default();
    let mut verifier = ChainVerifier::after(key, start.clone());
    let fault = |seq: i64, problem: &str| ChainFault { seq, problem: problem.to_owned() };
    let added = "something stands in it that its hash does not cover: added, or written otherwise";
    for Exported { value: event, is_as_written } in events {
        verifier.push(event);
        // A row that could not be read when it was listed has no content to be held against its hash.
        if !is_as_written || event.unreadable.is_some() {
            verifier.faults.push(fault(event.seq, added));
        }
    }
    let (length, mut faults) = (verifier.next_seq.saturating_sub(1), verifier.faults);
    if let Some(Exported { value: head, is_as_written }) = head {
        if head.tenant_id != tenant || !key.has_signed(head) {
            faults.push(fault(head.seq, "the head was not signed for this tenant under this master key"));
        } else if !is_as_written {
            faults.push(fault(head.seq, "something stands in the head that its signature does not cover"));
        }
    }
    AuditReport { valid: faults.is_empty(), length, removed_to: start.seq, faults }
}
