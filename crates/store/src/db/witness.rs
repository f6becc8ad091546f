//! Whose a row is. The one place of the store where a tenant's id becomes a scope.

use kybern_core::id::TenantId;
use kybern_core::tenant::{StoreWitness, TenantScope};

/// The scope of a tenant whose row has been read here, or is the store's own to write: at a claim, over all tenants, and
/// where a tenant is created or restored. Never that of an id that a caller has named.
pub(crate) const fn scope_of_row(tenant: TenantId) -> TenantScope {
    StoreWitness::of_a_store().scope(tenant)
}
