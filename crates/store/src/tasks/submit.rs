//! Submissions: a task with its plan, its attachments and the rows of a fork, in one commit.

use kybern_core::id::TaskId;
use kybern_core::plan::FrozenPlan;
use kybern_core::task::{NewTask, Submitted, Task, WorkerId};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;

use super::commit::MAX_PLAIN;
use super::journal::StepRow;
use super::read;
use crate::chats;
use crate::db::{Arg, Tx, args, count, statements};
use crate::error::{Result, StoreError};

statements! {
    BY_DEDUPE = shared "task_by_dedupe";
    FREE_KEY = shared "task_free_key";
    INSERT = shared "task_insert";
    FREEZE = shared "frozen_insert";
    ATTACH = shared "attachment_insert";
}

/// A submission, prepared outside the writer.
#[derive(Debug)]
pub(super) struct Submission {
    scope: TenantScope,
    new: NewTask,
    payload: String,
    rows: Vec<StepRow>,
    claim: Option<(WorkerId, Millis)>,
}

impl Submission {
    /// Prepares a submission.
    pub(super) fn prepare(scope: TenantScope, new: NewTask, claim: Option<(&WorkerId, Millis)>) -> Result<Self> {
        let rows = match &new.forked_from {
            Some((_, rows)) => rows.iter().map(StepRow::prepare).collect::<Result<Vec<_>>>()?,
            None => Vec::new(),
        };
        let payload = new.payload.to_string();
        Ok(Self { scope, payload, rows, claim: claim.map(|(worker, lease)| (worker.clone(), lease)), new })
    }

    /// Whether it is one row and nothing else.
    pub(super) fn is_mergeable(&self, tx: &Tx) -> bool {
        let plan = self.new.plan.as_ref();
        self.may_be_plain() && plan.is_none_or(|plan| tx.shared().plans.knows(self.scope.tenant(), plan.hash()))
    }

    /// Whether it is one row once its plan is stored.
    pub(super) fn may_be_plain(&self) -> bool {
        self.new.dedupe_key.is_none()
            && self.new.turn().is_none()
            && self.new.attachments.is_empty()
            && self.rows.is_empty()
            && self.new.input.len() + self.payload.len() <= MAX_PLAIN
    }

    /// The same for a task that nobody may begin yet.
    fn unclaimed(&self) -> Self {
        Self { scope: self.scope, new: self.new.clone(), payload: self.payload.clone(), rows: Vec::new(), claim: None }
    }

    /// Whether the task is claimed as it is stored.
    pub(super) fn is_claimed(&self) -> bool {
        self.claim.is_some()
    }

    /// The task's row as it is bound.
    pub(super) fn args(&self) -> [Arg<'_>; 30] {
        let (scope, new, claim) = (self.scope, &self.new, self.claim.as_ref());
        let plan = new.plan.as_ref();
        [
            new.id.as_uuid().into(),
            scope.into(),
            new.channel.as_str().into(),
            new.source.as_str().into(),
            new.dedupe_key.as_deref().into(),
            new.body_hash.as_deref().into(),
            new.input.as_str().into(),
            self.payload.as_str().into(),
            new.created_by.as_str().into(),
            new.user.map(kybern_core::id::UserId::as_uuid).into(),
            plan.map(|plan| plan.key.as_str()).into(),
            plan.map(|plan| plan.version).into(),
            plan.map(|plan| plan.hash().as_str()).into(),
            new.max_steps.into(),
            new.confidence_threshold.into(),
            new.budget.map(|budget| budget.0).into(),
            new.trace_id.as_str().into(),
            new.parent.as_ref().map(|(task, _)| task.as_uuid()).into(),
            new.parent.as_ref().map(|(_, step)| step.as_str()).into(),
            new.depth.into(),
            new.at.into(),
            claim.map(|_| new.at).into(),
            claim.map(|(worker, _)| worker.as_str()).into(),
            i64::from(claim.is_some()).into(),
            claim.map_or(0, |(_, lease)| count(lease.0)).into(),
            new.forked_from.as_ref().map(|(task, _)| task.as_uuid()).into(),
            new.intent.as_ref().map(|(intent, _)| intent.as_str()).into(),
            new.intent.as_ref().map(|(_, confidence)| *confidence).into(),
            i64::from(new.rights.bits()).into(),
            new.kind().as_str().into(),
        ]
    }

    fn row(&self) -> Task {
        self.new.row(self.scope.tenant(), self.claim.is_some())
    }
}

/// Stores a submission, or tells of the task that came with its key before.
pub(super) async fn submit(tx: &mut Tx, submission: &Submission) -> Result<Submitted> {
    if let Some((task, same_body)) = earlier(tx, submission).await? {
        return Ok(Submitted::Duplicate { task: Box::new(task), same_body });
    }
    let Some(turn) = submission.new.turn() else {
        insert(tx, submission).await?;
        return Ok(stored(tx, submission));
    };
    let (scope, task) = (submission.scope, submission.new.id);
    if chats::must_wait(tx, scope, turn).await? {
        let waiting = submission.unclaimed();
        insert(tx, &waiting).await?;
        chats::begin(tx, scope, task, turn, true).await?;
        return Ok(Submitted::Queued(Box::new(waiting.row())));
    }
    insert(tx, submission).await?;
    chats::begin(tx, scope, task, turn, false).await?;
    Ok(stored(tx, submission))
}

/// What the caller is told of a submission that has been stored.
pub(super) fn stored(tx: &mut Tx, submission: &Submission) -> Submitted {
    match &submission.claim {
        Some((worker, _)) => Submitted::New(Box::new(submission.new.claimed_by(submission.scope, worker))),
        None => {
            tx.wake();
            Submitted::Queued(Box::new(submission.row()))
        }
    }
}

async fn earlier(tx: &mut Tx, submission: &Submission) -> Result<Option<(Task, bool)>> {
    let (scope, new) = (submission.scope, &submission.new);
    let Some(key) = &new.dedupe_key else { return Ok(None) };
    let found = tx.fetch_optional(&BY_DEDUPE, args![scope, new.source.as_str(), key.as_str()]).await?;
    let Some(mut found) = found else { return Ok(None) };
    let id = TaskId::from_uuid(found.uuid()?);
    let same_body = found.opt_text()? == new.body_hash;
    if new.outlives(found.time()?) {
        tx.execute(&FREE_KEY, args![scope, id.as_uuid()]).await?;
        return Ok(None);
    }
    let task = read::task(tx, scope, id).await?.ok_or_else(|| StoreError::not_found("task", id))?;
    Ok(Some((task, same_body)))
}

/// Stores a child: like any submission, and waiting for a worker.
pub(super) async fn spawn(tx: &mut Tx, scope: TenantScope, child: &NewTask) -> Result<()> {
    let submission = Submission::prepare(scope, child.clone(), None)?;
    if earlier(tx, &submission).await?.is_none() {
        insert(tx, &submission).await?;
        tx.wake();
    }
    Ok(())
}

async fn insert(tx: &mut Tx, submission: &Submission) -> Result<()> {
    let (scope, new) = (submission.scope, &submission.new);
    if let Some(plan) = &new.plan {
        freeze(tx, scope, plan).await?;
    }
    tx.execute(&INSERT, &submission.args()).await?;
    for (n, attachment) in new.numbered_attachments() {
        let args = args![
            scope,
            new.id.as_uuid(),
            n,
            attachment.filename.as_str(),
            attachment.content_type.as_str(),
            count(attachment.size),
            attachment.hash.as_str(),
            attachment.source.as_str(),
        ];
        tx.execute(&ATTACH, args).await?;
    }
    for row in &submission.rows {
        row.insert(tx, scope, new.id).await?;
    }
    Ok(())
}

/// Stores a frozen plan unless it is known to be stored.
pub(super) async fn freeze(tx: &mut Tx, scope: TenantScope, plan: &FrozenPlan) -> Result<()> {
    if tx.shared().plans.knows(scope.tenant(), plan.hash()) {
        return Ok(());
    }
    tx.execute(&FREEZE, args![scope, plan.hash().as_str(), plan.body()]).await?;
    tx.froze(scope.tenant(), plan.hash().clone());
    Ok(())
}
