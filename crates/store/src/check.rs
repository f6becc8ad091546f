//! Prepares every statement without running it: a typing error in a rare one is found at once, not at night.

use sqlx::Executor as _;

use crate::db::{Conn, Sql, Tx};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;
use crate::{
    agents, approvals, audit, blobs, budgets, chats, dossiers, idempotency, identity, jobs, knowledge, lessons,
    memories, model_policies, outbox, own_tools, permissions, plans, preferences, probe, prompts, rates, record_admin,
    records, reservations, retention, secrets, standings, tasks,
};

/// Every statement of this crate.
fn every_statement() -> impl Iterator<Item = &'static Sql> {
    let nouns = [
        agents::STATEMENTS,
        approvals::STATEMENTS,
        audit::STATEMENTS,
        blobs::STATEMENTS,
        budgets::STATEMENTS,
        chats::STATEMENTS,
        chats::message::STATEMENTS,
        dossiers::STATEMENTS,
        idempotency::STATEMENTS,
        identity::STATEMENTS,
        identity::keys::STATEMENTS,
        jobs::STATEMENTS,
        knowledge::STATEMENTS,
        lessons::STATEMENTS,
        memories::STATEMENTS,
        model_policies::STATEMENTS,
        outbox::STATEMENTS,
        own_tools::STATEMENTS,
        permissions::STATEMENTS,
        plans::STATEMENTS,
        preferences::STATEMENTS,
        probe::STATEMENTS,
        prompts::STATEMENTS,
        rates::STATEMENTS,
        record_admin::STATEMENTS,
        records::STATEMENTS,
        reservations::STATEMENTS,
        secrets::STATEMENTS,
        standings::STATEMENTS,
    ];
    nouns.into_iter().chain(tasks::STATEMENTS).chain(retention::NOUNS).flatten().copied()
}

async fn prepare_all(tx: &mut Tx) -> Result<usize> {
    let mut prepared = 0;
    for sql in every_statement() {
        let fault = |problem: String| StoreError::Decode { row: sql.name.to_owned(), problem };
        match tx.conn() {
            Conn::Sqlite(conn) => drop(conn.prepare_cached(sql.sqlite).map_err(|error| fault(error.to_string()))?),
            Conn::Postgres(conn) => {
                let text = sqlx::SqlSafeStr::into_sql_str(sql.postgres);
                drop(conn.prepare(text).await.map_err(|error| fault(error.to_string()))?);
            }
        }
        prepared += 1;
    }
    Ok(prepared)
}

impl<D> SqlStore<D> {
    /// Prepares every statement of this crate and answers how many there are.
    ///
    /// # Errors
    /// When one of them does not fit the schema; the error names it.
    pub async fn check_statements(&self) -> Result<usize> {
        self.read_all((), |tx, ()| Box::pin(prepare_all(tx))).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kybern_testkit::{SimClock, TestKeys};

    use super::*;
    use crate::{SqliteOptions, SqliteStore};

    /// Tables that grow with the work of a tenant.
    const LARGE: [&str; 22] = [
        "approval",
        "artifact_link",
        "attachment",
        "attempt",
        "audit_event",
        "chat",
        "delegation",
        "idempotency",
        "job",
        "knowledge",
        "knowledge_piece",
        "memory",
        "message",
        "outbox",
        "record",
        "record_lookup",
        "record_version",
        "signal",
        "step_row",
        "task",
        "turn",
        "usage_row",
    ];

    /// What may go through all rows of a table, or of a tenant in it: the statement, the table, and why.
    const MAY: [(&str, &str, &str); 18] = [
        ("audit_kept_since", "task", "an index of what has not completed"),
        ("job_set_back", "job", "an index of what is open, when the clock was set back"),
        ("job_take_over", "job", "an index of what is open, at the start"),
        ("job_waiting", "job", "an index of what is open, each tenant's first one"),
        ("knowledge_count", "knowledge", "a tenant has a limited number"),
        ("knowledge_piece_count", "knowledge_piece", "a tenant has a limited number"),
        ("knowledge_piece_published", "knowledge_piece", "all that is searched"),
        ("knowledge_revision", "knowledge", "a tenant has a limited number"),
        ("lesson_forget", "task", "an index of what has not completed, up to the first"),
        ("memory_named", "record", "the first entry of an index"),
        ("open_work", "approval", "an index of what is open"),
        ("open_work", "job", "an index of what is open"),
        ("open_work", "outbox", "an index of what is not sent"),
        ("record_kinds", "record", "a count for a person who asks"),
        ("task_count_by_status", "task", "counts for metrics, from indexes alone"),
        ("task_set_back", "task", "when the clock was set back"),
        ("task_take_over", "task", "an index of what is open, at the start"),
        ("task_waiting", "task", "an index of what is open, each tenant's first one"),
    ];

    /// The table that a step of a plan goes through without looking for more than a tenant.
    fn walked(step: &str) -> Option<&str> {
        let (how, rest) = step.split_once(' ')?;
        let goes_through = how == "SCAN" || (how == "SEARCH" && rest.ends_with("(tenant_id=?)"));
        rest.split(' ').next().filter(|_| goes_through)
    }

    async fn plans(tx: &mut Tx) -> Result<Vec<(&'static str, String)>> {
        let Conn::Sqlite(conn) = tx.conn() else { return Ok(Vec::new()) };
        let mut steps = Vec::new();
        for sql in every_statement() {
            let mut asked = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", sql.sqlite))?;
            let mut rows = asked.raw_query();
            while let Some(row) = rows.next()? {
                steps.push((sql.name, row.get::<_, String>("detail")?));
            }
        }
        Ok(steps)
    }

    #[tokio::test]
    async fn no_statement_goes_through_all_that_a_tenant_has() {
        let folder = tempfile::tempdir().unwrap();
        let (keys, clock) = (Arc::new(TestKeys::new()), Arc::new(SimClock::new()));
        let file = folder.path().join("a.db");
        let store = SqliteStore::open(&file, SqliteOptions::default(), keys, clock).await.unwrap();
        let steps = store.read_all((), |tx, ()| Box::pin(plans(tx))).await.unwrap();
        assert!(steps.len() > 300, "{}", steps.len());
        let walks: Vec<(&str, &str)> = steps.iter().filter_map(|(name, step)| Some((*name, walked(step)?))).collect();
        let is = |(of, table, _): &(&str, &str, &str), (name, walked): &(&str, &str)| of == name && table == walked;
        let may = |walk: &(&str, &str)| MAY.iter().any(|one| is(one, walk));
        let found: Vec<_> = walks.iter().filter(|walk| LARGE.contains(&walk.1) && !may(walk)).collect();
        assert!(found.is_empty(), "{found:#?}");
        let idle: Vec<_> = MAY.iter().filter(|one| !walks.iter().any(|walk| is(one, walk))).collect();
        assert!(idle.is_empty(), "nobody needs these any more: {idle:#?}");
        let looked_at = |table: &&&str| steps.iter().any(|(_, step)| step.split(' ').nth(1) == Some(**table));
        let unknown: Vec<_> = LARGE.iter().filter(|table| !looked_at(table)).collect();
        assert!(unknown.is_empty(), "no statement looks at {unknown:?}");
        // Not from all of the tenant's, by id, down to the owned ones.
        let owned: Vec<&str> =
            steps.iter().filter(|(name, _)| *name == "records_owned").map(|(_, step)| step.as_str()).collect();
        assert!(
            owned.iter().any(|step| step.starts_with("SEARCH record ") && step.ends_with("(tenant_id=? AND id=?)")),
            "{owned:?}"
        );
        assert!(
            owned.iter().any(|step| step.starts_with("SEARCH record_lookup ") && step.contains("value=?")),
            "{owned:?}"
        );
    }
}
