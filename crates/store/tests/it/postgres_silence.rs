//! Connections to PostgreSQL that go silent without being closed, as after a failover: they are left, and others used.
#![expect(clippy::disallowed_methods, reason = "the proxy between the store and its database runs beside the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kybern_core::error::ErrorCode;
use kybern_core::ports::{AuditStore as _, TaskStore as _};
use kybern_core::task::CommitRefused;
use kybern_core::time::Millis;
use kybern_store::{PostgresOptions, PostgresStore};
use kybern_testkit::{SimClock, TestKeys};
use sqlx::AssertSqlSafe;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{self, Database};
use crate::work;

/// How long something that must happen may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A way to the server on which connections can go silent.
struct Line {
    /// Connections made before this one are silent.
    silent_before: Arc<AtomicU64>,
    made: Arc<AtomicU64>,
    url: String,
}

impl Line {
    async fn to(database: &Database) -> Self {
        let url = database.url();
        let (scheme, rest) = url.split_once("://").unwrap();
        let (place, name) = rest.split_once('/').unwrap();
        let (user, server) = place.rsplit_once('@').map_or(("", place), |(user, server)| (user, server));
        let server = server.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        let (silent_before, made) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let (silent, count) = (Arc::clone(&silent_before), Arc::clone(&made));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&server).await else { continue };
                let number = count.fetch_add(1, Ordering::SeqCst);
                let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
                tokio::spawn(pass(from_client, to_server, number, Arc::clone(&silent)));
                tokio::spawn(pass(from_server, to_client, number, Arc::clone(&silent)));
            }
        });
        let user = if user.is_empty() { String::new() } else { format!("{user}@") };
        Self { silent_before, made, url: format!("{scheme}://{user}{here}/{name}") }
    }

    async fn store(&self) -> PostgresStore {
        let options =
            PostgresOptions { writers: 2, statement_timeout: Duration::from_millis(900), ..PostgresOptions::default() };
        PostgresStore::connect(&self.url, options, Arc::new(TestKeys::new()), Arc::new(SimClock::new())).await.unwrap()
    }

    /// Every connection of now goes silent; new ones work.
    fn forget(&self) {
        self.silent_before.store(self.made.load(Ordering::SeqCst), Ordering::SeqCst);
    }
}

/// Passes bytes on until the connection is silent; then it stays as it is.
async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    number: u64,
    silent_before: Arc<AtomicU64>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(read) = from.read(&mut bytes).await
        && read > 0
    {
        if number < silent_before.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn connections_that_go_silent_are_left_and_the_store_goes_on() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let line = Line::to(&database).await;
    let store = line.store().await;
    let lease = work::lease(&store, &work::ids(40)).await;
    let everything = async |seq: i64| {
        // A commit of the plain lane, again when nobody knows; another lane; a read; a claim; a heartbeat.
        let commit = Arc::new(work::rows(&[seq]));
        let mut told = store.commit(&lease, Arc::clone(&commit)).await;
        while told.is_err() {
            told = store.commit_again(&lease, Arc::clone(&commit)).await;
        }
        while store.append_audit(work::home(), work::NOW, work::event("test.done")).await.is_err() {}
        while store.heartbeat(std::slice::from_ref(&lease), Millis(60_000), work::NOW).await.is_err() {}
        let rows = loop {
            if let Ok(rows) = store.journal(work::home(), lease.task(), 0, 10).await {
                break rows.len();
            }
        };
        assert_eq!(i64::try_from(rows).unwrap(), seq);
    };
    for seq in 1..=3 {
        let went_on = tokio::time::timeout(PATIENCE, everything(seq)).await;
        assert!(went_on.is_ok(), "it still waits for connections that went silent before row {seq}");
        line.forget();
    }
}

#[tokio::test]
async fn a_statement_whose_answer_never_comes_fails_in_time_and_its_repeat_is_told_whether_it_was_written() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let line = Line::to(&database).await;
    let store = line.store().await;
    let lease = work::lease(&store, &work::ids(41)).await;
    let mut other = database.connect().await;
    let run = |text: String| AssertSqlSafe(text);
    sqlx::raw_sql(run("BEGIN; LOCK TABLE step_row IN SHARE MODE".to_owned())).execute(&mut other).await.unwrap();
    let commit = Arc::new(work::rows(&[1]));
    let silence = async {
        // Once the statement waits in the server, its connection goes silent, and the statement is carried out.
        let waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while sqlx::raw_sql(run(waits.to_owned())).execute(&mut other).await.unwrap().rows_affected() == 0 {
            tokio::task::yield_now().await;
        }
        line.forget();
        sqlx::raw_sql(run("ROLLBACK".to_owned())).execute(&mut other).await.unwrap();
    };
    let asked = futures::future::join(store.commit(&lease, Arc::clone(&commit)), silence);
    let (refused, ()) = tokio::time::timeout(PATIENCE, asked).await.expect("a silent server is not waited for");
    assert!(
        matches!(&refused, Err(CommitRefused::Store(error)) if error.code() == ErrorCode::Unavailable),
        "{refused:?}"
    );
    let again = async {
        loop {
            if let Ok(told) = store.commit_again(&lease, Arc::clone(&commit)).await {
                break told;
            }
        }
    };
    tokio::time::timeout(PATIENCE, again).await.expect("another connection is used");
    let rows = store.journal(work::home(), lease.task(), 0, 10).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [1]);
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_given_up_by_the_server_and_its_connection_stays() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let line = Line::to(&database).await;
    let store = line.store().await;
    let lease = work::lease(&store, &work::ids(42)).await;
    let mut other = database.connect().await;
    sqlx::raw_sql("BEGIN; LOCK TABLE step_row IN SHARE MODE").execute(&mut other).await.unwrap();
    let before = line.made.load(Ordering::SeqCst);
    let commit = Arc::new(work::rows(&[1]));
    let refused = store.commit(&lease, Arc::clone(&commit)).await.unwrap_err();
    assert!(matches!(&refused, CommitRefused::Store(error) if error.code() == ErrorCode::Unavailable), "{refused}");
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    store.commit(&lease, Arc::clone(&commit)).await.unwrap();
    assert_eq!(line.made.load(Ordering::SeqCst), before);
}
