//! Lists of tasks, and counts.

use std::collections::BTreeMap;

use kybern_core::id::TaskId;
use kybern_core::ports::TaskFilter;
use kybern_core::task::{Channel, NewTask, TaskChange, TaskStatus, limits};
use serde_json::{Value, json};

use super::fixture::pages;
use super::{Harness, Home, World};

/// The largest page of all tasks.
pub(super) fn everything() -> TaskFilter {
    TaskFilter { limit: 200, ..TaskFilter::default() }
}

async fn ids(w: &World, home: &Home, filter: TaskFilter) -> Vec<TaskId> {
    w.store().tasks(home.scope, &filter).await.unwrap().items.into_iter().map(|task| task.id).collect()
}

pub async fn pages_of_tasks_visit_each_once_newest_first(h: Harness) {
    let (w, home) = World::new(h).await;
    let mut all = Vec::new();
    for _ in 0..23 {
        all.push(w.queued(&home, w.new_task()).await.id);
    }
    let list = async |before| {
        let filter = TaskFilter { before, limit: 5, ..TaskFilter::default() };
        let page = w.store().tasks(home.scope, &filter).await.unwrap();
        assert!(page.items.len() <= 5);
        page
    };
    let seen: Vec<TaskId> = pages(list).await.iter().map(|task| task.id).collect();
    all.reverse();
    assert_eq!(seen, all);
}

pub async fn a_list_carries_what_fits_into_a_line(h: Harness) {
    let (w, home) = World::new(h).await;
    let input = "é".repeat(limits::LISTED_INPUT + 500);
    let payload = json!({"much": "x".repeat(1024 * 1024)});
    let task = w.queued(&home, NewTask { input: input.clone(), payload: payload.clone(), ..w.new_task() }).await;
    for filter in [everything(), TaskFilter { status: Some(TaskStatus::Pending), ..everything() }] {
        let listed = w.store().tasks(home.scope, &filter).await.unwrap().items.remove(0);
        assert_eq!((listed.id, &listed.payload, &listed.result), (task.id, &Value::Null, &None));
        assert_eq!(listed.input, "é".repeat(limits::LISTED_INPUT));
    }
    let whole = w.task(&home, task.id).await;
    assert_eq!((whole.input, whole.payload), (input, payload));
}

pub async fn a_page_that_is_just_full_is_the_last(h: Harness) {
    let (w, home) = World::new(h).await;
    for _ in 0..5 {
        w.queued(&home, w.new_task()).await;
    }
    let page = w.store().tasks(home.scope, &TaskFilter { limit: 5, ..TaskFilter::default() }).await.unwrap();
    assert_eq!((page.items.len(), page.next), (5, None));
}

pub async fn filters_hold_together(h: Harness) {
    let (w, home) = World::new(h).await;
    let mail = w.leased_as(&home, NewTask { channel: Channel::Email, ..w.new_task() }, "w", super::fixture::LONG).await;
    let intent = Some(("test.intent".to_owned(), 0.9));
    let change = TaskChange::Progress { status: TaskStatus::Executing, intent, plan: None };
    w.commit(&mail.lease, w.changes(change)).await;
    let done = w.leased(&home, "w").await;
    w.end(&done, TaskStatus::Completed).await;
    let queued = w.queued(&home, w.new_task()).await.id;
    let mail = mail.task.id;

    assert_eq!(ids(&w, &home, everything()).await, [queued, done.task(), mail]);
    let of = |status| TaskFilter { status: Some(status), ..everything() };
    assert_eq!(ids(&w, &home, of(TaskStatus::Completed)).await, [done.task()]);
    assert_eq!(ids(&w, &home, of(TaskStatus::Executing)).await, [mail]);
    assert_eq!(ids(&w, &home, of(TaskStatus::Failed)).await, []);
    assert_eq!(ids(&w, &home, TaskFilter { channel: Some(Channel::Api), ..everything() }).await, [queued, done.task()]);
    let intent = TaskFilter { intent: Some("test.intent".to_owned()), ..everything() };
    assert_eq!(ids(&w, &home, intent.clone()).await, [mail]);
    assert_eq!(ids(&w, &home, TaskFilter { channel: Some(Channel::Api), ..intent }).await, []);
    assert_eq!(ids(&w, &home, TaskFilter { before: Some(queued), ..of(TaskStatus::Completed) }).await, [done.task()]);
}

pub async fn tasks_are_counted_by_status_over_all_tenants(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    for home in [&home, &home, &other] {
        w.queued(home, w.new_task()).await;
    }
    for home in [&home, &other] {
        let lease = w.leased(home, "w").await;
        w.end(&lease, TaskStatus::Failed).await;
    }
    let counts: BTreeMap<&str, i64> = w
        .store()
        .count_by_status()
        .await
        .unwrap()
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| (status.as_str(), count))
        .collect();
    assert_eq!(counts, BTreeMap::from([("failed", 2), ("pending", 3)]));
}
