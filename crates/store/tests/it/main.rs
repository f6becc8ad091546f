//! The store's behaviour on both databases.
#![expect(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test binary has no outside, and its helpers fail loudly like its tests"
)]

mod archives;
mod file_lock;
mod fuzz;
mod grouping;
mod kill;
mod ledgers;
mod locks;
mod migrations;
mod modes;
mod panics;
mod postgres_silence;
mod postgres_suite;
mod postgres_tables;
mod postgres_walls;
mod postgres_writers;
mod purge_kill;
mod spending;
mod sqlite_suite;
mod statements;
mod support;
mod tampering;
mod texts;
mod two_processes;
mod work;
