//! Papers with rows without an end.

use std::sync::Arc;

use kybern_core::model::{ExtractedField, Extraction, FieldSource, FoundBy};
use serde_json::json;

use crate::reading::{ReadDocument, as_document};

/// A paper of so many rows, with what each says: the list, the field and the value.
pub(crate) fn listing(rows: usize, row: impl Fn(usize) -> Vec<(&'static str, &'static str, String)>) -> ReadDocument {
    let (mut text, mut fields) = (String::new(), Vec::new());
    for item in 0..rows {
        for (group, name, value) in row(item) {
            let (start, end) = (text.len(), text.len() + value.len());
            text.push_str(&value);
            text.push_str("   ");
            fields.push(ExtractedField {
                name: name.to_owned(),
                group: Some(group.to_owned()),
                item: u32::try_from(item).ok(),
                value: json!(value),
                confidence: 0.8,
                problem: None,
                source: FieldSource { document: 1, page: 1, start, end, ..FieldSource::default() },
                found_by: FoundBy::Rules,
                rival: None,
            });
        }
        text.push('\n');
    }
    let extraction = Extraction { fields, ..Extraction::default() };
    ReadDocument { n: 1, filename: "list.csv".to_owned(), extraction, text: Arc::new(as_document(text)) }
}
