//! Leases: claimed, prolonged, taken over.

use kybern_core::id::{TaskId, TenantId};
use kybern_core::ports::Heartbeat;
use kybern_core::slots::{WaitingTenant, WorkerCapacity};
use kybern_core::task::{Claimed, Lease, Task, WorkerId};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use uuid::Uuid;

use super::{read, row};
use crate::db::{Arg, Row, RowVisibility, Sql, Tx, args, count, scope_of_row, statements};
use crate::error::Result;

statements! {
    WAITING = split "task_waiting";
    DUE = split "task_due";
    CLAIM = shared "task_claim";
    TAKE_OVER = shared "task_take_over";
    TAKE_OVER_PAUSED = shared "task_take_over_paused";
    SET_BACK = shared "task_set_back";
    HEARTBEAT = split "task_heartbeat";
    HELD = shared "task_held";
    TIME = shared "time";
    GIVE_BACK = shared "task_give_back";
}

/// A claim, as it is asked for.
#[derive(Debug)]
pub(super) struct ClaimRequest {
    pub(super) worker: WorkerId,
    pub(super) offer: WorkerCapacity,
    pub(super) lease: Millis,
    pub(super) now: Timestamp,
}

/// The tenants with work that is due, and since when. `waiting` reads one row for each tenant with open work, however
/// much work that is.
async fn due(tx: &mut Tx, waiting: &'static Sql, now: Timestamp) -> Result<Vec<WaitingTenant>> {
    let read = |row: &mut Row| Ok(WaitingTenant { tenant: TenantId::from_uuid(row.uuid()?), since: row.time()? });
    tx.list(waiting, args![now], read).await
}

/// Since when the longest due work is due.
pub(crate) async fn due_since(tx: &mut Tx, waiting: &'static Sql, now: Timestamp) -> Result<Option<Timestamp>> {
    Ok(due(tx, waiting, now).await?.into_iter().map(|waiting| waiting.since).min())
}

/// Since when the longest due task is due.
pub(crate) async fn longest_due(tx: &mut Tx, now: Timestamp) -> Result<Option<Timestamp>> {
    due_since(tx, &WAITING, now).await
}

/// Shares an offer out among the tenants with work that is due.
pub(crate) async fn allotted(
    tx: &mut Tx,
    waiting: &'static Sql,
    offer: &WorkerCapacity,
    now: Timestamp,
) -> Result<Vec<(TenantId, u32)>> {
    Ok(offer.allot(&due(tx, waiting, now).await?))
}

/// Claims what is due, shared out among the tenants; of each the longest due.
pub(super) async fn claim_due(tx: &mut Tx, wanted: &ClaimRequest) -> Result<Vec<Claimed>> {
    let (lease, now) = (count(wanted.lease.0), wanted.now);
    let mut due = Vec::new();
    for (tenant, slots) in allotted(tx, &WAITING, &wanted.offer, now).await? {
        let tenant = tenant.as_uuid();
        let rows = if tx.is_postgres() {
            let running = Arg::Uuids(wanted.offer.running.iter().copied().map(Some).collect());
            tx.write_rows(&DUE, args![now, slots, tenant, wanted.worker.as_str(), lease, running]).await?
        } else {
            tx.fetch_all(&DUE, args![now, slots, tenant, named(&wanted.offer.running)]).await?
        };
        for mut found in rows {
            let (tenant, id) = (TenantId::from_uuid(found.uuid()?), TaskId::from_uuid(found.uuid()?));
            let owner = found.opt_text()?;
            let (since, at) = (found.i64()?, found.time()?);
            due.push(DueTask { since, at, scope: scope_of_row(tenant), id, owner });
        }
    }
    due.sort_by_key(|found| (found.since, found.id));
    if !tx.is_postgres() {
        for DueTask { scope, id, .. } in &due {
            tx.execute(&CLAIM, args![*scope, id.as_uuid(), wanted.worker.as_str(), now, lease]).await?;
        }
    }
    let mut tasks = rows_of(tx, &due).await?;
    let claimed = due.into_iter().filter_map(|DueTask { id, owner, at, .. }| {
        let task = tasks.remove(&id)?;
        let lease = Lease::granted(scope_of_row(task.tenant), task.id, task.epoch, wanted.worker.clone());
        Some(Claimed { lease, task, recovered_from: owner.as_deref().map(WorkerId::new), at })
    });
    Ok(claimed.collect())
}

/// What runs, as text in which SQLite looks a row's id up.
pub(crate) fn named(running: &[Uuid]) -> String {
    let names: Vec<String> = running.iter().map(|id| format!("{:X}", id.simple())).collect();
    names.join(",")
}

/// A task that has just been found due.
struct DueTask {
    since: i64,
    at: Timestamp,
    scope: TenantScope,
    id: TaskId,
    owner: Option<String>,
}

/// The rows of what was claimed, tenant by tenant.
async fn rows_of(tx: &mut Tx, due: &[DueTask]) -> Result<std::collections::HashMap<TaskId, Task>> {
    let mut by_tenant: Vec<(TenantScope, Vec<Uuid>)> = Vec::new();
    for DueTask { scope, id, .. } in due {
        match by_tenant.iter_mut().find(|(known, _)| known == scope) {
            Some((_, ids)) => ids.push(id.as_uuid()),
            None => by_tenant.push((*scope, vec![id.as_uuid()])),
        }
    }
    let mut tasks = std::collections::HashMap::with_capacity(due.len());
    for (scope, ids) in by_tenant {
        tx.enter(RowVisibility::Tenant(scope)).await?;
        for task in read::many(tx, scope, ids).await? {
            tasks.insert(task.id, task);
        }
    }
    Ok(tasks)
}

/// Makes every leased task claimable at once.
pub(super) async fn take_over(tx: &mut Tx, now: Timestamp) -> Result<u64> {
    if tx.is_postgres() {
        return Ok(0);
    }
    let taken = tx.execute(&TAKE_OVER, args![now]).await? + tx.execute(&TAKE_OVER_PAUSED, args![now]).await?;
    if taken > 0 {
        tx.wake();
    }
    Ok(taken)
}

/// Makes due what was due before the clock was set back.
pub(super) async fn set_back(tx: &mut Tx, from: Timestamp, to: Timestamp) -> Result<u64> {
    if tx.is_postgres() {
        return Ok(0);
    }
    let changed = tx.execute(&SET_BACK, args![from, to]).await?;
    if changed > 0 {
        tx.wake();
    }
    Ok(changed)
}

/// What time it is by the database's clock, where it has one.
pub(super) async fn time(tx: &mut Tx) -> Result<Option<Timestamp>> {
    if !tx.is_postgres() {
        return Ok(None);
    }
    tx.find(&TIME, args![Timestamp::default()], Row::time).await
}

/// Gives leases back before their work is done.
pub(super) async fn give_back(tx: &mut Tx, leases: &[Lease], now: Timestamp) -> Result<()> {
    for lease in leases {
        let args = args![lease.scope(), lease.task().as_uuid(), lease.epoch(), now];
        if tx.execute(&GIVE_BACK, args).await? > 0 {
            tx.wake();
        }
    }
    Ok(())
}

/// Prolongs leases.
pub(super) async fn heartbeat(tx: &mut Tx, leases: &[Lease], length: Millis, now: Timestamp) -> Result<Vec<Heartbeat>> {
    let mut beats = Vec::with_capacity(leases.len());
    for lease in leases {
        let key = args![lease.scope(), lease.task().as_uuid(), lease.epoch()];
        let args = args![lease.scope(), lease.task().as_uuid(), lease.epoch(), length, now];
        let held = match tx.write_row(&HEARTBEAT, args).await? {
            // One of our own commits holds the row, so the lease is alive; the next beat prolongs it.
            None if tx.is_postgres() => tx.fetch_optional(&HELD, key).await?,
            beat => beat,
        };
        beats.push(match held {
            Some(mut held) => Heartbeat::Held(row::told(&mut held)?),
            None => Heartbeat::Lost,
        });
    }
    Ok(beats)
}
