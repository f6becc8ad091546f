//! Tasks, as a tool may read them.

use async_trait::async_trait;

use super::{Page, TaskFilter};
use crate::error::Result;
use crate::id::TaskId;
use crate::task::Task;

/// The tasks that whoever the tool works for may see ([`crate::tool::Behalf::sees`]).
#[async_trait]
pub trait TaskReader: Send + Sync {
    /// A page of them, the newest first, as [`super::TaskStore::tasks`] lists them. The filter's `talks_of` is
    /// whoever's the tool works for, whatever it says.
    async fn list(&self, filter: TaskFilter) -> Result<Page<Task>>;

    /// One of them; `None` also for one that may not be seen.
    async fn find(&self, id: TaskId) -> Result<Option<Task>>;
}
