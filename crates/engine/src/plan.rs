//! Frozen plans, as tasks are walked by them.

use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::cache::ByteCache;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::PlanId;
use kybern_core::plan::{FrozenPlan, Plan, PlanHash, PlanOrigin};
use kybern_core::ports::Store;
use kybern_core::tenant::TenantScope;

/// Bytes of frozen plans that are kept in memory: thousands of usual ones, a dozen of the largest.
const KEPT: usize = 64 * 1024 * 1024;
/// A plan in memory is so many times as large as its JSON: the text, its steps once more, and what they were read into.
const WEIGHT: usize = 8;

/// Frozen plans by hash. They are immutable, so they are read once.
pub struct FrozenPlans {
    plans: Mutex<ByteCache<PlanHash, Arc<FrozenPlan>>>,
    /// The frozen copies of stored and of bundled plans, whose versions are immutable too.
    copies: Mutex<ByteCache<Version, Arc<FrozenPlan>>>,
}

impl Default for FrozenPlans {
    fn default() -> Self {
        Self { plans: Mutex::new(ByteCache::new(KEPT)), copies: Mutex::new(ByteCache::new(KEPT)) }
    }
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

fn weight(plan: &FrozenPlan) -> usize {
    WEIGHT * plan.body().len()
}

impl FrozenPlans {
    pub fn keep(&self, plan: impl Into<Arc<FrozenPlan>>) -> Arc<FrozenPlan> {
        let plan = plan.into();
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = plans.get(plan.hash()) {
            return kept;
        }
        plans.keep(plan.hash().clone(), Arc::clone(&plan), weight(&plan));
        plan
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
        let known = self.copies.lock().unwrap_or_else(PoisonError::into_inner).get(&version);
        if let Some(frozen) = known {
            return frozen;
        }
        let frozen = self.keep(make());
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        copies.keep(version, Arc::clone(&frozen), weight(&frozen));
        frozen
    }

    /// A plan by its hash.
    ///
    /// # Errors
    /// When the store fails; `UNPROCESSABLE` when it does not have it, or this program cannot read it.
    pub async fn get(&self, store: &dyn Store, scope: TenantScope, hash: &PlanHash) -> Result<Arc<FrozenPlan>> {
        let kept = self.plans.lock().unwrap_or_else(PoisonError::into_inner).get(hash);
        if let Some(plan) = kept {
            return Ok(plan);
        }
        let unreadable = |problem: String| {
            let message = format!("the frozen plan cannot be read: {problem}; `kybern doctor` says what to do");
            Error::new(ErrorCode::Unprocessable, message)
        };
        let plan = store.frozen_plan(scope, hash).await.map_err(|error| match error.code() {
            ErrorCode::Internal => unreadable(error.to_string()),
            _other => error,
        })?;
        Ok(self.keep(plan.ok_or_else(|| unreadable(format!("{hash} is missing")))?))
    }
}
