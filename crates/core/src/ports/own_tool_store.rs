//! Own tools. Every step asks for the active ones, so an implementation answers from memory what it knows to hold.

use std::sync::Arc;

use async_trait::async_trait;

use super::Page;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::OwnToolId;
use crate::tenant::TenantScope;
use crate::time::Timestamp;
use crate::tool::own::{NewOwnTool, OwnTool, OwnToolChange, OwnToolFilter};

/// Where own tools are kept, every version of them.
#[async_trait]
pub trait OwnToolStore: Send + Sync {
    /// Writes down the next version of a tool. The audit says [which number it got](OwnTool::numbers).
    ///
    /// # Errors
    /// `UNPROCESSABLE` when the tool has [as many versions](crate::tool::own::MAX_VERSIONS) as it may.
    async fn draft_own_tool(&self, scope: TenantScope, new: &NewOwnTool, audit: AuditEvent) -> Result<OwnTool>;

    /// One version.
    async fn own_tool(&self, scope: TenantScope, id: OwnToolId) -> Result<Option<OwnTool>>;

    /// A page of the versions that pass the filter, the newest first, behind `after`.
    async fn own_tools(
        &self,
        scope: TenantScope,
        filter: &OwnToolFilter,
        after: Option<OwnToolId>,
        limit: u32,
    ) -> Result<Page<OwnTool>>;

    /// Every active version of the tenant, by key: at most one of each tool. The same list as long as nothing has
    /// changed.
    async fn active_own_tools(&self, scope: TenantScope) -> Result<Arc<Vec<OwnTool>>>;

    /// Carries out an act. The version that was active before makes room for one that becomes so. What becomes active,
    /// or ceases to be, holds in every process when it returns.
    ///
    /// # Errors
    /// `CONFLICT` when the version is not stored any more as the change says it was read; `UNPROCESSABLE` when the
    /// tenant would have [more active tools](crate::tool::own::MAX_ACTIVE), or
    /// [more bytes of them](crate::tool::own::MAX_ACTIVE_BYTES), than it may.
    async fn change_own_tool(&self, scope: TenantScope, change: &OwnToolChange, audit: AuditEvent) -> Result<()>;

    /// Deletes every version of a tool. Holds in every process when it returns. `false` when there was none.
    async fn delete_own_tool(&self, scope: TenantScope, key: &str, at: Timestamp, audit: AuditEvent) -> Result<bool>;
}
