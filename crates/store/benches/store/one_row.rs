//! What a PostgreSQL server makes of inserts that nobody batches: the measure of what the store makes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgPool, PgPoolOptions};

use crate::CLIENTS;

/// An empty database on a server.
pub(crate) struct Database {
    pub(crate) url: String,
    pub(crate) pool: PgPool,
    owner: PgPool,
    name: String,
}

impl Database {
    /// Creates it, with a name of its own.
    pub(crate) async fn create(server: &str) -> Self {
        let owner = PgPool::connect(server).await.unwrap();
        let name = format!("kybern_bench_{}", std::process::id());
        sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&owner).await.unwrap();
        let (base, _) = server.rsplit_once('/').unwrap();
        let url = format!("{base}/{name}");
        let connections = u32::try_from(CLIENTS).unwrap();
        let pool = PgPoolOptions::new().max_connections(connections).connect(&url).await.unwrap();
        Self { url, pool, owner, name }
    }

    /// Drops it, whoever is still connected.
    pub(crate) async fn drop(self) {
        self.pool.close().await;
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        sqlx::query(sqlx::AssertSqlSafe(drop)).execute(&self.owner).await.unwrap();
    }
}

/// What the server itself makes of as many connections, each inserting one row after the other.
pub(crate) async fn rate(pool: &PgPool, span: Duration) -> f64 {
    sqlx::query("CREATE TABLE one_row (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task BIGINT, data TEXT)")
        .execute(pool)
        .await
        .unwrap();
    let rows = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let runs = (0..CLIENTS).map(|_| {
        let (pool, rows) = (pool.clone(), Arc::clone(&rows));
        tokio::spawn(async move {
            let mut conn = pool.acquire().await.unwrap();
            while begun.elapsed() < span {
                let insert = sqlx::query("INSERT INTO one_row (task, data) VALUES ($1, $2)");
                insert
                    .bind(1_i64)
                    .bind("{\"output\":\"0123456789012345678901234567890123456789\"}")
                    .execute(&mut *conn)
                    .await
                    .unwrap();
                rows.fetch_add(1, Ordering::Relaxed);
            }
        })
    });
    futures::future::join_all(runs).await;
    rows.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64()
}
