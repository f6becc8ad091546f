//! Loads, rates and deliveries. So far this pack brings intents and plans that read what came in and end with a
//! person; the tools that would act on it are named in those plans.

pub mod intents;
pub mod schema;

use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};

use crate::bundled_plan;

#[derive(Clone, Copy, Debug, Default)]
pub struct FreightPack;

/// Its plans by key.
const PLANS: &[(&str, &str)] = &[
    ("freight.new_load_pipeline", include_str!("plans/new_load_pipeline.json")),
    ("freight.pod_received_pipeline", include_str!("plans/pod_received_pipeline.json")),
    ("freight.rate_confirmation_pipeline", include_str!("plans/rate_confirmation_pipeline.json")),
];

impl Pack for FreightPack {
    fn name(&self) -> &'static str {
        "freight"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        registry.extraction("freight", schema::schema())?;
        PLANS.iter().try_for_each(|(key, file)| registry.plan(bundled_plan::read(key, file, intents::INTENTS)))
    }
}
