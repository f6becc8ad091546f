//! Steps that tools propose.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::event::EventType;
use kybern_core::plan::{PatchMode, PlanPatch, StepId, StepSpec, limits};
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use kybern_engine::task::SubmitRequest;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Map, Value, json};

use crate::live::{Live, kinds};
use crate::outside::pause;
use crate::world::{World, plan, step};

fn inject(id: &str, steps: Value) -> Value {
    step(id, "t.inject", json!({"steps": steps}))
}

async fn ended(live: &Live<'_>, steps: Value) -> kybern_engine::task::TaskView {
    let id = live.begin(plan(steps), json!({})).await;
    live.proven(id).await
}

#[test]
fn injected_steps_have_derived_ids_and_run_after_their_parent_before_its_successor() {
    World::new().run(async |live| {
        let proposed = json!([
            {"id": "two", "tool": "core.set", "args": {"at": 2}, "dependsOn": ["one"]},
            {"id": "one", "tool": "core.set", "args": {"at": 1}, "dependsOn": []},
        ]);
        let task =
            ended(&live, json!([inject("a", proposed), step("b", "t.echo", json!({"saw": "{{ state.at }}"}))])).await;
        assert_eq!(crate::control::world_order(&live.world.journal(task.id)), ["a", "a__one", "a__two", "b"]);
        assert_eq!(task.completed_step_ids, ["a", "a__two", "a__one", "b"]);
        let ids: Vec<Value> = task.frozen_plan.steps().iter().map(|step| step["id"].clone()).collect();
        assert_eq!(ids, ["a", "a__two", "a__one", "b"]);
        let events = live.events(task.id).await;
        assert!(events.contains(&(EventType::DynamicStepsInjected, Some("a".to_owned()))));
    });
}

#[test]
fn arguments_of_injected_steps_are_data_and_never_templates() {
    // A plan cannot hold them as text, so a tool says them.
    let sly = json!({"id": "x", "tool": "t.echo", "args": {"text": "{{ tenant.name }} {% if %}"}});
    let tool = ScriptedTool::new("t.sly", EffectClass::Read, move |_, _| {
        Ok(ToolOutcome { new_steps: vec![sly.clone()], ..ToolOutcome::default() })
    });
    World::with([Arc::new(tool)]).run(async |live| {
        let task = ended(&live, json!([step("a", "t.sly", json!({}))])).await;
        assert_eq!(task.result, Some(json!({"text": "{{ tenant.name }} {% if %}"})));
    });
}

#[test]
fn proposed_steps_are_no_larger_than_a_plan() {
    let large = json!({"id": "x", "tool": "t.echo", "args": {"text": "x".repeat(limits::MAX_BYTES)}});
    let tool = ScriptedTool::new("t.large", EffectClass::Read, move |_, _| {
        Ok(ToolOutcome { new_steps: vec![large.clone()], ..ToolOutcome::default() })
    });
    World::with([Arc::new(tool)]).run(async |live| {
        let task = ended(&live, json!([step("a", "t.large", json!({}))])).await;
        let error = task.error.unwrap();
        assert_eq!(error.code, ErrorCode::Unprocessable);
        assert!(error.message.contains("/newSteps") && error.message.contains("over the limit"), "{}", error.message);
    });
}

#[test]
fn faulty_proposals_are_refused_whole() {
    let good = json!({"id": "good", "tool": "core.set", "args": {"x": 1}});
    for bad in [
        json!({"id": "bad", "tool": "t.ghost"}),
        json!({"id": "bad", "tool": "core.wait", "args": {"ms": "soon"}}),
        json!({"id": "bad", "tool": "core.wait", "args": {}}),
        json!({"id": "bad", "tool": "core.wait", "args": {"ms": 1, "more": 2}}),
        json!({"id": "bad", "tool": "core.noop", "condition": "{{ true }}"}),
        json!({"id": "bad", "kind": "loop", "over": [1], "steps": []}),
        json!({"id": "bad", "kind": "task", "planKey": "test.plan"}),
        json!({"id": "bad", "kind": "workflow", "workflow": "ghost"}),
        json!({"id": "good", "tool": "core.noop"}),
        json!({"id": "bad", "tool": "core.noop", "dependsOn": ["ghost"]}),
        json!({"id": "Bad", "tool": "core.noop"}),
        json!({"id": "bad", "tool": "core.noop", "extra": 1}),
        json!("text"),
    ] {
        World::new().run(async |live| {
            let task = ended(&live, json!([inject("a", json!([good, bad])), step("b", "core.noop", json!({}))])).await;
            let error = task.error.unwrap();
            assert_eq!((task.status, error.code), (TaskStatus::Failed, ErrorCode::Unprocessable), "{bad}");
            assert!(task.completed_step_ids.is_empty() && !task.state.contains_key("x"));
        });
    }
}

#[test]
fn injections_over_the_cap_are_refused_and_runaway_injection_ends_failed() {
    let tool = Arc::new(ScriptedTool::new("t.again", EffectClass::Read, |_, _| {
        let again = json!({"id": "again", "tool": "t.again", "args": {}});
        Ok(ToolOutcome { new_steps: vec![again], ..ToolOutcome::default() })
    }));
    World::with([tool.clone()]).run(async |live| {
        live.put(plan(json!([step("a", "t.again", json!({}))]))).await;
        let request =
            SubmitRequest { plan_key: Some("test.plan".to_owned()), max_steps: Some(7), ..SubmitRequest::text("go") };
        let id = live.try_submit(request).await.unwrap().id;
        let task = live.proven(id).await;
        assert!(task.error_message.unwrap().contains("Max execution steps exceeded (7)"));
        assert_eq!((task.status, tool.count()), (TaskStatus::Failed, 7));
        let id = live.submit("test.plan", json!({})).await.id;
        let task = live.proven(id).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Failed, 57));
    });
}

#[test]
fn a_proposal_is_refused_whole_when_it_and_what_is_known_are_over_the_cap() {
    World::new().run(async |live| {
        let two = json!([step("x", "core.noop", json!({})), step("y", "core.noop", json!({}))]);
        live.put(plan(json!([inject("a", two), step("b", "core.noop", json!({}))]))).await;
        for (max_steps, completed) in [(4, vec!["a", "a__x", "a__y", "b"]), (3, vec![])] {
            let request = SubmitRequest {
                plan_key: Some("test.plan".to_owned()),
                max_steps: Some(max_steps),
                ..SubmitRequest::text("go")
            };
            let id = live.try_submit(request).await.unwrap().id;
            let task = live.proven(id).await;
            assert_eq!(task.completed_step_ids, completed, "{:?}", task.error_message);
        }
    });
}

#[test]
fn a_tool_proposes_at_most_fifty_steps_at_once() {
    World::new().run(async |live| {
        for (count, status) in [(50, TaskStatus::Completed), (51, TaskStatus::Failed)] {
            let steps: Vec<Value> = (0..count).map(|n| step(&format!("s{n}"), "core.noop", json!({}))).collect();
            live.put(plan(json!([inject("a", json!(steps))]))).await;
            let request = SubmitRequest {
                plan_key: Some("test.plan".to_owned()),
                max_steps: Some(100),
                ..SubmitRequest::text("go")
            };
            let id = live.try_submit(request).await.unwrap().id;
            let task = live.proven(id).await;
            assert_eq!(task.status, status, "{:?}", task.error_message);
        }
    });
}

#[test]
fn a_second_try_takes_no_second_place_under_the_cap() {
    let tool = Arc::new(ScriptedTool::new("t.flaky", EffectClass::Keyed, |context, _| match context.attempt {
        1 => Err(ToolFailure::transient("busy")),
        _ => Ok(ToolOutcome::default()),
    }));
    World::with([tool.clone()]).run(async |live| {
        live.put(plan(json!([step("a", "t.flaky", json!({}))]))).await;
        let request =
            SubmitRequest { plan_key: Some("test.plan".to_owned()), max_steps: Some(1), ..SubmitRequest::text("go") };
        let id = live.try_submit(request).await.unwrap().id;
        assert_eq!((live.proven(id).await.status, tool.count()), (TaskStatus::Completed, 2));
    });
}

#[test]
fn the_cap_counts_scheduled_steps_and_not_skipped_ones() {
    World::new().run(async |live| {
        let mut steps: Vec<Value> =
            (0..10).map(|n| json!({"id": format!("s{n}"), "tool": "core.noop", "condition": n >= 7})).collect();
        for (last, status) in [("core.noop", TaskStatus::Failed), ("", TaskStatus::Completed)] {
            if last.is_empty() {
                steps.pop();
                steps.push(json!({"id": "t", "tool": "core.noop", "condition": "{{ false }}"}));
            } else {
                steps.push(step("t", last, json!({})));
            }
            live.put(plan(json!(steps))).await;
            let request = SubmitRequest {
                plan_key: Some("test.plan".to_owned()),
                max_steps: Some(3),
                ..SubmitRequest::text("go")
            };
            let id = live.try_submit(request).await.unwrap().id;
            let task = live.proven(id).await;
            assert_eq!(task.status, status, "{:?}", task.error_message);
        }
    });
}

#[test]
fn a_patch_appends_steps_or_replaces_those_that_have_not_begun() {
    for (mode, expected) in [(PatchMode::Append, vec!["a", "b", "a__new"]), (PatchMode::Replace, vec!["a", "a__new"])] {
        let tool = ScriptedTool::new("t.revise", EffectClass::Read, move |_, _| {
            let args = Map::from_iter([("x".to_owned(), json!("{{ not.a.template }}"))]);
            let new = StepSpec::tool(StepId::parse("new").unwrap(), "core.set", args);
            let patch = PlanPatch { mode, steps: vec![new], reason: "it is better".to_owned() };
            Ok(ToolOutcome { patch: Some(patch), ..ToolOutcome::default() })
        });
        World::with([Arc::new(tool)]).run(async |live| {
            let task = ended(&live, json!([step("a", "t.revise", json!({})), step("b", "core.noop", json!({}))])).await;
            assert_eq!(task.completed_step_ids, expected);
            assert_eq!(json!(task.state), json!({"x": "{{ not.a.template }}"}));
            let log = live.log(task.id).await;
            let revised = log.iter().find(|entry| entry.event_type == EventType::PlanRevised).unwrap();
            assert_eq!(revised.summary, "it is better");
        });
    }
}

#[test]
fn a_step_that_ran_while_the_rest_was_replaced_is_made_again_after_a_crash() {
    let revise = ScriptedTool::new("t.revise", EffectClass::Read, |_, _| {
        let new = StepSpec::tool(StepId::parse("new").unwrap(), "core.noop", Map::new());
        let patch = PlanPatch { mode: PatchMode::Replace, steps: vec![new], reason: "it is better".to_owned() };
        Ok(ToolOutcome { patch: Some(patch), ..ToolOutcome::default() })
    });
    let charge = Arc::new(ScriptedTool::pending("t.charge", EffectClass::Keyed, |context, _| {
        Box::pin(async move {
            pause(Millis(if context.may_have_happened { 1 } else { 600_000 })).await;
            Ok(ToolOutcome::default())
        })
    }));
    let world = World::with([Arc::new(revise), charge.clone()]);
    let id = world.run(async |live| {
        let steps = json!([
            {"id": "a", "tool": "t.revise", "dependsOn": []},
            {"id": "charge", "tool": "t.charge", "dependsOn": [], "timeoutMs": 3_600_000},
            {"id": "gone", "tool": "core.noop", "dependsOn": ["charge"]},
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        live.until(id, |task| charge.count() == 1 && task.completed_step_ids == ["a"]).await;
        id
    });
    world.run(async |live| {
        let task = live.proven(id).await;
        assert_eq!(task.completed_step_ids, ["a", "charge", "a__new"]);
        assert_eq!(charge.count(), 2);
    });
}

#[test]
fn a_receiver_that_an_untrusted_tool_proposes_is_confirmed() {
    let tool = ScriptedTool::new("t.reader", EffectClass::Read, |_, _| {
        let args = json!({"to": "found@example.com", "subject": "s", "body": "b"});
        let tell = json!({"id": "tell", "tool": "core.notify", "args": args});
        Ok(ToolOutcome { new_steps: vec![tell], tainted: true, ..ToolOutcome::default() })
    });
    World::with([Arc::new(tool)]).run(async |live| {
        let task = live.run(json!([step("a", "t.reader", json!({}))]), json!({})).await;
        assert_eq!(kinds(&task), [kybern_core::task::WaitKind::Confirmation]);
    });
}
