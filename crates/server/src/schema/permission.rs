//! What a user may let tools do.

use utoipa::ToSchema;

use super::identity::RoleSchema;
use super::words::{AutonomySchema, CategorySchema, LevelSchema, PermissionSourceSchema};

/// What a user may do.
#[derive(ToSchema)]
#[schema(as = Permissions, rename_all = "camelCase")]
pub struct PermissionsSchema {
    /// The user.
    #[schema(format = "uuid")]
    pub user_id: String,
    /// Their roles.
    pub roles: Vec<RoleSchema>,
    /// `own` when it was said of this user, `role` when it follows from their roles.
    pub source: PermissionSourceSchema,
    /// Tools of that level and below may be called.
    pub level: LevelSchema,
    /// What the tools may work on.
    pub categories: Vec<CategorySchema>,
    /// Tools that may be called whatever their level and category are.
    pub allowed_tools: Vec<String>,
    /// Tools that may never be called.
    pub denied_tools: Vec<String>,
    /// Folders in which file tools may work; null for every one that the tool itself allows.
    #[schema(required)]
    pub allowed_paths: Option<Vec<String>>,
    /// Hosts that network tools may reach; null for every one that egress allows.
    #[schema(required)]
    pub allowed_hosts: Option<Vec<String>>,
    /// How much happens without a yes.
    pub autonomy: AutonomySchema,
    /// Calls of all tools together within any minute; null for no limit.
    #[schema(required)]
    pub calls_per_minute: Option<u32>,
}
