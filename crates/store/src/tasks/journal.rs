//! Rows of the journal, prepared outside the writer and inserted under the fence.

use kybern_core::id::TaskId;
use kybern_core::money::Usage;
use kybern_core::task::{Committed, JournalEntry, JournalRow, Lease};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use uuid::Uuid;

use super::row;
use crate::db::{Arg, Row, Tx, args, json, statements};
use crate::error::{Result, StoreError};

statements! {
    APPEND = postgres "step_append";
    INSERT = shared "step_insert";
    LIST = shared "step_list";
    LAST_SEQ = shared "step_last_seq";
    BODY = shared "step_body";
}

/// A row as it is bound: its body is made into JSON by the caller, not by the writer.
#[derive(Debug)]
pub(super) struct StepRow {
    pub(super) seq: i64,
    pub(super) kind: &'static str,
    pub(super) status: Option<&'static str>,
    pub(super) step: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) at: Timestamp,
    pub(super) body: String,
    pub(super) attempt: u32,
    pub(super) generation: u32,
    pub(super) usage: Usage,
}

impl StepRow {
    pub(super) fn prepare(row: &JournalRow) -> Result<Self> {
        let body = serde_json::to_string(row).map_err(|error| StoreError::Decode {
            row: "step_insert".to_owned(),
            problem: format!("row {} cannot be written as JSON: {error}", row.seq),
        })?;
        let usage = match &row.entry {
            JournalEntry::Finished(outcome) => outcome.usage,
            _ => Usage::default(),
        };
        Ok(Self {
            seq: row.seq,
            kind: row.entry.kind(),
            status: row.entry.status(),
            step: row.step.as_ref().map(|step| step.as_str().to_owned()),
            tool: row.tool.clone(),
            at: row.at,
            body,
            attempt: row.attempt,
            generation: row.generation,
            usage,
        })
    }

    pub(super) fn args(&self, tenant: Uuid, task: Uuid) -> [Arg<'_>; 9] {
        [
            task.into(),
            self.seq.into(),
            tenant.into(),
            self.kind.into(),
            self.status.into(),
            self.step.as_deref().into(),
            self.tool.as_deref().into(),
            self.at.into(),
            self.body.as_str().into(),
        ]
    }

    /// Inserts it if the lease still holds. PostgreSQL only.
    pub(super) async fn append(&self, tx: &mut Tx, lease: &Lease) -> Result<Committed> {
        let [a, b, c, d, e, f, g, h, i] = self.args(lease.scope().tenant().as_uuid(), lease.task().as_uuid());
        let all = [a, b, c, d, e, f, g, h, i, lease.epoch().into()];
        let told = tx.write_row(&APPEND, &all).await?;
        told.ok_or(StoreError::Fenced)?.i64().map(row::unpack)
    }

    /// Inserts it; the caller has checked the fence in this transaction.
    pub(super) async fn insert(&self, tx: &mut Tx, scope: TenantScope, task: TaskId) -> Result<()> {
        tx.execute(&INSERT, &self.args(scope.tenant().as_uuid(), task.as_uuid())).await.map(|_| ())
    }
}

type ListJournal = (TenantScope, TaskId, i64, u32);

/// Rows with `seq > after`.
pub(super) async fn list(tx: &mut Tx, &(scope, task, after, limit): &ListJournal) -> Result<Vec<JournalRow>> {
    let read = |row: &mut Row| {
        let (seq, body, at) = (row.i64()?, row.text()?, row.time()?);
        Ok(json::read(&body).unwrap_or_else(|error| unreadable(seq, at, error.to_string())))
    };
    tx.list(&LIST, args![task.as_uuid(), scope, after, limit], read).await
}

/// What stands in the place of a row that cannot be read.
fn unreadable(seq: i64, at: Timestamp, problem: String) -> JournalRow {
    JournalRow {
        seq,
        step: None,
        tool: None,
        attempt: 0,
        generation: 0,
        at,
        duration: Millis(0),
        summary: String::new(),
        entry: JournalEntry::Unreadable { problem },
    }
}

/// The number of the last row; 0 when there is none.
pub(super) async fn last_seq(tx: &mut Tx, scope: TenantScope, task: TaskId) -> Result<i64> {
    tx.count(&LAST_SEQ, args![task.as_uuid(), scope]).await
}

/// The body of a row as it is stored.
pub(super) async fn body(tx: &mut Tx, scope: TenantScope, task: TaskId, seq: i64) -> Result<Option<String>> {
    tx.find(&BODY, args![task.as_uuid(), scope, seq], Row::text).await
}
