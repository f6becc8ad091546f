//! Drivers, vehicles and their papers. So far this pack brings intents and plans that read what came in and end with a
//! person; the tools that would act on it are named in those plans.

pub mod intents;
pub mod schema;

use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};

use crate::bundled_plan;

#[derive(Clone, Copy, Debug, Default)]
pub struct FleetPack;

/// Its plans by key.
const PLANS: &[(&str, &str)] = &[
    ("fleet.driver_onboarding_pipeline", include_str!("plans/driver_onboarding_pipeline.json")),
    ("fleet.vehicle_registration_pipeline", include_str!("plans/vehicle_registration_pipeline.json")),
    ("fleet.compliance_update_pipeline", include_str!("plans/compliance_update_pipeline.json")),
];

impl Pack for FleetPack {
    fn name(&self) -> &'static str {
        "fleet"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        registry.extraction("fleet", schema::schema())?;
        PLANS.iter().try_for_each(|(key, file)| registry.plan(bundled_plan::read(key, file, intents::INTENTS)))
    }
}
