//! What runs at all: conditions, failures that stop and that do not, order by `dependsOn`.

use std::sync::Arc;

use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::tool::ToolFailure;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::world::{World, plan, step};

fn fails(id: &str) -> Value {
    step(id, "core.fail", json!({"message": format!("{id} is broken")}))
}

#[test]
fn a_step_whose_condition_is_false_is_skipped_for_good() {
    World::new().run(async |live| {
        let steps = json!([
            {"id": "a", "tool": "core.set", "args": {"x": "no"}, "condition": "{{ task.payload.go }}"},
            {"id": "b", "tool": "core.set", "args": {"y": 1}, "condition": "{{ state.x is undefined }}"},
            {"id": "c", "tool": "core.noop", "condition": false},
        ]);
        let id = live.begin(plan(steps), json!({"go": false})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids), (TaskStatus::Completed, vec!["b".to_owned()]));
        assert_eq!(task.skipped_step_ids, ["a", "c"]);
        assert_eq!(json!(task.state), json!({"y": 1}));
    });
}

#[test]
fn a_condition_that_cannot_be_evaluated_fails_the_step() {
    World::new().run(async |live| {
        let steps = json!([{"id": "a", "tool": "core.noop", "condition": "{{ state.ghost == 1 }}"}]);
        let id = live.begin(plan(steps), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
    });
}

#[test]
fn what_runs_always_runs_after_a_failure_and_nothing_else_does() {
    World::new().run(async |live| {
        let steps = json!([
            step("a", "core.noop", json!({})),
            fails("b"),
            step("c", "core.noop", json!({})),
            {"id": "d", "tool": "t.echo", "when": "always", "args": {"why": "{{ steps.b.error.message }}"}},
            step("e", "core.noop", json!({})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Failed);
        assert_eq!(task.completed_step_ids, ["a", "d"]);
        assert_eq!(task.result.unwrap()["completed"]["d"], json!({"why": "b is broken"}));
        assert_eq!(task.error_message.as_deref(), Some("b is broken"));
    });
}

#[test]
fn a_failure_stops_by_the_step_before_the_tool_before_the_default() {
    let soft = ScriptedTool::new("t.soft", EffectClass::Read, |_, _| Err(ToolFailure::permanent("soft")));
    let soft = Arc::new(soft.with_spec(|spec| spec.stop_on_failure = false));
    World::with([soft]).run(async |live| {
        let cases = [
            ("core.fail", Value::Null, TaskStatus::Failed),
            ("core.fail", json!(false), TaskStatus::Completed),
            ("core.fail", json!(true), TaskStatus::Failed),
            ("t.soft", Value::Null, TaskStatus::Completed),
            ("t.soft", json!(true), TaskStatus::Failed),
            ("t.soft", json!(false), TaskStatus::Completed),
        ];
        for (tool, stops, expected) in cases {
            let mut first = step("a", tool, json!({"message": "no"}));
            first["stopOnFailure"] = stops.clone();
            let id = live.begin(plan(json!([first, step("b", "core.noop", json!({}))])), json!({})).await;
            let task = live.proven(id).await;
            assert_eq!(task.status, expected, "{tool} {stops}");
            assert_eq!(task.failed_steps, ["a"]);
            let went_on = expected == TaskStatus::Completed;
            assert_eq!(task.completed_step_ids == ["b"], went_on, "{tool} {stops}");
        }
    });
}

#[test]
fn a_graph_runs_what_it_waits_for_first_and_the_rest_side_by_side() {
    World::new().run(async |live| {
        let steps = json!([
            {"id": "last", "tool": "core.set", "args": {"x": 3}, "dependsOn": ["left", "right"]},
            {"id": "left", "tool": "core.set", "args": {"x": 1}, "dependsOn": []},
            {"id": "right", "tool": "core.set", "args": {"y": 1}, "dependsOn": []},
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        let order: Vec<String> = world_order(&live.world.journal(id));
        assert_eq!(order, ["left", "right", "last"]);
        // In plan order the step `last` comes first, so what `left` says wins.
        assert_eq!(json!(task.state), json!({"x": 1, "y": 1}));
    });
}

#[test]
fn a_failure_in_a_graph_keeps_back_what_has_not_begun() {
    World::new().run(async |live| {
        let steps = json!([
            {"id": "bad", "tool": "core.fail", "args": {"message": "no"}, "dependsOn": []},
            {"id": "next", "tool": "core.noop", "dependsOn": ["bad"]},
            {"id": "cleanup", "tool": "core.noop", "dependsOn": ["next"], "when": "always"},
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids), (TaskStatus::Failed, vec!["cleanup".to_owned()]));
    });
}

#[test]
fn a_condition_takes_one_way_and_its_steps_have_derived_ids() {
    World::new().run(async |live| {
        let steps = json!([
            {"id": "c", "kind": "condition", "if": "{{ task.payload.n > 1 }}",
             "then": [step("yes", "core.set", json!({"x": "then"}))],
             "else": [step("no", "core.set", json!({"x": "else"})), step("more", "core.noop", json!({}))]},
            step("after", "t.echo", json!({"taken": "{{ steps.c.result.taken }}"})),
        ]);
        for (n, ids, x) in
            [(2, vec!["c", "c__yes", "after"], "then"), (1, vec!["c", "c__no", "c__more", "after"], "else")]
        {
            let id = live.begin(plan(steps.clone()), json!({"n": n})).await;
            let task = live.proven(id).await;
            assert_eq!(task.completed_step_ids, ids);
            assert_eq!(json!(task.state), json!({"x": x, "taken": n > 1}));
        }
    });
}

#[test]
fn an_empty_branch_is_done_at_once() {
    World::new().run(async |live| {
        let steps = json!([{"id": "c", "kind": "condition", "if": "{{ false }}", "then": [fails("x")]}]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        assert_eq!(task.result, Some(json!({"taken": false, "result": null})));
    });
}

#[test]
fn a_container_whose_failure_is_tolerated_lets_the_task_go_on() {
    World::new().run(async |live| {
        let steps = json!([
            {"id": "c", "kind": "condition", "if": "{{ true }}", "stopOnFailure": false,
             "then": [fails("x"), step("never", "core.noop", json!({}))]},
            step("after", "core.noop", json!({})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids), (TaskStatus::Completed, vec!["after".to_owned()]));
        assert_eq!(task.failed_steps, ["c", "c__x"]);
    });
}

/// The ids of the steps that ended, in the order in which they did.
pub fn world_order(rows: &[kybern_core::task::JournalRow]) -> Vec<String> {
    let ended = rows.iter().filter(|row| matches!(row.entry, kybern_core::task::JournalEntry::Finished(_)));
    ended.filter_map(|row| row.step.as_ref().map(ToString::to_string)).collect()
}
