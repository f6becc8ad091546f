//! The tenant in the type. No store method can be called without a [`TenantScope`].
//!
//! A scope comes from three places only: an authenticated [`crate::actor::Actor`], the lease of a claimed task or
//! job, and [`Sudo`] for a platform admin who states a reason.

use crate::actor::{Actor, Right};
use crate::id::TenantId;

/// Proof that the holder may touch one tenant's rows, and no other's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TenantScope(TenantId);

impl TenantScope {
    pub(crate) const fn of(tenant: TenantId) -> Self {
        Self(tenant)
    }

    /// The tenant.
    #[must_use]
    pub const fn tenant(self) -> TenantId {
        self.0
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
