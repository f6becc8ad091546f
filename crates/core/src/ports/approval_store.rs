//! Questions to persons. They are opened and withdrawn by commits of tasks ([`crate::task::Effect`]) and answered
//! together with the signal that tells the task ([`super::TaskStore::answer`]).

use async_trait::async_trait;

use super::Page;
use crate::approval::{Approval, ApprovalFilter};
use crate::error::Result;
use crate::id::ApprovalId;
use crate::tenant::TenantScope;

/// Where questions are kept.
#[async_trait]
pub trait ApprovalStore: Send + Sync {
    /// A question.
    async fn approval(&self, scope: TenantScope, id: ApprovalId) -> Result<Option<Approval>>;

    /// Questions, the oldest first; those after `after`.
    async fn approvals(
        &self,
        scope: TenantScope,
        filter: ApprovalFilter,
        after: Option<ApprovalId>,
        limit: u32,
    ) -> Result<Page<Approval>>;
}
