//! What many tasks write, in one statement each for those that begin and those that go on. PostgreSQL only: there each
//! statement is a round trip.

use std::collections::HashMap;

use kybern_core::task::{Committed, Submitted};
use kybern_core::tenant::TenantScope;
use uuid::Uuid;

use super::commit::Prepared;
use super::ending::{self, News};
use super::row;
use super::submit::{self, Submission};
use crate::db::{Access, Arg, Pending, Tx, columns, statements};
use crate::error::{Result, StoreError};

statements! {
    COMMIT_MANY = postgres "task_commit_many";
    INSERT_MANY = postgres "task_insert_many";
}

/// With fewer there is nothing to gain.
const MANY: usize = 2;

/// Settles those units of one tenant that write nothing out of the ordinary.
///
/// # Errors
/// When a statement failed; then each unit has to run alone.
pub(crate) async fn write_together(tx: &mut Tx, units: &mut [Box<dyn Pending>]) -> Result<()> {
    let Some(Access::Tenant(scope)) = units.first().map(|unit| unit.access()) else { return Ok(()) };
    submit_together(tx, scope, units).await?;
    commit_together(tx, scope, units).await
}

async fn submit_together(tx: &mut Tx, scope: TenantScope, units: &mut [Box<dyn Pending>]) -> Result<()> {
    let plain = places(units, |new: &Submission| new.is_plain(tx));
    if plain.len() < MANY {
        return Ok(());
    }
    tx.enter(Access::Tenant(scope)).await?;
    let args = columns(plain.iter().filter_map(|at| of(units, *at)).map(Submission::args))?;
    tx.execute(&INSERT_MANY, &args).await?;
    drop(args);
    for at in plain {
        let Some(submission) = of::<Submission>(units, at) else { continue };
        let answer: Result<Submitted> = Ok(submit::stored(tx, submission));
        settle(units, at, answer);
    }
    Ok(())
}

async fn commit_together(tx: &mut Tx, scope: TenantScope, units: &mut [Box<dyn Pending>]) -> Result<()> {
    let plain = places(units, Prepared::is_plain);
    if plain.len() < MANY {
        return Ok(());
    }
    tx.enter(Access::Tenant(scope)).await?;
    let commits: Vec<&Prepared> = plain.iter().filter_map(|at| of(units, *at)).collect();
    let mut told = write(tx, scope, &commits).await?;
    drop(commits);
    for at in plain {
        let Some(commit) = of::<Prepared>(units, at) else { continue };
        let answer = match told.remove(&(commit.lease.task().as_uuid(), commit.lease.epoch())) {
            Some((committed, news)) => {
                if let Some(end) = commit.ending() {
                    ending::tell(tx, commit, end, news).await?;
                }
                Ok(committed)
            }
            None => Err(StoreError::Fenced),
        };
        settle(units, at, answer);
    }
    Ok(())
}

/// The places of the units of one type that are wanted.
fn places<A: 'static>(units: &[Box<dyn Pending>], wanted: impl Fn(&A) -> bool) -> Vec<usize> {
    (0..units.len()).filter(|at| of(units, *at).is_some_and(&wanted)).collect()
}

fn of<A: 'static>(units: &[Box<dyn Pending>], at: usize) -> Option<&A> {
    units.get(at)?.args().downcast_ref()
}

fn settle<T: Send + 'static>(units: &mut [Box<dyn Pending>], at: usize, answer: Result<T>) {
    if let Some(unit) = units.get_mut(at) {
        unit.settle(Box::new(answer));
    }
}

type Told = HashMap<(Uuid, i64), (Committed, News)>;

async fn write(tx: &mut Tx, scope: TenantScope, commits: &[&Prepared]) -> Result<Told> {
    let tenant = scope.tenant().as_uuid();
    let rows = commits.iter().flat_map(|commit| commit.rows.iter().map(move |row| (&commit.lease, row)));
    let rows = columns(rows.map(|(lease, row)| {
        let [task, seq, tenant, kind, status, step, tool, at, body] = row.args(tenant, lease.task().as_uuid());
        [task, seq, tenant, kind, status, step, tool, at, body, lease.epoch().into()]
    }))?;
    let ends = commits.iter().filter_map(|commit| commit.ending().map(|end| ending::columns(commit, end)));
    let mut ends = columns(ends)?;
    if ends.is_empty() {
        ends = no_ends();
    }
    let going_on = commits.iter().filter(|commit| commit.ending().is_none());
    let going_on = going_on.map(|commit| Some(commit.lease.task().as_uuid())).collect();
    let mut args = vec![scope.into(), Arg::Uuids(going_on)];
    args.extend(ends);
    args.extend(rows);
    let told = tx.write_rows(&COMMIT_MANY, &args).await?;
    told.into_iter()
        .map(|mut held| {
            let key = (held.uuid()?, held.i64()?);
            Ok((key, (row::unpack(held.i64()?), News::read(&mut held)?)))
        })
        .collect()
}

/// The columns of [`ending::columns`] without a row.
fn no_ends() -> Vec<Arg<'static>> {
    let text = || Arg::Texts(Vec::new());
    vec![Arg::Uuids(Vec::new()), Arg::I64s(Vec::new()), text(), text(), text(), text(), Arg::I64s(Vec::new())]
}
