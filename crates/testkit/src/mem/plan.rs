//! The plans of tenants.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{PlanId, TenantId};
use kybern_core::plan::parse::{PlanDraft, no_version};
use kybern_core::plan::{Plan, PlanOrigin, PlanPlace, no_room};
use kybern_core::ports::{MAX_PAGE_BYTES, Page, PlanStore};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use super::MemStore;
use super::state::{MemState, conflict};

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
        self.run(|state| state.put_plan(scope, id, draft, at, audit))
    }

    async fn plans(&self, scope: TenantScope) -> Result<Arc<Vec<Plan>>> {
        self.run(|state| {
            let own = state.plans.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            Ok(Arc::new(own.flat_map(|(_, versions)| versions).filter(|plan| plan.active).cloned().collect()))
        })
    }

    async fn find_plan(&self, scope: TenantScope, id: PlanId) -> Result<Option<Plan>> {
        self.run(|state| {
            let mut own = state.plans.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            Ok(own.find_map(|(_, versions)| versions.iter().find(|plan| plan.id == Some(id)).cloned()))
        })
    }

    async fn plan_page(&self, scope: TenantScope, after: PlanPlace, limit: u32) -> Result<Page<Plan>> {
        self.run(|state| {
            let own = state.plans.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            let all = own.flat_map(|(_, versions)| versions.iter().rev());
            Ok(page(all.filter(|plan| plan.place() > after), limit))
        })
    }

    async fn plan_versions(&self, scope: TenantScope, key: &str, below: Option<u32>, limit: u32) -> Result<Page<Plan>> {
        let place = (scope.tenant(), key.to_owned());
        self.run(|state| {
            let versions = state.plans.get(&place).into_iter().flat_map(|versions| versions.iter().rev());
            Ok(page(versions.filter(|plan| below.is_none_or(|below| plan.version < below)), limit))
        })
    }

    async fn set_plan_active(&self, scope: TenantScope, key: &str, active: bool, audit: AuditEvent) -> Result<()> {
        let place = (scope.tenant(), key.to_owned());
        self.run(|state| {
            let newest = state.plans.get(&place).and_then(|versions| versions.last());
            if active && let Some(newest) = newest {
                state.find_room(place.0, newest)?;
            }
            let versions = state.plans.get_mut(&place).ok_or_else(|| Error::not_found("plan", key))?;
            versions.iter_mut().for_each(|plan| plan.active = false);
            if let Some(newest) = versions.last_mut() {
                newest.active = active;
            }
            state.append_audit(scope.tenant(), state.now, audit);
            Ok(())
        })
    }

    async fn active_plans(&self, after: Option<(TenantId, String)>) -> Result<Vec<(TenantScope, Plan)>> {
        self.run(|state| {
            let rest = state.plans.iter().filter(|(place, _)| after.as_ref().is_none_or(|after| *place > after));
            let all = rest.flat_map(|((tenant, _), versions)| {
                versions.iter().map(|plan| (crate::actors::scope(*tenant), plan.clone()))
            });
            Ok(all.filter(|(_, plan)| plan.active).take(3).collect())
        })
    }
}

/// A page of at most `limit` plans, and of about so many bytes as a stored one.
fn page<'a>(mut rest: impl Iterator<Item = &'a Plan>, limit: u32) -> Page<Plan> {
    let limit = usize::try_from(limit.clamp(1, 200)).unwrap_or(1);
    let (mut items, mut all) = (Vec::<Plan>::new(), 0);
    for plan in rest.by_ref() {
        all += bytes(plan);
        if items.len() == limit || (!items.is_empty() && all > MAX_PAGE_BYTES) {
            let next = items.last().map(|last| last.place().to_string());
            return Page { items, next };
        }
        items.push(plan.clone());
    }
    Page { items, next: None }
}

fn bytes(plan: &Plan) -> usize {
    plan.to_json().to_string().len()
}

fn made(id: PlanId, draft: PlanDraft, version: u32, at: Timestamp) -> Plan {
    Plan {
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
    }
}

impl MemState {
    fn find_room(&self, tenant: TenantId, plan: &Plan) -> Result<()> {
        let own = self.plans.iter().filter(|((of, key), _)| *of == tenant && *key != plan.key);
        let others: Vec<&Plan> = own.flat_map(|(_, versions)| versions).filter(|other| other.active).collect();
        let all: usize = others.iter().map(|other| bytes(other)).sum();
        let refused = no_room(others.len() as u64, all as u64, bytes(plan) as u64);
        refused.map_or(Ok(()), |why| Err(Error::new(ErrorCode::Unprocessable, why)))
    }

    fn put_plan(
        &mut self,
        scope: TenantScope,
        id: PlanId,
        draft: PlanDraft,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Plan> {
        let versions = self.plans.get(&(scope.tenant(), draft.key.clone())).map(Vec::as_slice).unwrap_or_default();
        let version = draft.version.unwrap_or_else(|| versions.last().map_or(1, |newest| newest.version + 1));
        if versions.iter().any(|plan| plan.version == version) {
            return Err(conflict(format!("plan {} has a version {version} already", draft.key)));
        }
        if let Some(why) = no_version(&draft.key, version) {
            return Err(Error::new(ErrorCode::Unprocessable, why));
        }
        let plan = made(id, draft, version, at);
        self.find_room(scope.tenant(), &plan)?;
        self.keep(scope.tenant(), plan.clone());
        self.append_audit(scope.tenant(), at, audit.telling("version", json!(version)));
        Ok(plan)
    }

    fn keep(&mut self, tenant: TenantId, plan: Plan) {
        let versions = self.plans.entry((tenant, plan.key.clone())).or_default();
        versions.iter_mut().for_each(|older| older.active = false);
        versions.push(plan);
        versions.sort_by_key(|plan| plan.version);
    }

    /// Whether a step's plan can be in use beside the tenant's others.
    pub(super) fn room_for_plan(&self, scope: TenantScope, id: PlanId, draft: &PlanDraft) -> Result<()> {
        let version = draft.version.unwrap_or(1);
        self.find_room(scope.tenant(), &made(id, draft.clone(), version, self.now))
    }

    /// Stores a step's plan.
    pub(super) fn keep_plan(&mut self, tenant: TenantId, id: PlanId, draft: PlanDraft, at: Timestamp) {
        let version = draft.version.unwrap_or_else(|| self.newest_version(tenant, &draft.key) + 1);
        self.keep(tenant, made(id, draft, version, at));
    }

    /// Takes every version of a plan out of use.
    pub(super) fn retire_plan(&mut self, tenant: TenantId, key: &str) {
        let versions = self.plans.get_mut(&(tenant, key.to_owned()));
        versions.into_iter().flatten().for_each(|plan| plan.active = false);
    }

    /// The newest version of a plan, in use or not; 0 when there is none.
    pub(super) fn newest_version(&self, tenant: TenantId, key: &str) -> u32 {
        let versions = self.plans.get(&(tenant, key.to_owned()));
        versions.and_then(|versions| versions.last()).map_or(0, |newest| newest.version)
    }

    /// The version of a plan that is in use.
    pub(super) fn version_in_use(&self, tenant: TenantId, key: &str) -> Option<u32> {
        let versions = self.plans.get(&(tenant, key.to_owned()))?;
        versions.iter().find(|plan| plan.active).map(|plan| plan.version)
    }
}
