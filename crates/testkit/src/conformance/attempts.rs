//! Attempts: an outside effect is recorded before it begins.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::task::{Attempt, CommitRefused, EffectClass, RenderedArgs};
use serde_json::{Value, json};

use super::{Harness, World};

fn attempt(w: &World, generation: u32, attempt: u32, args_hash: &str) -> Attempt {
    Attempt { generation, attempt, effect: EffectClass::Unkeyed, args_hash: args_hash.to_owned(), ..w.attempt() }
}

pub async fn an_attempt_is_recorded_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let first = attempt(&w, 0, 1, "a");
    w.store().begin_attempt(&lease, &first).await.unwrap();
    w.store().begin_attempt(&lease, &first).await.unwrap();
    let second = attempt(&w, 0, 2, "a");
    w.store().begin_attempt(&lease, &second).await.unwrap();
    assert_eq!(w.store().attempts(home.scope, lease.task()).await.unwrap(), [first, second]);
}

pub async fn an_attempt_keeps_what_it_was_called_with(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let Value::Object(args) = json!({"to": "a\u{0}b", "lines": [{"n": 1.5}, null]}) else { return };
    let rendered = Arc::new(RenderedArgs { args, saw: 7, tainted: vec!["to".to_owned()] });
    let first = Attempt { rendered: Some(rendered), ..attempt(&w, 0, 1, "a") };
    w.store().begin_attempt(&lease, &first).await.unwrap();
    // The first try of a generation says it for all.
    let again = Attempt { rendered: None, ..first.clone() };
    w.store().begin_attempt(&lease, &again).await.unwrap();
    assert_eq!(w.store().attempts(home.scope, lease.task()).await.unwrap(), [first]);
}

pub async fn other_arguments_under_the_same_key_are_a_conflict(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let first = attempt(&w, 0, 1, "a");
    w.store().begin_attempt(&lease, &first).await.unwrap();
    for n in [1, 2] {
        let refused = w.store().begin_attempt(&lease, &attempt(&w, 0, n, "b")).await.unwrap_err();
        assert!(matches!(refused, CommitRefused::Store(ref error) if error.code() == ErrorCode::Conflict), "{refused}");
    }
    let redo = attempt(&w, 1, 1, "b");
    w.store().begin_attempt(&lease, &redo).await.unwrap();
    assert_eq!(w.store().attempts(home.scope, lease.task()).await.unwrap(), [first, redo]);
}

pub async fn an_attempt_tells_what_a_commit_tells(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("task.cancel")).await.unwrap();
    let told = w.store().begin_attempt(&lease, &attempt(&w, 0, 1, "a")).await.unwrap();
    assert!(told.cancel_requested);
}
