//! Reading papers by a schema that a tenant wrote: what it names is put together under its own names, and what is
//! required and missing, doubtful or wrong is asked of a person.

mod ask;
mod table;

use std::collections::BTreeMap;

use kybern_core::count::count;
use kybern_core::model::{ExtractedField, ExtractionSchema, FieldPattern};
use kybern_core::ports::ToolContext;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use serde_json::{Map, Value, json};

use crate::args::{add, fields};
use crate::papers;
use crate::reading::{self, ReadDocument, UNSURE};

/// The names under which something else stands in the data.
pub(super) const EXTRACTIONS: &str = "extractions";
pub(super) const CATEGORIES: &str = "document_categories";
pub(super) const FOR_REVIEW: &str = "fields_for_review";

/// What all papers say of a field or a table.
#[derive(Debug)]
enum PaperSays {
    /// One thing, or nothing that anybody needs: `null`, or an empty list.
    Plain(Value),
    /// Something that a person has to look at, and why.
    Asks(FieldDoubt),
}

/// Why a person is asked about a field.
#[derive(Debug)]
struct FieldDoubt {
    why: DoubtReason,
    /// What was found, for people.
    found: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum DoubtReason {
    /// It is required and was not found.
    Missing,
    /// It is a guess, or fails its check.
    Doubtful,
    /// Papers contradict each other.
    Contradicting,
}

/// Reads everything that came with the task by a tenant's schema.
pub(super) async fn read(
    context: &ToolContext,
    schema: &std::sync::Arc<ExtractionSchema>,
) -> Result<ToolOutcome, ToolFailure> {
    let read = reading::read_all(context, schema).await?;
    let answered = context.state.get(&schema.name).and_then(Value::as_object);
    let (mut values, mut doubts) = (Map::new(), BTreeMap::new());
    for (name, patterns) in entries(schema) {
        if let Some(answer) = answered.and_then(|answered| answered.get(name)) {
            values.insert(name.to_owned(), answer.clone());
            continue;
        }
        let said = match patterns.first() {
            Some(only) if only.group.is_none() => single(&read, only),
            _ => table::said(&read, name, &patterns),
        };
        match said {
            PaperSays::Plain(value) => {
                values.insert(name.to_owned(), value);
            }
            PaperSays::Asks(doubt) => {
                doubts.insert(name.to_owned(), doubt);
            }
        }
    }
    if !doubts.is_empty() {
        let unread = papers::unread(context, &read).await?;
        return Ok(ToolOutcome::ask(ask::review(schema, &read, &unread, &doubts, values)));
    }
    let summary = format!("read {} by the schema {:?}", count(read.len(), "document"), schema.name);
    let categories: Vec<&str> =
        read.iter().filter_map(|document| document.extraction.analysis.category.as_deref()).collect();
    let mut data = fields([
        (EXTRACTIONS, read.iter().map(ReadDocument::to_json).collect()),
        (CATEGORIES, json!(categories)),
        (FOR_REVIEW, json!(reading::doubtful(&read))),
    ]);
    data.insert(schema.name.clone(), Value::Object(values));
    Ok(ToolOutcome::new(data, summary))
}

/// The single fields and the tables with their columns, in their order.
fn entries(schema: &ExtractionSchema) -> Vec<(&str, Vec<&FieldPattern>)> {
    let mut entries: Vec<(&str, Vec<&FieldPattern>)> = Vec::new();
    for pattern in schema.fields.iter() {
        let name = pattern.group.as_ref().unwrap_or(&pattern.name);
        match entries.last_mut().filter(|(other, _)| *other == name && pattern.group.is_some()) {
            Some((_, columns)) => columns.push(pattern),
            None => entries.push((name, vec![pattern])),
        }
    }
    entries
}

/// Whether a field was looked for: its section is in one of the papers.
fn is_wanted(read: &[ReadDocument], pattern: &FieldPattern) -> bool {
    let has = |section: &String| read.iter().any(|document| document.extraction.analysis.sections.contains(section));
    pattern.section.as_ref().is_none_or(has)
}

fn is_sure(field: &ExtractedField) -> bool {
    field.confidence >= UNSURE && field.problem.is_none()
}

/// A value with what speaks for it, for people.
fn shown(field: &ExtractedField) -> Value {
    json!({
        "value": field.value,
        "confidence": reading::rounded(field.confidence),
        "problem": field.problem,
        "source": field.source,
    })
}

/// What all papers say of a single field. A guess at what stands plainly elsewhere is no doubt.
fn single(read: &[ReadDocument], pattern: &FieldPattern) -> PaperSays {
    let found: Vec<&ExtractedField> =
        read.iter().flat_map(ReadDocument::single).filter(|field| field.name == pattern.name).collect();
    let asks = |why| PaperSays::Asks(FieldDoubt { why, found: found.iter().map(|field| shown(field)).collect() });
    let mut sure: Vec<&Value> = Vec::new();
    add(&mut sure, found.iter().filter(|field| is_sure(field)).map(|field| &field.value));
    if pattern.many {
        return match () {
            () if found.iter().any(|field| !is_sure(field) && !sure.contains(&&field.value)) => {
                asks(DoubtReason::Doubtful)
            }
            () if sure.is_empty() && pattern.required && is_wanted(read, pattern) => asks(DoubtReason::Missing),
            () => PaperSays::Plain(json!(sure)),
        };
    }
    match sure[..] {
        [only] => PaperSays::Plain(only.clone()),
        [_, _, ..] => asks(DoubtReason::Contradicting),
        [] if !found.is_empty() => asks(DoubtReason::Doubtful),
        [] if pattern.required && is_wanted(read, pattern) => asks(DoubtReason::Missing),
        [] => PaperSays::Plain(Value::Null),
    }
}

#[cfg(test)]
mod tests;
