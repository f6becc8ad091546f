//! Who writes, and about which company: what can be looked for in any message or document.

use std::sync::{Arc, LazyLock};

use kybern_core::list;
use kybern_core::model::{ExtractionSchema, ValueKind};

use crate::contact_fields::{ADDRESSES, COMPANY_NAMES, DOT_NUMBERS, FEINS, MC_NUMBERS, UNWANTED};
use crate::field::{self, Field, one};

/// The schema's name.
pub(super) const NAME: &str = "contact";

const FIELDS: &[(&str, &[&str], ValueKind)] = &[
    ("company_name", COMPANY_NAMES, ValueKind::Name),
    (
        "contact_name",
        list!(
            "contact name, contact person, contact, primary contact, full name, your name, first and last name, name, \
             owner, caller, contacto, nombre, nombre completo, nom, nom complet"
        ),
        ValueKind::Person,
    ),
    ("dot_number", DOT_NUMBERS, ValueKind::DotNumber),
    ("mc_number", MC_NUMBERS, ValueKind::McNumber),
    (
        "email",
        &["email", "e-mail", "email address", "e-mail address", "your email", "reach you at", "correo", "courriel"],
        ValueKind::Email,
    ),
    (
        "phone",
        list!(
            "phone, phone number, telephone, tel, mobile, cell, best number, callback number, reach you at, teléfono, \
             celular, téléphone, cellulaire"
        ),
        ValueKind::Phone,
    ),
    ("address", ADDRESSES, ValueKind::Address),
    ("coverage", &["coverage needed", "coverages", "coverage", "lines of coverage"], ValueKind::Text),
];

/// The schema. It knows no categories and no sections: all of its fields are always looked for.
pub(super) fn schema() -> Arc<ExtractionSchema> {
    static SCHEMA: LazyLock<Arc<ExtractionSchema>> = LazyLock::new(|| Arc::new(made()));
    Arc::clone(&SCHEMA)
}

fn made() -> ExtractionSchema {
    let field =
        |(name, labels, value): &(&'static str, &'static [&'static str], ValueKind)| one(name, labels, *value, None);
    let fields: Vec<Field> = FIELDS.iter().map(field).collect();
    ExtractionSchema {
        name: NAME.to_owned(),
        fields: field::patterns(&[&fields, UNWANTED, &[one("other", FEINS, ValueKind::Nothing, None)]]),
        about: Some("company_name".to_owned()),
        ..ExtractionSchema::default()
    }
}
