//! The plans of tenants. Bundled plans live in the program.

use std::sync::Arc;

use async_trait::async_trait;

use super::Page;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::{PlanId, TenantId};
use crate::plan::parse::PlanDraft;
use crate::plan::{Plan, PlanPlace};
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Where plans are kept.
#[async_trait]
pub trait PlanStore: Send + Sync {
    /// Stores the next version of a plan, or the version it names, and makes it the active one of its key.
    ///
    /// # Errors
    /// `CONFLICT` when that version exists; `UNPROCESSABLE` when the tenant has no room for it ([`no_room`](crate::plan::no_room)).
    async fn put_plan(
        &self,
        scope: TenantScope,
        id: PlanId,
        draft: PlanDraft,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Plan>;

    /// The tenant's plans that are in use, by key. The same list as before, by its address, only when nothing has changed.
    async fn plans(&self, scope: TenantScope) -> Result<Arc<Vec<Plan>>>;

    /// The version with an id.
    async fn find_plan(&self, scope: TenantScope, id: PlanId) -> Result<Option<Plan>>;

    /// Every version of the tenant's plans, by key, newest first, behind a place. A page ends at `limit`, or with about
    /// [`MAX_PAGE_BYTES`](super::MAX_PAGE_BYTES); `next` is the place of its last one.
    async fn plan_page(&self, scope: TenantScope, after: PlanPlace, limit: u32) -> Result<Page<Plan>>;

    /// The versions of one plan below `below`, newest first, in pages like those of [`PlanStore::plan_page`].
    async fn plan_versions(&self, scope: TenantScope, key: &str, below: Option<u32>, limit: u32) -> Result<Page<Plan>>;

    /// Takes every version of a plan out of use, or brings the newest back.
    ///
    /// # Errors
    /// `NOT_FOUND` when the tenant has no such plan; `UNPROCESSABLE` when it has no room for it ([`no_room`](crate::plan::no_room)).
    async fn set_plan_active(&self, scope: TenantScope, key: &str, active: bool, audit: AuditEvent) -> Result<()>;

    /// The next few active plans of all tenants behind a tenant and a key, with their tenants, for the check at start;
    /// none at the end.
    async fn active_plans(&self, after: Option<(TenantId, String)>) -> Result<Vec<(TenantScope, Plan)>>;
}
