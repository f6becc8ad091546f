//! Storing, listing and checking plans.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::agent::Agent;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::PlanId;
use kybern_core::plan::parse::{self, PlanDraft};
use kybern_core::plan::{Plan, PlanFault};
use kybern_core::tenant::TenantScope;
use serde_json::{Value, json};

use super::check;
use crate::Engine;
use crate::command::once;

impl Engine {
    /// Stores the next version of a plan.
    ///
    /// # Errors
    /// `UNPROCESSABLE` with every fault; `CONFLICT` when the version it names exists.
    pub async fn put_plan(&self, actor: &Actor, plan: &Value) -> Result<Plan> {
        let agents = self.agents(actor.scope()).await?;
        let draft = self.faultless(plan, &agents).map_err(|faults| {
            let count = if faults.len() == 1 { "one fault".to_owned() } else { format!("{} faults", faults.len()) };
            let message = format!("the plan has {count}, nothing was stored");
            Error::new(ErrorCode::Unprocessable, message).with_details(faults.into_iter().map(Into::into).collect())
        })?;
        let inner = &self.inner;
        let audit = AuditEvent::by(actor, "plan.put", format!("plan:{}", draft.key), json!({"key": draft.key}));
        let (id, key, scope) = (PlanId::from_uuid(self.id_for(actor, "plan")), draft.key.clone(), actor.scope());
        let find = || async {
            let versions = inner.store.plan_versions(scope, &key).await?;
            Ok(versions.into_iter().find(|known| known.id == Some(id)))
        };
        let stored = once(actor, find, inner.store.put_plan(scope, id, draft, inner.clock.now(), audit)).await?;
        inner.catalog.judge(actor.tenant(), &stored, &agents);
        Ok(stored)
    }

    /// Every fault of a plan, without storing it.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn check_plan(&self, scope: TenantScope, plan: &Value) -> Result<Vec<PlanFault>> {
        Ok(self.faultless(plan, &self.agents(scope).await?).err().unwrap_or_default())
    }

    fn faultless(&self, plan: &Value, agents: &[Agent]) -> Result<PlanDraft, Vec<PlanFault>> {
        let (draft, mut faults) = parse::readable(plan);
        let Some(draft) = draft else { return Err(faults) };
        faults.extend(check::plan(&draft.steps, draft.output.as_deref(), &self.inner.catalog, Some(agents)));
        if faults.is_empty() { Ok(draft) } else { Err(faults) }
    }

    /// The tenant's plans and the bundled ones, by key.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn plans(&self, scope: TenantScope) -> Result<Vec<Plan>> {
        let mut plans = self.own_plans(scope).await?.as_ref().clone();
        plans.extend(self.registry().plans().map(|plan| (**plan).clone()));
        plans.sort_by(|a, b| a.key.cmp(&b.key).then(b.version.cmp(&a.version)));
        Ok(plans)
    }

    /// Every version of one plan, the tenant's newest first, the bundled one last.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub async fn plan_versions(&self, scope: TenantScope, key: &str) -> Result<Vec<Plan>> {
        let mut plans = self.inner.store.plan_versions(scope, key).await?;
        self.mark_quarantine(scope, &mut plans).await?;
        plans.extend(self.registry().find_plan(key).map(|plan| (**plan).clone()));
        if plans.is_empty() { Err(Error::not_found("plan", key)) } else { Ok(plans) }
    }

    /// Takes a plan of the tenant out of use, or brings it back.
    ///
    /// # Errors
    /// `NOT_FOUND` when the tenant has no such plan; bundled plans cannot be taken out of use, only overridden.
    pub async fn set_plan_active(&self, actor: &Actor, key: &str, active: bool) -> Result<()> {
        let audit = AuditEvent::by(actor, "plan.set_active", format!("plan:{key}"), json!({"active": active}));
        self.inner.store.set_plan_active(actor.scope(), key, active, audit).await
    }

    /// The tenant's own plans, those in quarantine marked. They are looked over again only when they have changed.
    pub(crate) async fn own_plans(&self, scope: TenantScope) -> Result<Arc<Vec<Plan>>> {
        let stored = self.inner.store.plans(scope).await?;
        if let Some(judged) = self.inner.catalog.judged.get(scope.tenant(), &stored) {
            return Ok(judged);
        }
        let mut plans = stored.as_ref().clone();
        self.mark_quarantine(scope, &mut plans).await?;
        Ok(self.inner.catalog.judged.keep(scope.tenant(), stored, plans))
    }

    async fn mark_quarantine(&self, scope: TenantScope, plans: &mut [Plan]) -> Result<()> {
        let agents = self.agents(scope).await?;
        for plan in plans.iter_mut().filter(|plan| plan.active) {
            plan.quarantine = self.inner.catalog.judge(scope.tenant(), plan, &agents);
        }
        Ok(())
    }

    /// Looks over every stored plan, so that those that no longer fit are known from the start.
    pub(crate) async fn refresh_quarantine(&self) -> Result<()> {
        for (scope, plan) in self.inner.store.all_active_plans().await? {
            let faults = self.inner.catalog.judge(scope.tenant(), &plan, &self.agents(scope).await?);
            if let Some(fault) = faults.first() {
                tracing::warn!(tenant.id = %scope.tenant(), plan.key = %plan.key, %fault, "stored plan is quarantined");
            }
        }
        Ok(())
    }
}
