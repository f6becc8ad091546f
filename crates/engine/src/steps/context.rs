//! What a call of a task gets to work with, and by what right it is made.

use std::borrow::Cow;
use std::sync::Arc;

use kybern_core::actor::Right;
use kybern_core::error::Result;
use kybern_core::lesson::Lessons;
use kybern_core::memory::Trust;
use kybern_core::model::Abilities;
use kybern_core::plan::StepKind;
use kybern_core::ports::ToolContext;
use kybern_core::task::{AttemptKey, TaskKind};
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{Behalf, ToolNeeds};
use kybern_core::trace::traceparent;
use serde_json::{Map, Value};

use super::nouns;
use super::task_steps::TaskSteps;
use crate::agent::ModelPermissions;
use crate::executor::{Node, Phase, TaskRun};
use crate::models::{Requester, Route, StepModels};
use crate::secret::TenantSecrets;
use crate::tools::documents::{TaskDocuments, decided};
use crate::tools::{CallOrigin, Grant, PreparedCall, Refusal};

impl TaskSteps {
    /// Whether whoever the task works for has no role any more.
    pub(super) fn has_lost_its_user(&self) -> bool {
        self.grant.rules.as_ref().is_some_and(|rules| rules.roles.is_empty())
    }

    /// What a step's call is held against: a model's is the user's own.
    fn grant_of(&self, node: &Node) -> Cow<'_, Grant> {
        match node.turn {
            Some(_) => Cow::Owned(Grant { origin: CallOrigin::Model, ..self.grant.clone() }),
            None => Cow::Borrowed(&self.grant),
        }
    }

    /// For whom a step's call is made, and whose word it is. Whether it is tainted is known when its arguments are.
    fn behalf(&self, run: &TaskRun, node: &Node) -> Behalf {
        let grant = self.grant_of(node);
        let word = match (node.turn, run.task.kind == TaskKind::Call && run.task.user.is_some()) {
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
    pub(super) fn prepare(
        &self,
        run: &TaskRun,
        node: &Node,
        tool: &str,
        args: Map<String, Value>,
    ) -> Result<PreparedCall, Refusal> {
        let mut prepared = self.services.tools.prepare(&self.tools, tool, args, &self.grant_of(node))?;
        let is_first = node.attempts == 0 && node.generation == 0 && run.task.forked_from.is_none();
        if run.task.kind == TaskKind::Call && is_first && node.answer.approved_args.is_none() {
            // Its place was taken when the call came in: whoever makes it learns at once that there is none. Another
            // try, another task made of it, and a call for which a person was waited take one of their own.
            prepared.rates.clear();
        }
        Ok(prepared)
    }

    /// By what right a model calls tools.
    pub(super) fn grant_of_model(&self) -> Grant {
        Grant { origin: CallOrigin::Model, ..self.grant.clone() }
    }

    /// How far the task's user lets a model go alone.
    pub(super) fn latitude(&self) -> ModelPermissions {
        ModelPermissions::of(&self.grant_of_model())
    }

    /// The task's documents with what persons decided about them.
    pub(super) fn documents(&self, run: &TaskRun) -> TaskDocuments {
        let outcome = run.walk.phase(Phase::Extraction).and_then(|phase| phase.outcome.as_ref());
        TaskDocuments {
            store: Arc::clone(&self.services.store),
            reader: Arc::clone(&self.services.documents),
            parser: Arc::clone(&self.services.mail_parser),
            texts: self.services.texts.clone(),
            scope: run.lease.scope(),
            task: run.task.id,
            decisions: outcome.map(|outcome| decided(&outcome.data)).unwrap_or_default(),
        }
    }

    /// Whether it is the turn of a conversation whose model looks at pictures.
    pub(super) async fn looks_at_pictures(&self, run: &TaskRun) -> Result<bool> {
        let asked = run.walk.in_plan_order().into_iter().find_map(|index| match &run.walk.node(index).spec.kind {
            StepKind::Agent { agent, .. } => self.agent(agent),
            _ => None,
        });
        let Some(agent) = asked.filter(|_| run.task.turn().is_some()) else { return Ok(false) };
        let tools = crate::agent::tools::named(&self.tools, &agent.draft).keys;
        let needs = Abilities { images: true, functions: !tools.is_empty(), ..Abilities::default() };
        let route = Route::parse(&crate::agent::route_name(&agent.draft));
        self.services.models.can(run.lease.scope(), &route, needs).await
    }

    /// The tenant's secrets.
    fn secrets(&self, run: &TaskRun) -> TenantSecrets {
        let (store, keys) = (Arc::clone(&self.services.store), Arc::clone(&self.services.keys));
        TenantSecrets { store, keys, scope: run.lease.scope() }
    }

    /// The way to the language models, for one try of a call.
    pub(super) fn desk(&self, run: &TaskRun, timeout: Millis) -> StepModels {
        let (id, user) = (run.task.id, run.task.user);
        let traceparent = traceparent(&run.task.trace_id, &id.to_string());
        let payer = Requester { scope: run.lease.scope(), user, task: Some(id), traceparent };
        StepModels::new(&self.services.models, payer, timeout)
    }

    /// What a tool gets to work with: only what it asks for.
    pub(super) fn tool_context(
        &self,
        run: &TaskRun,
        index: usize,
        needs: &ToolNeeds,
        timeout: Millis,
        may_have_happened: bool,
        now: Timestamp,
    ) -> ToolContext {
        let node = run.walk.node(index);
        let key = AttemptKey::mint(run.task.tenant, run.task.id, &node.id, node.generation);
        let services = &self.services;
        let behalf = self.behalf(run, node);
        // A tool that goes on without a model has time left for it when the model has used up its own.
        let for_models = Millis(timeout.0 - timeout.0 / 20);
        ToolContext {
            scope: run.lease.scope(),
            tenant_name: Arc::clone(run.surroundings.tenant_name()),
            user: run.task.user,
            behalf,
            task: Some(run.task.id),
            step: Some(node.id.clone()),
            lease: Some(run.lease.clone()),
            channel: run.task.channel,
            input: if needs.task { Arc::clone(run.surroundings.input()) } else { Arc::default() },
            payload: if needs.task { Arc::clone(run.surroundings.payload()) } else { Arc::default() },
            state: if needs.task { Arc::clone(run.walk.state()) } else { Arc::default() },
            trace_id: Arc::clone(run.surroundings.trace_id()),
            key: key.into(),
            attempt: node.attempts + 1,
            may_have_happened,
            now,
            timeout,
            ids: Arc::clone(&services.ids),
            http: needs.http.then(|| Arc::clone(&services.http)),
            documents: needs.documents.then(|| Arc::new(self.documents(run)) as _),
            extractor: needs.model.then(|| self.extractor(run, for_models)),
            records: needs.records.then(|| Arc::new(crate::tools::access::Records(Arc::clone(&services.store))) as _),
            users: needs.users.then(|| Arc::new(crate::tools::access::Users(Arc::clone(&services.store))) as _),
            nouns: nouns::given(services, run.lease.scope(), behalf, *needs, &run.task),
            outbox: needs.outbox.then(|| Arc::new(crate::tools::access::Outbox(Arc::clone(&services.store))) as _),
            secrets: needs.secrets.then(|| Arc::new(self.secrets(run)) as _),
            models: needs.language_model.then(|| Arc::new(self.desk(run, for_models)) as _),
            lessons: if needs.lessons { self.lessons.clone() } else { Lessons::default() },
        }
    }
}
