//! What plans can be made of, and the bundled plans themselves.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use kybern_core::agent::Agent;
use kybern_core::id::TenantId;
use kybern_core::pack::PackRegistry;
use kybern_core::plan::{Plan, PlanFault, StepKind};
use kybern_core::ports::StepHandler;

use super::check;
use super::intents::KnownIntents;
use crate::made::{ByIdentity, LastMade};
use crate::tools::ToolSnapshot;
use crate::tools::taught::TaughtExtractors;

/// What plans are judged by: the stored list, the tools and the agents.
type JudgedBy = (ByIdentity<Vec<Plan>>, ByIdentity<ToolSnapshot>, ByIdentity<Vec<Agent>>);

/// Tools, workflows, handlers and bundled plans.
pub struct PlanCatalogue {
    pub(crate) registry: Arc<PackRegistry>,
    pub(crate) workflows: BTreeSet<String>,
    pub(crate) decisions: Option<Arc<dyn StepHandler>>,
    /// The plans of tenants as they were judged: by the stored list, the tools and the agents.
    pub(crate) judged: LastMade<TenantId, JudgedBy, Arc<Vec<Plan>>>,
    pub(crate) intents: KnownIntents,
    pub(crate) taught: TaughtExtractors,
    pub(crate) quarantined: RwLock<HashMap<(TenantId, String, u32), Vec<PlanFault>>>,
}

impl PlanCatalogue {
    #[must_use]
    pub fn registry(&self) -> &PackRegistry {
        &self.registry
    }

    /// The handler of a kind of step that asks a model.
    #[must_use]
    pub fn handler(&self, kind: &StepKind) -> Option<&Arc<dyn StepHandler>> {
        match kind {
            StepKind::Decision { .. } => self.decisions.as_ref(),
            StepKind::Agent { .. }
            | StepKind::Question
            | StepKind::Tool { .. }
            | StepKind::Input { .. }
            | StepKind::Condition { .. }
            | StepKind::Parallel { .. }
            | StepKind::Loop { .. }
            | StepKind::Workflow { .. }
            | StepKind::Task { .. } => None,
        }
    }

    /// Every fault of every bundled plan, with the plan's key in front of its path.
    #[must_use]
    pub fn bundled_faults(&self, tools: &ToolSnapshot) -> Vec<PlanFault> {
        let fault_of = |plan: &Arc<Plan>| {
            let key = plan.key.clone();
            let parts = check::StepParts { plan_catalogue: self, tools, agents: None };
            // What could not be read of it makes it a plan without steps.
            let unread = plan.quarantine.iter().cloned();
            unread
                .chain(check::plan(&plan.steps, plan.output.as_deref(), parts))
                .map(move |fault| PlanFault { path: format!("{key}{}", fault.path), ..fault })
                .collect::<Vec<_>>()
        };
        self.registry.plans().flat_map(fault_of).collect()
    }

    /// Checks a stored plan of a tenant that has these tools and agents, and puts it into, or takes it out of, quarantine.
    pub fn judge(&self, tenant: TenantId, plan: &Plan, tools: &ToolSnapshot, agents: &[Agent]) -> Vec<PlanFault> {
        let parts = check::StepParts { plan_catalogue: self, tools, agents: Some(agents) };
        let faults = check::plan(&plan.steps, plan.output.as_deref(), parts);
        let key = (tenant, plan.key.clone(), plan.version);
        let mut quarantined = self.quarantined.write().unwrap_or_else(PoisonError::into_inner);
        if faults.is_empty() {
            quarantined.remove(&key);
        } else {
            quarantined.insert(key, faults.clone());
        }
        faults
    }

    /// The plans in quarantine: tenant, key, version, faults.
    #[must_use]
    pub fn in_quarantine(&self) -> Vec<((TenantId, String, u32), Vec<PlanFault>)> {
        let quarantined = self.quarantined.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = quarantined.iter().map(|(key, faults)| (key.clone(), faults.clone())).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// The plan for an intent: the tenant's own before the bundled ones, then by priority, then by version. Inactive
    /// and quarantined plans are passed over.
    #[must_use]
    pub fn choose<'a>(&'a self, own: &'a [Plan], intent: &str) -> Option<&'a Plan> {
        let serves = |plan: &&Plan| is_usable(plan) && plan.intent_key == intent;
        let rank = |plan: &&Plan| (plan.priority, plan.version);
        let mine = own.iter().filter(serves).max_by_key(rank);
        let bundled = self.registry.plans().map(AsRef::as_ref).filter(serves).max_by_key(rank);
        mine.or(bundled)
    }

    /// The intents for which [`PlanCatalogue::choose`] finds a plan, in alphabetical order.
    #[must_use]
    pub fn served<'a>(&'a self, own: &'a [Plan]) -> BTreeSet<&'a str> {
        let all = own.iter().chain(self.registry.plans().map(AsRef::as_ref));
        all.filter(|plan| is_usable(plan)).map(|plan| plan.intent_key.as_str()).collect()
    }

    /// The plan with a key: the tenant's own newest active version before the bundled one.
    #[must_use]
    pub fn find<'a>(&'a self, own: &'a [Plan], key: &str) -> Option<&'a Plan> {
        let mine = own.iter().filter(|plan| plan.active && plan.key == key).max_by_key(|plan| plan.version);
        mine.or_else(|| self.registry.find_plan(key).map(AsRef::as_ref))
    }
}

fn is_usable(plan: &Plan) -> bool {
    plan.active && plan.quarantine.is_empty()
}
