//! The plans of the packs, as a tool reads them.

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::plan::parse::PlanDraft;
use kybern_core::plan::{Plan, PlanFault, parse};
use kybern_core::ports::PlanReader;
use serde_json::Value;

use super::packs::registry;

/// No tenant has plans of its own.
pub(super) struct Bundled;

#[async_trait]
impl PlanReader for Bundled {
    async fn in_use(&self) -> Result<Vec<Plan>> {
        Ok(registry().plans().map(|plan| Plan::clone(plan)).collect())
    }

    async fn find(&self, key: &str) -> Result<Option<Plan>> {
        Ok(registry().find_plan(key).map(|plan| Plan::clone(plan)))
    }

    async fn newest_own(&self, _key: &str) -> Result<Option<Plan>> {
        Ok(None)
    }

    async fn check(&self, plan: &Value) -> Result<std::result::Result<PlanDraft, Vec<PlanFault>>> {
        Ok(parse::plan(plan))
    }
}
