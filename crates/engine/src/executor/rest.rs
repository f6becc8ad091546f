//! A task that comes to rest: how, and what is told of it to the log and to those who wait for it.

use kybern_core::audit::AuditEvent;
use kybern_core::error::ErrorCode;
use kybern_core::task::{Committed, Task, TaskChange, TaskStatus, WaitKind};
use kybern_core::time::{Millis, Timestamp};
use serde_json::json;

use super::drive::{Flow, RunStop};
use super::run::TaskRun;
use super::step::{AfterJournal, Draft, failure};
use super::view::TaskView;
use super::{ending, open_effects};

impl TaskRun {
    /// Nothing runs and nothing can begin: the task ends, or its lease is given back.
    pub(super) async fn rest(&mut self) -> Result<Flow, RunStop> {
        let now = self.now();
        if self.wanted.cancel {
            self.cancel_children(now).await?;
            let (rows, audit) = (self.steps.cut(self), open_effects::never_known(self));
            return self.settle(Draft { rows, audit, ..Draft::only(AfterJournal::Cancelled) }).await;
        }
        let due = self.walk.next_due();
        let waits =
            || due.is_some() || !self.walk.person_waits().is_empty() || self.walk.waiting_nodes().next().is_some();
        let then = if self.wanted.paused || self.kernel.stopping.is_cancelled() {
            AfterJournal::Rests(Some(now))
        } else if let Some(ending) = ending::in_phase(&self.walk) {
            AfterJournal::Ends(Box::new(ending))
        } else if self.walk.is_finished() && self.next_phase().is_none() {
            AfterJournal::Ends(Box::new(ending::end(&self.walk, &self.surroundings)))
        } else if waits() {
            AfterJournal::Rests(due)
        } else {
            AfterJournal::Fails(failure(ErrorCode::Internal, "the task can neither go on nor wait for anything"), None)
        };
        let audit = if matches!(then, AfterJournal::Ends(_) | AfterJournal::Fails(..)) {
            open_effects::never_known(self)
        } else {
            Vec::new()
        };
        self.settle(Draft { audit, ..Draft::only(then) }).await
    }

    /// What a cancelled task has started is cancelled with it. Done again after a crash, because the end follows.
    async fn cancel_children(&mut self, now: Timestamp) -> Result<(), RunStop> {
        let (id, scope) = (self.task.id, self.lease.scope());
        if self.walk.waiting_nodes().all(|(_, wait)| wait.kind != WaitKind::Child) {
            return Ok(());
        }
        for child in self.ask(|kernel| async move { kernel.store.children(scope, id).await }).await? {
            self.ask(|kernel| async move {
                let detail = json!({"parent": id});
                let audit = AuditEvent::by_executor("task.cancel", format!("task:{child}"), detail);
                match kernel.store.request_cancel(scope, child, now, audit).await {
                    Ok(_) => {
                        kernel.active.poke(child);
                        Ok(())
                    }
                    Err(error) if error.code() == ErrorCode::Conflict => Ok(()),
                    Err(error) => Err(error),
                }
            })
            .await?;
        }
        Ok(())
    }

    /// One line of the log for each end of a task, and each time that it comes to wait for a person. No word of a message
    /// stands in it: a failure's own may be a stranger's.
    pub(super) fn log_rest(&self, failed: Option<(ErrorCode, Option<String>)>, now: Timestamp) {
        let (task, status) = (&self.task, self.task.status);
        let intent = task.intent.as_deref().unwrap_or_default();
        let (plan, version) = task.plan.as_ref().map_or(("", 0), |(key, version)| (key.as_str(), *version));
        let (age_ms, cost_nanos) = (now.since(task.created_at).0, task.usage.cost_nanos.0);
        if status.is_terminal() {
            self.kernel.meter.ended(status, Millis(age_ms));
        }
        macro_rules! say {
            ($level:ident, $message:literal $(, $name:ident = $value:expr)*) => {
                tracing::$level!(channel = task.channel.as_str(), intent, plan, version, age_ms, cost_nanos, $($name = $value,)* $message)
            };
        }
        match (status, failed) {
            (TaskStatus::Failed, failed) => {
                let (code, step) = failed.unwrap_or((ErrorCode::Internal, None));
                say!(warn, "the task failed", code = code.as_str(), step = step.as_deref().unwrap_or_default());
            }
            (TaskStatus::NeedsReview, _) => say!(info, "the task waits for a person"),
            (status, _) if status.is_terminal() => say!(info, "the task ended", status = status.as_str()),
            _rests => {}
        }
    }

    /// Tells those who wait that the task rests, and its submitter how it stands, so that nobody need look.
    pub(super) fn tell_rest(&self, change: Option<TaskChange>, committed: Committed, now: Timestamp) {
        let watchers = &self.kernel.watchers;
        let news = committed.signals > self.walk.signals_seen() || committed.cancel_requested;
        let asks = self.task.status == TaskStatus::NeedsReview && !news;
        if committed.paused {
            return watchers.tell(self.task.id);
        }
        if !self.task.status.is_terminal() && !asks {
            return watchers.tell_followers(self.task.id);
        }
        let Some(change) = change else { return watchers.tell(self.task.id) };
        watchers.tell_rest(self.task.id, || {
            let mut task = Task { signals: committed.signals, ..self.task.clone() };
            task.cancel_requested = committed.cancel_requested;
            task.waits = Vec::new();
            task.delegated_workflow_id = None;
            match change {
                TaskChange::End(ending) => {
                    task.result = Some(ending.result);
                    task.error = ending.error;
                    task.current_step = ending.current_step;
                    task.completed_at = Some(now);
                }
                TaskChange::Release { waits, current_step, workflow_id, .. } => {
                    task.waits = waits;
                    task.current_step = current_step;
                    task.delegated_workflow_id = workflow_id;
                }
                TaskChange::Keep | TaskChange::Progress { .. } => {}
            }
            TaskView::new(task, Some(&self.walk))
        });
    }
}
