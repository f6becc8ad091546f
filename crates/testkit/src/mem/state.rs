//! What is stored, as rows, and the small questions that many calls ask of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use kybern_core::approval::Approval;
use kybern_core::audit::{AuditEvent, ChainStart, ChainedEvent, GENESIS};
use kybern_core::budget::{Amount, Budget, Reservation, SpendKind, UsageLine};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{
    ApprovalId, BudgetId, JobId, KeyId, OutboxId, RecordId, ReservationId, TaskId, TenantId, UserId, WebhookId,
};
use kybern_core::identity::{ApiKey, OutboundWebhook, Tenant, User};
use kybern_core::job::{JobStatus, NewJob};
use kybern_core::outbox::OutboxMessage;
use kybern_core::plan::{FrozenPlan, Plan};
use kybern_core::policy::ToolPolicy;
use kybern_core::ports::{IdSource, Keys};
use kybern_core::record::{Lookup, Record, StoredLink};
use kybern_core::retention::TaskHold;
use kybern_core::task::{
    Attachment, Attempt, CommitRefused, Committed, Delegation, JournalRow, Lease, Signal, Task, WorkerId,
};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use kybern_core::tool::ToolSetting;
use uuid::Uuid;

use super::JobView;

/// Everything.
pub(super) struct MemState {
    pub(super) now: Timestamp,
    /// Whether leases go by `now`, and not by the moment that whoever calls believes in.
    pub(super) keeps_time: bool,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) keys: Arc<dyn Keys>,
    pub(super) tenants: BTreeMap<TenantId, Tenant>,
    pub(super) users: BTreeMap<(TenantId, UserId), User>,
    pub(super) api_keys: BTreeMap<(TenantId, KeyId), (ApiKey, String)>,
    pub(super) webhooks: BTreeMap<(TenantId, WebhookId), OutboundWebhook>,
    pub(super) tasks: BTreeMap<TaskId, TaskRow>,
    pub(super) dedupe: BTreeMap<(TenantId, String, String), TaskId>,
    pub(super) frozen: BTreeMap<(TenantId, String), FrozenPlan>,
    /// Those of them that cannot be read.
    pub(super) spoilt_plans: BTreeSet<(TenantId, String)>,
    pub(super) plans: BTreeMap<(TenantId, String), Vec<Plan>>,
    pub(super) records: BTreeMap<(TenantId, String, String), RecordRow>,
    pub(super) record_keys: BTreeMap<(TenantId, RecordId), (String, String)>,
    pub(super) unique: BTreeMap<(TenantId, String, String, String), String>,
    pub(super) outbox: BTreeMap<(TenantId, OutboxId), OutboxMessage>,
    pub(super) jobs: Vec<JobRow>,
    pub(super) audit: BTreeMap<TenantId, Vec<ChainedEvent>>,
    pub(super) audit_starts: BTreeMap<TenantId, ChainStart>,
    /// With the moment at which they were stored last.
    pub(super) blobs: BTreeMap<(TenantId, String), (Bytes, Timestamp)>,
    pub(super) task_holds: BTreeMap<(TenantId, TaskId), TaskHold>,
    pub(super) budgets: BTreeMap<(TenantId, BudgetId), Budget>,
    pub(super) accounts: BTreeMap<(TenantId, String, i64), Amount>,
    pub(super) open: BTreeMap<(TenantId, ReservationId), OpenRow>,
    pub(super) usage: BTreeMap<UsagePlace, UsageLine>,
    /// The moment of the last call under each key, and those that count.
    pub(super) rates: BTreeMap<(TenantId, String), (Timestamp, Vec<Timestamp>)>,
    pub(super) approvals: BTreeMap<(TenantId, ApprovalId), Approval>,
    pub(super) policies: BTreeMap<(TenantId, UserId), ToolPolicy>,
    pub(super) tool_settings: BTreeMap<(TenantId, String), ToolSetting>,
}

/// Whose usage of what on which day.
pub(super) type UsagePlace = (TenantId, i64, SpendKind, String, String, Option<UserId>);

/// An open reservation.
pub(super) struct OpenRow {
    pub(super) reservation: Reservation,
    pub(super) expires_at: Timestamp,
}

/// A task with everything that belongs to it alone.
pub(super) struct TaskRow {
    pub(super) task: Task,
    pub(super) body_hash: Option<String>,
    pub(super) claimable_at: Option<Timestamp>,
    pub(super) lease_owner: Option<WorkerId>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) journal: Vec<JournalRow>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) signals: Vec<SignalRow>,
    /// With the last row of the journal when each began, and when that was.
    pub(super) delegations: Vec<(Delegation, i64, Timestamp)>,
    pub(super) links: Vec<StoredLink>,
}

/// A signal; its number is its place, from 1.
pub(super) struct SignalRow {
    pub(super) dedupe_key: Option<String>,
    pub(super) body_hash: Option<String>,
    pub(super) signal: Signal,
}

/// A record with its lookups.
pub(super) struct RecordRow {
    pub(super) record: Record,
    pub(super) lookups: Vec<Lookup>,
}

/// A job; leased when `leased`, and then claimable again when its lease expires.
pub(super) struct JobRow {
    pub(super) tenant: TenantId,
    pub(super) job: NewJob,
    pub(super) status: JobStatus,
    pub(super) attempts: u32,
    pub(super) epoch: i64,
    pub(super) leased: bool,
    pub(super) claimable_at: Timestamp,
    pub(super) created_at: Timestamp,
    pub(super) finished_at: Option<Timestamp>,
    pub(super) error: Option<String>,
    pub(super) unreadable: Option<String>,
}

impl JobRow {
    pub(super) fn view(&self) -> JobView {
        JobView {
            kind: self.job.kind.clone(),
            status: self.status,
            attempts: self.attempts,
            error: self.error.clone(),
            payload: self.job.payload.clone(),
        }
    }
}

impl TaskRow {
    /// A task that nobody holds becomes due; one that somebody holds learns of it at its next commit.
    pub(super) fn make_due(&mut self, at: Timestamp) {
        if self.lease_owner.is_none() && !self.task.status.is_terminal() {
            self.claimable_at = Some(self.claimable_at.map_or(at, |due| due.min(at)));
        }
    }

    pub(super) fn last_seq(&self) -> i64 {
        self.journal.last().map_or(0, |row| row.seq)
    }

    /// What the holder learns.
    pub(super) fn committed(&self) -> Committed {
        Committed {
            signals: self.task.signals,
            cancel_requested: self.task.cancel_requested,
            paused: self.task.paused_at.is_some(),
        }
    }

    /// Leaves a signal; the caller has looked for its dedupe key.
    pub(super) fn push_signal(&mut self, dedupe_key: Option<String>, body_hash: Option<String>, signal: Signal) {
        self.signals.push(SignalRow { dedupe_key, body_hash, signal });
        self.task.signals += 1;
    }

    pub(super) fn signal_with(&self, dedupe_key: &str) -> Option<&SignalRow> {
        self.signals.iter().find(|row| row.dedupe_key.as_deref() == Some(dedupe_key))
    }
}

impl MemState {
    pub(super) fn new(ids: Arc<dyn IdSource>, keys: Arc<dyn Keys>) -> Self {
        Self {
            now: Timestamp::default(),
            keeps_time: false,
            ids,
            keys,
            tenants: BTreeMap::new(),
            users: BTreeMap::new(),
            api_keys: BTreeMap::new(),
            webhooks: BTreeMap::new(),
            tasks: BTreeMap::new(),
            dedupe: BTreeMap::new(),
            frozen: BTreeMap::new(),
            spoilt_plans: BTreeSet::new(),
            plans: BTreeMap::new(),
            records: BTreeMap::new(),
            record_keys: BTreeMap::new(),
            unique: BTreeMap::new(),
            outbox: BTreeMap::new(),
            jobs: Vec::new(),
            audit: BTreeMap::new(),
            audit_starts: BTreeMap::new(),
            blobs: BTreeMap::new(),
            task_holds: BTreeMap::new(),
            budgets: BTreeMap::new(),
            accounts: BTreeMap::new(),
            open: BTreeMap::new(),
            usage: BTreeMap::new(),
            rates: BTreeMap::new(),
            approvals: BTreeMap::new(),
            policies: BTreeMap::new(),
            tool_settings: BTreeMap::new(),
        }
    }

    /// The moment by which leases go, where a process believes in that one.
    pub(super) fn moment(&self, believed: Timestamp) -> Timestamp {
        if self.keeps_time { self.now } else { believed }
    }

    pub(super) fn row(&self, scope: TenantScope, id: TaskId) -> Option<&TaskRow> {
        self.tasks.get(&id).filter(|row| row.task.tenant == scope.tenant())
    }

    /// The same, to change.
    pub(super) fn row_mut(&mut self, scope: TenantScope, id: TaskId) -> Option<&mut TaskRow> {
        self.tasks.get_mut(&id).filter(|row| row.task.tenant == scope.tenant())
    }

    /// The same, or `NOT_FOUND`.
    pub(super) fn known(&mut self, scope: TenantScope, id: TaskId) -> Result<&mut TaskRow, Error> {
        self.row_mut(scope, id).ok_or_else(|| Error::not_found("task", id))
    }

    /// The row under a lease that still holds: nobody has claimed the task since, and it was not given back.
    pub(super) fn held(&mut self, lease: &Lease) -> Result<&mut TaskRow, CommitRefused> {
        self.row_mut(lease.scope(), lease.task())
            .filter(|row| row.task.epoch == lease.epoch() && row.lease_owner.is_some())
            .ok_or(CommitRefused::Fenced)
    }

    pub(super) fn append_audit(&mut self, tenant: TenantId, at: Timestamp, event: AuditEvent) {
        let key = self.keys.audit_key(tenant);
        let chain = self.audit.entry(tenant).or_default();
        let (seq, prev) = chain.last().map_or((0, GENESIS), |last| (last.seq, last.hash.as_str()));
        let link = key.chain(seq + 1, at, event, prev);
        chain.push(link);
    }

    /// Stores a job; `false` when its dedupe key is taken.
    pub(super) fn insert_job(&mut self, tenant: TenantId, job: NewJob, at: Timestamp) -> bool {
        let taken = job.dedupe_key.is_some()
            && self
                .jobs
                .iter()
                .any(|row| row.tenant == tenant && row.job.kind == job.kind && row.job.dedupe_key == job.dedupe_key);
        if !taken {
            let now = self.moment(at);
            // Who is ahead means so much later, by a clock that is right.
            let claimable_at = if at <= now { job.due_at } else { now.plus(job.due_at.since(at)) };
            let status = JobStatus::Pending;
            self.jobs.push(JobRow {
                tenant,
                job,
                status,
                attempts: 0,
                epoch: 0,
                leased: false,
                claimable_at,
                created_at: at,
                finished_at: None,
                error: None,
                unreadable: None,
            });
        }
        !taken
    }

    pub(super) fn mint<T>(&self, wrap: impl FnOnce(Uuid) -> T) -> T {
        wrap(self.ids.next())
    }

    pub(super) fn mint_job(&self) -> JobId {
        self.mint(JobId::from_uuid)
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let tasks = self.tasks.values().filter(|row| row.can_be_claimed()).filter_map(|row| row.claimable_at);
        let jobs = self.jobs.iter().filter(|row| row.status == JobStatus::Pending).map(|row| row.claimable_at);
        tasks.chain(jobs).min()
    }
}

impl TaskRow {
    /// Whether a worker may claim it once it is due.
    pub(super) fn can_be_claimed(&self) -> bool {
        !self.task.status.is_terminal() && self.task.paused_at.is_none()
    }
}

pub(super) fn conflict(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::Conflict, message)
}
