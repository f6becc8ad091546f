//! The rows of a tenant's table, out of all papers.

use kybern_core::model::{ExtractedField, FieldPattern};
use serde_json::{Map, Value};

use super::{Doubt, Said, Why, is_sure, is_wanted};
use crate::reading::ReadDocument;

/// What all papers say of a table. Two that say the same say it once.
pub(super) fn said(read: &[ReadDocument], name: &str, columns: &[&FieldPattern]) -> Said {
    let mut tables: Vec<Vec<Value>> = Vec::new();
    let mut whole = true;
    for document in read {
        let items = document.items(name);
        let rows: Vec<Value> = items.iter().map(|item| row(item, columns)).collect();
        if rows.is_empty() || tables.contains(&rows) {
            continue;
        }
        whole &= items.iter().all(|item| is_whole(item, columns));
        tables.push(rows);
    }
    let rows = tables.concat();
    let required = columns.iter().any(|column| column.opens_item && column.required);
    let wanted = columns.first().is_some_and(|column| is_wanted(read, column));
    match rows.is_empty() {
        true if required && wanted => Said::Asks(Doubt { why: Why::Missing, found: Vec::new() }),
        false if !whole => Said::Asks(Doubt { why: Why::Doubtful, found: rows }),
        true | false => Said::Plain(Value::Array(rows)),
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
