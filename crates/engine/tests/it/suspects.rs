//! A call that takes the process down, again and again: it is found out, and its task alone pays for it.

use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::ports::TaskStore as _;
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::tool::ToolOutcome;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::world::{World, plan, step};

/// Computes for ever, until its process dies.
fn deadly(effect: EffectClass) -> Arc<ScriptedTool> {
    let computes = ScriptedTool::pending("t.deadly", effect, |_, _| std::future::pending().boxed()).that_computes();
    Arc::new(computes)
}

fn harmless() -> Arc<ScriptedTool> {
    let computes =
        ScriptedTool::new("t.harmless", EffectClass::Read, |_, _| Ok(ToolOutcome::default())).that_computes();
    Arc::new(computes)
}

#[test]
fn what_took_three_workers_down_is_not_begun_again() {
    for effect in [EffectClass::Read, EffectClass::Local] {
        let tool = deadly(effect);
        let world = World::with([tool.clone()]);
        let steps = json!([step("a", "core.noop", json!({})), step("b", "t.deadly", json!({}))]);
        let id = world.run(async |live| {
            let id = live.begin(plan(steps), json!({})).await;
            live.until(id, |_| tool.count() == 1).await;
            id
        });
        let attempts = || futures::executor::block_on(world.store.attempts(world.scope(), id)).unwrap().len();
        assert_eq!(attempts(), 0, "nothing is recorded before a worker has died");
        for begun in [2, 3] {
            world.run(async |live| live.until(id, |_| tool.count() == begun).await);
            assert_eq!(attempts(), 1);
        }
        world.run(async |live| {
            let task = live.rest(id).await;
            let error = task.error_message.unwrap();
            assert!(error.contains("not begun again"), "{error}");
            assert_eq!((task.status, tool.count()), (TaskStatus::Failed, 3));
            assert_eq!((task.completed_step_ids, task.failed_steps), (vec!["a".to_owned()], vec!["b".to_owned()]));
            // A person may have it tried again.
            live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
            live.until(id, |_| tool.count() == 4).await;
        });
    }
}

#[test]
fn the_one_that_did_it_is_told_from_what_ran_beside_it() {
    let (bad, good) = (deadly(EffectClass::Read), harmless());
    let world = World::with([bad.clone(), good.clone()]);
    let branches = json!([[step("bad", "t.deadly", json!({}))], [step("good", "t.harmless", json!({}))]]);
    let mut parallel = json!({"id": "p", "kind": "parallel", "branches": branches});
    parallel["branches"][0][0]["stopOnFailure"] = Value::Bool(false);
    let id = world.run(async |live| {
        let id = live.begin(plan(json!([parallel])), json!({})).await;
        live.until(id, |_| bad.count() == 1 && good.count() == 1).await;
        id
    });
    world.run(async |live| {
        // A task that has nothing to do with it and computes as well goes on beside it.
        live.until(id, |_| bad.count() == 2).await;
        let other = live.run(json!([step("c", "t.harmless", json!({}))]), json!({})).await;
        assert_eq!(other.status, TaskStatus::Completed);
    });
    world.run(async |live| live.until(id, |_| bad.count() == 3).await);
    world.run(async |live| {
        let task = live.rest(id).await;
        assert_eq!((task.status, bad.count()), (TaskStatus::Completed, 3));
        assert_eq!(task.failed_steps, ["p__bad"]);
        assert!(task.completed_step_ids.iter().any(|step| step == "p__good"), "{:?}", task.completed_step_ids);
    });
}

#[test]
fn after_a_crash_calls_that_compute_are_made_one_at_a_time() {
    let bad = deadly(EffectClass::Read);
    let world = World::with([bad.clone()]);
    let branch = |id: &str| json!([step(id, "t.deadly", json!({}))]);
    let parallel = json!({"id": "p", "kind": "parallel", "branches": [branch("a"), branch("b")]});
    let id = world.run(async |live| {
        let id = live.begin(plan(json!([parallel])), json!({})).await;
        live.until(id, |_| bad.count() == 2).await;
        id
    });
    world.run(async |live| live.until(id, |_| bad.count() == 3).await);
    let attempts = futures::executor::block_on(world.store.attempts(world.scope(), id)).unwrap();
    let begun: Vec<&str> = attempts.iter().map(|attempt| attempt.step.as_str()).collect();
    assert_eq!(begun, ["p__a"], "the other one waits until the first has ended");
}
