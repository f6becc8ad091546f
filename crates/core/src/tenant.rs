//! The tenant in the type. No store method that is about one tenant's rows does without a [`TenantScope`] or what carries
//! one, but for these: making a tenant, reading a tenant's own row by its id or its name, and finding out whose a key or a
//! task is, which keys were made with one, who made a user's account, who a user is that acts elsewhere and what holds for
//! them, or whether a key still stands. What is about all tenants at once (claims, lists of tenants and of platform admins,
//! counts, checks) asks for none.
//!
//! A scope comes from three places only: an authenticated [`crate::actor::Actor`], a row that a store has read
//! ([`StoreWitness`]), and [`Sudo`] for a platform admin who states a reason. What else carries one (a lease, a claimed
//! job, a lost reservation) was given it. `cargo xtask tidy` keeps the list of places that make any of the three.

use crate::actor::{Actor, Right};
use crate::id::TenantId;

/// Proof that the holder may touch one tenant's rows, and no other's. It cannot be read from text, nor made of an id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TenantScope(TenantId);

impl TenantScope {
    pub(crate) const fn of(tenant: TenantId) -> Self {
        Self(tenant)
    }

    #[must_use]
    pub const fn tenant(self) -> TenantId {
        self.0
    }
}

/// The word of a store about the rows that it has read: whose they are. A store makes one for itself and shows it to
/// nobody, so whatever else wants a scope has to ask for it.
#[derive(Debug)]
pub struct StoreWitness(());

impl StoreWitness {
    /// The witness of a store.
    #[must_use]
    pub const fn of_a_store() -> Self {
        Self(())
    }

    /// The scope of the tenant whose row has been read.
    #[must_use]
    pub const fn scope(&self, tenant: TenantId) -> TenantScope {
        TenantScope::of(tenant)
    }
}

/// A platform admin's crossing into a tenant. Whoever makes one writes an audit event with the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sudo {
    tenant: TenantId,
    reason: String,
}

/// Why a crossing was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SudoError {
    /// The actor is no platform admin.
    #[error("only a platform admin may act in another tenant")]
    NotPlatformAdmin,
    /// There was no reason, or one too short to mean something (at least 3 characters).
    #[error("acting in another tenant needs a reason of at least 3 characters")]
    NoReason,
}

impl Sudo {
    /// Crosses into `tenant`.
    ///
    /// # Errors
    /// When the actor is no platform admin, or states no reason.
    pub fn cross(actor: &Actor, tenant: TenantId, reason: &str) -> Result<Self, SudoError> {
        if !actor.may(Right::Platform) {
            return Err(SudoError::NotPlatformAdmin);
        }
        let reason = reason.trim();
        if reason.chars().count() < 3 {
            return Err(SudoError::NoReason);
        }
        Ok(Self { tenant, reason: reason.chars().take(500).collect() })
    }

    /// The tenant crossed into.
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The scope of the tenant crossed into.
    #[must_use]
    pub fn scope(&self) -> TenantScope {
        TenantScope::of(self.tenant)
    }

    /// The stated reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}
