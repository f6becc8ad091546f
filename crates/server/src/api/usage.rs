//! Usage: what has been spent, by whom and on what.

use axum::Json;
use kybern_core::budget::{UsageBy, UsageFilter, Window};
use kybern_core::error::Detail;
use kybern_core::id::UserId;
use kybern_core::time::Timestamp;
use kybern_engine::budget::UsageSum;
use serde_json::Value;

use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, or_fault};
use crate::schema::budget::{UsageItem, UsageReport};

fn describe(sum: UsageSum) -> UsageItem {
    let line = sum.line;
    UsageItem {
        name: sum.name,
        calls: line.calls,
        failed_calls: line.failed,
        estimated_calls: line.estimated,
        input_tokens: line.input_tokens,
        cached_tokens: line.cached_tokens,
        output_tokens: line.output_tokens,
        cost_nanos: line.cost,
    }
}

/// A day of a query, `YYYY-MM-DD`.
fn day(name: &str, text: &str) -> Result<i64, Detail> {
    let at = format!("{text}T00:00:00Z").parse::<Timestamp>();
    at.map(Window::day_of).map_err(|_| Detail::new(format!("/{name}"), format!("{text:?} is no day, write YYYY-MM-DD")))
}

/// Report usage
///
/// Calls of models, and of tools that have a price, with their tokens and money, added up by day, model, tool or
/// user. A call counts once it is settled, on the day on which it began, UTC.
#[utoipa::path(get, path = "/api/usage", operation_id = "report_usage",
    params(
        ("by" = Option<UsageBy>, Query, description = "By what it is added up; by `day` when not given"),
        ("from" = Option<String>, Query, format = "date", description = "The first day, `YYYY-MM-DD`; 29 days before `to` when not given"),
        ("to" = Option<String>, Query, format = "date", description = "The last day; today when not given"),
        ("userId" = Option<String>, Query, format = "uuid", description = "Of one user only"),
    ),
    responses((status = 200, description = "The report", body = UsageReport)))]
pub(crate) async fn report(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let query = query.only(&["by", "from", "to", "userId"])?;
    let mut faults = Vec::new();
    let by = query.get("by").unwrap_or("day");
    let unknown = || Detail::new("/by", format!("{by:?} is none of day, model, tool, user"));
    let by = or_fault(UsageBy::parse(by).ok_or_else(unknown), &mut faults);
    let mut read = |name: &str| query.get(name).and_then(|text| or_fault(day(name, text), &mut faults));
    let (from, to) = (read("from"), read("to"));
    let id = |text: &str| text.parse::<UserId>().map_err(|error| Detail::new("/userId", error.to_string()));
    let user = query.get("userId").and_then(|text| or_fault(id(text), &mut faults));
    let to = to.unwrap_or_else(|| state.engine.budgets().today());
    let from = from.unwrap_or(to - 29);
    if from > to {
        faults.push(Detail::new("/from", "from lies after to"));
    }
    Problem::refuse(faults)?;
    let Some(by) = by else { return Err(Problem::internal("a fault was lost")) };
    let sums = state.engine.budgets().usage(actor.scope(), by, &UsageFilter { from, to, user }).await?;
    shown(&UsageReport { by, items: sums.into_iter().map(describe).collect() }).map(Json)
}
