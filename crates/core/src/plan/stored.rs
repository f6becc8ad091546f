//! A plan as it is kept: versioned, chosen by intent, perhaps for one tenant only.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fault::PlanFault;
use super::frozen::FrozenPlan;
use super::step::StepSpec;
use crate::id::PlanId;
use crate::time::Timestamp;

/// Where a plan comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanOrigin {
    /// A pack of this program; the same for every tenant.
    Bundled,
    /// Written by a tenant over the API.
    Tenant,
}

/// A plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The stored version's id; `None` for a bundled plan.
    pub id: Option<PlanId>,
    /// Its key, `domain.name`.
    pub key: String,
    /// The intent it serves.
    pub intent_key: String,
    /// `insurance`, `fleet`, … or `global`.
    pub domain: String,
    /// What it does, for people and for the choice of intents.
    pub description: String,
    /// Words that speak for its intent.
    pub keywords: Vec<String>,
    /// Messages that ask for its intent.
    pub examples: Vec<String>,
    /// Among plans for one intent the highest wins.
    pub priority: i64,
    /// Grows with each edit of the same key.
    pub version: u32,
    /// The expression that makes the result.
    pub output: Option<String>,
    /// The steps.
    pub steps: Vec<StepSpec>,
    /// Where it comes from.
    pub origin: PlanOrigin,
    /// An inactive plan is never chosen.
    pub active: bool,
    /// When this version was written; the epoch for a bundled plan.
    pub created_at: Timestamp,
    /// Why it cannot be used by this program, when it cannot. A quarantined plan is never chosen.
    pub quarantine: Vec<PlanFault>,
}

impl Plan {
    /// The copy that a task walks.
    #[must_use]
    pub fn freeze(&self) -> FrozenPlan {
        FrozenPlan::freeze(&self.key, self.version, self.steps.clone(), self.output.clone())
    }

    /// The wire form.
    #[must_use]
    pub fn to_json(&self) -> Value {
        super::write::plan(self)
    }
}
