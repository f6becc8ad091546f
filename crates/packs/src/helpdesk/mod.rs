//! A helpdesk: a message becomes a ticket, rules say how severe it is, somebody is told, and a reply goes out once a
//! person has said yes. `docs/write-your-own-pack.md` builds this pack step by step.
//!
//! A server has it where `packs.domains` names it.

mod draft_reply;
mod escalate;
mod intents;
mod kinds;
mod open_ticket;
mod read_message;
mod schema;
mod send_reply;
mod severity;
mod state;
mod ticket;
mod triage;

use std::sync::Arc;

use kybern_core::dossier::EntityKind;
use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};

use crate::bundled_plan;

#[derive(Clone, Copy, Debug, Default)]
pub struct HelpdeskPack;

/// Its plans by key.
const PLANS: &[(&str, &str)] = &[
    ("helpdesk.question_pipeline", include_str!("plans/question_pipeline.json")),
    ("helpdesk.incident_pipeline", include_str!("plans/incident_pipeline.json")),
    ("helpdesk.access_request_pipeline", include_str!("plans/access_request_pipeline.json")),
];

impl Pack for HelpdeskPack {
    fn name(&self) -> &'static str {
        "helpdesk"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        registry.kind(kinds::requester())?;
        registry.kind(kinds::ticket())?;
        registry.entity_kind(EntityKind { kind: kinds::REQUESTER, lookups: kinds::lookups_called })?;
        registry.state_provider(Arc::new(state::HelpdeskState))?;
        registry.extraction("helpdesk", schema::schema())?;
        registry.tool(Arc::new(read_message::read_message()))?;
        registry.tool(Arc::new(open_ticket::open_ticket()))?;
        registry.tool(Arc::new(triage::triage()))?;
        registry.tool(Arc::new(escalate::escalate()))?;
        registry.tool(Arc::new(draft_reply::draft_reply()))?;
        registry.tool(Arc::new(send_reply::send_reply()))?;
        PLANS.iter().try_for_each(|(key, file)| registry.plan(bundled_plan::read(key, file, intents::INTENTS)))
    }
}
