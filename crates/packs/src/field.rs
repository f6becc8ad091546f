//! How fields of documents are written down, for the schemas of every pack.

use kybern_core::model::{FieldPattern, ValueKind};

/// The list of vehicles.
pub(crate) const VEHICLES: &str = "vehicles";
/// The list of drivers.
pub(crate) const DRIVERS: &str = "drivers";
/// The list of all companies that are named by their legal form.
pub(crate) const COMPANIES: &str = "companies";

/// A single field.
pub(crate) const fn one(
    name: &'static str,
    labels: &'static [&'static str],
    value: ValueKind,
    section: Option<&'static str>,
) -> FieldPattern {
    FieldPattern { name, labels, value, section, group: None, opens_item: false, signs: &[], many: false }
}

/// A field of a list.
pub(crate) const fn of(
    group: &'static str,
    section: &'static str,
    name: &'static str,
    labels: &'static [&'static str],
    value: ValueKind,
) -> FieldPattern {
    FieldPattern {
        name,
        labels,
        value,
        section: Some(section),
        group: Some(group),
        opens_item: false,
        signs: &[],
        many: false,
    }
}

/// The field that begins an item of its list.
pub(crate) const fn opens(pattern: FieldPattern) -> FieldPattern {
    FieldPattern { opens_item: true, ..pattern }
}
