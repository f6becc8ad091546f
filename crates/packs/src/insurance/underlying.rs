//! Insurers that a paper names only as those of the insurance beneath an umbrella or an excess policy.

use kybern_core::model::ExtractedField;

use crate::reading::ReadDocument;

/// The word for it, as papers have it in their labels and remarks.
const UNDERLYING: &str = "underlying";
/// From this confidence on, a label or a column says whose insurer a name is.
const LABELLED: f64 = 0.9;

/// Whether an insurer whose name no label leads to is that of the insurance beneath: the word stands before it on its line,
/// or left of it on the line above or beneath, where a narrow column has broken the words.
pub(super) fn is_beneath(document: &ReadDocument, field: &ExtractedField) -> bool {
    let source = &field.source;
    let Some(page) = document.text.pages.iter().find(|page| page.number == source.page) else { return false };
    let Some(before) = page.text.get(..source.start).filter(|_| field.confidence < LABELLED) else { return false };
    let lines: Vec<&str> = page.text.lines().collect();
    let at = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let says = |line: Option<&&str>| {
        let left: String = line.map(|line| line.chars().take(column).collect()).unwrap_or_default();
        left.to_lowercase().contains(UNDERLYING)
    };
    says(lines.get(at)) || says(lines.get(at + 1)) || at.checked_sub(1).is_some_and(|above| says(lines.get(above)))
}

/// Whether a document tells of insurance beneath, so that the only insurer that it names may be of that.
pub(super) fn tells_of(document: &ReadDocument) -> bool {
    document.text.pages.iter().any(|page| page.text.to_lowercase().contains(UNDERLYING))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kybern_core::model::{Extraction, FieldSource, FoundBy};
    use serde_json::json;

    use super::*;
    use crate::reading::as_document;

    fn beneath(text: &str, confidence: f64) -> bool {
        let start = text.find("Northfield").unwrap();
        let field = ExtractedField {
            name: "insurer".to_owned(),
            group: None,
            item: None,
            value: json!("Northfield Mutual"),
            confidence,
            problem: None,
            source: FieldSource { document: 1, page: 1, start, end: start + 17, ..FieldSource::default() },
            found_by: FoundBy::Rules,
        };
        let text = Arc::new(as_document(text.to_owned()));
        is_beneath(
            &ReadDocument { n: 1, filename: "a.txt".to_owned(), extraction: Extraction::default(), text },
            &field,
        )
    }

    #[test]
    fn a_name_beside_the_word_for_it_is_of_the_insurance_beneath() {
        for text in [
            "Policy No. CX-1\nUnderlying insurance: Northfield Mutual",
            "Schedule of              Northfield Mutual\nUnderlying Insurance     Auto Liability AL-1",
            "Underlying               Auto Liability AL-1\nInsurance                Northfield Mutual",
        ] {
            assert!(beneath(text, 0.75), "{text}");
            assert!(!beneath(text, 0.97), "a column or a label says whose it is: {text}");
        }
        for text in
            ["Northfield Mutual\nUnderlying insurance: see schedule", "Umbrella over the auto\n\n\nNorthfield Mutual"]
        {
            assert!(!beneath(text, 0.75), "{text}");
        }
    }
}
