//! The source of a tenant's own HTTP tools: the versions that are active.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::id::TenantId;
use kybern_core::ports::{OfferedTool, OfferedTools, OwnToolStore, ToolSource};
use kybern_core::tenant::TenantScope;
use kybern_core::tool::OwnTool;

use super::call::OwnHttpTool;

/// The name of this source.
pub(crate) const SOURCE: &str = "http";
/// Tenants whose tools are kept in memory.
const KEPT: usize = 1_024;

/// The stored list, and the tools that were made of it.
type Made = (Arc<Vec<OwnTool>>, Arc<OfferedTools>);

/// Own tools, as the store has them.
pub(crate) struct OwnToolSource<S: ?Sized> {
    store: Arc<S>,
    made: Mutex<HashMap<TenantId, Made>>,
    nothing: Arc<OfferedTools>,
}

impl<S: OwnToolStore + ?Sized> OwnToolSource<S> {
    pub(crate) fn new(store: Arc<S>) -> Self {
        Self { store, made: Mutex::default(), nothing: Arc::default() }
    }
}

#[async_trait]
impl<S: OwnToolStore + ?Sized> ToolSource for OwnToolSource<S> {
    fn name(&self) -> &'static str {
        SOURCE
    }

    async fn tools(&self, scope: TenantScope) -> Result<Arc<OfferedTools>> {
        let stored = self.store.active_own_tools(scope).await?;
        if stored.is_empty() {
            return Ok(Arc::clone(&self.nothing));
        }
        let known = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&scope.tenant()).cloned();
        if let Some((_, made)) = known.filter(|(of, _)| Arc::ptr_eq(of, &stored)) {
            return Ok(made);
        }
        let offered = stored.iter().map(|own| OfferedTool {
            tool: Arc::new(OwnHttpTool::new(own.definition.clone())),
            hash: own.definition.hash().into(),
            output_schema: own.definition.output_schema.clone().map(Arc::new),
        });
        let made = Arc::new(OfferedTools {
            tools: offered.collect(),
            bytes: stored.iter().map(|own| own.definition.bytes()).sum(),
        });
        let mut all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // A list that is made again takes no other's place.
        if all.len() >= KEPT && !all.contains_key(&scope.tenant()) {
            all.clear();
        }
        all.insert(scope.tenant(), (stored, Arc::clone(&made)));
        Ok(made)
    }
}
