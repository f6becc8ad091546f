//! PostgreSQL's own walls: row-level security, narrow roles, partitions. Tried with raw SQL, past all types.

use std::sync::Arc;

use bytes::Bytes;
use kybern_core::id::{TaskId, TenantId};
use kybern_core::ports::{AuditStore as _, BlobStore as _, IdSource as _, RetentionStore as _, TaskStore as _};
use kybern_core::retention::{Purge, RetentionKind};
use kybern_core::time::Timestamp;
use kybern_testkit::{SimClock, actors};
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::support::{self, Database};
use crate::work;

async fn count(conn: &mut PgConnection, role: &str, tenant: &str, text: &str) -> Result<i64, sqlx::Error> {
    let begin = format!("BEGIN; SET LOCAL ROLE {role}; SET LOCAL kybern.tenant_id = '{tenant}'");
    sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *conn).await?;
    let counted = sqlx::query_scalar(AssertSqlSafe(text.to_owned())).fetch_one(&mut *conn).await;
    sqlx::raw_sql("ROLLBACK").execute(&mut *conn).await?;
    counted
}

#[tokio::test]
async fn raw_sql_sees_one_tenant_and_none_without_a_tenant() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let ids = work::ids(3);
    let other = TenantId::from_uuid(ids.next());
    for scope in [work::home(), actors::scope(other)] {
        let claimed = work::leased(&store, scope, work::task(TaskId::from_uuid(ids.next()))).await;
        store.commit(&claimed.lease, work::rows(&[1]).into()).await.unwrap();
        store.append_audit(scope, work::NOW, work::event("test.done")).await.unwrap();
        store.put_blob(scope, Bytes::from_static(b"bytes")).await.unwrap();
    }
    let mut conn = database.connect().await;
    let (home, nobody) = (TenantId::DEFAULT.to_string(), Uuid::nil().to_string());
    for table in ["task", "step_row", "audit_event", "audit_head", "blob"] {
        let text = format!("SELECT count(*) FROM {table}");
        assert_eq!(count(&mut conn, "kybern_app", &home, &text).await.unwrap(), 1, "{table}");
        assert_eq!(count(&mut conn, "kybern_app", &nobody, &text).await.unwrap(), 0, "{table}");
        assert_eq!(count(&mut conn, "kybern_app", "", &text).await.unwrap(), 0, "{table} without a tenant");
    }
    // Changing and inserting across the wall is refused or finds nothing.
    let foreign = format!(
        "WITH x AS (UPDATE task SET input = 'x' WHERE tenant_id = '{other}' RETURNING 1) SELECT count(*) FROM x"
    );
    assert_eq!(count(&mut conn, "kybern_app", &home, &foreign).await.unwrap(), 0);
    let insert =
        format!("WITH x AS (INSERT INTO audit_head VALUES ('{nobody}', 1, 'x') RETURNING 1) SELECT count(*) FROM x");
    assert!(count(&mut conn, "kybern_app", &home, &insert).await.is_err());
}

#[tokio::test]
async fn the_worker_role_sees_leases_and_no_contents() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    work::lease(&store, &work::ids(4)).await;
    let mut conn = database.connect().await;
    assert_eq!(count(&mut conn, "kybern_worker", "", "SELECT count(id) FROM task").await.unwrap(), 1);
    for text in [
        "SELECT count(input) FROM task",
        "SELECT count(payload) FROM task",
        "SELECT count(*) FROM step_row",
        "SELECT count(*) FROM record",
        "SELECT count(email) FROM app_user",
        "SELECT count(*) FROM audit_event",
        "WITH x AS (UPDATE task SET status = 'failed' RETURNING 1) SELECT count(*) FROM x",
    ] {
        let refused = count(&mut conn, "kybern_worker", "", text).await.unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{text}: {refused}");
    }
}

#[tokio::test]
async fn journal_and_audit_are_not_edited() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let lease = work::lease(&store, &work::ids(5)).await;
    store.commit(&lease, work::rows(&[1]).into()).await.unwrap();
    store.append_audit(work::home(), work::NOW, work::event("test.done")).await.unwrap();
    let mut conn = database.connect().await;
    let home = TenantId::DEFAULT.to_string();
    for text in [
        "WITH x AS (UPDATE step_row SET body = '{}' RETURNING 1) SELECT count(*) FROM x",
        "WITH x AS (DELETE FROM step_row RETURNING 1) SELECT count(*) FROM x",
        "WITH x AS (UPDATE audit_event SET body = '{}' RETURNING 1) SELECT count(*) FROM x",
        "WITH x AS (DELETE FROM audit_event RETURNING 1) SELECT count(*) FROM x",
        "SELECT count(*) FROM step_row_default",
    ] {
        let refused = count(&mut conn, "kybern_app", &home, text).await.unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{text}: {refused}");
    }
    // Even the owner is stopped by the trigger.
    for text in ["UPDATE audit_event SET body = '{}'", "DELETE FROM audit_event", "TRUNCATE audit_event"] {
        let refused = sqlx::raw_sql(text).execute(&mut conn).await.unwrap_err().to_string();
        assert!(refused.contains("never changed or removed"), "{text}: {refused}");
    }
}

/// Whole trees that have ended are what the role that works can take out of a journal, and nothing else.
#[tokio::test]
async fn only_what_is_over_leaves_the_journal() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let ids = work::ids(8);
    let (open, over) = (work::lease(&store, &ids).await, work::lease(&store, &ids).await);
    for lease in [&open, &over] {
        store.commit(lease, work::rows(&[1]).into()).await.unwrap();
    }
    store.commit(&over, work::ended().into()).await.unwrap();
    let mut conn = database.connect().await;
    let home = TenantId::DEFAULT.to_string();
    let remove = |id: TaskId| format!("SELECT kybern_remove_tree('{id}')");
    let (open, over) = (remove(open.task()), remove(over.task()));
    assert_eq!(count(&mut conn, "kybern_app", &home, &open).await.unwrap(), 0);
    assert_eq!(count(&mut conn, "kybern_app", &Uuid::nil().to_string(), &over).await.unwrap(), 0, "another tenant's");
    assert_eq!(count(&mut conn, "kybern_app", "", &over).await.unwrap(), 0, "nobody's");
    // Rolled back by the helper each time.
    assert_eq!(count(&mut conn, "kybern_app", &home, &over).await.unwrap(), 1);
    let files = "SELECT kybern_remove_files(0, 10)";
    for text in [over.as_str(), files] {
        let refused = count(&mut conn, "kybern_worker", &home, text).await.unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{text}: {refused}");
    }
    for text in [
        "WITH x AS (DELETE FROM attempt RETURNING 1) SELECT count(*) FROM x",
        "WITH x AS (DELETE FROM signal RETURNING 1) SELECT count(*) FROM x",
        "WITH x AS (DELETE FROM usage_row RETURNING 1) SELECT count(*) FROM x",
        "WITH x AS (DELETE FROM blob RETURNING 1) SELECT count(*) FROM x",
        "WITH x AS (UPDATE blob SET bytes = '' RETURNING 1) SELECT count(*) FROM x",
        "WITH x AS (UPDATE task_hold SET reason = '' RETURNING 1) SELECT count(*) FROM x",
    ] {
        let refused = count(&mut conn, "kybern_app", &home, text).await.unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{text}: {refused}");
    }
    // A table of the same name that somebody brings along is not looked at.
    let begin = format!("BEGIN; SET LOCAL ROLE kybern_app; SET LOCAL kybern.tenant_id = '{home}'");
    for text in [begin.as_str(), "CREATE TEMP TABLE task (id UUID, tenant_id UUID, parent_id UUID, status TEXT)"] {
        sqlx::raw_sql(AssertSqlSafe(text.to_owned())).execute(&mut conn).await.unwrap();
    }
    let id = open.split('\'').nth(1).unwrap();
    let decoy = format!("INSERT INTO pg_temp.task VALUES ('{id}', '{home}', NULL, 'completed')");
    sqlx::raw_sql(AssertSqlSafe(decoy)).execute(&mut conn).await.unwrap();
    let removed: i64 = sqlx::query_scalar(AssertSqlSafe(open)).fetch_one(&mut conn).await.unwrap();
    assert_eq!(removed, 0);
}

/// Vacuums until the table takes no space. Connections that start anywhere on the server hold dead rows back for a
/// moment, as long as they have not said which database they want, so one vacuum may leave what the next one takes.
async fn vacuumed(conn: &mut PgConnection, table: &str) {
    for _ in 0..200 {
        sqlx::raw_sql(AssertSqlSafe(format!("VACUUM {table}"))).execute(&mut *conn).await.unwrap();
        let size = format!("SELECT pg_relation_size('{table}')");
        let size: i64 = sqlx::query_scalar(AssertSqlSafe(size)).fetch_one(&mut *conn).await.unwrap();
        if size == 0 {
            return;
        }
        sqlx::raw_sql("SELECT pg_sleep(0.05)").execute(&mut *conn).await.unwrap();
    }
    panic!("{table} still takes space after ten seconds of vacuuming");
}

#[tokio::test]
async fn rows_of_the_journal_lie_in_the_month_of_their_task() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let clock = Arc::new(SimClock::new());
    clock.set(work::NOW);
    let store = database.store(clock).await;
    let ids = work::ids(6);
    let id = ids.next();
    let claimed = work::leased(&store, work::home(), work::task(TaskId::from_uuid(id))).await;
    store.commit(&claimed.lease, work::rows(&[1]).into()).await.unwrap();
    let mut conn = database.connect().await;
    let partition = "SELECT tableoid::regclass::text FROM step_row LIMIT 1";
    let place: String = sqlx::query_scalar(partition).fetch_one(&mut conn).await.unwrap();
    assert_eq!(place, "step_row_2026_09");
    let months = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'step_row'::regclass";
    let before: i64 = sqlx::query_scalar(months).fetch_one(&mut conn).await.unwrap();
    assert_eq!(before, 5, "this month, three ahead, and the default");
    let later = Timestamp::from_millis(work::NOW.as_millis() + 100 * 86_400_000);
    store.maintain(later).await.unwrap();
    store.maintain(later).await.unwrap();
    let after: i64 = sqlx::query_scalar(months).fetch_one(&mut conn).await.unwrap();
    assert_eq!(after, 7, "three more, and of the past months only the empty one before the last has gone");
    let names = async |conn: &mut PgConnection| -> Vec<String> {
        let text = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'step_row'::regclass ORDER BY 1";
        sqlx::query_scalar(text).fetch_all(conn).await.unwrap()
    };
    assert_eq!(names(&mut conn).await[..2], ["step_row_2026_09", "step_row_2026_11"]);
    let remove =
        "ALTER TABLE step_row DISABLE TRIGGER USER; DELETE FROM step_row; ALTER TABLE step_row ENABLE TRIGGER USER";
    sqlx::raw_sql(remove).execute(&mut conn).await.unwrap();
    vacuumed(&mut conn, "step_row_2026_09").await;
    store.maintain(later).await.unwrap();
    assert_eq!(names(&mut conn).await[0], "step_row_2026_11", "its tasks are gone, and so is it");
}

#[tokio::test]
async fn an_owner_without_special_rights_is_enough() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    // The roles exist on this server, made by whoever was first; the owner was made a member of them.
    drop(database.store(Arc::new(SimClock::new())).await);
    let database = Database::create(&server).await;
    let mut conn = database.connect().await;
    let name = database.name();
    let owner = format!("{name}_owner");
    let made = format!(
        "CREATE ROLE {owner} LOGIN NOSUPERUSER PASSWORD 'test'; GRANT kybern_app, kybern_worker TO {owner}; \
         ALTER DATABASE {name} OWNER TO {owner}; ALTER SCHEMA public OWNER TO {owner}"
    );
    sqlx::raw_sql(AssertSqlSafe(made)).execute(&mut conn).await.unwrap();
    let store = database.store_as(&owner, "test", Arc::new(SimClock::new())).await;
    let lease = work::lease(&store, &work::ids(7)).await;
    store.commit(&lease, work::rows(&[1]).into()).await.unwrap();
    store.maintain(work::NOW).await.unwrap();
    assert_eq!(store.journal(work::home(), lease.task(), 0, 10).await.unwrap().len(), 1);
    // What it removes, it removes with the owner's rights, and those are enough.
    let over = work::lease(&store, &work::ids(9)).await;
    store.commit(&over, work::rows(&[1]).into()).await.unwrap();
    store.commit(&over, work::ended().into()).await.unwrap();
    store.put_blob(work::home(), Bytes::from_static(b"of nobody")).await.unwrap();
    for kept in [RetentionKind::Tasks, RetentionKind::Files] {
        let purge = Purge { kept, before: Timestamp::from_millis(i64::MAX >> 16), holds: Vec::new(), dry_run: false };
        assert_eq!(store.purge(work::home(), &purge, None, work::NOW).await.unwrap().count, 1, "{kept:?}");
    }
    assert!(store.journal(work::home(), over.task(), 0, 10).await.unwrap().is_empty());
    // Row-level security is forced: owning the table opens nothing.
    let mut as_owner = database.connect_as(&owner, "test").await;
    let seen: i64 = sqlx::query_scalar("SELECT count(*) FROM step_row").fetch_one(&mut as_owner).await.unwrap();
    assert_eq!(seen, 0);
    drop((store, as_owner));
    let over = format!("REASSIGN OWNED BY {owner} TO CURRENT_USER; DROP OWNED BY {owner}; DROP ROLE {owner}");
    sqlx::raw_sql(AssertSqlSafe(over)).execute(&mut conn).await.unwrap();
}

#[tokio::test]
async fn edited_bytes_are_not_given_out() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let hash = store.put_blob(work::home(), Bytes::from_static(b"original")).await.unwrap();
    let mut conn = database.connect().await;
    sqlx::raw_sql("UPDATE blob SET bytes = 'edited'").execute(&mut conn).await.unwrap();
    assert_eq!(store.blob(work::home(), &hash).await.unwrap(), None);
}

#[tokio::test]
async fn edited_bytes_of_a_file_are_not_given_out() {
    let (store, folder) = support::sqlite(Arc::new(SimClock::new())).await;
    let hash = store.put_blob(work::home(), Bytes::from_static(b"original")).await.unwrap();
    assert_eq!(store.blob(work::home(), &hash).await.unwrap().as_deref(), Some(b"original".as_slice()));
    let place = folder.path().join("kybern.db.files").join(TenantId::DEFAULT.to_string()).join(&hash[..2]).join(&hash);
    std::fs::write(&place, "edited").unwrap();
    assert_eq!(store.blob(work::home(), &hash).await.unwrap(), None);
    // Storing it again mends it; a name that is no hash is no path.
    store.put_blob(work::home(), Bytes::from_static(b"original")).await.unwrap();
    assert_eq!(store.blob(work::home(), &hash).await.unwrap().as_deref(), Some(b"original".as_slice()));
    assert_eq!(store.blob(work::home(), "../../kybern.db").await.unwrap(), None);
}
