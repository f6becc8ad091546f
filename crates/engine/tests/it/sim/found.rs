//! What the simulator has found, told plainly.

use std::sync::Arc;

use kybern_core::task::{EffectClass, Resolution, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::kinds;
use crate::outside::pause;
use crate::parallel::slow;
use crate::world::{World, plan, step};

#[test]
fn a_retry_does_not_begin_what_comes_after_a_step_that_ran_always_before_what_failed_has_ended() {
    let growing = json!([step("more", "core.noop", json!({}))]);
    for always in [step("tell", "core.noop", json!({})), step("tell", "t.inject", json!({"steps": growing}))] {
        let charge = Arc::new(ScriptedTool::new("t.charge", EffectClass::Keyed, |context, _| {
            if context.key.ends_with(":2") {
                Ok(ToolOutcome::default())
            } else {
                Err(ToolFailure::permanent("no money"))
            }
        }));
        World::with([charge.clone(), slow()]).run(async |live| {
            let mut always = always.clone();
            always["when"] = json!("always");
            let steps = json!([step("charge", "t.charge", json!({})), always, step("ship", "core.noop", json!({}))]);
            let id = live.begin(plan(steps), json!({})).await;
            for (tries, status) in [(2, TaskStatus::Failed), (3, TaskStatus::Completed)] {
                assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
                live.engine.retry(&live.world.actor, id).await.unwrap();
                let task = live.until(id, |task| task.completed_at.is_some() && charge.count() == tries).await;
                assert_eq!(task.status, status);
                let shipped = task.completed_step_ids.iter().any(|id| id == "ship" || id == "tell__more");
                assert_eq!(shipped, status == TaskStatus::Completed, "{:?}", task.completed_step_ids);
            }
            live.proven(id).await;
        });
    }
}

#[test]
fn an_unkeyed_call_that_a_person_let_be_tried_again_is_asked_about_again_when_it_is_interrupted_again() {
    let tool = Arc::new(ScriptedTool::pending("t.wire", EffectClass::Unkeyed, |context, _| {
        Box::pin(async move {
            // The third call is the first that comes to an end.
            pause(Millis(if context.key.ends_with(":2") { 1 } else { 600_000 })).await;
            Ok(ToolOutcome::default())
        })
    }));
    let mut wire = step("wire", "t.wire", json!({}));
    wire["timeoutMs"] = json!(3_600_000);
    let world = World::with([tool.clone()]);
    let id = world.run(async |live| {
        let id = live.begin(plan(Value::Array(vec![wire])), json!({})).await;
        live.until(id, |_| tool.count() == 1).await;
        id
    });
    for calls in [2, 3] {
        world.run(async |live| {
            let task = live.rest(id).await;
            assert_eq!((kinds(&task), tool.count()), (vec![WaitKind::Ambiguous], calls - 1));
            live.resolve(id, Resolution::Retry).await.unwrap();
            if calls == 2 {
                live.until(id, |_| tool.count() == calls).await;
            } else {
                assert_eq!((live.proven(id).await.status, tool.count()), (TaskStatus::Completed, calls));
            }
        });
    }
}

#[test]
fn a_retry_does_not_go_on_with_a_child_before_what_stands_before_it_has_ended() {
    let charge = Arc::new(ScriptedTool::pending("t.charge", EffectClass::Keyed, |context, _| {
        Box::pin(async move {
            pause(Millis(5_000)).await;
            if context.key.ends_with(":0") {
                Err(ToolFailure::permanent("no money"))
            } else {
                Ok(ToolOutcome::default())
            }
        })
    }));
    World::with([charge]).run(async |live| {
        live.put(json!({"key": "test.tell", "steps": [step("tell", "core.fail", json!({"message": "as told"}))]}))
            .await;
        let tell = json!({"id": "tell", "kind": "task", "planKey": "test.tell", "input": {}, "when": "always"});
        let steps = json!([step("charge", "t.charge", json!({})), step("ship", "core.noop", json!({})), tell]);
        let id = live.begin(plan(steps), json!({})).await;
        assert_eq!(live.proven(id).await.completed_step_ids, [] as [&str; 0]);
        live.engine.retry(&live.world.actor, id).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids), (TaskStatus::Failed, vec!["charge".into(), "ship".into()]));
    });
}
