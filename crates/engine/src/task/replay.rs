//! Replay: walks a task from its journal, with no model and no effects, and must arrive where the task did. Beside the
//! journal it reads what a task's expressions may name: its row, its frozen plan, its tenant and its user.
//!
//! Each row is checked against what the pure walk would have allowed at that moment; conditions, branches, loops and
//! arguments are computed again from the journal and must come out the same; and so must the result.

use kybern_core::actor::Actor;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::TaskId;
use kybern_core::task::JournalRow;

use super::Tasks;
use crate::command::once;
use crate::executor::rewalk::{ReplayReport, ReplayWalk};
use crate::task::Fork;

impl Tasks {
    /// Replays a task that has ended.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` while it has not ended.
    pub async fn replay(&self, actor: &Actor, id: TaskId) -> Result<ReplayReport> {
        let (task, scope) = (self.task_for(actor, id).await?.whole()?, actor.scope());
        if !task.status.is_terminal() {
            let message = format!("the task is {}, only one that has ended can be replayed", task.status);
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        let kernel = &self.kernel;
        let _turn = self.services.reading.turn(actor.tenant()).await;
        let plan = kernel.plan_of(scope, &task).await?;
        let tenant = kernel.tenants.name(kernel.store.as_ref(), task.tenant).await?;
        let user = match task.user {
            Some(user) => kernel.store.acting_user(scope, user).await?.map(|(user, _)| user),
            None => None,
        };
        let mut rewalk = ReplayWalk::new(&task, &tenant, user.as_ref(), plan);
        let step = |row: JournalRow| {
            rewalk.step(&row);
            Ok(())
        };
        kernel.each_row(scope, id, step).await?;
        Ok(rewalk.finish(&task))
    }

    /// Starts a new task that takes over what an old one had done before a step, and goes on from there.
    ///
    /// # Errors
    /// `NOT_FOUND`; `PERMISSION_DENIED` for a turn of somebody else's conversation; `CONFLICT` while the old one has not
    /// ended, and where outside writes would be made again that [`Fork::confirm`] does not name; `VALIDATION_ERROR` for
    /// an unknown step.
    pub async fn fork(
        &self,
        actor: &Actor,
        id: TaskId,
        asked: impl Into<Fork>,
    ) -> Result<crate::executor::view::TaskView> {
        let fork = self.fork_of(actor, id, &asked.into()).await?;
        let new = fork.id;
        let find = || async { Ok(self.kernel.store.task(actor.scope(), new).await?.map(|_| ())) };
        let make = async { self.store_task(actor, fork, None).await.map(|_| ()) };
        once(actor, find, make).await?;
        self.get(actor, new).await
    }
}
