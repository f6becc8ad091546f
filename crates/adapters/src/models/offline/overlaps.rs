//! Names that run into the number of what they stand beside, `with Larch Leasing Company LX 44-01`, and amounts that are
//! a part of such a number.

use std::collections::BTreeMap;

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::occurrence::Occurrence;
use super::page::Page;

/// Words that a name keeps.
const LEAST_WORDS: usize = 2;

/// Ends each name that is known by its words before the number that begins inside it, and drops amounts inside numbers.
pub(super) fn part(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let numbers = found.iter().filter(|value| labels.is_opening_number(value.field));
    let starts: BTreeMap<(usize, usize), usize> = numbers.map(|value| ((value.page, value.start), value.end)).collect();
    if starts.is_empty() {
        return;
    }
    let in_number = |value: &Occurrence| {
        let before = starts.range(..=(value.page, value.start)).next_back();
        before.is_some_and(|((page, _), end)| *page == value.page && value.start < *end)
    };
    found.retain(|value| labels.fields[value.field].value != ValueKind::Money || !in_number(value));
    for value in found.iter_mut() {
        let pattern = labels.fields[value.field];
        if pattern.value != ValueKind::Name || pattern.signs.is_empty() || value.end <= value.start {
            continue;
        }
        let inside = (value.page, value.start + 1)..(value.page, value.end);
        let Some((&(page, start), _)) = starts.range(inside).next() else { continue };
        let Some(text) = pages[page].text.get(value.start..start) else { continue };
        let name = text.trim_end_matches(|c: char| c.is_whitespace() || ",;:#(-–—".contains(c));
        let whole = value.value.as_str().is_some_and(|whole| whole.starts_with(name));
        let named = name.split_whitespace().count() >= LEAST_WORDS && labels.signed(name).contains(&value.field);
        if whole && named {
            value.end = value.start + name.len();
            value.value = name.into();
        }
    }
}
