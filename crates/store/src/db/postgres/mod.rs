//! A PostgreSQL server: a pool that runs as a narrow role, writers that group commits, and a listener.

use std::convert::Infallible;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgNotification, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::batch::{Pending, UnitFn, run_batch, run_kept, run_mergeable};
use super::patience::Span;
use super::{Conn, Lane, RowVisibility, StoreShared, Tx};
use crate::error::{Result, StoreError};
use crate::options::PostgresOptions;

/// The channel on which a process says that a task or a job is due.
const DUE: &str = "kybern_due";
/// The channel on which a process says that keys, users or plans have changed.
const KNOWN: &str = "kybern_known";

/// An open pool with its writers.
pub(crate) struct Server {
    pool: PgPool,
    options: PgConnectOptions,
    /// The first is for what is plain.
    lanes: Vec<mpsc::Sender<Box<dyn Pending>>>,
    listener: JoinHandle<()>,
    shared: Arc<StoreShared>,
}

/// Reads a URL.
pub(crate) fn options_of(url: &str) -> Result<PgConnectOptions> {
    let options = PgConnectOptions::from_str(url)?;
    Ok(options.statement_cache_capacity(256).application_name("kybern"))
}

/// A connection of its own as the role that the URL names, for migrations and partitions. The locks of a process that
/// has gone silent in the middle of them are freed as soon as those of the pool.
pub(crate) async fn connect_as_owner(options: &PgConnectOptions) -> Result<PgConnection> {
    let mut owner = PgConnection::connect_with(options).await?;
    if let Err(error) = keep_alive(&mut owner, PostgresOptions::default().statement_timeout).await {
        // The pool warns of it.
        tracing::debug!(%error, "PostgreSQL takes no keepalive settings from the owner's session");
    }
    Ok(owner)
}

impl Server {
    /// Opens the pool and starts writers and listener. The caller has brought the schema up to date.
    pub(crate) async fn open(
        connect: PgConnectOptions,
        options: &PostgresOptions,
        shared: &Arc<StoreShared>,
    ) -> Result<Self> {
        let writers = options.writers.max(1) + 1;
        let least = u32::try_from(writers).unwrap_or(u32::MAX).saturating_add(3);
        let pool = pool_options(options.acquire_timeout, shared)
            .max_connections(options.connections.max(least))
            .connect_with(connect.clone())
            .await?;
        let lanes = (0..writers)
            .map(|lane| {
                let (queue, waiting) = mpsc::channel(options.queue.max(1));
                let writes = if lane == 0 { Writes::Plain } else { Writes::Others };
                start(write(pool.clone(), waiting, writes, options.batch.max(1), Arc::clone(shared)));
                queue
            })
            .collect();
        let listener = start(listen(pool.clone(), connect.clone(), options.acquire_timeout, Arc::clone(shared)));
        Ok(Self { pool, options: connect, lanes, listener, shared: Arc::clone(shared) })
    }

    /// How to reach the server as the role that the URL names.
    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    pub(crate) fn queue(&self, lane: Lane) -> Option<&mpsc::Sender<Box<dyn Pending>>> {
        let (plain, others) = self.lanes.split_first()?;
        let Lane::Of(number) = lane else { return Some(plain) };
        let count = u64::try_from(others.len()).ok().filter(|count| *count > 0)?;
        usize::try_from(number % count).ok().and_then(|at| others.get(at))
    }

    /// A connection outside the lanes.
    pub(crate) async fn tx(&self) -> Result<Tx> {
        Ok(Tx::new(Conn::Postgres(self.pool.acquire().await?), Arc::clone(&self.shared)))
    }

    /// Reads in a transaction of its own.
    pub(crate) async fn read<A, T>(&self, access: RowVisibility, args: &A, run: UnitFn<A, T>) -> Result<T> {
        let mut tx = self.tx().await?;
        let begun = tx.begin_read(access).await;
        if begun.as_ref().is_err_and(StoreError::lost_the_connection) {
            // An idle connection may have died with a restart of the server; one that answers tells.
            drop(tx);
            tx = living(&self.pool, &self.shared).await?;
            tx.begin_read(access).await?;
        } else {
            begun?;
        }
        let answer = run_kept(run, &mut tx, args).await;
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

/// How connections are made, and which are used.
fn pool_options(acquire_timeout: Duration, shared: &Arc<StoreShared>) -> PgPoolOptions {
    let (made, used) = (Arc::clone(shared), Arc::clone(shared));
    PgPoolOptions::new()
        .acquire_timeout(acquire_timeout)
        .test_before_acquire(false)
        .after_connect(move |conn, _| {
            let made = Arc::clone(&made);
            let limit = made.patience.statement();
            Box::pin(async move {
                // From here on nothing runs with the rights of the role in the URL. Every statement goes by an index; a
                // planner that has not seen a table grow yet would read the whole of it each time. A process that is
                // stopped in the middle of a transaction does not keep its rows from the others.
                let settings = format!(
                    "SET ROLE kybern_app; SET enable_seqscan = off; SET enable_hashjoin = off; \
                     SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan; \
                     SET idle_in_transaction_session_timeout = 10000; SET statement_timeout = {}",
                    limit.as_millis()
                );
                sqlx::raw_sql(AssertSqlSafe(settings)).execute(&mut *conn).await?;
                // Not every server can be told so, nor every proxy: then it finds out by its own settings.
                if let Err(error) = keep_alive(&mut *conn, limit).await
                    && !made.cannot_keep_alive.swap(true, Ordering::Relaxed)
                {
                    tracing::warn!(
                        %error,
                        "PostgreSQL takes no keepalive settings from a session: what a process leaves behind when it goes \
                         silent is freed only after the server's own tcp_keepalives_idle; set it there"
                    );
                }
                Ok(())
            })
        })
        .before_acquire(move |_, idle| {
            let is_trusted = used.patience.trusts(idle.age);
            Box::pin(async move { Ok(is_trusted) })
        })
}

/// Lets the server let go of a process that has gone silent: after 25 s of an idle connection (10, and 3 times 5), or
/// when what it sends has not been taken for as long as two statements may last. On our side each statement has a limit.
async fn keep_alive(conn: &mut PgConnection, statement: Duration) -> Result<()> {
    let settings = format!(
        "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; \
         SET tcp_user_timeout = {}",
        2 * statement.as_millis()
    );
    sqlx::raw_sql(AssertSqlSafe(settings)).execute(conn).await?;
    Ok(())
}

/// A connection that answers. Those that lie idle in the pool may have died with a restart of the server, and each that
/// has is let go.
async fn living(pool: &PgPool, shared: &Arc<StoreShared>) -> Result<Tx> {
    // One more than lie idle is made anew; if that does not answer either, whoever waits is told.
    for _ in 0..=pool.num_idle() {
        let mut tx = Tx::new(Conn::Postgres(pool.acquire().await?), Arc::clone(shared));
        if tx.is_alive().await {
            return Ok(tx);
        }
        tx.discard();
    }
    Ok(Tx::new(Conn::Postgres(pool.acquire().await?), Arc::clone(shared)))
}

/// What a writer is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writes {
    Plain,
    Others,
}

/// A connection that has done nothing for longer may have died meanwhile: it is asked before it gets anything.
const IDLE: Duration = Duration::from_secs(1);

/// A writer: takes what has queued up, commits it together, answers each.
async fn write(
    pool: PgPool,
    mut queue: mpsc::Receiver<Box<dyn Pending>>,
    writes: Writes,
    limit: usize,
    shared: Arc<StoreShared>,
) {
    let mut batch = Vec::with_capacity(limit);
    let mut held: Option<(Tx, tokio::time::Instant)> = None;
    while queue.recv_many(&mut batch, limit).await > 0 {
        while !batch.is_empty() {
            if let Some((tx, since)) = &mut held
                && writes == Writes::Plain
                && since.elapsed() > IDLE
                && !tx.is_alive().await
                && let Some((dead, _)) = held.take()
            {
                dead.discard();
            }
            let fresh = held.is_none();
            let mut tx = match held.take() {
                Some((tx, _)) => tx,
                None => match living(&pool, &shared).await {
                    Ok(tx) => tx,
                    Err(error) => {
                        let error = Arc::new(error);
                        batch.drain(..).for_each(|unit| unit.fail(StoreError::Batch(Arc::clone(&error))));
                        continue;
                    }
                },
            };
            let usable = match writes {
                Writes::Plain => run_mergeable(&mut tx, &mut batch, &shared.commits).await,
                Writes::Others => {
                    let mut part = leading(&mut batch);
                    let usable = run_batch(&mut tx, &mut part, |_| {}, &shared.commits, fresh).await;
                    // What was not begun is for the next connection.
                    batch.splice(0..0, part);
                    usable
                }
            };
            if usable {
                held = Some((tx, tokio::time::Instant::now()));
            } else {
                tx.discard();
            }
        }
    }
}

/// The first units that share a transaction. Claims and heartbeats lock rows of many tasks, so they are committed
/// before anything else is asked for.
fn leading(batch: &mut Vec<Box<dyn Pending>>) -> Vec<Box<dyn Pending>> {
    let of_all = |unit: &dyn Pending| unit.access() == RowVisibility::Everyone;
    let first = batch.first().is_some_and(|unit| of_all(unit.as_ref()));
    let end = batch.iter().position(|unit| of_all(unit.as_ref()) != first).unwrap_or(batch.len());
    batch.drain(..end).collect()
}

/// Passes on what other processes say is due.
async fn listen(pool: PgPool, connect: PgConnectOptions, acquire_timeout: Duration, shared: Arc<StoreShared>) {
    let pause = Duration::from_secs(1);
    loop {
        match hear(&connect, acquire_timeout, &shared).await {
            Ok(never) => match never {},
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

/// How long nothing may be heard before the server is asked whether it is there.
const QUIET: Duration = Duration::from_secs(10);

/// Hears on a connection of its own: one that has gone silent takes no place from the others.
async fn hear(connect: &PgConnectOptions, acquire_timeout: Duration, shared: &Arc<StoreShared>) -> Result<Infallible> {
    let own = pool_options(acquire_timeout, shared).max_connections(1).connect_lazy_with(connect.clone());
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen_all([DUE, KNOWN]).await?;
    shared.known.changed();
    let mut silent = false;
    loop {
        let Ok(heard) = tokio::time::timeout(QUIET, listener.try_recv()).await else {
            let asked = sqlx::raw_sql("SELECT 1").execute(&mut listener);
            shared.patience.answered(&mut silent, Span::Short, asked).await?;
            continue;
        };
        let heard = heard?;
        let channel = heard.as_ref().map(PgNotification::channel);
        // A reconnect may have missed hints, so it counts as each.
        if channel != Some(DUE) {
            shared.known.changed();
        }
        if channel != Some(KNOWN) {
            shared.wake.fire();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_server_lets_go_of_a_process_that_goes_silent() {
        let url = std::env::var("KYBERN_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty());
        let Some(url) = url else { return };
        let mut owner = connect_as_owner(&options_of(&url).unwrap()).await.unwrap();
        let mut pooled = PgConnection::connect(&url).await.unwrap();
        keep_alive(&mut pooled, Duration::from_secs(6)).await.unwrap();
        for (setting, expected) in [
            ("tcp_keepalives_idle", "10"),
            ("tcp_keepalives_interval", "5"),
            ("tcp_keepalives_count", "3"),
            ("tcp_user_timeout", "12000"),
        ] {
            for conn in [&mut owner, &mut pooled] {
                let shown: String =
                    sqlx::query_scalar(AssertSqlSafe(format!("SHOW {setting}"))).fetch_one(conn).await.unwrap();
                assert_eq!(shown, expected, "{setting}");
            }
        }
    }

    #[tokio::test]
    async fn a_server_that_takes_no_such_settings_says_so_and_the_session_goes_on() {
        let url = std::env::var("KYBERN_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty());
        let Some(url) = url else { return };
        let mut conn = connect_as_owner(&options_of(&url).unwrap()).await.unwrap();
        // More than fits into the server's setting is refused, as an unknown one is.
        assert!(keep_alive(&mut conn, Duration::from_secs(u64::from(u32::MAX))).await.is_err());
        let answer: i32 = sqlx::query_scalar("SELECT 1").fetch_one(&mut conn).await.unwrap();
        assert_eq!(answer, 1);
    }
}
