//! Which providers each tenant allows.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::model::ModelPolicy;
use kybern_core::ports::ModelPolicyStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use crate::audit;
use crate::db::{Tx, args, statements};
use crate::error::Result;
use crate::store::SqlStore;

statements! {
    GET = part "model_policy" "get";
    PUT = part "model_policy" "put";
}

type PutModelPolicy = (TenantScope, ModelPolicy, Timestamp, AuditEvent);

async fn get(tx: &mut Tx, scope: TenantScope) -> Result<ModelPolicy> {
    let Some(mut row) = tx.fetch_optional(&GET, args![scope]).await? else { return Ok(ModelPolicy::default()) };
    let providers = row.opt_json().unwrap_or_else(|error| {
        tracing::error!(
            tenant.id = %scope.tenant(),
            %error,
            "which providers a tenant allows cannot be read: none is asked until an administrator says it anew"
        );
        Some(Vec::new())
    });
    Ok(ModelPolicy { providers })
}

async fn put(tx: &mut Tx, (scope, policy, at, event): &PutModelPolicy) -> Result<()> {
    let providers = policy.providers.as_ref().map(|providers| json!(providers).to_string());
    tx.execute(&PUT, args![*scope, providers, *at]).await?;
    audit::append(tx, *scope, *at, event).await
}

#[async_trait]
impl<D: 'static> ModelPolicyStore for SqlStore<D> {
    async fn model_policy(&self, scope: TenantScope) -> PortResult<ModelPolicy> {
        Ok(self.read_few(scope, scope, |tx, scope| Box::pin(get(tx, *scope))).await?)
    }

    async fn put_model_policy(
        &self,
        scope: TenantScope,
        policy: &ModelPolicy,
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<()> {
        Ok(self.write(scope, (scope, policy.clone(), at, audit), |tx, args| Box::pin(put(tx, args))).await?)
    }
}
