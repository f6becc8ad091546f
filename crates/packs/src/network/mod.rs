//! Companies and their identifiers: who a message is about.
//!
//! An entity belongs to one tenant. It begins as a shadow: what mail and documents say about a company, with the
//! source of every field. Other packs point at it by record kind and id, and never use this module.
//!
//! This pack deliberately does not know what anybody wants from a company.

mod entity;
mod matching;
mod resolve_entity;
mod resolve_insurer;
mod similarity;

use std::sync::Arc;

use kybern_core::dossier::EntityKind;
use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};

pub use resolve_entity::resolve_entity;
pub use resolve_insurer::resolve_insurer;

/// The pack of companies.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkPack;

impl Pack for NetworkPack {
    fn name(&self) -> &'static str {
        "network"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        registry.kind(entity::kind())?;
        registry.entity_kind(EntityKind { kind: entity::KIND, lookups: entity::lookups_called })?;
        registry.tool(Arc::new(resolve_entity()))?;
        registry.tool(Arc::new(resolve_insurer()))
    }
}
