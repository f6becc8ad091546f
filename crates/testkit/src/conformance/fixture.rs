//! The words in which the suite tells its tests: tenants, tasks, leases and commits with sensible defaults.

use std::fmt::Debug;
use std::str::FromStr;
use std::sync::Arc;

use kybern_core::actor::{Actor, Role};
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{JobId, KeyId, RecordId, TaskId, TenantId, UserId};
use kybern_core::identity::{ApiKey, Tenant, User};
use kybern_core::job::NewJob;
use kybern_core::plan::{FrozenPlan, StepId, StepSpec};
use kybern_core::ports::{IdSource as _, Page, Store};
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Merge, PutRecord};
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{
    AttachmentSource, Attempt, Channel, Claimed, Commit, CommitRefused, Committed, Delegation, Effect, EffectClass,
    JournalEntry, JournalRow, Lease, NewAttachment, NewKind, NewTask, Signal, StepError, StepOutcome, Submitted, Task,
    TaskChange, TaskEnding, TaskStatus, Wait, WaitKind, WorkerId,
};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::Harness;
use crate::SeededIds;

/// A lease that no test outlives.
pub(super) const LONG: Millis = Millis(600_000);
/// A lease that a test waits out.
pub(super) const SHORT: Millis = Millis(50);
/// Far enough in the future that no test reaches it by itself.
pub(super) const HOUR: Millis = Millis(3_600_000);

/// A store under test with what the tests need around it.
#[derive(Debug)]
pub struct World {
    /// The store and its clock.
    pub harness: Harness,
    ids: SeededIds,
}

/// A tenant with one user.
#[derive(Clone, Debug)]
pub struct Home {
    pub scope: TenantScope,
    /// Its user, an admin.
    pub admin: Actor,
    /// The user's id.
    pub user: UserId,
    /// The hash of the user's key.
    pub key_hash: String,
}

impl World {
    /// A world with one tenant.
    ///
    /// # Panics
    /// When the store does not take the tenant.
    pub async fn new(harness: Harness) -> (Self, Home) {
        // Another seed than any store's, so that no id is made twice.
        let ids = SeededIds::new(0x636f_6e66_6f72_6d73, harness.clock.clone());
        let world = Self { harness, ids };
        let home = world.tenant("first").await;
        (world, home)
    }

    /// Another tenant.
    ///
    /// # Panics
    /// When the store does not take it.
    pub async fn tenant(&self, slug: &str) -> Home {
        self.tenant_called(slug, &format!("Tenant {slug}")).await
    }

    /// Another tenant, with that name.
    pub(super) async fn tenant_called(&self, slug: &str, name: &str) -> Home {
        let (id, user) = (TenantId::from_uuid(self.id()), UserId::from_uuid(self.id()));
        let tenant = Tenant { id, name: name.to_owned(), slug: slug.to_owned(), created_at: self.now() };
        let admin = self.user(user, &format!("admin@{slug}.example"), &[Role::Admin]);
        let (key, key_hash) = (self.key(user, &[]), format!("hash-of-{slug}"));
        let audit = self.event("tenant.create");
        self.store().create_tenant(&tenant, &admin, &key, &key_hash, audit).await.expect("a tenant is taken");
        let admin = crate::actors::user(id, user, &[Role::Admin]);
        Home { scope: admin.scope(), admin, user, key_hash }
    }

    pub(super) fn store(&self) -> &dyn Store {
        self.harness.store.as_ref()
    }

    pub(super) fn shared(&self) -> Arc<dyn Store> {
        self.harness.store.clone()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.harness.now()
    }

    pub(super) fn id(&self) -> Uuid {
        self.ids.next()
    }

    pub(super) fn user(&self, id: UserId, email: &str, roles: &[Role]) -> User {
        User {
            id,
            name: email.to_owned(),
            email: email.to_owned(),
            roles: roles.to_vec(),
            timezone: "UTC".to_owned(),
            created_at: self.now(),
            made_by_user_id: None,
        }
    }

    pub(super) fn key(&self, user_id: UserId, roles: &[Role]) -> ApiKey {
        ApiKey {
            id: KeyId::from_uuid(self.id()),
            user_id,
            name: "a key".to_owned(),
            prefix: "kyb_1234".to_owned(),
            roles: roles.to_vec(),
            scopes: Vec::new(),
            expires_at: None,
            revoked_at: None,
            created_at: self.now(),
            made_by_key_id: None,
            made_by_user_id: None,
        }
    }

    pub(super) fn event(&self, action: &str) -> AuditEvent {
        AuditEvent::by_executor(action, "test:1", json!({}))
    }

    pub(super) fn new_task(&self) -> NewTask {
        let id = self.id();
        NewTask {
            id: TaskId::from_uuid(id),
            channel: Channel::Api,
            source: "api/test".to_owned(),
            dedupe_key: None,
            body_hash: None,
            input: "do it".to_owned(),
            payload: json!({"a": [1, true, null]}),
            created_by: "user:test".to_owned(),
            user: None,
            rights: kybern_core::actor::Rights::OPERATOR,
            plan: None,
            intent: None,
            attachments: Vec::new(),
            max_steps: 50,
            confidence_threshold: 0.8,
            budget: None,
            trace_id: id.simple().to_string(),
            parent: None,
            depth: 0,
            forked_from: None,
            kind: NewKind::Plan,
            at: self.now(),
        }
    }

    /// A task that waits for a worker.
    pub(super) async fn queued(&self, home: &Home, task: NewTask) -> Task {
        match self.store().submit(home.scope, task, None).await.expect("a task is taken") {
            Submitted::Queued(task) => *task,
            other => panic!("expected a queued task, found {other:?}"),
        }
    }

    /// A new task under a long lease of this worker.
    pub(super) async fn leased(&self, home: &Home, worker: &str) -> Lease {
        self.leased_as(home, self.new_task(), worker, LONG).await.lease
    }

    pub(super) async fn leased_as(&self, home: &Home, task: NewTask, worker: &str, lease: Millis) -> Claimed {
        let claim = WorkerId::new(worker);
        match self.store().submit(home.scope, task, Some((&claim, lease))).await.expect("a task is taken") {
            Submitted::New(claimed) => *claimed,
            other => panic!("expected a claimed task, found {other:?}"),
        }
    }

    pub(super) async fn claim(&self, worker: &str, limit: u32) -> Vec<Claimed> {
        let now = self.now();
        self.store()
            .claim_due(&WorkerId::new(worker), &WorkerCapacity::of(limit), LONG, now)
            .await
            .expect("a claim is answered")
    }

    /// Claims that task, which is the only one that is due.
    pub(super) async fn claim_only(&self, worker: &str, task: TaskId) -> Claimed {
        let mut found = self.claim(worker, 10).await;
        let ids: Vec<TaskId> = found.iter().map(|claimed| claimed.task.id).collect();
        assert_eq!(ids, [task], "exactly this task is due");
        found.remove(0)
    }

    /// The ids of the tasks that are due; they are leased afterwards.
    pub(super) async fn due(&self) -> Vec<TaskId> {
        self.claim("whoever", 200).await.into_iter().map(|claimed| claimed.task.id).collect()
    }

    /// Waits out a short lease and lets another worker take the task.
    pub(super) async fn taken_over(&self, task: TaskId, worker: &str) -> Claimed {
        let look = async || self.claim(worker, 10).await.into_iter().find(|claimed| claimed.task.id == task);
        // One more, to be past it on a clock that stands still.
        self.harness.after(Millis(SHORT.0 + 1), look).await
    }

    pub(super) async fn task(&self, home: &Home, id: TaskId) -> Task {
        self.store().task(home.scope, id).await.expect("a task is read").expect("the task is there")
    }

    pub(super) async fn commit(&self, lease: &Lease, commit: Commit) -> Committed {
        self.store().commit(lease, commit.into()).await.expect("the commit is taken")
    }

    /// A commit of nothing, to be filled in.
    pub(super) fn blank(&self) -> Commit {
        Commit { at: self.now(), ..Commit::default() }
    }

    pub(super) fn effects(&self, effects: Vec<Effect>) -> Commit {
        Commit { effects, ..self.blank() }
    }

    pub(super) fn changes(&self, change: TaskChange) -> Commit {
        Commit { change, ..self.blank() }
    }

    /// Gives a lease back.
    pub(super) async fn release(&self, lease: &Lease, status: TaskStatus, due: Option<Timestamp>, waits: Vec<Wait>) {
        self.commit(lease, self.changes(release(status, due, waits))).await;
    }

    pub(super) async fn end(&self, lease: &Lease, status: TaskStatus) {
        self.commit(lease, self.changes(end(status))).await;
    }

    pub(super) fn row(&self, seq: i64) -> JournalRow {
        let outcome = StepOutcome::completed(json!({"n": seq}));
        JournalRow {
            seq,
            step: Some(StepId::trusted(&format!("s{seq}"))),
            tool: Some("test.noop".to_owned()),
            attempt: 1,
            generation: 0,
            at: self.now(),
            duration: Millis(3),
            summary: format!("row {seq}"),
            entry: JournalEntry::Finished(Arc::new(outcome)),
        }
    }

    pub(super) fn wait(&self, step: &str, seq: i64) -> Wait {
        Wait {
            step_id: StepId::trusted(step),
            seq,
            kind: WaitKind::Input,
            reason: "something is missing".to_owned(),
            title: None,
            schema: json!({"type": "object"}),
            details: Value::Null,
            since: self.now(),
            until: None,
            approval_id: None,
            answer_ends: false,
            tainted_args: Vec::new(),
            reference: None,
        }
    }

    /// A job that is due.
    pub(super) fn job(&self) -> NewJob {
        NewJob {
            id: JobId::from_uuid(self.id()),
            kind: "test.job".to_owned(),
            payload: json!({}),
            dedupe_key: None,
            max_attempts: 3,
            due_at: self.now(),
        }
    }

    /// The first attempt of a step to send something.
    pub(super) fn attempt(&self) -> Attempt {
        Attempt {
            step: StepId::trusted("send"),
            generation: 0,
            attempt: 1,
            tool: "test.send".to_owned(),
            effect: EffectClass::Keyed,
            args_hash: "h".to_owned(),
            at: self.now(),
            rendered: None,
            tool_hash: None,
        }
    }

    /// A step that is handed over for an hour.
    pub(super) fn delegation(&self, workflow_id: &str) -> Delegation {
        Delegation {
            step: StepId::trusted("hand_over"),
            workflow: "chase".to_owned(),
            workflow_id: workflow_id.to_owned(),
            deadline: self.now().plus(HOUR),
        }
    }

    /// Tries a failed task again.
    pub(super) async fn reopen(&self, home: &Home, task: TaskId) -> Result<Task, Error> {
        self.store().reopen(home.scope, task, retry(), self.now(), self.event("task.retry")).await
    }

    /// What the tenant's audit tells of, oldest first.
    pub(super) async fn acts(&self, home: &Home) -> Vec<String> {
        let events = self.store().audit_events(home.scope, 0, 500).await.expect("the audit is read");
        events.into_iter().map(|link| link.event.action).collect()
    }

    /// How often it tells of that act.
    pub(super) async fn acts_of(&self, home: &Home, action: &str) -> usize {
        self.acts(home).await.iter().filter(|act| *act == action).count()
    }

    pub(super) fn put(&self, kind: &str, key: &str, props: Value, expect: Expect) -> PutRecord {
        PutRecord {
            id: RecordId::from_uuid(self.id()),
            kind: kind.to_owned(),
            key: key.to_owned(),
            props: object(props),
            merge: Merge::Overwrite,
            expect,
            lookups: Vec::new(),
        }
    }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

pub(super) fn release(status: TaskStatus, due: Option<Timestamp>, waits: Vec<Wait>) -> TaskChange {
    TaskChange::Release { status, due, waits, current_step: None, workflow_id: None }
}

pub(super) fn end(status: TaskStatus) -> TaskChange {
    let error = (status == TaskStatus::Failed).then(|| StepError {
        code: ErrorCode::Tool,
        message: "it broke".to_owned(),
        retryable: false,
    });
    TaskChange::End(Box::new(TaskEnding { status, result: json!({"ended": true}), error, current_step: None }))
}

pub(super) fn review(wait: &Wait) -> Signal {
    Signal::Review {
        step: wait.step_id.clone(),
        wait_seq: wait.seq,
        corrections: Map::new(),
        resolution: None,
        replaces: false,
        note: None,
        by: "user:test".to_owned(),
    }
}

pub(super) fn retry() -> Signal {
    Signal::Retry { by: "user:test".to_owned() }
}

pub(super) fn file(hash: &str) -> NewAttachment {
    NewAttachment {
        filename: "a.txt".to_owned(),
        content_type: "text/plain".to_owned(),
        size: 6,
        hash: hash.to_owned(),
        source: AttachmentSource::Attached,
    }
}

/// A link to a record that is written with it.
pub(super) fn link(put: &PutRecord) -> ArtifactLink {
    let (kind, key, record_id) = (put.kind.clone(), put.key.clone(), put.id);
    ArtifactLink { kind, record_id, key, role: ArtifactRole::Created, metadata: Map::new() }
}

/// What all pages of a list hold, in order.
pub(super) async fn pages<T, I: FromStr<Err: Debug>>(list: impl AsyncFn(Option<I>) -> Page<T>) -> Vec<T> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = list(after).await;
        seen.extend(page.items);
        let Some(next) = page.next else { return seen };
        after = Some(next.parse().expect("a page names the next one"));
    }
}

pub(super) fn plan(key: &str) -> FrozenPlan {
    let step = StepSpec::tool(StepId::trusted("only"), "test.noop", Map::new());
    FrozenPlan::freeze(key, 1, vec![step], None)
}

/// Whether a commit was refused by the fence.
pub(super) fn is_fenced(answer: &Result<Committed, CommitRefused>) -> bool {
    matches!(answer, Err(CommitRefused::Fenced))
}

pub(super) fn code<T: Debug>(answer: Result<T, Error>) -> ErrorCode {
    answer.expect_err("it is refused").code()
}
