//! One run: what is known of a claimed task, and how it is loaded.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use kybern_core::actor::Right;
use kybern_core::budget::Limits;
use kybern_core::error::Result;
use kybern_core::lesson::Lessons;
use kybern_core::memory::Trust;
use kybern_core::model::Abilities;
use kybern_core::money::NanoUsd;
use kybern_core::plan::{FrozenPlan, StepId, StepKind};
use kybern_core::ports::ToolContext;
use kybern_core::task::{Attempt, AttemptKey, Claimed, Lease, RenderedArgs, Task, TaskKind, TaskStatus};
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{Behalf, Needs};
use kybern_core::trace::traceparent;
use serde_json::{Map, Value};

use super::active::ActiveRun;
use super::answers::{CallAnswers, Notes};
use super::calls::Calls;
use super::drive::Stop;
use super::earlier::Earlier;
use super::held::Held;
use super::known::{Known, Own, agents_of, asks_agents};
use super::node::{Node, Phase};
use super::patience::Failure as _;
use super::phase_documents::decided;
use super::snapshot::Surroundings;
use super::talk::Talk;
use super::walk::Walk;
use super::wanted::Wanted;
use crate::agent::Latitude;
use crate::models::{Asker, Desk, Route};
use crate::parts::Inner;
use crate::secret::TenantSecrets;
use crate::tools::documents::TaskDocuments;
use crate::tools::read_once::ReadOnce;
use crate::tools::{Grant, Origin, Prepared, Refusal, ToolSnapshot};

/// A claimed task and everything that its steps may ask for.
pub(crate) struct Run {
    pub(super) inner: Arc<Inner>,
    pub(super) active: ActiveRun,
    pub(super) lease: Lease,
    claimed_at: Timestamp,
    pub(super) task: Task,
    /// The status as the row has it.
    pub(super) row_status: TaskStatus,
    pub(super) walk: Walk,
    /// What the walk has taken in and the store has not.
    pub(super) held: Held,
    pub(super) surroundings: Surroundings,
    pub(super) own: Own,
    pub(super) papers: Papers,
    pub(super) earlier: Earlier,
    pub(super) wanted: Wanted,
    pub(super) allowed: Allowed,
    pub(super) talk: Talk,
    /// The calls on their way.
    pub(super) calls: Calls,
    /// What they have to have journaled before they go on.
    pub(super) notes: Notes,
    /// What they have asked language models.
    pub(super) call_answers: Arc<CallAnswers>,
    /// How often each step has begun anew because a record had changed under it.
    pub(super) redone: HashMap<usize, u32>,
}

/// The documents of a task.
pub(super) struct Papers {
    /// Whether any came with it.
    pub(super) came: bool,
    /// What the rules have found in them.
    pub(super) read: ReadOnce,
}

/// What its steps may call, as it was when the last of them began.
pub(super) struct Allowed {
    /// By what right.
    grant: Grant,
    /// Of what.
    pub(super) tools: Arc<ToolSnapshot>,
}

impl Run {
    /// A run of a claimed task, from what is known of it.
    pub(crate) fn new(inner: &Arc<Inner>, active: ActiveRun, claimed: Claimed, known: Known) -> Box<Self> {
        let Claimed { lease, task, recovered_from, at: claimed_at } = claimed;
        let Known { walk, earlier_attempts, user, has_documents, tenant_name, own } = known;
        let turn = task.turn();
        let earlier = Earlier {
            after_crash: recovered_from.is_some(),
            recovered_from: recovered_from.map(|worker| worker.as_str().to_owned()),
            attempts: earlier_attempts,
        };
        Box::new(Self {
            surroundings: Surroundings::new(&task, &tenant_name, user.as_ref()),
            inner: Arc::clone(inner),
            active,
            walk,
            held: Held::default(),
            own,
            papers: Papers { came: has_documents, read: ReadOnce::default() },
            earlier,
            wanted: Wanted::of(&task),
            allowed: Allowed { grant: Grant::plan(), tools: Arc::clone(inner.catalogue.bundled()) },
            talk: Talk::new(turn, turn.map(|_| inner.lives.of(task.id))),
            row_status: task.status,
            calls: Calls::default(),
            notes: Notes::new(inner),
            call_answers: Arc::default(),
            redone: HashMap::new(),
            claimed_at,
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
        self.allowed.tools = self.inner.catalogue.of(self.lease.scope()).await;
        let grant = Grant::of_task(self.inner.store.as_ref(), self.lease.scope(), &self.task).await;
        self.allowed.grant = match grant {
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
        self.allowed.grant.rules.as_ref().is_some_and(|rules| rules.roles.is_empty())
    }

    /// What a step's call is held against: a model's is the user's own.
    fn grant_of(&self, node: &Node) -> Cow<'_, Grant> {
        match node.turn {
            Some(_) => Cow::Owned(Grant { origin: Origin::Model, ..self.allowed.grant.clone() }),
            None => Cow::Borrowed(&self.allowed.grant),
        }
    }

    /// For whom a step's call is made, and whose word it is. Whether it is tainted is known when its arguments are.
    fn behalf(&self, node: &Node) -> Behalf {
        let grant = self.grant_of(node);
        let word = match (node.turn, self.task.kind == TaskKind::Call && self.task.user.is_some()) {
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
        let mut prepared = self.inner.tools.prepare(&self.allowed.tools, tool, args, &self.grant_of(node))?;
        let is_first = node.attempts == 0 && node.generation == 0 && self.task.forked_from.is_none();
        if self.task.kind == TaskKind::Call && is_first {
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
            self.own.agents = self.ask(|inner| async move { agents_of(&inner, scope).await }).await?;
        }
        Ok(())
    }

    /// The last row that tells a reader something, or lies before what is held. Pieces of a reply stand behind it: were
    /// it a row that a crash may take away, they would stand behind what comes after the crash.
    pub(super) fn told_until(&self) -> i64 {
        self.walk.last_seq() - i64::try_from(self.held.untold()).unwrap_or(0)
    }

    /// By what right a model calls tools.
    pub(super) fn grant_of_model(&self) -> Grant {
        Grant { origin: Origin::Model, ..self.allowed.grant.clone() }
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
        // Most tasks have one life: then there is nothing to look for.
        let node = if self.earlier.attempts.is_empty() { None } else { self.walk.find(step) };
        let ended = node.map_or(0, |index| self.walk.node(index).attempts);
        self.earlier.open(step, generation, ended)
    }

    /// What an earlier try of a step's generation was called with, as far as it was made of templates.
    pub(super) fn rendered(&self, node: &Node) -> Option<Arc<RenderedArgs>> {
        node.rendered.clone().or_else(|| self.earlier.rendered(node))
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
            StepKind::Agent { agent, .. } => self.own.agent(agent),
            _ => None,
        });
        let Some(agent) = asked.filter(|_| self.talk.turn.is_some()) else { return Ok(false) };
        let tools = crate::agent::tools::named(&self.allowed.tools, &agent.draft).keys;
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
            key: key.into(),
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
            lessons: if needs.lessons { self.own.lessons.clone() } else { Lessons::default() },
        }
    }
}
