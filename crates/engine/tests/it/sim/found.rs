//! What the simulator has found, told plainly.

use std::sync::Arc;

use kybern_core::plan::{PatchMode, PlanPatch, StepId, StepSpec};
use kybern_core::ports::Keys as _;
use kybern_core::task::{EffectClass, Resolution, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_core::tool::{Review, ToolFailure, ToolOutcome};
use kybern_engine::task::{CallbackProof, CallbackRequest, SubmitRequest};
use kybern_testkit::TestKeys;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Map, Value, json};

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
                live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
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
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids), (TaskStatus::Failed, vec!["charge".into(), "ship".into()]));
    });
}

#[test]
fn a_task_that_does_not_say_how_many_steps_it_takes_schedules_fifty_and_those_in_loops_count() {
    World::new().run(async |live| {
        for (rounds, status) in [(16, TaskStatus::Completed), (17, TaskStatus::Failed)] {
            let items: Vec<u32> = (0..rounds).collect();
            let inner = json!([step("a", "core.noop", json!({})), step("b", "core.noop", json!({}))]);
            let inner = json!([{"id": "pair", "kind": "parallel", "branches": [inner]}]);
            let id = live
                .begin(plan(json!([{"id": "each", "kind": "loop", "over": items, "steps": inner}])), json!({}))
                .await;
            let task = live.proven(id).await;
            assert_eq!(task.status, status, "{:?}", task.error_message);
            let refused = task.error_message.is_some_and(|why| why.contains("Max execution steps exceeded (50)"));
            assert_eq!(refused, status == TaskStatus::Failed);
        }
    });
}

#[test]
fn a_step_that_was_refused_by_the_cap_takes_no_place_from_one_that_a_crash_interrupted() {
    let charge = Arc::new(ScriptedTool::pending("t.charge", EffectClass::Keyed, |context, _| {
        Box::pin(async move {
            pause(Millis(if context.may_have_happened { 1 } else { 600_000 })).await;
            Ok(ToolOutcome::default())
        })
    }));
    let world = World::with([charge.clone()]);
    let refused = json!([[step("more", "core.noop", json!({}))]]);
    let small = json!({"id": "small", "kind": "parallel", "branches": refused, "stopOnFailure": false});
    let mut charging = step("charge", "t.charge", json!({}));
    charging["timeoutMs"] = json!(3_600_000);
    charging["when"] = json!("always");
    let both = json!([{"id": "both", "kind": "parallel", "branches": [[charging], [small]]}]);
    let id = world.run(async |live| {
        live.put(plan(both)).await;
        let request =
            SubmitRequest { plan_key: Some("test.plan".to_owned()), max_steps: Some(3), ..SubmitRequest::text("go") };
        let id = live.try_submit(request).await.unwrap().id;
        live.until(id, |task| charge.count() == 1 && task.failed_steps.len() == 2).await;
        id
    });
    world.run(async |live| {
        let task = live.proven(id).await;
        assert_eq!((task.status, charge.count()), (TaskStatus::Failed, 2), "{:?}", task.error_message);
        assert_eq!(task.failed_steps, ["both", "both__small", "both__small__more"]);
    });
}

#[test]
fn a_step_that_has_been_called_keeps_its_place_under_the_cap_while_it_begins_again() {
    let look = Arc::new(ScriptedTool::new("t.look", EffectClass::Read, |_, _| {
        Ok(ToolOutcome::ask(Review {
            reason: "look at it".to_owned(),
            title: None,
            schema: json!({"type": "object"}),
            details: Value::Null,
            answer_is_result: false,
        }))
    }));
    World::with([look]).run(async |live| {
        let pair = json!([step("one", "core.noop", json!({})), step("refused", "core.noop", json!({}))]);
        let branches = json!([[step("look", "t.look", json!({}))], pair]);
        let both = json!({"id": "both", "kind": "parallel", "branches": branches, "stopOnFailure": false});
        live.put(plan(json!([both, step("last", "core.noop", json!({}))]))).await;
        let request =
            SubmitRequest { plan_key: Some("test.plan".to_owned()), max_steps: Some(3), ..SubmitRequest::text("go") };
        let id = live.try_submit(request).await.unwrap().id;
        assert_eq!(kinds(&live.rest(id).await), [WaitKind::Review]);
        live.review(id, None, json!({})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!(task.failed_steps, ["both", "both__refused"], "{:?}", task.error_message);
    });
}

#[test]
fn a_patch_replaces_what_has_not_begun_wherever_it_stands_and_is_made_once() {
    let revise = Arc::new(ScriptedTool::new("t.revise", EffectClass::Read, |_, _| {
        let new = StepSpec::tool(StepId::parse("new").unwrap(), "core.noop", Map::new());
        let patch = PlanPatch { mode: PatchMode::Replace, steps: vec![new], reason: "it is better".to_owned() };
        Ok(ToolOutcome { patch: Some(patch), ..ToolOutcome::default() })
    }));
    let charge = Arc::new(ScriptedTool::new("t.charge", EffectClass::Keyed, |context, _| {
        if context.key.ends_with(":0") { Err(ToolFailure::permanent("no money")) } else { Ok(ToolOutcome::default()) }
    }));
    let always = |mut step: Value| {
        step["when"] = json!("always");
        step
    };
    World::with([revise, charge]).run(async |live| {
        let [charge, revise] = ["charge", "revise"].map(|id| step(id, &format!("t.{id}"), json!({})));
        let tell = always(step("tell", "core.noop", json!({})));
        let ship = step("ship", "core.noop", json!({}));
        for (steps, at_first, at_last) in [
            // What ran always behind the failure was to run once more, and had not begun again.
            (json!([charge, revise, tell, ship]), vec!["tell"], vec!["charge", "revise", "revise__new"]),
            (json!([charge, ship, always(revise.clone())]), vec!["revise"], vec!["charge", "revise", "revise__new"]),
        ] {
            let id = live.begin(plan(steps), json!({})).await;
            assert_eq!(live.proven(id).await.completed_step_ids, at_first);
            live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
            assert_eq!(live.proven(id).await.completed_step_ids, at_last);
        }
    });
}

#[test]
fn a_call_that_a_crash_left_open_is_made_again_before_a_failure_beside_it_closes_what_they_stand_in() {
    let charge = Arc::new(ScriptedTool::pending("t.charge", EffectClass::Keyed, |context, _| {
        Box::pin(async move {
            pause(Millis(if context.may_have_happened { 1 } else { 600_000 })).await;
            Ok(ToolOutcome::default())
        })
    }));
    let world = World::with([charge.clone()]);
    let mut charging = step("charge", "t.charge", json!({}));
    charging["timeoutMs"] = json!(3_600_000);
    let hand = json!({"id": "hand", "kind": "workflow", "workflow": "flow"});
    let id = world.run(async |live| {
        let both = json!({"id": "both", "kind": "parallel", "branches": [[charging], [hand]]});
        let id = live.begin(plan(json!([both])), json!({})).await;
        live.until(id, |_| charge.count() == 1 && !live.world.mem().delegations(id).is_empty()).await;
        // The process dies before it learns that the workflow has failed.
        let workflow_id = live.world.mem().delegations(id)[0].workflow_id.clone();
        let proof = CallbackProof::Secret(TestKeys::new().callback_secret(&workflow_id));
        let (data, error, body_hash) = (Value::Null, Some("it rained".to_owned()), "no".to_owned());
        let answer = CallbackRequest { workflow_id, success: false, error, data, body_hash };
        live.engine.tasks().callback(id, &proof, answer).await.unwrap();
        id
    });
    world.run(async |live| {
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids), (TaskStatus::Failed, vec!["both__charge".to_owned()]));
        assert_eq!(charge.count(), 2);
    });
}
