//! The store's behaviour on both databases.

mod postgres_suite;
mod sqlite_suite;
mod statements;
mod support;
