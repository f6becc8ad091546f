//! Trees of tasks: what children spend is their first parent's.

use kybern_core::budget::Limits;
use kybern_core::error::Result;
use kybern_core::id::TaskId;
use kybern_core::ports::Store;
use kybern_core::tenant::TenantScope;

/// How many parents lie between a task and the first of its tree at most; deeper is not allowed anyway.
const MAX_PARENTS: usize = 64;

/// The first task of a task's tree, with what it says that the tree may spend.
pub(crate) async fn tree_of(store: &dyn Store, scope: TenantScope, mut id: TaskId) -> Result<(TaskId, Option<Limits>)> {
    for _ in 0..MAX_PARENTS {
        let Some(task) = store.task(scope, id).await? else { break };
        match task.parent {
            Some((parent, _)) => id = parent,
            None => {
                let limits = task.budget.map(|cost| Limits { cost: Some(cost), ..Limits::default() });
                return Ok((id, limits));
            }
        }
    }
    Ok((id, None))
}
