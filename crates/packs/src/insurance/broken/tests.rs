use std::sync::Arc;

use kybern_core::model::{Extraction, FieldSource, FoundBy};
use serde_json::json;

use super::*;
use crate::reading::as_document;

/// Which of these insurers is meant wherever the text has `Plains Mutual`.
fn meant(names: &[&str], text: &str) -> Option<usize> {
    let ids: Vec<RecordId> = (1..).take(names.len()).map(uuid::Uuid::from_u128).map(RecordId::from_uuid).collect();
    let known: Vec<(RecordId, String)> =
        ids.iter().zip(names).map(|(id, name)| (*id, company::normal_name(name))).collect();
    let fields = text.match_indices("Plains Mutual").map(|(start, words)| ExtractedField {
        name: "insurer".to_owned(),
        group: Some("policies".to_owned()),
        item: Some(0),
        value: json!(words),
        confidence: 0.9,
        problem: None,
        source: FieldSource { document: 1, page: 1, start, end: start + words.len(), ..FieldSource::default() },
        found_by: FoundBy::Rules,
        rival: None,
    });
    let extraction = Extraction { fields: fields.collect(), ..Extraction::default() };
    let text = Arc::new(as_document(text.to_owned()));
    let read = [ReadDocument { n: 1, filename: "a.txt".to_owned(), extraction, text }];
    let found = all_in(&read, &known).get(&(1, "plains mutual".to_owned())).copied()?;
    ids.iter().position(|id| *id == found)
}

#[test]
fn the_end_of_a_name_is_that_name_where_the_rest_stands_above_it() {
    let known = ["Harrow Plains Mutual Inc.", "Old Harrow Plains Mutual", "Brindle Plains Mutual"];
    for (text, expected) in [
        ("Insurer: Harrow\nPlains Mutual", Some(0)),
        ("Insurer:\nHARROW\n  Plains Mutual, AL-1", Some(0)),
        ("with Old Harrow\nPlains Mutual", Some(1)),
        ("AL-1  Brindle  2025\n      Plains Mutual", Some(2)),
        ("| AL-1 | Harrow | 2025 |\n|  | Plains Mutual | |", Some(0)),
        ("with Harrow\nPlains Mutual and Harrow\nPlains Mutual", Some(0)),
        ("Insurer: Plains Mutual", None),
        ("Harrow Plains\nInsurer: Plains Mutual", None),
        ("Harrow\nInsurer: Plains Mutual", None),
        ("Harrow\n\nPlains Mutual", None),
        ("Harrow LLC is with\nPlains Mutual", None),
        ("Plains Mutual", None),
        ("with Harrow\nPlains Mutual. Insurer: Plains Mutual", None),
        ("with Harrow\nPlains Mutual and Brindle\nPlains Mutual", None),
    ] {
        assert_eq!(meant(&known, text), expected, "{text}");
    }
    assert_eq!(
        meant(&["Harrow Plains Mutual", "Plains Mutual"], "with Harrow\nPlains Mutual"),
        None,
        "it is known itself"
    );
}
