//! Memories, as people and tools write them.

use kybern_core::actor::{Actor, Right};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::MemoryId;
use kybern_core::memory::{MAX_OF_SUBJECT, Memory, MemoryChange, MemoryStatus, NewMemory, Subject, Trust, said_before};
use kybern_core::model::Vector;
use kybern_core::ports::{MemoryFilter, Page};

use super::{Memories, event};
use crate::command::{id_for, once};
use crate::models::CallContext;

/// Whether an actor may see and change what is remembered of a subject: users what is remembered of them, operators
/// what is remembered of entities, administrators all.
pub(crate) fn may(actor: &Actor, subject: Subject) -> bool {
    let own = match subject {
        Subject::User(user) => actor.user() == Some(user),
        Subject::Entity(_) => actor.may(Right::Operate),
    };
    own || actor.may(Right::Administer)
}

fn demand(actor: &Actor, subject: Subject) -> Result<()> {
    if may(actor, subject) {
        return Ok(());
    }
    let message = match subject {
        Subject::User(_) => "only an administrator sees and changes what is remembered of other users",
        Subject::Entity(_) => "what is remembered of entities asks for the right \"operate\"",
    };
    Err(Error::new(ErrorCode::PermissionDenied, message))
}

impl Memories {
    /// Remembers what a user says. It holds from the next turn on. What is remembered in exactly these words already is
    /// answered as it stands; where it waits for a person, whoever says it has accepted it.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the place; `NOT_FOUND` for an unknown user or record; `PERMISSION_DENIED`;
    /// `UNPROCESSABLE` when the subject has as many as it may.
    pub async fn remember(&self, actor: &Actor, new: NewMemory) -> Result<Memory> {
        demand(actor, new.subject)?;
        let (caller, id) = (CallContext::of(actor), MemoryId::from_uuid(id_for(self.ids.as_ref(), actor, "memory")));
        let make = async {
            let waits = new.pending;
            let known = self.add_memory(&caller, id, new, (Trust::User, "memory.add")).await?;
            let accepts = known.id != id && !waits && known.status == MemoryStatus::Pending;
            if accepts { self.accept_or_find(actor, known.id).await } else { Ok(known) }
        };
        once(actor, || self.store.memory(actor.scope(), id), make).await
    }

    /// Accepts what waits; where somebody else has accepted it meanwhile, it is answered as it stands.
    async fn accept_or_find(&self, actor: &Actor, id: MemoryId) -> Result<Memory> {
        match self.judge(actor, id, true).await {
            Err(error) if error.code() == ErrorCode::Conflict => {
                let known = self.get(actor, id).await?;
                if known.status == MemoryStatus::Active { Ok(known) } else { Err(error) }
            }
            judged => judged,
        }
    }

    /// Remembers what a tool has read, as it would in a step: it holds from the next turn on. What is remembered in
    /// exactly these words already is answered as it stands; of what waits nothing is accepted.
    ///
    /// # Errors
    /// The same, but for rights: whoever calls it has asked for them.
    pub async fn remember_for_tool(&self, caller: &CallContext, new: NewMemory) -> Result<Memory> {
        let id = MemoryId::from_uuid(self.ids.next());
        self.add_memory(caller, id, new, (Trust::Tool, "memory.add")).await
    }

    /// Notes what a model would remember: it is shown to nobody until a person has accepted it. What is remembered in
    /// the same words already, or was rejected, is answered as it stands.
    ///
    /// # Errors
    /// The same, but for rights: whoever calls it has asked for them. `UNPROCESSABLE` also when as many suggestions were
    /// rejected as a subject may have memories.
    pub async fn suggest(&self, caller: &CallContext, new: NewMemory) -> Result<Memory> {
        let id = MemoryId::from_uuid(self.ids.next());
        let suggested = Memory::of(new.clone(), id, Trust::Model, self.clock.now())?;
        let known = self.store.memories_of(caller.scope, new.subject).await?;
        if let Some(known) = said_before(known.iter().map(|(memory, _)| memory), &suggested, suggested.created_at) {
            return Ok(known.clone());
        }
        // Looked at before anything is paid for, and again when it is written down.
        let (count, rejected): (Vec<_>, Vec<_>) = known.iter().partition(|(memory, _)| memory.status.counts());
        if count.len().max(rejected.len()) >= usize::try_from(MAX_OF_SUBJECT).unwrap_or(usize::MAX) {
            let message = format!("a subject has at most {MAX_OF_SUBJECT} memories: remove some that do not matter");
            return Err(Error::new(ErrorCode::Unprocessable, message));
        }
        self.add_memory(caller, id, new, (Trust::Model, "memory.suggest")).await
    }

    async fn add_memory(
        &self,
        caller: &CallContext,
        id: MemoryId,
        new: NewMemory,
        (trust, action): (Trust, &str),
    ) -> Result<Memory> {
        let memory = Memory::of(new, id, trust, self.clock.now())?;
        self.must_know(caller.scope, memory.subject, caller.user).await?;
        // The store looks again; here it is looked at before a vector is paid for.
        if let Some(known) = self.store.memory_in_same_words(caller.scope, &memory).await? {
            return Ok(known);
        }
        let vector = self.vector_to_keep(caller, &memory.content).await;
        let event = event(caller, action, &memory);
        self.store.add_memory(caller.scope, &memory, vector.as_ref(), event).await
    }

    /// The vector of what is remembered, if it can be made now. A memory is not lost because a model is down or the
    /// budget is spent: a search makes the vectors that are missing.
    async fn vector_to_keep(&self, caller: &CallContext, text: &str) -> Option<Vector> {
        let made = self.models.vector_of(caller, text).await;
        made.unwrap_or_else(|error| {
            tracing::warn!(%error, "a memory is kept without its vector, which the next search makes");
            None
        })
    }

    /// One memory.
    ///
    /// # Errors
    /// `NOT_FOUND`, also for one that the actor may not see.
    pub async fn get(&self, actor: &Actor, id: MemoryId) -> Result<Memory> {
        let found = self.store.memory(actor.scope(), id).await?;
        found.filter(|memory| may(actor, memory.subject)).ok_or_else(|| Error::not_found("memory", id))
    }

    /// A page of memories, the newest first: of the actor where no subject is named, unless they administer.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for a subject that the actor may not see.
    pub async fn list(
        &self,
        actor: &Actor,
        mut filter: MemoryFilter,
        after: Option<MemoryId>,
        limit: u32,
    ) -> Result<Page<Memory>> {
        match filter.subject {
            Some(subject) => demand(actor, subject)?,
            None if actor.may(Right::Administer) => {}
            None if filter.kind == Some("entity") => {
                if !actor.may(Right::Operate) {
                    let message = "what is remembered of entities asks for the right \"operate\"";
                    return Err(Error::new(ErrorCode::PermissionDenied, message));
                }
            }
            None => filter.subject = Some(own_subject(actor)?),
        }
        self.store.memories(actor.scope(), &filter, after, limit).await
    }

    /// The subject that an actor asks about: the one they name, if they may see it, else themselves.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn visible_subject(&self, actor: &Actor, named: Option<Subject>) -> Result<Subject> {
        let subject = named.map_or_else(|| own_subject(actor), Ok)?;
        demand(actor, subject).map(|()| subject)
    }

    /// Everything that is remembered of a subject, however it stands, the oldest first: what a user may take along.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for a subject that the actor may not see.
    pub async fn export(&self, actor: &Actor, subject: Option<Subject>) -> Result<Vec<Memory>> {
        let subject = self.visible_subject(actor, subject)?;
        let all = self.store.memories_of(actor.scope(), subject).await?;
        Ok(all.into_iter().map(|(memory, _)| memory).collect())
    }

    /// Changes a memory. New words are the actor's.
    ///
    /// # Errors
    /// `NOT_FOUND`; `VALIDATION_ERROR` with the place; `CONFLICT` when somebody else changes it at the same time.
    pub async fn change(&self, actor: &Actor, id: MemoryId, change: MemoryChange) -> Result<Memory> {
        let before = self.get(actor, id).await?;
        let after = before.clone().changed(change, self.clock.now())?;
        let caller = CallContext::of(actor);
        let vector = match after.content == before.content {
            true => None,
            false => self.vector_to_keep(&caller, &after.content).await,
        };
        let event = event(&caller, "memory.change", &after);
        self.store.change_memory(actor.scope(), (&before, &after), vector.as_ref(), event).await?;
        Ok(after)
    }

    /// Says whether a memory that waits is to be kept.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when that was said already.
    pub async fn judge(&self, actor: &Actor, id: MemoryId, wanted: bool) -> Result<Memory> {
        let before = self.get(actor, id).await?;
        let after = before.clone().judged(wanted, self.clock.now())?;
        let action = match after.status {
            MemoryStatus::Active => "memory.accept",
            MemoryStatus::Rejected | MemoryStatus::Pending => "memory.reject",
        };
        let event = event(&CallContext::of(actor), action, &after);
        self.store.change_memory(actor.scope(), (&before, &after), None, event).await?;
        Ok(after)
    }

    /// Removes a memory for good.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn forget(&self, actor: &Actor, id: MemoryId) -> Result<()> {
        let memory = self.get(actor, id).await?;
        let event = event(&CallContext::of(actor), "memory.delete", &memory);
        let gone = self.store.delete_memory(actor.scope(), id, self.clock.now(), event).await?;
        if gone { Ok(()) } else { Err(Error::not_found("memory", id)) }
    }
}

fn own_subject(actor: &Actor) -> Result<Subject> {
    let message = "name a subject: only users have memories of their own";
    actor.user().map(Subject::User).ok_or_else(|| Error::new(ErrorCode::PermissionDenied, message))
}
