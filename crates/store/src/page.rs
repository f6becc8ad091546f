//! Pages of lists: one row more than asked for is read, so that the end is known.

use kybern_core::ports::Page;

/// A page of at most `limit` of the items; `cursor` names the last one when more follow.
pub(crate) fn cut<T>(mut items: Vec<T>, limit: u32, cursor: impl Fn(&T) -> String) -> Page<T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = items.len() > limit;
    items.truncate(limit);
    let next = if more { items.last().map(cursor) } else { None };
    Page { items, next }
}
