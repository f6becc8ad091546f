//! What is read of a claimed task before it is walked.

use std::sync::Arc;

use kybern_core::agent::Agent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::identity::User;
use kybern_core::lesson::Lessons;
use kybern_core::plan::{Plan, StepKind};
use kybern_core::task::{AttachmentSource, Attempt, Channel, Claimed, JournalEntry, Lease};
use kybern_core::tenant::TenantScope;

use super::lessons;
use super::walk::Walk;
use crate::parts::Inner;

/// Journal rows that are read at once.
const JOURNAL_PAGE: u32 = 1_000;

/// What its tenant has of its own, as the run found it.
pub(super) struct Own {
    /// The stored plans, where a step or a phase may ask for one.
    pub(super) plans: Arc<Vec<Plan>>,
    /// What was learned, at the version with which it was read first.
    pub(super) lessons: Lessons,
    /// The agents, where a step may ask one.
    pub(super) agents: Arc<Vec<Agent>>,
}

impl Own {
    /// The agent that is named so, by its key before its name.
    pub(super) fn agent(&self, name: &str) -> Option<&Agent> {
        let by_key = self.agents.iter().find(|agent| agent.draft.key == name);
        by_key.or_else(|| self.agents.iter().find(|agent| agent.is_called(name)))
    }
}

/// What is read of a claimed task before it is walked.
pub(crate) struct Known {
    pub(super) walk: Walk,
    pub(super) earlier_attempts: Vec<Attempt>,
    pub(super) user: Option<User>,
    pub(super) has_documents: bool,
    pub(super) tenant_name: String,
    pub(super) own: Own,
}

impl Known {
    /// Reads it. A task that was never claimed before has no journal to read.
    ///
    /// # Errors
    /// When the store fails, or the plan or the journal cannot be read by this program.
    pub(crate) async fn read(inner: &Arc<Inner>, claimed: &Claimed, has_documents: Option<bool>) -> Result<Self> {
        let Claimed { lease, task, .. } = claimed;
        task.must_be_whole()?;
        let scope = lease.scope();
        let plan = match &task.plan_hash {
            None => None,
            Some(hash) => Some(inner.frozen.get(inner.store.as_ref(), scope, hash).await?),
        };
        let has_agents = plan.as_ref().is_some_and(|plan| plan.steps.iter().any(|step| asks_agents(step)));
        let reads_user = has_agents || plan.as_ref().is_none_or(|plan| plan.body().contains("user"));
        let needs_plans = plan.as_ref().is_none_or(|plan| plan.steps.iter().any(|step| starts_children(step)));
        let mut walk = Walk::new(plan);
        let mut earlier_attempts = Vec::new();
        if lease.epoch() > 1 || task.forked_from.is_some() {
            load_journal(inner, lease, &mut walk).await?;
            earlier_attempts = inner.store.attempts(scope, task.id).await?;
            for attempt in &earlier_attempts {
                walk.take_up(attempt);
            }
        }
        let user = match task.user {
            Some(user) if reads_user => inner.store.user(scope, user).await?,
            Some(_) | None => None,
        };
        let has_documents = match has_documents {
            Some(known) => known,
            None => {
                let attachments = inner.store.attachments(scope, task.id).await?;
                attachments.iter().any(|attachment| attachment.source == AttachmentSource::Attached)
            }
        };
        let agents = if has_agents { agents_of(inner, scope).await? } else { Arc::default() };
        let tenant_name = inner.tenants.name(inner.store.as_ref(), task.tenant).await?;
        let own_plans = if needs_plans { inner.services.plans.own(scope).await? } else { Arc::default() };
        // Phases use them; a call that reads without any takes them up when it begins.
        let has_phases = walk.plan().is_none() || has_documents || task.channel == Channel::Email;
        let lessons = if has_phases || lessons::version_of(&walk).is_some() {
            lessons::read_with(&walk, &*inner.store.lessons_in_use(scope).await?)
        } else {
            Lessons::default()
        };
        let own = Own { plans: own_plans, lessons, agents };
        Ok(Self { walk, earlier_attempts, user, has_documents, tenant_name, own })
    }
}

/// The tenant's agents as they are now.
pub(super) async fn agents_of(inner: &Inner, scope: TenantScope) -> Result<Arc<Vec<Agent>>> {
    inner.services.agents.list(scope).await
}

pub(super) fn asks_agents(step: &kybern_core::plan::StepSpec) -> bool {
    matches!(step.kind, StepKind::Agent { .. }) || step.kind.inner().into_iter().flatten().any(asks_agents)
}

fn starts_children(step: &kybern_core::plan::StepSpec) -> bool {
    matches!(step.kind, StepKind::Task { .. }) || step.kind.inner().into_iter().flatten().any(starts_children)
}

pub(super) async fn load_journal(inner: &Inner, lease: &Lease, walk: &mut Walk) -> Result<()> {
    loop {
        let rows = inner.store.journal(lease.scope(), lease.task(), walk.last_seq(), JOURNAL_PAGE).await?;
        for row in &rows {
            if let JournalEntry::Unreadable { problem } = &row.entry {
                let message = format!("row {} of its journal cannot be read: {problem}", row.seq);
                return Err(Error::new(ErrorCode::Internal, message));
            }
            walk.apply(row);
        }
        if rows.len() < usize::try_from(JOURNAL_PAGE).unwrap_or(usize::MAX) {
            return Ok(());
        }
    }
}
