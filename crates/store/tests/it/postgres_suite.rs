//! What every store does, on PostgreSQL.

use crate::support;
use kybern_testkit::conformance::Harness;

/// Without a server there is nothing to test; the in-memory store stands in, and the message says so.
async fn make() -> Harness {
    match support::server() {
        Some(server) => support::postgres_harness(&server).await,
        None => Harness::in_memory(),
    }
}

kybern_testkit::conformance_suite!(make);
