//! Closed sets of words. Where the core has the list, the document takes it from there.

use std::borrow::Cow;

use kybern_core::actor::Right;
use kybern_core::approval::ApprovalStatus;
use kybern_core::budget::Period;
use kybern_core::context::Layer;
use kybern_core::error::ErrorCode;
use kybern_core::knowledge::KnowledgeStatus;
use kybern_core::lesson::{LessonKind, LessonStatus};
use kybern_core::memory::{MemoryCategory, MemoryStatus, Trust};
use kybern_core::policy::ToolCategory;
use kybern_core::prompt::PromptStatus;
use kybern_core::retention::Kept;
use kybern_core::task::{TaskStatus, WaitKind};
use kybern_core::tool::own::OwnToolStatus;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A type for the document that is one of these words.
macro_rules! words {
    ($($(#[doc = $about:literal])+ $schema:ident as $name:literal = $words:expr;)+) => {$(
        $(#[doc = $about])+
        pub struct $schema;

        impl PartialSchema for $schema {
            fn schema() -> RefOr<Schema> {
                one_of(concat!($($about),+).trim(), $words.into_iter())
            }
        }

        impl ToSchema for $schema {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }
        }
    )+};
}

fn one_of(about: &str, words: impl Iterator<Item = &'static str>) -> RefOr<Schema> {
    let words: Vec<&str> = words.collect();
    let object = ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
    object.description(Some(about)).enum_values(Some(words)).into()
}

words! {
    /// What a program may rely on: never renamed. Each has a page under `docs/errors/`.
    ErrorCodeSchema as "ErrorCode" = ErrorCode::ALL.map(ErrorCode::as_str);
    /// How a task may be submitted: `web` is what a stranger typed into a form, and so untrusted.
    SubmitChannelSchema as "SubmitChannel" = ["api", "web"];
    /// For what a task waits: for a person, except with `timer`, `child` and `workflow`.
    WaitKindSchema as "WaitKind" = WaitKind::ALL.map(WaitKind::as_str);
    /// What is asked: `confirmation` (may this call be made?), `review`, `input` (a form), `ambiguous` (did it happen?),
    /// `intent`, `document` or `plan`.
    ApprovalKindSchema as "ApprovalKind" =
        WaitKind::ALL.into_iter().filter(|kind| kind.is_person()).map(WaitKind::as_str);
    /// How a question stands.
    ApprovalStatusSchema as "ApprovalStatus" = ApprovalStatus::ALL.map(ApprovalStatus::as_str);
    /// Which questions are listed.
    ApprovalFilterSchema as "ApprovalFilter" = ApprovalStatus::ALL.map(ApprovalStatus::as_str).into_iter().chain(["all"]);
    /// A yes or a no.
    DecisionSchema as "Decision" = ["approve", "deny"];
    /// A task's link to a record: how the record was touched.
    ArtifactRoleSchema as "ArtifactRole" = ["created", "updated", "resolved", "input"];
    /// Where a file of a task comes from.
    AttachmentSourceSchema as "AttachmentSource" = ["original", "attached", "inline"];
    /// What became of a callback.
    CallbackWordSchema as "CallbackWord" = ["accepted", "kept", "duplicate", "late"];
    /// The step's status, or the task's.
    LogStatusSchema as "LogStatus" = TaskStatus::ALL.map(TaskStatus::as_str).into_iter().chain(["skipped"]);
    /// The kind of a step. `tool_call`, `llm_decision` and `user_input` are other names of `tool`, `decision` and `input`.
    StepKindSchema as "StepKind" = [
        "tool", "agent", "decision", "input", "condition", "parallel", "loop", "workflow", "task",
        "tool_call", "llm_decision", "user_input",
    ];
    /// When a step runs: `always` also after another has failed.
    StepWhenSchema as "StepWhen" = ["success", "always"];
    /// Where a plan comes from.
    PlanOriginSchema as "PlanOrigin" = ["bundled", "tenant"];
    /// What happens if the process dies during a call.
    EffectSchema as "Effect" = ["read", "local", "keyed", "queryable", "unkeyed"];
    /// What a fork would do again outside: the `call` of a tool, a `message` of the outbox, a `workflow`, or a child `task`
    /// that writes outside.
    RepeatKindSchema as "RepeatKind" = ["call", "message", "workflow", "task"];
    /// How much harm a call can do.
    RiskSchema as "Risk" = ["R0", "R1", "R2", "R3"];
    /// How far tools may go.
    LevelSchema as "PermissionLevel" = ["none", "read", "write", "execute", "admin"];
    /// What a tool works on.
    CategorySchema as "ToolCategory" = ToolCategory::ALL.map(ToolCategory::as_str);
    /// How much happens without a yes.
    AutonomySchema as "Autonomy" = ["none", "low", "medium", "high", "full"];
    /// Where what a user may do begins; with `role` their roles decide.
    PresetSchema as "PermissionPreset" = ["read_only", "restrictive", "permissive", "role"];
    /// Whether it was said of this user, or follows from their roles.
    PermissionSourceSchema as "PermissionSource" = ["own", "role"];
    /// What a caller may do.
    RightSchema as "Right" = Right::ALL.map(Right::as_str);
    /// What a key may be narrowed to; `*` is every right.
    ScopeSchema as "KeyScope" = Right::ALL.map(Right::as_str).into_iter().chain(["*"]);
    /// By what a price grows.
    PriceUnitSchema as "PriceUnit" = ["token", "character", "record", "second"];
    /// Where a tool comes from: the program, or the tenant's own HTTP tools.
    ToolSourceSchema as "ToolSource" = ["bundled", "http"];
    /// How a call ended.
    InvocationStatusSchema as "InvocationStatus" = ["success", "failure", "timeout", "waiting"];
    /// How a call of a turn ended.
    TurnCallStatusSchema as "TurnCallStatus" = ["success", "failure", "denied", "timeout", "waiting"];
    /// Why a turn ended; with `no_model` none is configured, and the content says so.
    TurnFinishSchema as "TurnFinish" = [
        "complete", "tool_use", "max_tokens", "iteration_limit", "tool_limit", "timeout", "content_filter", "cancelled",
        "error", "no_model",
    ];
    /// Who speaks.
    SpeakerSchema as "Speaker" = ["user", "assistant"];
    /// Whose budget.
    BudgetOwnerKindSchema as "BudgetOwnerKind" = ["tenant", "user", "each_user", "each_task"];
    /// From midnight to midnight UTC; `whole` for budgets of `each_task`.
    PeriodSchema as "BudgetPeriod" = Period::ALL.map(Period::as_str);
    /// By what usage is added up.
    UsageBySchema as "UsageBy" = ["day", "model", "tool", "user"];
    /// How far a document is.
    KnowledgeStatusSchema as "KnowledgeStatus" = KnowledgeStatus::ALL.map(KnowledgeStatus::as_str);
    /// What a lesson teaches.
    LessonKindSchema as "LessonKind" = LessonKind::ALL.map(LessonKind::as_str);
    /// How a lesson stands.
    LessonStatusSchema as "LessonStatus" = LessonStatus::ALL.map(LessonStatus::as_str);
    /// Of what something is remembered.
    SubjectKindSchema as "SubjectKind" = ["user", "entity"];
    /// What is remembered.
    MemoryCategorySchema as "MemoryCategory" = MemoryCategory::ALL.map(MemoryCategory::as_str);
    /// How a memory stands.
    MemoryStatusSchema as "MemoryStatus" = MemoryStatus::ALL.map(MemoryStatus::as_str);
    /// Whose word it is.
    TrustSchema as "Trust" = Trust::ALL.map(Trust::as_str);
    /// What an own tool is made of.
    OwnToolKindSchema as "OwnToolKind" = ["http"];
    /// How a version of an own tool stands.
    OwnToolStatusSchema as "OwnToolStatus" = OwnToolStatus::ALL.map(OwnToolStatus::as_str);
    /// What happens if the process dies during a call of an own tool: `read` and `keyed` are called again, `unkeyed`
    /// waits for a person.
    OwnToolEffectSchema as "OwnToolEffect" = ["read", "keyed", "unkeyed"];
    /// The method of a request.
    HttpMethodSchema as "HttpMethod" = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
    /// How far a prompt is.
    PromptStatusSchema as "PromptStatus" = PromptStatus::ALL.map(PromptStatus::as_str);
    /// A layer of a prompt.
    LayerSchema as "PromptLayer" = Layer::ALL.map(Layer::as_str);
    /// A section of a prompt.
    SectionSchema as "PromptSection" = [
        "base", "style", "profile", "instructions", "tools", "automation", "workspace", "capabilities", "autonomy",
        "time", "conversation",
    ];
    /// Who says a message to a model.
    ModelRoleSchema as "ModelRole" = ["system", "user", "assistant", "tool"];
    /// How long answers are.
    ResponseLengthSchema as "ResponseLength" = ["concise", "balanced", "detailed"];
    /// How answers sound.
    FormalitySchema as "Formality" = ["casual", "neutral", "formal"];
    /// How a message leaves.
    OutboxChannelSchema as "OutboxChannel" = ["email", "webhook", "workflow", "completion"];
    /// How far a message is.
    OutboxStatusSchema as "OutboxStatus" = ["pending", "sending", "sent", "kept", "failed", "uncertain"];
    /// What is told to a webhook.
    WebhookEventSchema as "WebhookEvent" = WEBHOOK_EVENTS;
    /// What is removed when it is old.
    KeptSchema as "RetentionKind" = Kept::ALL.map(Kept::as_str);
    /// The process lives.
    AliveSchema as "Alive" = ["ok"];
    /// Who says a message, in OpenAI's words.
    ChatRoleSchema as "ChatRole" = ["system", "developer", "user", "assistant", "tool"];
    /// A function: the only kind of tool.
    ChatToolKindSchema as "ChatToolKind" = ["function"];
    /// Whether the model calls: as it likes, never, or at least one; `any` is `required`.
    ToolChoiceWordSchema as "ToolChoiceWord" = ["auto", "none", "required", "any"];
    /// What a reply is.
    FormatKindSchema as "ResponseFormatKind" = ["text", "json_object", "json_schema"];
    /// What a part of a message is.
    PartKindSchema as "ContentPartKind" = ["text", "image_url", "refusal"];
    /// How closely a picture is looked at.
    ImageDetailSchema as "ImageDetail" = ["auto", "low", "high"];
    /// How hard a model thinks: `none` is `minimal`, `xhigh` is `high`.
    EffortSchema as "ReasoningEffort" = ["none", "minimal", "low", "medium", "high", "xhigh"];
    /// How vectors are written.
    EncodingSchema as "EmbeddingEncoding" = ["float", "base64"];
    /// Why a reply ended, in OpenAI's words.
    ChatFinishSchema as "ChatFinish" = ["stop", "length", "tool_calls", "content_filter"];
    /// OpenAI's name of the object.
    ChatCompletionObjectSchema as "ChatCompletionObject" = ["chat.completion"];
    /// OpenAI's name of the object.
    ListObjectSchema as "ListObject" = ["list"];
    /// OpenAI's name of the object.
    ModelObjectSchema as "ModelObject" = ["model"];
    /// OpenAI's name of the object.
    EmbeddingObjectSchema as "EmbeddingObject" = ["embedding"];
}

/// The events that completion webhooks are told.
pub(crate) const WEBHOOK_EVENTS: [&str; 4] = ["task.completed", "task.failed", "task.cancelled", "task.needs_review"];
