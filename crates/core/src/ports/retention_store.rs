//! What is removed when its time is over.

use async_trait::async_trait;

use crate::error::Result;
use crate::retention::{Purge, Purged};
use crate::time::Timestamp;

/// Removes what is over and old.
#[async_trait]
pub trait RetentionStore: Send + Sync {
    /// Removes it in small transactions, tenant by tenant, so that nobody waits long for one. Each writes an audit event
    /// `retention.purge` of its tenant with what was removed. Answers the tenants of which something was removed.
    ///
    /// # Errors
    /// `NOT_FOUND` when a hold names no tenant: then nothing was removed. When the store fails; what was removed before
    /// stays removed.
    async fn purge(&self, purge: &Purge, at: Timestamp) -> Result<Vec<Purged>>;
}
