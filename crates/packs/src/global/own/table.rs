//! The rows of a tenant's table, out of all papers.

use kybern_core::model::{ExtractedField, FieldPattern};
use serde_json::{Map, Value};

use super::{Doubt, Said, Why, is_sure, is_wanted};
use crate::reading::{MESSAGE_NUMBER, ReadDocument};

/// What all papers say of a table. One that goes on in another paper is one table, and one that is said again counts
/// once. Two papers that share some of their rows and not all contradict each other, whichever comes first, as does
/// anything that the message adds to a paper.
pub(super) fn said(read: &[ReadDocument], name: &str, columns: &[&FieldPattern]) -> Said {
    let mut rows: Vec<Value> = Vec::new();
    let (mut whole, mut contradicts) = (true, false);
    let mut tables: Vec<Vec<Value>> = Vec::new();
    for document in read {
        let items = document.items(name);
        let table: Vec<Value> = items.iter().map(|item| row(item, columns)).collect();
        let is_message = document.n == MESSAGE_NUMBER;
        contradicts |= !is_message && tables.iter().any(|other| share_some(other, &table));
        if !table.iter().all(|row| rows.contains(row)) {
            contradicts |= is_message && !rows.is_empty();
            whole &= items.iter().all(|item| is_whole(item, columns));
            let new: Vec<Value> = table.iter().filter(|row| is_message || !rows.contains(row)).cloned().collect();
            rows.extend(new);
        }
        if !is_message {
            tables.push(table);
        }
    }
    let required = columns.iter().any(|column| column.opens_item && column.required);
    let wanted = columns.first().is_some_and(|column| is_wanted(read, column));
    match rows.is_empty() {
        true if required && wanted => Said::Asks(Doubt { why: Why::Missing, found: Vec::new() }),
        false if contradicts => Said::Asks(Doubt { why: Why::Contradicting, found: rows }),
        false if !whole => Said::Asks(Doubt { why: Why::Doubtful, found: rows }),
        true | false => Said::Plain(Value::Array(rows)),
    }
}

/// Whether two tables share rows, but not all.
fn share_some(one: &[Value], other: &[Value]) -> bool {
    let shared = one.iter().filter(|row| other.contains(row)).count();
    shared > 0 && (shared < one.len() || !other.iter().all(|row| one.contains(row)))
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
