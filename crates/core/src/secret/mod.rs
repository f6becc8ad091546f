//! Secrets of a tenant: named, sealed, write-only. A tool refers to one by its name; the value is put in inside the
//! tool, and only for the hosts that stand with it.
//!
//! What always holds: a value is never printed and never serialised, and its memory is cleared when it is dropped.
//! How values are sealed is the master key's matter ([`crate::ports::Keys`]); where they lie is the store's.

mod host;
mod name;
mod value;

use serde::{Deserialize, Serialize};

pub use host::{Destination, HostRule, MAX_HOSTS};
pub use name::{BadSecretName, SecretName};
pub use value::{MAX_VALUE, MIN_VALUE, SecretValue};

use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Secrets of one tenant.
pub const MAX_SECRETS: u32 = 1_000;
/// Characters of a description.
pub const MAX_DESCRIPTION: usize = 500;

/// What is known of a secret. Its value is never shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Secret {
    /// Its name.
    pub name: SecretName,
    /// Where it may be sent.
    pub hosts: Vec<HostRule>,
    /// What it is for.
    pub description: String,
    /// Grows by one each time the value is written; from 1.
    pub version: u32,
    /// Who wrote this version.
    pub created_by: String,
    /// When it was first written.
    pub created_at: Timestamp,
    /// When this version was written.
    pub updated_at: Timestamp,
}

impl Secret {
    /// What a sealed value is bound to: tenant, purpose, name, version and hosts. A row that is moved, renamed, set
    /// back under a newer number or given other hosts does not open.
    #[must_use]
    pub fn binding(&self, scope: TenantScope) -> String {
        let hosts: Vec<&str> = self.hosts.iter().map(HostRule::as_str).collect();
        format!("secret/{}/{}/{}/{}", scope.tenant(), self.name, self.version, hosts.join(","))
    }
}

/// To whom a tenant's data key belongs: what its wrapping is bound to.
#[must_use]
pub fn data_key_owner(scope: TenantScope) -> String {
    format!("data key/{}", scope.tenant())
}

/// A secret as it lies in the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SealedSecret {
    /// What is known of it.
    pub secret: Secret,
    /// Its value, sealed under the tenant's data key.
    pub sealed: Vec<u8>,
    /// That data key, wrapped under the master key.
    pub data_key: Vec<u8>,
}
