//! Every statement fits the schema of both databases.

use std::sync::Arc;

use kybern_testkit::SimClock;

use crate::support::{self, Database};

#[tokio::test]
async fn every_statement_prepares_on_sqlite() {
    let (store, _folder) = support::sqlite(Arc::new(SimClock::new())).await;
    assert!(store.check_statements().await.unwrap() > 100);
}

#[tokio::test]
async fn every_statement_prepares_on_postgres() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    assert!(store.check_statements().await.unwrap() > 100);
}
