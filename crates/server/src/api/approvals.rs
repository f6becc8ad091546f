//! The inbox: what waits for a person, and their decisions.

use axum::Json;
use kybern_core::approval::{ApprovalFilter, ApprovalStatus, MAX_NOTE, Verdict};
use kybern_core::id::ApprovalId;
use kybern_core::task::Resolution;
use kybern_engine::approval::{ApprovalDecision, ApprovalView};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, plain};
use crate::page::{PageParams, Paging};
use crate::schema::approval::{ApprovalPage, ApprovalSchema};
use crate::schema::task::ResolutionSchema;
use crate::schema::words::{ApprovalFilterSchema, DecisionSchema};

/// Pending ones are meant when nobody says.
const EVERY: &str = "all";

/// List approvals
///
/// The one inbox: calls that wait for a yes, forms, reviews, intents, documents and plans that are in doubt, and
/// effects of which nobody knows whether they happened. The oldest first. `status` is `pending` when not given; `all`
/// lists every one.
#[utoipa::path(get, path = "/api/approvals", operation_id = "list_approvals",
    params(
        ("status" = Option<ApprovalFilterSchema>, Query, description = "How they stand; `pending` when not given"),
        ("taskId" = Option<String>, Query, format = "uuid", description = "Of this task only"),
        PageParams,
    ),
    responses((status = 200, description = "A page of approvals", body = ApprovalPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &["status", "taskId"])?;
    let meant = |name: &str| if name == EVERY { Some(None) } else { ApprovalStatus::parse(name).map(Some) };
    let known = [&ApprovalStatus::ALL.map(ApprovalStatus::as_str)[..], &[EVERY]].concat();
    let status = paging.query.word("status", meant, &known)?.unwrap_or(Some(ApprovalStatus::Pending));
    let task = paging.query.id("taskId")?;
    let filter = ApprovalFilter { status, task, talks_of: None, calls: true };
    let page = state.engine.approvals().list(&actor, filter, paging.after::<ApprovalId>()?, paging.limit).await?;
    let items: Vec<Value> = page.items.iter().map(describe).collect();
    paging.answer(&items, page.next.as_deref())
}

/// Show an approval
#[utoipa::path(get, path = "/api/approvals/{id}", operation_id = "show_approval",
    params(("id" = String, Path, format = "uuid", description = "The approval")),
    responses((status = 200, description = "The approval", body = ApprovalSchema)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let view = state.engine.approvals().get(&actor, path.parse("id")?).await?;
    Ok(Json(describe(&view)))
}

fn describe(view: &ApprovalView) -> Value {
    let (approval, asked, wait) = (&view.approval, &view.approval.asked, view.wait.as_ref());
    let detail = |name: &str| wait.and_then(|wait| wait.details.get(name)).cloned().unwrap_or(Value::Null);
    let decision = approval.decision.as_ref();
    let mut described = json!({
        "id": asked.id,
        "kind": asked.kind.as_str(),
        "status": approval.status,
        "taskId": approval.task,
        "stepId": asked.step,
        "userId": asked.user,
        "sender": view.about.sender,
        "subject": view.about.subject,
        "toolName": asked.tool,
        "input": asked.input,
        "inputHash": asked.input_hash,
        "reason": asked.reason,
        "title": wait.and_then(|wait| wait.title.as_deref()),
        "schema": wait.map(|wait| &wait.schema),
        "details": wait.map(|wait| &wait.details),
        "risk": detail("risk"),
        "untrusted": detail("untrusted"),
        "createdAt": approval.created_at,
        "expiresAt": asked.expires_at,
        "decidedAt": decision.map(|decision| decision.at),
        "decidedBy": decision.map(|decision| decision.by.as_str()),
        "note": decision.and_then(|decision| decision.note.as_deref()),
        "edited": decision.is_some_and(|decision| decision.edited),
    });
    if let (Some(problem), Value::Object(members)) = (&approval.unreadable, &mut described) {
        members.insert("unreadable".to_owned(), json!(problem));
    }
    described
}

/// A decision.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = Decide, example = json!({"decision": "deny", "note": "That company is not ours."}))]
pub(crate) struct DecideBody {
    /// A yes or a no.
    #[schema(value_type = DecisionSchema)]
    decision: String,
    /// What you say about it; it is shown to whoever reads the task, and to the model that asked for the call.
    #[schema(max_length = 2_000)]
    note: Option<String>,
    /// For a call: the arguments in place of those that were asked about, checked like any. For any other question:
    /// the answer.
    #[schema(value_type = Option<Object>)]
    input: Option<Map<String, Value>>,
    /// For an effect of which nobody knows whether it happened.
    #[schema(value_type = Option<ResolutionSchema>)]
    resolution: Option<Resolution>,
}

impl DecideBody {
    fn checked(self) -> ApiResult<ApprovalDecision> {
        plain("/note", self.note.as_deref().unwrap_or_default(), MAX_NOTE)?;
        let word = match self.decision.as_str() {
            "approve" => Verdict::Approve(self.input),
            "deny" if self.input.is_some() => {
                return Err(Problem::invalid(
                    "/input",
                    "a call that is denied takes no other arguments, leave input out",
                ));
            }
            "deny" if self.resolution.is_some_and(|resolution| resolution != Resolution::Fail) => {
                return Err(Problem::invalid("/resolution", "deny means fail, leave resolution out"));
            }
            "deny" => Verdict::Deny,
            _ => return Err(Problem::invalid("/decision", "use approve or deny")),
        };
        Ok(ApprovalDecision { word, note: self.note, resolution: self.resolution })
    }
}

/// Decide
///
/// Answers a question, once. A yes holds for exactly the arguments that were shown, or for those in `input`, and for
/// one call. One that has been answered, or whose time is over, is a 409.
#[utoipa::path(post, path = "/api/approvals/{id}", operation_id = "decide_approval",
    params(("id" = String, Path, format = "uuid", description = "The approval")),
    request_body = DecideBody,
    responses((status = 200, description = "The approval", body = ApprovalSchema)))]
pub(crate) async fn decide(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<DecideBody>,
) -> ApiResult<Json<Value>> {
    let id: ApprovalId = path.parse("id")?;
    let view = state.engine.approvals().decide(&actor, id, body.value.checked()?).await?;
    Ok(Json(describe(&view)))
}
