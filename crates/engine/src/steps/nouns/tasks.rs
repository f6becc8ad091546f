//! Tasks, for a tool.

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::id::TaskId;
use kybern_core::ports::{Page, TaskFilter, TaskReader};
use kybern_core::task::Task;

use super::NounContext;

/// The view.
pub(super) struct Tasks(pub(super) NounContext);

#[async_trait]
impl TaskReader for Tasks {
    async fn list(&self, filter: TaskFilter) -> Result<Page<Task>> {
        let filter = TaskFilter { talks_of: self.0.behalf.sees_talks_of(), ..filter };
        self.0.services.store.tasks(self.0.scope, &filter).await
    }

    async fn find(&self, id: TaskId) -> Result<Option<Task>> {
        let found = self.0.services.store.task(self.0.scope, id).await?;
        Ok(found.filter(|task| self.0.behalf.sees(task)))
    }
}
