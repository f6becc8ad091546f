//! Tasks that tasks start.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kybern_core::error::ErrorCode;
use kybern_core::id::TaskId;
use kybern_core::money::{NanoUsd, Usage};
use kybern_core::ports::{TaskFilter, TaskStore as _};
use kybern_core::task::{EffectClass, Resolution, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::Live;
use crate::world::{World, plan, step};

fn starting(key: &str) -> Value {
    json!({"id": "sub", "kind": "task", "planKey": key, "input": {"n": "{{ task.payload.n }}"}})
}

async fn child_of(live: &Live<'_>, parent: TaskId) -> TaskId {
    live.find(async || live.world.store.children(live.world.scope(), parent).await.unwrap().first().copied()).await
}

#[test]
fn a_childs_result_flows_back_and_its_parent_holds_nothing_meanwhile() {
    World::new().run(async |live| {
        let steps = json!([
            step("rest", "core.wait", json!({"ms": 500})),
            step("e", "t.echo", json!({"y": "{{ task.payload.n + 1 }}"}))
        ]);
        live.put(json!({"key": "test.child", "steps": steps})).await;
        let id = live
            .begin(
                plan(json!([starting("test.child"), step("after", "t.echo", json!({"z": "{{ state.y }}"}))])),
                json!({"n": 1}),
            )
            .await;
        let child = child_of(&live, id).await;
        let parent = live.until(id, |_| live.world.mem().holder(id).is_none()).await;
        assert_eq!((parent.status, parent.current_step_id.as_deref()), (TaskStatus::Executing, Some("sub")));
        let task = live.proven(id).await;
        assert_eq!(task.result, Some(json!({"z": 2})));
        let child = live.proven(child).await;
        assert_eq!((child.parent_task_id, child.depth, child.trace_id), (Some(id), 1, task.trace_id));
    });
}

#[test]
fn a_persons_no_to_a_child_cancels_its_parent_too() {
    World::new().run(async |live| {
        let ask = json!({"id": "ask", "kind": "input", "title": "t", "fields": {}});
        live.put(json!({"key": "test.child", "steps": [ask]})).await;
        let id = live.begin(plan(json!([starting("test.child")])), json!({"n": 1})).await;
        let child = child_of(&live, id).await;
        live.rest(child).await;
        live.resolve(child, Resolution::Fail).await.unwrap();
        for id in [id, child] {
            let task = live.proven(id).await;
            assert_eq!(task.status, TaskStatus::Cancelled);
            assert!(task.error_message.unwrap().ends_with("a person said no"));
        }
    });
}

#[test]
fn a_childs_failure_fails_its_step() {
    World::new().run(async |live| {
        live.put(json!({"key": "test.child", "steps": [step("f", "core.fail", json!({"message": "broken below"}))]}))
            .await;
        let mut sub = starting("test.child");
        sub["stopOnFailure"] = json!(false);
        let id = live.begin(plan(json!([sub, step("after", "core.noop", json!({}))])), json!({"n": 1})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, task.failed_steps), (TaskStatus::Completed, vec!["sub".to_owned()]));
        assert!(live.outcome(id, "sub").unwrap().error.unwrap().message.contains("broken below"));
    });
}

#[test]
fn children_lie_no_deeper_than_five() {
    World::new().run(async |live| {
        live.put(json!({"key": "test.self", "steps": [starting("test.plan")]})).await;
        live.put(json!({"key": "test.plan", "steps": [starting("test.self")]})).await;
        let id = live.submit("test.plan", json!({"n": 1})).await.id;
        assert_eq!(live.end(id).await.status, TaskStatus::Failed);
        let all = live.world.store.tasks(live.world.scope(), &TaskFilter { limit: 200, ..TaskFilter::default() }).await;
        let depths: Vec<u32> = all.unwrap().items.iter().map(|task| task.depth).collect();
        assert_eq!((depths.len(), depths.iter().max()), (6, Some(&5)));
    });
}

#[test]
fn cancelling_a_parent_cancels_what_lies_below_it() {
    World::new().run(async |live| {
        live.put(json!({"key": "test.leaf", "steps": [step("rest", "core.wait", json!({"ms": 3_600_000})), step("x", "core.noop", json!({}))]})).await;
        live.put(json!({"key": "test.child", "steps": [starting("test.leaf")]})).await;
        let id = live.begin(plan(json!([starting("test.child")])), json!({"n": 1})).await;
        let child = child_of(&live, id).await;
        let leaf = child_of(&live, child).await;
        live.engine.tasks().cancel(&live.world.actor, id).await.unwrap();
        for task in [id, child, leaf] {
            assert_eq!(live.proven(task).await.status, TaskStatus::Cancelled);
        }
        assert!(live.now().since(live.task(id).await.created_at) < Millis(60_000));
    });
}

#[test]
fn a_child_that_takes_too_long_is_cancelled_and_fails_its_step() {
    World::new().run(async |live| {
        live.put(json!({"key": "test.child", "steps": [step("ask", "core.ask", json!({"title": "t", "fields": {}}))]}))
            .await;
        let mut starting = starting("test.child");
        starting["timeoutMs"] = json!(5_000);
        let id = live.begin(plan(json!([starting])), json!({"n": 1})).await;
        let child = child_of(&live, id).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, task.error.unwrap().code), (TaskStatus::Failed, ErrorCode::Timeout));
        assert_eq!(live.proven(child).await.status, TaskStatus::Cancelled);
        assert!(live.now().since(task.created_at) < Millis(60_000));
    });
}

#[test]
fn a_cancelled_child_fails_its_parents_step() {
    World::new().run(async |live| {
        live.put(json!({"key": "test.child", "steps": [step("ask", "core.ask", json!({"title": "t", "fields": {}}))]}))
            .await;
        let id = live.begin(plan(json!([starting("test.child")])), json!({"n": 1})).await;
        let child = child_of(&live, id).await;
        let asked = live.rest(child).await;
        assert_eq!(asked.waits[0].kind, WaitKind::Input);
        live.engine.tasks().cancel(&live.world.actor, child).await.unwrap();
        let task = live.proven(id).await;
        assert!(task.error_message.unwrap().contains("cancelled"));
    });
}

/// A child that does `t.once` and then `t.gate`, which fails until it is opened; both cost something.
fn gated() -> (Arc<AtomicBool>, Arc<ScriptedTool>, Arc<ScriptedTool>) {
    let open = Arc::new(AtomicBool::new(false));
    let cost = |nanos| Usage { cost_nanos: NanoUsd(nanos), ..Usage::default() };
    let once = ScriptedTool::new("t.once", EffectClass::Keyed, move |_, _| {
        Ok(ToolOutcome { usage: cost(5), ..ToolOutcome::new(serde_json::Map::new(), "") })
    });
    let gate = Arc::clone(&open);
    let gate = ScriptedTool::new("t.gate", EffectClass::Read, move |_, _| {
        if gate.load(Ordering::SeqCst) {
            Ok(ToolOutcome { usage: cost(7), ..ToolOutcome::new(serde_json::Map::new(), "") })
        } else {
            Err(ToolFailure::permanent("the gate is shut"))
        }
    });
    (open, Arc::new(once), Arc::new(gate))
}

const GATED: &str = "test.gated";

async fn put_gated(live: &Live<'_>) {
    let steps = json!([step("once", "t.once", json!({})), step("gate", "t.gate", json!({}))]);
    live.put(json!({"key": GATED, "steps": steps})).await;
}

#[test]
fn a_retry_goes_on_with_the_child_that_failed_and_repeats_nothing_that_it_did() {
    let (open, once, gate) = gated();
    World::with([once.clone(), gate]).run(async |live| {
        put_gated(&live).await;
        let id = live.begin(plan(json!([starting(GATED)])), json!({"n": 1})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
        let child = child_of(&live, id).await;
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Failed, "the gate is still shut");
        open.store(true, Ordering::SeqCst);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, live.proven(child).await.status), (TaskStatus::Completed, TaskStatus::Completed));
        assert_eq!(live.world.store.children(live.world.scope(), id).await.unwrap(), [child]);
        assert_eq!(once.count(), 1);
        assert_eq!(task.usage.cost_nanos, NanoUsd(12), "what a child has used is counted once");
    });
}

#[test]
fn a_child_that_was_retried_by_itself_is_not_run_again_for_its_parent() {
    let (open, once, gate) = gated();
    World::with([once.clone(), gate.clone()]).run(async |live| {
        put_gated(&live).await;
        let id = live.begin(plan(json!([starting(GATED)])), json!({"n": 1})).await;
        live.end(id).await;
        let child = child_of(&live, id).await;
        open.store(true, Ordering::SeqCst);
        live.engine.tasks().retry(&live.world.actor, child).await.unwrap();
        assert_eq!(live.proven(child).await.status, TaskStatus::Completed);
        assert_eq!(live.proven(id).await.status, TaskStatus::Failed, "nobody asked for it to go on");
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.usage.cost_nanos), (TaskStatus::Completed, NanoUsd(12)));
        assert_eq!((once.count(), gate.count()), (1, 2));
    });
}

#[test]
fn in_the_place_of_a_cancelled_child_a_retry_starts_another() {
    World::new().run(async |live| {
        live.put(json!({"key": "test.child", "steps": [step("rest", "core.wait", json!({"ms": 60_000}))]})).await;
        let id = live.begin(plan(json!([starting("test.child")])), json!({"n": 1})).await;
        let child = child_of(&live, id).await;
        live.engine.tasks().cancel(&live.world.actor, child).await.unwrap();
        assert_eq!(live.end(id).await.status, TaskStatus::Failed);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        assert_eq!(live.world.store.children(live.world.scope(), id).await.unwrap().len(), 2);
    });
}
