//! Where a tenant's tools come from besides the bundled ones.

use std::sync::Arc;

use async_trait::async_trait;

use super::Tool;
use crate::error::Result;
use crate::tenant::TenantScope;

/// A tool as a source offers it.
#[derive(Clone)]
pub struct OfferedTool {
    /// What is called, and what it says about itself.
    pub tool: Arc<dyn Tool>,
    /// A hash over everything that a model or a checker sees of it, and over what a call of it does.
    pub hash: Arc<str>,
    /// JSON Schema of what a call returns; `None` for anything.
    pub output_schema: Option<Arc<serde_json::Value>>,
}

/// Everything that a source offers a tenant at one moment.
#[derive(Clone, Default)]
pub struct OfferedTools {
    pub tools: Vec<OfferedTool>,
    /// Bytes of their definitions: what it costs to keep them in memory.
    pub bytes: usize,
}

/// A source of tools: lists what it offers a tenant, calls it (each [`Tool`] by itself), and tells of changes by another
/// list.
#[async_trait]
pub trait ToolSource: Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &'static str;

    /// What it offers the tenant now. The same list, by pointer, as long as nothing has changed: it is asked before each
    /// step.
    ///
    /// # Errors
    /// When it cannot say. The tenant then keeps what it offered before.
    async fn tools(&self, scope: TenantScope) -> Result<Arc<OfferedTools>>;
}
