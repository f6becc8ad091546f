//! The plans of tenants.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::PlanId;
use kybern_core::plan::parse::PlanDraft;
use kybern_core::plan::{Plan, PlanOrigin};
use kybern_core::ports::PlanStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;
use super::state::{State, conflict};

#[async_trait]
impl PlanStore for MemStore {
    async fn put_plan(
        &self,
        scope: TenantScope,
        id: PlanId,
        draft: PlanDraft,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Plan> {
        self.run("put_plan", |state| state.put_plan(scope, id, draft, at, audit)).await
    }

    async fn plans(&self, scope: TenantScope) -> Result<Arc<Vec<Plan>>> {
        self.run("plans", |state| {
            let own = state.plans.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            Ok(Arc::new(own.flat_map(|(_, versions)| versions.iter().rev()).cloned().collect()))
        })
        .await
    }

    async fn plan_versions(&self, scope: TenantScope, key: &str) -> Result<Vec<Plan>> {
        let place = (scope.tenant(), key.to_owned());
        self.run("plan_versions", |state| {
            Ok(state.plans.get(&place).map(|versions| versions.iter().rev().cloned().collect()).unwrap_or_default())
        })
        .await
    }

    async fn set_plan_active(&self, scope: TenantScope, key: &str, active: bool, audit: AuditEvent) -> Result<()> {
        let place = (scope.tenant(), key.to_owned());
        self.run("set_plan_active", |state| {
            let versions = state.plans.get_mut(&place).ok_or_else(|| Error::not_found("plan", key))?;
            versions.iter_mut().for_each(|plan| plan.active = false);
            if let Some(newest) = versions.last_mut() {
                newest.active = active;
            }
            state.append_audit(scope.tenant(), state.now, audit);
            Ok(())
        })
        .await
    }

    async fn all_active_plans(&self) -> Result<Vec<(TenantScope, Plan)>> {
        self.run("all_active_plans", |state| {
            let all = state.plans.iter().flat_map(|((tenant, _), versions)| {
                versions.iter().map(|plan| (crate::actors::scope(*tenant), plan.clone()))
            });
            Ok(all.filter(|(_, plan)| plan.active).collect())
        })
        .await
    }
}

impl State {
    fn put_plan(
        &mut self,
        scope: TenantScope,
        id: PlanId,
        draft: PlanDraft,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Plan> {
        let versions = self.plans.entry((scope.tenant(), draft.key.clone())).or_default();
        let version = draft.version.unwrap_or_else(|| versions.last().map_or(1, |newest| newest.version + 1));
        if versions.iter().any(|plan| plan.version == version) {
            return Err(conflict(format!("plan {} has a version {version} already", draft.key)));
        }
        let plan = Plan {
            id: Some(id),
            key: draft.key,
            intent_key: draft.intent_key,
            domain: draft.domain,
            description: draft.description,
            keywords: draft.keywords,
            examples: draft.examples,
            priority: draft.priority,
            version,
            output: draft.output,
            steps: draft.steps,
            origin: PlanOrigin::Tenant,
            active: true,
            created_at: at,
            quarantine: Vec::new(),
        };
        versions.iter_mut().for_each(|older| older.active = false);
        versions.push(plan.clone());
        versions.sort_by_key(|plan| plan.version);
        self.append_audit(scope.tenant(), at, audit);
        Ok(plan)
    }
}
