//! A PostgreSQL server: a pool that runs as a narrow role, writers that group commits, and a listener.

use std::str::FromStr as _;
use std::sync::Arc;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, PgPool};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::batch::{Pending, Run, drain, run_batch};
use super::{Access, Conn, Shared, Tx};
use crate::error::{Result, StoreError};
use crate::options::PostgresOptions;

/// An open pool with its writers.
pub(crate) struct Server {
    pool: PgPool,
    options: PgConnectOptions,
    lanes: Vec<mpsc::Sender<Box<dyn Pending>>>,
    listener: JoinHandle<()>,
    shared: Arc<Shared>,
}

/// Reads a URL.
pub(crate) fn options_of(url: &str) -> Result<PgConnectOptions> {
    let options = PgConnectOptions::from_str(url)?;
    Ok(options.statement_cache_capacity(256).application_name("kybern"))
}

/// A connection of its own as the role that the URL names, for migrations and partitions.
pub(crate) async fn connect_as_owner(options: &PgConnectOptions) -> Result<PgConnection> {
    Ok(PgConnection::connect_with(options).await?)
}

impl Server {
    /// Opens the pool and starts writers and listener. The caller has brought the schema up to date.
    pub(crate) async fn open(
        connect: PgConnectOptions,
        options: &PostgresOptions,
        shared: &Arc<Shared>,
    ) -> Result<Self> {
        let writers = options.writers.max(1);
        let least = u32::try_from(writers).unwrap_or(u32::MAX).saturating_add(3);
        let pool = PgPoolOptions::new()
            .max_connections(options.connections.max(least))
            .acquire_timeout(options.acquire_timeout)
            .test_before_acquire(false)
            .after_connect(|conn, _| {
                Box::pin(async move {
                    // From here on nothing runs with the rights of the role in the URL.
                    sqlx::raw_sql("SET ROLE kybern_app").execute(&mut *conn).await.map(|_| ())
                })
            })
            .connect_with(connect.clone())
            .await?;
        let lanes = (0..writers)
            .map(|_| {
                let (queue, waiting) = mpsc::channel(options.queue.max(1));
                start(write(pool.clone(), waiting, options.batch.max(1), Arc::clone(shared)));
                queue
            })
            .collect();
        let listener = start(listen(pool.clone(), Arc::clone(shared)));
        Ok(Self { pool, options: connect, lanes, listener, shared: Arc::clone(shared) })
    }

    /// How to reach the server as the role that the URL names.
    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// The queue of a lane. Units of one lane stay in order.
    pub(crate) fn queue(&self, lane: u64) -> Option<&mpsc::Sender<Box<dyn Pending>>> {
        let lanes = u64::try_from(self.lanes.len()).unwrap_or(1).max(1);
        usize::try_from(lane % lanes).ok().and_then(|at| self.lanes.get(at))
    }

    /// A connection outside the lanes.
    pub(crate) async fn tx(&self) -> Result<Tx> {
        Ok(Tx::new(Conn::Postgres(self.pool.acquire().await?), Arc::clone(&self.shared)))
    }

    /// Reads in a transaction of its own.
    pub(crate) async fn read<A, T>(&self, access: Access, args: &A, run: Run<A, T>) -> Result<T> {
        let mut tx = self.tx().await?;
        let begun = tx.begin_read(access).await;
        if begun.as_ref().is_err_and(StoreError::lost_the_connection) {
            // An idle connection may have died with a restart of the server; a fresh one tells.
            drop(tx);
            tx = self.tx().await?;
            tx.begin_read(access).await?;
        } else {
            begun?;
        }
        let answer = run(&mut tx, args).await;
        tx.commit().await?;
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "writers end with their queues, the listener is aborted by the server's drop"
)]
fn start(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(work)
}

/// A writer: takes what has queued up, commits it together, answers each.
async fn write(pool: PgPool, mut queue: mpsc::Receiver<Box<dyn Pending>>, limit: usize, shared: Arc<Shared>) {
    let mut batch = Vec::with_capacity(limit);
    let mut held: Option<Tx> = None;
    while queue.recv_many(&mut batch, limit).await > 0 {
        while !batch.is_empty() {
            let fresh = held.is_none();
            let mut tx = match held.take() {
                Some(tx) => tx,
                None => match pool.acquire().await {
                    Ok(conn) => Tx::new(Conn::Postgres(conn), Arc::clone(&shared)),
                    Err(error) => {
                        let error = Arc::new(StoreError::Postgres(error));
                        batch.drain(..).for_each(|unit| unit.fail(StoreError::Batch(Arc::clone(&error))));
                        continue;
                    }
                },
            };
            let more = |batch: &mut Vec<_>| drain(&mut queue, batch, limit);
            if run_batch(&mut tx, &mut batch, more, &shared.commits, fresh).await {
                held = Some(tx);
            } else {
                tx.discard();
            }
        }
    }
}

/// Passes on what other processes say is due.
async fn listen(pool: PgPool, shared: Arc<Shared>) {
    let pause = tokio::time::Duration::from_secs(1);
    loop {
        match hear(&pool, &shared).await {
            Ok(()) => return,
            Err(error) => {
                tracing::warn!(%error, "wake-ups are not heard for the moment; workers poll");
                // No test depends on the length of this pause, and simulated time has no PostgreSQL.
                drop(tokio::time::timeout(pause, std::future::pending::<()>()).await);
            }
        }
        if pool.is_closed() {
            return;
        }
    }
}

async fn hear(pool: &PgPool, shared: &Shared) -> sqlx::Result<()> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen("kybern_due").await?;
    loop {
        // A reconnect may have missed hints, so it counts as one.
        drop(listener.try_recv().await?);
        shared.wake.fire();
    }
}
