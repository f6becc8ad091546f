//! The store's behaviour on both databases.
#![expect(unreachable_pub, reason = "the modules of a test binary have no outside")]

mod archives;
mod grouping;
mod kill;
mod migrations;
mod postgres_suite;
mod postgres_walls;
mod sqlite_suite;
mod statements;
mod support;
mod work;
