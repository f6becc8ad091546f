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
async fn the_file_of_another_program_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute("CREATE TABLE invoice (id INTEGER PRIMARY KEY AUTOINCREMENT)", []).unwrap();
    assert!(matches!(open(&path).await.unwrap_err(), StoreError::Foreign));
    let tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name <> 'sqlite_sequence'";
    assert_eq!(conn.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    // One that holds nothing is as good as a new one.
    conn.execute("DROP TABLE invoice", []).unwrap();
    drop(conn);
    assert!(open(&path).await.is_ok());
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

/// The migrations of an older program, as it applied them.
const NINE: [(&str, &str); 9] = [
    ("0001_initial", include_str!("../../migrations/sqlite/0001_initial.sql")),
    ("0002_master_key", include_str!("../../migrations/sqlite/0002_master_key.sql")),
    ("0003_ledger", include_str!("../../migrations/sqlite/0003_ledger.sql")),
    ("0004_approvals", include_str!("../../migrations/sqlite/0004_approvals.sql")),
    ("0005_secrets", include_str!("../../migrations/sqlite/0005_secrets.sql")),
    ("0006_model_policy", include_str!("../../migrations/sqlite/0006_model_policy.sql")),
    ("0007_chats", include_str!("../../migrations/sqlite/0007_chats.sql")),
    ("0008_agents", include_str!("../../migrations/sqlite/0008_agents.sql")),
    ("0009_memories", include_str!("../../migrations/sqlite/0009_memories.sql")),
];

#[tokio::test]
async fn rows_of_an_older_file_are_kept_when_their_tables_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch(
        "CREATE TABLE schema_migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, \
         checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
    )
    .unwrap();
    for (version, (name, text)) in (1_i64..).zip(NINE) {
        conn.execute_batch(text).unwrap();
        let checksum = blake3::hash(text.as_bytes()).to_hex().to_string();
        conn.execute("INSERT INTO schema_migration VALUES (?1, ?2, ?3, 0)", (version, name, checksum)).unwrap();
    }
    let id = |n: u8| vec![n; 16];
    conn.execute("INSERT INTO tenant VALUES (?1, 'Acme', 'acme', 0)", [id(1)]).unwrap();
    conn.execute(
        "INSERT INTO task (id, tenant_id, channel, source, status, input, payload, created_by, max_steps, \
         confidence_threshold, trace_id, depth, created_at) \
         VALUES (?1, ?2, 'chat', 'api', 'executing', 'go', '{}', 'u', 50, 0.8, '0', 0, 0)",
        [id(2), id(1)],
    )
    .unwrap();
    conn.execute("INSERT INTO chat VALUES (?1, ?2, NULL, NULL, '', NULL, 0, 0)", [id(1), id(3)]).unwrap();
    conn.execute("INSERT INTO usage_row VALUES (?1, ?2, 3, 'ask', 't.echo', 0, 1, 10, 5, 7, 1000)", (id(1), id(2)))
        .unwrap();
    conn.execute("INSERT INTO turn VALUES (?1, ?2, ?3, ?4, 1)", (id(1), id(2), id(3), id(4))).unwrap();
    drop(conn);
    drop(open(&path).await.unwrap());
    let conn = rusqlite::Connection::open(&path).unwrap();
    let used = conn.query_row("SELECT task_id, seq, tool_key, cost_nanos, at FROM usage_row", [], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    });
    assert_eq!(used.unwrap(), (id(2), 3_i64, "t.echo".to_owned(), 7_i64, 1_000_i64));
    let turn = conn.query_row("SELECT task_id, chat_id, message_id, waits FROM turn", [], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    });
    assert_eq!(turn.unwrap(), (id(2), id(3), id(4), 1_i64));
}
