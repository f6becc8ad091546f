//! Prepares every statement without running it: a typing error in a rare one is found at once, not at night.

use sqlx::Executor as _;

use crate::db::{Conn, Sql, Tx};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;
use crate::{
    agents, approvals, audit, blobs, budgets, chats, idempotency, identity, jobs, knowledge, lessons, memories,
    model_policies, outbox, permissions, plans, preferences, probe, prompts, rates, records, reservations, retention,
    secrets, standings, tasks,
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
        idempotency::STATEMENTS,
        identity::STATEMENTS,
        jobs::STATEMENTS,
        knowledge::STATEMENTS,
        lessons::STATEMENTS,
        memories::STATEMENTS,
        model_policies::STATEMENTS,
        outbox::STATEMENTS,
        permissions::STATEMENTS,
        plans::STATEMENTS,
        preferences::STATEMENTS,
        probe::STATEMENTS,
        prompts::STATEMENTS,
        rates::STATEMENTS,
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
