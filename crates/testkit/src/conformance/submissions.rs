//! Submitting tasks: once per key, whole, with what comes along.

use futures::future::join_all;
use kybern_core::actor::Right;
use kybern_core::id::TaskId;
use kybern_core::money::NanoUsd;
use kybern_core::task::{
    AttachmentSource, Channel, Commit, NewAttachment, NewTask, Submitted, Task, TaskStatus, WorkerId, limits,
};
use kybern_core::time::{Millis, Timestamp};
use serde_json::json;

use super::fixture::{LONG, plan};
use super::{Harness, World};

fn keyed(task: NewTask, key: &str, body: &str) -> NewTask {
    NewTask { dedupe_key: Some(key.to_owned()), body_hash: Some(body.to_owned()), ..task }
}

async fn duplicate(w: &World, home: &super::Home, task: NewTask) -> (Task, bool) {
    match w.store().submit(home.scope, task, None).await.unwrap() {
        Submitted::Duplicate { task, same_body } => (*task, same_body),
        other => panic!("expected a duplicate, found {other:?}"),
    }
}

pub async fn a_task_is_read_back_as_it_was_given(h: Harness) {
    let (w, home) = World::new(h).await;
    let new = NewTask {
        channel: Channel::Email,
        input: "grüße 🚚\nzwei".to_owned(),
        payload: json!({"b": 1, "a": {"deep": [null, 0.5, "x"]}}),
        user: Some(home.user),
        rights: [Right::Read, Right::Administer].into_iter().collect(),
        max_steps: 7,
        confidence_threshold: 0.65,
        budget: Some(NanoUsd(123_456_789)),
        depth: 2,
        ..w.new_task()
    };
    let given = w.queued(&home, new.clone()).await;
    let read = w.task(&home, new.id).await;
    assert_eq!(given, read);
    assert_eq!(
        (read.id, read.tenant, read.channel, read.status),
        (new.id, home.scope.tenant(), new.channel, TaskStatus::Pending)
    );
    assert_eq!((&read.input, &read.payload, &read.created_by), (&new.input, &new.payload, &new.created_by));
    assert_eq!((read.user, read.max_steps, read.budget, read.depth), (new.user, 7, new.budget, 2));
    assert_eq!((read.rights, read.rights.may(Right::Operate)), (new.rights, false));
    assert!((read.confidence_threshold - 0.65).abs() < 1e-12);
    assert_eq!((read.created_at, &read.trace_id), (new.at, &new.trace_id));
    assert_eq!((read.epoch, read.signals, read.recoveries), (0, 0, 0));
    assert_eq!((read.started_at, read.completed_at, read.cancel_requested), (None, None, false));
    assert_eq!(w.store().scope_of(home.scope.tenant(), new.id).await.unwrap(), Some(home.scope));
}

pub async fn a_submission_may_claim_at_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let claimed = w.leased_as(&home, w.new_task(), "first", LONG).await;
    assert_eq!((claimed.lease.epoch(), claimed.lease.worker()), (1, &WorkerId::new("first")));
    assert_eq!((claimed.lease.scope(), claimed.recovered_from), (home.scope, None));
    assert!(claimed.task.started_at.is_some());
    assert!(w.due().await.is_empty(), "it is leased");
    assert_eq!(w.commit(&claimed.lease, w.blank()).await.signals, 0);
}

pub async fn same_key_is_submitted_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let first = w.queued(&home, keyed(w.new_task(), "message-1", "body")).await;
    let (again, same_body) = duplicate(&w, &home, keyed(w.new_task(), "message-1", "body")).await;
    assert_eq!((again.id, same_body), (first.id, true));
    assert_eq!(w.due().await, [first.id]);
}

pub async fn same_key_with_another_body_is_told(h: Harness) {
    let (w, home) = World::new(h).await;
    let first = w.queued(&home, keyed(w.new_task(), "message-1", "body")).await;
    let (again, same_body) = duplicate(&w, &home, keyed(w.new_task(), "message-1", "other")).await;
    assert_eq!((again.id, same_body), (first.id, false));
}

pub async fn a_duplicate_is_told_after_the_task_has_ended(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased_as(&home, keyed(w.new_task(), "k", "b"), "w", LONG).await.lease;
    w.end(&lease, TaskStatus::Completed).await;
    let (again, same_body) = duplicate(&w, &home, keyed(w.new_task(), "k", "b")).await;
    assert_eq!((again.id, again.status, same_body), (lease.task(), TaskStatus::Completed, true));
}

pub async fn a_key_of_the_api_lives_for_a_day(h: Harness) {
    let (w, home) = World::new(h).await;
    let at = |at: Timestamp, task: NewTask| NewTask { at, ..task };
    let (now, begun) = (w.now(), w.now().minus(limits::KEY_LIFE));
    let first = w.queued(&home, at(begun, keyed(w.new_task(), "k", "b"))).await;
    let nearly = at(begun.plus(Millis(limits::KEY_LIFE.0 - 1)), keyed(w.new_task(), "k", "other"));
    assert_eq!(duplicate(&w, &home, nearly).await, (first.clone(), false));
    let second = w.queued(&home, at(begun.plus(limits::KEY_LIFE), keyed(w.new_task(), "k", "other"))).await;
    assert_ne!(second.id, first.id);
    let (again, same_body) = duplicate(&w, &home, at(now, keyed(w.new_task(), "k", "other"))).await;
    assert_eq!((again.id, same_body), (second.id, true), "the key is the second task's now");
    assert_eq!(w.task(&home, first.id).await, first);
}

pub async fn a_key_of_a_message_lives_as_long_as_its_task(h: Harness) {
    let (w, home) = World::new(h).await;
    let mail = |task: NewTask| NewTask { source: "email".to_owned(), ..keyed(task, "<1@example.com>", "b") };
    let begun = w.now().minus(Millis(400 * limits::KEY_LIFE.0));
    let first = w.queued(&home, NewTask { at: begun, ..mail(w.new_task()) }).await;
    assert_eq!(duplicate(&w, &home, mail(w.new_task())).await, (first, true));
}

pub async fn the_same_key_of_another_source_or_tenant_is_another_task(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    w.queued(&home, keyed(w.new_task(), "k", "b")).await;
    w.queued(&home, NewTask { source: "webhook/forms".to_owned(), ..keyed(w.new_task(), "k", "b") }).await;
    w.queued(&other, keyed(w.new_task(), "k", "b")).await;
    w.queued(&home, w.new_task()).await;
    w.queued(&home, w.new_task()).await;
    assert_eq!(w.due().await.len(), 5);
}

pub async fn a_hundred_parallel_submissions_make_one_task(h: Harness) {
    let (w, home) = World::new(h).await;
    let worker = WorkerId::new("w");
    let submissions = (0..100).map(|n| {
        let (store, task, worker) = (w.shared(), keyed(w.new_task(), "k", "b"), worker.clone());
        async move { store.submit(home.scope, task, (n % 2 == 0).then_some((&worker, LONG))).await.unwrap() }
    });
    let answers = join_all(submissions).await;
    let id_of = |answer: &Submitted| match answer {
        Submitted::New(claimed) => (claimed.task.id, true),
        Submitted::Queued(task) => (task.id, true),
        Submitted::Duplicate { task, same_body } => {
            assert!(same_body);
            (task.id, false)
        }
    };
    let told: Vec<(TaskId, bool)> = answers.iter().map(id_of).collect();
    assert_eq!(told.iter().filter(|(_, new)| *new).count(), 1);
    assert!(told.iter().all(|(id, _)| *id == told[0].0));
    let stored = w.store().tasks(home.scope, &super::tasks::everything()).await.unwrap().items;
    assert_eq!(stored.len(), 1);
}

pub async fn an_id_is_taken_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let task = w.new_task();
    w.queued(&home, task.clone()).await;
    assert!(w.store().submit(home.scope, NewTask { input: "other".to_owned(), ..task.clone() }, None).await.is_err());
    assert_eq!(w.task(&home, task.id).await.input, task.input);
}

pub async fn attachments_keep_their_order(h: Harness) {
    let (w, home) = World::new(h).await;
    let file = |n: u64, source| NewAttachment {
        filename: format!("file {n}.pdf"),
        content_type: "application/pdf".to_owned(),
        size: n,
        hash: format!("{n:064x}"),
        source,
    };
    let sources = [AttachmentSource::Original, AttachmentSource::Attached, AttachmentSource::Inline];
    let files: Vec<_> = (0..12).map(|n: u64| file(n, sources[usize::try_from(n % 3).unwrap()])).collect();
    let task = w.queued(&home, NewTask { attachments: files.clone(), ..w.new_task() }).await;
    let stored = w.store().attachments(home.scope, task.id).await.unwrap();
    assert_eq!(stored.len(), files.len());
    for ((n, stored), given) in (0..).zip(&stored).zip(&files) {
        assert_eq!((stored.n, &stored.filename, stored.size), (n, &given.filename, given.size));
        assert_eq!((&stored.hash, stored.source), (&given.hash, given.source));
    }
}

/// Number 0 is what was written: a file that came without a message must not be taken for it.
pub async fn files_begin_at_one(h: Harness) {
    let (w, home) = World::new(h).await;
    let file = |source: AttachmentSource| NewAttachment {
        filename: source.as_str().to_owned(),
        content_type: "text/plain".to_owned(),
        size: 1,
        hash: "0".repeat(64),
        source,
    };
    for (sources, numbers) in [
        (vec![AttachmentSource::Attached, AttachmentSource::Inline], vec![1, 2]),
        (vec![AttachmentSource::Inline], vec![1]),
        (vec![AttachmentSource::Original, AttachmentSource::Attached], vec![0, 1]),
        (Vec::new(), Vec::new()),
    ] {
        let attachments = sources.iter().copied().map(file).collect();
        let task = w.queued(&home, NewTask { attachments, ..w.new_task() }).await;
        let stored = w.store().attachments(home.scope, task.id).await.unwrap();
        assert_eq!(stored.iter().map(|file| file.n).collect::<Vec<_>>(), numbers);
        assert_eq!(stored.iter().map(|file| file.source).collect::<Vec<_>>(), sources);
    }
}

pub async fn a_frozen_plan_comes_with_the_task(h: Harness) {
    let (w, home) = World::new(h).await;
    let plan = plan("test.plan");
    let task = w.queued(&home, NewTask { plan: Some(plan.clone().into()), ..w.new_task() }).await;
    w.queued(&home, NewTask { plan: Some(plan.clone().into()), ..w.new_task() }).await;
    assert_eq!(task.plan, Some(("test.plan".to_owned(), 1)));
    assert_eq!(task.plan_hash.as_ref(), Some(plan.hash()));
    assert_eq!(w.store().frozen_plan(home.scope, plan.hash()).await.unwrap(), Some(plan));
}

pub async fn fork_rows_come_with_the_submission(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.end(&lease, TaskStatus::Failed).await;
    let rows = vec![w.row(1), w.row(2)];
    let new = NewTask { forked_from: Some((lease.task(), rows.clone())), ..w.new_task() };
    let fork = w.queued(&home, new).await;
    assert_eq!(fork.forked_from, Some(lease.task()));
    assert_eq!(w.store().journal(home.scope, fork.id, 0, 100).await.unwrap(), rows);
    let claimed = w.claim_only("w", fork.id).await;
    let next = w.row(3);
    w.commit(&claimed.lease, Commit { rows: vec![next.clone()], ..w.blank() }).await;
    assert_eq!(w.store().journal(home.scope, fork.id, 2, 100).await.unwrap(), [next]);
}
