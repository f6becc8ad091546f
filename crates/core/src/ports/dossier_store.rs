//! What a dossier is made of, read at one moment.

use async_trait::async_trait;

use crate::dossier::{EntityRecords, RecordsOf};
use crate::error::Result;
use crate::id::RecordId;
use crate::memory::Memory;
use crate::model::Vector;
use crate::record::Record;
use crate::tenant::TenantScope;

/// What was read for a dossier.
#[derive(Clone, PartialEq, Debug)]
pub struct DossierRows {
    /// The entity's record.
    pub entity: Record,
    /// The records that were asked for.
    pub records: EntityRecords,
    /// What is remembered of the entity, however it stands, with its vectors; `None` where it was not asked for.
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
        memories: bool,
    ) -> Result<Option<DossierRows>>;
}
