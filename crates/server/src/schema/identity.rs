//! Users, keys, tenants and completion webhooks.

use utoipa::ToSchema;

use super::words::{ScopeSchema, WebhookEventSchema};
/// A named set of rights.
#[derive(ToSchema)]
#[schema(as = Role, rename_all = "snake_case")]
pub enum RoleSchema {
    /// May read.
    Viewer,
    /// May submit and steer tasks, and call tools.
    Operator,
    /// May answer reviews.
    Reviewer,
    /// May do everything inside the tenant.
    Admin,
    /// May create tenants, and act in any with a stated reason.
    PlatformAdmin,
}

/// A user.
#[derive(ToSchema)]
#[schema(as = User, rename_all = "camelCase")]
pub struct UserSchema {
    /// Their id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Their name.
    pub name: String,
    /// Their address.
    pub email: String,
    /// Their roles.
    pub roles: Vec<RoleSchema>,
    /// Their IANA time zone.
    pub timezone: String,
    /// When they were created.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// Who made the account. Where two persons are asked for, both count as one.
    #[schema(format = "uuid", required)]
    pub made_by_user_id: Option<String>,
}

/// A page of users.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct UserPage {
    /// The users.
    pub items: Vec<UserSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

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
    pub roles: Vec<RoleSchema>,
    /// Rights it is narrowed to; all when empty.
    pub scopes: Vec<ScopeSchema>,
    /// When it ends.
    #[schema(format = "date-time", required)]
    pub expires_at: Option<String>,
    /// When it was revoked.
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
    pub roles: Vec<RoleSchema>,
    /// Rights it is narrowed to; all when empty.
    pub scopes: Vec<ScopeSchema>,
    /// When it ends.
    #[schema(format = "date-time", required)]
    pub expires_at: Option<String>,
    /// When it was revoked.
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

/// A page of keys.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct KeyPage {
    /// The keys.
    pub items: Vec<KeySchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// A tenant.
#[derive(ToSchema)]
#[schema(as = Tenant, rename_all = "camelCase")]
pub struct TenantSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Its name.
    pub name: String,
    /// The local part of its intake address.
    pub slug: String,
    /// When it was created.
    #[schema(format = "date-time")]
    pub created_at: String,
}

/// A new tenant, with its admin's key.
#[derive(ToSchema)]
#[schema(as = NewTenantAnswer, rename_all = "camelCase")]
pub struct NewTenantSchema {
    /// The key of its first admin. Shown in this answer only.
    #[schema(example = "kyb_…")]
    pub admin_key: String,
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Its name.
    pub name: String,
    /// The local part of its intake address.
    pub slug: String,
    /// When it was created.
    #[schema(format = "date-time")]
    pub created_at: String,
}

/// A page of tenants.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct TenantPage {
    /// The tenants.
    pub items: Vec<TenantSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
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
    /// With what deliveries are signed. Shown in this answer only.
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

/// A page of completion webhooks.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct WebhookPage {
    /// The webhooks.
    pub items: Vec<WebhookSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}
