//! The intents that plans serve. Every message asks for them, and they change only when plans do.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::id::TenantId;
use kybern_core::model::IntentSpec;
use kybern_core::pack::Registry;
use kybern_core::plan::Plan;

/// Tenants whose intents are kept in memory.
const KEPT: usize = 1_024;

/// The intents of a tenant.
pub(crate) struct Intents {
    /// Every one's key, in alphabetical order.
    pub(crate) keys: Vec<String>,
    /// Those for which words can speak. What nothing speaks for cannot be recognised: it is a person's choice.
    pub(crate) by_words: Vec<IntentSpec>,
}

/// A tenant's own plans, and the intents that they and the bundled ones serve.
type Known = (Arc<Vec<Plan>>, Arc<Intents>);

/// The intents of tenants, each with the list of plans that it was made of.
#[derive(Default)]
pub(crate) struct KnownIntents {
    of: Mutex<HashMap<TenantId, Known>>,
}

impl KnownIntents {
    /// The intents that the bundled plans and exactly these serve.
    pub(crate) fn get(&self, registry: &Registry, tenant: TenantId, own: &Arc<Vec<Plan>>) -> Arc<Intents> {
        let mut known = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, intents)) = known.get(&tenant)
            && Arc::ptr_eq(of, own)
        {
            return Arc::clone(intents);
        }
        let intents = Arc::new(Intents::of(registry, own));
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(tenant, (Arc::clone(own), Arc::clone(&intents)));
        intents
    }
}

impl Intents {
    fn of(registry: &Registry, own: &[Plan]) -> Self {
        let mut intents: BTreeMap<String, IntentSpec> = BTreeMap::new();
        let bundled = registry.plans().map(AsRef::as_ref);
        for plan in bundled.chain(own).filter(|plan| plan.active) {
            let intent = intents.entry(plan.intent_key.clone()).or_insert_with(|| IntentSpec {
                key: plan.intent_key.clone(),
                description: plan.description.clone(),
                keywords: Vec::new(),
                examples: Vec::new(),
            });
            intent.keywords.extend(plan.keywords.iter().cloned());
            intent.examples.extend(plan.examples.iter().cloned());
        }
        let speaks = |intent: &IntentSpec| !intent.keywords.is_empty() || !intent.examples.is_empty();
        let keys = intents.keys().cloned().collect();
        Self { keys, by_words: intents.into_values().filter(speaks).collect() }
    }
}
