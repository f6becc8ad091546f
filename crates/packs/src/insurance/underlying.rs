//! Insurers that a paper names only as those of the insurance beneath an umbrella or an excess policy.

use kybern_core::model::ExtractedField;

use crate::reading::ReadDocument;

/// The word for it, as papers have it in their labels and remarks.
const UNDERLYING: &str = "underlying";
/// Bytes of a line in which the word is looked for: a text may go on without an end.
const MAX_LINE: usize = 8 * 1024;
/// From this confidence on, a label or a column says whose insurer a name is.
const LABELLED: f64 = 0.9;

/// Whether an insurer whose name no label leads to is that of the insurance beneath: the word stands before it on its line,
/// or left of it on the line above or beneath, where a narrow column has broken the words.
pub(super) fn is_beneath(document: &ReadDocument, field: &ExtractedField) -> bool {
    let source = &field.source;
    let Some(page) = document.text.pages.iter().find(|page| page.number == source.page) else { return false };
    let Some(before) = page.text.get(..source.start).filter(|_| field.confidence < LABELLED) else { return false };
    let near = before.floor_char_boundary(before.len().saturating_sub(MAX_LINE));
    let own = before[near..].rfind('\n').map_or(near, |at| near + at + 1);
    let column = before[own..].chars().count();
    let above = before[..own].lines().next_back();
    let beneath = page.text[own..].lines().take(2);
    let left = |line: &str| line.chars().take(column).collect::<String>().to_lowercase();
    above.into_iter().chain(beneath).any(|line| left(line).contains(UNDERLYING))
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

    use super::super::insurers::Insurers;
    use super::super::policies;
    use super::*;
    use crate::insurance::ExtractDocuments;
    use crate::reading::as_document;
    use crate::tests::World;

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
            rival: None,
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

    #[test]
    fn a_policy_does_not_get_the_insurer_of_the_insurance_beneath_it() {
        let text = "Policy No. CX-11002\nUnderlying insurance: Northfield Mutual";
        let found = |name: &str, value: &str, confidence: f64| {
            let start = text.find(value).unwrap();
            let source =
                FieldSource { document: 1, page: 1, start, end: start + value.len(), ..FieldSource::default() };
            ExtractedField {
                name: name.to_owned(),
                group: None,
                item: None,
                value: json!(value),
                confidence,
                problem: None,
                source,
                found_by: FoundBy::Rules,
                rival: None,
            }
        };
        let insurer_of = |confidence: f64| {
            let fields =
                vec![found("policy_number", "CX-11002", 0.9), found("insurer", "Northfield Mutual", confidence)];
            let extraction = Extraction { fields, ..Extraction::default() };
            let text = Arc::new(as_document(text.to_owned()));
            let read = ReadDocument { n: 1, filename: "a.txt".to_owned(), extraction, text };
            policies::merged(&[read], &Insurers::default(), &[])[0].insurer.clone()
        };
        assert_eq!(insurer_of(0.75), None);
        assert_eq!(insurer_of(0.97).as_deref(), Some("Northfield Mutual"), "a label says that it is its own");
    }

    #[tokio::test]
    async fn the_only_known_insurer_of_an_umbrellas_paper_may_be_that_of_the_insurance_beneath_it() {
        let insurer = |word: &str| {
            let text = format!(
                "@insured.name = Oak Bend Haulage LLC\n@policies[0].policy_number = CX-11002\n@policies[0].line = Umbrella\n\
                 {word} Northfield Mutual"
            );
            async move {
                let mut world = World::new();
                let known = json!({"insurer_name": "Northfield Mutual Insurance Company", "naic_number": "77001", "create": true});
                world.run(crate::tests::insurer_tool().as_ref(), known).await;
                world.document("a.pdf", &text);
                world.run(&ExtractDocuments::new(), json!({})).await["extracted_policies"][0]["insurer"].clone()
            }
        };
        assert_eq!(insurer("Underlying:").await, json!(null));
        assert_eq!(insurer("Written by").await, json!("Northfield Mutual Insurance Company"));
    }
}
