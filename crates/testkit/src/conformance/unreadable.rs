//! A row that cannot be read harms itself only: it is claimed, listed and ended like any other, and says what is wrong
//! with it.

use std::sync::Arc;

use kybern_core::approval::{ApprovalFilter, ApprovalStatus};
use kybern_core::error::ErrorCode;
use kybern_core::id::{ApprovalId, LessonId, TaskId};
use kybern_core::job::JobEnd;
use kybern_core::lesson::{Lesson, LessonAct, LessonChange, LessonFilter, LessonSource, Teaching};
use kybern_core::plan::FrozenPlan;
use kybern_core::ports::TaskFilter;
use kybern_core::record::Expect;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{Commit, Effect, JournalEntry, Lease, NewTask, Signal, TaskStatus, WorkerId};
use serde_json::{Value, json};

use super::fixture::{LONG, end, release, review};
use super::jobs::dead_jobs;
use super::{FullHarness, Harness, Home, Spoilt, World};

/// Three tasks that wait for a worker, the middle one spoilt.
async fn one_of_three(w: &World, home: &Home) -> [TaskId; 3] {
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(w.queued(home, w.new_task()).await.id);
    }
    w.harness.spoil(Spoilt::Task(ids[1])).await;
    [ids[0], ids[1], ids[2]]
}

pub async fn a_task_that_cannot_be_read_keeps_none_from_being_claimed(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let ids = one_of_three(&w, &home).await;
    let strange = w.queued(&other, w.new_task()).await.id;
    let claimed = w.claim("w", 10).await;
    let mut found: Vec<TaskId> = claimed.iter().map(|claimed| claimed.task.id).collect();
    found.sort_unstable();
    assert_eq!(found, [ids[0], ids[1], ids[2], strange]);
    for claimed in &claimed {
        let spoilt = claimed.task.id == ids[1];
        assert_eq!(claimed.task.unreadable.is_some(), spoilt);
        assert_eq!(claimed.task.payload, if spoilt { Value::Null } else { w.new_task().payload });
        assert_eq!(claimed.task.clone().whole().is_err(), spoilt);
    }
    assert!(w.claim("w", 10).await.is_empty(), "it is leased like any other, and not looked at again and again");
}

pub async fn a_task_that_cannot_be_read_is_listed_cancelled_and_ended(h: Harness) {
    let (w, home) = World::new(h).await;
    let ids = one_of_three(&w, &home).await;
    let filter = TaskFilter { limit: 10, ..TaskFilter::default() };
    let listed = w.store().tasks(home.scope, &filter).await.unwrap().items;
    assert_eq!(listed.iter().map(|task| task.id).collect::<Vec<_>>(), [ids[2], ids[1], ids[0]]);
    let told: Vec<bool> = listed.iter().map(|task| task.unreadable.is_some()).collect();
    assert_eq!(told, [false, true, false]);
    w.store().request_cancel(home.scope, ids[1], w.now(), w.event("task.cancel")).await.unwrap();
    let claimed = w.claim("w", 10).await;
    let spoilt = claimed.iter().find(|claimed| claimed.task.id == ids[1]).unwrap();
    assert!(spoilt.task.cancel_requested);
    w.end(&spoilt.lease, TaskStatus::Cancelled).await;
    assert_eq!(w.task(&home, ids[1]).await.status, TaskStatus::Cancelled);
}

pub async fn a_plan_that_cannot_be_read_is_told_and_its_task_is_there(h: Harness) {
    let (w, home) = World::new(h).await;
    let plan = Arc::new(FrozenPlan::freeze("test.plan", 1, Vec::new(), None));
    let task = w.queued(&home, NewTask { plan: Some(Arc::clone(&plan)), ..w.new_task() }).await.id;
    assert_eq!(w.store().frozen_plan(home.scope, plan.hash()).await.unwrap().as_ref(), Some(plan.as_ref()));
    w.harness.spoil(Spoilt::PlanOf(task)).await;
    assert_eq!(w.store().frozen_plan(home.scope, plan.hash()).await.unwrap_err().code(), ErrorCode::Internal);
    assert_eq!(w.task(&home, task).await.unreadable, None);
    let found = w.store().unreadable(10).await.unwrap();
    assert_eq!(found.iter().map(|row| row.table).collect::<Vec<_>>(), ["frozen_plan"]);
}

pub async fn a_row_of_the_journal_that_cannot_be_read_stands_in_its_place(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.commit(&lease, Commit { rows: vec![w.row(1), w.row(2), w.row(3)], ..w.blank() }).await;
    w.harness.spoil(Spoilt::Journal(lease.task(), 2)).await;
    let rows = w.store().journal(home.scope, lease.task(), 0, 10).await.unwrap();
    let places: Vec<(i64, bool)> =
        rows.iter().map(|row| (row.seq, matches!(row.entry, JournalEntry::Unreadable { .. }))).collect();
    assert_eq!(places, [(1, false), (2, true), (3, false)]);
    assert_eq!(rows[1].at, rows[0].at);
}

pub async fn a_signal_that_cannot_be_read_stands_in_its_place(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let (first, second) = (w.wait("first", 1), w.wait("second", 2));
    w.release(&lease, TaskStatus::NeedsReview, None, vec![first.clone(), second.clone()]).await;
    for wait in [&first, &second] {
        w.store().answer(home.scope, lease.task(), wait, review(wait), w.event("task.review")).await.unwrap();
    }
    w.harness.spoil(Spoilt::Signal(lease.task(), 1)).await;
    let signals = w.store().signals(home.scope, lease.task(), 0).await.unwrap();
    assert!(matches!(&signals[..], [(1, Signal::Unreadable { .. }), (2, Signal::Review { .. })]), "{signals:?}");
}

async fn asked(w: &World, home: &Home) -> (Lease, ApprovalId) {
    let lease = w.leased(home, "w").await;
    let wait = w.wait("first", 1);
    let question = super::approvals::question(w, &wait);
    let id = question.id;
    let effects = vec![Effect::Ask(Box::new(question))];
    let change = release(TaskStatus::NeedsReview, None, vec![wait]);
    w.commit(&lease, Commit { effects, ..w.changes(change) }).await;
    (lease, id)
}

pub async fn a_question_that_cannot_be_read_is_listed_among_the_others(h: Harness) {
    let (w, home) = World::new(h).await;
    let (first, second) = (asked(&w, &home).await.1, asked(&w, &home).await.1);
    w.harness.spoil(Spoilt::Approval(first)).await;
    for status in [None, Some(ApprovalStatus::Pending)] {
        let filter = ApprovalFilter { status, ..ApprovalFilter::default() };
        let items = w.store().approvals(home.scope, filter, None, 10).await.unwrap().items;
        let told: Vec<_> = items.iter().map(|known| (known.asked.id, known.unreadable.is_some())).collect();
        assert_eq!(told, [(first, true), (second, false)]);
    }
    assert!(w.store().approval(home.scope, first).await.unwrap().unwrap().unreadable.is_some());
}

pub async fn a_job_that_cannot_be_read_keeps_none_from_being_claimed(h: Harness) {
    let (w, home) = World::new(h).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let job = w.job();
        assert!(w.store().enqueue(home.scope, &job, w.now()).await.unwrap());
        ids.push(job.id);
    }
    w.harness.spoil(Spoilt::Job(ids[1])).await;
    let claimed = w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(10), LONG, w.now()).await.unwrap();
    assert_eq!(claimed.len(), 3);
    for job in &claimed {
        assert_eq!(job.unreadable.is_some(), job.id == ids[1]);
    }
    let spoilt = claimed.iter().find(|job| job.id == ids[1]).unwrap();
    let dead = JobEnd::Dead { error: "it cannot be read".to_owned() };
    assert!(w.store().finish_job(spoilt, dead, w.now()).await.unwrap());
    assert_eq!(dead_jobs(&w).await, 1);
}

pub async fn messages_records_and_audit_events_that_cannot_be_read_are_listed_among_the_others(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let mut effects = Vec::new();
    let (mut messages, mut records) = (Vec::new(), Vec::new());
    for n in 0..3 {
        let message = super::outbox::message(&w);
        messages.push(message.id);
        effects.push(Effect::Send(Box::new(message)));
        let put = w.put("test.thing", &format!("k{n}"), json!({"n": n}), Expect::Absent);
        records.push(put.id);
        effects.push(Effect::Put(Box::new(put)));
    }
    w.commit(&lease, w.effects(effects)).await;
    for n in 0..3 {
        w.store().append_audit(home.scope, w.now(), w.event(&format!("test.{n}"))).await.unwrap();
    }
    let last = w.store().audit_events(home.scope, 0, 100).await.unwrap().len();
    let seq = i64::try_from(last).unwrap() - 1;
    for spoilt in [Spoilt::Outbox(messages[1]), Spoilt::Record(records[1]), Spoilt::Audit(home.scope.tenant(), seq)] {
        w.harness.spoil(spoilt).await;
    }
    let outbox = w.store().outbox(home.scope, None, None, 10).await.unwrap().items;
    let told: Vec<_> = outbox.iter().rev().map(|known| (known.message.id, known.unreadable.is_some())).collect();
    assert_eq!(told, [(messages[0], false), (messages[1], true), (messages[2], false)]);
    let found = w.store().records(home.scope, "test.thing", None, 10).await.unwrap().items;
    let told: Vec<_> = found.iter().map(|known| (known.id, known.unreadable.is_some())).collect();
    assert_eq!(told, [(records[0], false), (records[1], true), (records[2], false)]);
    let events = w.store().audit_events(home.scope, 0, 100).await.unwrap();
    let told: Vec<i64> = events.iter().filter(|event| event.unreadable.is_some()).map(|event| event.seq).collect();
    assert_eq!((events.len(), told), (last, vec![seq]));
    let report = kybern_core::audit::verify(w.store(), home.scope, w.harness.keys.audit_key(home.scope.tenant())).await;
    assert!(!report.unwrap().valid, "a chain with a hole is not whole");
}

pub async fn what_cannot_be_read_is_not_written_over(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let put = w.put("test.thing", "k", json!({"n": 1}), Expect::Absent);
    let id = put.id;
    w.commit(&lease, w.effects(vec![Effect::Put(Box::new(put))])).await;
    w.harness.spoil(Spoilt::Record(id)).await;
    let again = w.put("test.thing", "k", json!({"m": 2}), Expect::Any);
    let again = std::sync::Arc::new(w.effects(vec![Effect::Put(Box::new(again))]));
    let refused = w.store().commit(&lease, again).await;
    assert!(refused.is_err(), "merged with nothing, what it held would be lost");
    assert!(w.store().record(home.scope, "test.thing", "k").await.is_err(), "nothing is decided by it");
    w.commit(&lease, w.changes(end(TaskStatus::Failed))).await;
}

pub async fn rows_that_cannot_be_read_are_found(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let put = w.put("test.thing", "k", json!({"n": 1}), Expect::Absent);
    let record = put.id;
    let effects = vec![Effect::Put(Box::new(put))];
    w.commit(&lease, Commit { rows: vec![w.row(1), w.row(2)], effects, ..w.blank() }).await;
    let bad = w.queued(&home, w.new_task()).await.id;
    assert_eq!(w.store().unreadable(10).await.unwrap(), []);
    for spoilt in [Spoilt::Task(bad), Spoilt::Journal(lease.task(), 2), Spoilt::Record(record)] {
        w.harness.spoil(spoilt).await;
    }
    let found = w.store().unreadable(10).await.unwrap();
    let mut named: Vec<(&str, String)> = found.into_iter().map(|row| (row.table, row.id)).collect();
    named.sort_unstable();
    let (bad, journal) = (bad.as_uuid().to_string(), format!("{} 2", lease.task().as_uuid()));
    assert_eq!(named, [("record", record.as_uuid().to_string()), ("step_row", journal), ("task", bad)]);
    // Many of one table hide none of another.
    w.harness.spoil(Spoilt::Journal(lease.task(), 1)).await;
    assert_eq!(w.store().unreadable(10).await.unwrap().len(), 4);
    let mut tables: Vec<_> = w.store().unreadable(1).await.unwrap().into_iter().map(|row| row.table).collect();
    tables.sort_unstable();
    assert_eq!(tables, ["record", "step_row", "task"]);
}

pub async fn a_lesson_that_cannot_be_read_is_named_and_holds_up_no_decision(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let bad = accepted(&w, &home, "sell the van").await;
    w.harness.spoil(Spoilt::Lesson(bad)).await;
    // It had begun the newest version; the next one begins behind it.
    let good = accepted(&w, &home, "sell the car").await;
    let used = w.store().lessons_in_use(home.scope).await.unwrap();
    let ids: Vec<LessonId> = used.in_use().map(|lesson| lesson.id).collect();
    assert_eq!((used.version(), ids), (2, vec![good]));
    let listed = w.store().lessons(home.scope, LessonFilter::default(), None, 10).await.unwrap();
    assert_eq!(listed.items.iter().map(|lesson| lesson.id).collect::<Vec<_>>(), [good]);
    assert!(w.store().lesson(home.scope, bad).await.is_err());
    let named = w.store().unreadable(10).await.unwrap();
    assert_eq!(named.iter().map(|row| row.table).collect::<Vec<_>>(), ["lesson"]);
    assert!(named[0].id.contains(&bad.as_uuid().to_string()), "{named:?}");
}

/// A lesson that is accepted as the next version.
async fn accepted(w: &World, home: &Home, text: &str) -> LessonId {
    let teaching = Teaching::IntentExample { intent: "cars.sell".to_owned(), text: text.to_owned() };
    let source = LessonSource { task_id: None, step_id: None, by: "user:7".to_owned() };
    let before = Lesson::suggested(LessonId::from_uuid(w.id()), teaching, source, w.now());
    w.store().add_lesson(home.scope, &before, false, w.event("lesson.add")).await.unwrap();
    let next = w.store().lessons_in_use(home.scope).await.unwrap().version() + 1;
    let after = before.clone().after(LessonAct::Accept, "user:8", next, w.now()).unwrap();
    let change = LessonChange { before: before.clone(), after };
    w.store().change_lesson(home.scope, &change, w.event("lesson.accept")).await.unwrap();
    before.id
}
