//! Agents: the bundled ones, what the tenant says about them, and its own.

use axum::Json;
use axum::http::StatusCode;
use kybern_core::agent::{Agent, TurnLimits};
use kybern_core::id::PromptId;
use kybern_engine::agent::AgentTools;
use kybern_engine::agent::manage::AgentChanged;
use kybern_engine::tools::ToolSnapshot;
use serde_json::{Value, json};

use super::agent_body::{ChangeAgentBody, NewAgentBody, with_names};
use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::agent::{AgentAnswer, AgentPage, ResyncSchema};

fn describe(tools: &ToolSnapshot, agent: &Agent, draft: Option<PromptId>) -> AgentAnswer {
    let tools = AgentTools::of(agent, tools);
    let written = agent.draft.clone();
    let TurnLimits { iterations, calls, tokens, cost, time, history } = written.limits;
    let at = |time| (!agent.bundled).then_some(time);
    AgentAnswer {
        id: agent.id,
        key: written.key,
        name: written.name,
        description: written.description,
        emoji: written.emoji,
        category: written.category,
        system_prompt: written.system_prompt,
        provider: written.provider,
        model: written.model,
        max_tokens: written.max_tokens,
        temperature: written.temperature,
        max_turns: iterations,
        max_tool_calls: calls,
        max_turn_tokens: tokens,
        max_cost_nanos: cost,
        timeout_ms: time,
        history_ms: history,
        tools: written.tools,
        tool_groups: written.tool_groups,
        triggers: written.triggers,
        tool_keys: tools.keys,
        missing_tools: tools.missing,
        bundled: agent.bundled,
        version: agent.version,
        created_at: at(agent.created_at),
        updated_at: at(agent.updated_at),
        draft_prompt_id: draft,
    }
}

/// Create an agent
///
/// Its `systemPrompt` becomes a draft prompt that somebody else approves and that is then activated; the draft's id
/// is answered as `draftPromptId`. Until then a new agent is told the tenant's prompt for all agents or, where there
/// is none, that its instructions are not approved yet; one that comes with the program or had a governed prompt
/// before is told what was approved. With `governance.self_approval` the text of an agent under a new key holds at
/// once, unless a prompt for all agents is active.
#[utoipa::path(post, path = "/api/agents", operation_id = "create_agent",
    request_body = NewAgentBody,
    responses((status = 201, description = "The agent", body = AgentAnswer)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewAgentBody>) -> ApiResult {
    let draft = body.value.draft()?;
    attempt
        .once(body.raw, move |engine, actor| async move {
            let AgentChanged { agent, draft } = engine.agents().create(&actor, draft).await.map_err(with_names)?;
            let tools = engine.catalogue().of(actor.scope()).await;
            SuccessAnswer::created("/api/agents", &agent.id, &describe(&tools, &agent, draft.map(|draft| draft.id)))
        })
        .await
}

/// List agents
///
/// Those that come with the program, with what the tenant says about them, and its own.
#[utoipa::path(get, path = "/api/agents", operation_id = "list_agents",
    params(PageParams),
    responses((status = 200, description = "A page of agents, by key", body = AgentPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let agents = state.engine.agents().list(actor.scope()).await?;
    let items = agents.iter().collect();
    let tools = state.engine.catalogue().of(actor.scope()).await;
    paging.cut(items, |agent| agent.draft.key.clone(), |agent| describe(&tools, agent, None))
}

/// Show an agent
#[utoipa::path(get, path = "/api/agents/{id}", operation_id = "show_agent",
    params(("id" = String, Path, description = "The agent's id, key or name")),
    responses((status = 200, description = "The agent", body = AgentAnswer)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let agent = state.engine.agents().get(actor.scope(), path.text("id")?).await?;
    let tools = state.engine.catalogue().of(actor.scope()).await;
    shown(&describe(&tools, &agent, None)).map(Json)
}

/// Change an agent
///
/// What is left out stays. A new `systemPrompt` changes nothing by itself: it becomes a draft prompt, whose id is
/// answered as `draftPromptId`, and which somebody else approves.
#[utoipa::path(patch, path = "/api/agents/{id}", operation_id = "change_agent",
    params(("id" = String, Path, description = "The agent's id, key or name")),
    request_body = ChangeAgentBody,
    responses((status = 200, description = "The agent", body = AgentAnswer)))]
pub(crate) async fn change(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<ChangeAgentBody>,
) -> ApiResult<Json<Value>> {
    let name = path.text("id")?;
    let change = body.value.change()?;
    let changed = state.engine.agents().change(&actor, name, change).await.map_err(with_names)?;
    let tools = state.engine.catalogue().of(actor.scope()).await;
    shown(&describe(&tools, &changed.agent, changed.draft.map(|draft| draft.id))).map(Json)
}

/// Remove an agent
///
/// One that comes with the program stays away until it is reset or the agents are resynced.
#[utoipa::path(delete, path = "/api/agents/{id}", operation_id = "remove_agent",
    params(("id" = String, Path, description = "The agent's id, key or name")),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<StatusCode> {
    state.engine.agents().delete(&actor, path.text("id")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Make a bundled agent as it is in the program
///
/// Takes back every change and the removal of it. What was approved for it stays in use.
#[utoipa::path(post, path = "/api/agents/{id}/reset", operation_id = "reset_agent",
    params(("id" = String, Path, description = "The agent's id, key or name")),
    responses((status = 200, description = "The agent", body = AgentAnswer)))]
pub(crate) async fn reset(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let agent = state.engine.agents().reset(&actor, path.text("id")?).await?;
    let tools = state.engine.catalogue().of(actor.scope()).await;
    shown(&describe(&tools, &agent, None)).map(Json)
}

/// Make the bundled agents as they are in the program
///
/// Takes back every change and removal of them. The tenant's own agents stay as they are.
#[utoipa::path(post, path = "/api/agents/resync", operation_id = "resync_agents",
    responses((status = 200, description = "What was done", body = ResyncSchema)))]
pub(crate) async fn resync(CallerRequest { state, actor, .. }: CallerRequest) -> Result<Json<Value>, Problem> {
    let resynced = state.engine.agents().resync(&actor).await?;
    let keys = |agents: &[Agent]| agents.iter().map(|agent| agent.draft.key.clone()).collect::<Vec<_>>();
    Ok(Json(json!({"created": keys(&resynced.created), "updated": keys(&resynced.updated)})))
}
