//! Which items of a list have a row of a document: the keys that the rules found in it.
//!
//! A row is a line with columns. Running text has none: its lines break anywhere.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use kybern_core::document::DocumentText;
use kybern_core::model::{ExtractedField, ExtractionSchema, FieldSource};

/// What parts the columns of a row.
const GAPS: [&str; 3] = ["\t", "  ", "|"];

/// A line: the number of its page, and its first byte there.
type LineAt = (u32, usize);

/// The rows of a document.
pub(super) struct Rows<'d> {
    pages: HashMap<u32, &'d str>,
    /// The items whose keys stand in a line, by their list.
    items: BTreeMap<(String, LineAt), BTreeSet<u32>>,
}

impl<'d> Rows<'d> {
    /// The rows that the keys of these fields have.
    pub(super) fn new(document: &'d DocumentText, fields: &[ExtractedField], schema: &ExtractionSchema) -> Self {
        let pages = document.pages.iter().map(|page| (page.number, page.text.as_str())).collect();
        let mut rows = Self { pages, items: BTreeMap::new() };
        let keys = schema.fields.iter().filter(|field| field.opens_item && !field.repeats);
        let keys: HashSet<(Option<&str>, &str)> =
            keys.map(|field| (field.group.as_deref(), field.name.as_str())).collect();
        for field in fields.iter().filter(|field| keys.contains(&(field.group.as_deref(), field.name.as_str()))) {
            if let (Some(group), Some(item), Some(line)) = (&field.group, field.item, rows.row(&field.source)) {
                rows.items.entry((group.clone(), line)).or_default().insert(item);
            }
        }
        rows
    }

    /// The row in which a place lies; none where its line has no columns.
    fn row(&self, source: &FieldSource) -> Option<LineAt> {
        let text = *self.pages.get(&source.page)?;
        let (before, rest) = (text.get(..source.start)?, text.get(source.start..)?);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = source.start + rest.find('\n').unwrap_or(rest.len());
        let line = text.get(start..end)?.trim();
        GAPS.iter().any(|gap| line.contains(gap)).then_some((source.page, start))
    }

    /// Whether a field that is said to be of this item stands in a row of others. `keys` are where its own keys stand.
    pub(super) fn is_of_another(&self, field: &ExtractedField, item: u32, keys: &[FieldSource]) -> bool {
        let Some((group, row)) = field.group.clone().zip(self.row(&field.source)) else { return false };
        let is_own = keys.iter().any(|key| self.row(key) == Some(row));
        let others = self.items.get(&(group, row)).filter(|items| !items.contains(&item));
        !keys.is_empty() && !is_own && others.is_some()
    }
}
