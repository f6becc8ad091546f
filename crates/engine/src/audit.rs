//! The audit chain: reading it and proving it.

use kybern_core::audit::{ChainFault, ChainVerifier, ChainedEvent};
use kybern_core::error::Result;
use kybern_core::tenant::TenantScope;
use serde::Serialize;

use crate::Engine;

/// Events that are read at once.
const PAGE: u32 = 500;

/// What a walk over the chain found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditReport {
    /// Whether nothing was edited, removed, reordered or cut.
    pub valid: bool,
    /// How many events there are.
    pub length: i64,
    /// What is wrong.
    pub faults: Vec<ChainFault>,
}

impl Engine {
    /// Audit events after `after`, in order.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn audit_events(&self, scope: TenantScope, after: i64, limit: u32) -> Result<Vec<ChainedEvent>> {
        self.inner.store.audit_events(scope, after, limit).await
    }

    /// Walks the tenant's whole chain.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn verify_audit(&self, scope: TenantScope) -> Result<AuditReport> {
        // The head is read first: events that come while the chain is walked lie beyond it and are left out.
        let head = self.inner.store.audit_head(scope).await?;
        let last = head.as_ref().map_or(0, |(seq, _)| *seq);
        let mut verifier = ChainVerifier::new(self.inner.keys.audit_key(scope.tenant()));
        let mut after = 0;
        loop {
            let events = self.inner.store.audit_events(scope, after, PAGE).await?;
            for event in events.iter().filter(|event| event.seq <= last || head.is_none()) {
                verifier.push(event);
            }
            match events.last() {
                Some(event) if event.seq < last => after = event.seq,
                Some(_) | None => break,
            }
        }
        let (length, faults) = verifier.finish(head);
        Ok(AuditReport { valid: faults.is_empty(), length, faults })
    }
}
