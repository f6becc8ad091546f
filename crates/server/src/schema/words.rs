//! Closed sets of words. Where the core has the list, the document takes it from there.

use kybern_core::actor::Right;
use kybern_core::approval::ApprovalStatus;
use kybern_core::task::{TaskStatus, WaitKind};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

/// The schema of a text that is one of these words.
pub(crate) fn one_of(about: &str, words: impl Iterator<Item = &'static str>) -> RefOr<Schema> {
    let words: Vec<&str> = words.collect();
    let object = ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
    object.description(Some(about)).enum_values(Some(words)).into()
}

words! {
    /// How a task may be submitted: `web` is what a stranger typed into a form, and so untrusted.
    pub SubmitChannelSchema as "SubmitChannel" = ["api", "web"];
    /// What is asked: `confirmation` (may this call be made?), `review`, `input` (a form), `ambiguous` (did it happen?),
    /// `intent`, `document` or `plan`.
    pub ApprovalKindSchema as "ApprovalKind" =
        WaitKind::ALL.into_iter().filter(|kind| kind.is_person()).map(WaitKind::as_str);
    /// Which questions are listed.
    pub ApprovalFilterSchema as "ApprovalFilter" = ApprovalStatus::ALL.map(ApprovalStatus::as_str).into_iter().chain(["all"]);
    /// A yes or a no.
    pub DecisionSchema as "Decision" = ["approve", "deny"];
    /// What became of a callback.
    pub CallbackWordSchema as "CallbackWord" = ["accepted", "kept", "duplicate", "late"];
    /// The step's status, or the task's.
    pub LogStatusSchema as "LogStatus" = TaskStatus::ALL.map(TaskStatus::as_str).into_iter().chain(["skipped"]);
    /// The kind of a step. `tool_call`, `llm_decision` and `user_input` are other names of `tool`, `decision` and `input`.
    pub StepKindSchema as "StepKind" = [
        "tool", "agent", "decision", "input", "condition", "parallel", "loop", "workflow", "task",
        "tool_call", "llm_decision", "user_input",
    ];
    /// What a fork would do again outside: the `call` of a tool, a `message` of the outbox, a `workflow`, or a child `task`
    /// that writes outside.
    pub RepeatKindSchema as "RepeatKind" = ["call", "message", "workflow", "task"];
    /// Whether it was said of this user, or follows from their roles.
    pub PermissionSourceSchema as "PermissionSource" = ["own", "role"];
    /// What a key may be narrowed to; `*` is every right.
    pub ScopeSchema as "KeyScope" = Right::ALL.map(Right::as_str).into_iter().chain(["*"]);
    /// Where a tool comes from: the program, or the tenant's own HTTP tools.
    pub ToolSourceSchema as "ToolSource" = ["bundled", "http"];
    /// How a call ended.
    pub InvocationStatusSchema as "InvocationStatus" = ["success", "failure", "timeout", "waiting"];
    /// How a call of a turn ended.
    pub TurnCallStatusSchema as "TurnCallStatus" = ["success", "failure", "denied", "timeout", "waiting"];
    /// Whose budget.
    pub BudgetOwnerKindSchema as "BudgetOwnerKind" = ["tenant", "user", "each_user", "each_task"];
    /// Of what something is remembered.
    pub SubjectKindSchema as "SubjectKind" = ["user", "entity"];
    /// What is told to a webhook.
    pub WebhookEventSchema as "WebhookEvent" = WEBHOOK_EVENTS;
    /// The process lives.
    pub AliveSchema as "Alive" = ["ok"];
    /// Who says a message, in OpenAI's words.
    pub ChatRoleSchema as "ChatRole" = ["system", "developer", "user", "assistant", "tool"];
    /// A function: the only kind of tool.
    pub ChatToolKindSchema as "ChatToolKind" = ["function"];
    /// Whether the model calls: as it likes, never, or at least one; `any` is `required`.
    pub ToolChoiceWordSchema as "ToolChoiceWord" = ["auto", "none", "required", "any"];
    /// What a reply is.
    pub FormatKindSchema as "ResponseFormatKind" = ["text", "json_object", "json_schema"];
    /// What a part of a message is.
    pub PartKindSchema as "ContentPartKind" = ["text", "image_url", "refusal"];
    /// How closely a picture is looked at.
    pub ImageDetailSchema as "ImageDetail" = ["auto", "low", "high"];
    /// How hard a model thinks: `none` is `minimal`, `xhigh` is `high`.
    pub EffortSchema as "ReasoningEffort" = ["none", "minimal", "low", "medium", "high", "xhigh"];
    /// How vectors are written.
    pub EncodingSchema as "EmbeddingEncoding" = ["float", "base64"];
    /// Why a reply ended, in OpenAI's words.
    pub ChatFinishSchema as "ChatFinish" = ["stop", "length", "tool_calls", "content_filter"];
    /// OpenAI's name of the object.
    pub ChatCompletionObjectSchema as "ChatCompletionObject" = ["chat.completion"];
    /// OpenAI's name of the object.
    pub ListObjectSchema as "ListObject" = ["list"];
    /// OpenAI's name of the object.
    pub ModelObjectSchema as "ModelObject" = ["model"];
    /// OpenAI's name of the object.
    pub EmbeddingObjectSchema as "EmbeddingObject" = ["embedding"];
}

/// The events that completion webhooks are told.
pub(crate) const WEBHOOK_EVENTS: [&str; 4] = ["task.completed", "task.failed", "task.cancelled", "task.needs_review"];
