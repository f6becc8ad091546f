//! The rules of a tenant, asked about stored messages with one set of lessons or another.

use std::sync::Arc;

use kybern_core::error::Result;
use kybern_core::lesson::Lessons;
use kybern_core::model::{Classification, ClassifyInput};
use kybern_core::plan::Plan;
use kybern_core::task::Task;
use kybern_core::tenant::TenantScope;

use crate::Engine;
use crate::executor::walk::Walk;
use crate::executor::{Phase, decided};
use crate::plan::intents::Intents;
use crate::tools::documents::TaskDocuments;

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

impl Engine {
    /// The rules of a tenant, as they are now.
    pub(super) async fn rules_of(&self, scope: TenantScope) -> Result<Rules> {
        let own_plans = self.plans().own(scope).await?;
        let lessons = self.inner.store.lessons_in_use(scope).await?;
        let now = Intents::of(self.inner.catalog.registry(), &own_plans, &lessons);
        Ok(Rules { own_plans, lessons, now })
    }

    /// The intents of a tenant with other lessons than those that it has.
    pub(super) fn intents_with(&self, rules: &Rules, lessons: &Lessons) -> Intents {
        Intents::of(self.inner.catalog.registry(), &rules.own_plans, lessons)
    }

    /// What the rules say that a message wants.
    pub(super) async fn classified(&self, input: &ClassifyInput, intents: &Intents) -> Result<Classification> {
        intents.classify(self.inner.intents.as_ref(), input).await
    }

    /// The documents of a task that was read before, with what was decided about them then.
    pub(crate) fn documents_of(&self, scope: TenantScope, task: &Task, walk: &Walk) -> TaskDocuments {
        let outcome = walk.phase(Phase::Extraction).and_then(|phase| phase.outcome.as_ref());
        TaskDocuments {
            store: Arc::clone(&self.inner.store),
            reader: Arc::clone(&self.inner.documents),
            parser: Arc::clone(&self.inner.mail_parser),
            texts: self.inner.texts.clone(),
            scope,
            task: task.id,
            decisions: outcome.map(|outcome| decided(&outcome.data)).unwrap_or_default(),
        }
    }
}

/// Whether an answer needs no person, for a task with that threshold.
pub(super) fn is_sure(answer: &Classification, task: &Task) -> bool {
    answer.intent.is_some() && answer.confidence >= task.confidence_threshold
}
