//! Migrations: forward only, at start, under a lock. The same numbers and names on both databases. And the proof that
//! the database is opened under the master key that it was made with.

use std::path::Path;

use kybern_core::ports::Keys;
use kybern_core::time::Timestamp;
use rusqlite::OptionalExtension as _;
use sqlx::PgConnection;

use crate::db::sqlite::{ConnectionUse, connect};
use crate::error::{Result, StoreError};
use crate::partitions::SCHEMA_LOCK;

struct Migration {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! migration {
    ($version:literal, $name:literal) => {
        Migration {
            version: $version,
            name: $name,
            sqlite: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/postgres/", $name, ".sql")),
        }
    };
}

/// Every migration, in order.
const MIGRATIONS: &[Migration] = &[
    migration!(1, "0001_initial"),
    migration!(2, "0002_master_key"),
    migration!(3, "0003_ledger"),
    migration!(4, "0004_approvals"),
    migration!(5, "0005_secrets"),
    migration!(6, "0006_model_policy"),
    migration!(7, "0007_chats"),
    migration!(8, "0008_agents"),
    migration!(9, "0009_memories"),
    migration!(10, "0010_indexes"),
    migration!(11, "0011_due_by_tenant"),
    migration!(12, "0012_rendered_args"),
    migration!(13, "0013_rights"),
    migration!(14, "0014_made_by"),
    migration!(15, "0015_idempotency_seed"),
    migration!(16, "0016_retention"),
    migration!(17, "0017_plans_in_use"),
    migration!(18, "0018_audit_start"),
    migration!(19, "0019_lessons"),
    migration!(20, "0020_lessons_of_insurers"),
    migration!(21, "0021_probe"),
    migration!(22, "0022_open_work"),
    migration!(23, "0023_files_by_hash"),
    migration!(24, "0024_own_tools"),
    migration!(25, "0025_attempt_definition"),
    migration!(26, "0026_oldest_work"),
    migration!(27, "0027_task_kind"),
    migration!(28, "0028_files_of_records"),
    migration!(29, "0029_account_makers"),
    migration!(30, "0030_record_versions"),
];

/// The schema version that this program knows.
pub(crate) fn known_version() -> i64 {
    MIGRATIONS.last().map_or(0, |migration| migration.version)
}

const SQLITE_LEDGER: &str = "CREATE TABLE IF NOT EXISTS schema_migration (version INTEGER PRIMARY KEY, \
    name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT";
const POSTGRES_LEDGER: &str = "CREATE TABLE IF NOT EXISTS schema_migration (version BIGINT PRIMARY KEY, \
    name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)";

fn checksum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Compares what was applied with what this program knows, and answers how many are applied.
fn check(applied: &[(i64, String)], text: impl Fn(&Migration) -> &'static str) -> Result<usize> {
    if let Some((found, _)) = applied.iter().find(|(version, _)| *version > known_version()) {
        return Err(StoreError::Newer { found: *found, known: known_version() });
    }
    for (migration, (version, stored)) in MIGRATIONS.iter().zip(applied) {
        if migration.version != *version || checksum(text(migration)) != *stored {
            return Err(StoreError::EditedMigration { name: migration.name.to_owned() });
        }
    }
    Ok(applied.len())
}

/// Refuses a SQLite file whose applied migrations are not exactly those that this program knows.
pub(crate) fn expect_present(applied: &[(i64, String)]) -> Result<()> {
    let done = check(applied, |migration| migration.sqlite)?;
    if done < MIGRATIONS.len() {
        let found = applied.last().map_or(0, |(version, _)| *version);
        return Err(StoreError::Older { found, known: known_version() });
    }
    Ok(())
}

/// How far a database is, as it is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Schema {
    /// There is none.
    Empty,
    /// That of an older program, and so many migrations are to be applied.
    Older { migrations: usize },
    /// That of this program.
    Present,
}

impl Schema {
    fn of(applied: &[(i64, String)], text: impl Fn(&Migration) -> &'static str) -> Result<Self> {
        let done = check(applied, text)?;
        Ok(match MIGRATIONS.len() - done {
            0 => Self::Present,
            _ if done == 0 => Self::Empty,
            migrations => Self::Older { migrations },
        })
    }
}

/// Looks how far a SQLite file is, and whether it was made under this key.
pub(crate) fn seen_sqlite(conn: &rusqlite::Connection, key: &KeyProof) -> Result<Schema> {
    let has = |table: &str| -> rusqlite::Result<bool> {
        let text = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1)";
        conn.query_row(text, [table], |row| row.get(0))
    };
    if !has("schema_migration")? {
        return if is_foreign(conn)? { Err(StoreError::Foreign) } else { Ok(Schema::Empty) };
    }
    let mut statement = conn.prepare(APPLIED)?;
    let applied: Vec<(i64, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    let schema = Schema::of(&applied, |migration| migration.sqlite)?;
    // The first programs had no proof yet.
    if has("master_key")? {
        let known: Option<String> = conn.query_row(PROOF, [], |row| row.get(0)).optional()?;
        key.expect(known.as_deref())?;
    }
    Ok(schema)
}

/// Whether a file without our ledger of migrations has tables: ours would come to lie among another program's.
fn is_foreign(conn: &rusqlite::Connection) -> rusqlite::Result<bool> {
    let text = "SELECT count(*) > 0 AND count(*) FILTER (WHERE name = 'schema_migration') = 0 FROM sqlite_master \
                WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    conn.query_row(text, [], |row| row.get(0))
}

/// The same of a PostgreSQL database, in a transaction that can write nothing.
pub(crate) async fn seen_postgres(owner: &mut PgConnection, key: &KeyProof) -> Result<Schema> {
    const HAS: &str = "SELECT to_regclass($1) IS NOT NULL";
    sqlx::raw_sql("BEGIN READ ONLY").execute(&mut *owner).await?;
    let (has,): (bool,) = sqlx::query_as(HAS).bind("schema_migration").fetch_one(&mut *owner).await?;
    if !has {
        return Ok(Schema::Empty);
    }
    let applied: Vec<(i64, String)> = sqlx::query_as(APPLIED).fetch_all(&mut *owner).await?;
    let schema = Schema::of(&applied, |migration| migration.postgres)?;
    let (has,): (bool,) = sqlx::query_as(HAS).bind("master_key").fetch_one(&mut *owner).await?;
    if has {
        let known: Option<(String,)> = sqlx::query_as(PROOF).fetch_optional(&mut *owner).await?;
        key.expect(known.as_ref().map(|(proof,)| proof.as_str()))?;
    }
    Ok(schema)
}

/// The master key as far as the database knows it.
#[derive(Debug)]
pub(crate) struct KeyProof {
    proof: String,
    adopt: bool,
}

impl KeyProof {
    /// Of these keys. With `adopt` the database takes them for its own from now on, whatever it was made with.
    pub(crate) fn of(keys: &dyn Keys, adopt: bool) -> Self {
        Self { proof: keys.api_key_hash("kybern master key"), adopt }
    }

    /// Whether the proof has to be written; an error when the database has another one.
    fn judge(&self, known: Option<&str>) -> Result<bool> {
        match known {
            Some(known) if known == self.proof => Ok(false),
            Some(_) if !self.adopt => Err(StoreError::OtherKey),
            Some(_) | None => Ok(true),
        }
    }

    /// Refuses a file that was made under another key. Nothing is written.
    pub(crate) fn expect(&self, known: Option<&str>) -> Result<()> {
        self.judge(known).map(|_| ())
    }
}

/// Reads what was applied.
const APPLIED: &str = "SELECT version, checksum FROM schema_migration ORDER BY version";
/// Reads the proof of the master key.
pub(crate) const PROOF: &str = "SELECT proof FROM master_key";

/// Brings a SQLite file to the present schema. The caller holds the file's lock.
pub(crate) fn sqlite(path: &Path, key: &KeyProof, now: Timestamp) -> Result<()> {
    let conn = connect(path, ConnectionUse::Write)?;
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let migrated = apply_sqlite(&conn, now).and_then(|()| prove_sqlite(&conn, key));
    conn.execute_batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    migrated
}

fn apply_sqlite(conn: &rusqlite::Connection, now: Timestamp) -> Result<()> {
    if is_foreign(conn)? {
        return Err(StoreError::Foreign);
    }
    conn.execute_batch(SQLITE_LEDGER)?;
    let mut statement = conn.prepare(APPLIED)?;
    let applied: Vec<(i64, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    let done = check(&applied, |migration| migration.sqlite)?;
    for migration in MIGRATIONS.iter().skip(done) {
        conn.execute_batch(migration.sqlite)?;
        conn.execute(
            "INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
            (migration.version, migration.name, checksum(migration.sqlite), now.as_millis()),
        )?;
        tracing::info!(migration = migration.name, "migrated");
    }
    Ok(())
}

fn prove_sqlite(conn: &rusqlite::Connection, key: &KeyProof) -> Result<()> {
    let known: Option<String> = conn.query_row(PROOF, [], |row| row.get(0)).optional()?;
    if key.judge(known.as_deref())? {
        conn.execute("INSERT OR REPLACE INTO master_key (one, proof) VALUES (1, ?1)", [&key.proof])?;
    }
    Ok(())
}

/// Brings a PostgreSQL database to the present schema, one process at a time.
pub(crate) async fn postgres(owner: &mut PgConnection, key: &KeyProof, now: Timestamp) -> Result<()> {
    sqlx::raw_sql("BEGIN").execute(&mut *owner).await?;
    let migrated = match apply_postgres(owner, now).await {
        Ok(()) => prove_postgres(owner, key).await,
        Err(error) => Err(error),
    };
    let end = if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" };
    sqlx::raw_sql(end).execute(&mut *owner).await?;
    migrated
}

async fn apply_postgres(owner: &mut PgConnection, now: Timestamp) -> Result<()> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(SCHEMA_LOCK).execute(&mut *owner).await?;
    sqlx::raw_sql(POSTGRES_LEDGER).execute(&mut *owner).await?;
    let applied: Vec<(i64, String)> = sqlx::query_as(APPLIED).fetch_all(&mut *owner).await?;
    let done = check(&applied, |migration| migration.postgres)?;
    for migration in MIGRATIONS.iter().skip(done) {
        sqlx::raw_sql(migration.postgres).execute(&mut *owner).await?;
        sqlx::query("INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)")
            .bind(migration.version)
            .bind(migration.name)
            .bind(checksum(migration.postgres))
            .bind(now.as_millis())
            .execute(&mut *owner)
            .await?;
        tracing::info!(migration = migration.name, "migrated");
    }
    Ok(())
}

async fn prove_postgres(owner: &mut PgConnection, key: &KeyProof) -> Result<()> {
    let known: Option<(String,)> = sqlx::query_as(PROOF).fetch_optional(&mut *owner).await?;
    if key.judge(known.as_ref().map(|(proof,)| proof.as_str()))? {
        let put = "INSERT INTO master_key (one, proof) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET proof = $1";
        sqlx::query(put).bind(&key.proof).execute(&mut *owner).await?;
    }
    Ok(())
}
