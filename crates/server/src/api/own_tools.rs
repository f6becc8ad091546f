//! Own tools: drafts of HTTP tools, and their way to being what a call makes.

use axum::Json;
use axum::http::StatusCode;
use kybern_core::error::Error;
use kybern_core::id::{OwnToolId, UserId};
use kybern_core::policy::ToolCategory;
use kybern_core::task::EffectClass;
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::own::{HttpCall, OwnDefinition, OwnTool, OwnToolAct, OwnToolFilter, OwnToolStatus};
use kybern_core::tool::{Risk, ToolPrice};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::prompts::check_note;
use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, members, plain};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::http_call::HttpCallAnswer;
use crate::schema::texts::ToolTagSchema;

/// The most characters of a hash.
const MAX_HASH: usize = 64;

words! {
    /// What an own tool is made of.
    pub(crate) OwnToolKindSchema as "OwnToolKind" = ["http"];
    /// What happens if the process dies during a call of an own tool: `read` and `keyed` are called again, `unkeyed`
    /// waits for a person.
    pub(crate) OwnToolEffectSchema as "OwnToolEffect" = ["read", "keyed", "unkeyed"];
}

/// A version of an own tool.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OwnTool)]
pub(crate) struct OwnToolAnswer {
    /// Its id.
    id: OwnToolId,
    /// The tool's key.
    key: String,
    /// What it is made of.
    #[schema(value_type = OwnToolKindSchema)]
    kind: &'static str,
    /// Grows by one with each version of the same key.
    version: u32,
    /// How it stands.
    status: OwnToolStatus,
    /// The BLAKE3 of everything that it says, in hex: what is sent back to approve or activate it.
    hash: String,
    /// What it does.
    description: String,
    /// JSON Schema of its arguments.
    #[schema(value_type = Object)]
    input_schema: Value,
    /// JSON Schema of what a call returns; null for anything.
    #[schema(required, value_type = Option<Object>)]
    output_schema: Option<Value>,
    /// What happens if the process dies during a call.
    #[schema(value_type = OwnToolEffectSchema)]
    effect: EffectClass,
    /// How much harm a call can do; null for what its method makes of it.
    #[schema(required)]
    risk: Option<Risk>,
    /// What a call costs; null for nothing.
    #[schema(required)]
    price: Option<ToolPrice>,
    /// What it works on; null for the network.
    #[schema(required)]
    category: Option<ToolCategory>,
    /// Words by which it is found.
    tags: Vec<String>,
    /// Arguments that name a receiver.
    destinations: Vec<String>,
    /// How long one try may take; null for 60,000.
    #[schema(required)]
    timeout_ms: Option<Millis>,
    /// The request that a call makes.
    http: HttpCallAnswer,
    /// Who has written it.
    author: UserId,
    /// Who approved it.
    #[schema(required)]
    approved_by: Option<UserId>,
    /// What was said when it was rejected.
    #[schema(required)]
    note: Option<String>,
    /// When it was written.
    created_at: Timestamp,
    /// When its status changed last.
    updated_at: Timestamp,
}

page! {
    /// A page of versions of an own tool.
    pub(crate) OwnToolPage of OwnToolAnswer: "The versions."
}

impl From<OwnTool> for OwnToolAnswer {
    fn from(tool: OwnTool) -> Self {
        let hash = tool.definition.hash();
        let said = tool.definition;
        Self {
            id: tool.id,
            key: said.key,
            kind: "http",
            version: tool.version,
            status: tool.status,
            hash,
            description: said.description,
            input_schema: said.input_schema,
            output_schema: said.output_schema,
            effect: said.effect,
            risk: said.risk,
            price: said.price,
            category: said.category,
            tags: said.tags,
            destinations: said.destinations,
            timeout_ms: said.timeout_ms,
            http: said.http.into(),
            author: tool.author,
            approved_by: tool.approved_by,
            note: tool.note,
            created_at: tool.created_at,
            updated_at: tool.updated_at,
        }
    }
}

/// An object that may be left out or null, which a list is not.
pub(super) fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let said = Option::<Map<String, Value>>::deserialize(deserializer)?;
    let read = |members| serde_json::from_value(Value::Object(members)).map_err(D::Error::custom);
    said.map(read).transpose()
}

/// A new tool, or the next version of one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewOwnTool, example = json!({
    "key": "crm.find_customer", "kind": "http", "description": "Finds a customer by their number.",
    "inputSchema": {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]},
    "effect": "read",
    "http": {"method": "GET", "url": "https://crm.example.com/customers/{{ args.number }}",
        "auth": {"secret": "crm_token"}}}))]
pub(crate) struct NewOwnToolBody {
    /// Its key, `domain.verb_object`. Bundled tools have domains of their own.
    #[schema(max_length = 100, pattern = "^[a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*$")]
    key: String,
    /// What it is made of.
    #[schema(value_type = OwnToolKindSchema)]
    kind: String,
    /// What it does, for people and models. A model sees the first 1,024 characters.
    #[schema(max_length = 2_000, pattern = "\\S")]
    description: String,
    /// JSON Schema of its arguments: that of an object, of at most 64 KiB. The whole tool has at most 96 KiB.
    #[serde(alias = "input_schema")]
    #[schema(value_type = Object)]
    input_schema: Map<String, Value>,
    /// JSON Schema of what a call returns; null for anything.
    #[serde(alias = "output_schema")]
    #[schema(value_type = Option<Object>)]
    output_schema: Option<Map<String, Value>>,
    /// What happens if the process dies during a call.
    #[schema(value_type = OwnToolEffectSchema)]
    effect: EffectClass,
    /// How much harm a call can do: at least `R1` for GET and HEAD, `R2` for the others, which is what null means.
    risk: Option<Risk>,
    /// What a call costs; null for nothing.
    #[serde(default, deserialize_with = "object")]
    price: Option<ToolPrice>,
    /// What it works on; null for the network.
    category: Option<ToolCategory>,
    /// Words by which it is found.
    #[serde(default)]
    #[schema(value_type = Vec<ToolTagSchema>, max_items = 20)]
    tags: Vec<String>,
    /// Arguments that name a receiver. A value out of mail, documents or the web asks a person first.
    #[serde(default)]
    destinations: Vec<String>,
    /// How long one try may take; null for 60,000.
    #[serde(alias = "timeout_ms")]
    #[schema(value_type = Option<u64>, minimum = 100, maximum = 300_000)]
    timeout_ms: Option<Millis>,
    /// The request that a call makes.
    #[serde(deserialize_with = "members")]
    #[schema(value_type = HttpCallAnswer)]
    http: HttpCall,
}

impl NewOwnToolBody {
    fn definition(self) -> ApiResult<OwnDefinition> {
        match self.kind.as_str() {
            "http" => {}
            "script" => {
                let message = "kind \"script\" is not supported: use \"http\"";
                return Err(Problem::invalid("/kind", message));
            }
            other => return Err(Problem::invalid("/kind", format!("there is no kind {other:.60?}, use http"))),
        }
        Ok(OwnDefinition {
            key: self.key,
            description: self.description,
            input_schema: Value::Object(self.input_schema),
            output_schema: self.output_schema.map(Value::Object),
            effect: self.effect,
            risk: self.risk,
            price: self.price,
            category: self.category,
            tags: self.tags,
            destinations: self.destinations,
            timeout_ms: self.timeout_ms,
            http: self.http,
        })
    }
}

/// Write an HTTP tool
///
/// A draft: the first version of a tool, or the next one. It is submitted, approved by somebody who counts as none of
/// its authors (see `approve`), and activated. Texts of `http.url`, of the headers and of `http.json` may be templates, which read the arguments of a
/// call as `args.NAME`.
#[utoipa::path(post, path = "/api/tools", operation_id = "create_tool",
    request_body = NewOwnToolBody,
    responses((status = 201, description = "The draft", body = OwnToolAnswer)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewOwnToolBody>) -> ApiResult {
    let definition = body.value.definition()?;
    attempt
        .once(body.raw, move |engine, actor| async move {
            let tool = engine.own_tools().draft(&actor, definition).await?;
            let place = format!("{}/versions", tool.definition.key);
            SuccessAnswer::created("/api/tools", &place, &OwnToolAnswer::from(tool))
        })
        .await
}

/// List a tool's versions
///
/// A bundled tool has none.
#[utoipa::path(get, path = "/api/tools/{name}/versions", operation_id = "list_tool_versions",
    params(
        ("name" = String, Path, description = "The tool's key"),
        ("status" = Option<OwnToolStatus>, Query, description = "Only of that status"),
        PageParams,
    ),
    responses((status = 200, description = "A page of versions, newest first", body = OwnToolPage)))]
pub(crate) async fn versions(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Json<Value>> {
    let (key, paging) = (path.text("name")?, Paging::read(query, &["status"])?);
    let known = OwnToolStatus::ALL.map(OwnToolStatus::as_str);
    let status = paging.query.word("status", OwnToolStatus::parse, &known)?;
    let filter = OwnToolFilter { key: Some(key.to_owned()), status };
    let page = state.engine.own_tools().list(actor.scope(), &filter, paging.after()?, paging.limit).await?;
    if page.items.is_empty()
        && page.next.is_none()
        && state.engine.catalogue().of(actor.scope()).await.find(key).is_none()
    {
        let any = OwnToolFilter { status: None, ..filter };
        if state.engine.own_tools().list(actor.scope(), &any, None, 1).await?.items.is_empty() {
            return Err(Error::not_found("tool", key).into());
        }
    }
    let items: Vec<OwnToolAnswer> = page.items.into_iter().map(OwnToolAnswer::from).collect();
    paging.answer(&items, page.next.as_deref())
}

/// Hand a tool in for review
///
/// Its newest draft.
#[utoipa::path(post, path = "/api/tools/{name}/submit", operation_id = "submit_tool",
    params(("name" = String, Path, description = "The tool's key")),
    responses((status = 200, description = "The version", body = OwnToolAnswer)))]
pub(crate) async fn submit(call: CallerRequest) -> ApiResult<Json<Value>> {
    act(call, OwnToolAct::Submit).await
}

/// Why a tool is rejected.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = RejectTool, example = json!({"note": "Say what it does when there is no such customer."}))]
pub(crate) struct RejectToolBody {
    /// What is to be changed.
    #[schema(max_length = 2_000, pattern = "\\S")]
    note: String,
}

/// Reject a tool
///
/// The newest version in review. What was rejected stays so: another version may do better.
#[utoipa::path(post, path = "/api/tools/{name}/reject", operation_id = "reject_tool",
    params(("name" = String, Path, description = "The tool's key")),
    request_body = RejectToolBody,
    responses((status = 200, description = "The version", body = OwnToolAnswer)))]
pub(crate) async fn reject(call: CallerRequest, body: JsonBody<RejectToolBody>) -> ApiResult<Json<Value>> {
    check_note(&body.value.note)?;
    act(call, OwnToolAct::Reject(body.value.note)).await
}

/// The definition that was read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = ReadTool, example = json!({
    "hash": "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"}))]
pub(crate) struct ReadToolBody {
    /// The `hash` of the version that was read. No other version is meant.
    #[schema(max_length = 64)]
    hash: String,
}

/// Approve a tool
///
/// Never by its author, or by somebody who counts as one person with them, unless `governance.self_approval` is set.
/// It is the version in review that has the hash.
#[utoipa::path(post, path = "/api/tools/{name}/approve", operation_id = "approve_tool",
    params(("name" = String, Path, description = "The tool's key")),
    request_body = ReadToolBody,
    responses((status = 200, description = "The version", body = OwnToolAnswer)))]
pub(crate) async fn approve(call: CallerRequest, body: JsonBody<ReadToolBody>) -> ApiResult<Json<Value>> {
    plain("/hash", &body.value.hash, MAX_HASH)?;
    act(call, OwnToolAct::Approve(body.value.hash)).await
}

/// Activate a tool
///
/// The approved or disabled version that has the hash. Every step that begins from then on uses it; the version before
/// it is disabled, and may be activated again.
#[utoipa::path(post, path = "/api/tools/{name}/activate", operation_id = "activate_tool",
    params(("name" = String, Path, description = "The tool's key")),
    request_body = ReadToolBody,
    responses((status = 200, description = "The version", body = OwnToolAnswer)))]
pub(crate) async fn activate(call: CallerRequest, body: JsonBody<ReadToolBody>) -> ApiResult<Json<Value>> {
    plain("/hash", &body.value.hash, MAX_HASH)?;
    act(call, OwnToolAct::Activate(body.value.hash)).await
}

/// Disable a tool
///
/// Its active version. It may be activated again.
#[utoipa::path(post, path = "/api/tools/{name}/disable", operation_id = "disable_tool",
    params(("name" = String, Path, description = "The tool's key")),
    responses((status = 200, description = "The version", body = OwnToolAnswer)))]
pub(crate) async fn disable(call: CallerRequest) -> ApiResult<Json<Value>> {
    act(call, OwnToolAct::Disable).await
}

/// Delete a tool
///
/// Every version of it. A bundled tool cannot be deleted; PATCH turns it off.
#[utoipa::path(delete, path = "/api/tools/{name}", operation_id = "delete_tool",
    params(("name" = String, Path, description = "The tool's key")),
    responses((status = 204, description = "Deleted")))]
pub(crate) async fn remove(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<StatusCode> {
    state.engine.own_tools().delete(&actor, path.text("name")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn act(CallerRequest { state, actor, path, .. }: CallerRequest, act: OwnToolAct) -> ApiResult<Json<Value>> {
    let tool = state.engine.own_tools().act(&actor, path.text("name")?, act).await?;
    shown(&OwnToolAnswer::from(tool)).map(Json)
}
