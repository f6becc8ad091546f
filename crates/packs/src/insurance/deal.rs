//! Which deal is meant: the open one of this company and this pipeline, or a new one.

use kybern_core::id::RecordId;
use kybern_core::ports::ToolContext;
use kybern_core::record::Record;
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value};

use super::kinds::{self, DEAL, ENTITY};
use crate::args::{text, text_or_state};

/// How many deals of one pipeline a company can have had.
const MAX_DEALS: u32 = 500;

/// The open deal, or the key that a new one gets.
pub(super) enum OpenDeal {
    /// It is there.
    Found(Box<Record>),
    /// It would have this key.
    Absent(String),
}

/// Finds the open deal of a company in a pipeline.
pub(super) async fn open_deal(
    context: &ToolContext,
    entity: RecordId,
    pipeline: &str,
) -> Result<OpenDeal, ToolFailure> {
    let plain = format!("entity:{entity}:{pipeline}");
    for n in 1..=MAX_DEALS {
        let key = if n == 1 { plain.clone() } else { format!("{plain}:{n}") };
        match context.records()?.record(context.scope, DEAL, &key).await? {
            None => return Ok(OpenDeal::Absent(key)),
            Some(deal) if !kinds::is_closed(&text(&deal.props, "stage").unwrap_or_default()) => {
                return Ok(OpenDeal::Found(Box::new(deal)));
            }
            Some(_) => {}
        }
    }
    Err(ToolFailure::permanent(format!("this company has had {MAX_DEALS} deals of this kind; reopen one of them")))
}

/// The company's record, by the id in the arguments or in the state.
pub(super) async fn entity(context: &ToolContext, args: &Map<String, Value>) -> Result<Record, ToolFailure> {
    by_id(context, args, "entity_id", ENTITY, "resolve the entity first").await
}

/// The deal's record, by the id in the arguments or in the state.
pub(super) async fn deal(context: &ToolContext, args: &Map<String, Value>) -> Result<Record, ToolFailure> {
    by_id(context, args, "deal_id", DEAL, "create the deal first").await
}

async fn by_id(
    context: &ToolContext,
    args: &Map<String, Value>,
    name: &str,
    kind: &str,
    remedy: &str,
) -> Result<Record, ToolFailure> {
    let id = text_or_state(args, &context.state, &[name])
        .ok_or_else(|| ToolFailure::permanent(format!("{name} is neither an argument nor in the state; {remedy}")))?;
    let parsed: RecordId = id.parse().map_err(|error| ToolFailure::permanent(format!("{name}: {error}")))?;
    let record = context.records()?.record_by_id(context.scope, parsed).await?.filter(|record| record.kind == kind);
    record.ok_or_else(|| ToolFailure::permanent(format!("{name}: there is no {kind} {id}; {remedy}")))
}
