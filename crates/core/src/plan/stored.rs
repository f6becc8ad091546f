//! A plan as it is kept: versioned, chosen by intent, perhaps for one tenant only.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::{Value, json};

use super::fault::PlanFault;
use super::frozen::FrozenPlan;
use super::limits::{MAX_BYTES_IN_USE, MAX_IN_USE};
use super::step::StepSpec;
use crate::id::PlanId;
use crate::time::Timestamp;

words! {
    /// Where a plan comes from.
    pub enum PlanOrigin {
        /// A pack of this program; the same for every tenant.
        Bundled = "bundled",
        /// Written by a tenant over the API.
        Tenant = "tenant",
    }
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The stored version's id; `None` for a bundled plan.
    pub id: Option<PlanId>,
    /// Its key, `domain.name`.
    pub key: String,
    /// The intent it serves.
    pub intent_key: String,
    /// Its pack's, or `global`.
    pub domain: String,
    /// What it does, for people and for the choice of intents.
    pub description: String,
    /// Words that speak for its intent.
    pub keywords: Vec<String>,
    /// Messages that ask for its intent.
    pub examples: Vec<String>,
    /// Among the tenant's own plans for one intent the highest wins, and among the bundled ones where it has none.
    pub priority: i64,
    /// Grows with each edit of the same key.
    pub version: u32,
    /// The expression that makes the result.
    pub output: Option<String>,
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

    /// Where it stands in a list.
    #[must_use]
    pub fn place(&self) -> PlanPlace {
        let version = if self.id.is_some() { self.version } else { 0 };
        PlanPlace { key: self.key.clone(), version }
    }

    /// The wire form.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!(self)
    }
}

/// Where a plan stands in a list: by key, newest version first, a bundled plan behind the tenant's own of its key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlanPlace {
    /// The plan's key.
    pub key: String,
    /// The version; 0 for a bundled plan.
    pub version: u32,
}

impl Ord for PlanPlace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(other.version.cmp(&self.version))
    }
}

impl PartialOrd for PlanPlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for PlanPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.version, self.key)
    }
}

/// A text that names no place in a list of plans.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("this is no place in a list of plans")]
pub struct NoPlanPlace;

impl FromStr for PlanPlace {
    type Err = NoPlanPlace;

    fn from_str(text: &str) -> Result<Self, NoPlanPlace> {
        let (version, key) = text.split_once(':').ok_or(NoPlanPlace)?;
        Ok(Self { key: key.to_owned(), version: version.parse().map_err(|_| NoPlanPlace)? })
    }
}

/// Why a tenant cannot use a plan of `bytes` as JSON beside `others` that have `others_bytes` together; `None` when it
/// can.
#[must_use]
pub fn no_room(others: u64, others_bytes: u64, bytes: u64) -> Option<String> {
    let remedy = "take one out of use first, with PATCH /api/plans/{key} and {\"active\": false}";
    if others >= MAX_IN_USE {
        return Some(format!("a tenant has at most {MAX_IN_USE} plans in use: {remedy}"));
    }
    let all = others_bytes.saturating_add(bytes);
    (all > MAX_BYTES_IN_USE).then(|| {
        format!("a tenant's plans in use have at most {MAX_BYTES_IN_USE} bytes, these would have {all}: {remedy}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_of_a_list_and_read_back() {
        let place = |key: &str, version| PlanPlace { key: key.to_owned(), version };
        let list = [place("", 0), place("a.b", 12), place("a.b", 3), place("a.b", 0), place("a.c", u32::MAX)];
        assert!(list.is_sorted());
        for place in &list {
            assert_eq!(place.to_string().parse().as_ref(), Ok(place));
        }
        for text in ["", "a.b", "x:a.b", "-1:a.b"] {
            assert_eq!(text.parse::<PlanPlace>(), Err(NoPlanPlace), "{text}");
        }
    }

    #[test]
    fn there_is_room_up_to_the_limits() {
        assert_eq!(no_room(MAX_IN_USE - 1, MAX_BYTES_IN_USE - 10, 10), None);
        assert!(no_room(MAX_IN_USE, 0, 1).is_some_and(|why| why.contains("1000 plans")));
        assert!(no_room(0, MAX_BYTES_IN_USE - 10, 11).is_some_and(|why| why.contains("4194305")));
    }
}
