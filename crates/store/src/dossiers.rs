//! What a dossier is made of, read at one moment.

use std::cmp::Reverse;

use async_trait::async_trait;
use kybern_core::dossier::{EntityRecords, FoundRecords, RecordOwner, RecordsOf};
use kybern_core::error::Result as PortResult;
use kybern_core::id::RecordId;
use kybern_core::memory::Subject;
use kybern_core::ports::{DossierRows, DossierStore, MAX_PAGE_BYTES};
use kybern_core::record::Record;
use kybern_core::tenant::TenantScope;
use serde_json::json;
use uuid::Uuid;

use crate::db::{Tx, statements};
use crate::error::Result;
use crate::store::SqlStore;
use crate::{memories, page, records};

/// Records that are read of a kind at most.
const MOST: u32 = 200;

statements! {
    OWNED = split "records_owned";
}

struct DossierQuery {
    scope: TenantScope,
    entity: RecordId,
    reads: Vec<RecordsOf>,
    memories: bool,
}

async fn rows(tx: &mut Tx, query: &DossierQuery) -> Result<Option<DossierRows>> {
    let DossierQuery { scope, entity, reads, memories } = query;
    tx.one_moment().await?;
    let Some(entity) = records::by_id(tx, *scope, *entity).await? else { return Ok(None) };
    let mut found = EntityRecords::default();
    for wanted in reads {
        let owners: Vec<RecordId> = match wanted.owner {
            RecordOwner::Entity => vec![entity.id],
            RecordOwner::Of(kind) => found.of(kind).iter().map(|record| record.id).collect(),
        };
        let owned = owned(tx, *scope, wanted, &owners).await?;
        // Older records of the owners' kind were not looked at, so neither were those that they own.
        let more = owned.more || matches!(wanted.owner, RecordOwner::Of(kind) if found.has_more(kind));
        let known = found.0.entry(wanted.kind.to_owned()).or_default();
        known.more |= more;
        let is_new = |record: &Record| known.records.iter().all(|other| other.id != record.id);
        let new: Vec<Record> = owned.records.into_iter().filter(is_new).collect();
        known.records.extend(new);
        known.records.sort_by_key(|record| Reverse(record.id));
    }
    let memories = match memories {
        true => Some(memories::of_subject(tx, *scope, Subject::Entity(entity.id)).await?),
        false => None,
    };
    Ok(Some(DossierRows { entity, records: found, memories }))
}

/// The newest records of a kind that name one of these as their owner.
async fn owned(tx: &mut Tx, scope: TenantScope, wanted: &RecordsOf, owners: &[RecordId]) -> Result<FoundRecords> {
    if owners.is_empty() {
        return Ok(FoundRecords::default());
    }
    let owners = json!(owners).to_string();
    let owners = owners.as_str();
    let args = |before: Uuid, most: u32| {
        [scope.into(), wanted.kind.into(), wanted.lookup.into(), owners.into(), before.into(), most.into()]
    };
    let found = page::of_large(tx, (&OWNED, args), Uuid::max(), (MOST, MAX_PAGE_BYTES), records::record).await?;
    Ok(FoundRecords { records: found.items, more: found.next.is_some() })
}

#[async_trait]
impl<D: 'static> DossierStore for SqlStore<D> {
    async fn dossier_rows(
        &self,
        scope: TenantScope,
        entity: RecordId,
        reads: &[RecordsOf],
        memories: bool,
    ) -> PortResult<Option<DossierRows>> {
        let query = DossierQuery { scope, entity, reads: reads.to_vec(), memories };
        Ok(self.read(scope, query, |tx, query| Box::pin(rows(tx, query))).await?)
    }
}
