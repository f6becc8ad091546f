//! The agents of tenants as they were merged, kept as long as nothing changes: every turn asks for one of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::agent::{Agent, OwnAgent, merged};
use kybern_core::id::TenantId;
use kybern_core::pack::Registry;

/// Tenants whose agents are kept in memory.
const KEPT: usize = 1_024;

/// A stored list, and what it makes with the bundled agents.
type Merged = (Arc<Vec<OwnAgent>>, Arc<Vec<Agent>>);

/// What was merged, each with the stored list that it was made of.
#[derive(Default)]
pub(crate) struct MergedAgents {
    agents: Mutex<HashMap<TenantId, Merged>>,
}

impl MergedAgents {
    /// The agents of a tenant that says this about them.
    pub(crate) fn of(&self, tenant: TenantId, own: &Arc<Vec<OwnAgent>>, registry: &Registry) -> Arc<Vec<Agent>> {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = agents.get(&tenant).filter(|(of, _)| Arc::ptr_eq(of, own)) {
            return Arc::clone(known);
        }
        let made = Arc::new(merged(registry.agents().map(AsRef::as_ref), own));
        // A list that is merged again takes no other's place.
        if agents.len() >= KEPT && !agents.contains_key(&tenant) {
            agents.clear();
        }
        agents.insert(tenant, (Arc::clone(own), Arc::clone(&made)));
        made
    }
}
