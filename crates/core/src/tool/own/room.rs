//! How much a tenant may have of own tools, and what a store says of what it did.

use super::{MAX_ACTIVE, MAX_ACTIVE_BYTES, MAX_VERSIONS, OwnTool, OwnToolChange, OwnToolStatus};
use crate::audit::AuditEvent;

/// Why a tool that has `versions` of them gets no further one; `None` when it does.
#[must_use]
pub fn no_more_versions(key: &str, versions: u32) -> Option<String> {
    (versions >= MAX_VERSIONS).then(|| {
        format!(
            "tool {key} has {MAX_VERSIONS} versions, as many as are kept: delete it with DELETE /api/tools/{key}, or \
             give the new one another key"
        )
    })
}

/// Why a tool of so many bytes cannot be active beside `others` that have `others_bytes` together; `None` when it can.
#[must_use]
pub fn no_room(others: u64, others_bytes: u64, bytes: u64) -> Option<String> {
    let remedy = "disable one first, with POST /api/tools/{name}/disable";
    if others >= MAX_ACTIVE {
        return Some(format!("a tenant has at most {MAX_ACTIVE} own tools active: {remedy}"));
    }
    let all = others_bytes.saturating_add(bytes);
    (all > MAX_ACTIVE_BYTES).then(|| {
        format!("a tenant's active own tools have at most {MAX_ACTIVE_BYTES} bytes, these would have {all}: {remedy}")
    })
}

impl OwnTool {
    /// The audit event of a draft, with the number that the store has given it.
    #[must_use]
    pub fn numbers(&self, event: &AuditEvent) -> AuditEvent {
        event.clone().telling("version", self.version.into())
    }
}

impl OwnToolChange {
    /// Whether it changes what a call of the tool makes.
    #[must_use]
    pub fn touches_use(&self) -> bool {
        [&self.before, &self.after].iter().any(|version| version.status == OwnToolStatus::Active)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_up_to_the_limits_and_not_beyond() {
        assert_eq!(no_more_versions("crm.ping", MAX_VERSIONS - 1), None);
        assert!(no_more_versions("crm.ping", MAX_VERSIONS).unwrap().contains("DELETE /api/tools/crm.ping"));
        assert_eq!(no_room(MAX_ACTIVE - 1, 0, MAX_ACTIVE_BYTES), None);
        assert!(no_room(MAX_ACTIVE, 0, 1).is_some() && no_room(0, MAX_ACTIVE_BYTES, 1).is_some());
    }
}
