//! Retention of tasks, conversations and files: a tree goes whole with all that is its own, or stays whole.

use bytes::Bytes;
use kybern_core::approval::{ApprovalFilter, ApprovalStatus};
use kybern_core::error::ErrorCode;
use kybern_core::id::{TaskId, UserId};
use kybern_core::money::{NanoUsd, Usage};
use kybern_core::outbox::OutboxStatus;
use kybern_core::plan::StepId;
use kybern_core::record::{Expect, Lookup, PutRecord};
use kybern_core::retention::{Purge, Purged, RetentionKind, TaskHold};
use kybern_core::task::{Attachment, Commit, Effect, Lease, NewTask, TaskChange, TaskStatus};
use kybern_core::time::Millis;
use serde_json::{Value, json};

use super::chats::started;
use super::children::spawn;
use super::fixture::{HOUR, LONG, code, end, file, link};
use super::retention::{all, audited, purge, tried};
use super::{FullHarness, Harness, Home, World};

/// Removes the tasks that are over by now, and answers how many.
async fn remove(w: &World, home: &Home) -> u64 {
    count(&purge(w, &all(w, RetentionKind::Tasks)).await, home)
}

fn count(purged: &[Purged], home: &Home) -> u64 {
    purged.iter().filter(|purged| purged.tenant == home.scope.tenant()).map(|purged| purged.count).sum()
}

async fn is_there(w: &World, home: &Home, id: TaskId) -> bool {
    w.store().task(home.scope, id).await.unwrap().is_some()
}

/// A task with one of everything that can belong to it.
async fn with_all(w: &World, home: &Home) -> Lease {
    let hash = w.store().put_blob(home.scope, Bytes::from_static(b"theirs")).await.unwrap();
    let task = NewTask { attachments: vec![file(&hash)], dedupe_key: Some("once".to_owned()), ..w.new_task() };
    let lease = w.leased_as(home, task, "w", LONG).await.lease;
    w.store().begin_attempt(&lease, &w.attempt()).await.unwrap();
    let put = w.put("test.thing", "a", json!({"n": 1}), Expect::Absent);
    let link = link(&put);
    let effects = vec![
        Effect::Put(Box::new(put)),
        Effect::Link { link, step: StepId::trusted("s1"), tool: None },
        Effect::Delegate(Box::new(w.delegation("wf-1"))),
        Effect::Ask(Box::new(super::approvals::question(w, &w.wait("s1", 1)))),
        Effect::Close { wait_seq: None, status: ApprovalStatus::Withdrawn },
    ];
    w.commit(&lease, Commit { rows: vec![w.row(1), w.row(2)], effects, ..w.blank() }).await;
    lease
}

pub async fn a_finished_tree_goes_whole_with_all_that_is_its_own(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let theirs = w.leased(&other, "w").await;
    w.end(&theirs, TaskStatus::Completed).await;
    let root = with_all(&w, &home).await;
    let child = spawn(&w, &root).await;
    let lease = w.claim_only("w", child).await.lease;
    let grandchild = spawn(&w, &lease).await;
    for (lease, status) in [
        (&w.claim_only("w", grandchild).await.lease, TaskStatus::Cancelled),
        (&lease, TaskStatus::Failed),
        (&root, TaskStatus::Completed),
    ] {
        w.end(lease, status).await;
    }
    let long_ago = Purge { before: w.now().minus(HOUR), ..all(&w, RetentionKind::Tasks) };
    assert_eq!(purge(&w, &long_ago).await, [], "nothing is that old");
    let purged = purge(&w, &all(&w, RetentionKind::Tasks)).await;
    assert_eq!((count(&purged, &home), count(&purged, &other)), (3, 1));
    let (store, scope, id) = (w.store(), home.scope, root.task());
    for id in [id, child, grandchild, theirs.task()] {
        assert!(!is_there(&w, &home, id).await);
    }
    assert_eq!(store.journal(scope, id, 0, 10).await.unwrap(), []);
    assert_eq!(store.attempts(scope, id).await.unwrap(), []);
    assert_eq!(store.attachments(scope, id).await.unwrap(), Vec::<Attachment>::new());
    assert!(store.signals(scope, id, 0).await.unwrap().is_empty());
    assert!(store.artifacts(scope, id).await.unwrap().is_empty());
    let asked = ApprovalFilter { status: None, task: None, talks_of: None, calls: true };
    assert!(store.approvals(scope, asked, None, 10).await.unwrap().items.is_empty());
    assert!(store.record(scope, "test.thing", "a").await.unwrap().is_some(), "records stay");
    assert_eq!(audited(&w, &home).await, [json!(["tasks", 3])]);
    assert_eq!(remove(&w, &home).await, 0, "it is removed once");
    let again = NewTask { dedupe_key: Some("once".to_owned()), ..w.new_task() };
    w.queued(&home, again).await;
}

pub async fn a_tree_that_is_not_over_stays_whole(h: Harness) {
    let (w, home) = World::new(h).await;
    let root = w.leased(&home, "w").await;
    let done = spawn(&w, &root).await;
    let lease = w.claim_only("w", done).await.lease;
    w.end(&lease, TaskStatus::Completed).await;
    let open = spawn(&w, &root).await;
    assert_eq!(remove(&w, &home).await, 0, "the root is at work");
    w.end(&root, TaskStatus::Completed).await;
    assert_eq!(remove(&w, &home).await, 0, "a child is open");
    let lease = w.claim_only("w", open).await.lease;
    w.commit(&lease, Commit { rows: vec![w.row(1)], ..w.blank() }).await;
    assert_eq!(w.store().journal(home.scope, open, 0, 10).await.unwrap().len(), 1);
    w.end(&lease, TaskStatus::Completed).await;
    assert_eq!(remove(&w, &home).await, 3);
}

pub async fn what_was_billed_this_month_stays_until_the_next(h: Harness) {
    let (w, home) = World::new(h).await;
    let root = w.leased(&home, "w").await;
    let child = spawn(&w, &root).await;
    let lease = w.claim_only("w", child).await.lease;
    let usage = Usage { cost_nanos: NanoUsd(11), ..Usage::default() };
    w.commit(&lease, Commit { usage, ..w.changes(end(TaskStatus::Completed)) }).await;
    w.end(&root, TaskStatus::Completed).await;
    let old = all(&w, RetentionKind::Tasks);
    assert_eq!(tried(&w, &old, w.now()).await.unwrap(), []);
    let next_month = w.now().plus(Millis(32 * 24 * HOUR.0));
    let removed = tried(&w, &old, next_month).await.unwrap();
    assert_eq!(removed, [Purged { tenant: home.scope.tenant(), count: 2 }]);
}

fn hold(w: &World, task_id: TaskId) -> TaskHold {
    TaskHold { task_id, reason: "a dispute".to_owned(), held_by: "user:1".to_owned(), held_at: w.now() }
}

pub async fn a_task_on_hold_keeps_its_tree_until_it_is_released(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let root = w.leased(&home, "w").await;
    let child = spawn(&w, &root).await;
    let message = super::outbox::message(&w);
    let id = message.id;
    w.commit(&root, w.effects(vec![Effect::Send(Box::new(message))])).await;
    let (store, pending) = (w.store(), OutboxStatus::Pending);
    assert!(store.move_outbox(home.scope, id, (pending, OutboxStatus::Kept), None, None, w.now()).await.unwrap());
    let lease = w.claim_only("w", child).await.lease;
    w.end(&lease, TaskStatus::Completed).await;
    w.end(&root, TaskStatus::Completed).await;
    let held = hold(&w, child);
    assert_eq!(code(store.hold_task(other.scope, &held, w.event("task.hold")).await), ErrorCode::NotFound);
    assert_eq!(code(store.release_task(home.scope, child, w.now(), w.event("t")).await), ErrorCode::Conflict);
    store.hold_task(home.scope, &held, w.event("task.hold")).await.unwrap();
    assert_eq!(code(store.hold_task(home.scope, &held, w.event("task.hold")).await), ErrorCode::Conflict);
    assert_eq!(store.task_hold(home.scope, child).await.unwrap(), Some(held));
    assert_eq!(store.task_hold(other.scope, child).await.unwrap(), None);
    assert_eq!(remove(&w, &home).await, 0);
    assert_eq!(purge(&w, &all(&w, RetentionKind::Messages)).await, [], "what the tree has sent is held too");
    store.release_task(home.scope, child, w.now(), w.event("task.release")).await.unwrap();
    assert_eq!(store.task_hold(home.scope, child).await.unwrap(), None);
    assert_eq!(w.acts(&home).await.iter().filter(|act| act.starts_with("task.")).count(), 2);
    assert_eq!(count(&purge(&w, &all(&w, RetentionKind::Messages)).await, &home), 1);
    assert_eq!(remove(&w, &home).await, 2);
}

pub async fn a_message_on_its_way_keeps_its_tree(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let message = super::outbox::message(&w);
    let id = message.id;
    w.commit(&lease, w.effects(vec![Effect::Send(Box::new(message))])).await;
    w.end(&lease, TaskStatus::Completed).await;
    let steps = [OutboxStatus::Pending, OutboxStatus::Sending, OutboxStatus::Sent];
    for pair in steps.windows(2) {
        assert_eq!(remove(&w, &home).await, 0, "{:?}", pair[0]);
        assert!(w.store().move_outbox(home.scope, id, (pair[0], pair[1]), None, None, w.now()).await.unwrap());
    }
    assert_eq!(remove(&w, &home).await, 1);
    let left = w.store().outbox(home.scope, None, None, 10).await.unwrap().items;
    assert_eq!(left.len(), 1, "what was sent has its own time");
}

pub async fn a_conversation_keeps_its_turns_and_goes_before_them(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, Some(home.user)).await;
    let task = NewTask { user: Some(home.user), ..w.turn(chat, "hello") };
    let lease = started(w.take_turn(&home, task.clone()).await);
    let message = super::outbox::message(&w);
    let id = message.id;
    w.commit(&lease, w.effects(vec![Effect::Send(Box::new(message))])).await;
    let (pending, sent) = (OutboxStatus::Pending, OutboxStatus::Sent);
    assert!(w.store().move_outbox(home.scope, id, (pending, sent), None, None, w.now()).await.unwrap());
    w.answered(&lease, &task, "hi").await;
    assert_eq!(remove(&w, &home).await, 0, "the conversation shows it");
    let long_ago = Purge { before: w.now().minus(HOUR), ..all(&w, RetentionKind::Chats) };
    assert_eq!(purge(&w, &long_ago).await, []);
    assert_eq!(count(&purge(&w, &all(&w, RetentionKind::Chats)).await, &home), 1);
    assert!(w.store().chat(home.scope, chat).await.unwrap().is_none());
    assert!(w.store().messages(home.scope, chat, None, 10).await.unwrap().items.is_empty());
    assert_eq!(remove(&w, &home).await, 1);
    let stranger = Some(UserId::from_uuid(w.id()));
    let seen = w.store().outbox(home.scope, stranger, None, 10).await.unwrap().items.len();
    assert_eq!(seen, 0, "what a private conversation sent is shown to nobody because its task is gone");
}

pub async fn a_conversation_with_an_open_turn_or_a_hold_stays(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    let task = w.turn(chat, "hello");
    let lease = started(w.take_turn(&home, task.clone()).await);
    let chats = all(&w, RetentionKind::Chats);
    assert_eq!(purge(&w, &chats).await, []);
    w.answered(&lease, &task, "hi").await;
    w.store().hold_task(home.scope, &hold(&w, task.id), w.event("task.hold")).await.unwrap();
    assert_eq!(purge(&w, &chats).await, []);
    assert_eq!(w.contents(&home, chat).await, ["hello", "hi"]);
    w.store().release_task(home.scope, task.id, w.now(), w.event("task.release")).await.unwrap();
    assert_eq!(count(&purge(&w, &chats).await, &home), 1);
}

pub async fn a_removal_goes_on_behind_what_it_may_not_touch(h: Harness) {
    let (w, home) = World::new(h).await;
    let mut ended = Vec::new();
    for _ in 0..130 {
        let lease = w.leased(&home, "w").await;
        w.end(&lease, TaskStatus::Completed).await;
        ended.push(lease.task());
    }
    for id in &ended[..60] {
        w.store().hold_task(home.scope, &hold(&w, *id), w.event("task.hold")).await.unwrap();
    }
    assert_eq!(remove(&w, &home).await, 70);
    let removed: i64 = audited(&w, &home).await.iter().map(|told| told[1].as_i64().unwrap()).sum();
    assert_eq!(removed, 70);
    for (n, id) in ended.iter().enumerate() {
        assert_eq!(is_there(&w, &home, *id).await, n < 60, "{n}");
    }
}

pub async fn a_task_is_tried_again_or_removed_and_nothing_between(h: Harness) {
    let (w, home) = World::new(h).await;
    for round in 0..12 {
        let lease = w.leased(&home, "w").await;
        let id = lease.task();
        w.commit(&lease, Commit { rows: vec![w.row(1)], ..w.blank() }).await;
        w.end(&lease, TaskStatus::Failed).await;
        let again = w.reopen(&home, id);
        let old = all(&w, RetentionKind::Tasks);
        let (again, removed) = tokio::join!(again, purge(&w, &old));
        let kept = is_there(&w, &home, id).await;
        assert_eq!((again.is_ok(), count(&removed, &home)), (kept, u64::from(!kept)), "round {round}: {again:?}");
        let rows = w.store().journal(home.scope, id, 0, 10).await.unwrap().len();
        assert_eq!(rows, usize::from(kept), "round {round}");
    }
}

pub async fn files_go_when_nothing_names_them_any_more(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let bytes = Bytes::from_static(b"one file");
    let hash = w.store().put_blob(home.scope, bytes.clone()).await.unwrap();
    let task = NewTask { attachments: vec![file(&hash)], ..w.new_task() };
    let lease = w.leased_as(&home, task, "w", LONG).await.lease;
    w.store().put_blob(home.scope, Bytes::from_static(b"of nobody")).await.unwrap();
    w.store().put_blob(other.scope, bytes.clone()).await.unwrap();
    let files = all(&w, RetentionKind::Files);
    let purged = purge(&w, &files).await;
    assert_eq!((count(&purged, &home), count(&purged, &other)), (1, 1));
    assert_eq!(audited(&w, &home).await, [json!(["files", 1])]);
    assert_eq!(w.store().blob(home.scope, &hash).await.unwrap(), Some(bytes));
    w.commit(&lease, w.changes(TaskChange::Keep)).await;
    w.end(&lease, TaskStatus::Completed).await;
    assert_eq!(remove(&w, &home).await, 1);
    assert_eq!(count(&purge(&w, &files).await, &home), 1);
    assert_eq!(w.store().blob(home.scope, &hash).await.unwrap(), None);
    assert_eq!(purge(&w, &files).await, []);
}

pub async fn a_file_that_a_record_names_outlives_its_task(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let bytes = Bytes::from_static(b"a letter");
    let hash = w.store().put_blob(home.scope, bytes.clone()).await.unwrap();
    w.store().put_blob(other.scope, bytes.clone()).await.unwrap();
    let task = NewTask { attachments: vec![file(&hash)], ..w.new_task() };
    let lease = w.leased_as(&home, task, "w", LONG).await.lease;
    let put = w.put("request", "a", json!({}), Expect::Absent);
    let put = PutRecord { lookups: vec![Lookup::file(&hash), Lookup::shared("name", "x")], ..put };
    w.commit(&lease, w.effects(vec![Effect::Put(Box::new(put))])).await;
    w.end(&lease, TaskStatus::Completed).await;
    assert_eq!(remove(&w, &home).await, 1);
    let purged = purge(&w, &Purge { dry_run: true, ..all(&w, RetentionKind::Files) }).await;
    assert_eq!((count(&purged, &home), count(&purged, &other)), (0, 1));
    let purged = purge(&w, &all(&w, RetentionKind::Files)).await;
    assert_eq!((count(&purged, &home), count(&purged, &other)), (0, 1));
    assert_eq!(w.store().blob(home.scope, &hash).await.unwrap(), Some(bytes));
}

pub async fn a_file_that_is_stored_again_counts_as_new(h: Harness) {
    let (w, home) = World::new(h).await;
    let bytes = Bytes::from_static(b"one file");
    let hash = w.store().put_blob(home.scope, bytes.clone()).await.unwrap();
    let later = w.now().plus(HOUR);
    w.harness.clock.set(later);
    w.store().put_blob(home.scope, bytes.clone()).await.unwrap();
    let files = Purge { before: later, ..all(&w, RetentionKind::Files) };
    assert_eq!(purge(&w, &files).await, [], "somebody is about to name it");
    assert_eq!(w.store().blob(home.scope, &hash).await.unwrap(), Some(bytes));
    let files = Purge { before: later.plus(Millis(1)), ..files };
    assert_eq!(count(&purge(&w, &files).await, &home), 1);
    assert_eq!(audited(&w, &home).await, [Value::from(vec![json!("files"), json!(1)])]);
}
