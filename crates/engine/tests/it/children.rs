//! Tasks that tasks start.

use kybern_core::id::TaskId;
use kybern_core::ports::{TaskFilter, TaskStore as _};
use kybern_core::task::{TaskStatus, WaitKind};
use kybern_core::time::Millis;
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
        let parent = live.until(id, |_| live.world.store.holder(id).is_none()).await;
        assert_eq!((parent.status, parent.current_step_id.as_deref()), (TaskStatus::Executing, Some("sub")));
        let task = live.proven(id).await;
        assert_eq!(task.result, Some(json!({"z": 2})));
        let child = live.proven(child).await;
        assert_eq!((child.parent_task_id, child.depth, child.trace_id), (Some(id), 1, task.trace_id));
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
        live.engine.cancel(&live.world.actor, id).await.unwrap();
        for task in [id, child, leaf] {
            assert_eq!(live.proven(task).await.status, TaskStatus::Cancelled);
        }
        assert!(live.now().since(live.task(id).await.created_at) < Millis(60_000));
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
        live.engine.cancel(&live.world.actor, child).await.unwrap();
        let task = live.proven(id).await;
        assert!(task.error_message.unwrap().contains("cancelled"));
    });
}
