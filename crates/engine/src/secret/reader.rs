//! The secrets of one tenant, as its tools get them.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::error::ErrorCode;
use kybern_core::ports::{DataKey, Keys, SecretReader, Store};
use kybern_core::secret::{Destination, SecretName, SecretValue, data_key_owner};
use kybern_core::tenant::TenantScope;
use kybern_core::tool::ToolFailure;

/// Opens a tenant's secrets, each for its own hosts only.
pub(crate) struct TenantSecrets {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) scope: TenantScope,
}

#[async_trait]
impl SecretReader for TenantSecrets {
    async fn value_for(&self, name: &SecretName, to: &Destination) -> Result<SecretValue, ToolFailure> {
        let found = self.store.sealed_secret(self.scope, name).await?.ok_or_else(|| {
            let message = format!("there is no secret {name}: an admin makes it with kybern secret set {name}");
            ToolFailure::permanent(message).code(ErrorCode::NotFound)
        })?;
        if !found.secret.hosts.iter().any(|rule| rule.covers(to)) {
            let port = if to.port == 80 { 443 } else { to.port };
            let over_tls = Destination { scheme: "https".to_owned(), port, ..to.clone() };
            let message = if found.secret.hosts.iter().any(|rule| rule.covers(&over_tls)) {
                format!(
                    "secret {name} may be sent to that host over TLS only, and {to} is plain HTTP: if that is meant, an \
                     admin writes it again with {to} among its hosts, http:// included"
                )
            } else {
                format!(
                    "secret {name} may not be sent to {to}: if that is meant, an admin writes it again with that host \
                     among its hosts"
                )
            };
            return Err(ToolFailure::permanent(message).code(ErrorCode::PermissionDenied));
        }
        let owner = data_key_owner(self.scope);
        let key = DataKey { owner: &owner, wrapped: &found.data_key };
        let opened = self.keys.open_under(key, &found.secret.binding(self.scope), &found.sealed);
        opened.and_then(SecretValue::from_bytes).ok_or_else(|| {
            // Which of the two it is helps whoever has to mend it, and helps nobody else.
            let why = if self.keys.knows(key) {
                "its row was edited in the database"
            } else {
                "the tenant's data key was edited, or wrapped under another master key"
            };
            let message = format!("secret {name} does not open, {why}: bring the old state back, or write it again");
            ToolFailure::permanent(message).code(ErrorCode::Unprocessable)
        })
    }
}
