//! Pages of lists: one row more than asked for is read, so that the end is known.

use kybern_core::ports::Page;

use crate::db::Row;
use crate::error::Result;

/// What rows hold, without those that cannot be read: one bad row costs nobody the others. The log has it, and
/// `kybern doctor` names it.
pub(crate) fn readable<T>(rows: Vec<Row>, mut decode: impl FnMut(Row) -> Result<T>) -> Vec<T> {
    let read = rows
        .into_iter()
        .filter_map(|row| decode(row).inspect_err(|error| tracing::error!(%error, "a row is left out of a list")).ok());
    read.collect()
}

/// A page of at most `limit` of the items; `cursor` names the last one when more follow.
pub(crate) fn cut<T>(mut items: Vec<T>, limit: u32, cursor: impl Fn(&T) -> String) -> Page<T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = items.len() > limit;
    items.truncate(limit);
    let next = if more { items.last().map(cursor) } else { None };
    Page { items, next }
}

/// The same of rows, without those that cannot be read: they count for the end of the list all the same.
pub(crate) fn cut_readable<T>(
    mut rows: Vec<Row>,
    limit: u32,
    decode: impl FnMut(Row) -> Result<T>,
    cursor: impl Fn(&T) -> String,
) -> Page<T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let items = readable(rows, decode);
    let next = if more { items.last().map(cursor) } else { None };
    Page { items, next }
}
