//! The rows of a tenant's table, out of all papers.

use std::collections::HashSet;

use kybern_core::model::{ExtractedField, FieldPattern};
use serde_json::{Map, Value};

use super::{DoubtReason, FieldDoubt, PaperSays, is_sure, is_wanted};
use crate::reading::{MESSAGE_NUMBER, ReadDocument};

/// What all papers say of a table. One that goes on in another paper is one table, and one that is said again counts
/// once. Two papers that share some of their rows and not all contradict each other, whichever comes first, as does
/// anything that the message adds to a paper.
pub(super) fn said(read: &[ReadDocument], name: &str, columns: &[&FieldPattern]) -> PaperSays {
    let mut rows: Vec<Value> = Vec::new();
    let (mut known, mut tables): (HashSet<String>, Vec<HashSet<String>>) = Default::default();
    let (mut whole, mut contradicts) = (true, false);
    for document in read {
        let items = document.items(name);
        let new: Vec<Value> = items.iter().map(|item| row(item, columns)).collect();
        let table: HashSet<String> = new.iter().map(Value::to_string).collect();
        // The message comes last.
        if document.n == MESSAGE_NUMBER {
            contradicts |= !rows.is_empty() && !table.is_subset(&known);
        } else {
            contradicts |= tables.iter().any(|other| !other.is_disjoint(&table) && *other != table);
            tables.push(table.clone());
        }
        if !table.is_subset(&known) {
            whole &= items.iter().all(|item| is_whole(item, columns));
            rows.extend(new.into_iter().filter(|row| !known.contains(&row.to_string())));
            known.extend(table);
        }
    }
    let required = columns.iter().any(|column| column.opens_item && column.required);
    let wanted = columns.first().is_some_and(|column| is_wanted(read, column));
    match rows.is_empty() {
        true if required && wanted => PaperSays::Asks(FieldDoubt { why: DoubtReason::Missing, found: Vec::new() }),
        false if contradicts => PaperSays::Asks(FieldDoubt { why: DoubtReason::Contradicting, found: rows }),
        false if !whole => PaperSays::Asks(FieldDoubt { why: DoubtReason::Doubtful, found: rows }),
        true | false => PaperSays::Plain(Value::Array(rows)),
    }
}

/// A row by its columns' names; `null` where nothing stands.
fn row(item: &[&ExtractedField], columns: &[&FieldPattern]) -> Value {
    let value = |column: &FieldPattern| {
        let field = item.iter().find(|field| field.name == column.name);
        field.map_or(Value::Null, |field| field.value.clone())
    };
    Value::Object(columns.iter().map(|column| (column.name.clone(), value(column))).collect::<Map<_, _>>())
}

/// Whether all that a row needs is there, and nothing of it is a guess or fails its check.
fn is_whole(item: &[&ExtractedField], columns: &[&FieldPattern]) -> bool {
    let has = |column: &FieldPattern| item.iter().any(|field| field.name == column.name);
    item.iter().all(|field| is_sure(field))
        && columns.iter().all(|column| has(column) || !column.required && !column.opens_item)
}
