//! Tenants, users and keys. A key is shown once; only its keyed hash is stored.

use serde::{Deserialize, Serialize};

use crate::actor::Role;
use crate::id::{KeyId, TenantId, UserId, WebhookId};
use crate::time::Timestamp;

/// A customer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// Its name, unique.
    pub name: String,
    /// The local part of its intake address: mail to `slug@…` is its mail. Unique.
    pub slug: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A person, or a program that acts as one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// Their name.
    pub name: String,
    /// Their address, unique in the tenant.
    pub email: String,
    /// Their roles.
    pub roles: Vec<Role>,
    /// Their IANA time zone; UTC when not stated.
    pub timezone: String,
    /// When they were created.
    pub created_at: Timestamp,
}

/// An API key as it is stored and shown: never the key itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Its id.
    pub id: KeyId,
    /// Whose it is.
    pub user_id: UserId,
    /// What it is for.
    pub name: String,
    /// Its first characters, to recognise it by.
    pub prefix: String,
    /// Roles it has beyond none; empty means its user's.
    pub roles: Vec<Role>,
    /// What narrows it; empty means nothing.
    pub scopes: Vec<String>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The key it was made with. When that one is revoked, it does not work any more either.
    pub made_by_key_id: Option<KeyId>,
}

/// What a key proves: whose it is and what that user may do. Read in one query by the key's hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyHolder {
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// The key.
    pub key: KeyId,
    /// The roles that hold: the key's own, where it has any, limited to its user's.
    pub roles: Vec<Role>,
    /// What narrows it.
    pub scopes: Vec<String>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

/// A subscription to the ends of tasks: each is POSTed, signed after Standard Webhooks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboundWebhook {
    /// Its id.
    pub id: WebhookId,
    /// Where to.
    pub url: String,
    /// Which events; empty means all of `task.completed`, `task.failed`, `task.cancelled`, `task.needs_review`.
    pub events: Vec<String>,
    /// Whether it is in use.
    pub active: bool,
    /// When it was created.
    pub created_at: Timestamp,
}
