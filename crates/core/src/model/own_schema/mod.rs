//! Extraction schemas that tenants write themselves, as JSON: read, bounded, and every fault named with its place.
//!
//! What comes out is an [`ExtractionSchema`] like those of the packs, so that rules and models read by it alike. Names and
//! labels stand in questions to models, so they are plain words and short.

mod field;
mod kept;
mod reader;

use serde_json::Value;

use self::reader::Reader;
use super::{CategoryPattern, ExtractionSchema, SectionPattern};
use crate::error::Detail;
use crate::id::TenantId;

pub use self::kept::OwnSchemas;

/// Bytes of a schema as it is written.
pub const MAX_BYTES: usize = 32 * 1024;
/// Fields, tables and columns of a schema together.
pub const MAX_FIELDS: usize = 100;
/// Labels, headings and markers of a schema together.
pub const MAX_LABELS: usize = 1_000;
/// Patterns of a schema.
pub const MAX_PATTERNS: usize = 8;
/// Choices of a field, and kinds of documents or sections of a schema.
pub const MAX_CHOICES: usize = 50;

/// How much a marker counts that does not say so.
const WEIGHT: u8 = 3;

/// Reads a schema. `taken` are names that it may not have.
///
/// # Errors
/// What is wrong with it, each with its place and the remedy.
pub fn read(value: &Value, owner: Option<TenantId>, taken: &[&str]) -> Result<ExtractionSchema, Vec<Detail>> {
    let bytes = value.to_string().len();
    if bytes > MAX_BYTES {
        let message = format!("the schema has {bytes} bytes, more than {MAX_BYTES}: split it into several");
        return Err(vec![Detail::new("", message)]);
    }
    let mut reader = Reader::default();
    let schema = schema(&mut reader, value, owner, taken);
    match schema {
        Some(schema) if reader.faults.is_empty() => Ok(schema),
        _ => Err(reader.faults),
    }
}

fn schema(reader: &mut Reader, value: &Value, owner: Option<TenantId>, taken: &[&str]) -> Option<ExtractionSchema> {
    let members = reader.object(value, "", &["name", "categories", "sections", "fields"])?;
    let name = reader.name(members.get("name"), "/name");
    if let Some(name) = name.as_deref().filter(|name| taken.contains(name)) {
        let message = format!("the name {name:?} is taken, use another than {}", taken.join(", "));
        reader.fault("/name", message);
    }
    let categories = reader.list(members.get("categories"), "/categories", MAX_CHOICES);
    let categories: Vec<CategoryPattern> = categories
        .iter()
        .enumerate()
        .filter_map(|(n, one)| category(reader, one, &format!("/categories/{n}")))
        .collect();
    reader.unique(categories.iter().map(|one| one.key.as_str()), "/categories", "key");
    let sections = reader.list(members.get("sections"), "/sections", MAX_CHOICES);
    let sections: Vec<SectionPattern> =
        sections.iter().enumerate().filter_map(|(n, one)| section(reader, one, &format!("/sections/{n}"))).collect();
    reader.unique(sections.iter().map(|one| one.key.as_str()), "/sections", "key");
    let keys: Vec<&str> = sections.iter().map(|section| section.key.as_str()).collect();
    let fields = field::fields(reader, members.get("fields"), &keys);
    Some(ExtractionSchema {
        name: name?,
        categories: categories.into(),
        sections: sections.into(),
        fields: fields.into(),
        owner,
        ..ExtractionSchema::default()
    })
}

fn category(reader: &mut Reader, value: &Value, path: &str) -> Option<CategoryPattern> {
    let members = reader.object(value, path, &["key", "markers"])?;
    let key = reader.key(members.get("key"), &format!("{path}/key"))?;
    let place = format!("{path}/markers");
    let written = reader.texts(members.get("markers"), &place);
    let mut markers = Vec::new();
    for (n, text) in written.into_iter().enumerate() {
        let (phrase, weight) = text.split_once('^').map_or((text, Some(WEIGHT)), |(phrase, weight)| {
            (phrase, weight.parse::<u8>().ok().filter(|weight| (1..=5).contains(weight)))
        });
        let at = format!("{place}/{n}");
        match weight {
            Some(weight) => markers.extend(reader.label(phrase, &at).map(|phrase| (phrase, weight))),
            None => reader.fault(at, "the weight behind ^ is a whole number from 1 to 5, as in \"delivery note^5\""),
        }
    }
    Some(CategoryPattern { key, markers, main_field: None })
}

fn section(reader: &mut Reader, value: &Value, path: &str) -> Option<SectionPattern> {
    let members = reader.object(value, path, &["key", "markers"])?;
    let key = reader.key(members.get("key"), &format!("{path}/key"))?;
    let place = format!("{path}/markers");
    let written = reader.texts(members.get("markers"), &place);
    let markers = written.into_iter().enumerate().filter_map(|(n, text)| reader.label(text, &format!("{place}/{n}")));
    let markers = markers.collect();
    Some(SectionPattern { key, markers })
}

#[cfg(test)]
mod tests;
