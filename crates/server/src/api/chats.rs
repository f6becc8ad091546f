//! Chats: conversations with agents, as things that are begun, listed, forked, cleared, exported and deleted.

use axum::Json;
use axum::http::StatusCode;
use kybern_core::chat::{Chat, MAX_TITLE, Speaker};
use kybern_core::error::Detail;
use kybern_core::id::{ChatId, MessageId};
use kybern_engine::chat::ImportedMessage;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::messages::check_content;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, OptionalBody, PathArgs, check_text, members, said};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::chat::{ChatExportSchema, ChatPage};

/// Characters of an agent's name.
const MAX_AGENT: usize = 100;

/// A chat to be begun.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewChat, example = json!({"agent": "assistant", "title": "Renewals"}))]
pub(crate) struct NewChatBody {
    /// The agent that answers, by key, name or id. Without one the words of each message choose.
    #[schema(max_length = 100)]
    agent: Option<String>,
    /// What it is called.
    #[schema(max_length = 200)]
    title: Option<String>,
}

impl NewChatBody {
    fn checked(&self) -> ApiResult<()> {
        let agent = self.agent.as_deref().and_then(|agent| check_text("/agent", agent, MAX_AGENT));
        let title = self.title.as_deref().and_then(|title| check_text("/title", title, MAX_TITLE));
        Problem::refuse(agent.into_iter().chain(title).collect())
    }
}

/// Begin a chat
#[utoipa::path(post, path = "/api/chats", operation_id = "create_chat",
    request_body(content = Option<NewChatBody>, content_type = "application/json"),
    responses((status = 201, description = "The chat", body = Chat)))]
pub(crate) async fn create(attempt: KeyedRequest, body: OptionalBody<NewChatBody>) -> ApiResult {
    body.value.checked()?;
    let new = body.value;
    attempt
        .once(body.raw, move |engine, actor| async move {
            let chat = engine.chats().create(&actor, new.agent.as_deref(), new.title.as_deref()).await?;
            SuccessAnswer::created("/api/chats", &chat.id, &chat)
        })
        .await
}

/// List chats
///
/// The caller's own, the newest first. An administrator sees everybody's with `all=true`.
#[utoipa::path(get, path = "/api/chats", operation_id = "list_chats",
    params(
        ("all" = Option<bool>, Query, description = "Everybody's chats, for administrators"),
        PageParams,
    ),
    responses((status = 200, description = "A page of chats", body = ChatPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &["all"])?;
    let all = paging.query.flag("all")?.unwrap_or_default();
    let page = state.engine.chats().list(&actor, all, paging.after::<ChatId>()?, paging.limit).await?;
    paging.answer(&page.items, page.next.as_deref())
}

/// Show a chat
#[utoipa::path(get, path = "/api/chats/{id}", operation_id = "show_chat",
    params(("id" = String, Path, format = "uuid", description = "The chat")),
    responses((status = 200, description = "The chat", body = Chat)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    super::shown(&state.engine.chats().get(&actor, path.parse("id")?).await?).map(Json)
}

/// Delete a chat
///
/// With its messages. Turns that have not ended are cancelled. The tasks of its turns stay: they are the record of what
/// was done.
#[utoipa::path(delete, path = "/api/chats/{id}", operation_id = "delete_chat",
    params(("id" = String, Path, format = "uuid", description = "The chat")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn remove(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<StatusCode> {
    state.engine.chats().delete(&actor, path.parse("id")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Clear a chat
///
/// Its messages are deleted; it goes on from nothing.
#[utoipa::path(post, path = "/api/chats/{id}/reset", operation_id = "reset_chat",
    params(("id" = String, Path, format = "uuid", description = "The chat")),
    responses((status = 200, description = "The chat", body = Chat)))]
pub(crate) async fn reset(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    super::shown(&state.engine.chats().reset(&actor, path.parse("id")?).await?).map(Json)
}

/// From where to fork.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = ForkChat, example = json!({}))]
pub(crate) struct ForkBody {
    /// The last message that is copied; all when not given.
    #[serde(alias = "message_id")]
    #[schema(value_type = Option<String>, format = "uuid")]
    message_id: Option<MessageId>,
}

/// Fork a chat
///
/// A new chat that begins with a copy of what was said until a message.
#[utoipa::path(post, path = "/api/chats/{id}/fork", operation_id = "fork_chat",
    params(("id" = String, Path, format = "uuid", description = "The chat")),
    request_body(content = Option<ForkBody>, content_type = "application/json"),
    responses((status = 201, description = "The new chat", body = Chat)))]
pub(crate) async fn fork(attempt: KeyedRequest, path: PathArgs, body: OptionalBody<ForkBody>) -> ApiResult {
    let (id, until) = (path.parse("id")?, body.value.message_id);
    attempt
        .once(body.raw, move |engine, actor| async move {
            let chat = engine.chats().fork(&actor, id, until).await?;
            SuccessAnswer::created("/api/chats", &chat.id, &chat)
        })
        .await
}

/// Export a chat
///
/// With all its messages, the oldest first. What it answers can be imported as it is.
#[utoipa::path(get, path = "/api/chats/{id}/export", operation_id = "export_chat",
    params(("id" = String, Path, format = "uuid", description = "The chat")),
    responses((status = 200, description = "The chat and its messages", body = ChatExportSchema)))]
pub(crate) async fn export(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    super::shown(&state.engine.chats().export(&actor, path.parse("id")?).await?).map(Json)
}

/// A message of an import.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ImportedMessage)]
pub(crate) struct ImportedBody {
    /// Who said it.
    role: Speaker,
    /// What was said.
    #[serde(default)]
    #[schema(max_length = 262_144)]
    content: String,
}

/// What an export says of the chat itself. What it has beside this is passed over.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(expecting = "an object")]
#[schema(as = ImportedChat)]
pub(crate) struct ExportedBody {
    /// The key of the agent that answered in it.
    #[schema(max_length = 100)]
    agent: Option<String>,
    /// What it was called.
    #[schema(max_length = 200)]
    title: Option<String>,
}

/// A chat that was held elsewhere: what an export holds, or the same by hand. What is not known here is passed over.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(expecting = "an object")]
#[schema(as = ImportChat, example = json!({"title": "Renewals", "messages": [{"role": "user", "content": "Hello."}]}))]
pub(crate) struct ImportBody {
    /// The agent that answers from now on: that of `chat` when it is left out, and none when it is null.
    #[serde(default, deserialize_with = "said")]
    #[schema(value_type = Option<String>, max_length = 100)]
    agent: Option<Option<String>>,
    /// What it is called: as `chat` was when it is left out.
    #[schema(max_length = 200)]
    title: Option<String>,
    /// What an export says of the chat.
    #[serde(default, deserialize_with = "members")]
    #[schema(required = false)]
    chat: ExportedBody,
    /// What was said, the oldest first. What is empty is left out.
    #[schema(max_items = 10_000)]
    messages: Vec<ImportedBody>,
}

/// Import a chat
///
/// A new chat with what was said elsewhere; an export keeps its title and its agent, which has to be known here. Nobody
/// here has seen how that came about, so it counts as what strangers wrote: a call of risk R2 or more, or of a tool that
/// names a receiver, needs a person's yes while a model sees it.
#[utoipa::path(post, path = "/api/chats/import", operation_id = "import_chat",
    request_body = ImportBody,
    responses((status = 201, description = "The chat", body = Chat)))]
pub(crate) async fn import(attempt: KeyedRequest, body: JsonBody<ImportBody>) -> ApiResult {
    let new = body.value;
    let known = NewChatBody { agent: new.agent.unwrap_or(new.chat.agent), title: new.title.or(new.chat.title) };
    known.checked()?;
    let faults = (0..).zip(&new.messages);
    let faults: Vec<Detail> =
        faults.filter_map(|(n, message)| check_content(&format!("/messages/{n}/content"), &message.content)).collect();
    Problem::refuse(faults)?;
    let messages = new.messages.into_iter().filter(|message| !message.content.trim().is_empty());
    let messages = messages.map(|message| ImportedMessage { role: message.role, content: message.content }).collect();
    attempt
        .once(body.raw, move |engine, actor| async move {
            let chat = engine.chats().import(&actor, known.agent.as_deref(), known.title.as_deref(), messages).await?;
            SuccessAnswer::created("/api/chats", &chat.id, &chat)
        })
        .await
}
