//! Records, as people keep them: found, read with their history, and changed by hand. All else that is written of them
//! is written by steps.

mod search;

use std::collections::BTreeSet;
use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::id::RecordId;
use kybern_core::json;
use kybern_core::ports::{Clock, Page, RecordAdminStore, RecordStore};
use kybern_core::record::version::edited;
use kybern_core::record::{Record, RecordEdit, RecordTask, RecordTaskPlace, RecordVersion, limits};
use kybern_core::tenant::TenantScope;
use serde_json::{Map, Value};

pub use search::RecordFilter;

use crate::tools::DeclaredKinds;

/// Records that are read at once.
const CHUNK: u32 = 200;
/// Different props of a kind of which a table is made.
const MAX_COLUMNS: usize = 500;

/// What a person changes of a record.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordChanges {
    /// The version that they saw.
    pub version: i64,
    /// The props that change, with their new values; `null` takes one away.
    pub props: Map<String, Value>,
    /// Why.
    pub reason: String,
}

/// The records of tenants.
#[derive(Clone)]
pub struct Records {
    pub(crate) store: Arc<dyn RecordStore>,
    pub(crate) admin: Arc<dyn RecordAdminStore>,
    pub(crate) kinds: Arc<DeclaredKinds>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Records {
    /// The kinds of which the tenant has records.
    pub async fn kinds(&self, scope: TenantScope) -> Result<Vec<(String, i64)>> {
        self.store.record_kinds(scope).await
    }

    /// The names of the props of a kind's records, in order: those that its pack declares, or those that the records have.
    pub async fn prop_names(&self, scope: TenantScope, kind: &str, filter: &RecordFilter) -> Result<Vec<String>> {
        if let Some(declared) = self.kinds.props(kind) {
            return Ok(declared.to_vec());
        }
        let (mut names, mut after) = (BTreeSet::new(), None);
        loop {
            let page = self.list(scope, kind, filter, after, CHUNK).await?;
            names.extend(page.items.into_iter().flat_map(|record| record.props).map(|(name, _)| name));
            if names.len() > MAX_COLUMNS {
                let message =
                    format!("the records have more than {MAX_COLUMNS} different props: filter them, or list them");
                return Err(Error::new(ErrorCode::Unprocessable, message));
            }
            after = page.next.and_then(|next| next.parse().ok());
            if after.is_none() {
                return Ok(names.into_iter().collect());
            }
        }
    }

    /// A record of a kind.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, kind: &str, id: RecordId) -> Result<Record> {
        let record = self.store.record_by_id(scope, id).await?;
        record.filter(|record| record.kind == kind).ok_or_else(|| Error::not_found("record", id))
    }

    /// A page of a record's versions, newest first.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn versions(
        &self,
        scope: TenantScope,
        (kind, id): (&str, RecordId),
        before: Option<i64>,
        limit: u32,
    ) -> Result<Page<RecordVersion>> {
        self.get(scope, kind, id).await?;
        self.admin.record_versions(scope, id, before, limit).await
    }

    /// A page of the links of tasks to a record, those of the newest task first.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn tasks(
        &self,
        scope: TenantScope,
        (kind, id): (&str, RecordId),
        after: Option<RecordTaskPlace>,
        limit: u32,
    ) -> Result<Page<RecordTask>> {
        self.get(scope, kind, id).await?;
        self.admin.tasks_of_record(scope, id, after, limit).await
    }

    /// Changes a record by hand.
    ///
    /// # Errors
    /// `NOT_FOUND`; `VALIDATION_ERROR` with the places, also for what this kind lets nobody change by hand;
    /// `PAYLOAD_TOO_LARGE` when the record would be too large; `CONFLICT` when it changed since the person saw it;
    /// `UNPROCESSABLE` when it cannot be read.
    pub async fn change(&self, actor: &Actor, kind: &str, id: RecordId, changes: RecordChanges) -> Result<Record> {
        let scope = actor.scope();
        let RecordChanges { version, props: changed, reason } = changes;
        let edit = RecordEdit { id, version, changed, user: actor.user(), reason, at: self.clock.now() };
        edit.check()?;
        let record = self.get(scope, kind, id).await?.whole()?;
        // What is checked below holds for this version; the store compares it again under its lock.
        edit.must_have_seen(&record)?;
        let after = edited(&record.props, &edit.changed);
        let faults = self.kinds.faults_by_hand(kind, &edit.changed, &after);
        if let Some(first) = faults.first() {
            let message = first.message.clone();
            let place = |fault: Detail| Detail::new(format!("/props{}", fault.path), fault.message);
            let faults = faults.into_iter().map(place).collect();
            return Err(Error::new(ErrorCode::Validation, message).with_details(faults));
        }
        let (bytes, most) = (json::bytes_of(&after), limits::MAX_PROPS);
        if bytes > most {
            let message = format!("the record would have {bytes} bytes, {most} are taken: put less into it");
            return Err(Error::new(ErrorCode::PayloadTooLarge, message));
        }
        let names: Vec<&String> = edit.changed.keys().collect();
        let detail = serde_json::json!({"kind": kind, "props": names});
        let event = AuditEvent::by(actor, "record.change", format!("record:{id}"), detail);
        self.admin.edit_record(scope, &edit, event).await
    }
}
