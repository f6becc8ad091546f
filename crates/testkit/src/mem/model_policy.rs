//! Which providers each tenant allows.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result;
use kybern_core::model::ModelPolicy;
use kybern_core::ports::ModelPolicyStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;

#[async_trait]
impl ModelPolicyStore for MemStore {
    async fn model_policy(&self, scope: TenantScope) -> Result<ModelPolicy> {
        self.run("model_policy", |state| Ok(state.model_policies.get(&scope.tenant()).cloned().unwrap_or_default()))
            .await
    }

    async fn put_model_policy(
        &self,
        scope: TenantScope,
        policy: &ModelPolicy,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run("put_model_policy", |state| {
            state.model_policies.insert(scope.tenant(), policy.clone());
            state.append_audit(scope.tenant(), at, audit);
            Ok(())
        })
        .await
    }
}
