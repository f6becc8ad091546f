//! Fresh databases for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::FutureExt as _;
use kybern_core::ports::Clock;
use kybern_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use kybern_testkit::conformance::{Harness, Spoilt};
use kybern_testkit::{SimClock, TestKeys};
use sqlx::{Connection as _, PgConnection};

/// A SQLite store in a folder of its own.
pub async fn sqlite(clock: Arc<dyn Clock>) -> (SqliteStore, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    let store = SqliteStore::open(path, SqliteOptions::default(), Arc::new(TestKeys::new()), clock).await.unwrap();
    (store, folder)
}

/// A harness over a fresh SQLite store.
pub async fn sqlite_harness() -> Harness {
    let clock = Arc::new(SimClock::new());
    let (store, folder) = sqlite(clock.clone()).await;
    let path = folder.path().join("kybern.db");
    let spoil = move |spoilt: Spoilt| {
        let conn = rusqlite::Connection::open(&path).unwrap();
        conn.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        // Whoever has the file has the triggers too.
        conn.execute_batch("DROP TRIGGER IF EXISTS audit_event_keeps").unwrap();
        let changed = conn.execute(&spoiling(spoilt.parts(|id| format!("x'{}'", id.simple()))), []).unwrap();
        assert_eq!(changed, 1, "{spoilt:?}");
        std::future::ready(()).boxed()
    };
    Harness::new(Arc::new(store), clock, Arc::new(TestKeys::new()), spoil).keeping(folder)
}

/// The server that tests may use; `None` when there is none, which is a failure in CI.
pub fn server() -> Option<String> {
    let url = std::env::var("KYBERN_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty());
    if url.is_none() {
        assert!(
            std::env::var("CI").map_or(true, |ci| ci != "true"),
            "KYBERN_TEST_POSTGRES_URL is not set: run the tests through `cargo xtask test`"
        );
        eprintln!("skipped: KYBERN_TEST_POSTGRES_URL is not set");
    }
    url
}

/// A database of its own on the test server; dropped with this value.
pub struct Database {
    server: String,
    name: String,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Database {
    /// Creates an empty database.
    pub async fn create(server: &str) -> Self {
        let n = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("kybern_test_{}_{n}", std::process::id());
        let mut conn = PgConnection::connect(server).await.unwrap();
        for text in [format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"), format!("CREATE DATABASE {name}")] {
            sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(&mut conn).await.unwrap();
        }
        Self { server: server.to_owned(), name }
    }

    pub fn url(&self) -> String {
        let (base, _) = self.server.rsplit_once('/').unwrap();
        format!("{base}/{}", self.name)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its URL for another role.
    fn url_as(&self, role: &str, password: &str) -> String {
        let url = self.url();
        let (scheme, rest) = url.split_once("://").unwrap();
        let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
        format!("{scheme}://{role}:{password}@{place}")
    }

    /// A bare connection of another role.
    pub async fn connect_as(&self, role: &str, password: &str) -> PgConnection {
        PgConnection::connect(&self.url_as(role, password)).await.unwrap()
    }

    /// A store of another role.
    pub async fn store_as(&self, role: &str, password: &str, clock: Arc<dyn Clock>) -> PostgresStore {
        let (url, options) = (self.url_as(role, password), PostgresOptions::default());
        PostgresStore::connect(&url, options, Arc::new(TestKeys::new()), clock).await.unwrap()
    }

    /// A bare connection to it.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url()).await.unwrap()
    }

    pub async fn store(&self, clock: Arc<dyn Clock>) -> PostgresStore {
        let options = PostgresOptions { connections: 8, writers: 2, ..PostgresOptions::default() };
        PostgresStore::connect(&self.url(), options, Arc::new(TestKeys::new()), clock).await.unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A runtime of its own, because this one may be ending.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut conn = PgConnection::connect(&server).await.unwrap();
                let text = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                drop(sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(&mut conn).await);
            });
        });
        drop(dropping.join());
    }
}

/// A harness over a fresh PostgreSQL store.
pub async fn postgres_harness(server: &str) -> Harness {
    let database = Database::create(server).await;
    let clock = Arc::new(SimClock::new());
    let keys = Arc::new(TestKeys::new());
    let url = database.url();
    let spoil = move |spoilt: Spoilt| {
        let url = url.clone();
        let spoiling = async move {
            let mut conn = PgConnection::connect(&url).await.unwrap();
            let statement = spoiling(spoilt.parts(|id| format!("'{id}'")));
            let text = format!("SET session_replication_role = replica; {statement}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(&mut conn).await.unwrap();
        };
        spoiling.boxed()
    };
    let harness = Harness::new(Arc::new(database.store(clock.clone()).await), clock, keys, spoil);
    harness.on_database_clock().keeping(database)
}

/// The statement that spoils a row.
fn spoiling((table, broken, place): (&str, String, String)) -> String {
    format!("UPDATE {table} SET {broken} WHERE {place}")
}
