//! Commits: all or nothing, in order, with everything that belongs to the step.

use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::record::Expect;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{Commit, CommitRefused, Effect, TaskChange, TaskStatus};
use serde_json::json;

use super::fixture::{LONG, plan};
use super::{Harness, World};

pub async fn journal_pages(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let rows: Vec<_> = (1..=25).map(|seq| w.row(seq)).collect();
    for part in rows.chunks(4) {
        w.commit(&lease, Commit { rows: part.to_vec(), ..w.blank() }).await;
    }
    let mut read = Vec::new();
    loop {
        let after = read.last().map_or(0, |row: &kybern_core::task::JournalRow| row.seq);
        let page = w.store().journal(home.scope, lease.task(), after, 7).await.unwrap();
        assert!(page.len() <= 7);
        if page.is_empty() {
            break;
        }
        read.extend(page);
    }
    assert_eq!(read, rows);
}

pub async fn a_place_in_the_journal_is_taken_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let first = w.row(1);
    w.commit(&lease, Commit { rows: vec![first.clone()], ..w.blank() }).await;
    let put = w.put("test.thing", "a", json!({"n": 1}), Expect::Any);
    let again = Commit { rows: vec![w.row(1)], ..w.effects(vec![Effect::Put(Box::new(put))]) };
    assert!(w.store().commit(&lease, again.into()).await.is_err());
    assert_eq!(w.store().journal(home.scope, lease.task(), 0, 10).await.unwrap(), [first]);
    assert_eq!(w.store().record(home.scope, "test.thing", "a").await.unwrap(), None);
}

pub async fn a_refused_commit_writes_nothing(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let before = (w.task(&home, lease.task()).await, w.store().audit_head(home.scope).await.unwrap());
    let good = w.put("test.thing", "good", json!({"n": 1}), Expect::Absent);
    let bad = w.put("test.thing", "bad", json!({"n": 1}), Expect::Version(3));
    let child = kybern_core::task::NewChild { task: w.new_task() };
    let child_id = child.task.id;
    let commit = Commit {
        rows: vec![w.row(1)],
        effects: vec![
            Effect::Put(Box::new(good)),
            Effect::Enqueue(Box::new(w.job())),
            Effect::Spawn(Box::new(child)),
            Effect::Put(Box::new(bad)),
        ],
        change: super::fixture::end(TaskStatus::Completed),
        usage: Usage { cost_nanos: NanoUsd(5), ..Usage::default() },
        audit: vec![w.event("x.y")],
        ..w.blank()
    };
    let refused = w.store().commit(&lease, commit.into()).await.unwrap_err();
    assert!(
        matches!(refused, CommitRefused::Changed { ref what } if what.ends_with(concat!("\"", "bad", "\""))),
        "{refused}"
    );

    assert_eq!((w.task(&home, lease.task()).await, w.store().audit_head(home.scope).await.unwrap()), before);
    assert!(w.store().journal(home.scope, lease.task(), 0, 10).await.unwrap().is_empty());
    assert_eq!(w.store().record(home.scope, "test.thing", "good").await.unwrap(), None);
    assert_eq!(w.store().task(home.scope, child_id).await.unwrap(), None);
    assert!(w.store().claim_jobs(lease.worker(), &WorkerCapacity::of(10), LONG, w.now()).await.unwrap().is_empty());
    w.commit(&lease, Commit { rows: vec![w.row(1)], ..w.blank() }).await;
}

pub async fn progress_keeps_the_lease(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let progress = |status, intent: Option<(&str, f64)>, plan| TaskChange::Progress {
        status,
        intent: intent.map(|(key, confidence)| (key.to_owned(), confidence)),
        plan,
    };
    w.commit(&lease, w.changes(progress(TaskStatus::Planning, Some(("test.intent", 0.93)), None))).await;
    let task = w.task(&home, lease.task()).await;
    assert_eq!((task.status, task.intent.as_deref(), task.plan), (TaskStatus::Planning, Some("test.intent"), None));
    assert!((task.confidence.unwrap() - 0.93).abs() < 1e-12);

    let plan = plan("test.plan");
    w.commit(&lease, w.changes(progress(TaskStatus::Executing, None, Some(plan.clone().into())))).await;
    let task = w.task(&home, lease.task()).await;
    assert_eq!((task.status, task.intent.as_deref()), (TaskStatus::Executing, Some("test.intent")));
    assert_eq!((task.plan, task.plan_hash.as_ref()), (Some(("test.plan".to_owned(), 1)), Some(plan.hash())));
    assert_eq!(w.store().frozen_plan(home.scope, plan.hash()).await.unwrap(), Some(plan));
    assert!(w.due().await.is_empty());
}

pub async fn an_end_clears_lease_and_waits(h: Harness) {
    let (w, home) = World::new(h).await;
    for status in [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Cancelled] {
        let lease = w.leased(&home, "w").await;
        w.release(&lease, TaskStatus::NeedsReview, Some(w.now()), vec![w.wait("ask", 1)]).await;
        let lease = w.claim_only("w", lease.task()).await.lease;
        let commit = w.changes(super::fixture::end(status));
        let at = commit.at;
        w.commit(&lease, commit).await;
        let task = w.task(&home, lease.task()).await;
        assert_eq!((task.status, task.completed_at), (status, Some(at)));
        assert_eq!((task.result, task.error.is_some()), (Some(json!({"ended": true})), status == TaskStatus::Failed));
        assert_eq!((task.waits.len(), task.delegated_workflow_id), (0, None));
        assert!(w.due().await.is_empty());
    }
}

pub async fn usage_adds_up_over_the_tree(h: Harness) {
    let (w, home) = World::new(h).await;
    let usage = |n: u64| Usage { input_tokens: Tokens(n), output_tokens: Tokens(2 * n), cost_nanos: NanoUsd(7) };
    let root = w.leased(&home, "w").await;
    let below = |parent: &kybern_core::task::Lease| kybern_core::task::NewTask {
        parent: Some((parent.task(), "step".to_owned())),
        ..w.new_task()
    };
    let child = w.leased_as(&home, below(&root), "w", LONG).await.lease;
    let grandchild = w.leased_as(&home, below(&child), "w", LONG).await.lease;
    let stranger = w.leased(&home, "w").await;
    for (n, lease) in [(1, &root), (10, &child), (100, &grandchild), (1000, &stranger), (10_000, &root)] {
        w.commit(lease, Commit { usage: usage(n), ..w.blank() }).await;
    }
    assert_eq!(w.task(&home, root.task()).await.usage, usage(1).plus(usage(10_000)));
    let of = async |lease: &kybern_core::task::Lease| w.store().usage_of_tree(home.scope, lease.task()).await.unwrap();
    let expected = Usage { input_tokens: Tokens(10_111), output_tokens: Tokens(20_222), cost_nanos: NanoUsd(28) };
    assert_eq!(of(&root).await, expected);
    assert_eq!(of(&child).await, usage(10).plus(usage(100)));
    assert_eq!(of(&grandchild).await, usage(100));
}

pub async fn parallel_commits_of_many_tasks_all_hold(h: Harness) {
    let (w, home) = World::new(h).await;
    let mut leases = Vec::new();
    for _ in 0..30 {
        leases.push(w.leased(&home, "w").await);
    }
    for seq in 1..=5 {
        let commits = leases.iter().map(|lease| {
            let (store, commit) = (w.shared(), Commit { rows: vec![w.row(seq)], ..w.blank() });
            async move { store.commit(lease, commit.into()).await.map(|_| ()) }
        });
        for answer in futures::future::join_all(commits).await {
            answer.unwrap();
        }
    }
    for lease in &leases {
        let journal = w.store().journal(home.scope, lease.task(), 0, 10).await.unwrap();
        assert_eq!(journal.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }
}
