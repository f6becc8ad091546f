//! Where memories are kept.

use async_trait::async_trait;

use super::Page;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::MemoryId;
use crate::memory::{Memory, MemoryStatus, Subject};
use crate::model::Vector;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Which memories are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryFilter {
    pub subject: Option<Subject>,
    /// Of which kind of subject: `user` or `entity`.
    pub kind: Option<&'static str>,
    /// How they stand.
    pub status: Option<MemoryStatus>,
}

/// Where memories are kept, each with the vector of what it says.
#[async_trait]
pub trait MemoryStore: Send + Sync {
    /// Writes a new memory, and answers it as it is stored. Where the subject has one in the same words
    /// ([`Self::memory_in_same_words`]), that one is answered and nothing is written: also of two that are remembered
    /// side by side.
    ///
    /// # Errors
    /// `NOT_FOUND` when its user or record is not known; `UNPROCESSABLE` when the subject has as many as it may.
    async fn add_memory(
        &self,
        scope: TenantScope,
        memory: &Memory,
        vector: Option<&Vector>,
        audit: AuditEvent,
    ) -> Result<Memory>;

    /// What says exactly the same of a subject as a new memory: active or pending, and not expired when the new one is
    /// said. An event may happen again, so there is none for it, and none is one.
    async fn memory_in_same_words(&self, scope: TenantScope, new: &Memory) -> Result<Option<Memory>>;

    async fn memory(&self, scope: TenantScope, id: MemoryId) -> Result<Option<Memory>>;

    /// A page of those that pass the filter, the newest first, behind `after`.
    async fn memories(
        &self,
        scope: TenantScope,
        filter: &MemoryFilter,
        after: Option<MemoryId>,
        limit: u32,
    ) -> Result<Page<Memory>>;

    /// Everything that is remembered of a subject, however it stands, with its vectors, the oldest first.
    async fn memories_of(&self, scope: TenantScope, subject: Subject) -> Result<Vec<(Memory, Option<Vector>)>>;

    /// What is remembered, and accepted, of the records whose key or identifier is one of these names: each with the
    /// record's key and its vector, the oldest first. Of more records than `most` the oldest ones.
    async fn memories_named(
        &self,
        scope: TenantScope,
        names: &[String],
        most: u32,
    ) -> Result<Vec<(String, Memory, Option<Vector>)>>;

    /// Writes a memory in place of the one that was read. Without a vector the one before stays if it still says the
    /// same.
    ///
    /// # Errors
    /// `CONFLICT` when it is not stored any more as it was read.
    async fn change_memory(
        &self,
        scope: TenantScope,
        change: (&Memory, &Memory),
        vector: Option<&Vector>,
        audit: AuditEvent,
    ) -> Result<()>;

    /// Removes a memory; `false` when there is none.
    async fn delete_memory(&self, scope: TenantScope, id: MemoryId, at: Timestamp, audit: AuditEvent) -> Result<bool>;

    /// Keeps vectors of memories that had none of their model, where they still say what was embedded, as of the moment
    /// at which they were changed last.
    async fn keep_vectors(&self, scope: TenantScope, vectors: Vec<(MemoryId, Timestamp, Vector)>) -> Result<()>;
}
