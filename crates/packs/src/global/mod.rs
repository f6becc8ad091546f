//! What every domain needs and no kernel does: taking messages apart, reading documents, telling an agent, and
//! handing a task to a person.
//!
//! Register this pack last: its `extract_documents` offers the extraction schemas that the packs before it brought.

mod contact_schema;
mod extract_documents;
mod form;
mod free_text;
mod hand_to_person;
mod intents;
mod normalize_email_input;
mod normalize_webhook_input;
mod notify_agent;
mod own;

use std::sync::Arc;

use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};

pub use extract_documents::ExtractDocuments;
pub use hand_to_person::hand_to_person;
pub use normalize_email_input::normalize_email_input;
pub use normalize_webhook_input::normalize_webhook_input;
pub use notify_agent::notify_agent;

use crate::bundled_plan;

/// The pack of what belongs to no domain.
#[derive(Clone, Copy, Debug, Default)]
pub struct GlobalPack;

/// Its plans by key.
const PLANS: &[(&str, &str)] =
    &[("general_instruction_pipeline", include_str!("plans/general_instruction_pipeline.json"))];

impl Pack for GlobalPack {
    fn name(&self) -> &'static str {
        "global"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        registry.extraction(contact_schema::NAME, contact_schema::schema())?;
        let schemas = registry.extractions().map(|(name, schema)| (name.to_owned(), Arc::clone(schema))).collect();
        registry.tool(Arc::new(normalize_email_input()))?;
        registry.tool(Arc::new(normalize_webhook_input()))?;
        registry.tool(Arc::new(ExtractDocuments::new(schemas)))?;
        registry.tool(Arc::new(notify_agent()))?;
        registry.tool(Arc::new(hand_to_person()))?;
        PLANS
            .iter()
            .try_for_each(|(key, file)| registry.plan(bundled_plan::read(key, file, &[intents::GENERAL_INSTRUCTION])))
    }
}
