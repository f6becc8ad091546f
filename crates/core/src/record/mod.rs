//! Records: the objects that packs keep. A pack declares kinds; it needs no SQL and no migration.

pub mod merge;
pub mod version;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use merge::{Merge, MergeOutcome, merge};
pub use version::{RecordEdit, RecordTask, RecordTaskPlace, RecordVersion};

use crate::error::{Error, ErrorCode, Result};
use crate::id::RecordId;
use crate::json;
use crate::time::Timestamp;

/// Limits of records.
pub mod limits {
    /// Characters of a kind.
    pub const MAX_KIND: usize = 100;
    /// Characters of a key.
    pub const MAX_KEY: usize = 300;
    /// Characters of a value under which a record can be found; of a longer one its hash stands for it.
    pub const MAX_LOOKUP: usize = 300;
    /// Bytes of what is put into a record's props at once, as JSON.
    pub const MAX_PROPS: usize = 256 * 1024;
}

/// A record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Record {
    /// Its id.
    pub id: RecordId,
    /// Its kind.
    pub kind: String,
    /// Unique in its kind.
    pub key: String,
    /// What it holds.
    pub props: Map<String, Value>,
    /// Grows by one with each change, from 1.
    pub version: i64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// What of it this program cannot read, and why; it is empty here. Only there when something is wrong: see `kybern
    /// doctor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

impl Record {
    /// The record, where all of it is needed: to decide by it, or to write over it.
    ///
    /// # Errors
    /// `UNPROCESSABLE` when this program cannot read it.
    pub fn whole(self) -> Result<Self> {
        match &self.unreadable {
            None => Ok(self),
            Some(problem) => {
                let message = format!("record {} cannot be read: {problem}; `kybern doctor` says what to do", self.id);
                Err(Error::new(ErrorCode::Unprocessable, message))
            }
        }
    }
}

/// A value under which a record can be found, beside its key: an identifier, a normalised name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Lookup {
    /// Its name, for instance `DOT` or `name`.
    pub name: String,
    /// Its normalised value.
    pub value: String,
    /// Whether no two records of a kind may share it.
    pub unique: bool,
}

impl Lookup {
    /// The name of those that name a file; the store's removal of files looks for it.
    pub const FILE: &str = "file";

    /// A lookup that no two records may share.
    pub fn unique(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: Self::kept(value.into()), unique: true }
    }

    /// A lookup that many may share.
    pub fn shared(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: Self::kept(value.into()), unique: false }
    }

    /// A file that a record names. It is kept as long as the record, also when the task that brought it is removed.
    pub fn file(hash: impl Into<String>) -> Self {
        Self::shared(Self::FILE, hash)
    }

    /// A value as it is kept and looked for: strangers choose some of them, and indexes take no long ones.
    #[must_use]
    pub fn kept(value: String) -> String {
        if value.chars().count() <= limits::MAX_LOOKUP {
            return value;
        }
        format!("hash:{}", blake3::hash(value.as_bytes()).to_hex())
    }
}

/// What a tool believed about a record when it decided. A commit whose belief no longer holds is refused, and the
/// tool decides again: it is a pure function of what it read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// There is no record with that key.
    Absent,
    /// The record has that version.
    Version(i64),
    /// Whatever is there is merged into.
    Any,
}

/// A record to be written with the step that made it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PutRecord {
    /// The id if it is created; ignored when it exists.
    pub id: RecordId,
    pub kind: String,
    pub key: String,
    /// What is put in.
    pub props: Map<String, Value>,
    /// How it meets what is there.
    pub merge: Merge,
    /// What the tool believed.
    pub expect: Expect,
    /// Under what it can be found; replaces the record's lookups of the same names.
    pub lookups: Vec<Lookup>,
}

impl PutRecord {
    /// What it is called when it is spoken of: its kind and its key.
    #[must_use]
    pub fn name(&self) -> String {
        format!("record {} {:?}", self.kind, self.key)
    }

    /// Whether it can be kept.
    ///
    /// # Errors
    /// What of it is too large, by its name.
    pub fn check(&self) -> std::result::Result<(), String> {
        let length = |text: &str| text.chars().count();
        let too_long = |what: &str, most: usize| Err(format!("the {what} of a record has at most {most} characters"));
        if length(&self.kind) > limits::MAX_KIND {
            return too_long("kind", limits::MAX_KIND);
        }
        if length(&self.key) > limits::MAX_KEY {
            return too_long("key", limits::MAX_KEY);
        }
        let bytes = json::bytes_of(&self.props);
        if bytes > limits::MAX_PROPS {
            let (kind, most) = (&self.kind, limits::MAX_PROPS);
            return Err(format!("what is put into a record of kind {kind} has {bytes} bytes, {most} are taken"));
        }
        Ok(())
    }
}

/// A kind of record that a pack declares.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordKind {
    /// Its key, `domain.noun`.
    pub key: String,
    /// What it is, for people.
    pub description: String,
    /// JSON Schema of its props, which every write has to fit. What is put into a record that exists leaves out what it
    /// does not change, so the schema asks of each prop by itself, beside which of them are required.
    pub schema: Value,
    /// What a person may change by hand: the props, each with the JSON Schema of its new value, which may be narrower than
    /// the kind's. Others make up the key and what the record is found by, or are what steps have done.
    pub by_hand: Value,
}

words! {
    /// What part a record played in a task.
    pub enum ArtifactRole {
        /// The task created it.
        Created = "created",
        /// The task changed it.
        Updated = "updated",
        /// The task found it as it was.
        Resolved = "resolved",
        /// The task was about it.
        Input = "input",
    }
}

/// A task's link to a record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = in_place::ArtifactLink))]
pub struct ArtifactLink {
    /// The record's kind.
    pub kind: String,
    pub record_id: RecordId,
    /// The record's key.
    pub key: String,
    /// How the task touched it.
    pub role: ArtifactRole,
    /// The names of fields, never values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>, nullable = false))]
    pub metadata: Map<String, Value>,
}

/// A task's link to a record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Artifact))]
pub struct StoredLink {
    #[serde(flatten)]
    pub link: ArtifactLink,
    /// The step that made it.
    pub step_id: String,
    /// The tool that made it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub tool_key: Option<String>,
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn put(kind: usize, key: usize, text: usize) -> PutRecord {
        let Value::Object(props) = json!({"text": "x".repeat(text)}) else { return put(0, 0, 0) };
        PutRecord {
            id: RecordId::from_uuid(uuid::Uuid::nil()),
            kind: "k".repeat(kind),
            key: "é".repeat(key),
            props,
            merge: Merge::Fill,
            expect: Expect::Any,
            lookups: Vec::new(),
        }
    }

    #[test]
    fn a_record_has_a_size() {
        let empty = json!({"text": ""}).to_string().len();
        let (kind, key, text) = (limits::MAX_KIND, limits::MAX_KEY, limits::MAX_PROPS - empty);
        assert_eq!(put(kind, key, text).check(), Ok(()));
        for (larger, named) in
            [(put(kind + 1, key, text), "kind"), (put(kind, key + 1, text), "key"), (put(kind, key, text + 1), "bytes")]
        {
            assert!(larger.check().unwrap_err().contains(named), "{named}");
        }
    }
}
