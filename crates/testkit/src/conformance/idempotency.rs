//! Answers that are given again.

use futures::future::join_all;
use kybern_core::command::Command;
use kybern_core::ports::Idempotent;
use kybern_core::task::limits;
use kybern_core::time::{Millis, Timestamp};
use uuid::Uuid;

use super::fixture::HOUR;
use super::{FullHarness, Home, World};

const KEY: (&str, &str, &str) = ("user:1", "POST /api/tasks", "k");

fn seed(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

/// The key of a command that was begun for the first time, with that seed.
fn first(n: u128) -> Idempotent {
    Idempotent::Taken(Command::new(seed(n), false))
}

/// The key of a command that was begun before, with that seed.
fn again(n: u128) -> Idempotent {
    Idempotent::Taken(Command::new(seed(n), true))
}

async fn take_as(w: &World, home: &Home, body: &str, n: u128, now: Timestamp) -> Idempotent {
    w.store().take_key(home.scope, KEY, body, Some(seed(n)), now).await.unwrap()
}

async fn take(w: &World, home: &Home, body: &str, now: Timestamp) -> Idempotent {
    take_as(w, home, body, 1, now).await
}

async fn answer(w: &World, home: &Home, answer: Option<(u16, &str)>, now: Timestamp) {
    w.store().answer_key(home.scope, KEY, answer, HOUR, now).await.unwrap();
}

pub async fn a_key_is_taken_then_answered(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    assert_eq!(take(&w, &home, "a", now).await, first(1));
    answer(&w, &home, Some((201, "{\"é\":1}")), now).await;
    for _ in 0..2 {
        assert_eq!(take(&w, &home, "a", now).await, Idempotent::Answered(201, "{\"é\":1}".to_owned()));
    }
}

pub async fn a_key_without_an_answer_keeps_its_seed_for_whoever_takes_it_again(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    assert_eq!(take_as(&w, &home, "a", 1, now).await, first(1));
    for later in [0, 1, limits::KEY_LIFE.0 - 1] {
        assert_eq!(take_as(&w, &home, "a", 2, now.plus(Millis(later))).await, again(1));
    }
    assert_eq!(take_as(&w, &home, "b", 2, now).await, Idempotent::OtherBody);
    let over = now.plus(limits::KEY_LIFE);
    assert_eq!(take_as(&w, &home, "b", 3, over).await, first(3), "its day is over");
    assert_eq!(take_as(&w, &home, "b", 4, over).await, again(3));
}

pub async fn a_key_that_is_looked_at_is_not_taken(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    let look = async || w.store().take_key(home.scope, KEY, "a", None, now).await.unwrap();
    assert_eq!(look().await, Idempotent::Unanswered);
    assert_eq!(take(&w, &home, "a", now).await, first(1), "nobody has taken it");
    assert_eq!(look().await, Idempotent::Unanswered);
    answer(&w, &home, None, now).await;
    assert_eq!(take(&w, &home, "a", now).await, first(1), "nobody else has taken it");
    answer(&w, &home, Some((200, "ok")), now).await;
    assert_eq!(look().await, Idempotent::Answered(200, "ok".to_owned()));
}

pub async fn a_key_with_another_body_is_told(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    assert_eq!(take(&w, &home, "b", now).await, Idempotent::OtherBody);
    answer(&w, &home, Some((200, "ok")), now).await;
    assert_eq!(take(&w, &home, "b", now).await, Idempotent::OtherBody);
    assert_eq!(take(&w, &home, "a", now).await, Idempotent::Answered(200, "ok".to_owned()));
}

pub async fn a_key_given_free_is_new_again(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    answer(&w, &home, None, now).await;
    assert_eq!(take_as(&w, &home, "b", 2, now).await, first(2));
}

pub async fn a_key_that_was_taken_again_or_answered_is_not_given_free(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    take(&w, &home, "a", now).await;
    answer(&w, &home, None, now).await;
    assert_eq!(take_as(&w, &home, "a", 2, now).await, again(1), "the other try may have made something");
    answer(&w, &home, Some((201, "made")), now).await;
    answer(&w, &home, None, now).await;
    assert_eq!(take_as(&w, &home, "a", 2, now).await, Idempotent::Answered(201, "made".to_owned()));
}

pub async fn an_answer_is_forgotten_after_its_life(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    answer(&w, &home, Some((200, "ok")), now).await;
    let kept = take(&w, &home, "a", now.plus(Millis(HOUR.0 - 1))).await;
    assert_eq!(kept, Idempotent::Answered(200, "ok".to_owned()));
    assert_eq!(take_as(&w, &home, "b", 2, now.plus(Millis(HOUR.0 + 1))).await, first(2));
}

pub async fn principals_routes_and_tenants_do_not_share_keys(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let now = w.now();
    take(&w, &home, "a", now).await;
    assert_eq!(take(&w, &other, "b", now).await, first(1));
    for key in [("user:2", KEY.1, KEY.2), (KEY.0, "POST /api/records", KEY.2), (KEY.0, KEY.1, "l")] {
        assert_eq!(w.store().take_key(home.scope, key, "b", Some(seed(2)), now).await.unwrap(), first(2));
    }
}

pub async fn of_a_hundred_at_once_one_is_the_first_and_all_have_its_seed(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    let takes = (0..100).map(|n| {
        let store = w.shared();
        async move { (n, store.take_key(home.scope, KEY, "a", Some(seed(n)), now).await.unwrap()) }
    });
    let answers = join_all(takes).await;
    let firsts: Vec<u128> = answers.iter().filter(|(n, known)| *known == first(*n)).map(|(n, _)| *n).collect();
    assert_eq!(firsts.len(), 1);
    assert_eq!(answers.iter().filter(|(_, known)| *known == again(firsts[0])).count(), 99);
}
