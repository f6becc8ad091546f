//! What a dossier is made of, read at one moment.

use async_trait::async_trait;

use crate::dossier::{CalledEntity, EntityRecords, FoundEntities, RecordsOf};
use crate::error::Result;
use crate::id::RecordId;
use crate::memory::Memory;
use crate::model::Vector;
use crate::record::Record;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// What of an entity's memories is wanted: those that hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldMemories {
    /// When they are to hold.
    pub at: Timestamp,
    /// Whether their vectors are wanted as well.
    pub vectors: bool,
}

/// What was read for a dossier.
#[derive(Clone, PartialEq, Debug)]
pub struct DossierRows {
    /// The entity's record.
    pub entity: Record,
    /// The records that were asked for.
    pub records: EntityRecords,
    /// What is remembered of the entity and holds; `None` where it was not asked for.
    pub memories: Option<Vec<(Memory, Option<Vector>)>>,
}

/// Where dossiers are read.
#[async_trait]
pub trait DossierStore: Send + Sync {
    /// The record of an entity, its own records and what is remembered of it, all as of one moment; `None` when there is
    /// no such record. Of each kind of records the newest 200, or 4 MiB, are read.
    async fn dossier_rows(
        &self,
        scope: TenantScope,
        entity: RecordId,
        reads: &[RecordsOf],
        memories: Option<HeldMemories>,
    ) -> Result<Option<DossierRows>>;

    /// The records that stand so, the oldest first: at most [`MAX_FOUND`](crate::dossier::MAX_FOUND), or 4 MiB. One that
    /// cannot be read is among them, and says so.
    async fn entities_called(&self, scope: TenantScope, called: &[CalledEntity]) -> Result<FoundEntities>;
}
