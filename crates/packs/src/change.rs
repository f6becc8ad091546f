//! What tools return instead of writing: a record's change together with the link that explains it.

use kybern_core::id::RecordId;
use kybern_core::ports::ToolContext;
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Lookup, Merge, PutRecord, Record};
use kybern_core::tool::RecordChange;
use serde_json::{Map, Value, json};

/// A new record, which must not exist yet: if another task made one meanwhile, the tool is called again and finds it.
pub(crate) fn create(
    context: &ToolContext,
    kind: &str,
    key: &str,
    props: Map<String, Value>,
    lookups: Vec<Lookup>,
) -> RecordChange {
    let id = RecordId::from_uuid(context.ids.next());
    let metadata = names("fields", props.keys());
    RecordChange {
        put: PutRecord {
            id,
            kind: kind.to_owned(),
            key: key.to_owned(),
            props,
            merge: Merge::Fill,
            expect: Expect::Absent,
            lookups,
        },
        link: ArtifactLink {
            kind: kind.to_owned(),
            record_id: id,
            key: key.to_owned(),
            role: ArtifactRole::Created,
            metadata,
        },
    }
}

/// New values for a record as it was read: if it changed meanwhile, the tool is called again.
pub(crate) fn update(record: &Record, changed: Map<String, Value>, lookups: Vec<Lookup>) -> RecordChange {
    let metadata = names("fields", changed.keys());
    RecordChange {
        put: PutRecord {
            id: record.id,
            kind: record.kind.clone(),
            key: record.key.clone(),
            props: changed,
            merge: Merge::Overwrite,
            expect: Expect::Version(record.version),
            lookups,
        },
        link: ArtifactLink {
            kind: record.kind.clone(),
            record_id: record.id,
            key: record.key.clone(),
            role: ArtifactRole::Updated,
            metadata,
        },
    }
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

fn names<'a>(label: &str, names: impl Iterator<Item = &'a String>) -> Map<String, Value> {
    let list: Vec<&String> = names.collect();
    [(label.to_owned(), json!(list))].into_iter().collect()
}
