//! The wall between tenants, tried on every table that the schema has, with raw SQL. Tables, columns and their types are
//! asked of the database: a table that is added without its policy fails here.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::id::TenantId;
use kybern_testkit::SimClock;
use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use crate::support::{self, Database};

/// Tables that hold nothing of any tenant. Neither role may read them, or remove anything.
const OF_NOBODY: &[&str] = &["schema_migration", "master_key", "probe"];
const THEIRS: &str = "0198aaaa-0000-7000-8000-000000000001";

/// What a worker, who sees every tenant, may read, by table.
const WORKER_READS: &[(&str, &[&str])] = &[
    ("outbox", &["status", "created_at"]),
    ("approval", &["status", "created_at"]),
    ("delegation", &["tenant_id", "task_id", "at"]),
    ("reservation", &["tenant_id", "id", "owner", "expires_at"]),
    ("tenant", &["id", "name", "slug", "created_at"]),
    ("app_user", &["tenant_id", "id", "roles", "made_by_user_id"]),
    (
        "api_key",
        &[
            "tenant_id",
            "id",
            "user_id",
            "roles",
            "scopes",
            "expires_at",
            "revoked_at",
            "key_hash",
            "made_by_key_id",
            "made_by_user_id",
        ],
    ),
    (
        "task",
        &[
            "tenant_id",
            "id",
            "status",
            "paused_at",
            "cancel_requested",
            "recoveries",
            "signals",
            "started_at",
            "lease_owner",
            "lease_epoch",
            "claimable_at",
        ],
    ),
    (
        "job",
        &[
            "tenant_id",
            "id",
            "kind",
            "payload",
            "status",
            "attempts",
            "max_attempts",
            "lease_owner",
            "lease_epoch",
            "claimable_at",
        ],
    ),
];
/// Tables that a worker may read whole.
const WORKER_READS_ALL: &[&str] = &["plan"];
/// What a worker may change, by table.
const WORKER_CHANGES: &[(&str, &[&str])] = &[
    ("task", &["recoveries", "started_at", "lease_owner", "lease_epoch", "claimable_at"]),
    ("job", &["status", "attempts", "last_error", "lease_owner", "lease_epoch", "claimable_at", "finished_at"]),
];

/// A table of tenants.
struct Table {
    name: String,
    /// The column that says whose a row is.
    owner: &'static str,
    /// Columns with their types.
    columns: Vec<(String, String)>,
}

impl Table {
    /// A statement that adds a row of a tenant.
    fn insert(&self, tenant: &str) -> String {
        let value = |(name, kind): &(String, String)| match kind.as_str() {
            _ if name == self.owner => format!("'{tenant}'::uuid"),
            "uuid" => "gen_random_uuid()".to_owned(),
            "text" => "md5(random()::text)".to_owned(),
            "bigint" | "integer" | "double precision" => "1".to_owned(),
            "bytea" => "'x'::bytea".to_owned(),
            "boolean" => "true".to_owned(),
            other => panic!("column {name} of {} has the type {other}: say here what to write into it", self.name),
        };
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let values: Vec<String> = self.columns.iter().map(value).collect();
        format!("INSERT INTO {} ({}) VALUES ({})", self.name, names.join(", "), values.join(", "))
    }
}

async fn rows(conn: &mut PgConnection, text: &str) -> Vec<(String, String)> {
    let found = sqlx::query(AssertSqlSafe(text.to_owned())).fetch_all(conn).await.unwrap();
    found.iter().map(|row| (row.get::<String, _>(0), row.get::<String, _>(1))).collect()
}

/// Every table of the schema that is not a partition, by name.
async fn tables(conn: &mut PgConnection) -> Vec<Table> {
    let others = rows(
        conn,
        "SELECT relname::text, relkind::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN \
         ('r', 'p', 'i', 'I', 't')",
    )
    .await;
    assert!(others.is_empty(), "these are neither tables nor indices, and have no wall: {others:?}");
    let columns = rows(
        conn,
        "SELECT c.relname::text, a.attname || ':' || format_type(a.atttypid, NULL) FROM pg_class c JOIN pg_attribute a ON \
         a.attrelid = c.oid WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT \
         c.relispartition AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum",
    )
    .await;
    let mut tables: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (table, column) in columns {
        let (name, kind) = column.split_once(':').unwrap();
        tables.entry(table).or_default().push((name.to_owned(), kind.to_owned()));
    }
    tables
        .into_iter()
        .map(|(name, columns)| Table { owner: if name == "tenant" { "id" } else { "tenant_id" }, name, columns })
        .collect()
}

/// What a statement does as that role: how many rows, or why not. Nothing of it stays.
async fn attempt(conn: &mut PgConnection, role: &str, tenant: Option<&str>, text: &str) -> Result<u64, String> {
    let tenant = tenant.map_or_else(String::new, |tenant| format!("; SET LOCAL kybern.tenant_id = '{tenant}'"));
    let begin = format!("BEGIN; SET LOCAL ROLE {role}{tenant}");
    sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *conn).await.unwrap();
    let done = sqlx::query(AssertSqlSafe(text.to_owned())).execute(&mut *conn).await;
    sqlx::raw_sql("ROLLBACK").execute(&mut *conn).await.unwrap();
    done.map(|done| done.rows_affected()).map_err(|error| error.to_string())
}

fn is_denied(done: &Result<u64, String>) -> bool {
    done.as_ref().is_err_and(|why| why.contains("permission denied"))
}

fn is_walled(done: &Result<u64, String>) -> bool {
    is_denied(done) || done.as_ref().is_err_and(|why| why.contains("row-level security"))
}

/// A database with one row of each of two tenants in every table of tenants. What rows say to each other is not checked
/// in it, so that any row can be made; walls are not touched.
async fn filled(server: &str) -> (Database, PgConnection, Vec<Table>) {
    let database = Database::create(server).await;
    drop(database.store(Arc::new(SimClock::new())).await);
    let mut conn = database.connect().await;
    let tables: Vec<Table> =
        tables(&mut conn).await.into_iter().filter(|table| !OF_NOBODY.contains(&table.name.as_str())).collect();
    for table in &tables {
        let owned = table.columns.iter().any(|(column, _)| column == table.owner);
        assert!(owned, "{} does not say whose its rows are: give it tenant_id and a policy", table.name);
    }
    let ties = rows(
        &mut conn,
        "SELECT conrelid::regclass::text, conname::text FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND \
         contype IN ('f', 'c') AND conparentid = 0 AND NOT EXISTS (SELECT 1 FROM pg_class WHERE oid = conrelid AND \
         relispartition) ORDER BY contype DESC",
    )
    .await;
    for (table, tie) in ties {
        let text = format!("ALTER TABLE {table} DROP CONSTRAINT {tie} CASCADE");
        sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut conn).await.unwrap();
    }
    for table in &tables {
        let empty = format!("DELETE FROM {}", table.name);
        if table.name != "audit_event" {
            sqlx::raw_sql(AssertSqlSafe(empty)).execute(&mut conn).await.unwrap();
        }
        for tenant in [TenantId::DEFAULT.to_string().as_str(), THEIRS] {
            sqlx::raw_sql(AssertSqlSafe(table.insert(tenant))).execute(&mut conn).await.unwrap();
        }
    }
    (database, conn, tables)
}

#[tokio::test]
async fn no_table_lets_one_tenant_at_the_rows_of_another() {
    let Some(server) = support::server() else { return };
    let (_database, mut conn, tables) = filled(&server).await;
    assert!(tables.len() > 20, "only {} tables", tables.len());
    let home = TenantId::DEFAULT.to_string();
    for table in &tables {
        let (name, owner) = (&table.name, table.owner);
        let select = format!("SELECT * FROM {name}");
        let insert = |tenant: &str| table.insert(tenant);
        let foreign = [
            format!("SELECT * FROM {name} WHERE {owner} = '{THEIRS}'"),
            format!("UPDATE {name} SET {owner} = {owner} WHERE {owner} = '{THEIRS}'"),
            format!("DELETE FROM {name} WHERE {owner} = '{THEIRS}'"),
        ];
        let given_away = format!("UPDATE {name} SET {owner} = '{THEIRS}'");
        // What is its own it sees, and only that.
        assert_eq!(attempt(&mut conn, "kybern_app", Some(&home), &select).await, Ok(1), "{name}: its own row");
        let own = attempt(&mut conn, "kybern_app", Some(&home), &insert(&home)).await;
        let there_already = own.as_ref().is_err_and(|why| why.contains("duplicate key"));
        assert!(own == Ok(1) || there_already, "{name}: another row of its own: {own:?}");
        for text in &foreign {
            let done = attempt(&mut conn, "kybern_app", Some(&home), text).await;
            assert!(done == Ok(0) || is_denied(&done), "{text}: {done:?}");
        }
        for text in [insert(THEIRS), given_away.clone()] {
            let done = attempt(&mut conn, "kybern_app", Some(&home), &text).await;
            assert!(is_walled(&done), "{text}: {done:?}");
        }
        // Who says no tenant, or none that there is, has nothing.
        for tenant in [None, Some(""), Some("00000000-0000-0000-0000-000000000000")] {
            assert_eq!(attempt(&mut conn, "kybern_app", tenant, &select).await, Ok(0), "{name} as {tenant:?}");
            for text in &foreign {
                let done = attempt(&mut conn, "kybern_app", tenant, text).await;
                assert!(done == Ok(0) || is_denied(&done), "{text} as {tenant:?}: {done:?}");
            }
            for text in [insert(&home), insert(THEIRS)] {
                let done = attempt(&mut conn, "kybern_app", tenant, &text).await;
                assert!(is_walled(&done), "{text} as {tenant:?}: {done:?}");
            }
        }
        let gone = attempt(&mut conn, "kybern_app", Some(&home), &format!("TRUNCATE {name}")).await;
        assert!(is_denied(&gone), "TRUNCATE {name}: {gone:?}");
    }
}

#[tokio::test]
async fn a_worker_reads_and_changes_what_claiming_needs_and_no_other_column() {
    let Some(server) = support::server() else { return };
    let (_database, mut conn, tables) = filled(&server).await;
    let listed = |lists: &[(&str, &[&str])], table: &str, column: &str| {
        lists.iter().any(|(name, columns)| *name == table && columns.contains(&column))
    };
    for table in &tables {
        let name = table.name.as_str();
        for (column, _) in &table.columns {
            let reads = WORKER_READS_ALL.contains(&name) || listed(WORKER_READS, name, column);
            let done = attempt(&mut conn, "kybern_worker", None, &format!("SELECT {column} FROM {name}")).await;
            assert!(if reads { done == Ok(2) } else { is_denied(&done) }, "SELECT {column} FROM {name}: {done:?}");
            let changes = listed(WORKER_CHANGES, name, column);
            let done = attempt(&mut conn, "kybern_worker", None, &format!("UPDATE {name} SET {column} = NULL")).await;
            // Whether the value fits is another question; it is asked behind the wall.
            assert_eq!(is_denied(&done), !changes, "UPDATE {name} SET {column}: {done:?}");
        }
        for text in [table.insert(THEIRS), format!("DELETE FROM {name}"), format!("TRUNCATE {name}")] {
            let done = attempt(&mut conn, "kybern_worker", None, &text).await;
            assert!(is_denied(&done), "{text}: {done:?}");
        }
    }
}

#[tokio::test]
async fn tables_of_nobody_and_partitions_are_closed_to_both_roles() {
    let Some(server) = support::server() else { return };
    let (_database, mut conn, _) = filled(&server).await;
    let partitions = rows(
        &mut conn,
        "SELECT relname::text, '' FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relispartition AND relkind \
         IN ('r', 'p')",
    )
    .await;
    assert!(!partitions.is_empty());
    let closed: Vec<String> =
        partitions.into_iter().map(|(name, _)| name).chain(OF_NOBODY.iter().map(|name| (*name).to_owned())).collect();
    let home = TenantId::DEFAULT.to_string();
    for name in closed {
        for role in ["kybern_app", "kybern_worker"] {
            for text in [format!("SELECT * FROM {name}"), format!("DELETE FROM {name}"), format!("TRUNCATE {name}")] {
                let done = attempt(&mut conn, role, Some(&home), &text).await;
                assert!(is_denied(&done), "{text} as {role}: {done:?}");
            }
        }
    }
}

/// A tenant with many records, of which an entity owns three: what a dossier reads is found by its owners, not by walking
/// the tenant's records or lookups.
#[tokio::test]
async fn what_an_entity_owns_is_found_without_walking_all_records() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    drop(database.store(Arc::new(SimClock::new())).await);
    let mut conn = database.connect().await;
    let fill = format!(
        "SET session_replication_role = replica;
         INSERT INTO record (tenant_id, id, kind, key, props, version, created_at, updated_at)
         SELECT '{THEIRS}', ('0198bbbb-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'test.deal', n::text, '{{}}', 1, 0, 0
         FROM generate_series(1, 20000) AS n;
         INSERT INTO record_lookup (tenant_id, record_id, kind, name, value, is_unique)
         SELECT tenant_id, id, kind, 'entity', 'owner-' || (key::int / 3), 0 FROM record;
         ANALYZE record; ANALYZE record_lookup;"
    );
    sqlx::raw_sql(AssertSqlSafe(fill)).execute(&mut conn).await.unwrap();
    let explain = concat!("EXPLAIN (ANALYZE, FORMAT TEXT) ", include_str!("../../sql/postgres/records_owned.sql"));
    let plan = sqlx::query(explain)
        .bind(THEIRS.parse::<uuid::Uuid>().unwrap())
        .bind("test.deal")
        .bind("entity")
        .bind(vec!["owner-7", "owner-9"])
        .bind(uuid::Uuid::max())
        .bind(16_i64)
        .fetch_all(&mut conn)
        .await
        .unwrap();
    let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
    let plan = plan.join("\n");
    assert!(plan.contains("record_lookup_value"), "{plan}");
    assert!(!plan.contains("Seq Scan on record") && !plan.contains("Merge"), "{plan}");
    assert!(plan.contains("rows=6"), "two owners, three records each: {plan}");
}
