//! The engine's handle: what it is made of, how it starts and how it stops.

mod services;

use std::sync::Arc;

use kybern_core::pack::PackRegistry;
use kybern_core::plan::PlanFault;
use kybern_core::ports::{
    Clock, DocumentReader, Extractor, HttpClient, IdSource, IntentModel, Keys, MailParser, MailSender, Random,
    StepHandler, Store, ToolSource, WakeUps,
};
use kybern_core::task::WorkerId;
use kybern_core::time::Millis;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::services::{Doors, Services, SharedParts, ToolDependencies};
use crate::agent::{ToolSections, TurnServices};
use crate::budget::ledger::Ledger;
use crate::budget::{CallBudget, LostReservations};
use crate::clock::TaskClock;
use crate::events::{LiveReplies, TaskWatchers};
use crate::executor::Kernel;
use crate::executor::active::ActiveRuns;
use crate::executor::tenant_names::TenantNames;
use crate::jobs::{JobHandlers, JobWorker, OutboxSender};
use crate::made::LastMade;
use crate::meter::Meter;
use crate::models::{ModelParts, ModelService};
use crate::plan::FrozenPlans;
use crate::plans::catalogue::PlanCatalogue;
use crate::plans::intents::KnownIntents;
use crate::retention::Retention;
use crate::settings::Settings;
use crate::slots::Slots;
use crate::steps::{Kinds, StepServices};
use crate::task::read::{DRAWN, DRAWN_OF_TENANT};
use crate::task::reading::ReadingTurns;
use crate::task::{TaskServices, Tasks};
use crate::tools::documents::DocumentTexts;
use crate::tools::own::source::OwnToolSource;
use crate::tools::placed::PlacedExtractor;
use crate::tools::taught::TaughtExtractors;
use crate::tools::{ToolCatalogue, ToolService};
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
    pub registry: PackRegistry,
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

/// What all clones of the engine share.
pub(crate) struct EngineInner {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) jobs: JobWorker,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) http: Arc<dyn HttpClient>,
    pub(crate) plan_catalogue: Arc<PlanCatalogue>,
    pub(crate) catalogue: Arc<ToolCatalogue>,
    pub(crate) models: ModelService,
    pub(crate) services: Services,
    pub(crate) doors: Doors,
    pub(crate) job_handlers: JobHandlers,
}

/// The engine. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<EngineInner>,
}

/// How long abandoned runs may take to stop.
const ABANDONED: Millis = Millis(5_000);

impl Engine {
    /// Puts an engine together and checks the bundled plans. Nothing runs before [`Engine::start`].
    ///
    /// # Errors
    /// When bundled plans are faulty (all faults are listed), a bundled agent is, or a pack took a key of the engine.
    pub fn new(mut parts: EngineParts) -> Result<Self, StartError> {
        crate::tools::builtin::register(&mut parts.registry)?;
        let registry = Arc::new(std::mem::take(&mut parts.registry));
        let tools = Arc::new(ToolService::new(&registry));
        let mut sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(OwnToolSource::new(Arc::clone(&parts.store)))];
        sources.append(&mut parts.tool_sources);
        let catalogue = Arc::new(ToolCatalogue::new(Arc::clone(&registry), sources, Arc::clone(&parts.clock)));
        let spawned = TaskTracker::new();
        let meter = Arc::<Meter>::default();
        let ledger = Arc::new(Ledger::new(Arc::clone(&parts.store), spawned.clone()));
        let ModelParts { providers, settings, counter } = std::mem::take(&mut parts.models);
        let models = ModelService::new(crate::models::ServiceParts {
            keys: Arc::clone(&parts.keys),
            store: Arc::clone(&parts.store),
            clock: Arc::clone(&parts.clock),
            ids: Arc::clone(&parts.ids),
            random: Arc::clone(&parts.random),
            worker: parts.worker.clone(),
            ledger: Arc::clone(&ledger),
            registry: crate::models::ModelRegistry::new(providers),
            settings,
            again: crate::models::RetryBudget::default(),
            counter,
            policies: crate::models::Policies::default(),
            spawned: spawned.clone(),
            meter: Arc::clone(&meter),
        });
        for agent in registry.agents() {
            let fault = agent.as_ref().clone().checked().and_then(|agent| registry.check_groups(&agent));
            fault.map_err(|fault| StartError::FaultyAgent { key: agent.key.clone(), fault })?;
        }
        let plan_catalogue = Arc::new(PlanCatalogue {
            registry: Arc::clone(&registry),
            workflows: parts.settings.workflows.keys().cloned().collect(),
            decisions: parts.decisions.take().or_else(|| crate::models::decisions(&models)),
            judged: LastMade::default(),
            intents: KnownIntents::default(),
            taught: TaughtExtractors::default(),
            quarantined: std::sync::RwLock::default(),
        });
        let (time, stopping) = (Arc::new(TaskClock::new(Arc::clone(&parts.clock))), CancellationToken::new());
        let services = Services::new(&SharedParts {
            parts: &parts,
            registry: &registry,
            plan_catalogue: &plan_catalogue,
            catalogue: &catalogue,
            models: &models,
            time: &time,
            stopping: &stopping,
        });
        let faults = plan_catalogue.bundled_faults(catalogue.bundled());
        if !faults.is_empty() {
            return Err(StartError::FaultyPlans(faults));
        }
        let EngineParts { store, keys, clock, ids, http, mail_parser, documents, settings, .. } = parts;
        let (texts, lives) = (DocumentTexts::default(), Arc::<LiveReplies>::default());
        let extractor: Arc<dyn Extractor> = Arc::new(PlacedExtractor(parts.extractor));
        let budget = Arc::new(CallBudget {
            store: store.clone(),
            ledger,
            worker: parts.worker.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
        });
        let turns = Arc::new(TurnServices {
            store: store.clone(),
            keys: keys.clone(),
            models: models.clone(),
            memories: services.memories.clone(),
            knowledge: services.knowledge.clone(),
            tool_sections: ToolSections::default(),
        });
        let steps = StepServices {
            store: store.clone(),
            keys: keys.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
            http: http.clone(),
            mail_parser: mail_parser.clone(),
            documents: documents.clone(),
            texts: texts.clone(),
            intents: parts.intents.clone(),
            extractor: extractor.clone(),
            understanding: settings.understanding,
            lives: lives.clone(),
            plan_catalogue: plan_catalogue.clone(),
            catalogue: catalogue.clone(),
            tools: tools.clone(),
            budget: budget.clone(),
            models: models.clone(),
            agents: services.agents.clone(),
            plans: services.plans.clone(),
            dossiers: services.dossiers.clone(),
            turns: turns.clone(),
            suspect: tokio::sync::Mutex::default(),
        };
        let share = settings.tenant_share;
        let (slots, job_slots) = (Slots::new(settings.slots, share), Slots::new(settings.job_slots, share));
        let kernel = Arc::new(Kernel {
            store,
            wake_ups: parts.wake_ups,
            clock,
            time,
            ids,
            random: parts.random,
            worker: parts.worker,
            settings,
            kinds: Arc::new(Kinds(Arc::new(steps))),
            frozen: FrozenPlans::default(),
            watchers: TaskWatchers::default(),
            lives,
            active: ActiveRuns::default(),
            tenants: TenantNames::default(),
            slots,
            claims: Trouble::default(),
            stopping,
            spawned,
            meter,
        });
        let jobs = JobWorker {
            kernel: kernel.clone(),
            wake_ups: parts.job_wake_ups,
            slots: job_slots,
            claims: Arc::default(),
        };
        let tasks = Tasks {
            kernel: kernel.clone(),
            services: Arc::new(TaskServices {
                keys: keys.clone(),
                mail_parser,
                documents,
                texts,
                tools,
                catalogue: catalogue.clone(),
                plans: services.plans.clone(),
                reading: ReadingTurns::default(),
                drawing: ReadingTurns::at_most(DRAWN, DRAWN_OF_TENANT),
            }),
        };
        let outbox = OutboxSender {
            kernel: kernel.clone(),
            keys: keys.clone(),
            http: http.clone(),
            mail_sender: parts.mail_sender,
            receivers: Arc::default(),
        };
        let doors = Doors::new(&ToolDependencies {
            tasks: &tasks,
            services: &services,
            budget: &budget,
            turns: &turns,
            jobs: &jobs,
            outbox: &outbox,
            intents: &parts.intents,
            extractor: &extractor,
        });
        let job_handlers = services::job_handlers(outbox, &services, &doors);
        let inner =
            EngineInner { kernel, jobs, keys, http, plan_catalogue, catalogue, models, services, doors, job_handlers };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Takes over what an earlier process left behind, checks the stored plans, and starts the loops.
    pub async fn start(&self) -> Result<(), StartError> {
        self.plans().refresh_quarantine().await?;
        let kernel = &self.inner.kernel;
        if kernel.time.ask(kernel.store.as_ref()).await? {
            let time = Arc::clone(&kernel.time);
            kernel.spawn(time.follow(Arc::clone(&kernel.store), kernel.settings.heartbeat, kernel.stopping.clone()));
        }
        // Whoever does no work takes none over.
        if kernel.settings.work {
            let now = kernel.clock.now();
            kernel.store.take_over(now).await?;
            kernel.store.take_over_jobs(now).await?;
            let worker = Worker { kernel: Arc::clone(kernel) };
            kernel.spawn(worker.clone().claim_loop());
            kernel.spawn(worker.heartbeat_loop());
            kernel.spawn(self.inner.jobs.clone().claim_loop(self.inner.job_handlers.clone()));
            if kernel.settings.retention != Retention::default() {
                kernel.spawn(self.removal().clone().retention_loop());
            }
            let lost = LostReservations {
                store: kernel.store.clone(),
                worker: kernel.worker.clone(),
                clock: Arc::clone(&kernel.clock),
                stopping: kernel.stopping.clone(),
            };
            kernel.spawn(lost.settle_until_stopped());
        }
        Ok(())
    }

    /// Stops: no new work; a run whose step ends within `grace` gives its lease back. What is still running then is
    /// dropped, and its lease given back, so that another worker resumes it without waiting: a call that was open is taken
    /// up by its class, as after a crash, but a stop is none and is not counted as one.
    pub async fn drain(&self, grace: Millis) {
        self.inner.kernel.stopping.cancel();
        self.inner.kernel.spawned.close();
        let waited = tokio::time::timeout(grace.as_duration(), self.inner.kernel.spawned.wait()).await;
        if waited.is_err() {
            let leases = self.inner.kernel.active.leases();
            self.inner.kernel.active.abandon_all();
            tracing::warn!(steps = leases.len(), "steps still ran at the end of the grace time and will be resumed");
            if tokio::time::timeout(ABANDONED.as_duration(), self.inner.kernel.spawned.wait()).await.is_err() {
                tracing::warn!("some runs did not stop");
            }
            for lease in &leases {
                self.inner.kernel.active.forget(lease);
            }
            // Whoever still writes under such a lease is fenced from now on.
            if let Err(error) = self.inner.kernel.store.give_back(&leases, self.inner.kernel.clock.now()).await {
                tracing::warn!(%error, "leases could not be given back and will expire");
            }
        }
    }

    /// Writes the settlements that still wait: the last act before a process ends.
    pub async fn flush_ledger(&self) {
        self.inner.models.inner.ledger.flush().await;
        // What was on its way already is waited for as well.
        self.inner.kernel.spawned.close();
        if tokio::time::timeout(ABANDONED.as_duration(), self.inner.kernel.spawned.wait()).await.is_err() {
            tracing::warn!("some settlements were still being written; they will be settled at their estimates");
        }
    }

    /// Whether no task and no job is worked on here at this moment. What is due and not claimed yet does not count.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.inner.kernel.slots.held() == 0 && self.inner.jobs.slots.held() == 0
    }

    /// The registry with all tools, plans and kinds.
    #[must_use]
    pub fn registry(&self) -> &PackRegistry {
        self.inner.plan_catalogue.registry()
    }

    /// What an operator has set.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.inner.kernel.settings
    }

    /// Everything that is stored. For reads that need no more than a scope.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.kernel.store
    }

    /// Derivations of the master key.
    #[must_use]
    pub fn keys(&self) -> &Arc<dyn Keys> {
        &self.inner.keys
    }

    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.kernel.clock
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
        &self.inner.kernel.ids
    }
}
