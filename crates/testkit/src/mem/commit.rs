//! What the holder of a lease writes: all or nothing, under the fence.

use kybern_core::error::{Error, ErrorCode};
use kybern_core::plan::{FrozenPlan, StepId};
use kybern_core::task::{Commit, CommitRefused, Committed, Lease, Signal, Task, TaskChange, TaskEnding, TaskStatus};
use kybern_core::time::Timestamp;

use super::state::MemState;

impl MemState {
    pub(super) fn commit(&mut self, lease: &Lease, commit: Commit) -> Result<Committed, CommitRefused> {
        self.check_rows(lease, &commit)?;
        self.check_effects(lease.scope(), &commit.effects)?;
        let Commit { rows, effects, change, usage, audit, signals_seen, at } = commit;
        let (tenant, id) = (lease.scope().tenant(), lease.task());
        self.apply_effects((tenant, id), effects, (signals_seen, rows.last().map(|row| row.seq)), at);
        let row = self.held(lease)?;
        row.journal.extend(rows);
        row.task.usage = row.task.usage.plus(usage);
        self.apply_change(lease, change, signals_seen, at)?;
        for event in audit {
            self.append_audit(tenant, at, event);
        }
        Ok(self.row(lease.scope(), id).map(super::state::TaskRow::committed).unwrap_or_default())
    }

    /// What the first try of a commit was told, when it was written: its last row is there, or its lease given back.
    pub(super) fn written(&self, lease: &Lease, commit: &Commit) -> Option<Committed> {
        let row = self.row(lease.scope(), lease.task())?;
        let gives_back = matches!(commit.change, TaskChange::Release { .. } | TaskChange::End(_));
        let is_given_back = row.task.epoch == lease.epoch() && row.lease_owner.is_none();
        let is_written = match commit.rows.last() {
            Some(last) => row.journal.contains(last),
            None => gives_back && is_given_back,
        };
        is_written.then(|| row.committed())
    }

    /// The fence, the order of the journal, and a change that its own type cannot rule out.
    fn check_rows(&mut self, lease: &Lease, commit: &Commit) -> Result<(), CommitRefused> {
        let row = self.held(lease)?;
        let next = row.journal.last().map_or(1, |last| last.seq + 1);
        if commit.rows.iter().zip(next..).any(|(row, expected)| row.seq != expected) {
            let found: Vec<i64> = commit.rows.iter().map(|row| row.seq).collect();
            return Err(internal(format!("journal rows {found:?} do not follow row {}", next - 1)));
        }
        let (status, ends) = match &commit.change {
            TaskChange::Keep => return Ok(()),
            TaskChange::Progress { status, .. } | TaskChange::Release { status, .. } => (*status, false),
            TaskChange::End(ending) => (ending.status, true),
        };
        if status.is_terminal() != ends {
            let which = if ends { "ends the task" } else { "does not end the task" };
            return Err(internal(format!("a commit that {which} says {status}")));
        }
        Ok(())
    }

    fn apply_change(
        &mut self,
        lease: &Lease,
        change: TaskChange,
        signals_seen: i64,
        at: Timestamp,
    ) -> Result<(), CommitRefused> {
        match change {
            TaskChange::Keep => {}
            TaskChange::Progress { status, intent, plan } => {
                let task = &mut self.held(lease)?.task;
                task.status = status;
                if let Some((intent, confidence)) = intent {
                    task.intent = Some(intent);
                    task.confidence = Some(confidence);
                }
                if let Some(plan) = plan {
                    task.plan = Some((plan.key.clone(), plan.version));
                    task.plan_hash = Some(plan.hash().clone());
                    self.freeze(lease, plan.as_ref().clone());
                }
            }
            TaskChange::Release { status, due, waits, current_step, workflow_id } => {
                let now = self.moment(at);
                let row = self.held(lease)?;
                let called = row.task.signals > signals_seen || row.task.cancel_requested;
                row.lease_owner = None;
                // Who is ahead means so much later, by a clock that is right.
                let due = due.map(|due| if at <= now { due } else { now.plus(due.since(at)) });
                row.claimable_at = if called { Some(now) } else { due };
                row.task.status = status;
                row.task.waits = waits;
                row.task.current_step = current_step;
                row.task.delegated_workflow_id = workflow_id;
                if status == TaskStatus::NeedsReview {
                    let task = row.task.clone();
                    self.announce(&task, "task.needs_review", at);
                }
            }
            TaskChange::End(ending) => self.end(lease, *ending, at)?,
        }
        Ok(())
    }

    fn freeze(&mut self, lease: &Lease, plan: FrozenPlan) {
        self.frozen.insert((lease.scope().tenant(), plan.hash().as_str().to_owned()), plan);
    }

    fn end(&mut self, lease: &Lease, ending: TaskEnding, at: Timestamp) -> Result<(), CommitRefused> {
        let row = self.held(lease)?;
        row.lease_owner = None;
        row.claimable_at = None;
        row.task.paused_at = None;
        row.task.waits = Vec::new();
        row.task.delegated_workflow_id = None;
        row.task.status = ending.status;
        row.task.result = Some(ending.result);
        row.task.error = ending.error;
        row.task.current_step = ending.current_step;
        row.task.completed_at = Some(at);
        let task = row.task.clone();
        self.tell_parent(&task, at);
        self.announce(&task, &format!("task.{}", task.status), at);
        Ok(())
    }

    /// A parent learns of its child's end in the commit that ends it.
    pub(super) fn tell_parent(&mut self, child: &Task, at: Timestamp) {
        let Some((parent, step)) = &child.parent else { return };
        let now = self.moment(at);
        let Some(row) = self.tasks.get_mut(parent).filter(|row| row.task.tenant == child.tenant) else { return };
        // A parent that has failed may be tried again, and finds it then.
        if row.task.status.is_terminal() && row.task.status != TaskStatus::Failed {
            return;
        }
        let signal = Signal::ChildEnded {
            step: StepId::trusted(step),
            child: child.id,
            status: child.status,
            result: child.result.clone().unwrap_or_default(),
            error: child.error.clone(),
            usage: child.usage,
        };
        row.push_signal(None, None, signal);
        row.make_due(now);
    }
}

fn internal(message: String) -> CommitRefused {
    CommitRefused::Store(Error::new(ErrorCode::Internal, message))
}
