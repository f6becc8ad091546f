//! The audit chains: one per tenant, written in the transaction of the act.

use async_trait::async_trait;
use kybern_core::audit::{AuditEvent, ChainStart, ChainedEvent, GENESIS};
use kybern_core::error::Result as PortResult;
use kybern_core::ports::AuditStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::Value;

use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;

statements! {
    HEAD = split "audit_head";
    HEAD_READ = shared "audit_head_read";
    HEAD_INSERT = shared "audit_head_insert";
    HEAD_MOVE = shared "audit_head_move";
    INSERT = shared "audit_insert";
    LIST = shared "audit_list";
    START = shared "audit_start";
    START_MOVE = shared "audit_start_move";
    KEPT_SINCE = shared "audit_kept_since";
    FIRST_YOUNG = shared "audit_first_young";
    HASH = shared "audit_hash";
    REMOVE = split "audit_remove";
}

/// Adds an event to its tenant's chain.
pub(crate) async fn append(tx: &mut Tx, scope: TenantScope, at: Timestamp, event: &AuditEvent) -> Result<()> {
    append_all(tx, scope, &[(at, event)]).await
}

/// Adds events to their tenant's chain, in order. The head is read and moved once.
pub(crate) async fn append_all(tx: &mut Tx, scope: TenantScope, events: &[(Timestamp, &AuditEvent)]) -> Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let (mut last, mut prev_hash) = match head(tx, scope).await? {
        Some(head) => head,
        None => {
            tx.execute(&HEAD_INSERT, args![scope, GENESIS]).await?;
            head(tx, scope).await?.ok_or(StoreError::Closed)?
        }
    };
    let key = tx.shared().keys.audit_key(scope.tenant());
    for (at, event) in events {
        // What is chained is what is stored: it was redacted on the way.
        let seq = last + 1;
        let (body, hash) = key.chain_text(seq, *at, (*event).clone(), &prev_hash);
        tx.execute(&INSERT, args![scope, seq, *at, body, prev_hash.as_str(), hash.as_str()]).await?;
        (last, prev_hash) = (seq, hash);
    }
    tx.execute(&HEAD_MOVE, args![scope, last, prev_hash.as_str()]).await.map(|_| ())
}

/// Holds the head of a tenant's chain until the end of the transaction: every act that is audited waits for it.
pub(crate) async fn hold(tx: &mut Tx, scope: TenantScope) -> Result<()> {
    head(tx, scope).await.map(|_| ())
}

async fn head(tx: &mut Tx, scope: TenantScope) -> Result<Option<(i64, String)>> {
    tx.find(&HEAD, args![scope], |row| Ok((row.i64()?, row.text()?))).await
}

async fn head_read(tx: &mut Tx, scope: TenantScope) -> Result<Option<(i64, String)>> {
    tx.find(&HEAD_READ, args![scope], |row| Ok((row.i64()?, row.text()?))).await
}

fn chained(row: &mut Row) -> Result<ChainedEvent> {
    let (seq, at, event) = (row.i64()?, row.time()?, row.json());
    let unreadable = event.as_ref().err().map(ToString::to_string);
    // The chain does not hold with this one in its place, and it should not: its verification names it.
    let event = event.unwrap_or_else(|_| AuditEvent::by_executor("unreadable", "unreadable", Value::Null));
    Ok(ChainedEvent { seq, at, event, prev_hash: row.text()?, hash: row.text()?, unreadable })
}

async fn list(tx: &mut Tx, &(scope, after, limit): &(TenantScope, i64, u32)) -> Result<Vec<ChainedEvent>> {
    tx.list(&LIST, args![scope, after, limit], chained).await
}

async fn start(tx: &mut Tx, scope: TenantScope) -> Result<ChainStart> {
    let read = |row: &mut Row| Ok(ChainStart { seq: row.i64()?, hash: row.text()? });
    Ok(tx.find(&START, args![scope], read).await?.unwrap_or_default())
}

type Purgeable = (TenantScope, i64, Timestamp);

async fn purgeable(tx: &mut Tx, &(scope, upto, before): &Purgeable) -> Result<Option<ChainStart>> {
    let from = start(tx, scope).await?.seq;
    let kept = tx.find(&KEPT_SINCE, args![scope], Row::opt_time).await?.flatten();
    let before = kept.map_or(before, |kept| kept.min(before));
    let young = tx.find(&FIRST_YOUNG, args![scope, from, upto, before], Row::i64).await?;
    let seq = young.map_or(upto, |young| young - 1);
    if seq <= from {
        return Ok(None);
    }
    tx.find(&HASH, args![scope, seq], |row| Ok(ChainStart { seq, hash: row.text()? })).await
}

type PurgeAudit = (TenantScope, ChainStart, ChainStart, Timestamp, AuditEvent);

async fn purge(tx: &mut Tx, (scope, from, to, at, event): &PurgeAudit) -> Result<bool> {
    let scope = *scope;
    hold(tx, scope).await?;
    if start(tx, scope).await? != *from {
        return Ok(false);
    }
    tx.execute(&START_MOVE, args![scope, to.seq, to.hash.as_str()]).await?;
    append(tx, scope, *at, event).await?;
    Ok(true)
}

async fn remove(tx: &mut Tx, &(scope, most): &(TenantScope, u32)) -> Result<u64> {
    Ok(tx.write_rows(&REMOVE, args![scope, most]).await?.len() as u64)
}

#[async_trait]
impl<D: 'static> AuditStore for SqlStore<D> {
    async fn append_audit(&self, scope: TenantScope, at: Timestamp, event: AuditEvent) -> PortResult<()> {
        let run =
            self.write(scope, (scope, at, event), |tx, (scope, at, event)| Box::pin(append(tx, *scope, *at, event)));
        Ok(run.await?)
    }

    async fn audit_events(&self, scope: TenantScope, after: i64, limit: u32) -> PortResult<Vec<ChainedEvent>> {
        Ok(self.read(scope, (scope, after, limit), |tx, args| Box::pin(list(tx, args))).await?)
    }

    async fn audit_head(&self, scope: TenantScope) -> PortResult<Option<(i64, String)>> {
        Ok(self.read(scope, scope, |tx, scope| Box::pin(head_read(tx, *scope))).await?)
    }

    async fn audit_start(&self, scope: TenantScope) -> PortResult<ChainStart> {
        Ok(self.read(scope, scope, |tx, scope| Box::pin(start(tx, *scope))).await?)
    }

    async fn audit_purgeable(
        &self,
        scope: TenantScope,
        upto: i64,
        before: Timestamp,
    ) -> PortResult<Option<ChainStart>> {
        Ok(self.read(scope, (scope, upto, before), |tx, args| Box::pin(purgeable(tx, args))).await?)
    }

    async fn purge_audit(
        &self,
        scope: TenantScope,
        from: &ChainStart,
        to: &ChainStart,
        at: Timestamp,
        event: AuditEvent,
    ) -> PortResult<bool> {
        let args = (scope, from.clone(), to.clone(), at, event);
        Ok(self.write(scope, args, |tx, args| Box::pin(purge(tx, args))).await?)
    }

    async fn drop_purged_audit(&self, scope: TenantScope, most: u32) -> PortResult<u64> {
        Ok(self.write(scope, (scope, most), |tx, args| Box::pin(remove(tx, args))).await?)
    }
}
