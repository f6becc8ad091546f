//! Names of insurers that a line breaks in two, so that only the end of one was read.
//!
//! A name that is the end of a longer one may be another insurer's, so it is taken for the longer one only where the rest
//! of that stands right above it.

use std::collections::BTreeMap;

use kybern_core::id::RecordId;
use kybern_core::model::ExtractedField;

use super::policies;
use crate::args::as_text;
use crate::company;
use crate::reading::ReadDocument;

/// Bytes above a name in which the rest of it is looked for: a text may go on without an end.
const MAX_ABOVE: usize = 8 * 1024;

/// Of the names that documents give policies' insurers, those that are only the end of a known one's, with the insurer
/// that is meant: by document and by name, as names are compared.
pub(super) fn all_in(read: &[ReadDocument], known: &[(RecordId, String)]) -> BTreeMap<(u32, String), RecordId> {
    let mut found: BTreeMap<(u32, String), Option<RecordId>> = BTreeMap::new();
    for document in read {
        for field in policies::insurers_in(document) {
            let Some(written) = as_text(&field.value) else { continue };
            let name = company::normal_name(&written);
            if name.is_empty() || known.iter().any(|(_, other)| *other == name) {
                continue;
            }
            let whole = whole_of(document, field, &name, known);
            let before = found.entry((document.n, name)).or_insert(whole);
            // The same words that stand whole elsewhere in the paper may be a name of their own.
            if *before != whole {
                *before = None;
            }
        }
    }
    found.into_iter().filter_map(|(place, whole)| Some((place, whole?))).collect()
}

/// Whether a name has more words than another, and ends with these; both as names are compared.
pub(super) fn ends_so(whole: &str, end: &str) -> bool {
    whole.strip_suffix(end).is_some_and(|before| before.ends_with(' '))
}

/// The known insurer of whose name that field has the end, and the line above the rest.
fn whole_of(
    document: &ReadDocument,
    field: &ExtractedField,
    name: &str,
    known: &[(RecordId, String)],
) -> Option<RecordId> {
    let mut longer = known.iter().filter(|(_, whole)| ends_so(whole, name)).peekable();
    longer.peek()?;
    let above: Vec<String> =
        cells_above(document, field)?.map(|cell| company::normal_name(&format!("{cell} {name}"))).collect();
    let stands_above = |whole: &str| above.iter().any(|cell| cell == whole || ends_so(cell, whole));
    // Of two names of which one is the other's end, the longer one is broken there.
    let broken = longer.filter(|(_, whole)| stands_above(whole));
    broken.min_by_key(|(_, whole)| std::cmp::Reverse(whole.len())).map(|(id, _)| *id)
}

/// What stands on the line above a value, column by column; `None` where something stands before it on its own line.
fn cells_above<'d>(document: &'d ReadDocument, field: &ExtractedField) -> Option<impl Iterator<Item = &'d str>> {
    let source = &field.source;
    let page = document.text.pages.iter().find(|page| page.number == source.page)?;
    let before = page.text.get(..source.start)?;
    let before = &before[before.floor_char_boundary(before.len().saturating_sub(MAX_ABOVE))..];
    let (above, own) = before.rsplit_once('\n')?;
    let above = above.rsplit('\n').next()?;
    let begins = own.chars().all(|letter| letter.is_whitespace() || letter == '|');
    begins.then(|| above.split(['\t', '|']).flat_map(|cell| cell.split("  ")))
}

#[cfg(test)]
mod tests;
