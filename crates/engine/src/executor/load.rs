//! What is read of a claimed task before it is walked.

use std::sync::Arc;

use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::TaskId;
use kybern_core::identity::User;
use kybern_core::plan::{FrozenPlan, StepKind};
use kybern_core::task::{AttachmentSource, Attempt, Claimed, JournalEntry, JournalRow, Lease, Task};
use kybern_core::tenant::TenantScope;

use super::kernel::Kernel;
use super::steps::LoadedSteps;
use super::walk::Walk;

/// Journal rows that are read at once.
const JOURNAL_PAGE: u32 = 1_000;

/// What is read of a claimed task before it is walked.
pub(crate) struct LoadedTask {
    pub(super) walk: Walk,
    pub(super) earlier_attempts: Vec<Attempt>,
    /// Whose task it is; a platform admin of another tenant as they are there.
    pub(super) user: Option<User>,
    /// Whether they are of another tenant.
    pub(super) is_abroad: bool,
    pub(super) has_documents: bool,
    pub(super) tenant_name: String,
    pub(super) loaded: LoadedSteps,
}

impl LoadedTask {
    /// Reads it. A task that was never claimed before has no journal to read.
    ///
    /// # Errors
    /// When the store fails, or the plan or the journal cannot be read by this program.
    pub(crate) async fn read(kernel: &Arc<Kernel>, claimed: &Claimed, has_documents: Option<bool>) -> Result<Self> {
        let Claimed { lease, task, .. } = claimed;
        task.must_be_whole()?;
        let scope = lease.scope();
        let plan = kernel.plan_of(scope, task).await?;
        let has_agents = plan.as_ref().is_some_and(|plan| plan.steps.iter().any(|step| asks_agents(step)));
        // `context` holds it as well, without naming it.
        let names = |plan: &Arc<FrozenPlan>| ["user", "context"].iter().any(|name| plan.body().contains(name));
        let reads_user = has_agents || plan.as_ref().is_none_or(names);
        let mut walk = Walk::new(plan);
        let mut earlier_attempts = Vec::new();
        if lease.epoch() > 1 || task.forked_from.is_some() {
            load_journal(kernel, lease, &mut walk).await?;
            earlier_attempts = kernel.store.attempts(scope, task.id).await?;
            for attempt in &earlier_attempts {
                walk.take_up(attempt);
            }
        }
        let user = match task.user {
            Some(user) if reads_user => kernel.store.acting_user(scope, user).await?,
            Some(_) | None => None,
        };
        let is_abroad = user.as_ref().is_some_and(|(_, is_at_home)| !is_at_home);
        let user = user.map(|(user, _)| user);
        let has_documents = match has_documents {
            Some(known) => known,
            None => {
                let attachments = kernel.store.attachments(scope, task.id).await?;
                attachments.iter().any(|attachment| attachment.source == AttachmentSource::Attached)
            }
        };
        let tenant_name = kernel.tenants.name(kernel.store.as_ref(), task.tenant).await?;
        let loaded = kernel.kinds.load(lease, task, (&walk, has_documents), has_agents).await?;
        Ok(Self { walk, earlier_attempts, user, is_abroad, has_documents, tenant_name, loaded })
    }
}

pub(super) fn asks_agents(step: &kybern_core::plan::StepSpec) -> bool {
    matches!(step.kind, StepKind::Agent { .. }) || step.kind.inner().into_iter().flatten().any(asks_agents)
}

pub(super) async fn load_journal(kernel: &Kernel, lease: &Lease, walk: &mut Walk) -> Result<()> {
    let apply = |row: JournalRow| {
        if let JournalEntry::Unreadable { problem } = &row.entry {
            let message = format!("row {} of its journal cannot be read: {problem}", row.seq);
            return Err(Error::new(ErrorCode::Internal, message));
        }
        walk.apply(&row);
        Ok(())
    };
    kernel.each_row(lease.scope(), lease.task(), apply).await
}

impl Kernel {
    /// The plan that a task is walked by.
    ///
    /// # Errors
    /// When the store fails, or the plan cannot be read by this program.
    pub(crate) async fn plan_of(&self, scope: TenantScope, task: &Task) -> Result<Option<Arc<FrozenPlan>>> {
        match &task.plan_hash {
            None => Ok(None),
            Some(hash) => self.frozen.get(self.store.as_ref(), scope, hash).await.map(Some),
        }
    }

    /// Reads a task's journal from the beginning, in order.
    ///
    /// # Errors
    /// When the store fails, and what `read` says of a row.
    pub(crate) async fn each_row(
        &self,
        scope: TenantScope,
        task: TaskId,
        mut read: impl FnMut(JournalRow) -> Result<()> + Send,
    ) -> Result<()> {
        let mut after = 0;
        loop {
            let rows = self.store.journal(scope, task, after, JOURNAL_PAGE).await?;
            let full = rows.len() >= usize::try_from(JOURNAL_PAGE).unwrap_or(usize::MAX);
            after = rows.last().map_or(after, |row| row.seq);
            rows.into_iter().try_for_each(&mut read)?;
            if !full {
                return Ok(());
            }
        }
    }
}
