//! A fork says what it makes again outside, and needs a yes for each.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::id::TaskId;
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::tool::ToolFailure;
use kybern_engine::task::{Fork, RepeatKind};
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::delegation;
use crate::live::Live;
use crate::world::{World, plan, step};

fn tell() -> Value {
    step("tell", "core.notify", json!({"to": "a@example.com", "subject": "s", "body": "b"}))
}

fn asked(from: Option<&str>, confirm: &[&str]) -> Fork {
    Fork { from_step: from.map(str::to_owned), confirm: confirm.iter().map(|&step| step.to_owned()).collect() }
}

/// The steps that a fork would make again, each with its kind.
async fn repeats(live: &Live<'_>, id: TaskId, from: Option<&str>) -> Vec<(String, RepeatKind)> {
    let found = live.engine.tasks().repeats_of_fork(&live.world.actor, id, from).await.unwrap();
    found.into_iter().map(|repeat| (repeat.step_id, repeat.kind)).collect()
}

fn named(expected: &[(&str, RepeatKind)]) -> Vec<(String, RepeatKind)> {
    expected.iter().map(|(step, kind)| ((*step).to_owned(), *kind)).collect()
}

#[test]
fn outside_writes_are_made_again_only_with_a_yes_for_each() {
    let tool = Arc::new(ScriptedTool::noop("t.pay", EffectClass::Keyed));
    World::with([tool.clone()]).run(async |live| {
        let steps = json!([
            step("look", "core.noop", json!({})),
            step("pay", "t.pay", json!({})),
            tell(),
            step("last", "core.noop", json!({})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        live.proven(id).await;
        let (pay, told) = (("pay", RepeatKind::Call), ("tell", RepeatKind::Message));
        for (from, expected) in
            [(None, &[pay, told][..]), (Some("pay"), &[pay, told]), (Some("tell"), &[told]), (Some("last"), &[])]
        {
            assert_eq!(repeats(&live, id, from).await, named(expected), "{from:?}");
        }
        let paid = &live.engine.tasks().repeats_of_fork(&live.world.actor, id, None).await.unwrap()[0];
        assert_eq!((paid.tool.as_deref(), paid.effect), (Some("t.pay"), Some(EffectClass::Keyed)));

        let fork = async |asked: Fork| live.engine.tasks().fork(&live.world.actor, id, asked).await;
        for confirm in [&[][..], &["pay"], &["tell"]] {
            let refused = fork(asked(Some("pay"), confirm)).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::Conflict, "{confirm:?}");
            assert_eq!(refused.details().len(), 2 - confirm.len(), "{confirm:?}: {refused}");
            assert!(refused.details().iter().all(|detail| detail.path == "/confirm"), "{confirm:?}");
        }
        let stranger = fork(asked(Some("tell"), &["tell", "pay"])).await.unwrap_err();
        assert_eq!((stranger.code(), stranger.details()[0].path.as_str()), (ErrorCode::Validation, "/confirm/1"));
        assert_eq!(tool.count(), 1, "nothing was done so far");

        let forked = fork(asked(Some("pay"), &["tell", "pay"])).await.unwrap();
        assert_eq!(live.proven(forked.id).await.status, TaskStatus::Completed);
        assert_eq!(tool.count(), 2);
        // What a fork has taken over has happened all the same.
        let forked = fork(asked(Some("last"), &[])).await.unwrap();
        live.proven(forked.id).await;
        assert_eq!(repeats(&live, forked.id, None).await, named(&[pay, told]));
    });
}

#[test]
fn a_call_that_failed_may_have_happened_and_one_that_was_skipped_has_not() {
    let tool = ScriptedTool::new("t.pay", EffectClass::Keyed, |_, _| Err(ToolFailure::permanent("no")));
    World::with([Arc::new(tool)]).run(async |live| {
        let mut skipped = step("other", "t.pay", json!({}));
        skipped["condition"] = json!("false");
        let id = live.begin(plan(json!([skipped, step("pay", "t.pay", json!({})), tell()])), json!({})).await;
        assert_eq!(live.end(id).await.status, TaskStatus::Failed);
        assert_eq!(repeats(&live, id, None).await, named(&[("pay", RepeatKind::Call)]));
    });
}

#[test]
fn a_child_that_wrote_outside_counts_and_one_that_did_not_does_not() {
    World::with([Arc::new(ScriptedTool::noop("t.pay", EffectClass::Unkeyed))]).run(async |live| {
        live.put(json!({"key": "test.quiet", "steps": [step("a", "core.noop", json!({}))]})).await;
        live.put(json!({"key": "test.paying", "steps": [step("a", "t.pay", json!({}))]})).await;
        let child = |id: &str, key: &str| json!({"id": id, "kind": "task", "planKey": key, "input": {}});
        live.put(json!({"key": "test.above", "steps": [child("below", "test.paying")]})).await;
        let steps = json!([child("quiet", "test.quiet"), child("paying", "test.paying"), child("deep", "test.above")]);
        let id = live.begin(plan(steps), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        let expected = [("paying", RepeatKind::Task), ("deep", RepeatKind::Task)];
        assert_eq!(repeats(&live, id, None).await, named(&expected));
        assert_eq!(repeats(&live, id, Some("deep")).await, named(&expected[1..]));
    });
}

#[test]
fn a_submitted_task_that_wrote_outside_counts_although_nobody_waited_for_it() {
    let world = World::on_sqlite([Arc::new(ScriptedTool::noop("t.pay", EffectClass::Unkeyed))]);
    world.run(async |live| {
        live.put(json!({"key": "test.quiet", "steps": [step("a", "core.noop", json!({}))]})).await;
        live.put(json!({"key": "test.paying", "steps": [step("a", "t.pay", json!({}))]})).await;
        let steps = json!([
            step("quiet", "plans.execute", json!({"plan_key": "test.quiet"})),
            step("paying", "plans.execute", json!({"plan_key": "test.paying"})),
            step("also", "tasks.submit", json!({"plan_key": "test.paying"})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        for child in live.children_of(id).await {
            assert_eq!(live.end(child).await.status, TaskStatus::Completed);
        }
        let expected = [("paying", RepeatKind::Task), ("also", RepeatKind::Task)];
        assert_eq!(repeats(&live, id, None).await, named(&expected));
    });
}

#[test]
fn an_outside_workflow_is_started_again_only_with_a_yes() {
    World::new().run(async |live| {
        let steps = json!([{"id": "out", "kind": "workflow", "workflow": "flow", "args": {}}]);
        let id = live.begin(plan(steps), json!({"n": [1]})).await;
        live.until(id, |task| task.status == TaskStatus::Delegated).await;
        delegation::fails(&live, id, "it rained").await;
        assert_eq!(live.end(id).await.status, TaskStatus::Failed);
        assert_eq!(repeats(&live, id, None).await, named(&[("out", RepeatKind::Workflow)]));
        let refused = live.engine.tasks().fork(&live.world.actor, id, None).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Conflict);
    });
}
