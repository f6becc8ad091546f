//! What a dossier is made of, read at one moment; and which entities are called so.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use async_trait::async_trait;
use kybern_core::dossier::{
    CalledEntity, EntityRecords, FoundEntities, FoundRecords, MAX_FOUND, RecordOwner, RecordsOf,
};
use kybern_core::error::Result as PortResult;
use kybern_core::id::RecordId;
use kybern_core::memory::Subject;
use kybern_core::ports::{DossierRows, DossierStore, HeldMemories, MAX_PAGE_BYTES};
use kybern_core::record::{Lookup, Record};
use kybern_core::tenant::TenantScope;
use serde_json::json;
use uuid::Uuid;

use crate::db::{Arg, Row, Tx, args, statements};
use crate::error::Result;
use crate::store::SqlStore;
use crate::{memories, page, records};

/// Records that are read of a kind at most.
const MOST: u32 = 200;
/// Entities that one lookup finds at most: one more than are told says that there are more.
const FOUND: u32 = 51;
const _: () = assert!(FOUND as usize == MAX_FOUND + 1);

statements! {
    OWNED = split "records_owned";
    LOOKUP_FOUND = shared "lookup_found";
}

struct DossierQuery {
    scope: TenantScope,
    entity: RecordId,
    reads: Vec<RecordsOf>,
    memories: Option<HeldMemories>,
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
        let seen: HashSet<RecordId> = known.records.iter().map(|record| record.id).collect();
        known.records.extend(owned.records.into_iter().filter(|record| !seen.contains(&record.id)));
        known.records.sort_by_key(|record| Reverse(record.id));
    }
    let memories = match memories {
        Some(wanted) => Some(memories::held(tx, *scope, Subject::Entity(entity.id), *wanted).await?),
        None => None,
    };
    Ok(Some(DossierRows { entity, records: found, memories }))
}

/// The newest records of a kind that name one of these as their owner.
async fn owned(tx: &mut Tx, scope: TenantScope, wanted: &RecordsOf, owners: &[RecordId]) -> Result<FoundRecords> {
    if owners.is_empty() {
        return Ok(FoundRecords::default());
    }
    let owners: Arg<'static> = match tx.is_postgres() {
        true => Arg::Texts(owners.iter().map(|owner| Some(Cow::Owned(owner.to_string()))).collect()),
        false => json!(owners).to_string().into(),
    };
    let args = |before: Uuid, most: u32| {
        [scope.into(), wanted.kind.into(), wanted.lookup.into(), owners.clone(), before.into(), most.into()]
    };
    let mut is_one_unreadable = false;
    let read = |row: &mut Row| records::record(row).inspect_err(|_| is_one_unreadable = true);
    let found = page::of_large(tx, (&OWNED, args), Uuid::max(), (MOST, MAX_PAGE_BYTES), read).await?;
    Ok(FoundRecords { more: found.next.is_some() || is_one_unreadable, records: found.items })
}

type CalledQuery = (TenantScope, Vec<CalledEntity>);

/// Reads ids first, so that one common name brings no more records along than are told.
async fn called(tx: &mut Tx, (scope, all): &CalledQuery) -> Result<FoundEntities> {
    let mut ids: BTreeSet<RecordId> = BTreeSet::new();
    for CalledEntity { kind, key, lookups } in all {
        ids.extend(records::found_id(tx, *scope, kind, key).await?);
        for Lookup { name, value, .. } in lookups {
            let args = args![*scope, *kind, name, value, FOUND];
            ids.extend(tx.list(&LOOKUP_FOUND, args, |row| Ok(RecordId::from_uuid(row.uuid()?))).await?);
        }
    }
    let (mut records, mut bytes, mut more) = (Vec::new(), 0_usize, ids.len() > MAX_FOUND);
    for id in ids.into_iter().take(MAX_FOUND) {
        let rows = records::rows_by_id(tx, *scope, id).await?;
        bytes = bytes.saturating_add(rows.iter().map(Row::bytes).sum());
        if bytes > MAX_PAGE_BYTES && !records.is_empty() {
            more = true;
            break;
        }
        let found: Vec<Record> = page::readable(rows, records::shown);
        records.extend(found);
    }
    Ok(FoundEntities { records, more })
}

#[async_trait]
impl<D: 'static> DossierStore for SqlStore<D> {
    async fn dossier_rows(
        &self,
        scope: TenantScope,
        entity: RecordId,
        reads: &[RecordsOf],
        memories: Option<HeldMemories>,
    ) -> PortResult<Option<DossierRows>> {
        let query = DossierQuery { scope, entity, reads: reads.to_vec(), memories };
        Ok(self.read(scope, query, |tx, query| Box::pin(rows(tx, query))).await?)
    }

    async fn entities_called(&self, scope: TenantScope, all: &[CalledEntity]) -> PortResult<FoundEntities> {
        Ok(self.read(scope, (scope, all.to_vec()), |tx, query| Box::pin(called(tx, query))).await?)
    }
}
