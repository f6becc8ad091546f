//! The rules of a tenant, asked about stored messages with one set of lessons or another.

use std::sync::Arc;

use kybern_core::error::Result;
use kybern_core::lesson::Lessons;
use kybern_core::model::{Classification, ClassifyInput};
use kybern_core::plan::Plan;
use kybern_core::task::Task;
use kybern_core::tenant::TenantScope;

use super::LessonService;
use crate::plans::intents::Intents;

/// What a tenant's rules are made of.
pub(super) struct Rules {
    own_plans: Arc<Vec<Plan>>,
    /// What the tenant has learned.
    pub(super) lessons: Arc<Lessons>,
    now: Intents,
}

impl Rules {
    /// Whether a plan serves an intent.
    pub(super) fn serves(&self, intent: &str) -> bool {
        self.now.keys.iter().any(|key| key == intent)
    }
}

impl LessonService {
    /// The rules of a tenant, as they are now.
    pub(super) async fn rules_of(&self, scope: TenantScope) -> Result<Rules> {
        let own_plans = self.plans.own(scope).await?;
        let lessons = self.store.lessons_in_use(scope).await?;
        let now = Intents::of(self.plan_catalogue.registry(), &own_plans, &lessons);
        Ok(Rules { own_plans, lessons, now })
    }

    /// The intents of a tenant with other lessons than those that it has.
    pub(super) fn intents_with(&self, rules: &Rules, lessons: &Lessons) -> Intents {
        Intents::of(self.plan_catalogue.registry(), &rules.own_plans, lessons)
    }

    /// What the rules say that a message wants.
    pub(super) async fn classified(&self, input: &ClassifyInput, intents: &Intents) -> Result<Classification> {
        intents.classify(self.intents.as_ref(), input).await
    }
}

/// Whether an answer needs no person, for a task with that threshold.
pub(super) fn is_sure(answer: &Classification, task: &Task) -> bool {
    answer.intent.is_some() && answer.confidence >= task.confidence_threshold
}
