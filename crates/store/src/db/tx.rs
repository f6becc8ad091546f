//! One connection inside one transaction, of either database.

use std::borrow::Cow;
use std::sync::Arc;

use futures::TryStreamExt as _;
use kybern_core::id::TenantId;
use kybern_core::plan::PlanHash;
use kybern_core::tenant::TenantScope;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgArguments;
use sqlx::{Arguments, AssertSqlSafe, Postgres, SqlSafeStr};

use super::arg::kept;
use super::patience::Span;
use super::{Arg, Row, Sql, StoreShared};
use crate::error::{Result, StoreError};

/// A connection.
pub(crate) enum Conn {
    /// To the SQLite file.
    Sqlite(rusqlite::Connection),
    /// To a PostgreSQL server.
    Postgres(PoolConnection<Postgres>),
}

/// What PostgreSQL lets the statements of a unit see. SQLite has no such wall; there the types are the wall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowVisibility {
    /// One tenant's rows, as `kybern_app`.
    Tenant(TenantScope),
    /// The leases of every tenant, as `kybern_worker`.
    Everyone,
}

/// A connection, perhaps inside a transaction, and what is to happen after its commit.
pub(crate) struct Tx {
    conn: Conn,
    shared: Arc<StoreShared>,
    access: Option<RowVisibility>,
    stays_with: Option<TenantScope>,
    stayed: bool,
    open: bool,
    wrote: bool,
    due: bool,
    outdates: bool,
    remembers: bool,
    frozen: Vec<(TenantId, PlanHash)>,
    /// The server has not answered: nothing is asked any more.
    silent: bool,
    /// Whether its statements may take long.
    unhurried: bool,
}

impl Tx {
    pub(crate) fn new(conn: Conn, shared: Arc<StoreShared>) -> Self {
        Self {
            conn,
            shared,
            access: None,
            stays_with: None,
            stayed: false,
            open: false,
            wrote: false,
            due: false,
            outdates: false,
            remembers: false,
            frozen: Vec::new(),
            silent: false,
            unhurried: false,
        }
    }

    /// What all connections of a store share.
    pub(crate) fn shared(&self) -> &StoreShared {
        &self.shared
    }

    /// Whether this is PostgreSQL.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.conn, Conn::Postgres(_))
    }

    /// Begins a transaction that may write.
    pub(crate) async fn begin(&mut self, access: RowVisibility) -> Result<()> {
        self.start(access, "BEGIN IMMEDIATE", "BEGIN").await
    }

    /// Begins a transaction that only reads, all from one moment.
    pub(crate) async fn begin_read(&mut self, access: RowVisibility) -> Result<()> {
        self.start(access, "BEGIN DEFERRED", "BEGIN READ ONLY").await
    }

    /// Makes everything that follows read one moment. It must come first in its transaction.
    pub(crate) async fn one_moment(&mut self) -> Result<()> {
        match &mut self.conn {
            Conn::Sqlite(conn) if conn.is_autocommit() => conn.execute_batch("BEGIN DEFERRED")?,
            Conn::Sqlite(_) => {}
            Conn::Postgres(_) => self.tell("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", Span::Short).await?,
        }
        Ok(())
    }

    /// The same, for as long as it takes. It must come first in its transaction.
    pub(crate) async fn snapshot(&mut self) -> Result<()> {
        self.one_moment().await?;
        if self.is_postgres() {
            self.tell("SET LOCAL statement_timeout = 0", Span::Short).await?;
            self.unhurried = true;
        }
        Ok(())
    }

    /// Runs a command on PostgreSQL; on SQLite there is nothing to be told.
    async fn tell(&mut self, text: impl SqlSafeStr, span: Span) -> Result<()> {
        if let Conn::Postgres(conn) = &mut self.conn {
            let asked = sqlx::raw_sql(text).execute(&mut **conn);
            self.shared.patience.answered(&mut self.silent, span, asked).await?;
        }
        Ok(())
    }

    async fn start(&mut self, access: RowVisibility, sqlite: &'static str, postgres: &str) -> Result<()> {
        // Before the server is asked: whoever is dropped while waiting for the answer has begun all the same.
        self.open = true;
        match &mut self.conn {
            Conn::Sqlite(conn) => conn.prepare_cached(sqlite)?.execute([]).map(drop)?,
            Conn::Postgres(_) => {
                self.tell(AssertSqlSafe(format!("{postgres}; {}", setting(access))), Span::Short).await?;
            }
        }
        self.access = Some(access);
        Ok(())
    }

    /// Whether the connection answers. PostgreSQL only.
    pub(crate) async fn is_alive(&mut self) -> bool {
        self.tell("SELECT 1", Span::Short).await.is_ok()
    }

    /// Lets statements outside of transactions see one tenant, until told otherwise. PostgreSQL only.
    pub(crate) async fn stay(&mut self, scope: TenantScope) -> Result<()> {
        if self.stays_with != Some(scope) && self.is_postgres() {
            // Neither a failure nor a drop half-way tells which tenant it is now.
            self.stayed = true;
            self.stays_with = None;
            self.tell(AssertSqlSafe(format!("SET kybern.tenant_id = '{}'", scope.tenant())), Span::Short).await?;
            self.stays_with = Some(scope);
        }
        Ok(())
    }

    /// Lets the statements that follow see something else.
    pub(crate) async fn enter(&mut self, access: RowVisibility) -> Result<()> {
        if self.access != Some(access) && self.is_postgres() {
            self.tell(AssertSqlSafe(setting(access)), Span::Short).await?;
        }
        self.access = Some(access);
        Ok(())
    }

    /// Commits, then tells workers and remembers stored plans.
    pub(crate) async fn commit(&mut self) -> Result<()> {
        match &mut self.conn {
            Conn::Sqlite(conn) => conn.prepare_cached("COMMIT")?.execute([]).map(drop)?,
            Conn::Postgres(_) => {
                let text = match (self.due, self.outdates) {
                    (false, false) => "COMMIT",
                    (true, false) => "NOTIFY kybern_due; COMMIT",
                    (false, true) => "NOTIFY kybern_known; COMMIT",
                    (true, true) => "NOTIFY kybern_due; NOTIFY kybern_known; COMMIT",
                };
                self.tell(text, Span::Statement).await?;
            }
        }
        self.open = false;
        self.unhurried = false;
        if std::mem::take(&mut self.due) {
            self.shared.wake.fire();
        }
        if std::mem::take(&mut self.outdates) {
            self.shared.known.changed();
        }
        if std::mem::take(&mut self.remembers) {
            self.shared.known.remembered();
        }
        self.shared.plans.remember(self.frozen.drain(..));
        Ok(())
    }

    /// Rolls back; whatever goes wrong with that is settled by the database when the connection ends.
    pub(crate) async fn roll_back(&mut self) -> Result<()> {
        self.due = false;
        self.outdates = false;
        self.remembers = false;
        self.wrote = false;
        self.frozen.clear();
        match &mut self.conn {
            // After some failures SQLite has rolled back by itself.
            Conn::Sqlite(conn) if conn.is_autocommit() => {}
            Conn::Sqlite(conn) => conn.execute_batch("ROLLBACK")?,
            Conn::Postgres(_) => self.tell("ROLLBACK", Span::Short).await?,
        }
        self.open = false;
        self.unhurried = false;
        Ok(())
    }

    /// A task or a job is due now; workers are told after the commit.
    pub(crate) fn wake(&mut self) {
        self.due = true;
    }

    /// What is known of keys, users and plans is outdated when this commits.
    pub(crate) fn outdates_what_is_known(&mut self) {
        self.outdates = true;
    }

    /// Something is remembered of somebody when this commits. Other processes find it a moment later.
    pub(crate) fn remembers(&mut self) {
        self.remembers = true;
    }

    /// A plan is stored when this commits.
    pub(crate) fn froze(&mut self, tenant: TenantId, hash: PlanHash) {
        self.frozen.push((tenant, hash));
    }

    /// Whether the present unit has written, and forgets it.
    pub(crate) fn take_wrote(&mut self) -> bool {
        std::mem::take(&mut self.wrote)
    }

    /// Runs a statement that writes, and tells how many rows it touched.
    pub(crate) async fn execute(&mut self, sql: &'static Sql, args: &[Arg<'_>]) -> Result<u64> {
        self.write((sql.sqlite, sql.postgres), args, self.span()).await
    }

    async fn write(
        &mut self,
        (sqlite, postgres): (&str, impl SqlSafeStr),
        args: &[Arg<'_>],
        span: Span,
    ) -> Result<u64> {
        let touched = match &mut self.conn {
            Conn::Sqlite(conn) => {
                let mut statement = conn.prepare_cached(sqlite)?;
                bind(&mut statement, args)?;
                u64::try_from(statement.raw_execute()?).unwrap_or(0)
            }
            Conn::Postgres(conn) => {
                let asked = sqlx::query_with(postgres, arguments(args)?).execute(&mut **conn);
                self.shared.patience.answered(&mut self.silent, span, asked).await?.rows_affected()
            }
        };
        self.wrote |= touched > 0;
        Ok(touched)
    }

    /// Runs a statement that writes and returns at most one row.
    pub(crate) async fn write_row(&mut self, sql: &'static Sql, args: &[Arg<'_>]) -> Result<Option<Row>> {
        let row = self.fetch_optional(sql, args).await?;
        self.wrote |= row.is_some();
        Ok(row)
    }

    /// Runs a statement that writes and returns rows.
    pub(crate) async fn write_rows(&mut self, sql: &'static Sql, args: &[Arg<'_>]) -> Result<Vec<Row>> {
        let rows = self.fetch_all(sql, args).await?;
        self.wrote |= !rows.is_empty();
        Ok(rows)
    }

    /// The first row of a query.
    pub(crate) async fn fetch_optional(&mut self, sql: &'static Sql, args: &[Arg<'_>]) -> Result<Option<Row>> {
        Ok(self.fetch_all(sql, args).await?.into_iter().next())
    }

    /// What the first row of a query holds.
    pub(crate) async fn find<T>(
        &mut self,
        sql: &'static Sql,
        args: &[Arg<'_>],
        read: impl FnOnce(&mut Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut found = self.fetch_optional(sql, args).await?;
        found.as_mut().map(read).transpose()
    }

    /// What all rows of a query hold.
    pub(crate) async fn list<T>(
        &mut self,
        sql: &'static Sql,
        args: &[Arg<'_>],
        read: impl FnMut(&mut Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.fetch_all(sql, args).await?.iter_mut().map(read).collect()
    }

    /// The number that a query answers; 0 when it finds nothing.
    pub(crate) async fn count(&mut self, sql: &'static Sql, args: &[Arg<'_>]) -> Result<i64> {
        Ok(self.find(sql, args, Row::i64).await?.unwrap_or(0))
    }

    /// All rows of a query.
    pub(crate) async fn fetch_all(&mut self, sql: &'static Sql, args: &[Arg<'_>]) -> Result<Vec<Row>> {
        let span = self.span();
        match &mut self.conn {
            Conn::Sqlite(conn) => {
                let mut found = Vec::new();
                sqlite_rows(conn, (sql.name, sql.sqlite), args, |row| {
                    found.push(row);
                    Ok(())
                })?;
                Ok(found)
            }
            Conn::Postgres(conn) => {
                let asked = sqlx::query_with(sql.postgres, arguments(args)?).fetch_all(&mut **conn);
                let rows = self.shared.patience.answered(&mut self.silent, span, asked).await?;
                Ok(rows.into_iter().map(|row| Row::postgres(sql.name, row)).collect())
            }
        }
    }

    /// Runs a made-up statement that writes: archives, which go over all tables alike. Parameters are `$1…`.
    pub(crate) async fn execute_text(&mut self, text: &str, args: &[Arg<'_>]) -> Result<u64> {
        self.write((&text.replace('$', "?"), AssertSqlSafe(text.to_owned())), args, Span::Long).await
    }

    /// Runs a made-up query and hands out its rows one by one, without holding them all.
    pub(crate) async fn each_row(
        &mut self,
        text: &str,
        args: &[Arg<'_>],
        mut take: impl FnMut(Row) -> Result<()> + Send,
    ) -> Result<()> {
        match &mut self.conn {
            Conn::Sqlite(conn) => sqlite_rows(conn, ("archive", &text.replace('$', "?")), args, take)?,
            Conn::Postgres(conn) => {
                let query = sqlx::query_with(AssertSqlSafe(text.to_owned()), arguments(args)?);
                let mut rows = query.fetch(&mut **conn);
                let (patience, silent) = (&self.shared.patience, &mut self.silent);
                while let Some(row) = patience.answered(silent, Span::Long, rows.try_next()).await? {
                    take(Row::postgres("archive", row))?;
                }
            }
        }
        Ok(())
    }

    /// How long a statement may take.
    fn span(&self) -> Span {
        if self.unhurried { Span::Long } else { Span::Statement }
    }

    /// Lets a broken connection go instead of handing it to the next user.
    pub(crate) fn discard(mut self) {
        self.open = true;
    }

    /// The bare connection, for what is no noun's: migrations, archives, checks.
    pub(crate) fn conn(&mut self) -> &mut Conn {
        &mut self.conn
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        // A unit that was dropped half-way must not hand its open transaction to the next user of the connection, nor
        // the tenant that it has stayed with.
        if (self.open || self.stayed || self.silent)
            && let Conn::Postgres(conn) = &mut self.conn
        {
            conn.close_on_drop();
        }
    }
}

/// What the role and the tenant are set to, until the transaction ends.
fn setting(access: RowVisibility) -> String {
    match access {
        RowVisibility::Tenant(scope) => {
            format!("SET LOCAL ROLE kybern_app; SET LOCAL kybern.tenant_id = '{}'", scope.tenant())
        }
        RowVisibility::Everyone => "SET LOCAL ROLE kybern_worker; SET LOCAL kybern.tenant_id = ''".to_owned(),
    }
}

/// Runs a query on SQLite and hands out its rows.
fn sqlite_rows(
    conn: &rusqlite::Connection,
    (name, text): (&'static str, &str),
    args: &[Arg<'_>],
    mut take: impl FnMut(Row) -> Result<()>,
) -> Result<()> {
    let mut statement = conn.prepare_cached(text)?;
    bind(&mut statement, args)?;
    let columns = statement.column_count();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let cells: rusqlite::Result<Vec<Value>> = (0..columns).map(|at| row.get(at)).collect();
        take(Row::sqlite(name, cells?))?;
    }
    Ok(())
}

/// Binds arguments in order.
fn bind(statement: &mut rusqlite::CachedStatement<'_>, args: &[Arg<'_>]) -> Result<()> {
    for (at, arg) in args.iter().enumerate() {
        let value = match arg {
            Arg::I64(Some(value)) => ToSqlOutput::Owned(Value::Integer(*value)),
            Arg::F64(Some(value)) => ToSqlOutput::Owned(Value::Real(*value)),
            Arg::Text(Some(text)) => match kept(text) {
                Cow::Borrowed(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
                Cow::Owned(text) => ToSqlOutput::Owned(Value::Text(text)),
            },
            Arg::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Arg::Uuid(Some(id)) => ToSqlOutput::Borrowed(ValueRef::Blob(id.as_bytes())),
            Arg::I64(None) | Arg::F64(None) | Arg::Text(None) | Arg::Uuid(None) => ToSqlOutput::Owned(Value::Null),
            Arg::Uuids(_) | Arg::I64s(_) | Arg::F64s(_) | Arg::Texts(_) => ToSqlOutput::Owned(Value::Null),
        };
        statement.raw_bind_parameter(at + 1, value)?;
    }
    Ok(())
}

/// Encodes arguments in order.
fn arguments(args: &[Arg<'_>]) -> Result<PgArguments> {
    let mut out = PgArguments::default();
    for arg in args {
        let added = match arg {
            Arg::I64(value) => out.add(*value),
            Arg::F64(value) => out.add(*value),
            Arg::Text(value) => out.add(value.as_deref().map(kept)),
            Arg::Blob(value) => out.add(*value),
            Arg::Uuid(value) => out.add(*value),
            Arg::Uuids(value) => out.add(value.as_slice()),
            Arg::I64s(value) => out.add(value.as_slice()),
            Arg::F64s(value) => out.add(value.as_slice()),
            Arg::Texts(value) => {
                let texts: Vec<Option<Cow<'_, str>>> = value.iter().map(|text| text.as_deref().map(kept)).collect();
                out.add(texts)
            }
        };
        added.map_err(|error| StoreError::Postgres(sqlx::Error::Encode(error)))?;
    }
    Ok(out)
}
