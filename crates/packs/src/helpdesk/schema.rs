//! What is looked for in a support message beside its words: who to write back to, and what it is about.

use std::sync::{Arc, LazyLock};

use kybern_core::list;
use kybern_core::model::{ExtractionSchema, ValueKind};

use crate::field::{self, Field, one};

const FIELDS: &[Field] = &[
    one("name", list!("name, your name, full name, contact, requested by, nombre, nom"), ValueKind::Person, None),
    one(
        "email",
        list!("email, e-mail, your email, email address, contact email, reply to, correo, courriel"),
        ValueKind::Email,
        None,
    ),
    one("phone", list!("phone, telephone, tel, mobile, callback number, teléfono, téléphone"), ValueKind::Phone, None),
    one("subject", list!("subject, title, summary, asunto, objet"), ValueKind::Text, None),
    one(
        "product",
        list!("product, application, app, system, service, device, asset, producto, produit"),
        ValueKind::Text,
        None,
    ),
    one("severity", list!("severity, priority, urgency, impact, prioridad, priorité"), ValueKind::Text, None),
];

/// The schema. It knows no kinds of papers: all of its fields are always looked for.
pub(super) fn schema() -> Arc<ExtractionSchema> {
    static SCHEMA: LazyLock<Arc<ExtractionSchema>> = LazyLock::new(|| {
        let name = "helpdesk".to_owned();
        Arc::new(ExtractionSchema { name, fields: field::patterns(&[FIELDS]), ..ExtractionSchema::default() })
    });
    Arc::clone(&SCHEMA)
}
