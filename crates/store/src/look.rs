//! A look at a database, perhaps one that another program has written. Nothing is made, locked, migrated or written.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::identity::Tenant;
use kybern_core::ports::{Clock, Keys, UnreadableRow};
use sqlx::postgres::PgConnectOptions;

use crate::db::{Conn, StoreShared, Tx, postgres, sqlite};
use crate::error::{Result, StoreError};
use crate::migrate::{self, KeyProof, Schema};
use crate::options::PostgresOptions;
use crate::store::{Postgres, SqlStore, Sqlite};
use crate::{archive, identity, jobs, tasks};

/// What a database is found to be.
#[derive(Debug)]
pub enum DatabaseState {
    /// It has no schema: the next start makes it.
    Empty,
    /// An older program wrote it.
    Older {
        /// How many migrations the next start applies.
        migrations: usize,
    },
    /// It has the schema of this program, and was made under this master key.
    Present(DatabaseContents),
}

/// What is in a database.
#[derive(Debug)]
pub struct DatabaseContents {
    /// How many tasks there are.
    pub tasks: i64,
    /// How many jobs were given up.
    pub dead_jobs: i64,
    pub tenants: Vec<Tenant>,
    /// The first rows of each table that this program cannot read; why they cannot be looked for otherwise.
    pub unreadable: Result<Vec<UnreadableRow>>,
}

impl SqlStore<Sqlite> {
    /// Looks at a file, also while another process has it; up to `most` unreadable rows of each table are named.
    /// Beside a file of which no process has left a log of writes, nothing is made.
    ///
    /// # Errors
    /// When a newer program wrote it, when it was made under another master key, or when it cannot be read.
    pub async fn look(
        path: impl AsRef<Path>,
        most: usize,
        keys: Arc<dyn Keys>,
        clock: Arc<dyn Clock>,
    ) -> Result<DatabaseState> {
        let path = path.as_ref().to_owned();
        let looking = tokio::task::spawn_blocking(move || {
            if let Some(before) = sqlite::at_rest(&path) {
                let seen = seen(&path, sqlite::ConnectionUse::LookAtRest, most, (&keys, &clock));
                // What was read while a process began to write may be of two moments.
                if sqlite::at_rest(&path).is_some_and(|after| after == before) {
                    return seen;
                }
            }
            seen(&path, sqlite::ConnectionUse::Look, most, (&keys, &clock))
        });
        looking.await.unwrap_or(Err(StoreError::Closed))
    }
}

fn seen(
    path: &Path,
    how: sqlite::ConnectionUse,
    most: usize,
    (keys, clock): (&Arc<dyn Keys>, &Arc<dyn Clock>),
) -> Result<DatabaseState> {
    let conn = sqlite::connect(path, how)?;
    match migrate::seen_sqlite(&conn, &KeyProof::of(keys.as_ref(), false))? {
        Schema::Empty => return Ok(DatabaseState::Empty),
        Schema::Older { migrations } => return Ok(DatabaseState::Older { migrations }),
        Schema::Present => {}
    }
    let mut tx = Tx::new(Conn::Sqlite(conn), StoreShared::new(Arc::clone(keys), Arc::clone(clock), None));
    let contents = contents(&mut tx, most).now_or_never().unwrap_or(Err(StoreError::Closed));
    contents.map(DatabaseState::Present)
}

impl SqlStore<Postgres> {
    /// Whether a database has no schema yet. Nothing but the rights of the role in the URL is needed.
    ///
    /// # Errors
    /// When a newer program wrote it, when it was made under another master key, or when it cannot be reached.
    pub async fn is_empty(url: &str, keys: &dyn Keys) -> Result<bool> {
        Ok(schema(&postgres::options_of(url)?, keys).await? == Schema::Empty)
    }

    /// Looks at a database; up to `most` unreadable rows of each table are named.
    ///
    /// # Errors
    /// When a newer program wrote it, when it was made under another master key, or when it cannot be read.
    pub async fn look(
        url: &str,
        options: PostgresOptions,
        most: usize,
        keys: Arc<dyn Keys>,
        clock: Arc<dyn Clock>,
    ) -> Result<DatabaseState> {
        let connect = postgres::options_of(url)?;
        match schema(&connect, keys.as_ref()).await? {
            Schema::Empty => return Ok(DatabaseState::Empty),
            Schema::Older { migrations } => return Ok(DatabaseState::Older { migrations }),
            Schema::Present => {}
        }
        let shared = StoreShared::new(keys, clock, Some(options.statement_timeout));
        let store = Self::over(postgres::Server::open(connect, &options, &shared).await?, shared);
        store.read_all(most, |tx, most| Box::pin(contents(tx, *most))).await.map(DatabaseState::Present)
    }
}

/// How far a database is that was made under these keys, or is to be.
async fn schema(connect: &PgConnectOptions, keys: &dyn Keys) -> Result<Schema> {
    let mut owner = postgres::connect_as_owner(connect).await?;
    let schema = migrate::seen_postgres(&mut owner, &KeyProof::of(keys, false)).await?;
    sqlx::Connection::close(owner).await?;
    Ok(schema)
}

async fn contents(tx: &mut Tx, most: usize) -> Result<DatabaseContents> {
    let tasks = tasks::count_by_status(tx).await?.iter().map(|(_, count)| count).sum();
    let dead_jobs = jobs::dead(tx).await?.iter().map(|(_, count)| count).sum();
    let tenants = identity::tenants(tx).await?;
    Ok(DatabaseContents { tasks, dead_jobs, tenants, unreadable: archive::unreadable::find(tx, most).await })
}
