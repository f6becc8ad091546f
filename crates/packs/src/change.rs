//! What tools return instead of writing: a record's change together with the link that explains it.

use kybern_core::id::RecordId;
use kybern_core::ports::ToolContext;
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Lookup, Merge, PutRecord, Record};
use kybern_core::tool::{RecordChange, ToolOutcome};
use serde_json::{Map, Value};

use crate::args::fields;

/// A new record, which must not exist yet: if another task made one meanwhile, the tool is called again and finds it.
pub(crate) fn create(
    context: &ToolContext,
    kind: &str,
    key: &str,
    props: Map<String, Value>,
    lookups: Vec<Lookup>,
) -> RecordChange {
    let (kind, key) = (kind.to_owned(), key.to_owned());
    let id = RecordId::from_uuid(context.ids.next());
    let put = PutRecord { id, kind, key, props, merge: Merge::Fill, expect: Expect::Absent, lookups };
    linked(put, ArtifactRole::Created)
}

/// New values for a record as it was read: if it changed meanwhile, the tool is called again.
pub(crate) fn update(record: &Record, changed: Map<String, Value>, lookups: Vec<Lookup>) -> RecordChange {
    let put = PutRecord {
        id: record.id,
        kind: record.kind.clone(),
        key: record.key.clone(),
        props: changed,
        merge: Merge::Overwrite,
        expect: Expect::Version(record.version),
        lookups,
    };
    linked(put, ArtifactRole::Updated)
}

fn linked(put: PutRecord, role: ArtifactRole) -> RecordChange {
    let metadata = fields([("fields", put.props.keys().cloned().collect())]);
    let link = ArtifactLink { kind: put.kind.clone(), record_id: put.id, key: put.key.clone(), role, metadata };
    RecordChange { put, link }
}

/// Adds what changed of a record, or a link to it where nothing did; whether something did.
pub(crate) fn settle(
    outcome: &mut ToolOutcome,
    record: &Record,
    changed: Map<String, Value>,
    lookups: Vec<Lookup>,
) -> bool {
    let is_changed = !changed.is_empty();
    if is_changed {
        outcome.records.push(update(record, changed, lookups));
    } else {
        outcome.links.push(resolve(record));
    }
    is_changed
}

/// A link to a record that stays as it is.
pub(crate) fn resolve(record: &Record) -> ArtifactLink {
    ArtifactLink {
        kind: record.kind.clone(),
        record_id: record.id,
        key: record.key.clone(),
        role: ArtifactRole::Resolved,
        metadata: Map::new(),
    }
}

/// Those of `wanted` that differ from what the record holds. Empty values never replace anything.
pub(crate) fn difference(record: &Record, wanted: Map<String, Value>) -> Map<String, Value> {
    let differs = |(name, value): &(String, Value)| {
        !kybern_core::record::merge::is_empty(value) && record.props.get(name) != Some(value)
    };
    wanted.into_iter().filter(differs).collect()
}
