//! What users want to be answered like.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::UserId;
use kybern_core::ports::PreferenceStore;
use kybern_core::preference::Preferences;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use crate::audit;
use crate::db::{Tx, args, statements};
use crate::error::Result;
use crate::identity::must_know;
use crate::store::SqlStore;

statements! {
    GET = part "preference" "get";
    PUT = part "preference" "put";
    DELETE = part "preference" "delete";
}

async fn get(tx: &mut Tx, scope: TenantScope, user: UserId) -> Result<Preferences> {
    let found = tx.fetch_optional(&GET, args![scope, user.as_uuid()]).await?;
    let Some(mut row) = found else { return Ok(Preferences::default()) };
    let said: Preferences = row.json()?;
    Ok(Preferences { updated_at: Some(row.time()?), ..said })
}

/// Preferences to be stored, or to be taken back.
type PutPreferences = (TenantScope, UserId, Option<Preferences>, Timestamp, AuditEvent);

async fn put(tx: &mut Tx, (scope, user, preferences, at, audit): &PutPreferences) -> Result<()> {
    must_know(tx, *scope, *user).await?;
    match preferences {
        Some(said) => tx.execute(&PUT, args![*scope, user.as_uuid(), json!(said).to_string(), *at]).await?,
        None => tx.execute(&DELETE, args![*scope, user.as_uuid()]).await?,
    };
    tx.outdates_what_is_known();
    audit::append(tx, *scope, *at, audit).await
}

#[async_trait]
impl<D: 'static> PreferenceStore for SqlStore<D> {
    async fn preferences(&self, scope: TenantScope, user: UserId) -> PortResult<Arc<Preferences>> {
        let known = &self.shared.known;
        let read = || self.read_few(scope, (scope, user), |tx, (scope, user)| Box::pin(get(tx, *scope, *user)));
        Ok(known.or_read(&known.preferences, (scope.tenant(), user), read).await?)
    }

    async fn set_preferences(
        &self,
        scope: TenantScope,
        user: UserId,
        preferences: Option<&Preferences>,
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<()> {
        let args = (scope, user, preferences.cloned(), at, audit);
        self.write(scope, args, |tx, args| Box::pin(put(tx, args))).await?;
        self.shared.known.outlived().await;
        Ok(())
    }
}
