//! The fields of a schema that somebody wrote, and the columns of its tables.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::reader::Reader;
use super::{MAX_CHOICES, MAX_FIELDS};
use crate::lesson::fits;
use crate::model::{FieldPattern, ValueKind, ValueRange};

/// The kinds of values that a field may have, by their names. `choice` and `table` are made of others.
const TYPES: &str = "text, identifier, reference, date, date_range, time, money, percentage, integer, year, name, \
                     person, address, phone, email, vin, license, policy_number, dot_number, mc_number, naic, fein, \
                     choice";
const CHOICE: &str = "choice";
const TABLE: &str = "table";
/// Columns that a table has at least: one alone is not known as a table.
const LEAST_COLUMNS: usize = 2;
/// Characters of a choice's value.
const MAX_VALUE: usize = 60;

const OF_FIELD: &[&str] =
    &["name", "type", "labels", "required", "many", "section", "pattern", "min", "max", "choices"];
const OF_COLUMN: &[&str] = &["name", "type", "headings", "required", "key", "pattern", "min", "max", "choices"];
const OF_TABLE: &[&str] = &["name", "type", "columns", "required", "section"];

/// All fields: single ones, and the columns of tables as fields of a list.
pub(super) fn fields(reader: &mut Reader, value: Option<&Value>, sections: &[&str]) -> Vec<FieldPattern> {
    let written = reader.list(value, "/fields", MAX_FIELDS);
    if written.is_empty() && reader.faults.is_empty() {
        reader.fault("/fields", "a schema needs at least one field, with name, type and labels");
    }
    let columns = |field: &Value| field.get("columns").and_then(Value::as_array).map_or(0, Vec::len);
    let count = written.iter().map(|field| 1 + columns(field)).sum::<usize>();
    if count > MAX_FIELDS {
        let message = format!("{count} fields and columns are more than {MAX_FIELDS}: use several schemas");
        reader.fault("/fields", message);
        return Vec::new();
    }
    let mut names: Vec<(String, usize)> = Vec::new();
    let mut known = FieldLabels::default();
    let mut fields = Vec::new();
    for (n, value) in written.iter().enumerate() {
        let path = format!("/fields/{n}");
        let is_table = value.get("type").and_then(Value::as_str) == Some(TABLE);
        let Some(members) = reader.object(value, &path, if is_table { OF_TABLE } else { OF_FIELD }) else { continue };
        let Some(name) = reader.name(members.get("name"), &format!("{path}/name")) else { continue };
        named_once(reader, &mut names, &name, n, &path);
        let section = section(reader, members, &path, sections);
        if is_table {
            fields.extend(table(reader, members, &path, (&name, section)));
        } else if let Some(field) = field(reader, members, &path, (name, "labels"), &mut known) {
            let many = reader.switch(members.get("many"), &format!("{path}/many"));
            fields.push(FieldPattern { section, many, ..field });
        }
    }
    fields
}

/// The columns of a table. A row is known by its key column: the one that says so, else the first.
fn table(
    reader: &mut Reader,
    members: &Map<String, Value>,
    path: &str,
    (name, section): (&str, Option<String>),
) -> Vec<FieldPattern> {
    let required = reader.switch(members.get("required"), &format!("{path}/required"));
    let place = format!("{path}/columns");
    let written = reader.list(members.get("columns"), &place, MAX_FIELDS);
    if written.len() < LEAST_COLUMNS {
        reader
            .fault(&place, format!("a table needs at least {LEAST_COLUMNS} columns; for one list use \"many\": true"));
    }
    let mut names: Vec<(String, usize)> = Vec::new();
    let mut known = FieldLabels::default();
    let mut keys = Vec::new();
    let mut columns = Vec::new();
    for (n, value) in written.iter().enumerate() {
        let path = format!("{place}/{n}");
        let Some(members) = reader.object(value, &path, OF_COLUMN) else { continue };
        let Some(own) = reader.name(members.get("name"), &format!("{path}/name")) else { continue };
        named_once(reader, &mut names, &own, n, &path);
        if reader.switch(members.get("key"), &format!("{path}/key")) {
            keys.push((columns.len(), path.clone()));
        }
        let column = field(reader, members, &path, (own, "headings"), &mut known);
        columns.extend(column.map(|column| FieldPattern {
            group: Some(name.to_owned()),
            section: section.clone(),
            ..column
        }));
    }
    if let Some((_, second)) = keys.get(1) {
        reader.fault(format!("{second}/key"), "a table has one key column: take key from the others");
    }
    let key = keys.first().map_or(0, |(key, _)| *key);
    if let Some(key) = columns.get_mut(key) {
        (key.opens_item, key.repeats, key.required) = (true, true, required);
    }
    columns
}

/// A field or a column, whose words stand under `labels` or `headings`.
fn field(
    reader: &mut Reader,
    members: &Map<String, Value>,
    path: &str,
    (name, words): (String, &str),
    known: &mut FieldLabels,
) -> Option<FieldPattern> {
    let required = reader.switch(members.get("required"), &format!("{path}/required"));
    let place = format!("{path}/{words}");
    let mut labels = known.new_ones(reader, members.get(words), &place);
    let written = members.get("type").and_then(Value::as_str);
    let type_name = written.filter(|written| TYPES.split(", ").any(|name| name == *written));
    if type_name.is_none() {
        let table = if words == "labels" { ", table" } else { "" };
        reader.fault(format!("{path}/type"), format!("use one of {TYPES}{table}"));
    }
    let type_name = type_name?;
    let value = if type_name == CHOICE { ValueKind::Text } else { ValueKind::parse(type_name)? };
    let mut pattern = None;
    if value == ValueKind::Identifier {
        pattern = Some(reader.pattern(members.get("pattern"), &format!("{path}/pattern"))?);
    } else if members.contains_key("pattern") {
        let message =
            format!("only an identifier has a pattern: leave it out, or use the type identifier for {type_name}");
        reader.fault(format!("{path}/pattern"), message);
    }
    let range = range(reader, members, path, (type_name, value));
    if type_name == CHOICE {
        labels.extend(choices(reader, members.get("choices"), &format!("{path}/choices")));
    } else if members.contains_key("choices") {
        reader.fault(format!("{path}/choices"), format!("only a choice has choices, not {type_name}"));
    }
    Some(FieldPattern { name, labels, value, required, pattern, range, ..FieldPattern::default() })
}

/// The bounds of an amount, where it has some.
fn range(
    reader: &mut Reader,
    members: &Map<String, Value>,
    path: &str,
    (type_name, value): (&str, ValueKind),
) -> Option<ValueRange> {
    if !ValueRange::is_of(value) {
        for bound in ["min", "max"].into_iter().filter(|bound| members.contains_key(*bound)) {
            let message = format!("only money, percentage and integer have min and max, not {type_name}");
            reader.fault(format!("{path}/{bound}"), message);
        }
        return None;
    }
    let min = reader.bound(members.get("min"), &format!("{path}/min"));
    let max = reader.bound(members.get("max"), &format!("{path}/max"));
    if min.zip(max).is_some_and(|(min, max)| min > max) {
        reader.fault(format!("{path}/min"), "min is more than max: nothing would be in between");
    }
    (min.is_some() || max.is_some()).then_some(ValueRange { min, max })
}

/// The values of a closed list, as the terms that stand for them.
fn choices(reader: &mut Reader, value: Option<&Value>, path: &str) -> Vec<String> {
    let written = reader.list(value, path, MAX_CHOICES);
    if written.is_empty() {
        reader.fault(
            path,
            "a choice needs choices, as in [{\"value\": \"Pallet\", \"labels\": {\"en\": [\"pallets\"]}}]",
        );
    }
    let mut known = FieldLabels::default();
    let mut values: Vec<&str> = Vec::new();
    let mut terms = Vec::new();
    for (n, choice) in written.iter().enumerate() {
        let path = format!("{path}/{n}");
        let Some(members) = reader.object(choice, &path, &["value", "labels"]) else { continue };
        let text = members.get("value").and_then(Value::as_str).unwrap_or_default();
        if let Err(message) = fits(text, MAX_VALUE) {
            reader.fault(format!("{path}/value"), message);
            continue;
        }
        values.push(text);
        let phrases = known.new_ones(reader, members.get("labels"), &format!("{path}/labels"));
        terms.extend(phrases.into_iter().map(|phrase| format!("{phrase}={text}")));
    }
    reader.unique(values.into_iter(), path, "value");
    terms
}

/// The section of a field: one of those that the schema declares.
fn section(reader: &mut Reader, members: &Map<String, Value>, path: &str, sections: &[&str]) -> Option<String> {
    let written = members.get("section").filter(|section| !section.is_null())?;
    let section = written.as_str().filter(|section| sections.contains(section));
    if section.is_none() {
        let message = match sections {
            [] => "the schema declares no sections: add them, or leave section out".to_owned(),
            known => format!("use a section that the schema declares: {}", known.join(", ")),
        };
        reader.fault(format!("{path}/section"), message);
    }
    section.map(str::to_owned)
}

/// Notes a name; one that is there already is a fault.
fn named_once(reader: &mut Reader, names: &mut Vec<(String, usize)>, name: &str, n: usize, path: &str) {
    match names.iter().find(|(other, _)| other == name) {
        Some((_, first)) => {
            let message = format!("{name:?} is the name of entry {first} already: give each its own");
            reader.fault(format!("{path}/name"), message);
        }
        None => names.push((name.to_owned(), n)),
    }
}

/// The labels that fields of one level have, each with its place.
#[derive(Default)]
struct FieldLabels(HashMap<String, String>);

impl FieldLabels {
    /// Labels that are nobody else's.
    fn new_ones(&mut self, reader: &mut Reader, value: Option<&Value>, path: &str) -> Vec<String> {
        let mut labels = Vec::new();
        for (label, at) in reader.labels(value, path) {
            let letters: String = label.chars().filter(|c| c.is_alphanumeric()).collect();
            match self.0.get(&letters) {
                // Languages share words.
                Some(first) if first.starts_with(&format!("{path}/")) => {}
                Some(first) => {
                    let message = format!("{label:?} stands at {first} already: what it leads to would be unclear");
                    reader.fault(at, message);
                }
                None => {
                    self.0.insert(letters, at);
                    labels.push(label);
                }
            }
        }
        labels
    }
}
