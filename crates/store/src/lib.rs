//! All SQL of Kybern: every port of [`kybern_core::ports::Store`] on SQLite and on PostgreSQL.
//!
//! Each noun is written once, over [`db`]'s unit of work, and runs on both databases. What differs between them lies
//! in `sql/sqlite` and `sql/postgres`, each file with the reason why.
//!
//! - **SQLite**: one thread writes. It takes what has queued up, runs it in one transaction, and answers each caller
//!   after the one fsync; a few other connections read. One process owns a file.
//! - **PostgreSQL**: a few connections write in the same way; claims skip what others hold; row-level security is a
//!   second wall behind [`kybern_core::tenant::TenantScope`]; leases follow the database's clock.
//!
//! A unit of work checks everything before it writes. When a statement fails all the same, the batch is rolled back
//! and each of its units runs alone, so a bad one cannot hurt its neighbours.

mod agents;
mod approvals;
mod archive;
mod audit;
mod blobs;
mod budgets;
mod chats;
mod check;
mod db;
mod dossiers;
mod error;
mod idempotency;
mod identity;
mod jobs;
mod knowledge;
mod lessons;
mod look;
mod memories;
mod migrate;
mod model_policies;
mod options;
mod outbox;
mod own_tools;
mod page;
mod partitions;
mod permissions;
mod plans;
mod preferences;
pub mod private;
mod probe;
mod prompts;
mod rates;
mod record_admin;
mod records;
mod reservations;
mod retention;
mod secrets;
mod standings;
mod store;
mod tasks;
mod vectors;
mod wake;

pub use archive::{ArchiveEntry, Manifest, manifest, verify};
pub use db::sqlite::{holder, served_at};
pub use error::StoreError;
pub use look::{DatabaseContents, DatabaseState};
pub use options::{PostgresOptions, SqliteOptions};
pub use store::{Postgres, PostgresStore, SqlStore, Sqlite, SqliteStore};
