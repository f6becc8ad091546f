//! Governed prompts: drafts, and their way to being what an agent is told.

use axum::Json;
use kybern_core::approval::MAX_NOTE;
use kybern_core::context::LeftOut;
use kybern_core::error::Detail;
use kybern_core::id::PromptId;
use kybern_core::prompt::{MAX_PROMPT, OfAgent, PromptAct, PromptFilter, PromptStatus};
use kybern_engine::prompt::PreviewRequest;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::messages::check_content;
use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, plain};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::prompt::{PreviewSchema, PromptAnswer, PromptPage};

/// The most characters of a hash.
const MAX_HASH: usize = 64;

/// A new prompt.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = NewPrompt, example = json!({"agent": "assistant", "text": "You answer for Acme."}))]
pub(crate) struct NewPromptBody {
    /// The agent that it is for, by id, key or name; null for all agents for which none of their own is active.
    #[schema(max_length = 300)]
    agent: Option<String>,
    /// What it says.
    #[schema(max_length = 16_000, pattern = "\\S")]
    text: String,
}

/// Begin a prompt
///
/// A draft, the next version of its agent. It is submitted, approved by somebody who counts as none of its
/// authors (see `approve`), and activated.
#[utoipa::path(post, path = "/api/prompts", operation_id = "create_prompt",
    request_body = NewPromptBody,
    responses((status = 201, description = "The draft", body = PromptAnswer)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewPromptBody>) -> ApiResult {
    let NewPromptBody { agent, text } = body.value;
    plain("/agent", agent.as_deref().unwrap_or_default(), 300)?;
    plain("/text", &text, MAX_PROMPT)?;
    attempt
        .once(body.raw, move |engine, actor| async move {
            let prompt = engine.prompts().draft(&actor, agent.as_deref(), &text).await?;
            let id = prompt.id;
            SuccessAnswer::created("/api/prompts", &id, &PromptAnswer::from(prompt))
        })
        .await
}

/// List prompts
#[utoipa::path(get, path = "/api/prompts", operation_id = "list_prompts",
    params(
        ("agent" = Option<String>, Query, description = "The key of an agent, or `*` for those that are for all"),
        ("status" = Option<PromptStatus>, Query, description = "Only of that status"),
        PageParams,
    ),
    responses((status = 200, description = "A page of prompts, newest first", body = PromptPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &["agent", "status"])?;
    let agent = match paging.query.get("agent") {
        None => OfAgent::Any,
        Some("*") => OfAgent::All,
        Some(key) => OfAgent::One(key.to_owned()),
    };
    let known = PromptStatus::ALL.map(PromptStatus::as_str);
    let status = paging.query.word("status", PromptStatus::parse, &known)?;
    let filter = PromptFilter { agent, status };
    let page = state.engine.prompts().list(actor.scope(), &filter, paging.after()?, paging.limit).await?;
    let items: Vec<PromptAnswer> = page.items.into_iter().map(PromptAnswer::from).collect();
    paging.answer(&items, page.next.as_deref())
}

/// Show a prompt
#[utoipa::path(get, path = "/api/prompts/{id}", operation_id = "show_prompt",
    params(("id" = String, Path, format = "uuid", description = "The prompt")),
    responses((status = 200, description = "The prompt", body = PromptAnswer)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let prompt = state.engine.prompts().get(actor.scope(), path.parse("id")?).await?;
    shown(&PromptAnswer::from(prompt)).map(Json)
}

/// What would be said.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = PreviewPrompt, example = json!({"content": "Where is invoice 4711?", "agent": "assistant"}))]
pub(crate) struct PreviewBody {
    /// The words.
    #[schema(max_length = 262_144, pattern = "\\S")]
    content: String,
    /// The agent, by id, key or name; that of the chat, or the one that the words choose, when left out.
    #[schema(max_length = 300)]
    agent: Option<String>,
    /// The chat in which it would be said; a new one when left out.
    #[serde(alias = "chat_id")]
    #[schema(format = "uuid")]
    chat_id: Option<String>,
    /// A text to try in place of what the agent is told.
    #[schema(max_length = 16_000, pattern = "\\S")]
    text: Option<String>,
}

/// Preview a prompt
///
/// What would be sent to the model if the caller said that now, with the tokens of each layer and what found no
/// place. No message is stored, and no model is asked but the one that embeds.
#[utoipa::path(post, path = "/api/prompts/preview", operation_id = "preview_prompt",
    request_body = PreviewBody,
    responses((status = 200, description = "What would be sent", body = PreviewSchema)))]
pub(crate) async fn preview(
    CallerRequest { state, actor, .. }: CallerRequest,
    body: JsonBody<PreviewBody>,
) -> ApiResult<Json<Value>> {
    let PreviewBody { content, agent, chat_id, text } = body.value;
    if let Some(Detail { path, message }) = check_content("/content", &content) {
        return Err(Problem::invalid(path, message));
    }
    plain("/agent", agent.as_deref().unwrap_or_default(), 300)?;
    plain("/text", text.as_deref().unwrap_or_default(), MAX_PROMPT)?;
    let invalid = |id: &String| Problem::invalid("/chatId", format!("{id:.64?} is not a valid id"));
    let chat = chat_id.map(|id| id.parse().map_err(|_| invalid(&id))).transpose()?;
    let request = PreviewRequest { content, agent, chat, text };
    let preview = state.engine.previews().preview(&actor, &request).await?;
    let LeftOut { sections, items, memories, knowledge, messages } = &preview.left_out;
    Ok(Json(json!({
        "agent": preview.agent,
        "model": preview.route,
        "promptId": preview.prompt,
        "messages": preview.messages,
        "layers": preview.layers,
        "leftOut": {"sections": sections, "items": items, "memories": memories, "knowledge": knowledge,
            "messages": messages},
        "tools": preview.tools,
    })))
}

/// What changes in a draft.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = ChangePrompt, example = json!({"text": "You answer for Acme, briefly."}))]
pub(crate) struct ChangePromptBody {
    /// What it says.
    #[schema(max_length = 16_000, pattern = "\\S")]
    text: String,
}

/// Edit a draft
///
/// Whoever edits it becomes one of its authors, and does not approve it unless `governance.self_approval` is set.
#[utoipa::path(patch, path = "/api/prompts/{id}", operation_id = "change_prompt",
    params(("id" = String, Path, format = "uuid", description = "The prompt")),
    request_body = ChangePromptBody,
    responses((status = 200, description = "The draft", body = PromptAnswer)))]
pub(crate) async fn change(call: CallerRequest, body: JsonBody<ChangePromptBody>) -> ApiResult<Json<Value>> {
    plain("/text", &body.value.text, MAX_PROMPT)?;
    act(call, PromptAct::Edit(body.value.text)).await
}

/// Why a prompt is rejected.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = RejectPrompt, example = json!({"note": "Say how invoices are numbered."}))]
pub(crate) struct RejectPromptBody {
    /// What is to be changed.
    #[schema(max_length = 2_000, pattern = "\\S")]
    note: String,
}

/// Refuses a note that is too long, or says nothing.
pub(super) fn check_note(note: &str) -> ApiResult<()> {
    plain("/note", note, MAX_NOTE)?;
    match note.trim() {
        "" => Err(Problem::invalid("/note", "note is empty, say what is to be changed")),
        _said => Ok(()),
    }
}

/// Hand a draft in for review
#[utoipa::path(post, path = "/api/prompts/{id}/submit", operation_id = "submit_prompt",
    params(("id" = String, Path, format = "uuid", description = "The prompt")),
    responses((status = 200, description = "The prompt", body = PromptAnswer)))]
pub(crate) async fn submit(call: CallerRequest) -> ApiResult<Json<Value>> {
    act(call, PromptAct::Submit).await
}

/// The text that was read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = ReadPrompt, example = json!({
    "textHash": "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"}))]
pub(crate) struct ReadPromptBody {
    /// The `textHash` of the prompt as it was read. If it says something else by now, nothing is done.
    #[serde(alias = "text_hash")]
    #[schema(max_length = 64)]
    text_hash: String,
}

/// Approve a prompt
///
/// Never by one of its authors, or by somebody who counts as one person with them, unless `governance.self_approval`
/// is set. It holds for the text that was read: one that was edited meanwhile is a conflict.
#[utoipa::path(post, path = "/api/prompts/{id}/approve", operation_id = "approve_prompt",
    params(("id" = String, Path, format = "uuid", description = "The prompt")),
    request_body = ReadPromptBody,
    responses((status = 200, description = "The prompt", body = PromptAnswer)))]
pub(crate) async fn approve(call: CallerRequest, body: JsonBody<ReadPromptBody>) -> ApiResult<Json<Value>> {
    plain("/textHash", &body.value.text_hash, MAX_HASH)?;
    act(call, PromptAct::Approve(body.value.text_hash)).await
}

/// Reject a prompt
///
/// It becomes a draft again, with the note.
#[utoipa::path(post, path = "/api/prompts/{id}/reject", operation_id = "reject_prompt",
    params(("id" = String, Path, format = "uuid", description = "The prompt")),
    request_body = RejectPromptBody,
    responses((status = 200, description = "The draft", body = PromptAnswer)))]
pub(crate) async fn reject(call: CallerRequest, body: JsonBody<RejectPromptBody>) -> ApiResult<Json<Value>> {
    check_note(&body.value.note)?;
    act(call, PromptAct::Reject(body.value.note)).await
}

/// Activate a prompt
///
/// From the next turn on it is what its agent is told. The one before it is retired, and may be activated again. It
/// holds for the text that was read.
#[utoipa::path(post, path = "/api/prompts/{id}/activate", operation_id = "activate_prompt",
    params(("id" = String, Path, format = "uuid", description = "The prompt")),
    request_body = ReadPromptBody,
    responses((status = 200, description = "The prompt", body = PromptAnswer)))]
pub(crate) async fn activate(call: CallerRequest, body: JsonBody<ReadPromptBody>) -> ApiResult<Json<Value>> {
    plain("/textHash", &body.value.text_hash, MAX_HASH)?;
    act(call, PromptAct::Activate(body.value.text_hash)).await
}

async fn act(CallerRequest { state, actor, path, .. }: CallerRequest, act: PromptAct) -> ApiResult<Json<Value>> {
    let id: PromptId = path.parse("id")?;
    let prompt = state.engine.prompts().act(&actor, id, act).await?;
    shown(&PromptAnswer::from(prompt)).map(Json)
}
