//! Records in memory, with the beliefs and the uniqueness that a store keeps.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::id::RecordId;
use kybern_core::ports::{Page, RecordStore};
use kybern_core::record::{Expect, Lookup, PutRecord, Record, merge};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

/// The records of one tenant.
#[derive(Default)]
pub(crate) struct Records(Mutex<Vec<(Record, Vec<Lookup>)>>, AtomicUsize);

impl Records {
    /// Writes one record, or panics when a store would refuse it.
    pub(crate) fn put(&self, put: PutRecord) {
        let mut all = self.0.lock().unwrap();
        for lookup in put.lookups.iter().filter(|lookup| lookup.unique) {
            let clash = all
                .iter()
                .find(|(record, lookups)| record.kind == put.kind && record.key != put.key && lookups.contains(lookup));
            assert!(clash.is_none(), "{lookup:?} is taken by {:?}", clash.map(|(record, _)| &record.key));
        }
        let found = all.iter_mut().find(|(record, _)| record.kind == put.kind && record.key == put.key);
        match (found, put.expect) {
            (None, Expect::Absent | Expect::Any) => {
                let (at, version) = (Timestamp::from_millis(0), 1);
                let PutRecord { id, kind, key, props, lookups, .. } = put;
                all.push((
                    Record { id, kind, key, props, version, created_at: at, updated_at: at, unreadable: None },
                    lookups,
                ));
            }
            (Some((record, lookups)), expect) => {
                assert!(
                    matches!(expect, Expect::Any) || expect == Expect::Version(record.version),
                    "stale: {expect:?}"
                );
                record.props = merge(&record.props, &put.props, put.merge).props;
                record.version += 1;
                lookups.retain(|lookup| !put.lookups.iter().any(|new| new.name == lookup.name));
                lookups.extend(put.lookups);
            }
            (None, Expect::Version(_)) => panic!("{} {} does not exist", put.kind, put.key),
        }
    }

    /// How often many records' lookups were read.
    pub(crate) fn surveys(&self) -> usize {
        self.1.load(Ordering::SeqCst)
    }

    pub(crate) fn of(&self, kind: &str) -> Vec<Record> {
        let all = self.0.lock().unwrap();
        all.iter().filter(|(record, _)| record.kind == kind).map(|(record, _)| record.clone()).collect()
    }

    fn find(&self, wanted: impl Fn(&Record, &[Lookup]) -> bool) -> Vec<Record> {
        let all = self.0.lock().unwrap();
        all.iter().filter(|(record, lookups)| wanted(record, lookups)).map(|(record, _)| record.clone()).collect()
    }
}

#[async_trait]
impl RecordStore for Records {
    async fn record(&self, _scope: TenantScope, kind: &str, key: &str) -> Result<Option<Record>> {
        Ok(self.find(|record, _| record.kind == kind && record.key == key).pop())
    }

    async fn record_by_id(&self, _scope: TenantScope, id: RecordId) -> Result<Option<Record>> {
        Ok(self.find(|record, _| record.id == id).pop())
    }

    async fn records_by_lookup(&self, _scope: TenantScope, kind: &str, name: &str, value: &str) -> Result<Vec<Record>> {
        Ok(self.find(|record, lookups| {
            record.kind == kind && lookups.iter().any(|lookup| lookup.name == name && lookup.value == value)
        }))
    }

    async fn lookup_values(
        &self,
        _scope: TenantScope,
        kind: &str,
        (name, value): (&str, &str),
        wanted: &str,
    ) -> Result<Vec<(RecordId, String)>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        let all = self.0.lock().unwrap();
        let meant = all.iter().filter(|(record, lookups)| {
            record.kind == kind && lookups.iter().any(|lookup| lookup.name == name && lookup.value == value)
        });
        let values = meant.flat_map(|(record, lookups)| lookups.iter().map(|lookup| (record.id, lookup)));
        Ok(values.filter(|(_, lookup)| lookup.name == wanted).map(|(id, lookup)| (id, lookup.value.clone())).collect())
    }

    async fn records(
        &self,
        _scope: TenantScope,
        kind: &str,
        _after: Option<RecordId>,
        _limit: u32,
    ) -> Result<Page<Record>> {
        Ok(Page { items: self.of(kind), next: None })
    }

    async fn record_kinds(&self, _scope: TenantScope) -> Result<Vec<(String, i64)>> {
        Ok(Vec::new())
    }
}
