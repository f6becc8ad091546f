//! Who writes, and about which company: what can be looked for in any message or document.

use kybern_core::model::{ExtractionSchema, FieldPattern, ValueKind};

/// The schema's name.
pub(super) const NAME: &str = "contact";

const FIELDS: &[(&str, &[&str], ValueKind)] = &[
    (
        "company_name",
        &["company name", "company", "business name", "legal name", "carrier name", "insured name", "named insured"],
        ValueKind::Name,
    ),
    ("contact_name", &["contact name", "contact person", "contact", "full name", "your name"], ValueKind::Name),
    ("dot_number", &["usdot number", "usdot #", "usdot", "dot number", "dot #", "us dot", "dot"], ValueKind::DotNumber),
    ("mc_number", &["mc number", "mc #", "mc-", "mc", "docket number"], ValueKind::McNumber),
    ("email", &["email", "e-mail", "email address", "e-mail address"], ValueKind::Email),
    ("phone", &["phone", "phone number", "telephone", "tel", "mobile", "cell"], ValueKind::Phone),
    ("address", &["address", "mailing address", "physical address"], ValueKind::Address),
    ("coverage", &["coverage needed", "coverages", "coverage", "lines of coverage"], ValueKind::Text),
];

/// The schema. It knows no categories and no sections: all of its fields are always looked for.
pub(super) fn schema() -> ExtractionSchema {
    let field = |(name, labels, value): &(&'static str, &'static [&'static str], ValueKind)| FieldPattern {
        name,
        labels,
        value: *value,
        section: None,
        group: None,
        opens_item: false,
    };
    ExtractionSchema { categories: Vec::new(), sections: Vec::new(), fields: FIELDS.iter().map(field).collect() }
}
