//! The plans of tenants. Bundled plans live in the program.

use std::sync::Arc;

use async_trait::async_trait;

use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::PlanId;
use crate::plan::Plan;
use crate::plan::parse::PlanDraft;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Where plans are kept.
#[async_trait]
pub trait PlanStore: Send + Sync {
    /// Stores the next version of a plan, or the version it names, and makes it the active one of its key.
    ///
    /// # Errors
    /// `CONFLICT` when that version exists.
    async fn put_plan(
        &self,
        scope: TenantScope,
        id: PlanId,
        draft: PlanDraft,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Plan>;

    /// Every version of the tenant's plans, by key, newest version first. The same list as before, by its address,
    /// only when nothing has changed.
    ///
    /// # Errors
    /// When the store fails.
    async fn plans(&self, scope: TenantScope) -> Result<Arc<Vec<Plan>>>;

    /// Every version of one plan, newest first.
    ///
    /// # Errors
    /// When the store fails.
    async fn plan_versions(&self, scope: TenantScope, key: &str) -> Result<Vec<Plan>>;

    /// Takes every version of a plan out of use, or brings the newest back.
    ///
    /// # Errors
    /// `NOT_FOUND` when the tenant has no such plan.
    async fn set_plan_active(&self, scope: TenantScope, key: &str, active: bool, audit: AuditEvent) -> Result<()>;

    /// Every active plan of every tenant with its tenant, for the check at start.
    ///
    /// # Errors
    /// When the store fails.
    async fn all_active_plans(&self) -> Result<Vec<(TenantScope, Plan)>>;
}
