//! Steps one after the other: results, state, templates, the end.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::tool::ToolOutcome;
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
