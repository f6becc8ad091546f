//! Whether a long history slows a claim, a list or a log: the same store with no finished tasks, and with many.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kybern_core::id::TaskId;
use kybern_core::ports::{Store, TaskFilter};
use kybern_core::task::{Commit, Submitted, TaskChange, TaskEnding, TaskStatus, WorkerId};
use kybern_core::time::Millis;
use serde_json::json;

use crate::rate::{self, Wall};
use kybern_core::ports::Clock as _;

/// Claims that are timed.
const CLAIMS: usize = 2_000;
/// Pages that are timed.
const PAGES: usize = 200;

pub(crate) struct Medians {
    /// Of a claim of the one task that is due.
    pub(crate) claim: Duration,
    /// Of a page of fifty tasks, newest first.
    pub(crate) list: Duration,
    /// Of the same page by status.
    pub(crate) list_failed: Duration,
    /// Of a page of a task's journal.
    pub(crate) log: Duration,
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Claims, lists and reads logs.
pub(crate) async fn measure(store: &Arc<dyn Store>) -> Medians {
    let worker = WorkerId::new("bench");
    let scope = rate::scope();
    let mut claims = Vec::with_capacity(CLAIMS);
    let mut last = None;
    for _ in 0..CLAIMS {
        let Submitted::Queued(task) = store.submit(scope, rate::new_task(), None).await.unwrap() else { continue };
        let begun = Instant::now();
        let claimed = store
            .claim_due(&worker, &kybern_core::slots::WorkerCapacity::of(1), Millis(30_000), Wall.now())
            .await
            .unwrap();
        claims.push(begun.elapsed());
        assert_eq!(claimed[0].task.id, task.id, "the one task that is due");
        let end = TaskEnding { status: TaskStatus::Completed, result: json!({}), error: None, current_step: None };
        let rows = (1..=5).map(rate::row).collect();
        let commit = Commit { rows, change: TaskChange::End(Box::new(end)), at: Wall.now(), ..Commit::default() };
        store.commit(&claimed[0].lease, commit.into()).await.unwrap();
        last = Some(task.id);
    }
    let list = async |status: Option<TaskStatus>| {
        let filter = TaskFilter { status, intent: None, channel: None, talks_of: None, before: None, limit: 50 };
        let mut times = Vec::with_capacity(PAGES);
        for _ in 0..PAGES {
            let begun = Instant::now();
            drop(store.tasks(scope, &filter).await.unwrap());
            times.push(begun.elapsed());
        }
        median(times)
    };
    let log = async |task: TaskId| {
        let mut times = Vec::with_capacity(PAGES);
        for _ in 0..PAGES {
            let begun = Instant::now();
            assert_eq!(store.journal(scope, task, 0, 1_000).await.unwrap().len(), 5);
            times.push(begun.elapsed());
        }
        median(times)
    };
    Medians {
        claim: median(claims),
        list: list(None).await,
        list_failed: list(Some(TaskStatus::Failed)).await,
        log: log(last.unwrap()).await,
    }
}

/// Writes the finished tasks of those numbers, with two rows each, straight into a SQLite file that no store has open.
pub(crate) fn fill_sqlite(path: &Path, tasks: RangeInclusive<u64>) {
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute_batch("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF").unwrap();
    let (first, last) = tasks.into_inner();
    let numbers = format!("WITH RECURSIVE n (n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM n WHERE n < {last})");
    let id = "unhex(printf('%012x', 1700000000000 + n) || '70008000' || printf('%012x', n))";
    let tenant = "(SELECT id FROM tenant ORDER BY created_at LIMIT 1)";
    let words =
        "'please send the loss runs for the policies that are listed below, and confirm that you have received it'";
    conn.execute_batch(&format!(
        "BEGIN;
         {numbers} INSERT INTO task (id, tenant_id, channel, source, status, input, payload, created_by, max_steps,
            confidence_threshold, trace_id, depth, created_at, completed_at, result)
         SELECT {id}, {tenant}, 'api', 'api', 'completed', {words}, '{{}}', 'user:bench', 50, 0.8,
            '00000000000000000000000000000000', 0, 1700000000000 + n, 1700000000001 + n, '{{}}' FROM n;
         {numbers} INSERT INTO step_row (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body)
         SELECT {id}, 1, {tenant}, 'finished', 'completed', 'a', 'core.noop', n, printf('%.200c', 'x') FROM n;
         {numbers} INSERT INTO step_row (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body)
         SELECT {id}, 2, {tenant}, 'ended', 'completed', NULL, NULL, n, printf('%.200c', 'x') FROM n;
         COMMIT; PRAGMA wal_checkpoint(TRUNCATE)"
    ))
    .unwrap();
}

/// Fills a SQLite file that no store has open until it has that size.
pub(crate) fn grow_sqlite(path: &Path, megabytes: u64) {
    let (mut first, step) = (1, 100_000);
    while std::fs::metadata(path).unwrap().len() < megabytes * 1_000_000 {
        fill_sqlite(path, first..=first + step - 1);
        first += step;
    }
}

/// Writes finished tasks into a PostgreSQL database, without rows; by a role that row-level security does not hold.
pub(crate) async fn fill_postgres(pool: &sqlx::PgPool, tasks: u64) {
    let fill = format!(
        "INSERT INTO task (id, tenant_id, channel, source, status, input, payload, created_by, max_steps,
            confidence_threshold, trace_id, depth, created_at, completed_at, result)
         SELECT (lpad(to_hex(1700000000000 + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
            (SELECT id FROM tenant ORDER BY created_at LIMIT 1), 'api', 'api', 'completed', 'please send the loss runs',
            '{{}}', 'user:bench', 50, 0.8, '00000000000000000000000000000000', 0, 1700000000000 + n, 1700000000001 + n,
            '{{}}' FROM generate_series(1::bigint, {tasks}) AS n"
    );
    sqlx::query(sqlx::AssertSqlSafe(fill)).execute(pool).await.unwrap();
    sqlx::query("VACUUM ANALYZE task").execute(pool).await.unwrap();
}
