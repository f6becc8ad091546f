//! Where secrets lie, sealed, and how a tool gets at one value.

use async_trait::async_trait;

use crate::audit::AuditEvent;
use crate::error::Result;
use crate::secret::{Destination, SealedSecret, Secret, SecretName, SecretValue};
use crate::tenant::TenantScope;
use crate::time::Timestamp;
use crate::tool::ToolFailure;

/// Where secrets are kept. It never sees a value.
#[async_trait]
pub trait SecretStore: Send + Sync {
    /// What is known of each of the tenant's secrets, by name.
    async fn secrets(&self, scope: TenantScope) -> Result<Vec<Secret>>;

    /// One of them, sealed, with the tenant's data key.
    async fn sealed_secret(&self, scope: TenantScope, name: &SecretName) -> Result<Option<SealedSecret>>;

    /// The tenant's data key, wrapped; `None` while it has no secret.
    async fn data_key(&self, scope: TenantScope) -> Result<Option<Vec<u8>>>;

    /// Stores a secret, or its next version, and with the tenant's first one its data key. `false`, and nothing is
    /// written, when somebody was faster: the version does not follow the stored one, or the tenant has another data
    /// key. Read again, then.
    ///
    /// # Errors
    /// `UNPROCESSABLE` when the tenant has [`crate::secret::MAX_SECRETS`] and this is another.
    async fn put_secret(&self, scope: TenantScope, new: &SealedSecret, audit: AuditEvent) -> Result<bool>;

    /// Removes a secret, and with the tenant's last one its data key; `false` when there is none of that name.
    async fn delete_secret(
        &self,
        scope: TenantScope,
        name: &SecretName,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<bool>;
}

/// One tenant's secrets as a tool sees them: a value for a place, when the secret allows that place.
#[async_trait]
pub trait SecretReader: Send + Sync {
    /// The value of a secret, to be sent there and nowhere else.
    ///
    /// # Errors
    /// `NOT_FOUND` when the tenant has none of that name; `PERMISSION_DENIED` when its hosts do not cover the place;
    /// `UNPROCESSABLE` when it does not open, because its row was edited or the master key is another. Each names the
    /// secret and the remedy, none the value.
    async fn value_for(&self, name: &SecretName, to: &Destination) -> Result<SecretValue, ToolFailure>;
}
