//! A policy's record: one for each company and policy number, with what documents have said so far.

use kybern_core::id::RecordId;
use kybern_core::ports::ToolContext;
use kybern_core::record::{Lookup, Record};
use kybern_core::tool::{ToolFailure, ToolOutcome};
use serde_json::{Map, Value, json};

use super::kinds::POLICY;
use super::policies::Policy;
use crate::args::{add, fields, text, texts};
use crate::change;

/// What becomes of a policy's record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PolicyWrite {
    Created,
    /// It learns something.
    Updated,
    /// It knew all of that.
    Same,
}

/// Compares a policy with its record, and adds what follows to the outcome.
pub(super) async fn keep(
    context: &ToolContext,
    entity: RecordId,
    policy: &Policy,
    outcome: &mut ToolOutcome,
) -> Result<(RecordId, PolicyWrite), ToolFailure> {
    let key = format!("entity:{entity}:{}", policy.key());
    let Some(record) = context.records()?.record(context.scope, POLICY, &key).await? else {
        let lookups = vec![Lookup::shared("policy_number", policy.key()), Lookup::shared("entity", entity.to_string())];
        let change = change::create(context, POLICY, &key, props(context, entity, policy), lookups);
        let id = change.put.id;
        outcome.records.push(change);
        return Ok((id, PolicyWrite::Created));
    };
    let changed = change::difference(&record, wanted(&record, policy));
    let is_updated = change::settle(outcome, &record, changed, Vec::new());
    Ok((record.id, if is_updated { PolicyWrite::Updated } else { PolicyWrite::Same }))
}

fn props(context: &ToolContext, entity: RecordId, policy: &Policy) -> Map<String, Value> {
    fields([
        ("policy_number", json!(policy.number)),
        ("insurer", json!(policy.insurer)),
        ("naic", json!(policy.naic)),
        ("lines", json!(policy.lines)),
        ("effective", json!(policy.effective)),
        ("expiration", json!(policy.expiration)),
        ("premium_nanos", json!(policy.premium_nanos)),
        ("entity_id", json!(entity)),
        ("source", json!({"task": context.task, "documents": policy.documents, "confidence": policy.confidence})),
    ])
}

/// What the record should hold: terms and premium of the later period, what was empty, and all lines.
fn wanted(record: &Record, policy: &Policy) -> Map<String, Value> {
    // Dates are ISO, so that their order is the order of their text.
    let newer = match (text(&record.props, "expiration"), &policy.expiration) {
        (Some(has), Some(said)) => *said > has,
        (None, _) => true,
        (Some(_), None) => false,
    };
    let mut wanted = Map::new();
    let mut offer = |name: &str, value: Value, replaces: bool| {
        let has = record.props.get(name).unwrap_or(&Value::Null);
        if replaces || kybern_core::record::merge::is_empty(has) {
            wanted.insert(name.to_owned(), value);
        }
    };
    offer("insurer", json!(policy.insurer), false);
    offer("naic", json!(policy.naic), false);
    offer("effective", json!(policy.effective), newer);
    offer("expiration", json!(policy.expiration), newer);
    offer("premium_nanos", json!(policy.premium_nanos), newer);
    let mut lines = texts(&record.props, "lines");
    add(&mut lines, policy.lines.iter().cloned());
    wanted.insert("lines".to_owned(), json!(lines));
    wanted
}
