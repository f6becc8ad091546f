//! The audit trail, tampered with by whoever has the database and not the key: raw SQL, past all triggers. Each way is
//! tried on its own on a whole chain, and found.

use std::sync::Arc;

use kybern_core::audit::{self, AuditReport};
use kybern_core::id::TenantId;
use kybern_core::ports::{Keys as _, Store};
use kybern_core::tenant::TenantScope;
use kybern_testkit::{SimClock, TestKeys, actors};
use sqlx::AssertSqlSafe;

use crate::support::{self, Database};
use crate::work;

/// Events of each chain.
const LENGTH: i64 = 9;

/// What was done, in SQL that both databases take, and what the walk must say of it. `{A}` is the tenant whose chain
/// is looked at, `{B}` another.
const WAYS: &[(&str, &str, &str)] = &[
    (
        "an event is edited",
        "UPDATE audit_event SET body = replace(body, 'test.3', 'test.x') WHERE tenant_id = {A} AND seq = 3",
        "edited",
    ),
    ("its time is edited", "UPDATE audit_event SET at = at + 1 WHERE tenant_id = {A} AND seq = 5", "edited"),
    (
        "an event is edited and gets another hash",
        "UPDATE audit_event SET body = replace(body, 'test.3', 'test.x'), hash = (SELECT hash FROM audit_event WHERE \
         tenant_id = {A} AND seq = 4) WHERE tenant_id = {A} AND seq = 3",
        "edited",
    ),
    ("an event is removed", "DELETE FROM audit_event WHERE tenant_id = {A} AND seq = 4", "removed"),
    (
        "an event is removed and the others close up",
        "DELETE FROM audit_event WHERE tenant_id = {A} AND seq = 4; \
         UPDATE audit_event SET seq = -seq WHERE tenant_id = {A} AND seq > 4; \
         UPDATE audit_event SET seq = -seq - 1 WHERE tenant_id = {A} AND seq < 0; \
         UPDATE audit_head SET seq = seq - 1 WHERE tenant_id = {A}",
        "does not follow",
    ),
    (
        "two events change places",
        "UPDATE audit_event SET seq = -seq WHERE tenant_id = {A} AND seq IN (3, 4); \
         UPDATE audit_event SET seq = 7 + seq WHERE tenant_id = {A} AND seq < 0",
        "does not follow",
    ),
    ("the newest events are cut off", "DELETE FROM audit_event WHERE tenant_id = {A} AND seq > 6", "cut or replaced"),
    ("the first event is removed", "DELETE FROM audit_event WHERE tenant_id = {A} AND seq = 1", "removed"),
    (
        "the first events are removed and the others close up",
        "DELETE FROM audit_event WHERE tenant_id = {A} AND seq < 4; \
         UPDATE audit_event SET seq = -seq WHERE tenant_id = {A}; \
         UPDATE audit_event SET seq = -seq - 3 WHERE tenant_id = {A}; \
         UPDATE audit_head SET seq = seq - 3 WHERE tenant_id = {A}",
        "does not follow",
    ),
    ("the head is removed", "DELETE FROM audit_head WHERE tenant_id = {A}", "lies beyond"),
    (
        "the head is set back",
        "UPDATE audit_head SET seq = 6, hash = (SELECT hash FROM audit_event WHERE tenant_id = {A} AND seq = 6) WHERE \
         tenant_id = {A}",
        "lies beyond",
    ),
    (
        "everything is removed",
        "DELETE FROM audit_event WHERE tenant_id = {A}; DELETE FROM audit_head WHERE tenant_id = {A}",
        "no events",
    ),
    (
        "everything up to a later event is removed, and that one is the first",
        "DELETE FROM audit_event WHERE tenant_id = {A} AND seq <> 5; \
         UPDATE audit_event SET seq = 1 WHERE tenant_id = {A}; UPDATE audit_head SET seq = 1 WHERE tenant_id = {A}",
        "begin with the tenant's creation",
    ),
    (
        "the chain is said to begin later, and the first events are removed",
        "UPDATE audit_head SET removed_seq = 4, removed_hash = (SELECT hash FROM audit_event WHERE tenant_id = {A} AND \
         seq = 4) WHERE tenant_id = {A}; DELETE FROM audit_event WHERE tenant_id = {A} AND seq <= 4",
        "no event says that it was exported",
    ),
    (
        "another tenant's event stands in its place",
        "DELETE FROM audit_event WHERE tenant_id = {A} AND seq = 4; \
         UPDATE audit_event SET tenant_id = {A} WHERE tenant_id = {B} AND seq = 4",
        "edited",
    ),
    (
        "another tenant's whole chain stands in its place",
        "DELETE FROM audit_event WHERE tenant_id = {A}; DELETE FROM audit_head WHERE tenant_id = {A}; \
         UPDATE audit_event SET tenant_id = {A} WHERE tenant_id = {B}; \
         UPDATE audit_head SET tenant_id = {A} WHERE tenant_id = {B}",
        "edited",
    ),
    (
        "an event is made up",
        "INSERT INTO audit_event (tenant_id, seq, at, body, prev_hash, hash) SELECT tenant_id, seq + 1, at, body, hash, \
         prev_hash FROM audit_event WHERE tenant_id = {A} AND seq = 9; \
         UPDATE audit_head SET seq = 10, hash = (SELECT hash FROM audit_event WHERE tenant_id = {A} AND seq = 10) WHERE \
         tenant_id = {A}",
        "edited",
    ),
    (
        "an event is said twice",
        "INSERT INTO audit_event (tenant_id, seq, at, body, prev_hash, hash) SELECT tenant_id, 10, at, body, prev_hash, \
         hash FROM audit_event WHERE tenant_id = {A} AND seq = 9",
        "lies beyond",
    ),
];

/// The chains as they were, and back.
const KEEP: &str =
    "CREATE TABLE kept_event AS SELECT * FROM audit_event; CREATE TABLE kept_head AS SELECT * FROM audit_head";
const RESTORE: &str = "DELETE FROM audit_event; DELETE FROM audit_head; INSERT INTO audit_event SELECT * FROM kept_event; \
                       INSERT INTO audit_head SELECT * FROM kept_head";

fn other() -> TenantScope {
    actors::scope(TenantId::from_uuid("0198aaaa-0000-7000-8000-000000000001".parse().unwrap()))
}

async fn grow(store: &dyn Store) {
    for scope in [work::home(), other()] {
        store.append_audit(scope, work::NOW, work::event(audit::TENANT_CREATED)).await.unwrap();
        for n in 2..=LENGTH {
            store.append_audit(scope, work::NOW, work::event(&format!("test.{n}"))).await.unwrap();
        }
    }
}

async fn walk(store: &dyn Store, scope: TenantScope) -> AuditReport {
    audit::verify(store, scope, TestKeys::new().audit_key(scope.tenant())).await.unwrap()
}

/// Tries every way, each on a whole chain.
async fn each_way_is_found(store: &dyn Store, tenant: fn(TenantScope) -> String, mut sql: impl AsyncFnMut(&str)) {
    grow(store).await;
    let whole = AuditReport { valid: true, length: LENGTH, removed_to: 0, faults: Vec::new() };
    assert_eq!((walk(store, work::home()).await, walk(store, other()).await), (whole.clone(), whole.clone()));
    sql(KEEP).await;
    for (what, statements, says) in WAYS {
        sql(&statements.replace("{A}", &tenant(work::home())).replace("{B}", &tenant(other()))).await;
        let found = walk(store, work::home()).await;
        assert!(!found.valid, "{what}: not found");
        let said: Vec<&str> = found.faults.iter().map(|fault| fault.problem.as_str()).collect();
        assert!(said.iter().any(|problem| problem.contains(says)), "{what}: {said:?} says nothing of {says:?}");
        sql(RESTORE).await;
        assert_eq!(walk(store, work::home()).await, whole, "{what}, undone");
    }
}

#[tokio::test]
async fn every_way_to_tamper_with_a_sqlite_file_is_found() {
    let (store, folder) = support::sqlite(Arc::new(SimClock::new())).await;
    let conn = rusqlite::Connection::open(folder.path().join("kybern.db")).unwrap();
    conn.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    conn.execute_batch("DROP TRIGGER audit_event_keeps; DROP TRIGGER audit_event_stays").unwrap();
    let tenant = |scope: TenantScope| format!("x'{}'", scope.tenant().to_string().replace('-', ""));
    each_way_is_found(&store, tenant, async |statements: &str| conn.execute_batch(statements).unwrap()).await;
}

#[tokio::test]
async fn every_way_to_tamper_with_a_postgres_database_is_found() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let mut conn = database.connect().await;
    sqlx::raw_sql("ALTER TABLE audit_event DISABLE TRIGGER USER").execute(&mut conn).await.unwrap();
    let tenant = |scope: TenantScope| format!("'{}'", scope.tenant());
    each_way_is_found(&store, tenant, async |statements: &str| {
        sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut conn).await.unwrap();
    })
    .await;
}
