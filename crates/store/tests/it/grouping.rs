//! Many writers, one commit; and a bad one among them hurts nobody.

use std::sync::Arc;

use futures::future::join_all;
use kybern_core::error::ErrorCode;
use kybern_core::ports::{AuditStore as _, Store, TaskStore as _};
use kybern_core::task::CommitRefused;
use kybern_store::{SqliteOptions, SqliteStore};
use kybern_testkit::{SimClock, TestKeys};

use crate::support::{self, Database};
use crate::work;

/// Good commits and, between them, commits that break a constraint in the middle of their own transaction.
async fn neighbours(store: Arc<dyn Store>) {
    let ids = work::ids(1);
    let mut leases = Vec::new();
    for _ in 0..60 {
        leases.push(work::lease(&*store, &ids).await);
    }
    let outcomes = join_all(leases.iter().enumerate().map(|(n, lease)| {
        let store = Arc::clone(&store);
        async move {
            // The second row has the number of the first: the statement fails after one row was written.
            let commit = if n % 7 == 3 { work::rows(&[1, 1]) } else { work::rows(&[1, 2]) };
            store.commit(lease, commit.into()).await
        }
    }))
    .await;
    for (n, (lease, outcome)) in leases.iter().zip(outcomes).enumerate() {
        let journal = store.journal(work::home(), lease.task(), 0, 10).await.unwrap();
        if n % 7 == 3 {
            let refused = outcome.unwrap_err();
            assert!(
                matches!(&refused, CommitRefused::Store(error) if error.code() == ErrorCode::Conflict),
                "{refused}"
            );
            assert!(journal.is_empty(), "commit {n} was refused, and yet it wrote");
        } else {
            outcome.unwrap();
            assert_eq!(journal.len(), 2, "commit {n} was acknowledged, and yet it is not there");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_unit_does_not_hurt_its_neighbours_on_sqlite() {
    let (store, _folder) = support::sqlite(Arc::new(SimClock::new())).await;
    neighbours(Arc::new(store)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_unit_does_not_hurt_its_neighbours_on_postgres() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    neighbours(Arc::new(database.store(Arc::new(SimClock::new())).await)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_writers_share_a_commit() {
    let (store, _folder) = support::sqlite(Arc::new(SimClock::new())).await;
    let before = store.commits();
    join_all((0..200).map(|_| store.append_audit(work::home(), work::NOW, work::event("test.done")))).await;
    assert!(store.commits() - before < 100, "200 writes took {} commits", store.commits() - before);
    assert_eq!(store.audit_head(work::home()).await.unwrap().map(|(seq, _)| seq), Some(200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_and_loses_nothing_that_was_taken() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { queue: 4, ..SqliteOptions::default() };
    let path = folder.path().join("kybern.db");
    let clock = Arc::new(SimClock::new());
    let store = SqliteStore::open(path, options, Arc::new(TestKeys::new()), clock).await.unwrap();
    let written =
        join_all((0..500).map(|_| store.append_audit(work::home(), work::NOW, work::event("test.done")))).await;
    let refused: Vec<_> = written.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(!refused.is_empty(), "five hundred writes at once fit a queue of four");
    assert!(refused.iter().all(|error| error.code() == ErrorCode::Unavailable));
    let kept = i64::try_from(written.iter().filter(|outcome| outcome.is_ok()).count()).unwrap();
    assert_eq!(store.audit_head(work::home()).await.unwrap().map(|(seq, _)| seq), Some(kept));
}

#[tokio::test]
async fn a_read_only_connection_cannot_write() {
    let (store, folder) = support::sqlite(Arc::new(SimClock::new())).await;
    let ids = work::ids(2);
    let lease = work::lease(&store, &ids).await;
    assert!(store.task(work::home(), lease.task()).await.unwrap().is_some());
    let conn = rusqlite::Connection::open(folder.path().join("kybern.db")).unwrap();
    let changed = conn.execute("UPDATE audit_event SET body = '{}'", []);
    assert!(changed.is_ok_and(|rows| rows == 0));
    store.append_audit(work::home(), work::NOW, work::event("test.done")).await.unwrap();
    for text in ["UPDATE audit_event SET body = '{}'", "DELETE FROM audit_event"] {
        assert!(conn.execute(text, []).unwrap_err().to_string().contains("audit events are never"));
    }
}
