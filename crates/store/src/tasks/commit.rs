//! One commit of a step: checked as a whole, then written as a whole, under the lease's fence.

use std::sync::Arc;

use kybern_core::money::Usage;
use kybern_core::plan::FrozenPlan;
use kybern_core::task::{Attempt, Commit, Committed, Lease, TaskChange, TaskEnding, TaskStatus};

use serde_json::json;

use super::journal::StepRow;
use super::{effects, ending, row, submit};
use crate::audit;
use crate::db::{Tx, args, statements};
use crate::error::{Result, StoreError};

statements! {
    FENCE = split "task_fence";
    PROGRESS = shared "task_progress";
    USE = shared "task_use";
    USAGE_INSERT = shared "usage_insert";
    ATTEMPT_GET = shared "attempt_get";
    ATTEMPT_INSERT = shared "attempt_insert";
}

/// Bytes that a plain commit or a plain submission has at most.
pub(super) const MAX_PLAIN: usize = 256 * 1024;

/// A commit, prepared outside the writer.
#[derive(Debug)]
pub(super) struct PreparedCommit {
    pub(super) lease: Lease,
    pub(super) commit: Arc<Commit>,
    pub(super) rows: Vec<StepRow>,
    /// The task's result as JSON, when the commit ends it.
    pub(super) result: Option<String>,
}

impl PreparedCommit {
    /// Prepares a commit.
    pub(super) fn new(lease: &Lease, commit: Arc<Commit>) -> Result<Self> {
        let rows = commit.rows.iter().map(StepRow::prepare).collect::<Result<Vec<_>>>()?;
        let result = match &commit.change {
            TaskChange::End(end) => Some(end.result.to_string()),
            TaskChange::Keep | TaskChange::Progress { .. } | TaskChange::Release { .. } => None,
        };
        Ok(Self { lease: lease.clone(), commit, rows, result })
    }

    /// Whether it does nothing but append rows, and perhaps end the task: what most steps do. Large ones are written
    /// by themselves, so that many plain ones stay one statement of a bearable size.
    pub(super) fn is_mergeable(&self) -> bool {
        let commit = &self.commit;
        let plain = match &commit.change {
            TaskChange::Keep => true,
            TaskChange::End(end) => end.status.is_terminal(),
            TaskChange::Progress { .. } | TaskChange::Release { .. } => false,
        };
        let size =
            self.rows.iter().map(|row| row.body.len()).sum::<usize>() + self.result.as_ref().map_or(0, String::len);
        plain
            && !self.rows.is_empty()
            && commit.effects.is_empty()
            && commit.usage.is_zero()
            && commit.audit.is_empty()
            && size <= MAX_PLAIN
    }

    /// How the task ends, when the commit ends it.
    pub(super) fn ending(&self) -> Option<&TaskEnding> {
        match &self.commit.change {
            TaskChange::End(end) => Some(end),
            TaskChange::Keep | TaskChange::Progress { .. } | TaskChange::Release { .. } => None,
        }
    }

    /// The number of the last row of this commit.
    pub(super) fn last_seq(&self) -> Option<i64> {
        self.rows.last().map(|row| row.seq)
    }
}

/// Writes a commit.
pub(super) async fn commit(tx: &mut Tx, prepared: &PreparedCommit) -> Result<Committed> {
    let (lease, commit) = (&prepared.lease, &prepared.commit);
    let (scope, task) = (lease.scope(), lease.task());
    if effects::must_check(&commit.effects) {
        fence(tx, lease).await?;
        effects::check(tx, scope, &commit.effects).await?;
    }
    let mut told = match &commit.change {
        // PostgreSQL checks the fence in the statement that appends: one round trip less.
        TaskChange::Keep if tx.is_postgres() && !prepared.rows.is_empty() => None,
        TaskChange::Keep => Some(fence(tx, lease).await?),
        TaskChange::Progress { status, intent, plan } => {
            Some(progress(tx, prepared, *status, intent.as_ref(), plan.as_deref()).await?)
        }
        TaskChange::Release { .. } => Some(ending::release(tx, prepared).await?),
        TaskChange::End(end) => Some(ending::end(tx, prepared, end).await?),
    };
    for row in &prepared.rows {
        if told.is_some() {
            row.insert(tx, scope, task).await?;
        } else {
            told = Some(row.append(tx, lease).await?);
        }
    }
    if !commit.effects.is_empty() {
        // Boxed like all that is rare, or every commit would carry the room for it.
        Box::pin(effects::write(tx, prepared)).await?;
    }
    if !commit.usage.is_zero() {
        write_usage(tx, prepared).await?;
    }
    for event in &commit.audit {
        audit::append(tx, scope, commit.at, event).await?;
    }
    told.ok_or(StoreError::Fenced)
}

/// Checks that the lease holds, and on PostgreSQL keeps others from taking it before this commits.
pub(super) async fn fence(tx: &mut Tx, lease: &Lease) -> Result<Committed> {
    let args = args![lease.scope(), lease.task().as_uuid(), lease.epoch()];
    let mut held = tx.fetch_optional(&FENCE, args).await?.ok_or(StoreError::Fenced)?;
    row::told(&mut held)
}

async fn progress(
    tx: &mut Tx,
    prepared: &PreparedCommit,
    status: TaskStatus,
    intent: Option<&(String, f64)>,
    plan: Option<&FrozenPlan>,
) -> Result<Committed> {
    let (lease, (input, output, cost)) = (&prepared.lease, row::amounts(&prepared.commit.usage));
    let args = args![
        lease.scope(),
        lease.task().as_uuid(),
        lease.epoch(),
        status,
        intent.map(|(key, _)| key.as_str()),
        intent.map(|(_, confidence)| *confidence),
        plan.map(|plan| plan.key.as_str()),
        plan.map(|plan| plan.version),
        plan.map(|plan| plan.hash().as_str()),
        input,
        output,
        cost,
    ];
    let mut held = tx.write_row(&PROGRESS, args).await?.ok_or(StoreError::Fenced)?;
    let told = row::told(&mut held)?;
    if let Some(plan) = plan {
        submit::freeze(tx, lease.scope(), plan).await?;
    }
    Ok(told)
}

/// Notes what was used: one row for each row of the journal that says so, and the sum on the task. A change of the
/// task's row has added the sum already.
async fn write_usage(tx: &mut Tx, prepared: &PreparedCommit) -> Result<()> {
    let (lease, commit) = (&prepared.lease, &prepared.commit);
    let (scope, task) = (lease.scope(), lease.task().as_uuid());
    let (input, output, cost) = row::amounts(&commit.usage);
    if commit.change == TaskChange::Keep {
        tx.execute(&USE, args![scope, task, input, output, cost]).await?;
    }
    let accounted = prepared.rows.iter().fold(Usage::default(), |sum, row| sum.plus(row.usage));
    let rest = commit.usage.minus(accounted);
    let mut owes = Some(rest).filter(|rest| !rest.is_zero());
    for step in &prepared.rows {
        let usage = match owes.take_if(|_| step.usage.is_zero()) {
            Some(rest) => rest,
            None => step.usage,
        };
        if usage.is_zero() {
            continue;
        }
        let (input, output, cost) = row::amounts(&usage);
        let args = args![
            scope,
            task,
            step.seq,
            step.step.as_deref(),
            step.tool.as_deref(),
            step.generation,
            step.attempt,
            input,
            output,
            cost,
            commit.at,
        ];
        tx.execute(&USAGE_INSERT, args).await?;
    }
    Ok(())
}

/// Records that an outside effect is about to begin.
pub(super) async fn begin_attempt(tx: &mut Tx, lease: &Lease, attempt: &Attempt) -> Result<Committed> {
    let told = fence(tx, lease).await?;
    let (scope, task, step) = (lease.scope(), lease.task().as_uuid(), attempt.step.as_str());
    // All tries of one generation carry the same key, so they must carry the same arguments.
    for mut known in tx.fetch_all(&ATTEMPT_GET, args![scope, task, step, attempt.generation]).await? {
        let number = known.u32()?;
        if known.text()? != attempt.args_hash {
            return Err(StoreError::Conflict(format!("step {step} has begun with other arguments")));
        }
        if number == attempt.attempt {
            return Ok(told);
        }
    }
    let rendered = attempt.rendered.as_ref().map(|rendered| json!(rendered).to_string());
    let args = args![
        scope,
        task,
        step,
        attempt.generation,
        attempt.attempt,
        attempt.tool.as_str(),
        attempt.effect.as_str(),
        attempt.args_hash.as_str(),
        lease.epoch(),
        attempt.at,
        rendered.as_deref(),
        attempt.tool_hash.as_deref(),
    ];
    tx.execute(&ATTEMPT_INSERT, args).await?;
    Ok(told)
}
