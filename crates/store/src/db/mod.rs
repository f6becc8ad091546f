//! The thin layer between the nouns and the two databases: statements, arguments, rows, and units of work.
//!
//! A noun's function takes a [`Tx`] and runs in whatever transaction it stands in; it never begins or commits one.

mod arg;
mod batch;
mod cache;
mod engine;
pub(crate) mod json;
mod patience;
pub(crate) mod postgres;
mod row;
pub(crate) mod sql;
pub(crate) mod sqlite;
mod tx;
mod witness;

pub(crate) use arg::{Arg, args, columns, count};
pub(crate) use batch::{Pending, UnitFn};
pub(crate) use cache::Revision;
pub(crate) use engine::{Engine, Lane, StoreShared};
pub(crate) use patience::LONGEST;
pub(crate) use row::Row;
pub(crate) use sql::{Sql, sql_text, statements};
pub(crate) use tx::{Conn, RowVisibility, Tx};
pub(crate) use witness::scope_of_row;
