//! Own tools: what a tenant has made itself, version by version, approved by somebody who has not written it.
//!
//! | status | act | then | who |
//! |---|---|---|---|
//! | `draft` | submit | `review` | whoever may administer |
//! | `review` | reject, with a note | `rejected` | whoever may administer |
//! | `review` | approve | `approved` | somebody who does not count as its author; anybody where the operator allows that |
//! | `approved` | activate | `active`, and the version before it `disabled` | whoever may administer |
//! | `active` | disable | `disabled` | whoever may administer |
//! | `disabled` | activate | `active` again | whoever may administer |
//!
//! What a version says never changes: a change is another version. Whoever approves or activates names by its hash the
//! definition that they have read. One version of a tool is active at a time, and that one is in the tenant's catalogue.

mod definition;
mod room;

pub use definition::{
    HttpCall, MAX_DEFINITION, MAX_DESCRIPTION, MAX_HEADER, MAX_HEADERS, MAX_KEY, MAX_TAG, MAX_TAGS, MAX_TIMEOUT,
    MAX_URL, MIN_TIMEOUT, OwnDefinition, least_risk,
};
pub use room::{no_more_versions, no_room};

use crate::approval::MAX_NOTE;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{OwnToolId, UserId};
use crate::identity::AccountMakers;
use crate::time::Timestamp;

/// Own tools that a tenant may have active, as many as plans.
pub const MAX_ACTIVE: u64 = 1_000;
/// Bytes of all definitions that a tenant has active: what every process keeps in memory of it.
pub const MAX_ACTIVE_BYTES: u64 = 4 * 1024 * 1024;
/// Versions of one tool that are kept. Deleting the tool makes room.
pub const MAX_VERSIONS: u32 = 200;

words! {
    /// How a version of an own tool stands.
    pub enum OwnToolStatus {
        /// It is written down.
        Draft = "draft",
        /// Somebody else is to read it.
        Review = "review",
        /// Somebody else has sent it back. Another version may do better.
        Rejected = "rejected",
        /// It may be used.
        Approved = "approved",
        /// It is what a call of the tool makes.
        Active = "active",
        /// It was active. Another version is, or the tool is turned off.
        Disabled = "disabled",
    }
}

/// What is done with a version of an own tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OwnToolAct {
    /// It is handed in for review.
    Submit,
    /// It is sent back, with a note that says why.
    Reject(String),
    /// It is found good: the definition with that hash, which is the one that was read.
    Approve(String),
    /// It becomes what a call of the tool makes: the definition with that hash.
    Activate(String),
    /// It is turned off.
    Disable,
}

impl OwnToolAct {
    /// Its name in the audit.
    #[must_use]
    pub const fn action(&self) -> &'static str {
        match self {
            Self::Submit => "own_tool.submit",
            Self::Reject(_) => "own_tool.reject",
            Self::Approve(_) => "own_tool.approve",
            Self::Activate(_) => "own_tool.activate",
            Self::Disable => "own_tool.disable",
        }
    }

    const fn verb(&self) -> &'static str {
        match self {
            Self::Submit => "submitted",
            Self::Reject(_) => "rejected",
            Self::Approve(_) => "approved",
            Self::Activate(_) => "activated",
            Self::Disable => "disabled",
        }
    }
}

/// One version of an own tool.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnTool {
    pub id: OwnToolId,
    /// Grows by one with each version of the same key; from 1.
    pub version: u32,
    /// What it says of itself and does.
    pub definition: OwnDefinition,
    /// How it stands.
    pub status: OwnToolStatus,
    /// Who has written it.
    pub author: UserId,
    pub approved_by: Option<UserId>,
    /// What was said when it was rejected.
    pub note: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When its status changed last.
    pub updated_at: Timestamp,
}

/// A version that is written down. Its number is the store's to give.
#[derive(Clone, PartialEq, Debug)]
pub struct NewOwnTool {
    pub id: OwnToolId,
    /// What it says, [checked](OwnDefinition::faults).
    pub definition: OwnDefinition,
    /// Who writes it.
    pub by: UserId,
    pub at: Timestamp,
}

impl NewOwnTool {
    /// The version as a draft of that number.
    #[must_use]
    pub fn drafted(self, version: u32) -> OwnTool {
        OwnTool {
            id: self.id,
            version,
            definition: self.definition,
            status: OwnToolStatus::Draft,
            author: self.by,
            approved_by: None,
            note: None,
            created_at: self.at,
            updated_at: self.at,
        }
    }
}

/// An act on a version, as the store carries it out: only while it still stands as `before` says.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnToolChange {
    /// The version as it was read.
    pub before: OwnTool,
    /// The version as it shall be.
    pub after: OwnTool,
}

/// Which versions are wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OwnToolFilter {
    /// Those of the tool with that key.
    pub key: Option<String>,
    /// How they stand.
    pub status: Option<OwnToolStatus>,
}

impl OwnTool {
    /// The version after an act by `by`. With `makers` it needs a second person to approve it: somebody who does not
    /// count as its author.
    ///
    /// # Errors
    /// `CONFLICT` for an act that its status does not allow, and for an approval or an activation of another
    /// definition than it has; `PERMISSION_DENIED` for its author who would approve; `VALIDATION_ERROR` for a note
    /// that cannot be one.
    pub fn after(self, act: &OwnToolAct, by: UserId, makers: Option<&AccountMakers>, at: Timestamp) -> Result<Self> {
        use OwnToolStatus::{Active, Approved, Disabled, Draft, Rejected, Review};
        let stands = |status| Self { status, updated_at: at, ..self.clone() };
        match (self.status, act) {
            (Draft, OwnToolAct::Submit) => Ok(stands(Review)),
            (Review, OwnToolAct::Reject(note)) => {
                let note = note.trim();
                if note.is_empty() || note.chars().count() > MAX_NOTE {
                    let message = format!("say in 1 to {MAX_NOTE} characters why it is rejected");
                    return Err(Error::invalid("/note", message));
                }
                Ok(Self { note: Some(note.to_owned()), ..stands(Rejected) })
            }
            (Review, OwnToolAct::Approve(_)) if makers.is_some_and(|makers| makers.are_one(self.author, by)) => {
                let message = "nobody approves a tool of their own, of somebody whose account or key they made, or of \
                               somebody who made theirs: ask another administrator, or set [governance] \
                               self_approval = true";
                Err(Error::new(ErrorCode::PermissionDenied, message))
            }
            (Review, OwnToolAct::Approve(read)) => {
                self.still_is(read)?;
                Ok(Self { approved_by: Some(by), ..stands(Approved) })
            }
            (Approved | Disabled, OwnToolAct::Activate(read)) => {
                self.still_is(read)?;
                Ok(stands(Active))
            }
            (Active, OwnToolAct::Disable) => Ok(stands(Disabled)),
            (status @ (Draft | Review | Rejected | Approved | Active | Disabled), _) => {
                let message = format!("a tool that is {} cannot be {}", status.as_str(), act.verb());
                Err(Error::new(ErrorCode::Conflict, message))
            }
        }
    }

    /// Refuses an act on another definition than the one that was read.
    fn still_is(&self, read: &str) -> Result<()> {
        if self.definition.hash() == read {
            return Ok(());
        }
        let message = "hash is not that of this version: read it again and send the hash that it shows";
        Err(Error::new(ErrorCode::Conflict, message))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn user(n: u128) -> UserId {
        UserId::from_uuid(Uuid::from_u128(n))
    }

    fn draft() -> OwnTool {
        let definition = serde_json::from_value(json!({
            "key": "crm.ping", "description": "Pings.", "inputSchema": {"type": "object"}, "effect": "read",
            "http": {"method": "GET", "url": "https://crm.example.com/ping"},
        }));
        let id = OwnToolId::from_uuid(Uuid::from_u128(7));
        NewOwnTool { id, definition: definition.unwrap(), by: user(1), at: Timestamp::default() }.drafted(1)
    }

    fn after(tool: OwnTool, act: &OwnToolAct, by: u128) -> Result<OwnTool> {
        tool.after(act, user(by), Some(&AccountMakers::default()), Timestamp::default())
    }

    #[test]
    fn a_tool_goes_from_its_author_through_somebody_else_into_use() {
        let hash = draft().definition.hash();
        let handed_in = after(draft(), &OwnToolAct::Submit, 1).unwrap();
        let own = after(handed_in.clone(), &OwnToolAct::Approve(hash.clone()), 1).unwrap_err();
        assert_eq!(own.code(), ErrorCode::PermissionDenied);
        let other = after(handed_in.clone(), &OwnToolAct::Approve("0".repeat(64)), 2).unwrap_err();
        assert_eq!(other.code(), ErrorCode::Conflict);
        let approved = after(handed_in, &OwnToolAct::Approve(hash.clone()), 2).unwrap();
        assert_eq!((approved.status, approved.approved_by), (OwnToolStatus::Approved, Some(user(2))));
        let active = after(approved, &OwnToolAct::Activate(hash.clone()), 1).unwrap();
        let disabled = after(active, &OwnToolAct::Disable, 1).unwrap();
        assert_eq!(disabled.status, OwnToolStatus::Disabled);
        assert_eq!(after(disabled, &OwnToolAct::Activate(hash), 1).unwrap().status, OwnToolStatus::Active);
    }

    #[test]
    fn what_was_rejected_is_over_and_says_why() {
        let handed_in = after(draft(), &OwnToolAct::Submit, 1).unwrap();
        let empty = after(handed_in.clone(), &OwnToolAct::Reject(" ".to_owned()), 2).unwrap_err();
        assert_eq!(empty.code(), ErrorCode::Validation);
        let rejected = after(handed_in, &OwnToolAct::Reject("No time-out.".to_owned()), 2).unwrap();
        assert_eq!((rejected.status, rejected.note.as_deref()), (OwnToolStatus::Rejected, Some("No time-out.")));
        let hash = rejected.definition.hash();
        let acts = [
            OwnToolAct::Submit,
            OwnToolAct::Approve(hash.clone()),
            OwnToolAct::Activate(hash),
            OwnToolAct::Disable,
            OwnToolAct::Reject("x".to_owned()),
        ];
        for act in acts {
            assert_eq!(after(rejected.clone(), &act, 2).unwrap_err().code(), ErrorCode::Conflict, "{act:?}");
        }
    }
}
