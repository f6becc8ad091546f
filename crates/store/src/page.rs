//! Pages of lists: one row more than asked for is read, so that the end is known.

use kybern_core::ports::Page;
use kybern_core::tenant::TenantScope;
use uuid::Uuid;

use crate::db::{Arg, Row, Sql, Tx};
use crate::error::{Result, StoreError};

/// Which page of a list.
pub(crate) struct ListQuery<F, I> {
    pub(crate) scope: TenantScope,
    pub(crate) filter: F,
    pub(crate) after: Option<I>,
    pub(crate) limit: u32,
}

/// Rows that are read at once of a list whose rows may be large.
const CHUNK: usize = 16;

/// What rows hold, without those that cannot be read: one bad row costs nobody the others. The log has it, and
/// `kybern doctor` names it.
pub(crate) fn readable<T>(rows: Vec<Row>, mut decode: impl FnMut(&mut Row) -> Result<T>) -> Vec<T> {
    let read = rows.into_iter().filter_map(|mut row| {
        let id = row.first_id().ok();
        decode(&mut row).inspect_err(|error| left_out(id, error)).ok()
    });
    read.collect()
}

/// Says that a row is not shown; most have an id, which is their first column.
fn left_out(id: Option<Uuid>, error: &StoreError) {
    tracing::error!(id = id.map(tracing::field::display), %error, "a row is left out of a list");
}

/// A page of at most `limit` of the items; `cursor` names the last one when more follow.
pub(crate) fn cut<T>(mut items: Vec<T>, limit: u32, cursor: impl Fn(&T) -> String) -> Page<T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = items.len() > limit;
    items.truncate(limit);
    let next = if more { items.last().map(cursor) } else { None };
    Page { items, next }
}

/// The same of rows, whose first column is their id, without those that cannot be read: they count for the page all the
/// same, and the next one begins behind them.
pub(crate) fn cut_readable<T>(
    mut rows: Vec<Row>,
    limit: u32,
    decode: impl FnMut(&mut Row) -> Result<T>,
) -> Result<Page<T>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let last = rows.last_mut().filter(|_| more).map(Row::first_id).transpose()?;
    Ok(Page { items: readable(rows, decode), next: last.map(|id| id.to_string()) })
}

/// A page of rows that may be large: it ends at `limit`, or with so many bytes. The statement reads rows behind an
/// id, which is their first column; `args` fills in that id and how many rows at most. A row that cannot be read is left
/// out.
pub(crate) async fn of_large<'a, T, const N: usize>(
    tx: &mut Tx,
    (list, args): (&'static Sql, impl Fn(Uuid, u32) -> [Arg<'a>; N] + Send),
    begin: Uuid,
    (limit, most_bytes): (u32, usize),
    mut decode: impl FnMut(&mut Row) -> Result<T> + Send,
) -> Result<Page<T>>
where
    T: Send,
{
    let limit = usize::try_from(limit.clamp(1, 200)).unwrap_or(1);
    let (mut items, mut seen, mut bytes, mut last) = (Vec::new(), 0, 0_usize, begin);
    loop {
        // One more than is wanted tells whether there is a next page.
        let most = CHUNK.min(limit - seen + 1);
        let args = args(last, u32::try_from(most).unwrap_or(1));
        let rows = tx.fetch_all(list, &args).await?;
        let ends = rows.len() < most;
        for mut row in rows {
            bytes = bytes.saturating_add(row.bytes());
            if seen == limit || (seen > 0 && bytes > most_bytes) {
                return Ok(Page { items, next: Some(last.to_string()) });
            }
            last = row.first_id()?;
            seen += 1;
            match decode(&mut row) {
                Ok(item) => items.push(item),
                Err(error) => left_out(Some(last), &error),
            }
        }
        if ends {
            return Ok(Page { items, next: None });
        }
    }
}
