//! For whom a tool works. What it may see and change of the engine's own nouns is what they may, and never more.

use std::collections::BTreeSet;

use crate::actor::{Right, Rights};
use crate::chat::without_links;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{MemoryId, UserId};
use crate::memory::{Memory, MemoryChange, MemoryStatus, NewMemory, Provenance, Subject, Trust, checked};
use crate::task::Task;
use crate::time::Timestamp;

/// Whoever a call is made for: the task's user, with the rights that the task was made with and the user still has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Behalf {
    /// The user; `None` for a message from a channel, and for what the server does by itself.
    pub user: Option<UserId>,
    /// What the call may do for them now.
    pub rights: Rights,
    /// Whose word it is what the call says: a model's in its turn, the user's in a call by hand, else the tool's.
    pub word: Trust,
    /// Whether what the call is given may be a stranger's word.
    pub tainted: bool,
    /// Whether a person has said yes to exactly this call.
    pub agreed: bool,
}

impl Behalf {
    /// Whoever a step of a plan is made for: the word is the tool's, and nothing says that a stranger chose it.
    #[must_use]
    pub const fn of_plan(user: Option<UserId>, rights: Rights) -> Self {
        Self { user, rights, word: Trust::Tool, tainted: false, agreed: false }
    }

    /// Whether they hold the right.
    #[must_use]
    pub const fn may(&self, right: Right) -> bool {
        self.rights.may(right)
    }

    /// Whether a tool may read and change what is remembered of a subject: of its own user, and of entities for those
    /// who operate. Of another user it never may, also not for an administrator: they look at that themselves.
    #[must_use]
    pub fn may_remember(&self, subject: Subject) -> bool {
        match subject {
            Subject::User(user) => self.user == Some(user),
            Subject::Entity(_) => self.may(Right::Operate),
        }
    }

    /// Words as they are kept: where a stranger may have chosen them and nobody has said yes to them, without pictures
    /// and links, as what a model suggests to remember.
    fn kept(&self, words: &str) -> String {
        match self.tainted && !self.agreed {
            true => without_links(words, &BTreeSet::new()).0,
            false => words.to_owned(),
        }
    }

    /// The memory of what is to be remembered. What a model says waits for a person, and so does what strangers may have
    /// said; that, and the place where it stands, has no pictures and links either.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the place.
    pub fn remembered(&self, new: NewMemory, id: MemoryId, at: Timestamp) -> Result<Memory> {
        let (pending, content) = (new.pending || self.tainted, self.kept(&new.content));
        let place = new.provenance.place.as_deref().map(|place| self.kept(place));
        let provenance = Provenance { place, ..new.provenance };
        Memory::of(NewMemory { pending, content, provenance, ..new }, id, self.word, at)
    }

    /// A memory after the call has changed it. New words wait for a person when a model, or a stranger, may have chosen
    /// them and nobody has said yes to them.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the place.
    pub fn reworded(&self, before: &Memory, change: MemoryChange, at: Timestamp) -> Result<Memory> {
        let content = change.content.as_deref().map(|content| self.kept(content));
        let after = before.clone().changed(MemoryChange { content, ..change }, at)?;
        if after.content == before.content {
            return Ok(Memory { trust: before.trust, ..after });
        }
        let waits = !self.agreed && (self.word == Trust::Model || self.tainted);
        let status = if waits { MemoryStatus::Pending } else { after.status };
        Ok(Memory { content: checked(&after.content, self.word)?, trust: self.word, status, ..after })
    }

    /// A memory that waits, after the call has said the same. A model and a stranger accept nothing.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` where the call's word waits itself; `CONFLICT` when the memory waits for nobody any more.
    pub fn accepted(&self, before: &Memory, at: Timestamp) -> Result<Memory> {
        if self.word == Trust::Model || self.tainted {
            let message = "what a model or a stranger may have said accepts no memory: a person has to";
            return Err(Error::new(ErrorCode::PermissionDenied, message));
        }
        before.clone().judged(true, at)
    }

    /// Whose conversations a tool sees beside those that are nobody's; `None` stands for everybody's.
    #[must_use]
    pub fn sees_talks_of(&self) -> Option<UserId> {
        let own = || self.user.unwrap_or(UserId::from_uuid(uuid::Uuid::nil()));
        (!self.may(Right::Administer)).then(own)
    }

    /// Whether a tool may see a task: as [`Task::is_visible_to`] for an actor.
    #[must_use]
    pub fn sees(&self, task: &Task) -> bool {
        self.may(Right::Read) && self.sees_talks_of().is_none_or(|user| !task.is_talk_of_another(user))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::id::RecordId;

    fn behalf(user: Option<u128>, rights: &[Right]) -> Behalf {
        let user = user.map(|user| UserId::from_uuid(Uuid::from_u128(user)));
        Behalf::of_plan(user, rights.iter().copied().collect())
    }

    #[test]
    fn nobody_but_its_user_is_remembered_for_a_tool_and_entities_are_for_operators() {
        let ada = Subject::User(UserId::from_uuid(Uuid::from_u128(1)));
        let thing = Subject::Entity(RecordId::from_uuid(Uuid::from_u128(3)));
        let admin = behalf(Some(2), &Right::ALL);
        assert!(!admin.may_remember(ada) && admin.may_remember(thing));
        let reader = behalf(Some(1), &[Right::Read]);
        assert!(reader.may_remember(ada) && !reader.may_remember(thing));
        assert!(!behalf(None, &[Right::Operate]).may_remember(ada));
    }

    #[test]
    fn what_a_model_or_a_stranger_may_have_said_waits_for_a_person() {
        let at = Timestamp::from_millis(1_000);
        let user = Subject::User(UserId::from_uuid(Uuid::from_u128(1)));
        let of = |behalf: Behalf| {
            let memory =
                behalf.remembered(NewMemory::fact(user, "Likes trains."), MemoryId::from_uuid(Uuid::nil()), at);
            memory.unwrap()
        };
        let tool = behalf(Some(1), &[]);
        let known = of(tool);
        assert_eq!((known.trust, known.status), (Trust::Tool, MemoryStatus::Active));
        assert_eq!(of(Behalf { tainted: true, ..tool }).status, MemoryStatus::Pending);
        let model = Behalf { word: Trust::Model, ..tool };
        assert_eq!(of(model).status, MemoryStatus::Pending);
        let says = |behalf: Behalf, content: Option<&str>| {
            let change = MemoryChange { content: content.map(str::to_owned), ..MemoryChange::default() };
            let after = behalf.reworded(&known, change, at).unwrap();
            (after.trust, after.status)
        };
        assert_eq!(says(model, Some("Likes ships.")), (Trust::Model, MemoryStatus::Pending));
        assert_eq!(says(Behalf { agreed: true, ..model }, Some("Likes ships.")), (Trust::Model, MemoryStatus::Active));
        assert_eq!(says(Behalf { tainted: true, ..tool }, Some("Likes ships.")), (Trust::Tool, MemoryStatus::Pending));
        assert_eq!(says(model, None), (Trust::Tool, MemoryStatus::Active), "the same words stay as they stand");
        let waits = of(model);
        assert_eq!(tool.accepted(&waits, at).unwrap().status, MemoryStatus::Active);
        for other in [model, Behalf { tainted: true, ..tool }] {
            assert_eq!(other.accepted(&waits, at).unwrap_err().code(), ErrorCode::PermissionDenied);
        }
        assert_eq!(tool.accepted(&known, at).unwrap_err().code(), ErrorCode::Conflict);
        let long = "x".repeat(crate::memory::MAX_SUGGESTION + 1);
        let change = MemoryChange { content: Some(long), ..MemoryChange::default() };
        assert!(model.reworded(&known, change, at).is_err());
    }

    #[test]
    fn what_a_stranger_may_have_said_is_kept_without_pictures_and_links() {
        const SAID: &str = "Likes ![x](https://evil.example/?q=1) trains.";
        let at = Timestamp::from_millis(1_000);
        let user = Subject::User(UserId::from_uuid(Uuid::from_u128(1)));
        let tool = behalf(Some(1), &[]);
        let remembered = |behalf: Behalf| {
            let memory = behalf.remembered(NewMemory::fact(user, SAID), MemoryId::from_uuid(Uuid::nil()), at);
            memory.unwrap()
        };
        let reworded = |behalf: Behalf| {
            let before = behalf.remembered(NewMemory::fact(user, "x"), MemoryId::from_uuid(Uuid::nil()), at).unwrap();
            let change = MemoryChange { content: Some(SAID.to_owned()), ..MemoryChange::default() };
            behalf.reworded(&before, change, at).unwrap().content
        };
        let (tainted, yes) = (Behalf { tainted: true, ..tool }, Behalf { tainted: true, agreed: true, ..tool });
        for content in [remembered(tainted).content, reworded(tainted)] {
            assert!(content.contains("picture removed") && !content.contains("](https"), "{content}");
        }
        for content in [remembered(tool).content, reworded(tool), remembered(yes).content, reworded(yes)] {
            assert_eq!(content, SAID);
        }
        let place_of = |behalf: Behalf| {
            let provenance = Provenance {
                place: Some("a.pdf [page](https://evil.example/?q=1)".to_owned()),
                ..Provenance::default()
            };
            let new = NewMemory { provenance, ..NewMemory::fact(user, "Likes trains.") };
            behalf.remembered(new, MemoryId::from_uuid(Uuid::nil()), at).unwrap().provenance.place.unwrap()
        };
        assert!(!place_of(tainted).contains("](https") && place_of(tool).contains("](https"), "{}", place_of(tainted));
    }

    #[test]
    fn only_administrators_see_everybodys_conversations() {
        assert_eq!(behalf(Some(1), &Right::ALL).sees_talks_of(), None);
        let own = UserId::from_uuid(Uuid::from_u128(1));
        assert_eq!(behalf(Some(1), &[Right::Read]).sees_talks_of(), Some(own));
        assert_eq!(behalf(None, &[]).sees_talks_of(), Some(UserId::from_uuid(Uuid::nil())));
    }
}
