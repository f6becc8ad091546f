//! Rates.

use futures::future::join_all;
use kybern_core::budget::RateRule;
use kybern_core::ports::ReserveRefused;
use kybern_core::time::{Millis, Timestamp};

use super::{Harness, Home, World};

const MINUTE: Millis = Millis(60_000);

fn rule(key: &str, most: u32) -> RateRule {
    RateRule { key: key.to_owned(), most, window: MINUTE }
}

async fn take(w: &World, home: &Home, rules: &[RateRule], at: Timestamp) -> Result<(), Timestamp> {
    match w.store().take_rate(home.scope, rules, at).await {
        Ok(()) => Ok(()),
        Err(ReserveRefused::Rate(exceeded)) => Err(exceeded.free_at),
        Err(other) => panic!("{other:?}"),
    }
}

pub async fn a_window_slides(h: Harness) {
    let (w, home) = World::new(h).await;
    let start = w.now();
    let rules = [rule("user/search", 2)];
    let later = |ms: u64| start.plus(Millis(ms));
    for ms in [0, 20_000] {
        take(&w, &home, &rules, later(ms)).await.unwrap();
    }
    assert_eq!(take(&w, &home, &rules, later(20_000)).await, Err(later(60_000)));
    assert_eq!(take(&w, &home, &rules, later(59_999)).await, Err(later(60_000)));
    take(&w, &home, &rules, later(60_000)).await.unwrap();
    assert_eq!(take(&w, &home, &rules, later(60_001)).await, Err(later(80_000)), "a refusal takes no place");
    let other = w.tenant("second").await;
    take(&w, &other, &rules, later(60_001)).await.unwrap();
    take(&w, &home, &[rule("user/other", 2)], later(60_001)).await.unwrap();
}

pub async fn clocks_that_differ_never_fill_a_window_twice(h: Harness) {
    let (w, home) = World::new(h).await;
    let start = w.now();
    let rules = [rule("skewed", 5)];
    let later = |ms: u64| start.plus(Millis(ms));
    for _ in 0..5 {
        take(&w, &home, &rules, later(0)).await.unwrap();
    }
    // One clock is just past the window. The other is just inside of it, and where the first five still are.
    take(&w, &home, &rules, later(60_000)).await.unwrap();
    let mut taken = 0;
    while take(&w, &home, &rules, later(59_999)).await.is_ok() {
        taken += 1;
        assert!(taken <= 4, "more than five in a window");
    }
    assert_eq!(taken, 4, "they stand where the first clock is");
    assert_eq!(take(&w, &home, &rules, later(59_999)).await, Err(later(120_000)));
    take(&w, &home, &rules, later(120_000)).await.unwrap();
}

pub async fn a_clock_that_is_set_back_leaves_no_key_stuck(h: Harness) {
    let (w, home) = World::new(h).await;
    let rules = [rule("set back", 2)];
    let (wrong, right) = (w.now().plus(Millis(86_400_000)), w.now());
    for at in [wrong, wrong, right, right] {
        take(&w, &home, &rules, at).await.unwrap();
    }
    assert_eq!(take(&w, &home, &rules, right).await, Err(right.plus(MINUTE)));
    take(&w, &home, &rules, right.plus(MINUTE)).await.unwrap();
    // A step of less than a window is waited for, and for no longer.
    let back = right.plus(Millis(30_000));
    take(&w, &home, &rules, back).await.unwrap();
    assert_eq!(take(&w, &home, &rules, back).await, Err(right.plus(Millis(120_000))));
    take(&w, &home, &rules, right.plus(Millis(120_000))).await.unwrap();
}

pub async fn a_place_is_taken_under_all_rules_or_under_none(h: Harness) {
    let (w, home) = World::new(h).await;
    let at = w.now();
    take(&w, &home, &[rule("narrow", 1), rule("wide", 10)], at).await.unwrap();
    for _ in 0..20 {
        assert!(take(&w, &home, &[rule("wide", 10), rule("narrow", 1)], at).await.is_err());
    }
    for _ in 0..9 {
        take(&w, &home, &[rule("wide", 10)], at).await.unwrap();
    }
    assert!(take(&w, &home, &[rule("wide", 10)], at).await.is_err());
    assert!(take(&w, &home, &[rule("none", 0)], at).await.is_err());
}

pub async fn a_thousand_calls_at_the_edge_are_never_over_and_never_stuck(h: Harness) {
    let (w, home) = World::new(h).await;
    let start = w.now();
    let rules = [rule("edge", 50), rule("everything", 1_000)];
    let mut taken: Vec<Timestamp> = Vec::new();
    for wave in 0..20_u64 {
        let at = start.plus(Millis(wave * 15_000));
        let answers = join_all((0..50).map(|_| take(&w, &home, &rules, at))).await;
        taken.extend(answers.iter().filter(|answer| answer.is_ok()).map(|_| at));
    }
    for first in &taken {
        let inside = taken.iter().filter(|time| *time >= first && time.since(*first) < MINUTE).count();
        assert!(inside <= 50, "{inside}");
    }
    // 50 at once, then 50 as soon as those have left: at 0, 60, 120, 180 and 240 s.
    assert_eq!(taken.len(), 250);
}
