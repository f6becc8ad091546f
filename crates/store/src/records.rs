//! Records: read by anybody in the tenant, written by commits only.

use async_trait::async_trait;
use kybern_core::error::Result as PortResult;
use kybern_core::id::RecordId;
use kybern_core::ports::{MAX_PAGE_BYTES, Page, RecordStore};
use kybern_core::record::version::difference;
use kybern_core::record::{Expect, Lookup, PutRecord, Record, merge};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::{Map, json};
use uuid::Uuid;

use crate::db::{Row, Sql, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::page;
use crate::record_admin::{ChangedBy, insert_version};
use crate::store::SqlStore;

statements! {
    GET = shared "record_get";
    LOCK = split "record_lock";
    BY_ID = shared "record_by_id";
    INSERT = shared "record_insert";
    UPDATE = shared "record_update";
    LIST = shared "record_list";
    KINDS = shared "record_kinds";
    BY_LOOKUP = shared "record_by_lookup";
    LOOKUP_VALUES = shared "lookup_values";
    LOOKUP_OWNER = shared "lookup_owner";
    LOOKUP_CLEAR = shared "lookup_clear";
    LOOKUP_INSERT = shared "lookup_insert";
}

/// Reads a record to be shown. What cannot be read is left empty and told.
pub(crate) fn shown(row: &mut Row) -> Result<Record> {
    let mut unreadable = None;
    let mut record = Record {
        id: RecordId::from_uuid(row.uuid()?),
        kind: row.text()?,
        key: row.text()?,
        props: row.json_or_default(&mut unreadable),
        version: row.i64()?,
        created_at: row.time()?,
        updated_at: row.time()?,
        unreadable: None,
    };
    record.unreadable = unreadable;
    Ok(record)
}

/// Reads a record to be decided by or written over: all of it.
pub(crate) fn record(row: &mut Row) -> Result<Record> {
    shown(row)?.whole().map_err(|error| row.fault(error.to_string()))
}

async fn by_key(tx: &mut Tx, sql: &'static Sql, scope: TenantScope, kind: &str, key: &str) -> Result<Option<Record>> {
    tx.find(sql, args![scope, kind, key], record).await
}

/// A record that nobody else writes to before this transaction ends.
pub(crate) async fn locked(tx: &mut Tx, scope: TenantScope, kind: &str, key: &str) -> Result<Option<Record>> {
    by_key(tx, &LOCK, scope, kind, key).await
}

/// Writes the props of a record, which is locked and has its next version by then.
pub(crate) async fn overwrite(tx: &mut Tx, scope: TenantScope, record: &Record) -> Result<()> {
    let props = json!(record.props).to_string();
    tx.execute(&UPDATE, args![scope, record.id.as_uuid(), props, record.updated_at]).await.map(drop)
}

pub(crate) async fn id_of(tx: &mut Tx, scope: TenantScope, kind: &str, key: &str) -> Result<Option<RecordId>> {
    Ok(by_key(tx, &GET, scope, kind, key).await?.map(|record| record.id))
}

/// The id of a record, also of one that cannot be read.
pub(crate) async fn found_id(tx: &mut Tx, scope: TenantScope, kind: &str, key: &str) -> Result<Option<RecordId>> {
    tx.find(&GET, args![scope, kind, key], |row| Ok(RecordId::from_uuid(row.uuid()?))).await
}

/// Checks what a tool believed about a record, and that no other record has its unique lookups.
pub(crate) async fn check(tx: &mut Tx, scope: TenantScope, put: &PutRecord) -> Result<()> {
    let present = by_key(tx, &LOCK, scope, &put.kind, &put.key).await?;
    let holds = match put.expect {
        Expect::Absent => present.is_none(),
        Expect::Version(version) => present.as_ref().is_some_and(|record| record.version == version),
        Expect::Any => true,
    };
    if !holds {
        return Err(changed(put));
    }
    let id = present.map(|record| record.id);
    for lookup in put.lookups.iter().filter(|lookup| lookup.unique) {
        let args = args![scope, put.kind.as_str(), lookup.name.as_str(), lookup.value.as_str()];
        let owner = tx.find(&LOOKUP_OWNER, args, Row::uuid).await?.map(RecordId::from_uuid);
        if owner.is_some() && owner != id {
            return Err(changed(put));
        }
    }
    Ok(())
}

fn changed(put: &PutRecord) -> StoreError {
    StoreError::Changed(put.name())
}

/// Creates the record or merges into it. The belief has been checked in this transaction.
pub(crate) async fn put(
    tx: &mut Tx,
    scope: TenantScope,
    put: &PutRecord,
    (by, at): (ChangedBy<'_>, Timestamp),
) -> Result<()> {
    let id = match by_key(tx, &LOCK, scope, &put.kind, &put.key).await? {
        Some(mut present) => {
            let merged = merge(&present.props, &put.props, put.merge);
            if !merged.changed.is_empty() {
                let changed = difference(&present.props, &merged.props);
                present.props = merged.props;
                (present.version, present.updated_at) = (present.version + 1, at);
                overwrite(tx, scope, &present).await?;
                insert_version(tx, (scope, present.id), present.version, &changed, (by, at)).await?;
            }
            present.id
        }
        None => {
            let props = merge(&Map::new(), &put.props, put.merge).props;
            let text = json!(props).to_string();
            let args = args![scope, put.id.as_uuid(), put.kind.as_str(), put.key.as_str(), text, at];
            tx.execute(&INSERT, args).await?;
            insert_version(tx, (scope, put.id), 1, &props, (by, at)).await?;
            put.id
        }
    };
    let mut cleared: Vec<&str> = Vec::new();
    for lookup in &put.lookups {
        if !cleared.contains(&lookup.name.as_str()) {
            tx.execute(&LOOKUP_CLEAR, args![scope, id.as_uuid(), lookup.name.as_str()]).await?;
            cleared.push(&lookup.name);
        }
    }
    for lookup in &put.lookups {
        let (kind, name, value) = (put.kind.as_str(), lookup.name.as_str(), lookup.value.as_str());
        if lookup.unique {
            // Two puts of one commit may want the same value; the check before could not see that.
            let owner = tx.find(&LOOKUP_OWNER, args![scope, kind, name, value], Row::uuid).await?;
            if owner.is_some_and(|owner| owner != id.as_uuid()) {
                return Err(changed(put));
            }
        }
        tx.execute(&LOOKUP_INSERT, args![scope, id.as_uuid(), kind, name, value, lookup.unique]).await?;
    }
    Ok(())
}

async fn by_lookup(tx: &mut Tx, (scope, [kind, name, value]): &(TenantScope, [String; 3])) -> Result<Vec<Record>> {
    let value = Lookup::kept(value.clone());
    tx.list(&BY_LOOKUP, args![*scope, kind, name, value], record).await
}

/// Which records, and what of them: kind, name, value, wanted.
type Values = (TenantScope, [String; 4]);

async fn lookup_values(tx: &mut Tx, (scope, [kind, name, value, wanted]): &Values) -> Result<Vec<(RecordId, String)>> {
    let read = |row: &mut Row| Ok((RecordId::from_uuid(row.uuid()?), row.text()?));
    tx.list(&LOOKUP_VALUES, args![*scope, kind, name, value, wanted], read).await
}

pub(crate) async fn by_id(tx: &mut Tx, scope: TenantScope, id: RecordId) -> Result<Option<Record>> {
    tx.find(&BY_ID, args![scope, id.as_uuid()], shown).await
}

/// The row of a record, before anything of it is read.
pub(crate) async fn rows_by_id(tx: &mut Tx, scope: TenantScope, id: RecordId) -> Result<Vec<Row>> {
    tx.fetch_all(&BY_ID, args![scope, id.as_uuid()]).await
}

type ListRecords = (TenantScope, String, Option<RecordId>, u32);

async fn list(tx: &mut Tx, (scope, kind, after, limit): &ListRecords) -> Result<Page<Record>> {
    let begin = after.map_or(Uuid::nil(), RecordId::as_uuid);
    let args = |after: Uuid, most: u32| [(*scope).into(), kind.into(), after.into(), most.into()];
    page::of_large(tx, (&LIST, args), begin, (*limit, MAX_PAGE_BYTES), shown).await
}

async fn kinds(tx: &mut Tx, scope: TenantScope) -> Result<Vec<(String, i64)>> {
    tx.list(&KINDS, args![scope], |row| Ok((row.text()?, row.i64()?))).await
}

#[async_trait]
impl<D: 'static> RecordStore for SqlStore<D> {
    async fn record(&self, scope: TenantScope, kind: &str, key: &str) -> PortResult<Option<Record>> {
        let args = (scope, kind.to_owned(), key.to_owned());
        let run = self.read_few(scope, args, |tx, (scope, kind, key)| Box::pin(by_key(tx, &GET, *scope, kind, key)));
        Ok(run.await?)
    }

    async fn record_by_id(&self, scope: TenantScope, id: RecordId) -> PortResult<Option<Record>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(by_id(tx, *scope, *id))).await?)
    }

    async fn records_by_lookup(
        &self,
        scope: TenantScope,
        kind: &str,
        name: &str,
        value: &str,
    ) -> PortResult<Vec<Record>> {
        let args = (scope, [kind, name, value].map(str::to_owned));
        Ok(self.read_few(scope, args, |tx, args| Box::pin(by_lookup(tx, args))).await?)
    }

    async fn lookup_values(
        &self,
        scope: TenantScope,
        kind: &str,
        (name, value): (&str, &str),
        wanted: &str,
    ) -> PortResult<Vec<(RecordId, String)>> {
        let args = (scope, [kind, name, value, wanted].map(str::to_owned));
        Ok(self.read_few(scope, args, |tx, args| Box::pin(lookup_values(tx, args))).await?)
    }

    async fn records(
        &self,
        scope: TenantScope,
        kind: &str,
        after: Option<RecordId>,
        limit: u32,
    ) -> PortResult<Page<Record>> {
        let args = (scope, kind.to_owned(), after, limit);
        Ok(self.read(scope, args, |tx, args| Box::pin(list(tx, args))).await?)
    }

    async fn record_kinds(&self, scope: TenantScope) -> PortResult<Vec<(String, i64)>> {
        Ok(self.read(scope, scope, |tx, scope| Box::pin(kinds(tx, *scope))).await?)
    }
}
