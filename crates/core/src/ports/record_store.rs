//! Records, to read. They are written by commits only.

use async_trait::async_trait;

use super::task_store::Page;
use crate::error::Result;
use crate::id::RecordId;
use crate::record::Record;
use crate::tenant::TenantScope;

/// Where records are kept.
#[async_trait]
pub trait RecordStore: Send + Sync {
    async fn record(&self, scope: TenantScope, kind: &str, key: &str) -> Result<Option<Record>>;

    async fn record_by_id(&self, scope: TenantScope, id: RecordId) -> Result<Option<Record>>;

    /// Records of a kind that have a lookup with that name and value, oldest first, at most 50.
    async fn records_by_lookup(&self, scope: TenantScope, kind: &str, name: &str, value: &str) -> Result<Vec<Record>>;

    /// What records of a kind that have the lookup `by` (its name and its value) hold under the lookup `wanted`, each
    /// value with its record's id, oldest record first, at most 1,000. Cheaper than the records: what is to be
    /// compared first is seldom read whole.
    async fn lookup_values(
        &self,
        scope: TenantScope,
        kind: &str,
        by: (&str, &str),
        wanted: &str,
    ) -> Result<Vec<(RecordId, String)>>;

    /// A page of a kind's records, oldest first, after the record with id `after`.
    async fn records(
        &self,
        scope: TenantScope,
        kind: &str,
        after: Option<RecordId>,
        limit: u32,
    ) -> Result<Page<Record>>;

    /// The kinds of which the tenant has records, with their number.
    async fn record_kinds(&self, scope: TenantScope) -> Result<Vec<(String, i64)>>;
}
