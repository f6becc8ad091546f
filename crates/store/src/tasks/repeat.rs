//! A commit once more, whose first try may have been written: the answer was lost on its way, or the server was silent.

use kybern_core::task::{Committed, Lease, TaskChange};

use super::commit::{self, PreparedCommit};
use super::{journal, row};
use crate::db::{Tx, args, statements};
use crate::error::Result;

statements! {
    LEASE = split "task_lease";
}

/// Writes a commit unless its first try was written.
pub(super) async fn commit_again(tx: &mut Tx, prepared: &PreparedCommit) -> Result<Committed> {
    match written(tx, prepared).await? {
        Some(told) => Ok(told),
        None => commit::commit(tx, prepared).await,
    }
}

/// What the first try was told, when it was written. The task's row is locked from here on, so a first try that still
/// lingers in the server has either ended before this looks, or finds its rows taken.
async fn written(tx: &mut Tx, prepared: &PreparedCommit) -> Result<Option<Committed>> {
    let Some((is_given_back, told)) = lease(tx, &prepared.lease).await? else { return Ok(None) };
    let gives_back = match &prepared.commit.change {
        TaskChange::Release { .. } | TaskChange::End(_) => true,
        TaskChange::Keep | TaskChange::Progress { .. } => false,
    };
    // Without rows: only the holder of an epoch gives its lease back.
    let Some(last) = prepared.rows.last() else { return Ok((gives_back && is_given_back).then_some(told)) };
    let (scope, task) = (prepared.lease.scope(), prepared.lease.task());
    // A later holder has other rows at this place, if any: it begins with what it has found.
    let found = journal::body(tx, scope, task, last.seq).await?;
    Ok((found.as_deref() == Some(last.body.as_str())).then_some(told))
}

/// Whether the lease was given back and nobody has claimed the task since, and how the task stands.
async fn lease(tx: &mut Tx, lease: &Lease) -> Result<Option<(bool, Committed)>> {
    let found = tx.fetch_optional(&LEASE, args![lease.scope(), lease.task().as_uuid()]).await?;
    let Some(mut found) = found else { return Ok(None) };
    let told = row::told(&mut found)?;
    let (epoch, is_held) = (found.i64()?, found.opt_text()?.is_some());
    Ok(Some((epoch == lease.epoch() && !is_held, told)))
}
