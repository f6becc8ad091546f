//! Plans, for a tool. Whoever may call it may see all of them: plans belong to the whole tenant.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kybern_core::error::{ErrorCode, Result};
use kybern_core::plan::parse::PlanDraft;
use kybern_core::plan::{Plan, PlanFault};
use kybern_core::ports::PlanReader;
use serde_json::Value;

use super::NounContext;

/// The view.
pub(super) struct Plans(pub(super) NounContext);

#[async_trait]
impl PlanReader for Plans {
    async fn in_use(&self) -> Result<Vec<Plan>> {
        let own = self.0.services.plans.own(self.0.scope).await?;
        let bundled = self.0.services.plan_catalogue.registry().plans().map(|plan| (**plan).clone());
        let mut by_key: BTreeMap<String, Plan> = bundled.map(|plan| (plan.key.clone(), plan)).collect();
        by_key.extend(own.iter().filter(|plan| plan.active).map(|plan| (plan.key.clone(), plan.clone())));
        Ok(by_key.into_values().collect())
    }

    async fn find(&self, key: &str) -> Result<Option<Plan>> {
        let own = self.0.services.plans.own(self.0.scope).await?;
        Ok(self.0.services.plan_catalogue.find(&own, key).cloned())
    }

    async fn newest_own(&self, key: &str) -> Result<Option<Plan>> {
        match self.0.services.plans.newest(self.0.scope, key).await {
            Ok(plan) => Ok(Some(plan)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn check(&self, plan: &Value) -> Result<std::result::Result<PlanDraft, Vec<PlanFault>>> {
        self.0.services.plans.drafted(self.0.scope, plan).await
    }
}
