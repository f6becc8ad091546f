//! Records, as people keep them: paged by what they are found by, with their history, and changed by hand.

use async_trait::async_trait;

use super::Page;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::RecordId;
use crate::record::{Record, RecordEdit, RecordTask, RecordTaskPlace, RecordVersion};
use crate::tenant::TenantScope;

/// What people do with records. Tools read by [`RecordStore`](super::RecordStore) and write by their outcomes.
#[async_trait]
pub trait RecordAdminStore: Send + Sync {
    /// A page of the records of a kind that have a lookup with that name and value, oldest first, after the record with
    /// id `after`.
    async fn records_found(
        &self,
        scope: TenantScope,
        kind: &str,
        lookup: (&str, &str),
        after: Option<RecordId>,
        limit: u32,
    ) -> Result<Page<Record>>;

    /// A page of a record's versions, newest first, before the version `before`. Versions that were written before there
    /// was a history are not among them.
    async fn record_versions(
        &self,
        scope: TenantScope,
        id: RecordId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Page<RecordVersion>>;

    /// A page of the links of tasks to a record, those of the newest task first, after the link at `after`. Tasks that were
    /// removed are not among them.
    async fn tasks_of_record(
        &self,
        scope: TenantScope,
        id: RecordId,
        after: Option<RecordTaskPlace>,
        limit: u32,
    ) -> Result<Page<RecordTask>>;

    /// Changes a record by hand, and answers it as it is then. The audit is told the version. What changes nothing makes
    /// no version, and no event.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it no longer has the version that the person saw; `INTERNAL_ERROR` when it cannot be
    /// read.
    async fn edit_record(&self, scope: TenantScope, edit: &RecordEdit, audit: AuditEvent) -> Result<Record>;
}
