//! Language models behind OpenAI's API.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::time::Millis;
use kybern_engine::models::{Ask, Caller as ModelCaller, Route};
use serde_json::Value;

use crate::auth::Caller;
use crate::error::{ApiResult, Problem};
use crate::extract::JsonBody;
use crate::openai::{self, ChatBody, EmbeddingBody};
use crate::request::Asked;
use crate::schema::model::{ChatCompletionSchema, EmbeddingListSchema, ModelListSchema};
use crate::state::AppState;

/// Ask a model
///
/// OpenAI's chat completions: existing clients work unchanged. `model` is `provider/model`, a provider, or a strategy
/// (`balanced`, `cheapest`, `fastest`, `smartest`, `reasoning`, `fallback`). With `stream` the reply comes as server-sent
/// events that end with `[DONE]`; an error after the first piece is an event with the member `error`, and ends the stream.
/// Every call is held against the budgets before it is made, and counted and audited after it. The header
/// `x-kybern-model` says who has answered.
#[utoipa::path(post, path = "/v1/chat/completions", operation_id = "create_chat_completion",
    tag = "models",
    request_body(content = ChatBody, content_type = "application/json"),
    responses((status = 200, description = "The reply, or its pieces", body = ChatCompletionSchema)))]
pub(crate) async fn chat(
    State(state): State<AppState>,
    Caller(actor): Caller,
    asked: Asked,
    body: JsonBody<ChatBody>,
) -> ApiResult {
    let body = body.value;
    if let Some(agent) = body.model.strip_prefix("agent:") {
        return Err(Error::not_found("agent", agent).into());
    }
    let (streams, tells_usage, route) = (body.streams(), body.tells_usage(), Route::parse(&body.model));
    let mut request = body.request()?;
    request.traceparent = asked.traceparent();
    let models = state.engine.models();
    let ask = Ask { route, request, timeouts: models.settings().timeouts, may_fall_back: true, prompt: None };
    let (caller, created) = (ModelCaller::of(&actor), asked.at.as_millis().div_euclid(1_000));
    if streams {
        let permit = state.streams.clone().try_acquire_owned().map_err(|_| crowded())?;
        let streaming = models.stream(&caller, ask).await?;
        return Ok(openai::events(streaming, (&asked.shown, created), tells_usage, permit));
    }
    let answered = models.complete(&caller, ask).await?;
    let mut response = Json(openai::completion(&answered, &asked.shown, created)).into_response();
    named(&mut response, &answered.model);
    Ok(response)
}

fn named(response: &mut Response, model: &str) {
    if let Ok(model) = HeaderValue::try_from(model) {
        response.headers_mut().insert(HeaderName::from_static("x-kybern-model"), model);
    }
}

fn crowded() -> Problem {
    let message = "too many streams are open, ask again later or without stream";
    Error::new(ErrorCode::RateLimited, message).retry_after(Millis::from_secs(10)).into()
}

/// List models
///
/// OpenAI's list: every known model of the configured providers, and the strategies that choose among them.
#[utoipa::path(get, path = "/v1/models", operation_id = "list_models",
    tag = "models",
    responses((status = 200, description = "The models", body = ModelListSchema)))]
pub(crate) async fn list(State(state): State<AppState>, _caller: Caller) -> Json<Value> {
    Json(openai::model_list(&state.engine.models().models()))
}

/// Embed texts
///
/// OpenAI's embeddings, held against the budgets like every other call.
#[utoipa::path(post, path = "/v1/embeddings", operation_id = "create_embeddings",
    tag = "models",
    request_body(content = EmbeddingBody, content_type = "application/json"),
    responses((status = 200, description = "The vectors", body = EmbeddingListSchema)))]
pub(crate) async fn embed(
    State(state): State<AppState>,
    Caller(actor): Caller,
    body: JsonBody<EmbeddingBody>,
) -> ApiResult {
    let model = body.value.model.clone();
    let (request, as_base64) = body.value.request()?;
    let (embedded, model) = state.engine.models().embed(&ModelCaller::of(&actor), &model, request).await?;
    let mut response = Json(openai::embedding_list(&embedded, &model, as_base64)).into_response();
    named(&mut response, &model);
    Ok(response)
}
