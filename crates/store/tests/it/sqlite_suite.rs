//! What every store does, on SQLite.

use crate::support::sqlite_harness;

kybern_testkit::conformance_suite!(sqlite_harness);
