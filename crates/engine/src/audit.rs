//! The audit chain: reading it and proving it.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::{self, AuditEvent, AuditHead, AuditReport, ChainedEvent, Exported, GENESIS, PURGED};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::ports::{AuditStore, Clock, Keys};
use kybern_core::retention::Purge;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;

use crate::retention::Removal;

/// Events that one transaction removes.
const BATCH: u32 = 500;

/// What an admin has exported.
#[derive(Clone, Debug)]
pub struct AuditExport {
    /// The number of its first event.
    pub from: i64,
    /// The signed head that it ends with.
    pub head: AuditHead,
}

/// The audit trails of tenants: read, proved, exported, and cut at their beginning.
#[derive(Clone)]
pub struct AuditTrail {
    pub(crate) store: Arc<dyn AuditStore>,
    pub(crate) removal: Removal,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl AuditTrail {
    /// Audit events after `after`, in order.
    pub async fn events(&self, scope: TenantScope, after: i64, limit: u32) -> Result<Vec<ChainedEvent>> {
        self.store.audit_events(scope, after, limit).await
    }

    /// What the tenant's chain ends with now, signed, to be kept somewhere else.
    pub async fn head(&self, scope: TenantScope) -> Result<AuditHead> {
        let head = self.store.audit_head(scope).await?.unwrap_or_else(|| (0, GENESIS.to_owned()));
        let key = self.keys.audit_key(scope.tenant());
        Ok(key.sign_head(scope.tenant(), head, self.clock.now()))
    }

    /// Walks the tenant's whole chain, and holds it against a head that was signed earlier.
    pub async fn verify_against(&self, scope: TenantScope, head: &AuditHead) -> Result<AuditReport> {
        let mut report = self.verify(scope).await?;
        let key = self.keys.audit_key(scope.tenant());
        let fault = audit::hold_against(self.store.as_ref(), scope, key, head).await?;
        report.faults.extend(fault);
        report.valid = report.faults.is_empty();
        Ok(report)
    }

    /// Walks the tenant's whole chain.
    pub async fn verify(&self, scope: TenantScope) -> Result<AuditReport> {
        audit::verify(self.store.as_ref(), scope, self.keys.audit_key(scope.tenant())).await
    }

    /// Checks events of an export as they follow each other, each with its content, and the head that it ends with.
    #[must_use]
    pub fn check_export(
        &self,
        scope: TenantScope,
        events: &[Exported<ChainedEvent>],
        head: Option<&Exported<AuditHead>>,
    ) -> AuditReport {
        audit::check_export(self.keys.audit_key(scope.tenant()), scope.tenant(), events, head)
    }

    /// Removes the events that are older than `age` from the beginning of the caller's chain, as far as they stand in an
    /// export, and answers how many. What is as young as a task that is open or on hold stays, and so does what belongs
    /// to the current month. Whoever stops waiting for it stops it after the transaction that runs; the rest goes with
    /// the next removal.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` when `age` is out of its range; `CONFLICT` when the export's head was not signed here, when
    /// everything of the tenant is on hold, when the chain is not whole, or when it does not go through the export.
    pub async fn purge(&self, actor: &Actor, export: &AuditExport, age: Millis, dry_run: bool) -> Result<u64> {
        let scope = actor.scope();
        let now = self.clock.now();
        let before = crate::retention::before(now, age)?.min(Purge::billed_since(now));
        self.removal.not_on_hold(scope.tenant()).await?;
        let conflict = |problem: String| Error::new(ErrorCode::Conflict, format!("nothing is removed: {problem}"));
        let key = self.keys.audit_key(scope.tenant());
        if export.head.tenant_id != scope.tenant() || !key.has_signed(&export.head) {
            return Err(conflict("the export's head was not signed for this organisation by this server".to_owned()));
        }
        let start = self.store.audit_start(scope).await?;
        if export.from > start.seq + 1 {
            let (first, last) = (start.seq + 1, export.from - 1);
            return Err(conflict(format!("the events {first} to {last} are not in the export, make a new one")));
        }
        let report = self.verify_against(scope, &export.head).await?;
        if let Some(fault) = report.faults.first() {
            let problem = &fault.problem;
            return Err(conflict(format!("the audit trail is not whole, event {}: {problem}", fault.seq)));
        }
        let to = self.store.audit_purgeable(scope, export.head.seq, before).await?;
        let count = to.as_ref().map_or(0, |to| to.seq - start.seq);
        if dry_run {
            return Ok(u64::try_from(count).unwrap_or(0));
        }
        if let Some(to) = to {
            let detail = to.detail(count, before);
            let event = AuditEvent::by(actor, PURGED, format!("tenant:{}", scope.tenant()), detail);
            if !self.store.purge_audit(scope, &start, &to, now, event).await? {
                return Err(conflict("somebody else has just removed some, try again".to_owned()));
            }
        }
        // Also what a removal that broke off has left.
        while self.store.drop_purged_audit(scope, BATCH).await? > 0 {}
        Ok(u64::try_from(count).unwrap_or(0))
    }
}
