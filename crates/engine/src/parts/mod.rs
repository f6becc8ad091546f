//! The engine's handle: what it is made of, how it starts and how it stops.

mod services;

use std::sync::Arc;

use kybern_core::pack::Registry;
use kybern_core::plan::PlanFault;
use kybern_core::ports::{
    Clock, DocumentReader, Extractor, HttpClient, IdSource, IntentModel, Keys, MailParser, MailSender, Random,
    StepHandler, Store, ToolSource, WakeUps,
};
use kybern_core::task::WorkerId;
use kybern_core::time::Millis;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::services::{Doors, Services, Shared};
use crate::agent::ToolSections;
use crate::budget::LostReservations;
use crate::budget::ledger::Ledger;
use crate::clock::TaskClock;
use crate::events::{Lives, Watchers};
use crate::executor::active::ActiveRuns;
use crate::executor::tenant_names::TenantNames;
use crate::executor::view::TaskView;
use crate::jobs::{JobWorker, Receivers};
use crate::meter::Meter;
use crate::models::{ModelParts, ModelService};
use crate::plan::FrozenPlans;
use crate::plans::catalog::{Catalog, JudgedPlans};
use crate::plans::intents::KnownIntents;
use crate::retention::Retention;
use crate::settings::Settings;
use crate::slots::Slots;
use crate::task::read::{DRAWN, DRAWN_OF_TENANT};
use crate::task::reading::Reading;
use crate::tools::ToolCatalogue;
use crate::tools::ToolService;
use crate::tools::documents::DocumentTexts;
use crate::tools::own::source::OwnToolSource;
use crate::tools::placed::Placed;
use crate::tools::taught::TaughtExtractors;
use crate::trouble::Trouble;
use crate::worker::Worker;

/// What an engine is made of.
pub struct EngineParts {
    /// Everything that is stored.
    pub store: Arc<dyn Store>,
    /// Hints that something is due, for the claims of tasks.
    pub wake_ups: Arc<dyn WakeUps>,
    /// The same for the claims of jobs: a listener of its own, so that neither takes the other's hint.
    pub job_wake_ups: Arc<dyn WakeUps>,
    /// What the packs brought. The engine adds its own tools.
    pub registry: Registry,
    /// Derivations of the master key.
    pub keys: Arc<dyn Keys>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Where ids come from.
    pub ids: Arc<dyn IdSource>,
    /// Where tenants' tools come from besides their own HTTP tools.
    pub tool_sources: Vec<Arc<dyn ToolSource>>,
    /// Jitter.
    pub random: Arc<dyn Random>,
    /// HTTP through the egress policy.
    pub http: Arc<dyn HttpClient>,
    /// Takes mail apart.
    pub mail_parser: Arc<dyn MailParser>,
    /// Sends mail; `None` when no way out is configured.
    pub mail_sender: Option<Arc<dyn MailSender>>,
    /// Reads documents.
    pub documents: Arc<dyn DocumentReader>,
    /// Finds out what is wanted.
    pub intents: Arc<dyn IntentModel>,
    /// Gets fields out of documents.
    pub extractor: Arc<dyn Extractor>,
    /// Runs `decision` steps in place of the engine's own handler, which asks the language models. Without either they
    /// are plan faults.
    pub decisions: Option<Arc<dyn StepHandler>>,
    /// The language models.
    pub models: ModelParts,
    /// This run of this process.
    pub worker: WorkerId,
    /// What an operator may set.
    pub settings: Settings,
}

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Bundled plans do not fit the registered tools.
    #[error("{} bundled plan faults, first: {}", .0.len(), .0.first().map_or_else(String::new, ToString::to_string))]
    FaultyPlans(Vec<PlanFault>),
    /// An agent that a pack brings is none.
    #[error("the bundled agent {key:?} is refused")]
    FaultyAgent {
        /// Its key.
        key: String,
        /// What is wrong with it.
        #[source]
        fault: kybern_core::error::Error,
    },
    /// A pack took a key of the engine.
    #[error(transparent)]
    Duplicate(#[from] kybern_core::pack::DuplicateKey),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] kybern_core::error::Error),
}

/// What all parts of the engine share.
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) wake_ups: Arc<dyn WakeUps>,
    pub(crate) job_wake_ups: Arc<dyn WakeUps>,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) time: Arc<TaskClock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) http: Arc<dyn HttpClient>,
    pub(crate) mail_parser: Arc<dyn MailParser>,
    pub(crate) mail_sender: Option<Arc<dyn MailSender>>,
    pub(crate) documents: Arc<dyn DocumentReader>,
    pub(crate) texts: DocumentTexts,
    pub(crate) intents: Arc<dyn IntentModel>,
    pub(crate) extractor: Arc<dyn Extractor>,
    pub(crate) worker: WorkerId,
    pub(crate) settings: Settings,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) services: Services,
    pub(crate) tool_sections: ToolSections,
    pub(crate) tools: ToolService,
    pub(crate) catalogue: Arc<ToolCatalogue>,
    pub(crate) models: ModelService,
    pub(crate) frozen: FrozenPlans,
    pub(crate) watchers: Watchers<TaskView>,
    pub(crate) lives: Lives,
    pub(crate) active: ActiveRuns,
    pub(crate) tenants: TenantNames,
    pub(crate) reading: Reading,
    pub(crate) slots: Arc<Slots>,
    pub(crate) job_slots: Arc<Slots>,
    pub(crate) receivers: Arc<Receivers>,
    /// What claims of tasks fail at.
    pub(crate) claims: Trouble,
    /// What claims of jobs fail at.
    pub(crate) job_claims: Trouble,
    /// Held by a call of which a worker may have died.
    pub(crate) suspect: tokio::sync::Mutex<()>,
    /// Whose turn it is to have a page drawn.
    pub(crate) drawing: Reading,
    pub(crate) stopping: CancellationToken,
    pub(crate) spawned: TaskTracker,
    /// What this process counts of its work.
    pub(crate) meter: Arc<Meter>,
}

impl Inner {
    /// Spawns something that ends when the engine stops.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        #[expect(clippy::disallowed_methods, reason = "the engine's one place for tracked background work")]
        tokio::spawn(self.spawned.track_future(work));
    }
}

/// The engine. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
    pub(crate) doors: Arc<Doors>,
}

/// How long abandoned runs may take to stop.
const ABANDONED: Millis = Millis(5_000);

impl Engine {
    /// Puts an engine together and checks the bundled plans. Nothing runs before [`Engine::start`].
    ///
    /// # Errors
    /// When bundled plans are faulty (all faults are listed), a bundled agent is, or a pack took a key of the engine.
    pub fn new(parts: EngineParts) -> Result<Self, StartError> {
        let mut registry = parts.registry;
        crate::tools::builtin::register(&mut registry)?;
        let registry = Arc::new(registry);
        let tools = ToolService::new(&registry);
        let mut sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(OwnToolSource::new(Arc::clone(&parts.store)))];
        sources.extend(parts.tool_sources);
        let catalogue = Arc::new(ToolCatalogue::new(Arc::clone(&registry), sources, Arc::clone(&parts.clock)));
        let spawned = TaskTracker::new();
        let meter = Arc::<Meter>::default();
        let models = ModelService::new(crate::models::Inner {
            keys: Arc::clone(&parts.keys),
            store: Arc::clone(&parts.store),
            clock: Arc::clone(&parts.clock),
            ids: Arc::clone(&parts.ids),
            random: Arc::clone(&parts.random),
            worker: parts.worker.clone(),
            ledger: Arc::new(Ledger::new(Arc::clone(&parts.store), spawned.clone())),
            registry: crate::models::Registry::new(parts.models.providers),
            settings: parts.models.settings,
            again: crate::models::RetryBudget::default(),
            counter: parts.models.counter,
            policies: crate::models::Policies::default(),
            spawned: spawned.clone(),
            meter: Arc::clone(&meter),
        });
        for agent in registry.agents() {
            let fault = agent.as_ref().clone().checked().and_then(|agent| registry.check_groups(&agent));
            fault.map_err(|fault| StartError::FaultyAgent { key: agent.key.clone(), fault })?;
        }
        let catalog = Arc::new(Catalog {
            registry: Arc::clone(&registry),
            workflows: parts.settings.workflows.keys().cloned().collect(),
            decisions: parts.decisions.or_else(|| crate::models::decisions(&models)),
            judged: JudgedPlans::default(),
            intents: KnownIntents::default(),
            taught: TaughtExtractors::default(),
            quarantined: std::sync::RwLock::default(),
        });
        let (time, stopping) = (Arc::new(TaskClock::new(Arc::clone(&parts.clock))), CancellationToken::new());
        let services = Services::new(&Shared {
            store: &parts.store,
            clock: &parts.clock,
            ids: &parts.ids,
            keys: &parts.keys,
            http: &parts.http,
            documents: &parts.documents,
            settings: &parts.settings,
            registry: &registry,
            catalog: &catalog,
            catalogue: &catalogue,
            models: &models,
            time: &time,
            stopping: &stopping,
        });
        let faults = catalog.bundled_faults(catalogue.bundled());
        if !faults.is_empty() {
            return Err(StartError::FaultyPlans(faults));
        }
        let share = parts.settings.tenant_share;
        let slots = Slots::new(parts.settings.slots, share);
        let job_slots = Slots::new(parts.settings.job_slots, share);
        let inner = Inner {
            store: parts.store,
            wake_ups: parts.wake_ups,
            job_wake_ups: parts.job_wake_ups,
            keys: parts.keys,
            time,
            clock: parts.clock,
            ids: parts.ids,
            random: parts.random,
            http: parts.http,
            mail_parser: parts.mail_parser,
            mail_sender: parts.mail_sender,
            documents: parts.documents,
            texts: DocumentTexts::default(),
            intents: parts.intents,
            extractor: Arc::new(Placed(parts.extractor)),
            worker: parts.worker,
            settings: parts.settings,
            catalog,
            services,
            tool_sections: ToolSections::default(),
            tools,
            catalogue,
            models,
            frozen: FrozenPlans::default(),
            watchers: Watchers::default(),
            lives: Lives::default(),
            active: ActiveRuns::default(),
            tenants: TenantNames::default(),
            reading: Reading::default(),
            slots,
            job_slots,
            receivers: Arc::default(),
            claims: Trouble::default(),
            job_claims: Trouble::default(),
            suspect: tokio::sync::Mutex::default(),
            drawing: Reading::at_most(DRAWN, DRAWN_OF_TENANT),
            stopping,
            spawned,
            meter,
        };
        let inner = Arc::new(inner);
        Ok(Self { doors: Arc::new(Doors::new(&inner)), inner })
    }

    /// Takes over what an earlier process left behind, checks the stored plans, and starts the loops.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn start(&self) -> Result<(), StartError> {
        self.plans().refresh_quarantine().await?;
        let inner = &self.inner;
        if inner.time.ask(inner.store.as_ref()).await? {
            let time = Arc::clone(&inner.time);
            inner.spawn(time.follow(Arc::clone(&inner.store), inner.settings.heartbeat, inner.stopping.clone()));
        }
        // Whoever does no work takes none over.
        if inner.settings.work {
            let now = inner.clock.now();
            inner.store.take_over(now).await?;
            inner.store.take_over_jobs(now).await?;
            let worker = Worker { inner: Arc::clone(inner) };
            inner.spawn(worker.clone().claim_loop());
            inner.spawn(worker.heartbeat_loop());
            inner.spawn(JobWorker { inner: Arc::clone(inner) }.claim_loop(self.job_handlers()));
            if inner.settings.retention != Retention::default() {
                inner.spawn(self.removal().clone().retention_loop());
            }
            let lost = LostReservations {
                store: inner.store.clone(),
                worker: inner.worker.clone(),
                clock: Arc::clone(&inner.clock),
                stopping: inner.stopping.clone(),
            };
            inner.spawn(lost.settle_until_stopped());
        }
        Ok(())
    }

    /// Stops: no new work; a run whose step ends within `grace` gives its lease back. What is still running then is
    /// dropped, and its lease given back, so that another worker resumes it without waiting: a call that was open is taken
    /// up by its class, as after a crash, but a stop is none and is not counted as one.
    pub async fn drain(&self, grace: Millis) {
        self.inner.stopping.cancel();
        self.inner.spawned.close();
        let waited = tokio::time::timeout(grace.as_duration(), self.inner.spawned.wait()).await;
        if waited.is_err() {
            let leases = self.inner.active.leases();
            self.inner.active.abandon_all();
            tracing::warn!(steps = leases.len(), "steps still ran at the end of the grace time and will be resumed");
            if tokio::time::timeout(ABANDONED.as_duration(), self.inner.spawned.wait()).await.is_err() {
                tracing::warn!("some runs did not stop");
            }
            for lease in &leases {
                self.inner.active.forget(lease);
            }
            // Whoever still writes under such a lease is fenced from now on.
            if let Err(error) = self.inner.store.give_back(&leases, self.inner.clock.now()).await {
                tracing::warn!(%error, "leases could not be given back and will expire");
            }
        }
    }

    /// Writes the settlements that still wait: the last act before a process ends.
    pub async fn flush_ledger(&self) {
        self.inner.models.inner.ledger.flush().await;
        // What was on its way already is waited for as well.
        self.inner.spawned.close();
        if tokio::time::timeout(ABANDONED.as_duration(), self.inner.spawned.wait()).await.is_err() {
            tracing::warn!("some settlements were still being written; they will be settled at their estimates");
        }
    }

    /// The registry with all tools, plans and kinds.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        self.inner.catalog.registry()
    }

    /// What an operator has set.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Everything that is stored. For reads that need no more than a scope.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Derivations of the master key.
    #[must_use]
    pub fn keys(&self) -> &Arc<dyn Keys> {
        &self.inner.keys
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// The language models.
    #[must_use]
    pub fn models(&self) -> &ModelService {
        &self.inner.models
    }

    /// The way to the outside, through the egress policy.
    #[must_use]
    pub fn http(&self) -> &Arc<dyn HttpClient> {
        &self.inner.http
    }

    /// Where ids come from.
    #[must_use]
    pub fn ids(&self) -> &Arc<dyn IdSource> {
        &self.inner.ids
    }
}
