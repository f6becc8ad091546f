//! Tools, and the narrow context they get.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{Extractor, HttpClient, IdSource, ModelDesk, Nouns, RecordStore, SecretReader};
use crate::document::DocumentText;
use crate::error::{Detail, Result};
use crate::id::{OutboxId, TaskId, TenantId, UserId};
use crate::identity::User;
use crate::lesson::Lessons;
use crate::mail::ParsedMail;
use crate::outbox::OutboxStatus;
use crate::plan::StepId;
use crate::task::{Attachment, Channel, EffectClass, Lease};
use crate::tenant::TenantScope;
use crate::time::{Millis, Timestamp};
use crate::tool::{Behalf, ToolFailure, ToolNeeds, ToolOutcome, ToolReach, ToolSpec};

/// The documents of a task.
#[async_trait]
pub trait Documents: Send + Sync {
    /// All attachments in order.
    async fn list(&self) -> Result<Vec<Attachment>>;

    /// The text of the attachments that could be read, by number, including what a person typed in for one that
    /// could not.
    async fn texts(&self) -> Result<Vec<(Attachment, Arc<DocumentText>)>>;

    /// The original message, taken apart; `None` when the task did not come in by mail.
    async fn mail(&self) -> Result<Option<Arc<ParsedMail>>>;
}

/// The tenant's users, to read.
#[async_trait]
pub trait UserDirectory: Send + Sync {
    /// The users of a tenant, oldest first.
    async fn users_of(&self, scope: TenantScope) -> Result<Vec<User>>;
}

/// What became of the tenant's outgoing messages, to read.
#[async_trait]
pub trait OutboxView: Send + Sync {
    /// How far a message has got; `None` when there is none, not any more, or none that can be read.
    async fn status_of(&self, scope: TenantScope, id: OutboxId) -> Result<Option<OutboxStatus>>;

    /// Where a message went, or is to go; `None` as for its status.
    async fn receiver_of(&self, scope: TenantScope, id: OutboxId) -> Result<Option<String>>;
}

/// What a tool gets to work with. What its spec does not ask for is `None`.
#[derive(Clone)]
pub struct ToolContext {
    /// The tenant's scope.
    pub scope: TenantScope,
    /// The tenant's name.
    pub tenant_name: Arc<str>,
    /// The user for whom it is called.
    pub user: Option<UserId>,
    /// The same, with what they may.
    pub behalf: Behalf,
    /// The task, when it is called by a step.
    pub task: Option<TaskId>,
    pub step: Option<StepId>,
    /// The lease under which the step runs: whoever spends for it looks first whether it is still held.
    pub lease: Option<Lease>,
    /// By which way the task came in.
    pub channel: Channel,
    /// The task's input text; empty unless the spec asks for the task.
    pub input: Arc<str>,
    /// The task's payload; null unless the spec asks for the task.
    pub payload: Arc<Value>,
    /// The task's state as it stands; empty unless the spec asks for the task.
    pub state: Arc<Map<String, Value>>,
    pub trace_id: Arc<str>,
    /// The idempotency key of this call; the same for every try.
    pub key: String,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// Whether an earlier try may have had its effect: a `queryable` tool looks first.
    pub may_have_happened: bool,
    pub now: Timestamp,
    /// The time that is left for this try.
    pub timeout: Millis,
    /// Where ids come from.
    pub ids: Arc<dyn IdSource>,
    pub http: Option<Arc<dyn HttpClient>>,
    /// The task's documents.
    pub documents: Option<Arc<dyn Documents>>,
    /// The extraction model.
    pub extractor: Option<Arc<dyn Extractor>>,
    /// The tenant's records. Always with [`ToolContext::scope`].
    pub records: Option<Arc<dyn RecordStore>>,
    /// Memories, knowledge, tasks and plans.
    pub nouns: Nouns,
    /// The tenant's users.
    pub users: Option<Arc<dyn UserDirectory>>,
    /// What became of the tenant's outgoing messages.
    pub outbox: Option<Arc<dyn OutboxView>>,
    /// The tenant's secrets, each for its own hosts.
    pub secrets: Option<Arc<dyn SecretReader>>,
    /// The language models, asked with the server's own prompts and paid by the task.
    pub models: Option<Arc<dyn ModelDesk>>,
    /// What the tenant has learned, as the task uses it; nothing unless the spec asks for it.
    pub lessons: Lessons,
}

impl ToolContext {
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.scope.tenant()
    }

    /// The records.
    ///
    /// # Errors
    /// When the tool's spec does not ask for them: a fault of the tool.
    pub fn records(&self) -> Result<&dyn RecordStore, ToolFailure> {
        self.records.as_deref().ok_or_else(|| ToolFailure::permanent("the tool's spec does not ask for records"))
    }

    /// The documents.
    ///
    /// # Errors
    /// When the tool's spec does not ask for them: a fault of the tool.
    pub fn documents(&self) -> Result<&dyn Documents, ToolFailure> {
        self.documents.as_deref().ok_or_else(|| ToolFailure::permanent("the tool's spec does not ask for documents"))
    }

    /// The extraction model.
    ///
    /// # Errors
    /// When the tool's spec does not ask for it: a fault of the tool.
    pub fn extractor(&self) -> Result<&dyn Extractor, ToolFailure> {
        self.extractor.as_deref().ok_or_else(|| ToolFailure::permanent("the tool's spec does not ask for a model"))
    }

    /// The outgoing messages.
    ///
    /// # Errors
    /// When the tool's spec does not ask for them: a fault of the tool.
    pub fn outbox(&self) -> Result<&dyn OutboxView, ToolFailure> {
        self.outbox.as_deref().ok_or_else(|| ToolFailure::permanent("the tool's spec does not ask for the outbox"))
    }

    /// The secrets.
    ///
    /// # Errors
    /// When the tool's spec does not ask for them: a fault of the tool.
    pub fn secrets(&self) -> Result<&dyn SecretReader, ToolFailure> {
        self.secrets.as_deref().ok_or_else(|| ToolFailure::permanent("the tool's spec does not ask for secrets"))
    }

    /// The language models.
    ///
    /// # Errors
    /// When the call did not ask for them: a fault of the tool.
    pub fn models(&self) -> Result<&dyn ModelDesk, ToolFailure> {
        self.models.as_deref().ok_or_else(|| ToolFailure::permanent("the tool does not ask for a language model"))
    }
}

/// A tool. Only the ToolService calls it, with arguments that fit its schema.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it says about itself.
    fn spec(&self) -> &ToolSpec;

    /// What is wrong with arguments that fit the schema, each with its place among them: what no schema can say. It is
    /// asked of what a stored plan says plainly, and before each call.
    fn faults(&self, _args: &Map<String, Value>) -> Vec<Detail> {
        Vec::new()
    }

    /// The effect class of a call with these arguments, where it depends on them.
    fn effect_of(&self, _args: &Map<String, Value>) -> EffectClass {
        self.spec().effect
    }

    /// How far a call with these arguments reaches, where it depends on them.
    fn reach_of(&self, _args: &Map<String, Value>) -> ToolReach {
        self.spec().reach()
    }

    /// The least that any call of it reaches: who may not even that is not told of the tool.
    fn least_reach(&self) -> ToolReach {
        self.spec().reach()
    }

    /// What a call with these arguments needs, where it is less than what the spec asks for.
    fn needs_of(&self, _args: &Map<String, Value>) -> ToolNeeds {
        self.spec().needs
    }

    /// Whether a call with these arguments works through much that strangers can have made, so that it could take the
    /// process down. Where a worker died before, such calls are made one at a time and recorded before they begin, and
    /// the step of one that was under way when the next worker died fails.
    fn computes(&self, args: &Map<String, Value>) -> bool {
        self.needs_of(args).model
    }

    /// Does it.
    ///
    /// # Errors
    /// A failure that says whether another try may help, and whether the effect may have happened.
    ///
    /// # Cancel safety
    /// Dropping the future is the same as a crash at that await.
    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure>;
}

/// What a call of a [`StatelessTool`] does.
type CallFn = for<'a> fn(
    &'a ToolContext,
    Map<String, Value>,
) -> Pin<Box<dyn Future<Output = Result<ToolOutcome, ToolFailure>> + Send + 'a>>;

/// A tool that keeps nothing but what it says about itself.
pub struct StatelessTool {
    spec: ToolSpec,
    call: CallFn,
    faults: fn(&Map<String, Value>) -> Vec<Detail>,
}

impl StatelessTool {
    #[must_use]
    pub const fn new(spec: ToolSpec, call: CallFn) -> Self {
        Self { spec, call, faults: |_| Vec::new() }
    }

    /// The same tool, with what its schema cannot say of the arguments.
    #[must_use]
    pub fn checked_by(self, faults: fn(&Map<String, Value>) -> Vec<Detail>) -> Self {
        Self { faults, ..self }
    }
}

#[async_trait]
impl Tool for StatelessTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn faults(&self, args: &Map<String, Value>) -> Vec<Detail> {
        (self.faults)(args)
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        (self.call)(context, args).await
    }
}

/// A failure of a port inside a tool: another try may help, and nothing outside happened.
impl From<crate::error::Error> for ToolFailure {
    fn from(error: crate::error::Error) -> Self {
        Self::transient(error.to_string()).code(error.code())
    }
}
