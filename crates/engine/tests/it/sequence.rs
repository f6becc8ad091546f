//! Steps one after the other: results, state, templates, the end.

use kybern_core::error::ErrorCode;
use kybern_core::task::TaskStatus;
use serde_json::json;

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
