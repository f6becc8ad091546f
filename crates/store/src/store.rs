//! The store: one type per database, every port of [`kybern_core::ports::Store`] on both.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kybern_core::ports::{Clock, Keys, WakeUps};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use uuid::Uuid;

use crate::db::sqlite::{File, FileLock};
use crate::db::{Engine, Lane, RowVisibility, StoreShared, UnitFn, postgres};
use crate::error::{Result, StoreError};
use crate::migrate::{self, KeyProof};
use crate::options::{PostgresOptions, SqliteOptions};
use crate::{partitions, private};

/// A store in a SQLite file.
pub type SqliteStore = SqlStore<Sqlite>;
/// A store in a PostgreSQL database.
pub type PostgresStore = SqlStore<Postgres>;

/// Names SQLite as the database of a [`SqlStore`].
#[derive(Debug)]
pub enum Sqlite {}
/// Names PostgreSQL as the database of a [`SqlStore`].
#[derive(Debug)]
pub enum Postgres {}

/// A store. Every port is implemented once, for both databases.
pub struct SqlStore<D> {
    pub(crate) engine: Engine,
    pub(crate) shared: Arc<StoreShared>,
    database: PhantomData<fn() -> D>,
}

impl<D> std::fmt::Debug for SqlStore<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.engine {
            Engine::Sqlite(_) => "SqliteStore",
            Engine::Postgres(_) => "PostgresStore",
        })
    }
}

impl SqlStore<Sqlite> {
    /// Opens a file, creating it when it is missing, and brings its schema up to date. The file is this process's
    /// alone until the store is dropped. Original bytes lie in the folder `<path>.files` beside it.
    ///
    /// # Errors
    /// When another process has the file, when a newer program wrote it, or when it cannot be opened.
    pub async fn open(
        path: impl AsRef<Path>,
        options: SqliteOptions,
        keys: Arc<dyn Keys>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let opening = tokio::task::spawn_blocking(move || {
            let lock = FileLock::take(&path, options.served_at.as_deref())?;
            private::prepare(&path);
            migrate::sqlite(&path, &KeyProof::of(keys.as_ref(), options.adopt_key), clock.now())?;
            let shared = StoreShared::new(keys, clock, None);
            let file = File::open(&path, lock, &options, &shared)?;
            Ok(Self { engine: Engine::Sqlite(file), shared, database: PhantomData })
        });
        opening.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl SqlStore<Postgres> {
    /// Connects to a database and brings its schema up to date. The role in the URL owns the tables and needs the
    /// right to create roles once; statements run as `kybern_app` and `kybern_worker`.
    ///
    /// # Errors
    /// When the server cannot be reached, when a newer program wrote the database, or when a migration fails.
    pub async fn connect(
        url: &str,
        options: PostgresOptions,
        keys: Arc<dyn Keys>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        let connect = postgres::options_of(url)?;
        let mut owner = postgres::connect_as_owner(&connect).await?;
        let proof = KeyProof::of(keys.as_ref(), options.adopt_key);
        migrate::postgres(&mut owner, &proof, clock.now()).await?;
        partitions::ensure(&mut owner, clock.now()).await?;
        sqlx::Connection::close(owner).await?;
        let shared = StoreShared::new(keys, clock, Some(options.statement_timeout));
        let server = postgres::Server::open(connect, &options, &shared).await?;
        Ok(Self::over(server, shared))
    }

    /// The store of a server whose schema is up to date.
    pub(crate) fn over(server: postgres::Server, shared: Arc<StoreShared>) -> Self {
        Self { engine: Engine::Postgres(Box::new(server)), shared, database: PhantomData }
    }
}

impl<D> SqlStore<D> {
    /// A listener for hints that something is due. Each worker takes its own.
    #[must_use]
    pub fn wake_ups(&self) -> Arc<dyn WakeUps> {
        Arc::new(self.shared.wake.listen())
    }

    /// The folder that a SQLite file lies in.
    pub(crate) fn place(&self) -> Option<std::path::PathBuf> {
        match &self.engine {
            Engine::Sqlite(file) => Some(file.place()),
            Engine::Postgres(_) => None,
        }
    }

    /// How many transactions have been committed since the start; with the number of writes it tells how well
    /// commits are grouped.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::Relaxed)
    }

    /// Keeps house: creates the partitions of the coming months. To be called once a day.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn maintain(&self, now: Timestamp) -> Result<()> {
        match &self.engine {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(server) => {
                let kept = async {
                    let mut owner = postgres::connect_as_owner(server.options()).await?;
                    partitions::ensure(&mut owner, now).await?;
                    partitions::drop_empty(&mut owner, now).await?;
                    sqlx::Connection::close(owner).await?;
                    Ok(())
                };
                let most = crate::db::LONGEST;
                tokio::time::timeout(most, kept).await.unwrap_or(Err(StoreError::Silent(most)))
            }
        }
    }

    /// The folder of original bytes; `None` where they lie in the database.
    pub(crate) fn folder(&self) -> Option<std::path::PathBuf> {
        match &self.engine {
            Engine::Sqlite(file) => Some(file.folder()),
            Engine::Postgres(_) => None,
        }
    }

    /// Writes as one tenant; units of one tenant stay in order.
    pub(crate) async fn write<A, T>(&self, scope: TenantScope, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.engine.write(RowVisibility::Tenant(scope), lane(scope.tenant().as_uuid()), args, run).await
    }

    /// Writes as one tenant; units that are about the same thing stay in order.
    pub(crate) async fn write_about<A, T>(
        &self,
        scope: TenantScope,
        about: Uuid,
        args: A,
        run: UnitFn<A, T>,
    ) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.engine.write(RowVisibility::Tenant(scope), lane(about), args, run).await
    }

    /// Writes what many tasks write alike.
    pub(crate) async fn write_plain<A, T>(&self, scope: TenantScope, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.engine.write(RowVisibility::Tenant(scope), Lane::Plain, args, run).await
    }

    /// Writes the leases of every tenant.
    pub(crate) async fn write_all<A, T>(&self, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.engine.write(RowVisibility::Everyone, Lane::Of(0), args, run).await
    }

    pub(crate) async fn read<A, T>(&self, scope: TenantScope, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.engine.read(RowVisibility::Tenant(scope), args, run).await
    }

    /// Reads a few rows by their keys, as one tenant.
    pub(crate) async fn read_few<A, T>(&self, scope: TenantScope, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.engine.read_few(RowVisibility::Tenant(scope), args, run).await
    }

    /// Reads what a worker may see of every tenant.
    pub(crate) async fn read_all<A, T>(&self, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.engine.read(RowVisibility::Everyone, args, run).await
    }
}

/// The lane of an id: its last half is random.
fn lane(id: Uuid) -> Lane {
    Lane::Of(id.as_u64_pair().1)
}
