//! Records, as people read them. What writes them are steps.

use std::sync::Arc;

use kybern_core::error::{Error, Result};
use kybern_core::id::RecordId;
use kybern_core::ports::{Page, RecordStore};
use kybern_core::record::Record;
use kybern_core::tenant::TenantScope;

/// The records of tenants.
#[derive(Clone)]
pub struct Records {
    pub(crate) store: Arc<dyn RecordStore>,
}

impl Records {
    /// A page of a kind's records.
    pub async fn list(
        &self,
        scope: TenantScope,
        kind: &str,
        after: Option<RecordId>,
        limit: u32,
    ) -> Result<Page<Record>> {
        self.store.records(scope, kind, after, limit).await
    }

    /// The kinds of which the tenant has records.
    pub async fn kinds(&self, scope: TenantScope) -> Result<Vec<(String, i64)>> {
        self.store.record_kinds(scope).await
    }

    /// A record.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, id: RecordId) -> Result<Record> {
        let record = self.store.record_by_id(scope, id).await?;
        record.ok_or_else(|| Error::not_found("record", id))
    }
}
