//! Language models behind OpenAI's API.

use axum::Json;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use kybern_core::error::Error;
use kybern_core::id::ChatId;
use kybern_core::model::ModelPolicy;
use kybern_engine::chat::SayRequest;
use kybern_engine::models::{Ask, Route};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::messages::say;
use crate::error::ApiResult;
use crate::extract::{CallerRequest, JsonBody};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::openai::{self, AgentMessage, ChatBody, EmbeddingBody, EmbeddingCall};
use crate::request::RequestInfo;
use crate::schema::event::StreamEventSchema;
use crate::schema::model::{
    ChatCompletionSchema, EmbeddingListSchema, ModelEntrySchema, ModelListSchema, ModelPolicySchema,
};
use crate::state::AppState;

/// Ask a model
///
/// OpenAI's chat completions: existing clients need only this server's address and a key of it. A member that is
/// not known here is refused, because it could change what a call costs or reaches, and so is `n` above 1. `model` is `provider/model`, a provider, or a
/// strategy (`balanced`, `cheapest`, `fastest`, `smartest`, `reasoning`, `fallback`). `agent:NAME` is a turn of that
/// agent with its own prompt and tools; where a person has to say yes the answer names the approval. With `stream`
/// the reply comes as server-sent events that end with `[DONE]`; an error after the first piece is an event with the
/// member `error`, and ends the stream. Every call is held against the budgets before it is made, and counted and
/// audited after it. The header `x-kybern-model` says who has answered, but for a turn of an agent, which may ask
/// several.
#[utoipa::path(post, path = "/v1/chat/completions", operation_id = "create_chat_completion",
    params(("Idempotency-Key" = Option<String>, Header,
        description = "Of a turn of an agent: the same key with the same body is the same turn, with another body 409")),
    request_body(content = ChatBody, content_type = "application/json"),
    responses((status = 200, description = "The reply, or its pieces as events, each so",
        content((ChatCompletionSchema = "application/json"), (StreamEventSchema = "text/event-stream")))))]
pub(crate) async fn chat(attempt: KeyedRequest, JsonBody { value: body, raw }: JsonBody<ChatBody>) -> ApiResult {
    if let Some(agent) = body.model.strip_prefix("agent:").map(str::to_owned) {
        return turn(&attempt, raw, agent, body).await;
    }
    let KeyedRequest { state, actor, asked, .. } = attempt;
    let (streams, tells_usage, route) = (body.streams(), body.tells_usage(), Route::parse(&body.model));
    let request = body.request()?;
    let models = state.engine.models();
    let ask =
        Ask { route, request, timeouts: models.settings().timeouts, may_fall_back: true, prompt: None, digest: None };
    let (caller, created) = (asked.asks_models(&actor), asked.at.as_millis().div_euclid(1_000));
    if streams {
        let place = state.streams.take(&actor)?;
        let streaming = models.stream(&caller, ask).await?;
        return Ok(openai::events(&state, streaming, (&asked.shown, created), tells_usage, place));
    }
    let answered = models.complete(&caller, ask).await?;
    let mut response = Json(openai::completion(&answered, &asked.shown, created)).into_response();
    named(&mut response, &answered.model);
    Ok(response)
}

/// A chat, by its id.
#[derive(Deserialize)]
struct ChatRef {
    id: ChatId,
}

/// A turn of an agent. The same request under the same key is the same turn, of the same chat.
async fn turn(attempt: &KeyedRequest, raw: Bytes, agent: String, body: ChatBody) -> ApiResult {
    let KeyedRequest { state, actor, asked, .. } = attempt;
    let (streams, tells_usage, model) = (body.streams(), body.tells_usage(), body.model.clone());
    let created = asked.at.as_millis().div_euclid(1_000);
    let AgentMessage { before, content, pictures } = body.turn()?;
    state.engine.models().there_is_one()?;
    let (trace_id, idempotency_key) = (asked.trace_id.clone(), attempt.key.clone());
    let title = model.clone();
    let imported = attempt.made(raw, move |engine, speaker| async move {
        let chat = engine.chats().import(&speaker, Some(&agent), Some(&title), before).await?;
        SuccessAnswer::created("/api/chats", &chat.id, &chat)
    });
    let (made, _again) = imported.await?;
    let chat = made.read::<ChatRef>()?.id;
    let request = SayRequest { content, attachments: pictures, trace_id, idempotency_key, ..SayRequest::default() };
    if streams {
        let place = state.streams.take(actor)?;
        let following = state.engine.chats().say_aloud(actor, chat, request).await?;
        return Ok(openai::turn_events(state, following, (&model, &asked.shown, created), tells_usage, place));
    }
    let turned = say(state, actor, chat, request).await?;
    Ok(openai::completed(&turned, &model, &asked.shown, created)?)
}

fn named(response: &mut Response, model: &str) {
    if let Ok(model) = HeaderValue::try_from(model) {
        response.headers_mut().insert(HeaderName::from_static("x-kybern-model"), model);
    }
}

/// List models
///
/// OpenAI's list: every known model of the providers that the tenant allows, and the strategies that choose among them.
#[utoipa::path(get, path = "/v1/models", operation_id = "list_models",
    responses((status = 200, description = "The models", body = ModelListSchema)))]
pub(crate) async fn list(CallerRequest { state, actor, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let models = state.engine.models().models(actor.scope()).await?;
    Ok(Json(openai::model_list(&models)))
}

/// Show a model
///
/// One entry of OpenAI's list. An id with a slash is written into the path as it is: `/v1/models/openai/gpt-5.4`.
#[utoipa::path(get, path = "/v1/models/{id}", operation_id = "show_model",
    params(("id" = String, Path, description = "`provider/model`, or a strategy")),
    responses((status = 200, description = "The model", body = ModelEntrySchema)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let id = path.text("id")?;
    let models = state.engine.models();
    let mut known = models.models(actor.scope()).await?;
    known.extend(models.named(actor.scope(), id).await?);
    match openai::model_entry(&known, id) {
        Some(entry) => Ok(Json(entry)),
        None => Err(Error::not_found("model", id).into()),
    }
}

/// What of the policy callers see.
fn describe(state: &AppState, policy: &ModelPolicy) -> Json<Value> {
    Json(json!({"providers": policy.providers, "configured": state.engine.models().configured()}))
}

/// Show which providers may be asked
///
/// The tenant's own rule. It holds for the models that a caller names, for those that a strategy chooses, for every
/// fallback and for embeddings. The built-in table of embeddings is no provider: nothing leaves the server for it.
#[utoipa::path(get, path = "/api/models/policy", operation_id = "show_model_policy",
    responses((status = 200, description = "The rule", body = ModelPolicySchema)))]
pub(crate) async fn policy(CallerRequest { state, actor, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let policy = state.engine.models().policy(actor.scope()).await?;
    Ok(describe(&state, &policy))
}

/// Which providers a tenant allows.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = ModelPolicyRequest, example = json!({"providers": ["openai"]}))]
pub(crate) struct PolicyBody {
    /// The names of configured providers; null allows all of them, an empty list none.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required)]
    providers: Option<Vec<String>>,
}

/// Say which providers may be asked
///
/// It holds from the next call on; other processes on the same database follow within five seconds. A call that has
/// begun goes on.
#[utoipa::path(put, path = "/api/models/policy", operation_id = "set_model_policy",
    request_body = PolicyBody,
    responses((status = 200, description = "The rule", body = ModelPolicySchema)))]
pub(crate) async fn set_policy(
    CallerRequest { state, actor, .. }: CallerRequest,
    body: JsonBody<PolicyBody>,
) -> ApiResult<Json<Value>> {
    let policy = ModelPolicy { providers: body.value.providers };
    let policy = state.engine.models().set_policy(&actor, policy).await?;
    Ok(describe(&state, &policy))
}

/// Embed texts
///
/// OpenAI's embeddings, held against the budgets like every other call. A member that is not known here is refused, as
/// on `/v1/chat/completions`.
#[utoipa::path(post, path = "/v1/embeddings", operation_id = "create_embeddings",
    request_body(content = EmbeddingBody, content_type = "application/json"),
    responses((status = 200, description = "The vectors", body = EmbeddingListSchema)))]
pub(crate) async fn embed(
    CallerRequest { state, actor, .. }: CallerRequest,
    asked: RequestInfo,
    body: JsonBody<EmbeddingBody>,
) -> ApiResult {
    let model = body.value.model.clone();
    let EmbeddingCall { mut request, tokens, as_base64 } = body.value.request()?;
    if let Some(tokens) = tokens {
        request.texts = state.engine.models().texts(&model, tokens).await?;
    }
    let (embedded, model) = state.engine.models().embed(&asked.asks_models(&actor), &model, request).await?;
    let mut response = Json(openai::embedding_list(&embedded, &model, as_base64)).into_response();
    named(&mut response, &model);
    Ok(response)
}
