//! What users want to be answered like. Every turn asks for it, so an implementation answers from memory what it knows
//! to hold.

use std::sync::Arc;

use async_trait::async_trait;

use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::UserId;
use crate::preference::Preferences;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Where that is kept.
#[async_trait]
pub trait PreferenceStore: Send + Sync {
    /// A user's preferences; the default ones of somebody who has said nothing, or who is not known.
    async fn preferences(&self, scope: TenantScope, user: UserId) -> Result<Arc<Preferences>>;

    /// Writes a user's preferences in place of those before; `None` takes them back. Holds in every process when it
    /// returns.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is no such user.
    async fn set_preferences(
        &self,
        scope: TenantScope,
        user: UserId,
        preferences: Option<&Preferences>,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<()>;
}
