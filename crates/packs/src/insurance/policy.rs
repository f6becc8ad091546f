//! A policy's record: one for each company and policy number, with what documents have said so far.

use kybern_core::id::RecordId;
use kybern_core::ports::ToolContext;
use kybern_core::record::{ArtifactLink, Lookup, Record};
use kybern_core::tool::{RecordChange, ToolFailure};
use serde_json::{Map, Value, json};

use super::kinds::POLICY;
use super::policies::Policy;
use crate::args::{fields, text, texts};
use crate::{change, coverage};

/// What becomes of a policy's record.
pub(super) enum Kept {
    Created(Box<RecordChange>),
    /// It learns something.
    Updated(Box<RecordChange>),
    /// It knew all of that.
    Same(ArtifactLink),
}

impl Kept {
    /// The record's id.
    pub(super) fn id(&self) -> RecordId {
        match self {
            Self::Created(change) | Self::Updated(change) => change.link.record_id,
            Self::Same(link) => link.record_id,
        }
    }
}

/// Compares a policy with its record.
pub(super) async fn keep(context: &ToolContext, entity: RecordId, policy: &Policy) -> Result<Kept, ToolFailure> {
    let key = format!("entity:{entity}:{}", policy.key());
    Ok(match context.records()?.record(context.scope, POLICY, &key).await? {
        None => {
            let lookups =
                vec![Lookup::shared("policy_number", policy.key()), Lookup::shared("entity", entity.to_string())];
            Kept::Created(Box::new(change::create(context, POLICY, &key, props(context, entity, policy), lookups)))
        }
        Some(record) => {
            let changed = change::difference(&record, wanted(&record, policy));
            if changed.is_empty() {
                Kept::Same(change::resolve(&record))
            } else {
                Kept::Updated(Box::new(change::update(&record, changed, Vec::new())))
            }
        }
    })
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
    coverage::add(&mut lines, policy.lines.iter().cloned());
    wanted.insert("lines".to_owned(), json!(lines));
    wanted
}
