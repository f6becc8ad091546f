//! The source of a tenant's own HTTP tools: the versions that are active.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::id::TenantId;
use kybern_core::ports::{OfferedTool, OfferedTools, OwnToolStore, ToolSource};
use kybern_core::tenant::TenantScope;
use kybern_core::tool::OwnTool;

use super::call::OwnHttpTool;
use crate::made::{ByIdentity, LastMade};

/// The name of this source.
pub(crate) const SOURCE: &str = "http";

/// Own tools, as the store has them.
pub(crate) struct OwnToolSource<S: ?Sized> {
    store: Arc<S>,
    made: LastMade<TenantId, ByIdentity<Vec<OwnTool>>, Arc<OfferedTools>>,
    nothing: Arc<OfferedTools>,
}

impl<S: OwnToolStore + ?Sized> OwnToolSource<S> {
    pub(crate) fn new(store: Arc<S>) -> Self {
        Self { store, made: LastMade::default(), nothing: Arc::default() }
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
        let offered = |own: &OwnTool| OfferedTool {
            tool: Arc::new(OwnHttpTool::new(own.definition.clone())),
            hash: own.definition.hash().into(),
            output_schema: own.definition.output_schema.clone().map(Arc::new),
        };
        let make = || OfferedTools {
            tools: stored.iter().map(offered).collect(),
            bytes: stored.iter().map(|own| own.definition.bytes()).sum(),
        };
        Ok(self.made.get_or_make(scope.tenant(), ByIdentity(Arc::clone(&stored)), || Arc::new(make())))
    }
}
