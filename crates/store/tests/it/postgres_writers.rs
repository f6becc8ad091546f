//! PostgreSQL's writers among others: a row that somebody else holds, a connection that dies under a statement,
//! connections that died while nobody used them, and servers that take no writes.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::future::{join, join_all};
use kybern_core::error::ErrorCode;
use kybern_core::ports::{AuditStore as _, TaskStore as _};
use kybern_core::task::{CommitRefused, Lease};
use kybern_store::{PostgresStore, StoreError};
use kybern_testkit::SimClock;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::support::{self, Database};
use crate::work;

/// How long something that must happen may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(20);

async fn run(conn: &mut PgConnection, text: impl Into<String>) -> u64 {
    sqlx::raw_sql(AssertSqlSafe(text.into())).execute(conn).await.unwrap().rows_affected()
}

async fn rows_of(store: &PostgresStore, lease: &Lease) -> Vec<i64> {
    store.journal(work::home(), lease.task(), 0, 10).await.unwrap().iter().map(|row| row.seq).collect()
}

#[tokio::test]
async fn a_row_that_another_holds_is_left_alone_and_then_written_alone() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let ids = work::ids(20);
    let (held, free) = (work::lease(&store, &ids).await, work::lease(&store, &ids).await);
    let mut other = database.connect().await;
    run(&mut other, format!("BEGIN; SELECT 1 FROM task WHERE id = '{}' FOR UPDATE", held.task())).await;
    // The runtime has one thread: both have queued up before the writer looks, so it sends them as one statement.
    let mut waiting = pin!(store.commit(&held, work::rows(&[1]).into()));
    let passing = tokio::time::timeout(PATIENCE, store.commit(&free, work::rows(&[1]).into()));
    tokio::select! {
        biased;
        done = &mut waiting => panic!("another holds the row, and yet: {done:?}"),
        done = passing => done.expect("it does not wait for the row of another task").unwrap(),
    };
    assert_eq!((rows_of(&store, &held).await, rows_of(&store, &free).await), (vec![], vec![1]));
    run(&mut other, "ROLLBACK").await;
    waiting.await.unwrap();
    assert_eq!(rows_of(&store, &held).await, [1]);
}

#[tokio::test]
async fn a_statement_is_not_sent_again_when_its_connection_is_lost() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let lease = work::lease(&store, &work::ids(21)).await;
    let (mut holder, mut other) = (database.connect().await, database.connect().await);
    run(&mut holder, "BEGIN; LOCK TABLE step_row IN SHARE MODE").await;
    let losing = async {
        let text = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND \
                    wait_event_type = 'Lock'";
        while run(&mut other, text).await == 0 {
            tokio::task::yield_now().await;
        }
        // From here on a statement that came again would be carried out.
        run(&mut holder, "ROLLBACK").await;
    };
    let (written, ()) = join(store.commit(&lease, work::rows(&[1]).into()), losing).await;
    // Whether the first was written the store cannot know, so it says that it failed and leaves the rest to the caller.
    assert!(
        matches!(&written, Err(CommitRefused::Store(error)) if error.code() == ErrorCode::Unavailable),
        "{written:?}"
    );
    assert_eq!(rows_of(&store, &lease).await, [0_i64; 0]);
    store.commit(&lease, work::rows(&[2]).into()).await.unwrap();
    assert_eq!(rows_of(&store, &lease).await, [2]);
}

/// Ends every connection of the store, and lets so much time pass that none counts as just used.
async fn lose_all(conn: &mut PgConnection) {
    let text = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND \
                pid <> pg_backend_pid()";
    assert!(run(conn, text).await > 0);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn what_died_while_it_was_idle_costs_no_write_and_no_read() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let lease = work::lease(&store, &work::ids(22)).await;
    let mut other = database.connect().await;
    for seq in 1..=3 {
        store.commit(&lease, work::rows(&[seq]).into()).await.unwrap();
        // Several reads at once leave several connections idle in the pool; the write gives them time to get there.
        join_all((0..4).map(|_| rows_of(&store, &lease))).await;
        store.append_audit(work::home(), work::NOW, work::event("test.done")).await.unwrap();
        lose_all(&mut other).await;
        match seq {
            1 => {}
            2 => store.append_audit(work::home(), work::NOW, work::event("test.done")).await.unwrap(),
            _last => assert_eq!(rows_of(&store, &lease).await, [1, 2, 3]),
        }
    }
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_unavailable_and_its_connections_are_made_anew() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let lease = work::lease(&store, &work::ids(24)).await;
    let (commit, mut other) = (Arc::new(work::rows(&[1])), database.connect().await);
    // As after a failover: whoever connects from here on finds a server that is read-only.
    run(&mut other, format!("ALTER DATABASE {} SET default_transaction_read_only = on", database.name())).await;
    lose_all(&mut other).await;
    for _ in 0..3 {
        // Several reads at once leave several connections idle in the pool.
        join_all((0..4).map(|_| rows_of(&store, &lease))).await;
        let refused = store.commit_again(&lease, Arc::clone(&commit)).await.unwrap_err();
        assert!(
            matches!(&refused, CommitRefused::Store(error) if error.code() == ErrorCode::Unavailable),
            "{refused:?}"
        );
        let refused = store.append_audit(work::home(), work::NOW, work::event("test.done")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Unavailable, "{refused:?}");
    }
    join_all((0..4).map(|_| rows_of(&store, &lease))).await;
    // Its sessions stay read-only; those that are made from here on are not.
    let text = format!("SET default_transaction_read_only = off; ALTER DATABASE {} RESET ALL", database.name());
    run(&mut other, text).await;
    // A first write may still find the last of the old connections; what follows does not.
    if let Err(refused) = store.commit_again(&lease, Arc::clone(&commit)).await {
        assert!(matches!(&refused, CommitRefused::Store(error) if error.code() == ErrorCode::Unavailable));
        store.commit_again(&lease, commit).await.unwrap();
    }
    store.append_audit(work::home(), work::NOW, work::event("test.done")).await.unwrap();
    assert_eq!(rows_of(&store, &lease).await, [1]);
}

#[tokio::test]
async fn who_is_put_out_by_the_server_has_lost_a_session_and_who_asks_for_nonsense_is_at_fault() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let code = |answer: sqlx::Result<sqlx::postgres::PgQueryResult>| {
        let error = answer.unwrap_err();
        let state = error.as_database_error().and_then(|told| told.code()).map(std::borrow::Cow::into_owned);
        (state.unwrap_or_default(), StoreError::from(error).code())
    };
    let ask = async |conn: &mut PgConnection, text: &'static str| code(sqlx::raw_sql(text).execute(conn).await);
    let mut idle = database.connect().await;
    run(&mut idle, "SET idle_in_transaction_session_timeout = '1ms'; BEGIN").await;
    let mut other = database.connect().await;
    let gone = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
    while sqlx::query_scalar::<_, i64>(gone).fetch_one(&mut other).await.unwrap() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(ask(&mut idle, "SELECT 1").await, ("25P03".to_owned(), ErrorCode::Unavailable));
    let url = database.url();
    let unknown = PgConnection::connect(&format!("{url}_that_is_not_there")).await.unwrap_err();
    assert_eq!(StoreError::from(unknown).code(), ErrorCode::Unavailable, "as while it is restored");
    for (text, state) in [
        ("SELECT 1 FROM nothing", "42P01"),
        ("SET ROLE kybern_app; SELECT * FROM pg_authid", "42501"),
        ("BEGIN; SELECT 1 / 0", "22012"),
        ("SELECT 1", "25P02"),
    ] {
        assert_eq!(ask(&mut other, text).await, (state.to_owned(), ErrorCode::Internal), "{text}");
    }
}

/// A reader whose client goes away is dropped wherever it happens to wait.
#[tokio::test]
async fn a_reader_that_is_dropped_half_way_leaves_no_transaction_open() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let lease = work::lease(&store, &work::ids(23)).await;
    let mut other = database.connect().await;
    let mut ended = false;
    for polls in 1..200_u32 {
        let read = after_waits(polls, store.journal(work::home(), lease.task(), 0, 10)).await;
        if let Some(read) = read {
            read.unwrap();
            ended = true;
            break;
        }
        nothing_stays_open(&mut other, polls).await;
    }
    assert!(ended, "the last reader is given the time that it needs");
}

/// Gives a future up when it would wait for the n-th time.
async fn after_waits<T>(waits: u32, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut left = waits;
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => {
            left -= 1;
            if left == 0 { Poll::Ready(None) } else { Poll::Pending }
        }
    })
    .await
}

/// Waits until no transaction is open; a connection that is being closed may be seen for a moment longer.
async fn nothing_stays_open(conn: &mut PgConnection, polls: u32) {
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                AND state LIKE 'idle in transaction%'";
    for _ in 0..100 {
        let seen: i64 = sqlx::query_scalar(open).fetch_one(&mut *conn).await.unwrap();
        if seen == 0 {
            return;
        }
        let _ = tokio::time::timeout(Duration::from_millis(20), std::future::pending::<()>()).await;
    }
    panic!("the reader that was dropped at its wait number {polls} left a transaction open");
}
