//! Plans, as a tool may read them, and the check that every stored plan passes.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::Result;
use crate::plan::parse::PlanDraft;
use crate::plan::{Plan, PlanFault};

/// The tenant's plans and the bundled ones.
#[async_trait]
pub trait PlanReader: Send + Sync {
    /// Those in use by their keys, the tenant's own in place of bundled ones; also those in quarantine.
    async fn in_use(&self) -> Result<Vec<Plan>>;

    /// The one in use under a key.
    async fn find(&self, key: &str) -> Result<Option<Plan>>;

    /// The newest version of a plan of the tenant's own, in use or not.
    async fn newest_own(&self, key: &str) -> Result<Option<Plan>>;

    /// The plan that a text stands for, or every fault of it.
    async fn check(&self, plan: &Value) -> Result<std::result::Result<PlanDraft, Vec<PlanFault>>>;
}
