//! Users, keys, tenants and completion webhooks.

use kybern_core::actor::Role;
use kybern_core::identity::{Tenant, User};
use serde::Serialize;
use utoipa::ToSchema;

use super::words::{ScopeSchema, WebhookEventSchema};
/// A key, without the key itself.
#[derive(ToSchema)]
#[schema(as = Key, rename_all = "camelCase")]
pub struct KeySchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Whose it is.
    #[schema(format = "uuid")]
    pub user_id: String,
    /// What it is for.
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    /// Roles it is limited to; its user's when empty.
    pub roles: Vec<Role>,
    /// Rights it is narrowed to; all when empty.
    pub scopes: Vec<ScopeSchema>,
    /// When it ends.
    #[schema(format = "date-time", required)]
    pub expires_at: Option<String>,
    /// When it was revoked, by itself or with a key that it was made with.
    #[schema(format = "date-time", required)]
    pub revoked_at: Option<String>,
    /// When it was created.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// The key it was made with: it stops working with that one.
    #[schema(format = "uuid", required)]
    pub made_by_key_id: Option<String>,
    /// Who made it.
    #[schema(format = "uuid", required)]
    pub made_by_user_id: Option<String>,
}

/// A new key, with the key itself.
#[derive(ToSchema)]
#[schema(as = NewKeyAnswer, rename_all = "camelCase")]
pub struct NewKeySchema {
    /// The key. Shown in this answer only.
    #[schema(example = "kyb_…")]
    pub key: String,
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Whose it is.
    #[schema(format = "uuid")]
    pub user_id: String,
    /// What it is for.
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    /// Roles it is limited to; its user's when empty.
    pub roles: Vec<Role>,
    /// Rights it is narrowed to; all when empty.
    pub scopes: Vec<ScopeSchema>,
    /// When it ends.
    #[schema(format = "date-time", required)]
    pub expires_at: Option<String>,
    /// When it was revoked, by itself or with a key that it was made with.
    #[schema(format = "date-time", required)]
    pub revoked_at: Option<String>,
    /// When it was created.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// The key it was made with: it stops working with that one.
    #[schema(format = "uuid", required)]
    pub made_by_key_id: Option<String>,
    /// Who made it.
    #[schema(format = "uuid", required)]
    pub made_by_user_id: Option<String>,
}

/// What a revoked key has taken with it.
#[derive(ToSchema)]
#[schema(as = Revoked, rename_all = "camelCase")]
pub struct RevokedSchema {
    /// The keys of this organisation that were made with it, with those, and so on, and worked until now.
    pub revoked_with: Vec<KeySchema>,
}

/// A new tenant, with its admin's key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewTenantAnswer)]
pub struct NewTenantAnswer {
    /// The key of its first admin. Shown in this answer only.
    #[schema(example = "kyb_…")]
    pub admin_key: String,
    /// The tenant.
    #[serde(flatten)]
    pub tenant: Tenant,
}

/// A completion webhook.
#[derive(ToSchema)]
#[schema(as = CompletionWebhook, rename_all = "camelCase")]
pub struct WebhookSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Where to.
    pub url: String,
    /// Which events; all when empty.
    pub events: Vec<WebhookEventSchema>,
    /// Whether it is in use.
    pub active: bool,
    /// When it was created.
    #[schema(format = "date-time")]
    pub created_at: String,
}

/// A new completion webhook, with its secret.
#[derive(ToSchema)]
#[schema(as = NewCompletionWebhookAnswer, rename_all = "camelCase")]
pub struct NewWebhookSchema {
    /// With what deliveries are signed: the same for all webhooks of the tenant. Only answers of this route show it.
    #[schema(example = "whsec_…")]
    pub secret: String,
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Where to.
    pub url: String,
    /// Which events; all when empty.
    pub events: Vec<WebhookEventSchema>,
    /// Whether it is in use.
    pub active: bool,
    /// When it was created.
    #[schema(format = "date-time")]
    pub created_at: String,
}

page! {
    /// A page of users.
    pub UserPage of User: "The users."
}

page! {
    /// A page of keys.
    pub KeyPage of KeySchema: "The keys."
}

page! {
    /// A page of tenants.
    pub TenantPage of Tenant: "The tenants."
}

page! {
    /// A page of completion webhooks.
    pub WebhookPage of WebhookSchema: "The webhooks."
}
