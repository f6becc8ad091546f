//! What a user may let tools do.

use kybern_core::actor::Role;
use kybern_core::id::UserId;
use kybern_core::policy::{Autonomy, PermissionLevel, ToolCategory};
use serde::Serialize;
use utoipa::ToSchema;

use super::words::PermissionSourceSchema;

/// What a user may do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Permissions)]
pub struct PermissionsAnswer {
    /// The user.
    pub user_id: UserId,
    /// Their roles.
    pub roles: Vec<Role>,
    /// `own` when it was said of this user, `role` when it follows from their roles.
    #[schema(value_type = PermissionSourceSchema)]
    pub source: &'static str,
    /// Tools of that level and below may be called.
    pub level: PermissionLevel,
    /// What the tools may work on.
    pub categories: Vec<ToolCategory>,
    /// Tools that may be called whatever their level and category are.
    pub allowed_tools: Vec<String>,
    /// Tools that may never be called.
    pub denied_tools: Vec<String>,
    /// Folders in which file tools may work, of which this version has none; null for every one that the tool itself
    /// allows.
    #[schema(required)]
    pub allowed_paths: Option<Vec<String>>,
    /// Hosts that network tools may reach; null for every one that egress allows.
    #[schema(required)]
    pub allowed_hosts: Option<Vec<String>>,
    /// How much happens without a yes.
    pub autonomy: Autonomy,
    /// Calls of all tools together within any minute, by hand or by a model; those of plans do not count. Null for no
    /// limit.
    #[schema(required)]
    pub calls_per_minute: Option<u32>,
}
