//! How fields of documents are written down, for the schemas of every pack.

use std::sync::Arc;

use kybern_core::model::{CategoryPattern, FieldPattern, SectionPattern, ValueKind, ValueRange};

/// The list of vehicles.
pub(crate) const VEHICLES: &str = "vehicles";
/// The list of drivers.
pub(crate) const DRIVERS: &str = "drivers";
/// The list of all companies that are named by their legal form.
pub(crate) const COMPANIES: &str = "companies";

/// A [`FieldPattern`] as it stands in the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) labels: &'static [&'static str],
    pub(crate) value: ValueKind,
    pub(crate) section: Option<&'static str>,
    pub(crate) group: Option<&'static str>,
    pub(crate) opens_item: bool,
    pub(crate) signs: &'static [&'static str],
    pub(crate) many: bool,
    pub(crate) visited_on: Option<&'static str>,
    pub(crate) range: Option<ValueRange>,
    pub(crate) respelled: bool,
}

/// A single field.
pub(crate) const fn one(
    name: &'static str,
    labels: &'static [&'static str],
    value: ValueKind,
    section: Option<&'static str>,
) -> Field {
    Field {
        name,
        labels,
        value,
        section,
        group: None,
        opens_item: false,
        signs: &[],
        many: false,
        visited_on: None,
        range: None,
        respelled: false,
    }
}

/// A field of a list.
pub(crate) const fn of(
    group: &'static str,
    section: &'static str,
    name: &'static str,
    labels: &'static [&'static str],
    value: ValueKind,
) -> Field {
    Field { group: Some(group), ..one(name, labels, value, Some(section)) }
}

/// The field that begins an item of its list.
pub(crate) const fn opens(field: Field) -> Field {
    Field { opens_item: true, ..field }
}

/// The same with bounds, outside which an amount is kept and doubted: so many dollars or percent.
pub(crate) const fn within(min: i64, max: i64, field: Field) -> Field {
    Field { range: Some(ValueRange::between(min, max)), ..field }
}

/// What a schema has of fields that stand in several places.
pub(crate) fn patterns(fields: &[&[Field]]) -> Arc<[FieldPattern]> {
    fields.iter().copied().flatten().map(Field::pattern).collect()
}

/// What a schema has of kinds of documents.
pub(crate) fn categories(known: &[(&str, &[(&str, u8)])]) -> Arc<[CategoryPattern]> {
    categories_sent_for(known, &[])
}

/// The same, where some are sent for a field.
pub(crate) fn categories_sent_for(
    known: &[(&str, &[(&str, u8)])],
    sent_for: &[(&str, &str)],
) -> Arc<[CategoryPattern]> {
    let category = |(key, markers): &(&str, &[(&str, u8)])| {
        let category = CategoryPattern::new(key, markers);
        match sent_for.iter().find(|(sent, _)| sent == key) {
            Some((_, field)) => category.sent_for(field),
            None => category,
        }
    };
    known.iter().map(category).collect()
}

/// What a schema has of sections.
pub(crate) fn sections(known: &[(&str, &[&str])]) -> Arc<[SectionPattern]> {
    known.iter().map(|(key, markers)| SectionPattern::new(key, markers)).collect()
}

impl Field {
    fn pattern(&self) -> FieldPattern {
        FieldPattern {
            section: self.section.map(str::to_owned),
            group: self.group.map(str::to_owned),
            opens_item: self.opens_item,
            many: self.many,
            visited_on: self.visited_on.map(str::to_owned),
            range: self.range,
            respelled: self.respelled,
            ..FieldPattern::new(self.name, self.labels, self.value).signed(self.signs)
        }
    }
}
