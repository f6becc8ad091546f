//! What users want to be answered like.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::UserId;
use kybern_core::ports::PreferenceStore;
use kybern_core::preference::Preferences;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;

#[async_trait]
impl PreferenceStore for MemStore {
    async fn preferences(&self, scope: TenantScope, user: UserId) -> Result<Arc<Preferences>> {
        self.run("preferences", |state| {
            Ok(Arc::new(state.preferences.get(&(scope.tenant(), user)).cloned().unwrap_or_default()))
        })
        .await
    }

    async fn set_preferences(
        &self,
        scope: TenantScope,
        user: UserId,
        preferences: Option<&Preferences>,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run("set_preferences", |state| {
            let place = (scope.tenant(), user);
            if !state.users.contains_key(&place) {
                return Err(Error::not_found("user", user));
            }
            match preferences {
                Some(said) => {
                    state.preferences.insert(place, Preferences { updated_at: Some(at), ..said.clone() });
                }
                None => drop(state.preferences.remove(&place)),
            }
            state.append_audit(scope.tenant(), at, audit);
            Ok(())
        })
        .await
    }
}
