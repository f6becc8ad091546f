//! What the master key is good for. The key itself never leaves its adapter.

use crate::audit::AuditKey;
use crate::digest::DigestKey;
use crate::id::TenantId;

/// A tenant's data key as it is stored, wrapped under the master key. The key itself never leaves the adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataKey<'a> {
    /// To whom it belongs: unwrapped for nobody else.
    pub owner: &'a str,
    /// The wrapped key.
    pub wrapped: &'a [u8],
}

/// Derivations of the master key, each for one purpose, and sealing of what must be read again.
pub trait Keys: Send + Sync {
    /// The keyed hash under which an API key is stored, in hex.
    fn api_key_hash(&self, key: &str) -> String;

    /// The secret of one delegation: derived from its workflow id, so that it can be verified before the delegation
    /// is committed, and never has to be stored.
    fn callback_secret(&self, workflow_id: &str) -> String;

    /// The secret with which one tenant's completion webhooks are signed, `whsec_…` after Standard Webhooks.
    fn webhook_secret(&self, tenant: TenantId, name: &str) -> String;

    /// The key of one tenant's audit chain.
    fn audit_key(&self, tenant: TenantId) -> AuditKey;

    /// The key of one tenant's digests, under which inputs are told apart without saying them: in the audit, and where
    /// an idempotency key comes again.
    fn digest_key(&self, tenant: TenantId) -> DigestKey;

    /// The key under which a tenant's lists seal where their pages begin.
    fn cursor_key(&self, tenant: TenantId) -> DigestKey;

    /// Seals bytes for one purpose and row; only the same purpose and row open them again.
    fn seal(&self, purpose: &str, plain: &[u8]) -> Vec<u8>;

    /// Opens what [`Keys::seal`] sealed; `None` when it was sealed for something else, with another key, or edited.
    fn open(&self, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>>;

    /// A fresh random data key for that owner, wrapped; `None` when there are no random bytes to be had.
    fn new_data_key(&self, owner: &str) -> Option<Vec<u8>>;

    /// Seals bytes under a data key, bound to a purpose and row; `None` when the key was wrapped by another master key,
    /// for somebody else, or edited.
    fn seal_under(&self, key: DataKey<'_>, purpose: &str, plain: &[u8]) -> Option<Vec<u8>>;

    /// Opens what [`Keys::seal_under`] sealed; `None` as well when that was sealed for something else or edited.
    fn open_under(&self, key: DataKey<'_>, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>>;

    /// Whether a data key can be unwrapped.
    fn knows(&self, key: DataKey<'_>) -> bool;
}
