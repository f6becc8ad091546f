//! Storing, listing and checking plans.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::count::count;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::PlanId;
use kybern_core::plan::parse::{self, PlanDraft};
use kybern_core::plan::{Plan, PlanFault, PlanPlace};
use kybern_core::ports::{Clock, IdSource, Page, PlanStore};
use kybern_core::tenant::TenantScope;
use serde_json::{Value, json};

use super::catalogue::PlanCatalogue;
use super::check::{self, StepParts};
use crate::agent::Agents;
use crate::command::{id_for, once};
use crate::made::ByIdentity;
use crate::tools::ToolCatalogue;

/// The plans of tenants: the bundled ones and their own.
#[derive(Clone)]
pub struct Plans {
    pub(crate) store: Arc<dyn PlanStore>,
    pub(crate) plan_catalogue: Arc<PlanCatalogue>,
    pub(crate) tools: Arc<ToolCatalogue>,
    pub(crate) agents: Agents,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

/// That a plan comes with the server, and no tenant takes it out of use.
fn bundled(key: &str) -> Error {
    let message = format!(
        "the plan {key} is bundled and always in use: store a plan of your own under its key, which goes before it"
    );
    Error::new(ErrorCode::Conflict, message)
}

impl Plans {
    /// Stores the next version of a plan.
    ///
    /// # Errors
    /// `UNPROCESSABLE` with every fault; `CONFLICT` when the version it names exists.
    pub async fn put(&self, actor: &Actor, plan: &Value) -> Result<Plan> {
        let (tools, agents) = (self.tools.of(actor.scope()).await, self.agents.list(actor.scope()).await?);
        let parts = StepParts { plan_catalogue: self.plan_catalogue.as_ref(), tools: &tools, agents: Some(&agents) };
        let draft = faultless(plan, parts).map_err(|faults| {
            let message = format!("the plan has {}, nothing was stored", count(faults.len(), "fault"));
            Error::new(ErrorCode::Unprocessable, message).with_details(faults.into_iter().map(Into::into).collect())
        })?;
        let audit = AuditEvent::by(actor, "plan.put", format!("plan:{}", draft.key), json!({"key": draft.key}));
        let (id, scope) = (PlanId::from_uuid(id_for(self.ids.as_ref(), actor, "plan")), actor.scope());
        let find = || self.store.find_plan(scope, id);
        let stored = once(actor, find, self.store.put_plan(scope, id, draft, self.clock.now(), audit)).await?;
        self.plan_catalogue.judge(actor.tenant(), &stored, &tools, &agents);
        Ok(stored)
    }

    /// Every fault of a plan, without storing it.
    pub async fn check(&self, scope: TenantScope, plan: &Value) -> Result<Vec<PlanFault>> {
        Ok(self.drafted(scope, plan).await?.err().unwrap_or_default())
    }

    /// The plan that a text stands for, or every fault of it.
    pub(crate) async fn drafted(
        &self,
        scope: TenantScope,
        plan: &Value,
    ) -> Result<std::result::Result<PlanDraft, Vec<PlanFault>>> {
        let (tools, agents) = (self.tools.of(scope).await, self.agents.list(scope).await?);
        let parts = StepParts { plan_catalogue: self.plan_catalogue.as_ref(), tools: &tools, agents: Some(&agents) };
        Ok(faultless(plan, parts))
    }

    /// A page of the tenant's plans, every version of them, and of the bundled ones, in the order of [`PlanPlace`].
    pub async fn list(&self, scope: TenantScope, after: Option<PlanPlace>, limit: u32) -> Result<Page<Plan>> {
        let after = after.unwrap_or_default();
        let Page { mut items, mut next } = self.store.plan_page(scope, after.clone(), limit).await?;
        self.mark_quarantine(scope, &mut items).await?;
        // Behind the last of the page nothing is known of the tenant's own.
        let end = if next.is_some() { items.last().map(Plan::place) } else { None };
        let is_here = |place: PlanPlace| place > after && end.as_ref().is_none_or(|end| place < *end);
        items.extend(
            self.plan_catalogue.registry().plans().filter(|plan| is_here(plan.place())).map(|plan| (**plan).clone()),
        );
        items.sort_by_cached_key(Plan::place);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        if items.len() > limit {
            items.truncate(limit);
            next = items.last().map(|last| last.place().to_string());
        }
        Ok(Page { items, next })
    }

    /// The plan in use with a key: the tenant's own, or the bundled one, or else the newest of the tenant's own.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub async fn get(&self, scope: TenantScope, key: &str) -> Result<Plan> {
        let own = self.own(scope).await?;
        match self.plan_catalogue.find(&own, key) {
            Some(plan) => Ok(plan.clone()),
            None => self.newest(scope, key).await,
        }
    }

    /// The newest version of a plan of the tenant's own.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub async fn newest(&self, scope: TenantScope, key: &str) -> Result<Plan> {
        let mut newest = self.store.plan_versions(scope, key, None, 1).await?.items;
        self.mark_quarantine(scope, &mut newest).await?;
        newest.pop().ok_or_else(|| Error::not_found("plan", key))
    }

    /// A page of the versions of one plan, the tenant's newest first, the bundled one last.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub async fn versions(
        &self,
        scope: TenantScope,
        key: &str,
        after: Option<PlanPlace>,
        limit: u32,
    ) -> Result<Page<Plan>> {
        let below = after.map(|after| after.version);
        let mut page = self.store.plan_versions(scope, key, below, limit).await?;
        self.mark_quarantine(scope, &mut page.items).await?;
        let bundled = self.plan_catalogue.registry().find_plan(key).filter(|_| below != Some(0));
        if let Some(bundled) = bundled.filter(|_| page.next.is_none()) {
            if page.items.len() < usize::try_from(limit).unwrap_or(usize::MAX) {
                page.items.push((**bundled).clone());
            } else {
                page.next = page.items.last().map(|last| last.place().to_string());
            }
        }
        if page.items.is_empty() && below.is_none() { Err(Error::not_found("plan", key)) } else { Ok(page) }
    }

    /// Takes a plan of the tenant out of use, or brings it back.
    ///
    /// # Errors
    /// `NOT_FOUND` when the tenant has no such plan; `CONFLICT` where only a bundled one has the key, which cannot be
    /// taken out of use, only overridden.
    pub async fn set_active(&self, actor: &Actor, key: &str, active: bool) -> Result<()> {
        let audit =
            AuditEvent::by(actor, "plan.set_active", format!("plan:{key}"), json!({"key": key, "active": active}));
        let set = self.store.set_plan_active(actor.scope(), key, active, audit).await;
        let is_bundled = || self.plan_catalogue.registry().find_plan(key).is_some();
        match set {
            Err(error) if error.code() == ErrorCode::NotFound && is_bundled() => Err(bundled(key)),
            set => set,
        }
    }

    /// The tenant's own plans, those in quarantine marked. They are looked over again only when they have changed.
    pub(crate) async fn own(&self, scope: TenantScope) -> Result<Arc<Vec<Plan>>> {
        let stored = self.store.plans(scope).await?;
        let tools = self.tools.of(scope).await;
        let agents = self.agents.list(scope).await?;
        let by = (ByIdentity(Arc::clone(&stored)), ByIdentity(tools), ByIdentity(agents));
        if let Some(judged) = self.plan_catalogue.judged.get(&scope.tenant(), &by) {
            return Ok(judged);
        }
        let mut plans = stored.to_vec();
        self.mark_quarantine(scope, &mut plans).await?;
        Ok(self.plan_catalogue.judged.keep(scope.tenant(), by, Arc::new(plans)))
    }

    async fn mark_quarantine(&self, scope: TenantScope, plans: &mut [Plan]) -> Result<()> {
        let (tools, agents) = (self.tools.of(scope).await, self.agents.list(scope).await?);
        for plan in plans.iter_mut().filter(|plan| plan.active) {
            plan.quarantine = self.plan_catalogue.judge(scope.tenant(), plan, &tools, &agents);
        }
        Ok(())
    }

    /// Looks over every stored plan, so that those that no longer fit are known from the start.
    pub(crate) async fn refresh_quarantine(&self) -> Result<()> {
        let mut after = None;
        loop {
            let next = self.store.active_plans(after).await?;
            let Some((last, plan)) = next.last() else { return Ok(()) };
            after = Some((last.tenant(), plan.key.clone()));
            for (scope, plan) in next {
                let (tools, agents) = (self.tools.of(scope).await, self.agents.list(scope).await?);
                let faults = self.plan_catalogue.judge(scope.tenant(), &plan, &tools, &agents);
                if let Some(fault) = faults.first() {
                    tracing::warn!(tenant.id = %scope.tenant(), plan.key = %plan.key, %fault, "stored plan is quarantined");
                }
            }
        }
    }
}

fn faultless(plan: &Value, parts: StepParts<'_>) -> Result<PlanDraft, Vec<PlanFault>> {
    let (draft, mut faults) = parse::readable(plan);
    let Some(draft) = draft else { return Err(faults) };
    faults.extend(check::plan(&draft.steps, draft.output.as_deref(), parts));
    if faults.is_empty() { Ok(draft) } else { Err(faults) }
}
