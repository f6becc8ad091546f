//! What tenants have learned: suggested once, decided about as it was read, and used by version.

use futures::future::join_all;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{LessonId, TaskId};
use kybern_core::lesson::{
    Lesson, LessonAct, LessonChange, LessonFilter, LessonKind, LessonSource, LessonStatus, MAX_ACCEPTED_BYTES,
    MAX_KEPT, MAX_SUGGESTED, Teaching,
};
use kybern_core::task::TaskStatus;
use kybern_core::time::Millis;

use super::fixture::{code, pages};
use super::{FullHarness, Home, World};

fn example(text: &str) -> Teaching {
    Teaching::IntentExample { intent: "cars.sell".to_owned(), text: text.to_owned() }
}

fn label(words: &str) -> Teaching {
    let (schema, field) = ("cars".to_owned(), "cars/number".to_owned());
    Teaching::Label { schema, field, label: words.to_owned(), value: Some("Überführung".to_owned()) }
}

fn sender(address: &str) -> Teaching {
    Teaching::TrustedSender { address: address.to_owned() }
}

fn lesson(w: &World, teaching: Teaching, task: Option<TaskId>) -> Lesson {
    let source = LessonSource { task_id: task, step_id: task.map(|_| "_intent".to_owned()), by: "user:7".to_owned() };
    Lesson::suggested(LessonId::from_uuid(w.id()), teaching, source, w.now())
}

/// Adds a lesson that somebody wrote down.
async fn added(w: &World, home: &Home, teaching: Teaching) -> Lesson {
    let new = lesson(w, teaching, None);
    assert_eq!(w.store().add_lesson(home.scope, &new, false, w.event("lesson.add")).await.unwrap(), None);
    new
}

/// Decides about a lesson as it was read, as the next version.
async fn decide(w: &World, home: &Home, before: &Lesson, act: LessonAct) -> Result<Lesson, Error> {
    let next = w.store().lessons_in_use(home.scope).await?.version() + 1;
    let after = before.clone().after(act, "user:8", next, w.now())?;
    let change = LessonChange { before: before.clone(), after: after.clone() };
    w.store().change_lesson(home.scope, &change, w.event(act.as_str())).await.map(|()| after)
}

async fn texts(w: &World, home: &Home) -> Vec<String> {
    let used = w.store().lessons_in_use(home.scope).await.unwrap();
    used.examples().map(|(_, text)| text.to_owned()).collect()
}

pub async fn a_lesson_is_suggested_accepted_and_withdrawn_and_every_step_is_audited(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let suggested = added(&w, &home, example("Sell my \"car\", señor.")).await;
    assert_eq!(w.store().lesson(home.scope, suggested.id).await.unwrap(), Some(suggested.clone()));
    assert_eq!(w.store().lessons_in_use(home.scope).await.unwrap().version(), 0);
    let accepted = decide(&w, &home, &suggested, LessonAct::Accept).await.unwrap();
    assert_eq!(texts(&w, &home).await, ["Sell my \"car\", señor."], "it holds at once");
    let second = added(&w, &home, label("número de coche")).await;
    let second = decide(&w, &home, &second, LessonAct::Accept).await.unwrap();
    let withdrawn = decide(&w, &home, &accepted, LessonAct::Withdraw).await.unwrap();
    assert_eq!((withdrawn.since_version, withdrawn.until_version), (Some(1), Some(3)));
    for known in [&withdrawn, &second] {
        assert_eq!(w.store().lesson(home.scope, known.id).await.unwrap().as_ref(), Some(known));
    }
    let now = w.store().lessons_in_use(home.scope).await.unwrap();
    assert_eq!((now.version(), now.in_use().cloned().collect::<Vec<_>>()), (3, vec![second]));
    assert_eq!(now.as_of(2).in_use().count(), 2, "a task that began before goes on as it began");
    let acts = w.acts(&home).await;
    assert_eq!(
        acts[acts.len() - 5..],
        ["add", "accept", "add", "accept", "withdraw"].map(|act| format!("lesson.{act}"))
    );
    let (schema, field) = ("cars".to_owned(), "cars/maker".to_owned());
    let spelling =
        Teaching::Spelling { schema, field, label: "Sable Mtr".to_owned(), value: "Sable Motors".to_owned() };
    let speaker = Teaching::Speaker { address: "desk@sable.example".to_owned(), company: "Sable Motors".to_owned() };
    for teaching in [spelling, speaker, sender("a@sable.example")] {
        let known = added(&w, &home, teaching).await;
        assert_eq!(w.store().lesson(home.scope, known.id).await.unwrap(), Some(known), "every kind is kept");
    }
}

pub async fn the_same_is_not_learned_twice(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let task = Some(TaskId::from_uuid(w.id()));
    let first = added(&w, &home, sender("ada@example.com")).await;
    let add =
        async |new: &Lesson| w.store().add_lesson(home.scope, new, false, w.event("lesson.suggest")).await.unwrap();
    for source in [None, task] {
        assert_eq!(add(&lesson(&w, sender("ada@example.com"), source)).await, Some(first.clone()));
    }
    let accepted = decide(&w, &home, &first, LessonAct::Accept).await.unwrap();
    assert_eq!(add(&lesson(&w, sender("ada@example.com"), task)).await, Some(accepted.clone()));
    let withdrawn = decide(&w, &home, &accepted, LessonAct::Withdraw).await.unwrap();
    // What somebody did not want is not suggested to them again; they can still write it down.
    assert_eq!(add(&lesson(&w, sender("ada@example.com"), task)).await, Some(withdrawn));
    assert_eq!(add(&lesson(&w, sender("ada@example.com"), None)).await, None);
    let listed = w.store().lessons(home.scope, LessonFilter::default(), None, 10).await.unwrap();
    assert_eq!(listed.items.len(), 2);
}

pub async fn a_decision_on_what_was_decided_meanwhile_is_a_conflict(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (one, two) = (added(&w, &home, example("sell it")).await, added(&w, &home, example("buyer wanted")).await);
    decide(&w, &home, &one, LessonAct::Accept).await.unwrap();
    assert_eq!(code(decide(&w, &home, &one, LessonAct::Withdraw).await), ErrorCode::Conflict);
    // Two that were decided about at the same time do not begin the same version.
    let stale = two.clone().after(LessonAct::Accept, "user:8", 1, w.now()).unwrap();
    let change = LessonChange { before: two.clone(), after: stale };
    let refused = w.store().change_lesson(home.scope, &change, w.event("lesson.accept")).await;
    assert_eq!(code(refused), ErrorCode::Conflict);
    assert_eq!(texts(&w, &home).await, ["sell it"]);
    assert_eq!(decide(&w, &home, &two, LessonAct::Accept).await.unwrap().since_version, Some(2));
}

pub async fn a_tenant_has_so_many_lessons(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let long = |n: u64| example(&format!("{n:03} {}", "w".repeat(60_000)));
    let fit = MAX_ACCEPTED_BYTES / long(0).bytes();
    for n in 0..fit {
        let new = added(&w, &home, long(n)).await;
        decide(&w, &home, &new, LessonAct::Accept).await.unwrap();
    }
    let over = added(&w, &home, long(fit)).await;
    assert_eq!(code(decide(&w, &home, &over, LessonAct::Accept).await), ErrorCode::Unprocessable);
    for n in 1..MAX_SUGGESTED {
        added(&w, &home, sender(&format!("a{n}@example.com"))).await;
    }
    let more = lesson(&w, sender("b@example.com"), None);
    let refused = w.store().add_lesson(home.scope, &more, false, w.event("lesson.add")).await;
    assert_eq!(code(refused), ErrorCode::Unprocessable);
    assert_eq!(w.store().lesson(home.scope, more.id).await.unwrap(), None);
}

/// So many suggestions that nobody wanted, the oldest first.
async fn dismissed(w: &World, home: &Home, count: usize) -> Vec<Lesson> {
    let at_once = usize::try_from(MAX_SUGGESTED).unwrap();
    let mut all: Vec<Lesson> = Vec::new();
    while all.len() < count {
        w.harness.clock.advance(Millis(1_000));
        let numbers = all.len()..count.min(all.len() + at_once);
        let dismiss = async |n: usize| {
            let new = added(w, home, sender(&format!("a{n}@example.com"))).await;
            decide(w, home, &new, LessonAct::Withdraw).await.unwrap()
        };
        all.extend(join_all(numbers.map(dismiss)).await);
    }
    all.sort_by_key(|lesson| (lesson.updated_at, lesson.id));
    all
}

pub async fn the_oldest_that_nobody_wanted_makes_room_although_none_was_ever_accepted(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let dismissed = dismissed(&w, &home, usize::try_from(MAX_KEPT).unwrap()).await;
    let is_there = async |lesson: &Lesson| w.store().lesson(home.scope, lesson.id).await.unwrap().is_some();
    // Of a tenant on hold nothing goes.
    let more = lesson(&w, sender("b@example.com"), None);
    let refused = w.store().add_lesson(home.scope, &more, true, w.event("lesson.add")).await;
    assert!(code(refused) == ErrorCode::Unprocessable && is_there(&dismissed[0]).await && !is_there(&more).await);
    added(&w, &home, sender("b@example.com")).await;
    assert!(!is_there(&dismissed[0]).await && is_there(&dismissed[1]).await);
}

pub async fn a_withdrawn_lesson_makes_room_once_no_task_goes_on_with_it(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let used = added(&w, &home, example("sell the car")).await;
    let used = decide(&w, &home, &used, LessonAct::Accept).await.unwrap();
    let task = w.queued(&home, w.new_task()).await.id;
    w.harness.clock.advance(Millis(1_000));
    let used = decide(&w, &home, &used, LessonAct::Withdraw).await.unwrap();
    let newest = added(&w, &home, example("buyer wanted")).await;
    decide(&w, &home, &newest, LessonAct::Accept).await.unwrap();
    let dismissed = dismissed(&w, &home, usize::try_from(MAX_KEPT).unwrap() - 2).await;
    let is_there = async |lesson: &Lesson| w.store().lesson(home.scope, lesson.id).await.unwrap().is_some();
    // It was withdrawn before all others, and the task that waits was read with it.
    added(&w, &home, sender("b@example.com")).await;
    assert!(is_there(&used).await && !is_there(&dismissed[0]).await && is_there(&dismissed[1]).await);
    let lease = w.claim_only("w", task).await.lease;
    w.end(&lease, TaskStatus::Completed).await;
    added(&w, &home, sender("c@example.com")).await;
    assert!(!is_there(&used).await && is_there(&dismissed[1]).await);
}

pub async fn pages_of_lessons_visit_each_once_newest_first(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let mut made = Vec::new();
    for teaching in [example("a car"), label("number"), sender("a@example.com"), example("a van"), label("no")] {
        made.push(added(&w, &home, teaching).await);
    }
    made[3] = decide(&w, &home, &made[3], LessonAct::Accept).await.unwrap();
    let filter = |status, kind| LessonFilter { status, kind };
    for (wanted, places) in [
        (filter(None, None), vec![4, 3, 2, 1, 0]),
        (filter(None, Some(LessonKind::Label)), vec![4, 1]),
        (filter(Some(LessonStatus::Suggested), Some(LessonKind::IntentExample)), vec![0]),
        (filter(Some(LessonStatus::Accepted), None), vec![3]),
        (filter(Some(LessonStatus::Withdrawn), None), vec![]),
    ] {
        let seen = pages(async |after| w.store().lessons(home.scope, wanted, after, 2).await.unwrap()).await;
        let expected: Vec<Lesson> = places.iter().map(|n: &usize| made[*n].clone()).collect();
        assert_eq!(seen, expected, "{wanted:?}");
    }
}

pub async fn another_tenant_neither_sees_nor_uses_nor_decides_about_a_lesson(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let mine = added(&w, &home, example("sell it")).await;
    assert_eq!(w.store().lesson(other.scope, mine.id).await.unwrap(), None);
    assert!(w.store().lessons(other.scope, LessonFilter::default(), None, 10).await.unwrap().items.is_empty());
    assert_eq!(code(decide(&w, &other, &mine, LessonAct::Accept).await), ErrorCode::Conflict);
    let mine = decide(&w, &home, &mine, LessonAct::Accept).await.unwrap();
    assert_eq!(code(decide(&w, &other, &mine, LessonAct::Withdraw).await), ErrorCode::Conflict);
    assert!(texts(&w, &other).await.is_empty());
    let theirs = added(&w, &other, example("sell it")).await;
    assert_eq!(decide(&w, &other, &theirs, LessonAct::Accept).await.unwrap().since_version, Some(1));
    assert_eq!(texts(&w, &home).await, ["sell it"]);
}
