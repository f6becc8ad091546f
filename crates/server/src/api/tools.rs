//! Tools: what they say about themselves, and a call by hand.

use std::sync::Arc;

use axum::Json;
use kybern_core::task::limits;
use kybern_core::time::Millis;
use kybern_core::tool::{Risk, ToolPrice, ToolRateLimits};
use kybern_engine::tools::{ToolChange, ToolView};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::own_tools::object;
use super::shown;
use super::tasks::wait;
use crate::error::ApiResult;
use crate::extract::{CallerRequest, JsonBody, OptionalBody, PathArgs, QueryArgs, said};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::tool::{InvocationSchema, ToolAnswer, ToolPage};

/// List tools
#[utoipa::path(get, path = "/api/tools", operation_id = "list_tools",
    params(PageParams),
    responses((status = 200, description = "A page of tools, by key", body = ToolPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let tools = state.engine.tool_settings().list(actor.scope()).await?;
    paging.cut(tools, |tool| tool.spec.key.clone(), |tool| describe(&tool))
}

/// Show a tool
#[utoipa::path(get, path = "/api/tools/{name}", operation_id = "show_tool",
    params(("name" = String, Path, description = "The tool's key, or another name of it")),
    responses((status = 200, description = "The tool", body = ToolAnswer)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    shown(&describe(&state.engine.tool_settings().get(actor.scope(), path.text("name")?).await?)).map(Json)
}

fn describe(view: &ToolView) -> ToolAnswer {
    let tool = view.spec.clone();
    ToolAnswer {
        key: tool.key,
        aliases: tool.aliases,
        description: tool.description,
        domain: tool.domain,
        tags: tool.tags,
        examples: tool.examples,
        input_schema: tool.input_schema,
        output_schema: view.output_schema.clone(),
        hash: Arc::clone(&view.hash),
        source: view.source.unwrap_or("bundled"),
        effect: tool.effect,
        risk: view.risk(),
        level: tool.level,
        category: tool.category,
        enabled: view.enabled(),
        confirm: view.confirm(),
        four_eyes: view.four_eyes(),
        limits: view.limits(),
        price: view.price().cloned(),
        right: tool.right,
        timeout_ms: tool.timeout,
        stop_on_failure: tool.stop_on_failure,
        retry: tool.retry,
        destinations: tool.destinations,
        paths: tool.paths,
        needs: tool.needs,
    }
}

/// What is said about a tool. What is left out stays; null goes back to the tool's own word.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object", default)]
#[schema(as = ChangeTool, example = json!({"limits": {"perMinute": 20}, "price": {"fixedNanos": 10_000_000}}))]
pub(crate) struct ChangeBody {
    /// Whether it may be called.
    #[serde(deserialize_with = "said")]
    #[schema(value_type = Option<bool>)]
    enabled: Option<Option<bool>>,
    /// How much harm a call can do.
    #[serde(deserialize_with = "said")]
    #[schema(value_type = Option<Risk>)]
    risk: Option<Option<Risk>>,
    /// How often each user may call it: `perMinute`, `perHour`, `perDay`.
    #[serde(deserialize_with = "said_object")]
    #[schema(value_type = Option<ToolRateLimits>)]
    limits: Option<Option<ToolRateLimits>>,
    /// What it costs: `fixedNanos` for each call, `perUnit` besides.
    #[serde(deserialize_with = "said_object")]
    #[schema(value_type = Option<ToolPrice>)]
    price: Option<Option<ToolPrice>>,
    /// Whether every call asks a person first, whoever makes it.
    #[serde(deserialize_with = "said")]
    #[schema(value_type = Option<bool>)]
    confirm: Option<Option<bool>>,
    /// Whether every call asks a second person first: not whoever asked for it, unless `governance.self_approval` is
    /// set.
    #[serde(deserialize_with = "said", alias = "four_eyes")]
    #[schema(value_type = Option<bool>)]
    four_eyes: Option<Option<bool>>,
}

/// The same for an object, which a list is not.
fn said_object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    object(deserializer).map(Some)
}

/// Change a tool for this tenant
///
/// Turns it on or off, sets its risk, how often each user may call it, what it costs, and whether a person is asked
/// first. Holds from the next call on.
#[utoipa::path(patch, path = "/api/tools/{name}", operation_id = "change_tool",
    params(("name" = String, Path, description = "The tool's key, or another name of it")),
    request_body = ChangeBody,
    responses((status = 200, description = "The tool", body = ToolAnswer)))]
pub(crate) async fn change(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<ChangeBody>,
) -> ApiResult<Json<Value>> {
    let ChangeBody { enabled, risk, limits, price, confirm, four_eyes } = body.value;
    // No tool says these three of itself: its own word is that it may be called and asks nobody.
    let change = ToolChange {
        enabled: enabled.map(|said| said.unwrap_or(true)),
        confirm: confirm.map(Option::unwrap_or_default),
        four_eyes: four_eyes.map(Option::unwrap_or_default),
        risk,
        limits,
        price,
    };
    shown(&describe(&state.engine.tool_settings().set(&actor, path.text("name")?, change).await?)).map(Json)
}

/// A call.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = InvokeTool, example = json!({"input": {}}))]
pub(crate) struct InvokeBody {
    /// The arguments; they have to fit the tool's `inputSchema`.
    #[serde(default)]
    input: Map<String, Value>,
}

/// Call a tool
///
/// A failure of the tool itself is 200 with `status: failure`; input that does not fit is 400. A call that waits for a
/// person, or takes longer than `waitMs` (60,000 when not given), answers `waiting`.
#[utoipa::path(post, path = "/api/tools/{name}/invoke", operation_id = "invoke_tool",
    params(
        ("name" = String, Path, description = "The tool's key, or another name of it"),
        ("waitMs" = Option<u64>, Query, maximum = 60000, description = "How long to wait at most until it ends or waits for a person"),
    ),
    request_body(content = Option<InvokeBody>, content_type = "application/json"),
    responses((status = 200, description = "How the call ended", body = InvocationSchema)))]
pub(crate) async fn invoke(
    attempt: KeyedRequest,
    path: PathArgs,
    query: QueryArgs,
    body: OptionalBody<InvokeBody>,
) -> ApiResult {
    let name = path.text("name")?.to_owned();
    let at_most: Millis = wait(&query.only(&["waitMs"])?)?.unwrap_or(limits::MAX_WAIT);
    // Should the process die between the call and the kept answer, the engine still knows the key.
    let (known, input) = (attempt.key.clone(), body.value.input);
    attempt
        .once(body.raw, move |engine, actor| async move {
            let view = engine.invocations().invoke(&actor, &name, input, known.as_deref(), at_most).await?;
            SuccessAnswer::done(&view)
        })
        .await
}
