//! Secrets, sealed, and the data key of each tenant.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::ports::SecretStore;
use kybern_core::secret::{MAX_SECRETS, SealedSecret, Secret, SecretName};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;

#[async_trait]
impl SecretStore for MemStore {
    async fn secrets(&self, scope: TenantScope) -> Result<Vec<Secret>> {
        self.run("secrets", |state| {
            let own = state.secrets.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            Ok(own.map(|(_, (secret, _))| secret.clone()).collect())
        })
        .await
    }

    async fn sealed_secret(&self, scope: TenantScope, name: &SecretName) -> Result<Option<SealedSecret>> {
        self.run("sealed_secret", |state| {
            let found = state.secrets.get(&(scope.tenant(), name.clone()));
            let data_key = state.data_keys.get(&scope.tenant()).cloned().unwrap_or_default();
            Ok(found.map(|(secret, sealed)| SealedSecret { secret: secret.clone(), sealed: sealed.clone(), data_key }))
        })
        .await
    }

    async fn data_key(&self, scope: TenantScope) -> Result<Option<Vec<u8>>> {
        self.run("data_key", |state| Ok(state.data_keys.get(&scope.tenant()).cloned())).await
    }

    async fn put_secret(&self, scope: TenantScope, new: &SealedSecret, audit: AuditEvent) -> Result<bool> {
        self.run("put_secret", |state| {
            let tenant = scope.tenant();
            let place = (tenant, new.secret.name.clone());
            let known = state.secrets.get(&place).map(|(secret, _)| (secret.version, secret.created_at));
            let other_key = state.data_keys.get(&tenant).is_some_and(|key| *key != new.data_key);
            if other_key || known.map_or(0, |(version, _)| version) + 1 != new.secret.version {
                return Ok(false);
            }
            let count = state.secrets.keys().filter(|(of, _)| *of == tenant).count();
            if known.is_none() && count >= MAX_SECRETS as usize {
                let message = format!("a tenant has at most {MAX_SECRETS} secrets, delete one that is not used");
                return Err(Error::new(ErrorCode::Unprocessable, message));
            }
            let mut secret = new.secret.clone();
            secret.created_at = known.map_or(secret.created_at, |(_, created)| created);
            state.data_keys.insert(tenant, new.data_key.clone());
            state.secrets.insert(place, (secret, new.sealed.clone()));
            state.append_audit(tenant, new.secret.updated_at, audit);
            Ok(true)
        })
        .await
    }

    async fn delete_secret(
        &self,
        scope: TenantScope,
        name: &SecretName,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<bool> {
        self.run("delete_secret", |state| {
            let tenant = scope.tenant();
            let there = state.secrets.remove(&(tenant, name.clone())).is_some();
            if there {
                if state.secrets.keys().all(|(of, _)| *of != tenant) {
                    state.data_keys.remove(&tenant);
                }
                state.append_audit(tenant, at, audit);
            }
            Ok(there)
        })
        .await
    }
}
