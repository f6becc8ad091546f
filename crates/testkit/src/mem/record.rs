//! Records, to read.

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::id::RecordId;
use kybern_core::ports::{Page, RecordStore};
use kybern_core::record::{Lookup, Record};
use kybern_core::tenant::TenantScope;

use super::MemStore;
use super::page::page_of_large;
use super::state::{MemState, RecordRow};

/// The most records that one lookup answers.
const MOST: usize = 50;

/// How many values of lookups one read gives at most.
const MOST_VALUES: usize = 1_000;

#[async_trait]
impl RecordStore for MemStore {
    async fn record(&self, scope: TenantScope, kind: &str, key: &str) -> Result<Option<Record>> {
        let place = (scope.tenant(), kind.to_owned(), key.to_owned());
        self.run(|state| state.records.get(&place).map(|row| row.record.clone().whole()).transpose())
    }

    async fn record_by_id(&self, scope: TenantScope, id: RecordId) -> Result<Option<Record>> {
        self.run(|state| {
            let place = state.record_keys.get(&(scope.tenant(), id)).cloned();
            let place = place.map(|(kind, key)| (scope.tenant(), kind, key));
            Ok(place.and_then(|place| state.records.get(&place)).map(|row| row.record.clone()))
        })
    }

    async fn records_by_lookup(&self, scope: TenantScope, kind: &str, name: &str, value: &str) -> Result<Vec<Record>> {
        let value = Lookup::kept(value.to_owned());
        self.run(|state| {
            let has = |row: &RecordRow| row.lookups.iter().any(|known| known.name == name && known.value == value);
            state.of_kind(scope, kind, has).into_iter().take(MOST).map(Record::whole).collect()
        })
    }

    async fn lookup_values(
        &self,
        scope: TenantScope,
        kind: &str,
        (name, value): (&str, &str),
        wanted: &str,
    ) -> Result<Vec<(RecordId, String)>> {
        self.run(|state| {
            let has = |row: &RecordRow| row.lookups.iter().any(|known| known.name == name && known.value == value);
            let mut found: Vec<(RecordId, String)> = Vec::new();
            for record in state.of_kind(scope, kind, has) {
                let place = (scope.tenant(), kind.to_owned(), record.key.clone());
                let lookups = state.records.get(&place).into_iter().flat_map(|row| &row.lookups);
                found.extend(
                    lookups.filter(|lookup| lookup.name == wanted).map(|lookup| (record.id, lookup.value.clone())),
                );
            }
            found.sort();
            found.truncate(MOST_VALUES);
            Ok(found)
        })
    }

    async fn records(
        &self,
        scope: TenantScope,
        kind: &str,
        after: Option<RecordId>,
        limit: u32,
    ) -> Result<Page<Record>> {
        self.run(|state| {
            let found = state.of_kind(scope, kind, |row| after.is_none_or(|after| row.record.id > after));
            Ok(page_of_large(found.into_iter(), limit, |record| record.id.to_string()))
        })
    }

    async fn record_kinds(&self, scope: TenantScope) -> Result<Vec<(String, i64)>> {
        self.run(|state| {
            let mut kinds: Vec<(String, i64)> = Vec::new();
            for (_, kind, _) in state.records.keys().filter(|(tenant, _, _)| *tenant == scope.tenant()) {
                match kinds.last_mut().filter(|(last, _)| last == kind) {
                    Some((_, count)) => *count += 1,
                    None => kinds.push((kind.clone(), 1)),
                }
            }
            Ok(kinds)
        })
    }
}

impl MemState {
    /// Records of a kind, oldest id first.
    fn of_kind(&self, scope: TenantScope, kind: &str, wanted: impl Fn(&RecordRow) -> bool) -> Vec<Record> {
        let rows =
            self.records.iter().filter(|((tenant, of, _), row)| *tenant == scope.tenant() && of == kind && wanted(row));
        let mut found: Vec<Record> = rows.map(|(_, row)| row.record.clone()).collect();
        found.sort_by_key(|record| record.id);
        found
    }
}
