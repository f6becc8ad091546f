//! The history of records: who changed what, when, and why.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ArtifactRole, Record};
use crate::error::{Detail, Error, ErrorCode, Result};
use crate::id::{RecordId, TaskId, UserId};
use crate::json;
use crate::time::Timestamp;

/// Characters of the reason that a person gives for a change.
pub const MAX_REASON: usize = 500;

/// One version of a record, and what made it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RecordVersion {
    /// The version that the record had from then on.
    pub version: i64,
    /// The props that changed, with their new values; `null` also for one that is no longer there.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub changed: Map<String, Value>,
    /// The task whose step wrote it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub task_id: Option<TaskId>,
    /// The step.
    #[cfg_attr(feature = "schema", schema(required))]
    pub step_id: Option<String>,
    /// The user who changed it by hand.
    #[cfg_attr(feature = "schema", schema(required))]
    pub user_id: Option<UserId>,
    /// Why they did.
    #[cfg_attr(feature = "schema", schema(required))]
    pub reason: Option<String>,
    /// When.
    pub created_at: Timestamp,
    /// What of it this program cannot read, and why; only there when something is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// A task's link to a record, as the record tells it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RecordTask {
    /// The task.
    pub task_id: TaskId,
    /// How it touched the record.
    pub role: ArtifactRole,
    /// The step that did.
    pub step_id: String,
    /// Its tool.
    #[cfg_attr(feature = "schema", schema(required))]
    pub tool_key: Option<String>,
    /// When.
    pub created_at: Timestamp,
}

/// Where a link of a task stands in the list of its record: the task, and the link's number among the task's, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordTaskPlace(pub TaskId, pub i64);

impl fmt::Display for RecordTaskPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0, self.1)
    }
}

/// A text that is no [`RecordTaskPlace`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("is no place in the tasks of a record")]
pub struct NoPlace;

impl FromStr for RecordTaskPlace {
    type Err = NoPlace;

    fn from_str(text: &str) -> std::result::Result<Self, NoPlace> {
        let (task, n) = text.split_once(':').ok_or(NoPlace)?;
        Ok(Self(task.parse().map_err(|_| NoPlace)?, n.parse().map_err(|_| NoPlace)?))
    }
}

/// A change of a record by hand.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordEdit {
    /// The record.
    pub id: RecordId,
    /// The version that the person saw.
    pub version: i64,
    /// The props that change, with their new values; `null` takes one away.
    pub changed: Map<String, Value>,
    /// Who changes it; `None` where the key is no user's.
    pub user: Option<UserId>,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// The props after a change by hand.
#[must_use]
pub fn edited(props: &Map<String, Value>, changed: &Map<String, Value>) -> Map<String, Value> {
    let mut after = props.clone();
    for (name, value) in changed {
        if value.is_null() {
            after.remove(name);
        } else {
            after.insert(name.clone(), value.clone());
        }
    }
    after
}

/// What is different after a change: each prop with its new value, `null` for one that is no longer there.
#[must_use]
pub fn difference(before: &Map<String, Value>, after: &Map<String, Value>) -> Map<String, Value> {
    let new = after.iter().filter(|(name, value)| before.get(*name) != Some(*value));
    let gone = before.keys().filter(|name| !after.contains_key(*name)).map(|name| (name.clone(), Value::Null));
    new.map(|(name, value)| (name.clone(), value.clone())).chain(gone).collect()
}

impl RecordEdit {
    /// Whether the person saw the record as it is now.
    ///
    /// # Errors
    /// `CONFLICT`.
    pub fn must_have_seen(&self, record: &Record) -> Result<()> {
        let (seen, now) = (self.version, record.version);
        if seen == now {
            return Ok(());
        }
        let message =
            format!("the record has version {now} now, and {seen} was seen: look at it again, and send {now}");
        Err(Error::new(ErrorCode::Conflict, message))
    }

    /// Whether it says all that it must, by itself.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the places.
    pub fn check(&self) -> Result<()> {
        let mut faults = Vec::new();
        if self.version < 1 {
            faults.push(Detail::new("/version", "version is the one that you saw, from 1"));
        }
        if self.changed.is_empty() {
            faults.push(Detail::new("/props", "name at least one prop that changes"));
        }
        if let Err(fault) = json::check_members(&self.changed) {
            faults.push(Detail::new("/props", fault.to_string()));
        }
        let length = self.reason.chars().count();
        if self.reason.trim().is_empty() || length > MAX_REASON {
            faults.push(Detail::new("/reason", format!("say why in 1 to {MAX_REASON} characters")));
        }
        match faults.first() {
            None => Ok(()),
            Some(first) => Err(Error::new(ErrorCode::Validation, first.message.clone()).with_details(faults)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn null_takes_a_prop_away_and_what_is_not_named_stays() {
        let props = object(json!({"status": "requested", "to": "desk@example.com", "lines": ["AUTO"]}));
        let after = edited(&props, &object(json!({"status": "closed", "to": null, "note": "by post", "gone": null})));
        assert_eq!(Value::Object(after), json!({"status": "closed", "lines": ["AUTO"], "note": "by post"}));
    }

    #[test]
    fn the_difference_made_to_what_was_gives_what_is() {
        let before = object(json!({"a": 1, "b": null, "c": [1], "d": "x"}));
        let after = object(json!({"a": 2, "b": null, "c": [1], "e": []}));
        let changed = difference(&before, &after);
        assert_eq!(Value::Object(changed.clone()), json!({"a": 2, "d": null, "e": []}));
        assert_eq!(edited(&before, &changed), after);
        assert!(difference(&after, &after).is_empty());
    }

    #[test]
    fn an_edit_says_what_and_why() {
        let edit = |changed: Value, reason: &str| RecordEdit {
            id: RecordId::from_uuid(uuid::Uuid::nil()),
            version: 1,
            changed: object(changed),
            user: None,
            reason: reason.to_owned(),
            at: Timestamp::from_millis(0),
        };
        assert!(edit(json!({"a": 1}), "because").check().is_ok());
        let places = |edit: RecordEdit| {
            let error = edit.check().err();
            error.map(|error| error.details().iter().map(|fault| fault.path.clone()).collect::<Vec<_>>())
        };
        assert_eq!(places(edit(json!({}), " ")), Some(vec!["/props".to_owned(), "/reason".to_owned()]));
        assert_eq!(places(edit(json!({"a": 1}), &"x".repeat(MAX_REASON + 1))), Some(vec!["/reason".to_owned()]));
    }
}
