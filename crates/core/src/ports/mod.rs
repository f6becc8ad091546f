//! Ports: how the engine reaches what is outside. One trait per file, each method a whole unit of work. There is no
//! begin and no commit, so I/O inside a transaction cannot even be written above the store. Every method of a store may
//! fail because the store does; `# Errors` says only what else there is, and what was then done or not.

pub mod agent_store;
pub mod approval_store;
pub mod audit_store;
pub mod blob_store;
pub mod chat_store;
pub mod clock;
pub mod document_reader;
pub mod dossier_store;
pub mod http;
pub mod idempotency_store;
pub mod identity_store;
pub mod job_store;
pub mod knowledge_reader;
pub mod knowledge_store;
pub mod language_model;
pub mod ledger_store;
pub mod lesson_store;
pub mod mail;
pub mod memory_reader;
pub mod memory_store;
pub mod model;
pub mod model_desk;
pub mod model_policy_store;
pub mod nouns;
pub mod outbox_store;
pub mod own_tool_store;
pub mod permission_store;
pub mod plan_reader;
pub mod plan_store;
pub mod preference_store;
pub mod probe_store;
pub mod prompt_store;
pub mod record_admin_store;
pub mod record_store;
pub mod retention_store;
pub mod secret_store;
pub mod secrets;
pub mod spelling_rule;
pub mod state_provider;
pub mod step_handler;
pub mod task_reader;
pub mod task_store;
pub mod token_counter;
pub mod tool;
pub mod tool_source;

pub use agent_store::AgentStore;
pub use approval_store::ApprovalStore;
pub use audit_store::AuditStore;
pub use blob_store::BlobStore;
pub use chat_store::ChatStore;
pub use clock::{Clock, IdSource, Random};
pub use document_reader::DocumentReader;
pub use dossier_store::{DossierRows, DossierStore, HeldMemories};
pub use http::{HttpBody, HttpClient, HttpFailure, HttpRequest, HttpResponse};
pub use idempotency_store::{IdempotencyStore, Idempotent};
pub use identity_store::IdentityStore;
pub use job_store::JobStore;
pub use knowledge_reader::KnowledgeReader;
pub use knowledge_store::{KnowledgeFilter, KnowledgeSize, KnowledgeStore};
pub use language_model::{LanguageModel, ModelStream};
pub use ledger_store::{LedgerStore, ReserveRefused};
pub use lesson_store::LessonStore;
pub use mail::{MailParser, MailSender, PreparedMail};
pub use memory_reader::MemoryReader;
pub use memory_store::{MemoryFilter, MemoryStore};
pub use model::{Extractor, IntentModel};
pub use model_desk::{ModelAnswer, ModelDesk, ModelQuestion, ToolPrompt};
pub use model_policy_store::ModelPolicyStore;
pub use nouns::Nouns;
pub use outbox_store::OutboxStore;
pub use own_tool_store::OwnToolStore;
pub use permission_store::{PermissionStore, UserRules};
pub use plan_reader::PlanReader;
pub use plan_store::PlanStore;
pub use preference_store::PreferenceStore;
pub use probe_store::{DiskSpace, OldestWork, OpenWork, ProbeStore};
pub use prompt_store::PromptStore;
pub use record_admin_store::RecordAdminStore;
pub use record_store::RecordStore;
pub use retention_store::RetentionStore;
pub use secret_store::{SecretReader, SecretStore};
pub use secrets::{DataKey, Keys};
pub use spelling_rule::{SpelledValue, SpellingRule};
pub use state_provider::StateProvider;
pub use step_handler::StepHandler;
pub use task_reader::TaskReader;
pub use task_store::{
    CallbackOutcome, Heartbeat, MAX_PAGE_BYTES, Page, ReviewRefused, TaskFilter, TaskStore, UnreadableRow, WakeUps,
};
pub use token_counter::{NoText, TokenCounter};
pub use tool::{Documents, OutboxView, StatelessTool, Tool, ToolContext, UserDirectory};
pub use tool_source::{OfferedTool, OfferedTools, ToolSource};

/// Everything that is stored, behind one handle.
pub trait Store:
    TaskStore
    + RecordStore
    + RecordAdminStore
    + PlanStore
    + IdentityStore
    + JobStore
    + OutboxStore
    + OwnToolStore
    + IdempotencyStore
    + AuditStore
    + BlobStore
    + LedgerStore
    + ApprovalStore
    + PermissionStore
    + ModelPolicyStore
    + SecretStore
    + ChatStore
    + AgentStore
    + PromptStore
    + PreferenceStore
    + MemoryStore
    + DossierStore
    + KnowledgeStore
    + LessonStore
    + RetentionStore
    + ProbeStore
{
}

impl<T> Store for T where
    T: TaskStore
        + RecordStore
        + RecordAdminStore
        + PlanStore
        + IdentityStore
        + JobStore
        + OutboxStore
        + OwnToolStore
        + IdempotencyStore
        + AuditStore
        + BlobStore
        + LedgerStore
        + ApprovalStore
        + PermissionStore
        + ModelPolicyStore
        + SecretStore
        + ChatStore
        + AgentStore
        + PromptStore
        + PreferenceStore
        + MemoryStore
        + DossierStore
        + KnowledgeStore
        + LessonStore
        + RetentionStore
        + ProbeStore
{
}
