//! Start-up: the lock, migrations, and databases that are not ours.

use std::sync::Arc;

use kybern_core::error::{Error, ErrorCode};
use kybern_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, StoreError};
use kybern_testkit::{SimClock, TestKeys};

use crate::support::{self, Database};

async fn open(path: &std::path::Path) -> Result<SqliteStore, StoreError> {
    let (keys, clock) = (Arc::new(TestKeys::new()), Arc::new(SimClock::new()));
    SqliteStore::open(path, SqliteOptions::default(), keys, clock).await
}

async fn connect(url: &str) -> Result<PostgresStore, StoreError> {
    let (keys, clock) = (Arc::new(TestKeys::new()), Arc::new(SimClock::new()));
    let options = PostgresOptions { connections: 5, writers: 1, ..PostgresOptions::default() };
    PostgresStore::connect(url, options, keys, clock).await
}

#[tokio::test]
async fn a_file_is_opened_again_after_its_store_was_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    for _ in 0..3 {
        drop(open(&path).await.unwrap());
    }
}

#[tokio::test]
async fn a_second_store_on_a_file_is_refused_with_its_holder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    let _first = open(&path).await.unwrap();
    let refused = open(&path).await.unwrap_err();
    assert!(refused.to_string().contains(&std::process::id().to_string()), "{refused}");
    assert_eq!(Error::from(refused).code(), ErrorCode::Unavailable);
}

#[tokio::test]
async fn a_newer_database_is_refused_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    drop(open(&path).await.unwrap());
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute("INSERT INTO schema_migration VALUES (9999, 'later', '', 0)", []).unwrap();
    assert!(matches!(open(&path).await.unwrap_err(), StoreError::Newer { found: 9999, .. }));
}

#[tokio::test]
async fn an_edited_migration_is_refused_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    drop(open(&path).await.unwrap());
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute("UPDATE schema_migration SET checksum = 'x' WHERE version = 1", []).unwrap();
    assert!(matches!(open(&path).await.unwrap_err(), StoreError::EditedMigration { .. }));
}

#[tokio::test]
async fn a_newer_and_an_edited_database_are_refused_on_postgres() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    drop(connect(&database.url()).await.unwrap());
    let mut conn = database.connect().await;
    sqlx::raw_sql("INSERT INTO schema_migration VALUES (9999, 'later', '', 0)").execute(&mut conn).await.unwrap();
    assert!(matches!(connect(&database.url()).await.unwrap_err(), StoreError::Newer { found: 9999, .. }));
    sqlx::raw_sql("DELETE FROM schema_migration WHERE version = 9999; UPDATE schema_migration SET checksum = 'x'")
        .execute(&mut conn)
        .await
        .unwrap();
    assert!(matches!(connect(&database.url()).await.unwrap_err(), StoreError::EditedMigration { .. }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_processes_that_start_together_migrate_once() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let url = database.url();
    let stores = futures::future::join_all((0..8).map(|_| connect(&url))).await;
    assert!(stores.iter().all(Result::is_ok), "{stores:?}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    std::fs::write(&path, "this is a letter, not a database, and it is long enough to be looked at").unwrap();
    assert!(open(&path).await.is_err());
    assert!(open(&folder.path().join("no/such/folder/kybern.db")).await.is_err());
}

#[tokio::test]
async fn a_file_is_opened_only_under_the_master_key_that_it_was_made_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    drop(open(&path).await.unwrap());
    let other = async |adopt_key| {
        let (keys, clock) = (Arc::new(TestKeys::of(7)), Arc::new(SimClock::new()));
        SqliteStore::open(&path, SqliteOptions { adopt_key, ..SqliteOptions::default() }, keys, clock).await
    };
    assert!(matches!(other(false).await.unwrap_err(), StoreError::OtherKey));
    let (keys, clock) = (Arc::new(TestKeys::of(7)), Arc::new(SimClock::new()));
    let archive = folder.path().join("backup.zip");
    let backup = SqliteStore::back_up_file(&path, &archive, None, keys, clock).await;
    assert!(matches!(backup.unwrap_err(), StoreError::OtherKey));
    drop(open(&path).await.unwrap());
    drop(other(true).await.unwrap());
    drop(other(false).await.unwrap());
    assert!(matches!(open(&path).await.unwrap_err(), StoreError::OtherKey));
}

#[tokio::test]
async fn a_postgres_database_is_opened_only_under_its_own_master_key() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    drop(connect(&database.url()).await.unwrap());
    let other = async |adopt_key| {
        let (keys, clock) = (Arc::new(TestKeys::of(7)), Arc::new(SimClock::new()));
        let options = PostgresOptions { connections: 5, writers: 1, adopt_key, ..PostgresOptions::default() };
        PostgresStore::connect(&database.url(), options, keys, clock).await
    };
    assert!(matches!(other(false).await.unwrap_err(), StoreError::OtherKey));
    drop(other(true).await.unwrap());
    assert!(matches!(connect(&database.url()).await.unwrap_err(), StoreError::OtherKey));
}
