//! Where it is kept which providers each tenant allows.

use async_trait::async_trait;

use crate::audit::AuditEvent;
use crate::error::Result;
use crate::model::ModelPolicy;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Keeps the policy of each tenant.
#[async_trait]
pub trait ModelPolicyStore: Send + Sync {
    /// The tenant's policy; one that allows everything when none was ever set.
    async fn model_policy(&self, scope: TenantScope) -> Result<ModelPolicy>;

    /// Sets the tenant's policy.
    async fn put_model_policy(
        &self,
        scope: TenantScope,
        policy: &ModelPolicy,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<()>;
}
