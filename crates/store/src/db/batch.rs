//! Units of work, and how a batch of them shares one commit.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use super::{RowVisibility, Tx};
use crate::error::{Result, StoreError};
use crate::tasks;

/// What a unit does. It may run more than once, each time in a fresh transaction, so it borrows its arguments.
pub(crate) type UnitFn<A, T> = for<'a> fn(&'a mut Tx, &'a A) -> BoxFuture<'a, Result<T>>;

/// How often a unit is tried when others are faster.
const TRIES: u32 = 5;

/// How a unit went, as far as its neighbours are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnitOutcome {
    /// It wrote what it had to, or refused and wrote nothing.
    Committable,
    /// It failed half-way: the transaction it ran in must not be committed.
    Failed {
        /// Whether it may do better when it runs again.
        again: bool,
        /// Whether the connection cannot be used again.
        lost: bool,
    },
}

/// A queued unit.
#[async_trait]
pub(crate) trait Pending: Send {
    /// What it may see.
    fn access(&self) -> RowVisibility;
    /// Its arguments, for those who can run several units as one.
    fn args(&self) -> &dyn Any;
    /// Takes an answer of the unit's own type from whoever ran it with others.
    fn set_answer(&mut self, answer: Box<dyn Any + Send>);
    /// Whether it has been settled so.
    fn is_settled(&self) -> bool;
    /// Runs it and keeps its answer.
    async fn run(&mut self, tx: &mut Tx) -> UnitOutcome;
    /// Gives the answer; only after the commit.
    fn answer(self: Box<Self>);
    /// Gives an error instead.
    fn fail(self: Box<Self>, error: StoreError);
}

/// A unit with its arguments and the place where its answer is waited for.
pub(crate) struct Unit<A, T> {
    access: RowVisibility,
    args: A,
    run: UnitFn<A, T>,
    answer: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<A, T> Unit<A, T> {
    pub(crate) fn new(access: RowVisibility, args: A, run: UnitFn<A, T>) -> (Box<Self>, oneshot::Receiver<Result<T>>) {
        let (reply, receiver) = oneshot::channel();
        (Box::new(Self { access, args, run, answer: None, reply }), receiver)
    }
}

#[async_trait]
impl<A: Send + Sync + 'static, T: Send + 'static> Pending for Unit<A, T> {
    fn access(&self) -> RowVisibility {
        self.access
    }

    fn args(&self) -> &dyn Any {
        &self.args
    }

    fn set_answer(&mut self, answer: Box<dyn Any + Send>) {
        self.answer = answer.downcast().ok().map(|answer| *answer);
    }

    fn is_settled(&self) -> bool {
        self.answer.is_some()
    }

    async fn run(&mut self, tx: &mut Tx) -> UnitOutcome {
        let _: bool = tx.take_wrote();
        let answer = match tx.enter(self.access).await {
            Ok(()) => run_kept(self.run, tx, &self.args).await,
            Err(error) => Err(error),
        };
        let went = match &answer {
            Ok(_) => UnitOutcome::Committable,
            Err(StoreError::Sqlite(_) | StoreError::Postgres(_) | StoreError::Silent(_)) => {
                let is = |what: fn(&StoreError) -> bool| answer.as_ref().err().is_some_and(what);
                UnitOutcome::Failed { again: is(StoreError::lost_a_race), lost: is(StoreError::lost_the_connection) }
            }
            Err(StoreError::Panicked) => UnitOutcome::Failed { again: false, lost: false },
            Err(_) if tx.take_wrote() => UnitOutcome::Failed { again: false, lost: false },
            Err(_) => UnitOutcome::Committable,
        };
        self.answer = Some(answer);
        went
    }

    fn answer(self: Box<Self>) {
        let answer = self.answer.unwrap_or(Err(StoreError::Closed));
        // Whoever asked may be gone by now; the work is done all the same.
        drop(self.reply.send(answer));
    }

    fn fail(self: Box<Self>, error: StoreError) {
        drop(self.reply.send(Err(error)));
    }
}

/// Runs what a unit does. A panic is its own failure: whoever writes next has the same writer and connection.
pub(crate) async fn run_kept<A, T>(run: UnitFn<A, T>, tx: &mut Tx, args: &A) -> Result<T> {
    // What it left half-way is rolled back, so nothing broken is seen afterwards.
    AssertUnwindSafe(run(tx, args)).catch_unwind().await.unwrap_or(Err(StoreError::Panicked))
}

/// Takes what has queued up, until the batch has so many units.
pub(crate) fn drain(queue: &mut mpsc::Receiver<Box<dyn Pending>>, batch: &mut Vec<Box<dyn Pending>>, limit: usize) {
    while batch.len() < limit
        && let Ok(unit) = queue.try_recv()
    {
        batch.push(unit);
    }
}

/// Runs a batch in one transaction, and what `more` adds while it runs: a commit costs the same for one unit as for
/// many, and those who were answered by the last one come back while this one runs. When a unit fails half-way
/// everything is rolled back and each runs alone, so that one bad unit cannot hurt its neighbours. Answers are given
/// after the commit only.
///
/// Returns whether the connection can be used again. A connection that is not `fresh` may have died, or its server may
/// have become read-only, while it was idle; then nothing is written, and the batch is left for a fresh one.
pub(crate) async fn run_batch(
    tx: &mut Tx,
    batch: &mut Vec<Box<dyn Pending>>,
    mut more: impl FnMut(&mut Vec<Box<dyn Pending>>),
    commits: &AtomicU64,
    fresh: bool,
) -> bool {
    let Some(access) = batch.first().map(|unit| unit.access()) else { return true };
    if let Err(error) = tx.begin(access).await {
        if !fresh && error.lost_the_connection() {
            return false;
        }
        return give_up(tx, batch, error).await;
    }
    let mut ran = 0;
    let went = loop {
        let Some(units) = batch.get_mut(ran..).filter(|units| !units.is_empty()) else {
            break UnitOutcome::Committable;
        };
        ran += units.len();
        let went = run_all(tx, units).await;
        if went != UnitOutcome::Committable {
            break went;
        }
        more(batch);
    };
    match went {
        UnitOutcome::Committable => {
            return match tx.commit().await {
                Ok(()) => {
                    commits.fetch_add(1, Ordering::Relaxed);
                    batch.drain(..).for_each(|unit| unit.answer());
                    true
                }
                Err(error) => give_up(tx, batch, error).await,
            };
        }
        UnitOutcome::Failed { lost: true, .. } if !fresh => return false,
        UnitOutcome::Failed { .. } => {}
    }
    if let Err(error) = tx.roll_back().await {
        return give_up(tx, batch, error).await;
    }
    let mut usable = true;
    for unit in batch.drain(..) {
        if usable {
            usable = run_alone(tx, unit, commits).await;
        } else {
            unit.fail(StoreError::Closed);
        }
    }
    usable
}

/// Merges similar commits: one statement, and one transaction, for each tenant. Units that cannot be merged run alone.
/// PostgreSQL only. Returns whether the connection can be used again.
pub(crate) async fn run_mergeable(tx: &mut Tx, batch: &mut Vec<Box<dyn Pending>>, commits: &AtomicU64) -> bool {
    sort_by_tenant(batch);
    let mut alone = Vec::new();
    while let Some(access) = batch.first().map(|unit| unit.access()) {
        let end = batch.iter().position(|unit| unit.access() != access).unwrap_or(batch.len());
        let mut units: Vec<Box<dyn Pending>> = batch.drain(..end).collect();
        match tasks::write_at_once(tx, &mut units).await {
            Ok(()) => {
                let (settled, rest): (Vec<_>, Vec<_>) = units.into_iter().partition(|unit| unit.is_settled());
                commits.fetch_add(u64::from(!settled.is_empty()), Ordering::Relaxed);
                settled.into_iter().for_each(|unit| unit.answer());
                alone.extend(rest);
            }
            // Whether it was written nobody knows, so it is not written again.
            Err(error) if error.lost_the_connection() => {
                let usable = give_up(tx, &mut units, error).await;
                batch.drain(..).chain(alone).for_each(|unit| unit.fail(StoreError::Closed));
                return usable;
            }
            // Nothing was written. Each finds out for itself what is wrong with it.
            Err(_) => alone.extend(units),
        }
    }
    let mut usable = true;
    for unit in alone {
        if usable {
            usable = run_alone(tx, unit, commits).await;
        } else {
            unit.fail(StoreError::Closed);
        }
    }
    usable
}

/// One tenant after the other; units of one tenant stay in order, so units of one task do too.
fn sort_by_tenant(batch: &mut [Box<dyn Pending>]) {
    batch.sort_by_key(|unit| match unit.access() {
        RowVisibility::Tenant(scope) => Some(scope.tenant()),
        RowVisibility::Everyone => None,
    });
}

/// Runs all units in the transaction that has begun, until one goes badly: then it must not be committed.
async fn run_all(tx: &mut Tx, batch: &mut [Box<dyn Pending>]) -> UnitOutcome {
    if tx.is_postgres() {
        sort_by_tenant(batch);
    }
    for unit in batch.iter_mut() {
        let went = unit.run(tx).await;
        if went != UnitOutcome::Committable {
            return went;
        }
    }
    UnitOutcome::Committable
}

/// Runs one unit in its own transaction, again when others were faster.
async fn run_alone(tx: &mut Tx, mut unit: Box<dyn Pending>, commits: &AtomicU64) -> bool {
    for attempt in 1..=TRIES {
        if let Err(error) = tx.begin(unit.access()).await {
            let usable = !error.lost_the_connection() && tx.roll_back().await.is_ok();
            unit.fail(error);
            return usable;
        }
        match unit.run(tx).await {
            UnitOutcome::Committable => {
                let committed = tx.commit().await;
                return match committed {
                    Ok(()) => {
                        commits.fetch_add(1, Ordering::Relaxed);
                        unit.answer();
                        true
                    }
                    Err(error) => {
                        let usable = !error.lost_the_connection() && tx.roll_back().await.is_ok();
                        unit.fail(error);
                        usable
                    }
                };
            }
            UnitOutcome::Failed { again, lost } => {
                if lost || tx.roll_back().await.is_err() {
                    unit.answer();
                    return false;
                }
                if !again || attempt == TRIES {
                    unit.answer();
                    return true;
                }
            }
        }
    }
    true
}

/// Answers the whole batch with the same failure: nothing of it was acknowledged.
async fn give_up(tx: &mut Tx, batch: &mut Vec<Box<dyn Pending>>, error: StoreError) -> bool {
    tracing::warn!(error = &error as &dyn std::error::Error, units = batch.len(), "a batch could not be committed");
    let usable = !error.lost_the_connection() && tx.roll_back().await.is_ok();
    let shared = std::sync::Arc::new(error);
    batch.drain(..).for_each(|unit| unit.fail(StoreError::Batch(std::sync::Arc::clone(&shared))));
    usable
}
