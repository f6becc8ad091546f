//! What a user may do: their roles, and what they may let tools do.

use std::collections::BTreeSet;

use axum::Json;
use kybern_core::actor::Role;
use kybern_core::id::UserId;
use kybern_core::policy::{Autonomy, PermissionLevel, Preset, ToolCategory, ToolPolicy};
use kybern_engine::identity::PermissionsView;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, said};
use crate::schema::permission::PermissionsAnswer;
use crate::schema::texts::{FolderSchema, HostSchema, ToolEntrySchema};

/// Show what a user may do
///
/// Their roles, and what their own calls of tools are held against: what was said about them, else what follows from
/// their roles.
#[utoipa::path(get, path = "/api/users/{id}/permissions", operation_id = "show_permissions",
    params(("id" = String, Path, format = "uuid", description = "The user")),
    responses((status = 200, description = "What they may do", body = PermissionsAnswer)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    shown(&describe(state.engine.identity().permissions(actor.scope(), path.parse("id")?).await?)).map(Json)
}

fn describe(view: PermissionsView) -> PermissionsAnswer {
    let policy = view.policy;
    PermissionsAnswer {
        user_id: view.user,
        roles: view.roles,
        source: if view.own { "own" } else { "role" },
        level: policy.level,
        categories: policy.categories.into_iter().collect(),
        allowed_tools: policy.allowed_tools.into_iter().collect(),
        denied_tools: policy.denied_tools.into_iter().collect(),
        allowed_paths: policy.allowed_paths,
        allowed_hosts: policy.allowed_hosts,
        autonomy: policy.autonomy,
        calls_per_minute: policy.calls_per_minute,
    }
}

/// What a user may do. What is left out stays as it is; with `preset` it is as the preset says.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object", default)]
#[schema(as = ChangePermissions, example = json!({"level": "write", "allowedHosts": ["*.example.com"]}))]
pub(crate) struct PermissionsBody {
    /// Their roles from now on.
    roles: Option<Vec<Role>>,
    /// Where the rest begins; `role` takes back what was said, so that their roles decide.
    #[schema(value_type = Option<Preset>)]
    preset: Option<String>,
    /// Tools of that level and below may be called.
    level: Option<PermissionLevel>,
    /// What the tools may work on.
    #[schema(value_type = Option<Vec<ToolCategory>>)]
    categories: Option<BTreeSet<ToolCategory>>,
    /// Tools that may be called whatever their level and category are.
    #[serde(alias = "allowed_tools")]
    #[schema(value_type = Option<Vec<ToolEntrySchema>>, max_items = 200)]
    allowed_tools: Option<BTreeSet<String>>,
    /// Tools that may never be called.
    #[serde(alias = "denied_tools")]
    #[schema(value_type = Option<Vec<ToolEntrySchema>>, max_items = 200)]
    denied_tools: Option<BTreeSet<String>>,
    /// Folders in which file tools may work, of which this version has none; null for every one.
    #[serde(alias = "allowed_paths", deserialize_with = "said")]
    #[schema(value_type = Option<Vec<FolderSchema>>, max_items = 200)]
    allowed_paths: Option<Option<Vec<String>>>,
    /// Hosts that network tools may reach, exact or as `*.example.com`; null for every one that egress allows.
    #[serde(alias = "allowed_hosts", deserialize_with = "said")]
    #[schema(value_type = Option<Vec<HostSchema>>, max_items = 200)]
    allowed_hosts: Option<Option<Vec<String>>>,
    /// How much happens without a yes.
    autonomy: Option<Autonomy>,
    /// Calls of all tools together within any minute, by hand or by a model; those of plans do not count. Null for no
    /// limit.
    #[serde(alias = "calls_per_minute", deserialize_with = "said")]
    #[schema(value_type = Option<u32>)]
    calls_per_minute: Option<Option<u32>>,
}

/// What becomes of a policy.
#[derive(Debug, PartialEq)]
enum PolicyChange {
    /// Nothing was said.
    Stays,
    /// The roles decide again.
    TakenBack,
    /// This holds.
    Said(Box<ToolPolicy>),
}

impl PermissionsBody {
    fn names_a_policy(&self) -> bool {
        self.level.is_some()
            || self.categories.is_some()
            || self.allowed_tools.is_some()
            || self.denied_tools.is_some()
            || self.allowed_paths.is_some()
            || self.allowed_hosts.is_some()
            || self.autonomy.is_some()
            || self.calls_per_minute.is_some()
    }

    /// What is to hold in place of `known`.
    fn change(self, known: ToolPolicy) -> ApiResult<PolicyChange> {
        let names = self.names_a_policy();
        let begins = match self.preset.as_deref() {
            None if !names => return Ok(PolicyChange::Stays),
            None => known,
            Some("role") if names => {
                let message = "role means that the roles decide, leave the other fields out";
                return Err(Problem::invalid("/preset", message));
            }
            Some("role") => return Ok(PolicyChange::TakenBack),
            Some("read_only") => ToolPolicy::preset(Preset::ReadOnly),
            Some("restrictive") => ToolPolicy::preset(Preset::Restrictive),
            Some("permissive") => ToolPolicy::preset(Preset::Permissive),
            Some(_) => return Err(Problem::invalid("/preset", "use read_only, restrictive, permissive or role")),
        };
        Ok(PolicyChange::Said(Box::new(ToolPolicy {
            level: self.level.unwrap_or(begins.level),
            categories: self.categories.unwrap_or(begins.categories),
            allowed_tools: self.allowed_tools.unwrap_or(begins.allowed_tools),
            denied_tools: self.denied_tools.unwrap_or(begins.denied_tools),
            allowed_paths: self.allowed_paths.unwrap_or(begins.allowed_paths),
            allowed_hosts: self.allowed_hosts.unwrap_or(begins.allowed_hosts),
            autonomy: self.autonomy.unwrap_or(begins.autonomy),
            calls_per_minute: self.calls_per_minute.unwrap_or(begins.calls_per_minute),
        })))
    }
}

/// Change what a user may do
///
/// Replaces their roles, or what they may let tools do, or both. Holds in every process on the same database once this
/// is answered, also for the keys they have and for calls that wait for a yes. What is said about a user also narrows
/// the plans that they start.
#[utoipa::path(put, path = "/api/users/{id}/permissions", operation_id = "change_permissions",
    params(("id" = String, Path, format = "uuid", description = "The user")),
    request_body = PermissionsBody,
    responses((status = 200, description = "What they may do", body = PermissionsAnswer)))]
pub(crate) async fn change(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<PermissionsBody>,
) -> ApiResult<Json<Value>> {
    let (id, mut said): (UserId, _) = (path.parse("id")?, body.value);
    let known = state.engine.identity().permissions(actor.scope(), id).await?;
    let roles = said.roles.take();
    let change = said.change(known.policy)?;
    if roles.is_none() && change == PolicyChange::Stays {
        return Err(Problem::invalid("", "say roles, a preset, or what tools may do"));
    }
    let identity = state.engine.identity();
    let policy = match change {
        PolicyChange::Stays => None,
        PolicyChange::TakenBack => Some(None),
        PolicyChange::Said(policy) => Some(Some(*policy)),
    };
    match (roles, policy) {
        (Some(roles), Some(policy)) => identity.set_roles_and_policy(&actor, id, roles, policy).await?,
        (Some(roles), None) => identity.set_roles(&actor, id, roles).await?,
        (None, Some(policy)) => identity.set_policy(&actor, id, policy).await?,
        (None, None) => {}
    }
    shown(&describe(state.engine.identity().permissions(actor.scope(), id).await?)).map(Json)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(text: Value) -> PermissionsBody {
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn what_is_left_out_stays_and_null_is_said() {
        let known =
            ToolPolicy { allowed_hosts: Some(vec!["a.example".into()]), ..ToolPolicy::preset(Preset::ReadOnly) };
        let PolicyChange::Said(said) = body(json!({"level": "write"})).change(known.clone()).unwrap() else { panic!() };
        assert_eq!((said.level, &said.allowed_hosts), (PermissionLevel::Write, &known.allowed_hosts));
        let PolicyChange::Said(said) = body(json!({"allowed_hosts": null})).change(known.clone()).unwrap() else {
            panic!()
        };
        assert_eq!(said.allowed_hosts, None);
        assert_eq!(body(json!({})).change(known.clone()).unwrap(), PolicyChange::Stays);
        assert_eq!(body(json!({"preset": "role"})).change(known.clone()).unwrap(), PolicyChange::TakenBack);
        assert!(body(json!({"preset": "role", "level": "read"})).change(known.clone()).is_err());
        assert!(body(json!({"preset": "god"})).change(known).is_err());
    }
}
