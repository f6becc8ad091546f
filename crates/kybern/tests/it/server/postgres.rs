//! A database of its own on the PostgreSQL server of the tests, and what is looked at and done beneath a running server.
//! Each statement has a connection and a thread of its own: tests call from within a runtime.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _, ValueRef as _};
use url::Url;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A database; dropped with this value.
pub(crate) struct Database {
    server: Url,
    name: String,
    /// The role that owns it, where that is not the server's superuser.
    owner: Option<String>,
}

impl Database {
    /// An empty database; `None`, said aloud, when there is no server, which is a failure in CI.
    pub(crate) fn create() -> Option<Self> {
        let Some(url) = std::env::var("KYBERN_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty()) else {
            let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!ci, "KYBERN_TEST_POSTGRES_URL is not set: run the tests through `cargo xtask test`");
            eprintln!("skipped: KYBERN_TEST_POSTGRES_URL is not set");
            return None;
        };
        Some(Self::on(Url::parse(&url).unwrap()))
    }

    /// An empty database on that server.
    pub(crate) fn on(server: Url) -> Self {
        let name = format!("kybern_it_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let database = Self { server, name, owner: None };
        let server = database.server.as_str();
        apart(|| run(server, &format!("drop database if exists {} with (force)", database.name), drop));
        apart(|| run(server, &format!("create database {}", database.name), drop));
        database
    }

    /// Makes a role that owns the database and is in no other role; whoever asks for the database from here on is it.
    /// The role goes with the database.
    pub(crate) fn owned_by_a_stranger(mut self) -> Self {
        let owner = format!("{}_owner", self.name);
        self.rows(&format!("CREATE ROLE {owner} LOGIN PASSWORD 'x'; ALTER DATABASE {} OWNER TO {owner}", self.name));
        self.owner = Some(owner);
        self
    }

    /// Lets the owner be the roles that servers of other databases have made, as a superuser does.
    pub(crate) fn grant_roles(&self) {
        let owner = self.owner.as_deref().unwrap();
        apart(|| run(self.server.as_str(), &format!("GRANT kybern_app, kybern_worker TO {owner}"), drop));
    }

    /// The URL of whoever owns it.
    pub(crate) fn url(&self) -> String {
        let mut url = self.server.clone();
        url.set_path(&self.name);
        if let Some(owner) = &self.owner {
            url.set_username(owner).unwrap();
            url.set_password(Some("x")).unwrap();
        }
        url.into()
    }

    /// What a statement finds, each value as text; no value is an empty text.
    pub(crate) fn rows(&self, statement: &str) -> Vec<Vec<String>> {
        apart(|| run(&self.url(), statement, |rows| rows))
    }

    /// Runs a statement in a transaction that stays open.
    pub(crate) fn begin(&self, statement: &str) -> Transaction {
        let (url, statement) = (self.url(), format!("BEGIN; {statement}"));
        let (begins, begun) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            run(&url, &statement, |_| {
                begins.send(()).unwrap();
                // Until nobody holds the transaction.
                ended.recv().ok();
            });
        });
        begun.recv().unwrap();
        Transaction(end)
    }
}

/// A transaction of its own connection; rolled back when it is dropped.
pub(crate) struct Transaction(#[expect(dead_code, reason = "held until it is dropped")] mpsc::Sender<()>);

impl Drop for Database {
    fn drop(&mut self) {
        let server = self.server.clone();
        let database = format!("drop database if exists {} with (force)", self.name);
        let owner = self.owner.take().map(|owner| format!("drop role if exists {owner}"));
        // It also works, or fails in peace, while the test fails.
        let dropping =
            move || std::iter::once(database).chain(owner).for_each(|gone| run(server.as_str(), &gone, drop));
        drop(std::thread::spawn(dropping).join());
    }
}

/// On a thread of its own, which may wait.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// Runs statements on a connection, which lasts until `then` has done with what they found.
fn run<T>(url: &str, statements: &str, then: impl FnOnce(Vec<Vec<String>>) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let found = sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).fetch_all(&mut connection).await;
        then(found.unwrap_or_else(|error| panic!("{statements}: {error}")).iter().map(texts).collect())
    })
}

/// The values of a row as the server writes them.
fn texts(row: &PgRow) -> Vec<String> {
    let text = |column| {
        let value = row.try_get_raw(column).unwrap();
        if value.is_null() { String::new() } else { value.as_str().unwrap().to_owned() }
    };
    (0..row.len()).map(text).collect()
}
