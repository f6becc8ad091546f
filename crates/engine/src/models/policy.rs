//! Which providers a tenant allows, remembered for a moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Detail, Error, Result};
use kybern_core::id::TenantId;
use kybern_core::model::ModelPolicy;
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use serde_json::json;

use super::service::{BUILT_IN, ModelService, ServiceParts};

/// How long another process may go on by what it remembers.
const REMEMBERED: Millis = Millis::from_secs(5);
/// Tenants that are remembered at once.
const MOST: usize = 10_000;

/// What is remembered.
#[derive(Default)]
pub(crate) struct Policies(Mutex<PolicyCache>);

#[derive(Default)]
struct PolicyCache {
    /// Counts the changes: what was read before one is not remembered after it.
    changes: u64,
    tenants: HashMap<TenantId, (Timestamp, Arc<ModelPolicy>)>,
}

impl Policies {
    fn remembered(&self) -> MutexGuard<'_, PolicyCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, tenant: TenantId) {
        let mut remembered = self.remembered();
        remembered.changes += 1;
        remembered.tenants.remove(&tenant);
    }

    fn remember(&self, tenant: TenantId, changes: u64, at: Timestamp, policy: &Arc<ModelPolicy>) {
        let mut remembered = self.remembered();
        if remembered.changes != changes {
            return;
        }
        if remembered.tenants.len() >= MOST {
            remembered.tenants.clear();
        }
        remembered.tenants.insert(tenant, (at, Arc::clone(policy)));
    }
}

impl ServiceParts {
    /// The tenant's policy. A change is known at once to the process that makes it, and to others within five seconds.
    pub(crate) async fn policy(&self, scope: TenantScope) -> Result<Arc<ModelPolicy>> {
        let (tenant, now) = (scope.tenant(), self.clock.now());
        let changes = {
            let remembered = self.policies.remembered();
            if let Some((at, policy)) = remembered.tenants.get(&tenant)
                && now.since(*at) < REMEMBERED
                && *at <= now
            {
                return Ok(Arc::clone(policy));
            }
            remembered.changes
        };
        let policy = Arc::new(self.store.model_policy(scope).await?);
        self.policies.remember(tenant, changes, now, &policy);
        Ok(policy)
    }
}

/// Whether a policy lets words go to that provider. What is built in is no provider: nothing leaves the process.
pub(crate) fn allows(policy: &ModelPolicy, provider: &str) -> bool {
    provider == BUILT_IN || policy.allows(provider)
}

impl ModelService {
    /// Which providers the tenant allows.
    pub async fn policy(&self, scope: TenantScope) -> Result<ModelPolicy> {
        self.inner.store.model_policy(scope).await
    }

    /// Sets which providers the actor's tenant allows. It holds from the next call on.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` for a provider that is not configured.
    pub async fn set_policy(&self, actor: &Actor, mut policy: ModelPolicy) -> Result<ModelPolicy> {
        let known = self.configured();
        if let Some(providers) = &mut policy.providers {
            let unknown = |(n, name): (usize, &String)| {
                let message = match known.as_slice() {
                    [] => format!(
                        "no provider {name:?} is configured, nor any other: add [providers.{name}] to the server's \
                         settings, or its key to the environment, and start the server again"
                    ),
                    known => format!("no provider {name:?} is configured; these are: {}", known.join(", ")),
                };
                (!known.contains(name)).then(|| Detail::new(format!("/providers/{n}"), message))
            };
            let faults: Vec<Detail> = providers.iter().enumerate().filter_map(unknown).collect();
            if let Some(first) = faults.first() {
                return Err(Error::invalid(first.path.clone(), first.message.clone()));
            }
            providers.sort_unstable();
            providers.dedup();
        }
        let audit = AuditEvent::by(actor, "models.policy", "models:policy", json!({"providers": policy.providers}));
        let at = self.inner.clock.now();
        let stored = self.inner.store.put_model_policy(actor.scope(), &policy, at, audit).await;
        // Also when it failed: whether it was written nobody knows.
        self.inner.policies.forget(actor.scope().tenant());
        stored.map(|()| policy)
    }

    /// The names of the configured providers that a policy may name.
    #[must_use]
    pub fn configured(&self) -> Vec<String> {
        self.inner.registry.names().filter(|name| *name != BUILT_IN).map(str::to_owned).collect()
    }
}
