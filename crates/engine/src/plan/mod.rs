//! Plans: which there are, whether they fit this program, and which one serves an intent.

pub mod catalog;
pub mod check;
pub(crate) mod intents;
pub mod manage;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::PlanId;
use kybern_core::plan::{FrozenPlan, Plan, PlanHash, PlanOrigin};
use kybern_core::ports::Store;
use kybern_core::tenant::TenantScope;

/// Frozen plans that are kept in memory.
const KEPT: usize = 1_024;

/// Frozen plans by hash. They are immutable, so they are read once.
#[derive(Default)]
pub struct FrozenPlans {
    plans: Mutex<HashMap<PlanHash, Arc<FrozenPlan>>>,
    /// The frozen copies of stored and of bundled plans, whose versions are immutable too.
    copies: Mutex<HashMap<Version, Arc<FrozenPlan>>>,
}

/// One version of a plan.
#[derive(PartialEq, Eq, Hash)]
enum Version {
    Stored(PlanId),
    Bundled(String, u32),
    /// The plan of a turn, by the key of the agent that answers: nothing else is in it.
    Turn(String),
}

impl Version {
    fn of(plan: &Plan) -> Option<Self> {
        match (plan.id, plan.origin) {
            (Some(id), _) => Some(Self::Stored(id)),
            (None, PlanOrigin::Bundled) => Some(Self::Bundled(plan.key.clone(), plan.version)),
            (None, PlanOrigin::Tenant) => None,
        }
    }
}

impl FrozenPlans {
    /// Keeps a plan.
    pub fn keep(&self, plan: impl Into<Arc<FrozenPlan>>) -> Arc<FrozenPlan> {
        let plan = plan.into();
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= KEPT {
            plans.clear();
        }
        Arc::clone(plans.entry(plan.hash().clone()).or_insert(plan))
    }

    /// The frozen copy of a plan.
    pub fn freeze(&self, plan: &Plan) -> Arc<FrozenPlan> {
        match Version::of(plan) {
            Some(version) => self.copy(version, || plan.freeze()),
            None => self.keep(plan.freeze()),
        }
    }

    /// The plan of a turn that the agent of this key answers.
    pub(crate) fn of_turn(&self, agent: &str, make: impl FnOnce() -> FrozenPlan) -> Arc<FrozenPlan> {
        self.copy(Version::Turn(agent.to_owned()), make)
    }

    fn copy(&self, version: Version, make: impl FnOnce() -> FrozenPlan) -> Arc<FrozenPlan> {
        let known = self.copies.lock().unwrap_or_else(PoisonError::into_inner).get(&version).cloned();
        if let Some(frozen) = known {
            return frozen;
        }
        let frozen = self.keep(make());
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if copies.len() >= KEPT {
            copies.clear();
        }
        copies.insert(version, Arc::clone(&frozen));
        frozen
    }

    /// A plan by its hash.
    ///
    /// # Errors
    /// When the store fails or does not have it.
    pub async fn get(&self, store: &dyn Store, scope: TenantScope, hash: &PlanHash) -> Result<Arc<FrozenPlan>> {
        let kept = self.plans.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned();
        if let Some(plan) = kept {
            return Ok(plan);
        }
        let plan = store.frozen_plan(scope, hash).await?;
        let plan = plan.ok_or_else(|| Error::new(ErrorCode::Internal, format!("frozen plan {hash} is missing")))?;
        Ok(self.keep(plan))
    }
}
