//! Lessons: what a tenant has learned from the answers of its people, and from what its admins say themselves.
//!
//! | status | act | then |
//! |---|---|---|
//! | `suggested` | accept | `accepted`: the rules of this tenant use it from the next version on |
//! | `suggested` | withdraw | `withdrawn`: it is not suggested again |
//! | `accepted` | withdraw | `withdrawn`: the rules use it up to that version |
//!
//! What a lesson teaches never changes; another wording is another lesson. Each acceptance and each withdrawal of an
//! accepted lesson is a version of what the tenant knows, so that a task can go on with the version that it began with
//! ([`Lessons::as_of`]). A lesson adds words; it takes none away, and nothing that asks a person about money, doubts or
//! contradictions looks at lessons.

mod set;
mod teaching;

use serde::{Deserialize, Serialize};

pub use set::Lessons;
pub use teaching::{LessonKind, MAX_ADDRESS, MAX_EXAMPLE, MAX_KEY, MAX_LABEL, Teaching};
pub(crate) use teaching::{fits, label_of};

use crate::error::{Error, ErrorCode, Result};
use crate::id::{LessonId, TaskId};
use crate::time::Timestamp;

/// Accepted lessons of a tenant at most. All of them are held against every message.
pub const MAX_ACCEPTED: u64 = 500;
/// Bytes of all accepted lessons of a tenant.
pub const MAX_ACCEPTED_BYTES: u64 = 256 * 1024;
/// Suggestions that wait to be looked at. Beyond it no more are made.
pub const MAX_SUGGESTED: u64 = 200;
/// Lessons that are kept with those that were withdrawn. The oldest of these make room, but for those with which a task
/// was read that may still go on, and those of a tenant on hold.
pub const MAX_KEPT: u64 = 2_000;

words! {
    /// How a lesson stands.
    pub enum LessonStatus {
        /// Nobody has decided about it.
        Suggested = "suggested",
        /// The tenant's rules use it.
        Accepted = "accepted",
        /// They do not, or do so no longer.
        Withdrawn = "withdrawn",
    }
}

crate::named! {
    /// What is decided about a lesson. Its names stand in the audit.
    pub enum LessonAct {
        /// The rules shall use it.
        Accept = "lesson.accept",
        /// They shall not.
        Withdraw = "lesson.withdraw",
    }
}

/// Where a lesson comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LessonSource {
    /// The task in which somebody answered; null when somebody wrote the lesson down.
    #[cfg_attr(feature = "schema", schema(required))]
    pub task_id: Option<TaskId>,
    /// The step that asked.
    #[cfg_attr(feature = "schema", schema(required))]
    pub step_id: Option<String>,
    /// Who answered, or wrote it down.
    pub by: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lesson {
    pub id: LessonId,
    #[serde(flatten)]
    pub teaching: Teaching,
    /// How it stands.
    pub status: LessonStatus,
    /// Where it comes from.
    pub source: LessonSource,
    /// The version of the tenant's lessons from which on it is used; `None` when it never was.
    pub since_version: Option<u32>,
    /// The version from which on it is used no longer.
    pub until_version: Option<u32>,
    /// Who accepted or withdrew it last.
    pub decided_by: Option<String>,
    /// When it was suggested.
    pub created_at: Timestamp,
    /// When it was decided about last.
    pub updated_at: Timestamp,
}

impl Lesson {
    /// A lesson about which nobody has decided.
    #[must_use]
    pub fn suggested(id: LessonId, teaching: Teaching, source: LessonSource, at: Timestamp) -> Self {
        Self {
            id,
            teaching,
            status: LessonStatus::Suggested,
            source,
            since_version: None,
            until_version: None,
            decided_by: None,
            created_at: at,
            updated_at: at,
        }
    }

    /// Whether the rules used it at that version.
    #[must_use]
    pub fn is_used_at(&self, version: u32) -> bool {
        self.since_version.is_some_and(|since| since <= version)
            && self.until_version.is_none_or(|until| until > version)
    }

    /// The lesson after an act. `next` is the version that begins with it.
    ///
    /// # Errors
    /// `CONFLICT` for an act that its status does not allow.
    pub fn after(self, act: LessonAct, by: &str, next: u32, at: Timestamp) -> Result<Self> {
        use LessonStatus::{Accepted, Suggested, Withdrawn};
        let decided = |lesson: Self, status| Self { status, decided_by: Some(by.to_owned()), updated_at: at, ..lesson };
        match (self.status, act) {
            (Suggested, LessonAct::Accept) => Ok(Self { since_version: Some(next), ..decided(self, Accepted) }),
            (Suggested, LessonAct::Withdraw) => Ok(decided(self, Withdrawn)),
            (Accepted, LessonAct::Withdraw) => Ok(Self { until_version: Some(next), ..decided(self, Withdrawn) }),
            (Accepted, LessonAct::Accept) => Err(Error::new(ErrorCode::Conflict, "the lesson is accepted already")),
            (Withdrawn, LessonAct::Accept | LessonAct::Withdraw) => {
                let message = "the lesson was withdrawn; to use it again, write it down anew";
                Err(Error::new(ErrorCode::Conflict, message))
            }
        }
    }

    /// Whether `after` begins another version of what the tenant knows.
    #[must_use]
    pub fn begins_version(&self, after: &Self) -> bool {
        self.since_version != after.since_version || self.until_version != after.until_version
    }
}

/// A decision as the store carries it out: only while the lesson is still as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LessonChange {
    /// The lesson as it was read.
    pub before: Lesson,
    /// The lesson as it shall be.
    pub after: Lesson,
}

/// Which lessons are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LessonFilter {
    /// How they stand.
    pub status: Option<LessonStatus>,
    pub kind: Option<LessonKind>,
}

/// Refuses another accepted lesson where a tenant has as many as it may.
///
/// # Errors
/// `UNPROCESSABLE` with what there are, and what to do.
pub fn has_room(accepted: u64, bytes: u64, more: u64) -> Result<()> {
    let message = if accepted >= MAX_ACCEPTED {
        format!("{accepted} lessons are accepted, which is the limit: withdraw one first")
    } else if bytes + more > MAX_ACCEPTED_BYTES {
        format!("accepted lessons have at most {MAX_ACCEPTED_BYTES} bytes together: withdraw one first")
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorCode::Unprocessable, message))
}

/// Refuses another lesson where as many are kept as may, and none could make room.
///
/// # Errors
/// `UNPROCESSABLE` with what to do.
pub fn has_room_to_keep(kept: u64, has_made_room: bool) -> Result<()> {
    if kept < MAX_KEPT || has_made_room {
        return Ok(());
    }
    let message = format!(
        "{kept} lessons are kept, which is the limit, and none that was withdrawn can make room: end the tasks that were \
         read with them first; where everything of the organisation is on hold, see [retention] holds"
    );
    Err(Error::new(ErrorCode::Unprocessable, message))
}

/// Refuses another suggestion where as many wait as may.
///
/// # Errors
/// `UNPROCESSABLE` with what to do.
pub fn has_room_for_suggestion(suggested: u64) -> Result<()> {
    if suggested < MAX_SUGGESTED {
        return Ok(());
    }
    let message = format!("{suggested} lessons wait to be decided about, which is the limit: accept or withdraw some");
    Err(Error::new(ErrorCode::Unprocessable, message))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_000);

    fn lesson() -> Lesson {
        let teaching = Teaching::TrustedSender { address: "ada@example.com".to_owned() };
        let source = LessonSource { task_id: None, step_id: None, by: "user:1".to_owned() };
        Lesson::suggested(LessonId::from_uuid(Uuid::from_u128(1)), teaching, source, AT)
    }

    #[test]
    fn a_lesson_is_used_from_its_acceptance_to_its_withdrawal() {
        let suggested = lesson();
        assert!((0..9).all(|version| !suggested.is_used_at(version)));
        let accepted = suggested.clone().after(LessonAct::Accept, "user:2", 3, AT).unwrap();
        assert!(suggested.begins_version(&accepted) && accepted.is_used_at(3) && !accepted.is_used_at(2));
        let withdrawn = accepted.clone().after(LessonAct::Withdraw, "user:2", 5, AT).unwrap();
        let used: Vec<u32> = (0..9).filter(|version| withdrawn.is_used_at(*version)).collect();
        assert_eq!(used, [3, 4], "a task that began with version 4 goes on with it");
        let dismissed = suggested.clone().after(LessonAct::Withdraw, "user:2", 3, AT).unwrap();
        assert!(!suggested.begins_version(&dismissed) && !dismissed.is_used_at(3));
        for (decided, act) in
            [(&accepted, LessonAct::Accept), (&withdrawn, LessonAct::Accept), (&dismissed, LessonAct::Withdraw)]
        {
            assert_eq!(decided.clone().after(act, "user:2", 6, AT).unwrap_err().code(), ErrorCode::Conflict);
        }
    }

    #[test]
    fn a_tenant_has_so_many_lessons() {
        assert!(has_room(MAX_ACCEPTED - 1, 0, 10).is_ok() && has_room(0, MAX_ACCEPTED_BYTES - 10, 10).is_ok());
        assert_eq!(has_room(MAX_ACCEPTED, 0, 10).unwrap_err().code(), ErrorCode::Unprocessable);
        assert_eq!(has_room(0, MAX_ACCEPTED_BYTES - 10, 11).unwrap_err().code(), ErrorCode::Unprocessable);
        assert!(has_room_to_keep(MAX_KEPT - 1, false).is_ok() && has_room_to_keep(MAX_KEPT, true).is_ok());
        assert_eq!(has_room_to_keep(MAX_KEPT, false).unwrap_err().code(), ErrorCode::Unprocessable);
        assert!(has_room_for_suggestion(MAX_SUGGESTED - 1).is_ok() && has_room_for_suggestion(MAX_SUGGESTED).is_err());
    }
}
