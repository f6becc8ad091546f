//! What many tasks write, in one statement for all that is plain: new tasks, steps that append rows, ends. PostgreSQL
//! only: there each statement is a round trip.

use std::collections::HashMap;

use kybern_core::task::{Committed, Submitted};
use kybern_core::tenant::TenantScope;
use uuid::Uuid;

use super::commit::PreparedCommit;
use super::ending;
use super::row;
use super::submit::{self, Submission};
use crate::db::{Arg, Pending, RowVisibility, Tx, columns, statements};
use crate::error::Result;

statements! {
    WRITE_MANY = postgres "task_write_many";
}

/// Settles what is plain of one tenant's units in one statement that is its own transaction: one round trip, and it is
/// committed. What is not plain, what somebody else holds and what is fenced off is left as it is.
///
/// # Errors
/// When the statement failed; nothing has been written then, unless the connection was lost.
pub(crate) async fn write_at_once(tx: &mut Tx, units: &mut [Box<dyn Pending>]) -> Result<()> {
    let Some(RowVisibility::Tenant(scope)) = units.first().map(|unit| unit.access()) else { return Ok(()) };
    let new = places(units, |new: &Submission| new.is_claimed() && new.is_mergeable(tx));
    let commits = places(units, PreparedCommit::is_mergeable);
    if new.is_empty() && commits.is_empty() {
        return Ok(());
    }
    tx.stay(scope).await?;
    let told = {
        let new: Vec<&Submission> = new.iter().filter_map(|at| of(units, *at)).collect();
        let commits: Vec<&PreparedCommit> = commits.iter().filter_map(|at| of(units, *at)).collect();
        write(tx, scope, &new, &commits).await?
    };
    for at in new {
        let Some(submission) = of::<Submission>(units, at) else { continue };
        let answer: Result<Submitted> = Ok(submit::stored(tx, submission));
        settle(units, at, answer);
    }
    for at in commits {
        let Some(commit) = of::<PreparedCommit>(units, at) else { continue };
        if let Some(committed) = told.get(&(commit.lease.task().as_uuid(), commit.lease.epoch())).copied() {
            let answer: Result<Committed> = Ok(committed);
            settle(units, at, answer);
        }
    }
    Ok(())
}

type CommitOutcomes = HashMap<(Uuid, i64), Committed>;

async fn write(
    tx: &mut Tx,
    scope: TenantScope,
    new: &[&Submission],
    commits: &[&PreparedCommit],
) -> Result<CommitOutcomes> {
    let tenant = scope.tenant().as_uuid();
    let tasks = commits.iter().map(|commit| Some(commit.lease.task().as_uuid())).collect();
    let ends = commits.iter().filter_map(|commit| commit.ending().map(|end| ending::columns(commit, end)));
    let rows = commits.iter().flat_map(|commit| commit.rows.iter().map(move |row| (&commit.lease, row)));
    let rows = rows.map(|(lease, row)| {
        let [task, seq, tenant, kind, status, step, tool, at, body] = row.args(tenant, lease.task().as_uuid());
        [task, seq, tenant, kind, status, step, tool, at, body, lease.epoch().into()]
    });
    let new = new.iter().map(|submission| submission.args());
    let mut args = vec![scope.into(), Arg::Uuids(tasks)];
    args.extend(columns("uitttti", ends)?);
    args.extend(columns("uiuttttiti", rows)?);
    args.extend(columns("uutttttttutitifitutiiitiiutfit", new)?);
    let told = tx.write_rows(&WRITE_MANY, &args).await?;
    told.into_iter().map(|mut held| Ok(((held.uuid()?, held.i64()?), row::unpack(held.i64()?)))).collect()
}

/// The places of the units of one type that are wanted.
fn places<A: 'static>(units: &[Box<dyn Pending>], wanted: impl Fn(&A) -> bool) -> Vec<usize> {
    (0..units.len()).filter(|at| of(units, *at).is_some_and(&wanted)).collect()
}

fn of<A: 'static>(units: &[Box<dyn Pending>], at: usize) -> Option<&A> {
    units.get(at).filter(|unit| !unit.is_settled())?.args().downcast_ref()
}

fn settle<T: Send + 'static>(units: &mut [Box<dyn Pending>], at: usize, answer: Result<T>) {
    if let Some(unit) = units.get_mut(at) {
        unit.set_answer(Box::new(answer));
    }
}
