//! Two labels in one row of labels that lead to the same name: `ISSUED TO | INSURED` above two companies.
//!
//! Both cannot be it. The one that the schema lists first is; the other is a label whose value is nobody's.

use kybern_core::model::ValueKind;

use super::labels::{LabelHit, Labels};
use super::words::{fold, words};

/// Takes from the labels of a row the names to which a better one in another cell leads.
pub(super) fn settle(labels: &Labels<'_>, text: &str, hits: &mut [LabelHit]) {
    let ranks: Vec<Vec<Option<usize>>> =
        hits.iter().map(|hit| hit.fields.iter().map(|field| rank(labels, text, hit, *field)).collect()).collect();
    let best = |field: usize| {
        let of = hits.iter().zip(&ranks).flat_map(|(hit, ranks)| hit.fields.iter().zip(ranks));
        of.filter(|(other, _)| **other == field).filter_map(|(_, rank)| *rank).min()
    };
    let kept: Vec<Vec<usize>> = hits
        .iter()
        .zip(&ranks)
        .map(|(hit, ranks)| {
            let is_best = |(field, rank): &(&usize, &Option<usize>)| rank.is_none() || **rank == best(**field);
            hit.fields.iter().zip(ranks).filter(is_best).map(|(field, _)| *field).collect()
        })
        .collect();
    hits.iter_mut().zip(kept).for_each(|(hit, kept)| hit.fields = kept);
}

/// The place of a label among those of a name, where there is one name only.
fn rank(labels: &Labels<'_>, text: &str, hit: &LabelHit, field: usize) -> Option<usize> {
    let pattern = labels.fields[field];
    if pattern.value != ValueKind::Name || pattern.group.is_some() || pattern.many || !hit.fills || hit.words == 0 {
        return None;
    }
    let plain = |label: &str| words(label, 0).iter().map(|word| fold(&word.text)).collect::<Vec<_>>();
    let written = plain(text.get(hit.start..hit.after)?);
    pattern.labels.iter().position(|label| plain(label) == written)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kybern_core::document::PageText;
    use kybern_core::model::{ExtractionSchema, FieldPattern};

    use super::super::page::Page;
    use super::super::prepared::PreparedSchema;
    use super::*;

    /// How many fields each label of the first line leads to.
    fn led(text: &str) -> Vec<usize> {
        let fields = Arc::new([
            FieldPattern::new("client", &["client", "handed to"], ValueKind::Name),
            FieldPattern::new("phone", &["phone", "handed over"], ValueKind::Phone),
        ]);
        let schema = Arc::new(ExtractionSchema { fields, ..ExtractionSchema::default() });
        let known = PreparedSchema::new(&schema);
        let labels = Labels::new(&known, &[]);
        let page = PageText { number: 1, text: text.to_owned(), ..PageText::default() };
        Page::new(&page, &labels).hits[0].iter().map(|hit| hit.fields.len()).collect()
    }

    #[test]
    fn of_two_labels_of_one_name_in_a_row_the_first_of_the_schema_leads_to_it() {
        let row = "Corner Lot Motors Inc     Fern Hollow Rentals LLC\n44 Bin Road     9 Mill Road";
        assert_eq!(led(&format!("HANDED TO     CLIENT\n{row}")), [0, 1]);
        assert_eq!(led(&format!("CLIENT     HANDED TO\n{row}")), [1, 0]);
        assert_eq!(led(&format!("HANDED TO     PHONE\n{row}")), [1, 1]);
        assert_eq!(led("Handed to: Corner Lot Motors Inc\n\nClient: Fern Hollow Rentals LLC"), [1], "no row of labels");
    }
}
