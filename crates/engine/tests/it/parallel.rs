//! Branches side by side, and loops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt as _;
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::control::world_order;
use crate::live::object;
use crate::outside::pause;
use crate::world::{World, plan, step};

/// Takes `ms`, then answers `set`, or fails when told to.
pub fn slow() -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::pending("t.slow", EffectClass::Read, |_, args| {
        async move {
            pause(Millis(args["ms"].as_u64().unwrap())).await;
            if args.get("fail").is_some() {
                return Err(ToolFailure::permanent("slow and broken"));
            }
            Ok(ToolOutcome::new(args.get("set").cloned().map(object).unwrap_or_default(), ""))
        }
        .boxed()
    }))
}

fn slow_step(id: &str, ms: u64, set: &Value) -> Value {
    step(id, "t.slow", json!({"ms": ms, "set": set}))
}

#[test]
fn branches_merge_in_their_order_whichever_ends_first() {
    for delays in [[1, 20, 40], [40, 20, 1], [20, 40, 1]] {
        World::with([slow()]).run(async |live| {
            let branch =
                |n: usize| json!([slow_step(&format!("s{n}"), delays[n], &json!({"x": n, format!("b{n}"): n}))]);
            let steps = json!([{"id": "p", "kind": "parallel", "branches": [branch(0), branch(1), branch(2)]}]);
            let id = live.begin(plan(steps), json!({})).await;
            let task = live.proven(id).await;
            assert_eq!(json!(task.state), json!({"x": 2, "b0": 0, "b1": 1, "b2": 2}));
            let branches = json!([{"x": 0, "b0": 0}, {"x": 1, "b1": 1}, {"x": 2, "b2": 2}]);
            assert_eq!(live.outcome(id, "p").unwrap().data, json!({"branches": branches}));
            let mut by_delay = vec![("p__s0", delays[0]), ("p__s1", delays[1]), ("p__s2", delays[2])];
            by_delay.sort_by_key(|(_, ms)| *ms);
            let ended: Vec<&str> = by_delay.into_iter().map(|(id, _)| id).chain(["p"]).collect();
            assert_eq!(world_order(&live.world.journal(id)), ended);
        });
    }
}

#[test]
fn a_branch_that_reads_the_state_before_its_sibling_writes_it_is_proven_by_its_journal() {
    let tool = slow();
    World::with([tool.clone()]).run(async |live| {
        let steps = json!([{"id": "p", "kind": "parallel", "branches": [
            [slow_step("quick", 1, &json!({"x": 1}))],
            [{"id": "late", "tool": "t.slow", "condition": "{{ state.x is undefined }}",
              "args": {"ms": 30, "set": {"seen": "{{ state.x | default('nothing') }}"}}}],
        ]}]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(json!(task.state), json!({"x": 1, "seen": "nothing"}));
    });
}

#[test]
fn a_branch_that_fails_keeps_its_siblings_from_beginning_anything_new() {
    let tool = slow();
    World::with([tool.clone()]).run(async |live| {
        let steps = json!([
            {"id": "p", "kind": "parallel", "branches": [
                [step("bad", "t.slow", json!({"ms": 5, "fail": true}))],
                [slow_step("running", 20, &json!({"kept": 1})), slow_step("never", 1, &json!({}))],
                [{"id": "clean", "tool": "core.noop", "when": "always", "dependsOn": []}],
            ]},
            step("after", "core.noop", json!({})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Failed);
        assert_eq!(task.completed_step_ids, ["p__running", "p__clean"]);
        assert_eq!(task.failed_steps, ["p", "p__bad"]);
        assert_eq!(tool.count(), 2);
        assert_eq!(task.state["kept"], json!(1));
    });
}

#[test]
fn a_step_between_two_tries_takes_those_that_it_has_left_although_its_sibling_has_failed() {
    let charge = Arc::new(ScriptedTool::new("t.charge", EffectClass::Keyed, |context, _| match context.attempt {
        1 => Err(ToolFailure::transient("nobody knows").unknown()),
        _ => Ok(ToolOutcome::default()),
    }));
    World::with([charge.clone()]).run(async |live| {
        let mut charging = step("charge", "t.charge", json!({}));
        charging["retry"] = json!({"maxAttempts": 2, "initialDelayMs": 1_000});
        let never = step("never", "core.noop", json!({}));
        let bad = step("bad", "core.fail", json!({"message": "as told"}));
        let steps = json!([{"id": "p", "kind": "parallel", "branches": [[charging, never], [bad]]}]);
        let task = live.run(steps, json!({})).await;
        assert_eq!((task.status, charge.count()), (TaskStatus::Failed, 2));
        assert_eq!(task.completed_step_ids, ["p__charge"]);
    });
}

#[test]
fn a_condition_is_asked_before_the_first_try_only() {
    let charge = Arc::new(ScriptedTool::new("t.charge", EffectClass::Keyed, |context, _| match context.attempt {
        1 => Err(ToolFailure::transient("busy")),
        _ => Ok(ToolOutcome::default()),
    }));
    World::with([charge.clone(), slow()]).run(async |live| {
        let mut charging = step("charge", "t.charge", json!({}));
        charging["retry"] = json!({"maxAttempts": 2, "initialDelayMs": 1_000});
        charging["condition"] = json!("{{ state.x is undefined }}");
        let branches = json!([[charging], [slow_step("other", 20, &json!({"x": 1}))]]);
        let steps = json!([{"id": "p", "kind": "parallel", "branches": branches}]);
        let id = live.begin(plan(steps), json!({})).await;
        assert_eq!(live.proven(id).await.completed_step_ids, ["p", "p__charge", "p__other"]);
        assert_eq!(charge.count(), 2);
    });
}

#[test]
fn at_most_16_steps_of_a_task_run_at_the_same_time() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counts = (now.clone(), most.clone());
    let tool = ScriptedTool::pending("t.counted", EffectClass::Read, move |_, _| {
        let (now, most) = counts.clone();
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            pause(Millis(10)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(ToolOutcome::default())
        }
        .boxed()
    });
    World::with([Arc::new(tool)]).run(async |live| {
        let branches: Vec<Value> = (0..40).map(|n| json!([step(&format!("s{n}"), "t.counted", json!({}))])).collect();
        let task = live.run(json!([{"id": "p", "kind": "parallel", "branches": branches}]), json!({})).await;
        assert_eq!((task.status, most.load(Ordering::SeqCst)), (TaskStatus::Completed, 16));
    });
}

#[test]
fn a_loop_gives_each_round_its_item_and_index_and_derives_its_ids() {
    World::new().run(async |live| {
        let steps = json!([
            {"id": "each", "kind": "loop", "over": "{{ task.payload.names }}", "steps": [
                {"id": "greet", "tool": "t.echo", "args": {"hello": "{{ item }}", "n": "{{ index }}"}},
                {"id": "again", "tool": "t.echo", "args": {"said": "{{ steps.greet.result.hello }}"}},
            ]},
        ]);
        let id = live.begin(plan(steps), json!({"names": ["a", "b"]})).await;
        let task = live.proven(id).await;
        let ids = ["each", "each__0__greet", "each__0__again", "each__1__greet", "each__1__again"];
        assert_eq!(task.completed_step_ids, ids);
        let rounds = json!({"iterations": 2, "results": [{"said": "a"}, {"said": "b"}]});
        assert_eq!(live.outcome(id, "each").unwrap().data, rounds);
        assert_eq!(json!(task.state), json!({"hello": "b", "n": 1, "said": "b"}));
    });
}

#[test]
fn a_while_loop_looks_before_each_round_and_is_bounded() {
    World::new().run(async |live| {
        let counting = |most: u32| {
            json!([
                step("zero", "core.set", json!({"n": 0})),
                {"id": "up", "kind": "loop", "while": "state.n < 3", "maxIterations": most,
                 "steps": [step("add", "core.set", json!({"n": "{{ state.n + 1 }}"}))]},
            ])
        };
        let id = live.begin(plan(counting(3)), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, json!(task.state)), (TaskStatus::Completed, json!({"n": 3})));
        assert_eq!(task.completed_step_ids, ["zero", "up", "up__0__add", "up__1__add", "up__2__add"]);
        let id = live.begin(plan(counting(2)), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Failed);
        assert!(task.error_message.unwrap().contains("maxIterations 2"));
        let never =
            json!([{"id": "up", "kind": "loop", "while": "false", "steps": [step("x", "core.noop", json!({}))]}]);
        let id = live.begin(plan(never), json!({})).await;
        assert_eq!(live.proven(id).await.result, Some(json!({"iterations": 0, "results": []})));
    });
}

#[test]
fn a_loop_over_too_many_items_or_over_no_list_fails_and_over_none_is_done() {
    World::new().run(async |live| {
        for (over, status) in [
            (json!([1, 2, 3]), TaskStatus::Failed),
            (json!("text"), TaskStatus::Failed),
            (json!([]), TaskStatus::Completed),
        ] {
            let steps = json!([{"id": "each", "kind": "loop", "over": "{{ task.payload.over }}", "maxIterations": 2,
                                "steps": [step("x", "core.noop", json!({}))]}]);
            let id = live.begin(plan(steps), json!({"over": over})).await;
            assert_eq!(live.proven(id).await.status, status, "{over}");
        }
    });
}

#[test]
fn a_failure_inside_a_loop_ends_it_and_a_tolerated_one_does_not() {
    World::new().run(async |live| {
        for (stops, rounds, status) in [(true, 2, TaskStatus::Failed), (false, 3, TaskStatus::Completed)] {
            let steps = json!([{"id": "each", "kind": "loop", "over": [1, 2, 3], "steps": [
                {"id": "x", "tool": "core.fail", "args": {"message": "no"}, "stopOnFailure": stops,
                 "condition": "{{ item == 2 }}"},
                {"id": "y", "tool": "core.set", "args": {"last": "{{ item }}"}},
            ]}]);
            let id = live.begin(plan(steps), json!({})).await;
            let task = live.proven(id).await;
            assert_eq!(task.status, status);
            assert_eq!(task.state["last"], json!(if stops { 1 } else { rounds }));
            assert!(task.failed_steps.contains(&"each__1__x".to_owned()));
        }
    });
}

#[test]
fn loops_in_loops_and_branches_in_loops_derive_their_ids_from_all_around_them() {
    World::new().run(async |live| {
        let steps = json!([{"id": "outer", "kind": "loop", "over": [[1, 2], [3]], "steps": [
            {"id": "inner", "kind": "loop", "over": "{{ item }}", "steps": [
                {"id": "c", "kind": "condition", "if": "{{ item > 1 }}",
                 "then": [{"id": "hit", "tool": "t.echo", "args": {"item": "{{ item }}", "at": "{{ index }}"}}]},
            ]},
        ]}]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        let hits: Vec<&String> = task.completed_step_ids.iter().filter(|id| id.ends_with("hit")).collect();
        assert_eq!(hits, ["outer__0__inner__1__c__hit", "outer__1__inner__0__c__hit"]);
        assert_eq!(json!(task.state), json!({"item": 3, "at": 0}));
    });
}
