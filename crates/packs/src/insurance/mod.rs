//! Insurance of trucking companies: reading policies, keeping deals, asking insurers for loss runs.
//!
//! This pack deliberately does not know how a company is recognised: it takes the id of an entity that an earlier
//! step has resolved, and reads that record by kind and id only.

mod assign_agent;
mod authority;
mod beside;
mod broken;
mod chosen;
mod correspondence;
mod create_deal;
mod create_loss_run_requests;
mod deal;
mod extract_documents;
mod file_loss_runs;
mod insured;
mod insurer_policies;
mod insurers;
pub mod intents;
mod kinds;
mod letter;
mod loss_run_request;
mod match_reply;
mod missing;
mod near;
mod open_requests;
mod policies;
mod policy;
pub mod schema;
mod send_chase_email;
mod send_loss_run_request;
mod state;
mod term;
mod underlying;
mod vehicles;

use std::sync::Arc;

use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};

pub use assign_agent::assign_agent;
pub use create_deal::create_deal;
pub use create_loss_run_requests::create_loss_run_requests;
pub use extract_documents::ExtractDocuments;
pub use file_loss_runs::file_loss_runs;
pub use match_reply::match_reply;
pub use send_chase_email::send_chase_email;
pub use send_loss_run_request::send_loss_run_request;

use crate::bundled_plan;

#[derive(Clone, Copy, Debug, Default)]
pub struct InsurancePack;

/// Its plans by key.
const PLANS: &[(&str, &str)] = &[
    ("insurance.loss_run_pipeline", include_str!("plans/loss_run_pipeline.json")),
    ("insurance.new_lead_pipeline", include_str!("plans/new_lead_pipeline.json")),
    ("insurance.loss_run_chase_pipeline", include_str!("plans/loss_run_chase_pipeline.json")),
    ("insurance.loss_run_reply_pipeline", include_str!("plans/loss_run_reply_pipeline.json")),
    ("insurance.service_request_pipeline", include_str!("plans/service_request_pipeline.json")),
];

impl Pack for InsurancePack {
    fn name(&self) -> &'static str {
        "insurance"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        for kind in kinds::all() {
            registry.kind(kind)?;
        }
        registry.extraction("insurance", schema::schema())?;
        create_loss_run_requests::InsurerNames::register(registry)?;
        registry.state_provider(Arc::new(state::InsuranceState))?;
        registry.tool(Arc::new(ExtractDocuments::new()))?;
        registry.tool(Arc::new(create_deal()))?;
        registry.tool(Arc::new(create_loss_run_requests()))?;
        registry.tool(Arc::new(assign_agent()))?;
        registry.tool(Arc::new(match_reply()))?;
        registry.tool(Arc::new(send_loss_run_request()))?;
        registry.tool(Arc::new(send_chase_email()))?;
        registry.tool(Arc::new(file_loss_runs()))?;
        PLANS.iter().try_for_each(|(key, file)| registry.plan(bundled_plan::read(key, file, intents::INTENTS)))
    }
}
