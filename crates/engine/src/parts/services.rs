//! The services above the kernel, by what they look after. Each holds the ports that it uses and nothing else.

use std::sync::Arc;

use kybern_core::outbox::SEND_JOB;
use kybern_core::pack::PackRegistry;
use kybern_core::ports::{Extractor, IntentModel};
use tokio_util::sync::CancellationToken;

use super::{Engine, EngineParts};
use crate::agent::{Agents, TurnServices};
use crate::approval::Approvals;
use crate::audit::AuditTrail;
use crate::budget::{Budgets, CallBudget};
use crate::chat::Chats;
use crate::clock::TaskClock;
use crate::dossier::Dossiers;
use crate::identity::Identity;
use crate::intake::Intake;
use crate::invocation::Invocations;
use crate::jobs::{JobHandler, JobHandlers, JobWorker, OutboxSender};
use crate::knowledge::{INDEX_JOB, Knowledge};
use crate::lesson::{LEARN_JOB, Learner, LessonService, PREVIEWS, TEACH_JOB, Teacher};
use crate::memory::{Memories, SUGGEST_JOB};
use crate::models::ModelService;
use crate::outbox::Outbox;
use crate::plans::catalogue::PlanCatalogue;
use crate::plans::manage::Plans;
use crate::preference::PreferenceService;
use crate::prompt::{Previews, Prompts};
use crate::readiness::Health;
use crate::record::Records;
use crate::retention::Removal;
use crate::secret::Secrets;
use crate::task::Tasks;
use crate::task::reading::ReadingTurns;
use crate::tools::{DeclaredKinds, OwnTools, ToolCatalogue, ToolSettings};

pub(crate) struct Services {
    pub(crate) agents: Agents,
    pub(crate) audit: AuditTrail,
    pub(crate) budgets: Budgets,
    pub(crate) dossiers: Dossiers,
    pub(crate) identity: Identity,
    pub(crate) knowledge: Knowledge,
    pub(crate) memories: Memories,
    pub(crate) outbox: Outbox,
    pub(crate) own_tools: OwnTools,
    pub(crate) plans: Plans,
    pub(crate) preferences: PreferenceService,
    pub(crate) prompts: Prompts,
    pub(crate) records: Records,
    pub(crate) removal: Removal,
    pub(crate) secrets: Secrets,
    pub(crate) tool_settings: ToolSettings,
}

/// What services share: the ports, and what has been made of the other parts, which are taken out by then.
pub(crate) struct SharedParts<'a> {
    pub(crate) parts: &'a EngineParts,
    pub(crate) registry: &'a Arc<PackRegistry>,
    pub(crate) plan_catalogue: &'a Arc<PlanCatalogue>,
    pub(crate) catalogue: &'a Arc<ToolCatalogue>,
    pub(crate) models: &'a ModelService,
    pub(crate) time: &'a Arc<TaskClock>,
    pub(crate) stopping: &'a CancellationToken,
}

impl Services {
    pub(crate) fn new(shared: &SharedParts<'_>) -> Self {
        let SharedParts { parts, registry, plan_catalogue, catalogue, models, time, stopping } = *shared;
        let EngineParts { store, clock, ids, keys, http, documents, settings, .. } = parts;
        let self_approval = settings.self_approval;
        let agents = Agents {
            store: store.clone(),
            prompts: store.clone(),
            registry: registry.clone(),
            merged: Arc::default(),
            self_approval,
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let removal = Removal {
            store: store.clone(),
            audit: store.clone(),
            settings: settings.retention.clone(),
            time: time.clone(),
            stopping: stopping.clone(),
        };
        let memories = Memories {
            store: store.clone(),
            users: store.clone(),
            records: store.clone(),
            models: models.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let dossiers = Dossiers {
            store: store.clone(),
            records: store.clone(),
            registry: registry.clone(),
            memories: memories.clone(),
            clock: clock.clone(),
        };
        Self {
            audit: AuditTrail {
                store: store.clone(),
                removal: removal.clone(),
                keys: keys.clone(),
                clock: clock.clone(),
            },
            budgets: Budgets { store: store.clone(), users: store.clone(), clock: clock.clone(), ids: ids.clone() },
            identity: Identity {
                store: store.clone(),
                permissions: store.clone(),
                audit: store.clone(),
                catalogue: catalogue.clone(),
                http: http.clone(),
                keys: keys.clone(),
                clock: clock.clone(),
                ids: ids.clone(),
            },
            knowledge: Knowledge {
                store: store.clone(),
                blobs: store.clone(),
                documents: documents.clone(),
                models: models.clone(),
                clock: clock.clone(),
                ids: ids.clone(),
            },
            memories,
            dossiers,
            outbox: Outbox { store: store.clone(), tasks: store.clone(), clock: clock.clone(), ids: ids.clone() },
            own_tools: OwnTools {
                store: store.clone(),
                users: store.clone(),
                catalogue: catalogue.clone(),
                self_approval,
                clock: clock.clone(),
                ids: ids.clone(),
            },
            preferences: PreferenceService { store: store.clone(), users: store.clone(), clock: clock.clone() },
            plans: Plans {
                store: store.clone(),
                plan_catalogue: plan_catalogue.clone(),
                tools: catalogue.clone(),
                agents: agents.clone(),
                clock: clock.clone(),
                ids: ids.clone(),
            },
            prompts: Prompts {
                store: store.clone(),
                users: store.clone(),
                agents: agents.clone(),
                self_approval,
                clock: clock.clone(),
            },
            records: Records {
                store: store.clone(),
                admin: store.clone(),
                kinds: Arc::new(DeclaredKinds::of(registry)),
                clock: clock.clone(),
            },
            secrets: Secrets { store: store.clone(), keys: keys.clone(), clock: clock.clone() },
            tool_settings: ToolSettings { store: store.clone(), catalogue: catalogue.clone(), clock: clock.clone() },
            agents,
            removal,
        }
    }
}

impl Engine {
    /// The agents of tenants.
    #[must_use]
    pub fn agents(&self) -> &Agents {
        &self.inner.services.agents
    }

    /// The audit trails of tenants.
    #[must_use]
    pub fn audit(&self) -> &AuditTrail {
        &self.inner.services.audit
    }

    /// Budgets and usage.
    #[must_use]
    pub fn budgets(&self) -> &Budgets {
        &self.inner.services.budgets
    }

    /// What tenants know of entities.
    #[must_use]
    pub fn dossiers(&self) -> &Dossiers {
        &self.inner.services.dossiers
    }

    /// Tenants, users, keys, webhooks and permissions.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.inner.services.identity
    }

    /// The documents that agents may quote.
    #[must_use]
    pub fn knowledge(&self) -> &Knowledge {
        &self.inner.services.knowledge
    }

    /// What is remembered of users and records.
    #[must_use]
    pub fn memories(&self) -> &Memories {
        &self.inner.services.memories
    }

    /// What left or wants to leave.
    #[must_use]
    pub fn outbox(&self) -> &Outbox {
        &self.inner.services.outbox
    }

    /// The HTTP tools that tenants have written.
    #[must_use]
    pub fn own_tools(&self) -> &OwnTools {
        &self.inner.services.own_tools
    }

    /// The plans of tenants.
    #[must_use]
    pub fn plans(&self) -> &Plans {
        &self.inner.services.plans
    }

    /// What users want to be answered like.
    #[must_use]
    pub fn preferences(&self) -> &PreferenceService {
        &self.inner.services.preferences
    }

    /// Governed prompts.
    #[must_use]
    pub fn prompts(&self) -> &Prompts {
        &self.inner.services.prompts
    }

    /// The records of tenants.
    #[must_use]
    pub fn records(&self) -> &Records {
        &self.inner.services.records
    }

    /// Removes what is over and old.
    #[must_use]
    pub fn removal(&self) -> &Removal {
        &self.inner.services.removal
    }

    /// The secrets of tenants.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.inner.services.secrets
    }

    /// What tenants say about their tools.
    #[must_use]
    pub fn tool_settings(&self) -> &ToolSettings {
        &self.inner.services.tool_settings
    }
}

/// Who carries out which kind of job.
pub(super) fn job_handlers(outbox: OutboxSender, services: &Services, doors: &Doors) -> JobHandlers {
    JobHandlers::from([
        (SEND_JOB, Arc::new(outbox) as Arc<dyn JobHandler>),
        (INDEX_JOB, Arc::new(services.knowledge.clone())),
        (SUGGEST_JOB, Arc::new(services.memories.clone())),
        (LEARN_JOB, Arc::new(Learner(doors.lessons.clone()))),
        (TEACH_JOB, Arc::new(Teacher(doors.lessons.clone()))),
    ])
}

/// The services that begin, steer and answer tasks.
pub(crate) struct Doors {
    approvals: Approvals,
    chats: Chats,
    health: Health,
    intake: Intake,
    invocations: Invocations,
    lessons: LessonService,
    previews: Previews,
    tasks: Tasks,
}

/// What lies behind the doors.
pub(crate) struct ToolDependencies<'a> {
    pub(crate) tasks: &'a Tasks,
    pub(crate) services: &'a Services,
    pub(crate) budget: &'a Arc<CallBudget>,
    pub(crate) turns: &'a Arc<TurnServices>,
    pub(crate) jobs: &'a JobWorker,
    pub(crate) outbox: &'a OutboxSender,
    pub(crate) intents: &'a Arc<dyn IntentModel>,
    pub(crate) extractor: &'a Arc<dyn Extractor>,
}

impl Doors {
    pub(crate) fn new(behind: &ToolDependencies<'_>) -> Self {
        let ToolDependencies { tasks, services, budget, turns, jobs, outbox, intents, extractor } = *behind;
        let (kernel, plans) = (&tasks.kernel, &services.plans);
        let (store, catalogue) = (&kernel.store, &tasks.services.catalogue);
        let chats = Chats { tasks: tasks.clone(), agents: services.agents.clone(), removal: services.removal.clone() };
        Self {
            approvals: Approvals {
                store: store.clone(),
                task_rows: store.clone(),
                tasks: tasks.clone(),
                time: kernel.time.clone(),
            },
            health: Health {
                kernel: kernel.clone(),
                jobs: jobs.clone(),
                receivers: outbox.receivers.clone(),
                mail_sender: outbox.mail_sender.clone(),
                plan_catalogue: plans.plan_catalogue.clone(),
                models: turns.models.clone(),
                removal: services.removal.clone(),
            },
            previews: Previews {
                chats: chats.clone(),
                agents: services.agents.clone(),
                catalogue: catalogue.clone(),
                turns: turns.clone(),
                clock: kernel.clock.clone(),
                ids: kernel.ids.clone(),
            },
            chats,
            intake: Intake {
                tenants: store.clone(),
                outbox: store.clone(),
                parser: tasks.services.mail_parser.clone(),
                tasks: tasks.clone(),
                domain: kernel.settings.intake_domain.clone(),
                trusted_authserv: kernel.settings.trusted_authserv.clone(),
            },
            invocations: Invocations { tasks: tasks.clone(), budget: budget.clone() },
            lessons: LessonService {
                store: store.clone(),
                task_rows: store.clone(),
                tasks: tasks.clone(),
                plans: plans.clone(),
                removal: services.removal.clone(),
                plan_catalogue: plans.plan_catalogue.clone(),
                intents: intents.clone(),
                extractor: extractor.clone(),
                previewing: Arc::new(ReadingTurns::at_most(PREVIEWS, 1)),
                clock: kernel.clock.clone(),
                records: store.clone(),
                ids: kernel.ids.clone(),
            },
            tasks: tasks.clone(),
        }
    }
}

impl Engine {
    /// What waits for persons.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.inner.doors.approvals
    }

    /// Conversations.
    #[must_use]
    pub fn chats(&self) -> &Chats {
        &self.inner.doors.chats
    }

    /// How this process is.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.inner.doors.health
    }

    /// Prompts that are written down and not sent.
    #[must_use]
    pub fn previews(&self) -> &Previews {
        &self.inner.doors.previews
    }

    /// Takes in what comes by mail, webhook and SMS.
    #[must_use]
    pub fn intake(&self) -> &Intake {
        &self.inner.doors.intake
    }

    /// Calls of tools by hand.
    #[must_use]
    pub fn invocations(&self) -> &Invocations {
        &self.inner.doors.invocations
    }

    /// What tenants learn.
    #[must_use]
    pub fn lessons(&self) -> &LessonService {
        &self.inner.doors.lessons
    }

    /// The tasks of tenants.
    #[must_use]
    pub fn tasks(&self) -> &Tasks {
        &self.inner.doors.tasks
    }

    /// What tenants can call.
    #[must_use]
    pub fn catalogue(&self) -> &ToolCatalogue {
        &self.inner.catalogue
    }
}
