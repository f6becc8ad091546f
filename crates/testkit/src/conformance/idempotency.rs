//! Answers that are given again.

use futures::future::join_all;
use kybern_core::ports::Idempotent;
use kybern_core::time::{Millis, Timestamp};

use super::fixture::HOUR;
use super::{Harness, Home, World};

const KEY: (&str, &str, &str) = ("user:1", "POST /api/tasks", "k");
const STALE: Millis = Millis(60_000);

async fn take(w: &World, home: &Home, body: &str, now: Timestamp) -> Idempotent {
    w.store().take_key(home.scope, KEY, body, STALE, now).await.unwrap()
}

async fn answer(w: &World, home: &Home, answer: Option<(u16, &str)>, now: Timestamp) {
    w.store().answer_key(home.scope, KEY, answer, HOUR, now).await.unwrap();
}

pub async fn a_key_is_fresh_then_taken_then_answered(h: Harness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    assert_eq!(take(&w, &home, "a", now).await, Idempotent::Fresh);
    assert_eq!(take(&w, &home, "a", now).await, Idempotent::InProgress);
    answer(&w, &home, Some((201, "{\"é\":1}")), now).await;
    for _ in 0..2 {
        assert_eq!(take(&w, &home, "a", now).await, Idempotent::Answered(201, "{\"é\":1}".to_owned()));
    }
}

pub async fn a_key_with_another_body_is_told(h: Harness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    assert_eq!(take(&w, &home, "b", now).await, Idempotent::OtherBody);
    answer(&w, &home, Some((200, "ok")), now).await;
    assert_eq!(take(&w, &home, "b", now).await, Idempotent::OtherBody);
    assert_eq!(take(&w, &home, "a", now).await, Idempotent::Answered(200, "ok".to_owned()));
}

pub async fn a_key_given_free_is_fresh_again(h: Harness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    answer(&w, &home, None, now).await;
    assert_eq!(take(&w, &home, "a", now).await, Idempotent::Fresh);
}

pub async fn a_key_that_was_never_answered_is_taken_anew(h: Harness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    assert_eq!(take(&w, &home, "a", now.plus(Millis(STALE.0 - 1))).await, Idempotent::InProgress);
    let later = now.plus(Millis(STALE.0 + 1));
    assert_eq!(take(&w, &home, "a", later).await, Idempotent::Fresh);
    assert_eq!(take(&w, &home, "a", later).await, Idempotent::InProgress);
}

pub async fn an_answer_is_forgotten_after_its_life(h: Harness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    answer(&w, &home, Some((200, "ok")), now).await;
    let kept = take(&w, &home, "a", now.plus(Millis(HOUR.0 - 1))).await;
    assert_eq!(kept, Idempotent::Answered(200, "ok".to_owned()));
    assert_eq!(take(&w, &home, "b", now.plus(Millis(HOUR.0 + 1))).await, Idempotent::Fresh);
}

pub async fn principals_routes_and_tenants_do_not_share_keys(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    assert_eq!(take(&w, &other, "b", now).await, Idempotent::Fresh);
    for key in [("user:2", KEY.1, KEY.2), (KEY.0, "POST /api/records", KEY.2), (KEY.0, KEY.1, "l")] {
        assert_eq!(w.store().take_key(home.scope, key, "b", STALE, now).await.unwrap(), Idempotent::Fresh);
    }
}

pub async fn of_a_hundred_at_once_one_is_fresh(h: Harness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    let takes = (0..100).map(|_| {
        let store = w.shared();
        async move { store.take_key(home.scope, KEY, "a", STALE, now).await.unwrap() }
    });
    let answers = join_all(takes).await;
    assert_eq!(answers.iter().filter(|answer| **answer == Idempotent::Fresh).count(), 1);
    assert_eq!(answers.iter().filter(|answer| **answer == Idempotent::InProgress).count(), 99);
}
