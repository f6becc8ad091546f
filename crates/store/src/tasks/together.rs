//! What many tasks write, in one statement for all that is plain: new tasks, steps that append rows, ends. PostgreSQL
//! only: there each statement is a round trip.

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
    WRITE_MANY = postgres "task_write_many";
}

/// What can follow the statement in its transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Follows {
    /// Nothing: the statement is the transaction. Ends of which somebody is to be told, and tasks that wait for a
    /// worker, are left alone.
    Nothing,
    /// Telling parents, webhooks and workers.
    News,
}

/// Settles the plain units of one tenant inside a transaction.
///
/// # Errors
/// When the statement failed; then each unit has to run alone.
pub(crate) async fn write_together(tx: &mut Tx, units: &mut [Box<dyn Pending>]) -> Result<()> {
    let Some(Access::Tenant(scope)) = units.first().map(|unit| unit.access()) else { return Ok(()) };
    let plain = Plain::of(tx, units, Follows::News);
    // With fewer there is nothing to gain.
    if plain.count() < 2 {
        return Ok(());
    }
    tx.enter(Access::Tenant(scope)).await?;
    write(tx, scope, units, &plain, Follows::News).await
}

/// Settles what is plain without a transaction around it: one round trip instead of three. It is committed then. All
/// units are one tenant's.
///
/// # Errors
/// When the statement failed; nothing has been written then, unless the connection was lost.
pub(crate) async fn write_at_once(tx: &mut Tx, units: &mut [Box<dyn Pending>]) -> Result<()> {
    let Some(Access::Tenant(scope)) = units.first().map(|unit| unit.access()) else { return Ok(()) };
    let plain = Plain::of(tx, units, Follows::Nothing);
    if plain.count() == 0 {
        return Ok(());
    }
    tx.stay(scope).await?;
    write(tx, scope, units, &plain, Follows::Nothing).await
}

/// The places of the plain units.
struct Plain {
    new: Vec<usize>,
    commits: Vec<usize>,
}

impl Plain {
    fn of(tx: &Tx, units: &[Box<dyn Pending>], follows: Follows) -> Self {
        let starts = |new: &Submission| new.is_plain(tx) && (follows == Follows::News || new.is_claimed());
        Self { new: places(units, starts), commits: places(units, Prepared::is_plain) }
    }

    fn count(&self) -> usize {
        self.new.len() + self.commits.len()
    }
}

async fn write(
    tx: &mut Tx,
    scope: TenantScope,
    units: &mut [Box<dyn Pending>],
    plain: &Plain,
    follows: Follows,
) -> Result<()> {
    let mut told = {
        let new: Vec<&Submission> = plain.new.iter().filter_map(|at| of(units, *at)).collect();
        let commits: Vec<&Prepared> = plain.commits.iter().filter_map(|at| of(units, *at)).collect();
        ask(tx, scope, &new, &commits, follows).await?
    };
    for at in plain.new.iter().copied() {
        let Some(submission) = of::<Submission>(units, at) else { continue };
        let answer: Result<Submitted> = Ok(submit::stored(tx, submission));
        settle(units, at, answer);
    }
    for at in plain.commits.iter().copied() {
        let Some(commit) = of::<Prepared>(units, at) else { continue };
        let answer = match told.remove(&(commit.lease.task().as_uuid(), commit.lease.epoch())) {
            Some((committed, news)) => {
                if let (Some(end), Follows::News) = (commit.ending(), follows) {
                    ending::tell(tx, commit, end, news).await?;
                }
                Ok(committed)
            }
            // It may have been left alone.
            None if commit.ending().is_some() && follows == Follows::Nothing => continue,
            None => Err(StoreError::Fenced),
        };
        settle(units, at, answer);
    }
    Ok(())
}

type Told = HashMap<(Uuid, i64), (Committed, News)>;

async fn ask(
    tx: &mut Tx,
    scope: TenantScope,
    new: &[&Submission],
    commits: &[&Prepared],
    follows: Follows,
) -> Result<Told> {
    let tenant = scope.tenant().as_uuid();
    let going_on = commits.iter().filter(|commit| commit.ending().is_none());
    let going_on = going_on.map(|commit| Some(commit.lease.task().as_uuid())).collect();
    let ends = commits.iter().filter_map(|commit| commit.ending().map(|end| ending::columns(commit, end)));
    let rows = commits.iter().flat_map(|commit| commit.rows.iter().map(move |row| (&commit.lease, row)));
    let rows = rows.map(|(lease, row)| {
        let [task, seq, tenant, kind, status, step, tool, at, body] = row.args(tenant, lease.task().as_uuid());
        [task, seq, tenant, kind, status, step, tool, at, body, lease.epoch().into()]
    });
    let new = new.iter().map(|submission| submission.args());
    let mut args = vec![scope.into(), Arg::from(i64::from(follows == Follows::News)), Arg::Uuids(going_on)];
    args.extend(columns("uitttti", ends)?);
    args.extend(columns("uiuttttiti", rows)?);
    args.extend(columns("uutttttttutitifitutiiitiiutf", new)?);
    let told = tx.write_rows(&WRITE_MANY, &args).await?;
    told.into_iter()
        .map(|mut held| {
            let key = (held.uuid()?, held.i64()?);
            Ok((key, (row::unpack(held.i64()?), News::read(&mut held)?)))
        })
        .collect()
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
        unit.settle(Box::new(answer));
    }
}
