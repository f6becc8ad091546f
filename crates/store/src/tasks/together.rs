//! What the steps of many tasks append, in one statement. PostgreSQL only: there each statement is a round trip.

use std::collections::HashMap;

use kybern_core::task::Committed;

use super::commit::Prepared;
use super::row;
use crate::db::{Access, Arg, Pending, Tx, statements};
use crate::error::{Result, StoreError};

statements! {
    APPEND_MANY = postgres "step_append_many";
}

/// Settles those units of one tenant that only append rows. With fewer than two of them there is nothing to gain.
///
/// # Errors
/// When the statement failed; then each unit has to run alone.
pub(crate) async fn append_together(tx: &mut Tx, units: &mut [Box<dyn Pending>]) -> Result<()> {
    let Some(Access::Tenant(scope)) = units.first().map(|unit| unit.access()) else { return Ok(()) };
    let simple = |unit: &dyn Pending| unit.args().downcast_ref::<Prepared>().is_some_and(Prepared::only_appends);
    if units.iter().filter(|unit| simple(unit.as_ref())).count() < 2 {
        return Ok(());
    }
    tx.enter(Access::Tenant(scope)).await?;
    let told = {
        let commits = units.iter().filter_map(|unit| unit.args().downcast_ref::<Prepared>());
        let commits: Vec<&Prepared> = commits.filter(|commit| commit.only_appends()).collect();
        append(tx, scope.into(), &commits).await?
    };
    for unit in units.iter_mut() {
        let answer = match unit.args().downcast_ref::<Prepared>().filter(|commit| commit.only_appends()) {
            Some(commit) => {
                let key = (commit.lease.task().as_uuid(), commit.lease.epoch());
                told.get(&key).copied().ok_or(StoreError::Fenced)
            }
            None => continue,
        };
        unit.settle(Box::new(answer));
    }
    Ok(())
}

type Told = HashMap<(uuid::Uuid, i64), Committed>;

async fn append(tx: &mut Tx, tenant: Arg<'_>, commits: &[&Prepared]) -> Result<Told> {
    let pairs = || commits.iter().flat_map(|commit| commit.rows.iter().map(|row| (&commit.lease, row)));
    let args = [
        tenant,
        Arg::Uuids(pairs().map(|(lease, _)| lease.task().as_uuid()).collect()),
        Arg::I64s(pairs().map(|(_, row)| row.seq).collect()),
        Arg::Texts(pairs().map(|(_, row)| Some(row.kind)).collect()),
        Arg::Texts(pairs().map(|(_, row)| row.status).collect()),
        Arg::Texts(pairs().map(|(_, row)| row.step.as_deref()).collect()),
        Arg::Texts(pairs().map(|(_, row)| row.tool.as_deref()).collect()),
        Arg::I64s(pairs().map(|(_, row)| row.at.as_millis()).collect()),
        Arg::Texts(pairs().map(|(_, row)| Some(row.body.as_str())).collect()),
        Arg::I64s(pairs().map(|(lease, _)| lease.epoch()).collect()),
    ];
    let rows = tx.fetch_all(&APPEND_MANY, &args).await?;
    rows.into_iter().map(|mut held| Ok(((held.uuid()?, held.i64()?), row::unpack(held.i64()?)))).collect()
}
