//! What records say about an entity: which are looked at, and what is counted of them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::id::{RecordId, TaskId};
use crate::record::Record;
use crate::time::Timestamp;

/// The most lines of a fact.
pub const MAX_ITEMS: usize = 20;

/// Whose records are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordOwner {
    /// The entity's own: their lookup holds its id.
    Entity,
    /// Those of the records of that kind, which stands before in the list: their lookup holds the id of one of these.
    Of(&'static str),
}

/// Records that are wanted: those of a kind whose lookup of that name holds their owner's id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordsOf {
    /// Their kind.
    pub kind: &'static str,
    /// The name of the lookup.
    pub lookup: &'static str,
    /// Whose they are.
    pub owner: RecordOwner,
}

/// The records that were found of one kind.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundRecords {
    /// The newest first.
    pub records: Vec<Record>,
    /// Whether there are more: older ones, which were not read, or some that cannot be read.
    pub more: bool,
}

/// The records of an entity by their kind.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EntityRecords(pub BTreeMap<String, FoundRecords>);

impl EntityRecords {
    /// Those of a kind, the newest first.
    #[must_use]
    pub fn of(&self, kind: &str) -> &[Record] {
        self.0.get(kind).map_or(&[], |found| &found.records)
    }

    /// Whether there are more of a kind than were read.
    #[must_use]
    pub fn has_more(&self, kind: &str) -> bool {
        self.0.get(kind).is_some_and(|found| found.more)
    }

    /// What is said by the records of a kind that `says` takes: how many they are, and a line for each of the newest.
    #[must_use]
    pub fn count(&self, kind: &str, says: impl Fn(&Record) -> Option<StateItem>) -> StateFact {
        let mut items: Vec<StateItem> = self.of(kind).iter().filter_map(says).collect();
        let count = items.len();
        items.truncate(MAX_ITEMS);
        StateFact { count, more: self.has_more(kind), last_at: None, items }
    }
}

/// One fact about an entity, with the records that say so.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StateFact {
    /// How many there are: records that say so, or of what these list, such as letters.
    pub count: usize,
    /// `true`: there are records that were not looked at or cannot be read, so there may be more than that.
    pub more: bool,
    /// When it was last so, for a fact about a moment.
    #[cfg_attr(feature = "schema", schema(required))]
    pub last_at: Option<Timestamp>,
    /// The newest of them.
    #[cfg_attr(feature = "schema", schema(max_items = 20))]
    pub items: Vec<StateItem>,
}

/// What one record says.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StateItem {
    /// The record's kind.
    pub kind: String,
    /// The record.
    pub record_id: RecordId,
    /// What it says, in one line. Strangers may have written parts of it.
    pub says: String,
    /// When it was changed last, or what it tells of happened.
    pub at: Timestamp,
    /// The task from which it comes, where the record names one.
    #[cfg_attr(feature = "schema", schema(required))]
    pub task: Option<TaskId>,
}

impl StateItem {
    /// What a record says as it stands.
    #[must_use]
    pub fn of(record: &Record, says: impl Into<String>) -> Self {
        let (kind, record_id, at) = (record.kind.clone(), record.id, record.updated_at);
        Self { kind, record_id, says: says.into(), at, task: None }
    }
}
