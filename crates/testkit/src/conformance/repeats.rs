//! The same commit again, by a holder who has not heard whether it was written: it is written once.

use std::sync::Arc;

use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::plan::StepId;
use kybern_core::record::Expect;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{
    Commit, CommitRefused, Committed, Effect, JournalRow, Lease, NewChild, NewTask, Task, TaskChange, TaskStatus,
    WorkerId,
};
use serde_json::json;

use super::fixture::{HOUR, LONG, SHORT, end, is_fenced, link, plan, release};
use super::{Harness, Home, World};

impl World {
    async fn again(&self, lease: &Lease, commit: &Arc<Commit>) -> Result<Committed, CommitRefused> {
        self.store().commit_again(lease, Arc::clone(commit)).await
    }

    /// A commit with something of everything that may be written once only.
    fn full(&self, parent: &Lease, record: &str, change: TaskChange) -> Commit {
        let parent = Some((parent.task(), "c".to_owned()));
        let child = NewChild { task: NewTask { parent, ..self.new_task() } };
        let put = self.put("test.thing", record, json!({"n": 1}), Expect::Absent);
        let link = link(&put);
        Commit {
            rows: vec![self.row(1), self.row(2)],
            effects: vec![
                Effect::Put(Box::new(put)),
                Effect::Link { link, step: StepId::trusted("s"), tool: None },
                Effect::Send(Box::new(super::outbox::message(self))),
                Effect::Enqueue(Box::new(self.job())),
                Effect::Spawn(Box::new(child)),
            ],
            change,
            usage: Usage { input_tokens: Tokens(3), output_tokens: Tokens(2), cost_nanos: NanoUsd(7) },
            audit: vec![self.event("step.done")],
            ..self.blank()
        }
    }

    /// Everything that a commit of [`World::full`] writes.
    async fn written(&self, home: &Home, lease: &Lease) -> StoreState {
        let (store, scope, task) = (self.store(), home.scope, lease.task());
        let records = store.records(scope, "test.thing", None, 10).await.unwrap().items;
        StoreState {
            task: self.task(home, task).await,
            journal: store.journal(scope, task, 0, 100).await.unwrap(),
            records: records.into_iter().map(|record| (record.key, record.version)).collect(),
            links: store.artifacts(scope, task).await.unwrap().len(),
            children: store.children(scope, task).await.unwrap().len(),
            outbox: store.outbox(scope, None, None, 100).await.unwrap().items.len(),
            audited: store.audit_head(scope).await.unwrap(),
        }
    }
}

#[derive(PartialEq, Debug)]
struct StoreState {
    task: Task,
    journal: Vec<JournalRow>,
    records: Vec<(String, i64)>,
    links: usize,
    children: usize,
    outbox: usize,
    audited: Option<(i64, String)>,
}

pub async fn a_commit_that_was_written_is_answered_and_written_no_second_time(h: Harness) {
    let (w, home) = World::new(h).await;
    let progress = || TaskChange::Progress {
        status: TaskStatus::Executing,
        intent: Some(("test.intent".to_owned(), 0.9)),
        plan: Some(plan("test.chosen").into()),
    };
    let wait = w.wait("ask", 2);
    let changes = [
        TaskChange::Keep,
        progress(),
        release(TaskStatus::NeedsReview, None, vec![wait]),
        release(TaskStatus::Executing, Some(w.now().plus(HOUR)), vec![]),
        end(TaskStatus::Completed),
        end(TaskStatus::Failed),
    ];
    let mut jobs = 0;
    for (at, change) in (1_i64..).zip(changes) {
        let lease = w.leased(&home, "w").await;
        let commit = Arc::new(w.full(&lease, &format!("of commit {at}"), change));
        let told = w.store().commit(&lease, Arc::clone(&commit)).await.unwrap();
        let before = w.written(&home, &lease).await;
        for _ in 0..2 {
            assert_eq!(w.again(&lease, &commit).await.unwrap(), told);
            assert_eq!(w.written(&home, &lease).await, before, "{:?}", commit.change);
        }
        jobs += 2;
    }
    let found = w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(100), LONG, w.now()).await.unwrap();
    assert_eq!(found.len(), jobs, "one of its own and one that sends its message, for each commit");
}

pub async fn a_commit_that_was_not_written_is_written_by_its_repeat(h: Harness) {
    let (w, home) = World::new(h).await;
    let changes = [TaskChange::Keep, release(TaskStatus::Executing, None, vec![]), end(TaskStatus::Completed)];
    for (at, change) in (1_i64..).zip(changes) {
        let lease = w.leased(&home, "w").await;
        let commit = Arc::new(w.full(&lease, &format!("of commit {at}"), change));
        w.again(&lease, &commit).await.unwrap();
        let task = w.task(&home, lease.task()).await;
        assert_eq!(task.usage, commit.usage);
        assert_eq!(w.store().journal(home.scope, lease.task(), 0, 10).await.unwrap(), commit.rows);
        assert_eq!(w.store().children(home.scope, lease.task()).await.unwrap().len(), 1);
        assert_eq!(is_fenced(&w.store().commit(&lease, w.blank().into()).await), commit.change != TaskChange::Keep);
    }
}

pub async fn a_repeat_is_known_after_others_have_gone_on(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "first").await;
    let due = Some(w.now());
    let released = Arc::new(w.full(&lease, "a", release(TaskStatus::Executing, due, vec![])));
    let told = w.store().commit(&lease, Arc::clone(&released)).await.unwrap();
    let found = w.claim("second", 10).await;
    let claimed = found.into_iter().find(|claimed| claimed.task.id == lease.task()).unwrap().lease;
    w.commit(&claimed, Commit { rows: vec![w.row(3)], ..w.changes(end(TaskStatus::Failed)) }).await;
    w.reopen(&home, lease.task()).await.unwrap();
    let before = w.written(&home, &lease).await;
    let again = w.again(&lease, &released).await.unwrap();
    assert_eq!((again.cancel_requested, again.paused), (told.cancel_requested, told.paused));
    assert_eq!(again.signals, 1, "it is told what is new since");
    assert_eq!(w.written(&home, &lease).await, before);
}

pub async fn a_repeat_of_what_was_not_written_is_fenced_when_somebody_else_holds_the_task(h: Harness) {
    let (w, home) = World::new(h).await;
    let stale = w.leased_as(&home, w.new_task(), "first", SHORT).await.lease;
    let commits = [TaskChange::Keep, release(TaskStatus::Executing, None, vec![]), end(TaskStatus::Completed)];
    let commits = commits.map(|change| Arc::new(w.full(&stale, "a", change)));
    let bare = Arc::new(w.changes(release(TaskStatus::Executing, None, vec![])));
    let fresh = w.taken_over(stale.task(), "second").await.lease;
    let mut other = w.row(1);
    other.summary = "another row at the same place".to_owned();
    w.commit(&fresh, Commit { rows: vec![other], ..w.blank() }).await;
    let before = w.written(&home, &stale).await;
    for commit in commits.iter().chain([&bare]) {
        assert!(is_fenced(&w.again(&stale, commit).await), "{:?}", commit.change);
    }
    assert_eq!(w.written(&home, &stale).await, before);
}

pub async fn a_lease_given_back_without_rows_is_known_as_given_back(h: Harness) {
    let (w, home) = World::new(h).await;
    for change in [release(TaskStatus::Executing, None, vec![]), end(TaskStatus::Failed)] {
        let lease = w.leased(&home, "w").await;
        let commit = Arc::new(Commit { audit: vec![w.event("x.y")], ..w.changes(change) });
        let told = w.store().commit(&lease, Arc::clone(&commit)).await.unwrap();
        let before = w.written(&home, &lease).await;
        assert_eq!(w.again(&lease, &commit).await.unwrap(), told);
        assert_eq!(w.written(&home, &lease).await, before);
    }
}

pub async fn a_repeat_is_refused_like_the_commit_that_it_repeats(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let put = w.put("test.thing", "a", json!({"n": 1}), Expect::Version(3));
    let commit = Arc::new(Commit { rows: vec![w.row(1)], ..w.effects(vec![Effect::Put(Box::new(put))]) });
    let refused = w.again(&lease, &commit).await.unwrap_err();
    assert!(matches!(refused, CommitRefused::Changed { .. }), "{refused}");
    assert!(w.store().journal(home.scope, lease.task(), 0, 10).await.unwrap().is_empty());
}
