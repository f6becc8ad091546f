//! What the steps of all tasks work with, and what is read for those of one.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::lesson::Lessons;
use kybern_core::plan::{StepKind, StepSpec};
use kybern_core::ports::{
    Clock, DocumentReader, Extractor, HttpClient, IdSource, IntentModel, Keys, MailParser, Store,
};
use kybern_core::task::{Channel, Effect, Lease, Task, limits};
use kybern_core::time::Timestamp;
use tokio::sync::mpsc;

use super::lessons::read_with;
use super::talk::TaskTalk;
use super::task_steps::{TaskShared, TaskSteps};
use crate::agent::{Agents, TurnServices};
use crate::budget::CallBudget;
use crate::dossier::Dossiers;
use crate::events::LiveReplies;
use crate::executor::lessons::version_of;
use crate::executor::steps::{LoadedSteps, StepKinds};
use crate::executor::walk::Walk;
use crate::models::ModelService;
use crate::plans::catalogue::PlanCatalogue;
use crate::plans::manage::Plans;
use crate::settings::ModelUse;
use crate::tools::documents::DocumentTexts;
use crate::tools::read_once::ExtractionCache;
use crate::tools::{Grant, ToolCatalogue, ToolService};

/// What the steps of all tasks work with.
pub(crate) struct StepServices {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) http: Arc<dyn HttpClient>,
    pub(crate) mail_parser: Arc<dyn MailParser>,
    pub(crate) documents: Arc<dyn DocumentReader>,
    pub(crate) texts: DocumentTexts,
    pub(crate) intents: Arc<dyn IntentModel>,
    pub(crate) extractor: Arc<dyn Extractor>,
    /// When a language model is asked what messages want and what documents say.
    pub(crate) understanding: ModelUse,
    pub(crate) lives: Arc<LiveReplies>,
    pub(crate) plan_catalogue: Arc<PlanCatalogue>,
    pub(crate) catalogue: Arc<ToolCatalogue>,
    pub(crate) tools: Arc<ToolService>,
    pub(crate) budget: Arc<CallBudget>,
    pub(crate) models: ModelService,
    pub(crate) agents: Agents,
    pub(crate) plans: Plans,
    pub(crate) dossiers: Dossiers,
    /// What the questions of turns are made with.
    pub(crate) turns: Arc<TurnServices>,
    /// Held by a call of which a worker may have died.
    pub(crate) suspect: tokio::sync::Mutex<()>,
}

impl StepServices {
    /// Whether any model is asked what messages want and what documents say.
    pub(super) fn reads_with_model(&self) -> bool {
        self.understanding != ModelUse::Off && self.models.converses()
    }
}

/// All kinds of steps, for the kernel.
pub(crate) struct Kinds(pub(crate) Arc<StepServices>);

#[async_trait]
impl StepKinds for Kinds {
    async fn load(
        &self,
        lease: &Lease,
        task: &Task,
        (walk, has_documents): (&Walk, bool),
        asks_agents: bool,
    ) -> Result<LoadedSteps> {
        let (services, scope) = (&self.0, lease.scope());
        let agents = if asks_agents { services.agents.list(scope).await? } else { Arc::default() };
        let needs_plans = walk.plan().is_none_or(|plan| plan.steps.iter().any(|step| starts_children(step)));
        let plans = if needs_plans { services.plans.own(scope).await? } else { Arc::default() };
        // Phases use them; a call that reads without any takes them up when it begins.
        let has_phases = walk.plan().is_none() || has_documents || task.channel == Channel::Email;
        let lessons = if has_phases || version_of(walk).is_some() {
            read_with(walk, &*services.store.lessons_in_use(scope).await?)
        } else {
            Lessons::default()
        };
        let (notes, noted) = services.reads_with_model().then(|| mpsc::channel(limits::MAX_PARALLEL)).unzip();
        let live = task.turn().map(|_| services.lives.of(task.id));
        let shared =
            TaskShared { read: ExtractionCache::default(), talk: TaskTalk::new(live), answers: Arc::default(), notes };
        let steps = TaskSteps {
            services: Arc::clone(services),
            shared: Arc::new(shared),
            grant: Grant::plan(),
            tools: Arc::clone(services.catalogue.bundled()),
            plans,
            lessons,
            agents,
        };
        Ok(LoadedSteps { steps: Arc::new(steps), notes: noted })
    }

    fn effect_of_lost_end(&self, task: &Task, at: Timestamp) -> Option<Effect> {
        crate::chat::no_answer(task, at).map(Effect::Answer)
    }
}

fn starts_children(step: &StepSpec) -> bool {
    matches!(step.kind, StepKind::Task { .. }) || step.kind.inner().into_iter().flatten().any(starts_children)
}
