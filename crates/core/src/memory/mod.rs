//! Memories: what is remembered of users and of the things of a tenant.
//!
//! | who says it | trust | status at first |
//! |---|---|---|
//! | a user | `user` | `active`, or `pending` when they only propose it |
//! | a pack's tool, by what it read | `tool` | `active` |
//! | a model | `model` | `pending`, until a person accepts or rejects it |
//!
//! Only active memories that have not expired are ever shown to a model, and then as what somebody has said, never as
//! an instruction. A text in which a secret is found is never remembered: it would be shown again and again.

mod confidence;
mod function_words;
mod fuse;
mod named;
mod near;
mod provenance;
mod repeated;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use confidence::Confidence;
pub use fuse::{by_keywords, fused, places};
pub use named::names_in;
pub use near::{by_words, nearness};
pub use provenance::{MAX_PLACE, Provenance};
pub use repeated::said_before;

use crate::context::Importance;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{MemoryId, RecordId, UserId};
use crate::policy::redact::has_secret;
use crate::time::Timestamp;

/// The most characters of a memory.
pub const MAX_CONTENT: usize = 2_000;
/// The most characters of one that a model suggests.
pub const MAX_SUGGESTION: usize = 200;
/// The most suggestions of one turn.
pub const MAX_SUGGESTIONS: usize = 5;
/// The most memories of one subject. All of them are compared in a search, so this bounds what one reads.
pub const MAX_OF_SUBJECT: u32 = 2_000;

/// Of what something is remembered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "type", content = "id", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Subject {
    /// A user.
    User(UserId),
    /// A record that stands for something outside: a company, a vehicle.
    Entity(RecordId),
}

impl Subject {
    /// The name of its kind on the wire.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Entity(_) => "entity",
        }
    }

    /// Its id without its kind.
    #[must_use]
    pub const fn id(&self) -> uuid::Uuid {
        match self {
            Self::User(id) => id.as_uuid(),
            Self::Entity(id) => id.as_uuid(),
        }
    }

    /// The subject of that kind and id.
    #[must_use]
    pub fn of(kind: &str, id: uuid::Uuid) -> Option<Self> {
        match kind {
            "user" => Some(Self::User(UserId::from_uuid(id))),
            "entity" => Some(Self::Entity(RecordId::from_uuid(id))),
            _ => None,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind(), self.id())
    }
}

words! {
    /// What kind of memory it is.
    #[derive(Default)]
    pub enum MemoryCategory {
        /// A conclusion.
        Insight = "insight",
        /// Something that happened.
        Event = "event",
        /// What somebody likes.
        Preference = "preference",
        /// What is so.
        #[default]
        Fact = "fact",
    }
}

impl MemoryCategory {
    /// Whether the same words may be true again, of another moment.
    #[must_use]
    pub const fn recurs(self) -> bool {
        match self {
            Self::Event => true,
            Self::Insight | Self::Preference | Self::Fact => false,
        }
    }
}

words! {
    /// Whose word it is.
    pub enum Trust {
        /// A user's.
        User = "user",
        /// A tool's.
        Tool = "tool",
        /// A model's.
        Model = "model",
    }
}

impl Trust {
    /// How a memory on this word stands at first.
    #[must_use]
    pub const fn begins(self) -> MemoryStatus {
        match self {
            Self::User | Self::Tool => MemoryStatus::Active,
            Self::Model => MemoryStatus::Pending,
        }
    }
}

words! {
    /// How a memory stands.
    pub enum MemoryStatus {
        /// A person has to say whether it is to be kept.
        Pending = "pending",
        /// It is remembered.
        Active = "active",
        /// It was not wanted.
        Rejected = "rejected",
    }
}

impl MemoryStatus {
    /// Whether a memory that stands so takes a place among the [`MAX_OF_SUBJECT`]. What was not wanted takes none: it is
    /// kept so that it is not suggested again.
    #[must_use]
    pub const fn counts(self) -> bool {
        match self {
            Self::Pending | Self::Active => true,
            Self::Rejected => false,
        }
    }
}

/// Something that is to be remembered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewMemory {
    pub subject: Subject,
    pub content: String,
    /// What kind of memory.
    pub category: MemoryCategory,
    /// How much it matters.
    pub importance: Importance,
    /// How sure whoever says it is; `None` when they do not say.
    pub confidence: Option<Confidence>,
    /// Where it comes from.
    pub provenance: Provenance,
    /// When it holds no more; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// Whether a person has to accept it first, whoever says it. What a model says waits always.
    pub pending: bool,
}

impl NewMemory {
    /// A fact about a subject, with everything else left to the defaults.
    #[must_use]
    pub fn fact(subject: Subject, content: &str) -> Self {
        Self {
            subject,
            content: content.to_owned(),
            category: MemoryCategory::Fact,
            importance: Importance::DEFAULT,
            confidence: None,
            provenance: Provenance::default(),
            expires_at: None,
            pending: false,
        }
    }
}

/// A memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = in_place::Memory))]
pub struct Memory {
    pub id: MemoryId,
    pub subject: Subject,
    pub content: String,
    /// What kind of knowledge it is.
    pub category: MemoryCategory,
    /// How much it matters, from 1 to 10.
    pub importance: Importance,
    /// How sure whoever said it was, from 0 to 1; null when they did not say.
    #[cfg_attr(feature = "schema", schema(required))]
    pub confidence: Option<Confidence>,
    /// Whose word it is.
    pub trust: Trust,
    /// How it stands.
    pub status: MemoryStatus,
    /// Where it comes from.
    pub provenance: Provenance,
    /// When it holds no more; null for never.
    #[cfg_attr(feature = "schema", schema(required))]
    pub expires_at: Option<Timestamp>,
    /// When it was first said.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// What changes in a memory; what is `None` stays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryChange {
    /// What it says.
    pub content: Option<String>,
    /// What kind of memory it is.
    pub category: Option<MemoryCategory>,
    /// How much it matters.
    pub importance: Option<Importance>,
    /// How sure it is. That of the words before does not go over to new ones.
    pub confidence: Option<Confidence>,
    /// When it holds no more; an inner `None` for never.
    pub expires_at: Option<Option<Timestamp>>,
}

/// The text of a memory on that word, if it can be one.
///
/// # Errors
/// `VALIDATION_ERROR` for an empty one, one that is too long, and one in which a secret is found.
pub fn checked(content: &str, trust: Trust) -> Result<String> {
    let content = content.trim();
    let most = match trust {
        Trust::User | Trust::Tool => MAX_CONTENT,
        Trust::Model => MAX_SUGGESTION,
    };
    let length = content.chars().count();
    let fault = if length == 0 || length > most {
        Some(format!("a memory has 1 to {most} characters, not {length}"))
    } else if has_secret(content) {
        let remedy = "leave it out and keep secrets under /api/secrets";
        Some(format!("this looks like a password, a key or the number of a card or an account: {remedy}"))
    } else {
        None
    };
    fault.map_or_else(|| Ok(content.to_owned()), |message| Err(Error::invalid("/content", message)))
}

impl Memory {
    /// The memory of what is to be remembered.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the place.
    pub fn of(new: NewMemory, id: MemoryId, trust: Trust, at: Timestamp) -> Result<Self> {
        let content = checked(&new.content, trust)?;
        new.provenance.check()?;
        expiry(new.expires_at, at)?;
        Ok(Self {
            id,
            subject: new.subject,
            content,
            category: new.category,
            importance: new.importance,
            confidence: new.confidence,
            trust,
            status: if new.pending { MemoryStatus::Pending } else { trust.begins() },
            provenance: new.provenance,
            expires_at: new.expires_at,
            created_at: at,
            updated_at: at,
        })
    }

    /// The memory after a person has changed it. What it says is from then on that person's word.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the place.
    pub fn changed(self, change: MemoryChange, at: Timestamp) -> Result<Self> {
        let (content, trust, known) = match &change.content {
            None => (self.content, self.trust, self.confidence),
            Some(content) => {
                let content = checked(content, Trust::User)?;
                let known = self.confidence.filter(|_| content == self.content);
                (content, Trust::User, known)
            }
        };
        expiry(change.expires_at.flatten(), at)?;
        Ok(Self {
            content,
            trust,
            category: change.category.unwrap_or(self.category),
            importance: change.importance.unwrap_or(self.importance),
            confidence: change.confidence.or(known),
            expires_at: change.expires_at.unwrap_or(self.expires_at),
            updated_at: at,
            ..self
        })
    }

    /// The memory after a person has said whether it is to be kept.
    ///
    /// # Errors
    /// `CONFLICT` when nobody asks that any more.
    pub fn judged(self, wanted: bool, at: Timestamp) -> Result<Self> {
        match self.status {
            MemoryStatus::Pending => {
                let status = if wanted { MemoryStatus::Active } else { MemoryStatus::Rejected };
                Ok(Self { status, updated_at: at, ..self })
            }
            MemoryStatus::Active | MemoryStatus::Rejected => {
                let message = format!("the memory is {} already", self.status.as_str());
                Err(Error::new(ErrorCode::Conflict, message))
            }
        }
    }

    /// Whether its time is over.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether it may be shown to a model now.
    #[must_use]
    pub fn holds(&self, now: Timestamp) -> bool {
        self.status == MemoryStatus::Active && !self.has_expired(now)
    }
}

fn expiry(end: Option<Timestamp>, now: Timestamp) -> Result<()> {
    let past = end.is_some_and(|end| end <= now);
    if past { Err(Error::invalid("/expiresAt", "expiresAt is in the past")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_000);

    fn ada() -> Subject {
        Subject::User(UserId::from_uuid(Uuid::from_u128(1)))
    }

    fn memory(content: &str, trust: Trust) -> Result<Memory> {
        Memory::of(NewMemory::fact(ada(), content), MemoryId::from_uuid(Uuid::from_u128(2)), trust, AT)
    }

    #[test]
    fn what_a_model_says_waits_for_a_person() {
        for (trust, status) in [
            (Trust::User, MemoryStatus::Active),
            (Trust::Tool, MemoryStatus::Active),
            (Trust::Model, MemoryStatus::Pending),
        ] {
            let memory = memory(" Likes trains. ", trust).unwrap();
            assert_eq!((memory.status, memory.content.as_str()), (status, "Likes trains."));
            assert_eq!(memory.holds(AT), status == MemoryStatus::Active);
        }
        let proposed = NewMemory { pending: true, ..NewMemory::fact(ada(), "Likes trains.") };
        let proposed = Memory::of(proposed, MemoryId::from_uuid(Uuid::from_u128(2)), Trust::User, AT).unwrap();
        assert_eq!((proposed.status, proposed.trust), (MemoryStatus::Pending, Trust::User));
        let pending = || memory("Likes trains.", Trust::Model).unwrap();
        assert!(pending().judged(true, AT).unwrap().holds(AT));
        let rejected = pending().judged(false, AT).unwrap();
        assert_eq!((rejected.status, rejected.holds(AT)), (MemoryStatus::Rejected, false));
        assert_eq!(rejected.judged(true, AT).unwrap_err().code(), ErrorCode::Conflict);
    }

    #[test]
    fn texts_are_bounded_and_hold_no_secret() {
        for (content, trust) in [
            ("", Trust::User),
            (" ", Trust::Tool),
            (&*"x".repeat(MAX_CONTENT + 1), Trust::User),
            (&*"x".repeat(MAX_SUGGESTION + 1), Trust::Model),
            ("Her password is hunter2hunter2", Trust::User),
            ("Pays with 4111 1111 1111 1111", Trust::Tool),
        ] {
            assert_eq!(memory(content, trust).unwrap_err().details()[0].path, "/content", "{content:.30}");
        }
        assert!(memory(&"x".repeat(MAX_SUGGESTION + 1), Trust::Tool).is_ok());
    }

    #[test]
    fn what_a_person_writes_is_their_word() {
        let known = memory("Likes trains.", Trust::Tool).unwrap();
        let change = MemoryChange { importance: 9.try_into().ok(), ..MemoryChange::default() };
        let same = known.clone().changed(change, AT).unwrap();
        assert_eq!((same.trust, u8::from(same.importance)), (Trust::Tool, 9));
        let change = MemoryChange { content: Some("Likes ships.".to_owned()), ..MemoryChange::default() };
        assert_eq!(known.clone().changed(change, AT).unwrap().trust, Trust::User);
        let past = MemoryChange { expires_at: Some(Some(AT)), ..MemoryChange::default() };
        assert_eq!(known.clone().changed(past, AT).unwrap_err().details()[0].path, "/expiresAt");
        let sure = NewMemory { confidence: 0.4.try_into().ok(), ..NewMemory::fact(ada(), "Likes trains.") };
        let sure = Memory::of(sure, known.id, Trust::Tool, AT).unwrap();
        let change = MemoryChange { importance: 9.try_into().ok(), ..MemoryChange::default() };
        assert_eq!(sure.clone().changed(change, AT).unwrap().confidence, sure.confidence);
        let change = MemoryChange { content: Some("Likes ships.".to_owned()), ..MemoryChange::default() };
        assert_eq!(sure.changed(change, AT).unwrap().confidence, None, "that was said of other words");
        let later = MemoryChange { expires_at: Some(Some(Timestamp::from_millis(2_000))), ..MemoryChange::default() };
        let later = known.changed(later, AT).unwrap();
        assert!(later.holds(Timestamp::from_millis(1_999)) && !later.holds(Timestamp::from_millis(2_000)));
    }

    #[test]
    fn a_subject_survives_the_way_through_its_parts() {
        let entity = Subject::Entity(RecordId::from_uuid(Uuid::from_u128(3)));
        for subject in [ada(), entity] {
            assert_eq!(Subject::of(subject.kind(), subject.id()), Some(subject));
        }
        assert_eq!(Subject::of("planet", Uuid::nil()), None);
        let written = serde_json::to_value(ada()).unwrap();
        assert_eq!(written["type"], "user");
        assert!(ada().to_string().starts_with("user:0000"));
    }
}
