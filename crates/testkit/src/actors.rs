//! Actors and scopes for tests, made without a key.

use kybern_core::actor::{Actor, Principal, Role};
use kybern_core::id::{KeyId, RequestId, TenantId, UserId};
use kybern_core::tenant::TenantScope;
use uuid::Uuid;

/// A user of that tenant with these roles.
#[must_use]
pub fn user(tenant: TenantId, user: UserId, roles: &[Role]) -> Actor {
    let principal = Principal::User { user, key: None };
    Actor::authenticated(tenant, principal, roles.to_vec(), Vec::new(), RequestId::from_uuid(Uuid::nil()))
}

#[must_use]
pub fn admin(tenant: TenantId) -> Actor {
    user(tenant, UserId::from_uuid(Uuid::nil()), &[Role::Admin])
}

/// Somebody who may do everything in that tenant and is no user of it.
#[must_use]
pub fn nobody(tenant: TenantId) -> Actor {
    let request = RequestId::from_uuid(Uuid::nil());
    Actor::authenticated(tenant, Principal::Executor, vec![Role::Admin], Vec::new(), request)
}

/// A user of that tenant with these roles, by a key.
#[must_use]
pub fn user_by(tenant: TenantId, user: UserId, key: KeyId, roles: &[Role]) -> Actor {
    let principal = Principal::User { user, key: Some(key) };
    Actor::authenticated(tenant, principal, roles.to_vec(), Vec::new(), RequestId::from_uuid(Uuid::nil()))
}

#[must_use]
pub fn scope(tenant: TenantId) -> TenantScope {
    admin(tenant).scope()
}
