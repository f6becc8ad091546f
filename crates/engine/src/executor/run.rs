//! One run: what is known of a claimed task, and how it is loaded.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use kybern_core::actor::Right;
use kybern_core::agent::Agent;
use kybern_core::budget::Limits;
use kybern_core::chat::TurnRef;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::identity::User;
use kybern_core::lesson::Lessons;
use kybern_core::memory::Trust;
use kybern_core::model::Abilities;
use kybern_core::money::NanoUsd;
use kybern_core::plan::{FrozenPlan, Plan, StepId, StepKind};
use kybern_core::ports::ToolContext;
use kybern_core::task::{
    AttachmentSource, Attempt, AttemptKey, Channel, Claimed, JournalEntry, Lease, RenderedArgs, Task, TaskStatus,
};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{Behalf, Needs};
use kybern_core::trace::traceparent;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use super::active::ActiveRun;
use super::answers::{CallAnswers, Notes};
use super::calls::Calls;
use super::drive::Stop;
use super::held::Held;
use super::lessons;
use super::node::{Node, Phase};
use super::patience::Failure as _;
use super::phase_documents::decided;
use super::snapshot::Surroundings;
use super::walk::Walk;
use crate::Engine;
use crate::agent::{Gathered, InChat, Latitude};
use crate::events::Live;
use crate::models::{Asker, Desk, Route};
use crate::parts::Inner;
use crate::secret::TenantSecrets;
use crate::tools::documents::TaskDocuments;
use crate::tools::grant::is_by_hand;
use crate::tools::read_once::ReadOnce;
use crate::tools::{Grant, Origin, Prepared, Refusal, ToolSnapshot};

/// Journal rows that are read at once.
const JOURNAL_PAGE: u32 = 1_000;

/// A claimed task and everything that its steps may ask for.
pub(crate) struct Run {
    pub(super) inner: Arc<Inner>,
    pub(super) active: ActiveRun,
    pub(super) lease: Lease,
    pub(super) task: Task,
    pub(super) walk: Walk,
    /// What the walk has taken in and the store has not.
    pub(super) held: Held,
    pub(super) surroundings: Surroundings,
    pub(super) own_plans: Arc<Vec<Plan>>,
    /// What its tenant has learned, at the version with which it was read first.
    pub(super) lessons: Lessons,
    /// What the rules have found in its documents.
    pub(super) read: ReadOnce,
    /// Attempts that began in an earlier life of the task, or in this one before a record had changed under the call.
    pub(super) earlier_attempts: Vec<Attempt>,
    /// Whether documents came with the task.
    pub(super) has_documents: bool,
    /// How many signals have been left for the task.
    pub(super) signals: i64,
    /// How many the row counted when none of them was there; 0 as long as none is missing.
    pub(super) missing_signals: i64,
    pub(super) cancel: bool,
    pub(super) paused: bool,
    /// The status as the row has it.
    pub(super) row_status: TaskStatus,
    /// The worker from which the task was taken over, until that has been journaled.
    pub(super) recovered_from: Option<String>,
    /// Whether the worker before died, or let its lease expire.
    pub(super) after_crash: bool,
    /// The calls on their way.
    pub(super) calls: Calls,
    /// What they have to have journaled before they go on.
    pub(super) notes: Notes,
    /// What they have asked language models.
    pub(super) call_answers: Arc<CallAnswers>,
    /// Behind which row the last question was asked whose reply is not there.
    pub(super) asked_behind: Option<i64>,
    /// How often each step has begun anew because a record had changed under it.
    pub(super) redone: HashMap<usize, u32>,
    claimed_at: Timestamp,
    /// By what right its tools are called.
    grant: Grant,
    /// What its steps can call, as it was when the last of them began.
    pub(super) tools: Arc<ToolSnapshot>,
    /// The tenant's agents.
    agents: Arc<Vec<Agent>>,
    /// What was gathered for each turn, by its agent's node.
    gathered: std::sync::Mutex<HashMap<usize, Arc<OnceCell<Gathered>>>>,
    /// The turn of a conversation that the task is.
    turn: Option<TurnRef>,
    /// Where the pieces of its replies go.
    live: Option<Arc<Live>>,
}

/// What is read of a claimed task before it is walked.
pub(crate) struct Known {
    walk: Walk,
    earlier_attempts: Vec<Attempt>,
    user: Option<User>,
    has_documents: bool,
    agents: Arc<Vec<Agent>>,
    tenant_name: String,
    own_plans: Arc<Vec<Plan>>,
    lessons: Lessons,
}

impl Known {
    /// Reads it. A task that was never claimed before has no journal to read.
    ///
    /// # Errors
    /// When the store fails, or the plan or the journal cannot be read by this program.
    pub(crate) async fn read(inner: &Arc<Inner>, claimed: &Claimed, has_documents: Option<bool>) -> Result<Self> {
        let Claimed { lease, task, .. } = claimed;
        task.must_be_whole()?;
        let scope = lease.scope();
        let plan = match &task.plan_hash {
            None => None,
            Some(hash) => Some(inner.frozen.get(inner.store.as_ref(), scope, hash).await?),
        };
        let has_agents = plan.as_ref().is_some_and(|plan| plan.steps.iter().any(|step| asks_agents(step)));
        let reads_user = has_agents || plan.as_ref().is_none_or(|plan| plan.body().contains("user"));
        let needs_plans = plan.as_ref().is_none_or(|plan| plan.steps.iter().any(|step| starts_children(step)));
        let mut walk = Walk::new(plan);
        let mut earlier_attempts = Vec::new();
        if lease.epoch() > 1 || task.forked_from.is_some() {
            load_journal(inner, lease, &mut walk).await?;
            earlier_attempts = inner.store.attempts(scope, task.id).await?;
            for attempt in &earlier_attempts {
                walk.take_up(attempt);
            }
        }
        let user = match task.user {
            Some(user) if reads_user => inner.store.user(scope, user).await?,
            Some(_) | None => None,
        };
        let has_documents = match has_documents {
            Some(known) => known,
            None => {
                let attachments = inner.store.attachments(scope, task.id).await?;
                attachments.iter().any(|attachment| attachment.source == AttachmentSource::Attached)
            }
        };
        let agents = if has_agents { agents_of(inner, scope).await? } else { Arc::default() };
        let tenant_name = inner.tenants.name(inner.store.as_ref(), task.tenant).await?;
        let own_plans =
            if needs_plans { Engine { inner: Arc::clone(inner) }.own_plans(scope).await? } else { Arc::default() };
        // Phases use them; a call that reads without any takes them up when it begins.
        let has_phases = walk.plan().is_none() || has_documents || task.channel == Channel::Email;
        let lessons = if has_phases || lessons::version_of(&walk).is_some() {
            lessons::read_with(&walk, &*inner.store.lessons_in_use(scope).await?)
        } else {
            Lessons::default()
        };
        Ok(Self { walk, earlier_attempts, user, has_documents, agents, tenant_name, own_plans, lessons })
    }
}

impl Run {
    /// A run of a claimed task, from what is known of it.
    pub(crate) fn new(inner: &Arc<Inner>, active: ActiveRun, claimed: Claimed, known: Known) -> Box<Self> {
        let Claimed { lease, task, recovered_from, at: claimed_at } = claimed;
        let Known { walk, earlier_attempts, user, has_documents, agents, tenant_name, own_plans, lessons } = known;
        let turn = task.turn();
        Box::new(Self {
            surroundings: Surroundings::new(&task, &tenant_name, user.as_ref()),
            inner: Arc::clone(inner),
            active,
            walk,
            held: Held::default(),
            own_plans,
            lessons,
            read: ReadOnce::default(),
            earlier_attempts,
            has_documents,
            signals: task.signals,
            missing_signals: 0,
            cancel: task.cancel_requested,
            paused: task.paused_at.is_some(),
            row_status: task.status,
            calls: Calls::default(),
            notes: Notes::new(inner),
            call_answers: Arc::default(),
            asked_behind: None,
            redone: HashMap::new(),
            after_crash: recovered_from.is_some(),
            recovered_from: recovered_from.map(|worker| worker.as_str().to_owned()),
            claimed_at,
            grant: Grant::plan(),
            tools: Arc::clone(inner.catalogue.bundled()),
            agents,
            gathered: std::sync::Mutex::default(),
            live: turn.map(|_| inner.lives.of(task.id)),
            turn,
            lease,
            task,
        })
    }

    /// The moment, and never before the claim: what was due by the clock of the database is due here, although this
    /// process may have it a little behind.
    pub(super) fn now(&self) -> Timestamp {
        self.inner.time.now().max(self.claimed_at)
    }

    /// Looks at what holds now for whoever the task works for, and at what can be called: both are looked at again before
    /// steps begin, because they may have changed since.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn look_at_rules(&mut self) -> Result<(), Stop> {
        self.tools = self.inner.catalogue.of(self.lease.scope()).await;
        let grant = Grant::of_task(self.inner.store.as_ref(), self.lease.scope(), &self.task).await;
        self.grant = match grant {
            Err(error) if error.is_unavailable() => {
                let (scope, task) = (self.lease.scope(), self.task.clone());
                self.ask(|inner| {
                    let task = task.clone();
                    async move { Grant::of_task(inner.store.as_ref(), scope, &task).await }
                })
                .await?
            }
            grant => grant?,
        };
        Ok(())
    }

    /// Whether whoever the task works for has no role any more.
    pub(super) fn has_lost_its_user(&self) -> bool {
        self.grant.rules.as_ref().is_some_and(|rules| rules.roles.is_empty())
    }

    /// What a step's call is held against: a model's is the user's own.
    fn grant_of(&self, node: &Node) -> Cow<'_, Grant> {
        match node.turn {
            Some(_) => Cow::Owned(Grant { origin: Origin::Model, ..self.grant.clone() }),
            None => Cow::Borrowed(&self.grant),
        }
    }

    /// For whom a step's call is made, and whose word it is. Whether it is tainted is known when its arguments are.
    fn behalf(&self, node: &Node) -> Behalf {
        let grant = self.grant_of(node);
        let word = match (node.turn, is_by_hand(&self.task) && self.task.user.is_some()) {
            (Some(_), _) => Trust::Model,
            (None, true) => Trust::User,
            (None, false) => Trust::Tool,
        };
        let rights = Right::ALL.into_iter().filter(|right| grant.may(*right)).collect();
        let agreed = node.answer.approved_args.is_some();
        Behalf { user: grant.user, rights, word, tainted: false, agreed }
    }

    /// Whether a call may be made, as far as that can be judged at once.
    ///
    /// # Errors
    /// Why it may not.
    pub(super) fn prepare(&self, node: &Node, tool: &str, args: Map<String, Value>) -> Result<Prepared, Refusal> {
        let mut prepared = self.inner.tools.prepare(&self.tools, tool, args, &self.grant_of(node))?;
        let is_first = node.attempts == 0 && node.generation == 0 && self.task.forked_from.is_none();
        if is_by_hand(&self.task) && is_first {
            // Its place was taken when the call came in: whoever makes it learns at once that there is none. Another
            // try, and another task made of it, take one of their own.
            prepared.rates.clear();
        }
        Ok(prepared)
    }

    /// Looks up the agents that a plan asks, where the run has not begun with it.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn look_up_agents(&mut self, plan: &FrozenPlan) -> Result<(), Stop> {
        if plan.steps.iter().any(|step| asks_agents(step)) {
            let scope = self.lease.scope();
            self.agents = self.ask(|inner| async move { agents_of(&inner, scope).await }).await?;
        }
        Ok(())
    }

    /// The agent that is named so, by its key before its name.
    pub(super) fn agent(&self, name: &str) -> Option<&Agent> {
        let by_key = self.agents.iter().find(|agent| agent.draft.key == name);
        by_key.or_else(|| self.agents.iter().find(|agent| agent.is_called(name)))
    }

    /// Where what is gathered for a turn is kept.
    pub(super) fn gathered(&self, agent: usize) -> Arc<OnceCell<Gathered>> {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gathered.entry(agent).or_default())
    }

    /// Where pieces of a reply go, when somebody reads along.
    pub(super) fn live_for_reading(&self) -> Option<Arc<Live>> {
        self.live.as_ref().filter(|live| Arc::strong_count(live) > 1).map(Arc::clone)
    }

    /// What was written of a reply that is not there yet.
    pub(super) fn half_written(&self) -> Option<String> {
        let written = self.live.as_ref()?.written();
        (self.asked_behind == Some(written.behind) && !written.pieces.is_empty()).then(|| written.pieces.concat())
    }

    /// The last row that tells a reader something, or lies before what is held. Pieces of a reply stand behind it: were
    /// it a row that a crash may take away, they would stand behind what comes after the crash.
    pub(super) fn told_until(&self) -> i64 {
        self.walk.last_seq() - i64::try_from(self.held.untold()).unwrap_or(0)
    }

    /// The turn of a conversation that the task is.
    pub(super) fn turn(&self) -> Option<TurnRef> {
        self.turn
    }

    /// The conversation in which its turn stands.
    pub(super) fn in_chat(&self) -> Option<InChat> {
        self.turn.map(|turn| InChat { chat: turn.chat_id, before: turn.message_id })
    }

    /// By what right a model calls tools.
    pub(super) fn grant_of_model(&self) -> Grant {
        Grant { origin: Origin::Model, ..self.grant.clone() }
    }

    /// How far the task's user lets a model go alone.
    pub(super) fn latitude(&self) -> Latitude {
        Latitude::of(&self.grant_of_model())
    }

    /// When a step that holds steps was opened.
    pub(super) fn opened_at(&self, index: usize) -> Option<Timestamp> {
        self.walk.node(index).opened_at
    }

    /// What the task itself says that it may spend.
    pub(super) fn own_limits(&self) -> Option<Limits> {
        self.task.budget.map(|cost| Limits { cost: Some(cost), ..Limits::default() })
    }

    /// The attempt of a step that began in an earlier life and of which no row says how it ended.
    pub(super) fn open_attempt(&self, step: &StepId, generation: u32) -> Option<&Attempt> {
        self.open_attempts(step, generation).find(|attempt| attempt.effect.needs_attempt_row())
    }

    /// Whether a call without any effect outside was recorded after a worker had died, and no row says how it ended.
    pub(super) fn died_in(&self, step: &StepId, generation: u32) -> bool {
        self.open_attempts(step, generation).any(|attempt| !attempt.effect.needs_attempt_row())
    }

    fn open_attempts(&self, step: &StepId, generation: u32) -> impl Iterator<Item = &Attempt> {
        let ended = self.walk.find(step).map_or(0, |index| self.walk.node(index).attempts);
        let is_open = move |attempt: &&Attempt| attempt.generation == generation && attempt.attempt > ended;
        self.earlier_attempts.iter().filter(is_open).filter(move |attempt| attempt.step == *step)
    }

    /// What an earlier try of a step's generation was called with, as far as it was made of templates.
    pub(super) fn rendered(&self, node: &Node) -> Option<Arc<RenderedArgs>> {
        let begun = |attempt: &&Attempt| attempt.step == node.id && attempt.generation == node.generation;
        let of_attempt = || self.earlier_attempts.iter().filter(begun).find_map(|attempt| attempt.rendered.clone());
        node.rendered.clone().or_else(of_attempt)
    }

    /// What is left of the budget for a child.
    pub(super) fn budget_left(&self) -> Option<NanoUsd> {
        self.task.budget.map(|budget| NanoUsd((budget.0 - self.task.usage.cost_nanos.0).max(0)))
    }

    /// The task's documents with what persons decided about them.
    pub(super) fn documents(&self) -> TaskDocuments {
        let outcome = self.walk.phase(Phase::Extraction).and_then(|phase| phase.outcome.as_ref());
        TaskDocuments {
            store: Arc::clone(&self.inner.store),
            reader: Arc::clone(&self.inner.documents),
            parser: Arc::clone(&self.inner.mail_parser),
            texts: self.inner.texts.clone(),
            scope: self.lease.scope(),
            task: self.task.id,
            decisions: outcome.map(|outcome| decided(&outcome.data)).unwrap_or_default(),
        }
    }

    /// Whether it is the turn of a conversation whose model looks at pictures.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn looks_at_pictures(&self) -> Result<bool> {
        let asked = self.walk.in_plan_order().into_iter().find_map(|index| match &self.walk.node(index).spec.kind {
            StepKind::Agent { agent, .. } => self.agent(agent),
            _ => None,
        });
        let Some(agent) = asked.filter(|_| self.turn.is_some()) else { return Ok(false) };
        let tools = crate::agent::tools::named(&self.tools, &agent.draft).keys;
        let needs = Abilities { images: true, functions: !tools.is_empty(), ..Abilities::default() };
        let route = Route::parse(&crate::agent::route_name(&agent.draft));
        self.inner.models.can(self.lease.scope(), &route, needs).await
    }

    /// The tenant's secrets.
    fn secrets(&self) -> TenantSecrets {
        let (store, keys) = (Arc::clone(&self.inner.store), Arc::clone(&self.inner.keys));
        TenantSecrets { store, keys, scope: self.lease.scope() }
    }

    /// The way to the language models, for one try of a call.
    pub(super) fn desk(&self, timeout: Millis) -> Desk {
        let (id, user) = (self.task.id, self.task.user);
        let traceparent = traceparent(&self.task.trace_id, &id.to_string());
        let payer = Asker { scope: self.lease.scope(), user, task: Some(id), traceparent };
        Desk::new(&self.inner.models, payer, timeout)
    }

    /// What a tool gets to work with: only what it asks for.
    pub(super) fn tool_context(
        &self,
        index: usize,
        needs: &Needs,
        timeout: Millis,
        may_have_happened: bool,
        now: Timestamp,
    ) -> ToolContext {
        let node = self.walk.node(index);
        let key = AttemptKey::mint(self.task.tenant, self.task.id, &node.id, node.generation);
        let inner = &self.inner;
        let behalf = self.behalf(node);
        ToolContext {
            scope: self.lease.scope(),
            tenant_name: Arc::clone(self.surroundings.tenant_name()),
            user: self.task.user,
            behalf,
            task: Some(self.task.id),
            step: Some(node.id.clone()),
            lease: Some(self.lease.clone()),
            channel: self.task.channel,
            input: if needs.task { Arc::clone(self.surroundings.input()) } else { Arc::default() },
            payload: if needs.task { Arc::clone(self.surroundings.payload()) } else { Arc::default() },
            state: if needs.task { Arc::clone(self.walk.state()) } else { Arc::default() },
            trace_id: Arc::clone(self.surroundings.trace_id()),
            key: key.as_str().to_owned(),
            attempt: node.attempts + 1,
            may_have_happened,
            now,
            timeout,
            ids: Arc::clone(&inner.ids),
            http: needs.http.then(|| Arc::clone(&inner.http)),
            documents: needs.documents.then(|| Arc::new(self.documents()) as _),
            extractor: needs.model.then(|| self.extractor(timeout)),
            records: needs.records.then(|| Arc::new(crate::tools::access::Records(Arc::clone(&inner.store))) as _),
            users: needs.users.then(|| Arc::new(crate::tools::access::Users(Arc::clone(&inner.store))) as _),
            nouns: crate::tools::nouns::given(inner, self.lease.scope(), behalf, *needs, &self.task),
            outbox: needs.outbox.then(|| Arc::new(crate::tools::access::Outbox(Arc::clone(&inner.store))) as _),
            secrets: needs.secrets.then(|| Arc::new(self.secrets()) as _),
            models: needs.language_model.then(|| Arc::new(self.desk(timeout)) as _),
            lessons: if needs.lessons { self.lessons.clone() } else { Lessons::default() },
        }
    }
}

/// The tenant's agents as they are now.
async fn agents_of(inner: &Inner, scope: TenantScope) -> Result<Arc<Vec<Agent>>> {
    let own = inner.store.agents(scope).await?;
    Ok(inner.agents.of(scope.tenant(), &own, inner.catalog.registry()))
}

fn asks_agents(step: &kybern_core::plan::StepSpec) -> bool {
    matches!(step.kind, StepKind::Agent { .. }) || step.kind.inner().into_iter().flatten().any(asks_agents)
}

fn starts_children(step: &kybern_core::plan::StepSpec) -> bool {
    matches!(step.kind, StepKind::Task { .. }) || step.kind.inner().into_iter().flatten().any(starts_children)
}

pub(super) async fn load_journal(inner: &Inner, lease: &Lease, walk: &mut Walk) -> Result<()> {
    loop {
        let rows = inner.store.journal(lease.scope(), lease.task(), walk.last_seq(), JOURNAL_PAGE).await?;
        for row in &rows {
            if let JournalEntry::Unreadable { problem } = &row.entry {
                let message = format!("row {} of its journal cannot be read: {problem}", row.seq);
                return Err(Error::new(ErrorCode::Internal, message));
            }
            walk.apply(row);
        }
        if rows.len() < usize::try_from(JOURNAL_PAGE).unwrap_or(usize::MAX) {
            return Ok(());
        }
    }
}
