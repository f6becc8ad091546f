//! What is remembered, as a tool may read it.

use async_trait::async_trait;

use crate::context::Similarity;
use crate::dossier::Dossier;
use crate::error::Result;
use crate::id::{MemoryId, RecordId};
use crate::memory::{Memory, Subject};

/// The memories that whoever the tool works for may see ([`crate::tool::Behalf::may_remember`]).
#[async_trait]
pub trait MemoryReader: Send + Sync {
    /// The active memories of a subject that say something about a question, the nearest and weightiest first, at most
    /// `limit`.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for a subject that may not be seen; `BUDGET_EXCEEDED`.
    async fn near(&self, subject: Subject, question: &str, limit: usize) -> Result<Vec<(Similarity, Memory)>>;

    /// Everything that is remembered of a subject, however it stands, the oldest first.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for a subject that may not be seen; `NOT_FOUND` for a record or a user that the tenant does not
    /// have.
    async fn of(&self, subject: Subject) -> Result<Vec<Memory>>;

    /// The dossier of an entity, its memories in the order in which they matter for the question; without one, by what
    /// they weigh. Memories that may not be seen are withheld, and the dossier says so.
    ///
    /// # Errors
    /// `NOT_FOUND` for a record that the tenant does not have.
    async fn dossier(&self, entity: RecordId, question: Option<&str>) -> Result<Dossier>;

    /// One memory; `None` also for one that may not be seen.
    async fn find(&self, id: MemoryId) -> Result<Option<Memory>>;
}
