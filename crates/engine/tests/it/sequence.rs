//! Steps one after the other: results, state, templates, the end.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::tool::ToolOutcome;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::tools::ScriptedTool;
use serde_json::json;

use crate::live::object;
use crate::world::{World, plan, step};

#[test]
fn data_enters_the_state_flat_and_the_last_result_is_the_tasks() {
    World::new().run(async |live| {
        let steps = json!([
            step("a", "core.set", json!({"x": 1, "list": [1, "two", null], "no": false})),
            {"id": "b", "tool": "t.echo", "args": {"y": "{{ state.x + 1 }}"}, "saveAs": "second"},
            step("c", "t.echo", json!({"x": "{{ steps.b.result.y }}", "l": "{{ state.list }}", "n": "{{ state.no }}"})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        assert_eq!(task.result, Some(json!({"x": 2, "l": [1, "two", null], "n": false})));
        let state = json!({
            "x": 2, "list": [1, "two", null], "no": false, "second": {"y": 2}, "l": [1, "two", null], "n": false
        });
        assert_eq!(json!(task.state), state);
        assert_eq!(task.completed_step_ids, ["a", "b", "c"]);
    });
}

#[test]
fn the_kernels_names_can_be_read_with_and_without_context() {
    World::new().run(async |live| {
        let args = json!({
            "a": "{{ task.payload.n }}", "b": "{{ context.task.payload.n }}", "c": "{{ tenant.name }}",
            "d": "{{ user.name }}", "e": "{{ task.channel }}", "f": "{{ task.input }}", "g": "{{ task.id }}",
        });
        let task = live.run(json!([step("a", "t.echo", args)]), json!({"n": [1]})).await;
        let expected = json!({
            "a": [1], "b": [1], "c": "Tenant home", "d": "An Admin", "e": "api", "f": "go", "g": task.id
        });
        assert_eq!(task.result, Some(expected));
    });
}

#[test]
fn what_is_read_as_a_whole_has_the_user_as_well() {
    World::new().run(async |live| {
        let task = live.run(json!([step("a", "t.echo", json!({"all": "{{ context }}"}))]), json!({})).await;
        assert_eq!(task.result.unwrap()["all"]["user"]["name"], json!("An Admin"));
    });
}

#[test]
fn an_output_expression_makes_the_result() {
    World::new().run(async |live| {
        let steps = json!([step("a", "core.set", json!({"x": 1})), step("b", "core.set", json!({"x": 2}))]);
        let plan = json!({"key": "test.out", "output": "{{ {'sum': steps.a.result.x + state.x} }}", "steps": steps});
        let id = live.begin(plan, json!({})).await;
        assert_eq!(live.proven(id).await.result, Some(json!({"sum": 3})));
    });
}

#[test]
fn an_output_that_cannot_be_made_fails_the_task() {
    World::new().run(async |live| {
        let steps = json!([step("a", "core.set", json!({"x": 1}))]);
        let id = live.begin(json!({"key": "test.out", "output": "{{ state.ghost }}", "steps": steps}), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, task.error.unwrap().code), (TaskStatus::Failed, ErrorCode::Unprocessable));
        assert_eq!(task.result.unwrap()["completed"]["a"], json!({"x": 1}));
    });
}

#[test]
fn an_unknown_name_fails_the_step_and_the_result_says_what_succeeded() {
    World::new().run(async |live| {
        let steps = json!([
            step("a", "core.set", json!({"x": 1})),
            step("b", "t.echo", json!({"y": "{{ state.ghost }}"})),
            step("c", "core.noop", json!({})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Failed);
        assert_eq!(task.error.unwrap().code, ErrorCode::Unprocessable);
        let result = task.result.unwrap();
        assert_eq!(result["partial"], json!(true));
        assert_eq!(result["completed"], json!({"a": {"x": 1}}));
        assert_eq!((&result["failedStep"], &result["failedSteps"]), (&json!("b"), &json!(["b"])));
        assert_eq!(task.current_step_id.as_deref(), Some("b"));
    });
}

#[test]
fn names_with_an_underscore_are_the_kernels() {
    let tool = ScriptedTool::new("t.sly", EffectClass::Read, |_, _| {
        Ok(ToolOutcome::new(object(json!({"_secret": 1, "open": 2})), ""))
    });
    World::with([Arc::new(tool)]).run(async |live| {
        let task = live.run(json!([step("a", "t.sly", json!({}))]), json!({})).await;
        assert_eq!(json!(task.state), json!({"open": 2}));
        let task = live.run(json!([step("a", "core.set", json!({"_x": 1}))]), json!({})).await;
        assert_eq!(task.error.unwrap().code, ErrorCode::Validation);
    });
}

#[test]
fn a_result_over_the_limit_is_refused_and_not_cut() {
    let tool = ScriptedTool::new("t.large", EffectClass::Read, |_, _| {
        Ok(ToolOutcome::new(object(json!({"x": "y".repeat(5 * 1024 * 1024)})), ""))
    });
    World::with([Arc::new(tool)]).run(async |live| {
        let task = live.run(json!([step("a", "t.large", json!({}))]), json!({})).await;
        assert_eq!(task.error.unwrap().code, ErrorCode::PayloadTooLarge);
    });
}

#[test]
fn later_steps_win_in_plan_order_and_a_failed_step_leaves_nothing() {
    World::new().run(async |live| {
        let steps = json!([
            step("a", "core.set", json!({"x": 1, "y": 1})),
            {"id": "f", "tool": "core.fail", "args": {"message": "no"}, "stopOnFailure": false, "saveAs": "f"},
            step("b", "core.set", json!({"x": 2})),
        ]);
        let task = live.run(steps, json!({})).await;
        assert_eq!(json!(task.state), json!({"x": 2, "y": 1}));
        assert_eq!(task.failed_steps, ["f"]);
    });
}

#[test]
fn the_expression_of_a_condition_may_be_as_long_as_any() {
    World::new().run(async |live| {
        let branching = |length: usize| {
            let test = format!("1 =={}1", " ".repeat(length - 5));
            plan(json!([{"id": "a", "kind": "condition", "if": test, "then": [step("b", "core.noop", json!({}))]}]))
        };
        let id = live.begin(branching(2_000), json!({})).await;
        assert_eq!(live.proven(id).await.completed_step_ids, ["a", "a__b"]);
        let refused = live.engine.plans().put(&live.world.actor, &branching(2_001)).await.unwrap_err();
        assert_eq!((refused.code(), refused.details()[0].path.as_str()), (ErrorCode::Unprocessable, "/steps/0/if"));
        assert!(refused.details()[0].message.contains("2000 bytes"), "{refused:?}");
    });
}

#[test]
fn no_step_tolerates_that_the_task_may_schedule_no_more() {
    let noop = |id: &str| step(id, "core.noop", json!({}));
    let items: Vec<u32> = (0..10).collect();
    let each = json!({"id": "each", "kind": "loop", "over": items, "steps": [noop("x")], "stopOnFailure": false});
    let inner = json!({"id": "inner", "kind": "parallel", "branches": [[each.clone()]], "stopOnFailure": false});
    let outer = json!({"id": "outer", "kind": "condition", "if": "true", "then": [inner], "stopOnFailure": false});
    for (around, failed) in [
        (each, vec!["each", "each__4__x"]),
        (outer, vec!["outer", "outer__inner", "outer__inner__each", "outer__inner__each__2__x"]),
    ] {
        World::new().run(async |live| {
            live.put(plan(json!([around, noop("last")]))).await;
            let request = SubmitRequest {
                plan_key: Some("test.plan".to_owned()),
                max_steps: Some(5),
                ..SubmitRequest::text("go")
            };
            let id = live.try_submit(request).await.unwrap().id;
            let task = live.proven(id).await;
            assert_eq!(task.status, TaskStatus::Failed);
            assert_eq!(task.failed_steps, failed);
            let error = task.error.unwrap();
            assert_eq!(error.code, ErrorCode::Unprocessable);
            assert!(error.message.contains("Max execution steps exceeded (5)"), "{error:?}");
            // Tried again it fails the same way: the limit is the task's, not the try's.
            live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
            assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
        });
    }
}
