//! Tools: what they say about themselves, and a call by hand.

use axum::Json;
use axum::extract::State;
use kybern_core::error::Error;
use kybern_core::task::limits;
use kybern_core::time::Millis;
use kybern_core::tool::ToolSpec;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::tasks::wait;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{OptionalBody, PathArgs, QueryArgs};
use crate::idempotency::{Attempt, IdempotencyKey, Made};
use crate::page::Paging;
use crate::request::Asked;
use crate::schema::tool::{InvocationSchema, ToolPage, ToolSchema};
use crate::state::AppState;

/// List tools
#[utoipa::path(get, path = "/api/tools", operation_id = "list_tools",
    tag = "tools",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 200, description = "Items, 50 when not given"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before"),
    ),
    responses((status = 200, description = "A page of tools, by key", body = ToolPage)))]
pub(crate) async fn list(State(state): State<AppState>, _caller: Caller, query: QueryArgs) -> ApiResult<Json<Value>> {
    let paging = Paging::read(&query.only(&["limit", "cursor"])?, "tools")?;
    Ok(Json(paging.cut(state.engine.tool_specs(), |tool| tool.key.clone(), |tool| describe(&tool))))
}

/// Show a tool
#[utoipa::path(get, path = "/api/tools/{name}", operation_id = "show_tool",
    tag = "tools",
    params(("name" = String, Path, description = "The tool's key, or another name of it")),
    responses((status = 200, description = "The tool", body = ToolSchema)))]
pub(crate) async fn show(State(state): State<AppState>, _caller: Caller, path: PathArgs) -> ApiResult<Json<Value>> {
    let name = path.text("name")?;
    let tool = state.engine.tool_spec(name).ok_or_else(|| Error::not_found("tool", name))?;
    Ok(Json(describe(&tool)))
}

fn describe(tool: &ToolSpec) -> Value {
    json!({
        "key": tool.key,
        "aliases": tool.aliases,
        "description": tool.description,
        "domain": tool.domain,
        "inputSchema": tool.input_schema,
        "effect": tool.effect,
        "risk": tool.risk,
        "right": tool.right,
        "timeoutMs": tool.timeout,
        "stopOnFailure": tool.stop_on_failure,
        "retry": tool.retry,
        "destinations": tool.destinations,
        "needs": tool.needs,
    })
}

/// A call.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = InvokeTool, example = json!({"input": {"kind": "note", "key": "n1", "props": {"text": "hello"}}}))]
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
    tag = "tools",
    params(
        ("name" = String, Path, description = "The tool's key, or another name of it"),
        ("waitMs" = Option<u64>, Query, maximum = 60000, description = "How long to wait for the end"),
    ),
    request_body(content = Option<InvokeBody>, content_type = "application/json"),
    responses((status = 200, description = "How the call ended", body = InvocationSchema)))]
pub(crate) async fn invoke(
    State(state): State<AppState>,
    Caller(actor): Caller,
    asked: Asked,
    IdempotencyKey(key): IdempotencyKey,
    path: PathArgs,
    query: QueryArgs,
    body: OptionalBody<InvokeBody>,
) -> ApiResult {
    let name = path.text("name")?.to_owned();
    let at_most: Millis = wait(&query.only(&["waitMs"])?)?.unwrap_or(limits::MAX_WAIT);
    // Should the process die between the call and the kept answer, the engine still knows the key.
    let known = key.clone();
    let attempt = Attempt { state: &state, actor: &actor, asked: &asked, key, said: body.raw.clone() };
    let (engine, actor, input) = (state.engine.clone(), actor.clone(), body.value.input);
    attempt
        .once(async move {
            let view = engine.invoke_tool(&actor, &name, input, known.as_deref(), at_most).await?;
            Made::done(&view)
        })
        .await
}
