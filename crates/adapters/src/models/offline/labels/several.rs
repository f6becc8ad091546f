//! Cells that are nothing but several labels: in two languages, or joined.

use super::super::compound;
use super::super::label_text::has_digits;
use super::super::words::Word;
use super::{FILLERS, JOINTS, LabelHit, Labels};

/// Words of one part of a label in two languages.
const MAX_PART_WORDS: usize = 6;

impl Labels<'_> {
    /// The label that a cell is when it is nothing but several labels, such as one in two languages.
    pub(super) fn pure(&self, text: &str, cell: (usize, usize), inside: &[Word]) -> Option<LabelHit> {
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut first = 0;
        let joined = inside.iter().any(|word| JOINTS.contains(&word.text.as_str()));
        while first < inside.len() {
            if let Some(longest) = self.at(inside, first).next().map(|found| found.last) {
                let same = self.at(inside, first).filter(|found| found.last == longest);
                found.push(same.map(|found| found.phrase).collect());
                first = longest;
            } else if FILLERS.contains(&inside[first].text.as_str()) {
                first += 1;
            } else {
                return self.in_parts(text, cell);
            }
        }
        if found.len() < 2 {
            return self.in_parts(text, cell);
        }
        let common = |field: &usize| found.iter().all(|fields| fields.contains(field));
        let shared: Vec<usize> = found[0].iter().filter(|field| common(field)).copied().collect();
        let parts = if shared.is_empty() { compound::parts(self, &text[cell.0..cell.1]) } else { Vec::new() };
        // What a label names stands at its end: the `insurer policy number` is a policy number; of two that `and` joins
        // the first one's value comes first.
        let fields = match parts.first() {
            Some(first) => first.clone(),
            None if shared.is_empty() && joined => found.swap_remove(0),
            None if shared.is_empty() => found.pop()?,
            None => shared,
        };
        let colon = text[..cell.1].ends_with(':');
        Some(LabelHit { fields, cell: 0, start: cell.0, after: cell.1, words: inside.len(), colon, fills: true, parts })
    }

    /// The label that a cell is when a stroke or brackets part it and one of the parts is a label: `Assured / Asegurado`.
    fn in_parts(&self, text: &str, cell: (usize, usize)) -> Option<LabelHit> {
        let whole = text.get(cell.0..cell.1)?;
        let few = whole.split_whitespace().count() <= MAX_PART_WORDS * 2 && whole.contains(['/', '(']);
        let parts = whole.split(['/', '(', ')']).map(str::trim).filter(|part| !part.is_empty());
        let parts: Vec<&str> = parts.collect();
        // Behind a colon stands the value: `Asegurado / Insured: Fern Road Hauling LLC`.
        let valued = whole.match_indices(':').any(|(at, _)| {
            let rest = whole[at + 1..].trim_start();
            !rest.is_empty() && !rest.starts_with(['/', '(', ')'])
        });
        if !few || parts.len() < 2 || has_digits(whole) || valued {
            return None;
        }
        let named: Vec<Vec<usize>> = parts.iter().filter_map(|part| self.exactly(part)).collect();
        let first = named.first()?;
        let common: Vec<usize> =
            first.iter().copied().filter(|field| named.iter().all(|fields| fields.contains(field))).collect();
        if common.is_empty() && named.len() > 1 && !whole.contains('/') {
            return None;
        }
        // What tells one thing from another says more than a word that anything may have: `Reference / Contract Number`.
        let opens = |fields: &&Vec<usize>| fields.iter().any(|field| self.fields[*field].opens_item);
        let fields = if common.is_empty() { named.iter().find(opens).unwrap_or(first).clone() } else { common };
        let colon = whole.ends_with(':');
        Some(LabelHit {
            fields,
            cell: 0,
            start: cell.0,
            after: cell.1,
            words: 2,
            colon,
            fills: true,
            parts: Vec::new(),
        })
    }
}
