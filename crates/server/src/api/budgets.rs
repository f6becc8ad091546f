//! Budgets: what may be spent.

use axum::Json;
use axum::http::StatusCode;
use kybern_core::budget::{Amount, BudgetSubject, Limits, Period};
use kybern_core::error::Detail;
use kybern_core::id::{BudgetId, UserId};
use kybern_core::money::{NanoUsd, Tokens};
use kybern_engine::budget::BudgetView;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, or_fault, said};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::budget::{BudgetPage, BudgetSchema};
use crate::schema::words::BudgetOwnerKindSchema;

/// A new budget.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewBudget, example = json!({"subject": {"type": "tenant"}, "period": "day", "costNanos": 5_000_000_000_i64}))]
pub(crate) struct NewBudgetBody {
    /// Whose.
    subject: SubjectBody,
    /// Its window.
    #[schema(value_type = Period)]
    period: String,
    /// Nano-dollars: 1,000,000,000 are one dollar.
    #[serde(alias = "cost_nanos")]
    #[schema(maximum = 9_223_372_036_854_775_807_u64)]
    cost_nanos: Option<u64>,
    /// Tokens, read and written.
    #[schema(maximum = 9_223_372_036_854_775_807_u64)]
    tokens: Option<u64>,
    /// Calls of models, and of tools that have a price.
    #[schema(maximum = 9_223_372_036_854_775_807_u64)]
    calls: Option<u64>,
}

/// Whose spending is limited.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = BudgetSubject)]
pub(crate) struct SubjectBody {
    /// Whose it is.
    #[serde(rename = "type")]
    #[schema(value_type = BudgetOwnerKindSchema)]
    kind: String,
    /// The user, for `user`; left out for the others.
    #[schema(format = "uuid")]
    id: Option<String>,
}

/// New limits.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = ChangeBudget, example = json!({"costNanos": 7_000_000_000_i64}))]
pub(crate) struct ChangeBudgetBody {
    /// Nano-dollars; null takes the limit away, left out it stays.
    #[serde(default, alias = "cost_nanos", deserialize_with = "said")]
    #[schema(value_type = Option<u64>, maximum = 9_223_372_036_854_775_807_u64)]
    cost_nanos: Option<Option<u64>>,
    /// Tokens.
    #[serde(default, deserialize_with = "said")]
    #[schema(value_type = Option<u64>, maximum = 9_223_372_036_854_775_807_u64)]
    tokens: Option<Option<u64>>,
    /// Calls.
    #[serde(default, deserialize_with = "said")]
    #[schema(value_type = Option<u64>, maximum = 9_223_372_036_854_775_807_u64)]
    calls: Option<Option<u64>>,
}

fn nanos(cost: u64) -> Result<NanoUsd, Detail> {
    i64::try_from(cost).map(NanoUsd).map_err(|_| Detail::new("/costNanos", "that is more than all money"))
}

/// Limits past this cannot be counted.
fn counted(path: &str, limit: u64) -> Result<u64, Detail> {
    let fits = i64::try_from(limit).is_ok();
    fits.then_some(limit).ok_or_else(|| Detail::new(path, "that is more than can be counted"))
}

fn limits((cost, tokens, calls): (Option<u64>, Option<u64>, Option<u64>), faults: &mut Vec<Detail>) -> Limits {
    let tokens = tokens.and_then(|limit| or_fault(counted("/tokens", limit), faults)).map(Tokens);
    let calls = calls.and_then(|limit| or_fault(counted("/calls", limit), faults));
    let cost = cost.and_then(|limit| or_fault(nanos(limit), faults));
    Limits { cost, tokens, calls }
}

fn subject(body: &SubjectBody) -> Result<BudgetSubject, Detail> {
    let alone = |subject| match &body.id {
        None => Ok(subject),
        Some(_) => Err(Detail::new("/subject/id", "only a budget of a user names one")),
    };
    match body.kind.as_str() {
        "tenant" => alone(BudgetSubject::Tenant),
        "each_user" => alone(BudgetSubject::EachUser),
        "each_task" => alone(BudgetSubject::EachTask),
        "user" => {
            let id = body.id.as_deref().ok_or_else(|| Detail::new("/subject/id", "name the user"))?;
            let user = id.parse::<UserId>().map_err(|error| Detail::new("/subject/id", error.to_string()))?;
            Ok(BudgetSubject::User(user))
        }
        _ => Err(Detail::new("/subject/type", "use tenant, user, each_user or each_task")),
    }
}

fn amount(amount: &Amount) -> Value {
    json!({"costNanos": amount.cost(), "tokens": amount.tokens(), "calls": amount.calls()})
}

fn describe(view: &BudgetView) -> Value {
    let budget = &view.budget;
    let subject = match budget.subject {
        BudgetSubject::User(user) => json!({"type": "user", "id": user}),
        BudgetSubject::Tenant | BudgetSubject::EachUser | BudgetSubject::EachTask => {
            json!({"type": budget.subject.to_string(), "id": null})
        }
    };
    json!({
        "id": budget.id,
        "subject": subject,
        "period": budget.period,
        "costNanos": budget.limits.cost,
        "tokens": budget.limits.tokens,
        "calls": budget.limits.calls,
        "used": view.standing.as_ref().map(|standing| amount(&standing.used)),
        "reserved": view.standing.as_ref().map(|standing| amount(&standing.reserved)),
        "resetsAt": view.resets_at,
        "createdAt": budget.created_at,
        "updatedAt": budget.updated_at,
    })
}

/// Create a budget
///
/// It holds from the next call on, and counts what its window has used already. A call that a budget does not cover
/// is refused with `BUDGET_EXCEEDED` before it is made: where a person has to say yes, after the yes.
#[utoipa::path(post, path = "/api/budgets", operation_id = "create_budget",
    request_body = NewBudgetBody,
    responses((status = 201, description = "The budget", body = BudgetSchema)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewBudgetBody>) -> ApiResult {
    let new = body.value;
    let mut faults = Vec::new();
    let of = or_fault(subject(&new.subject), &mut faults);
    let period = Period::parse(&new.period).ok_or_else(|| Detail::new("/period", "use day, month or whole"));
    let period = or_fault(period, &mut faults);
    let limits = limits((new.cost_nanos, new.tokens, new.calls), &mut faults);
    Problem::refuse(faults)?;
    let (Some(of), Some(period)) = (of, period) else { return Err(Problem::internal("a fault was lost")) };
    attempt
        .once(body.raw, move |engine, actor| async move {
            let view = engine.budgets().create(&actor, of, period, limits).await?;
            SuccessAnswer::created("/api/budgets", &view.budget.id, &describe(&view))
        })
        .await
}

/// List budgets
///
/// Each with what is used and reserved in its present window, but for those of each user or task.
#[utoipa::path(get, path = "/api/budgets", operation_id = "list_budgets",
    params(PageParams),
    responses((status = 200, description = "A page of budgets, oldest first", body = BudgetPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    // One more than the page: whether there is a next one.
    let budgets = state.engine.budgets().list(actor.scope(), paging.after()?, paging.limit + 1).await?;
    paging.begun(budgets, |view| view.budget.id.to_string(), |view| describe(&view))
}

/// Show a budget
#[utoipa::path(get, path = "/api/budgets/{id}", operation_id = "show_budget",
    params(("id" = String, Path, format = "uuid", description = "The budget")),
    responses((status = 200, description = "The budget", body = BudgetSchema)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let id: BudgetId = path.parse("id")?;
    Ok(Json(describe(&state.engine.budgets().get(actor.scope(), id).await?)))
}

/// Change a budget's limits
#[utoipa::path(patch, path = "/api/budgets/{id}", operation_id = "change_budget",
    params(("id" = String, Path, format = "uuid", description = "The budget")),
    request_body = ChangeBudgetBody,
    responses((status = 200, description = "The budget", body = BudgetSchema)))]
pub(crate) async fn change(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<ChangeBudgetBody>,
) -> ApiResult<Json<Value>> {
    let id: BudgetId = path.parse("id")?;
    let known = state.engine.budgets().get(actor.scope(), id).await?.budget.limits;
    let mut faults = Vec::new();
    let ChangeBudgetBody { cost_nanos, tokens, calls } = body.value;
    let said = limits((cost_nanos.flatten(), tokens.flatten(), calls.flatten()), &mut faults);
    Problem::refuse(faults)?;
    let limits = Limits {
        cost: if cost_nanos.is_some() { said.cost } else { known.cost },
        tokens: if tokens.is_some() { said.tokens } else { known.tokens },
        calls: if calls.is_some() { said.calls } else { known.calls },
    };
    Ok(Json(describe(&state.engine.budgets().change(&actor, id, limits).await?)))
}

/// Remove a budget
#[utoipa::path(delete, path = "/api/budgets/{id}", operation_id = "remove_budget",
    params(("id" = String, Path, format = "uuid", description = "The budget")),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<StatusCode> {
    let id: BudgetId = path.parse("id")?;
    state.engine.budgets().delete(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
