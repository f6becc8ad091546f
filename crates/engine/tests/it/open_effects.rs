//! A call of which nobody can know whether it had its effect is asked about before anything else is looked at.

use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::executor::block_on;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result;
use kybern_core::id::TaskId;
use kybern_core::ports::{AuditStore as _, Clock as _, OfferedTool, OfferedTools, TaskStore as _, ToolSource};
use kybern_core::task::{EffectClass, JournalEntry, Resolution, TaskStatus, WaitKind};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::{Live, kinds, object};
use crate::outside::pause;
use crate::world::{World, plan, step};

/// Takes the call and never answers.
fn silent() -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::pending("t.act", EffectClass::Unkeyed, |_, _| std::future::pending().boxed()))
}

/// Takes a moment; then sets what it is told to, or fails.
fn sibling() -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::pending("t.sibling", EffectClass::Local, |_, args| {
        async move {
            pause(Millis(5)).await;
            if args.get("fail").is_some() {
                return Err(ToolFailure::permanent("broken"));
            }
            Ok(ToolOutcome::new(args.get("set").cloned().map(object).unwrap_or_default(), ""))
        }
        .boxed()
    }))
}

fn beside(other: Value, act: Value) -> Value {
    plan(json!([{"id": "p", "kind": "parallel", "branches": [other, [act]]}]))
}

/// What the rows of a task's second life are about.
fn after_the_crash(world: &World, id: TaskId) -> Vec<String> {
    let rows = world.journal(id);
    let crash = rows.iter().position(|row| matches!(row.entry, JournalEntry::Recovered { .. })).unwrap();
    let about = |entry: &JournalEntry| match entry {
        JournalEntry::Waiting(wait) => format!("{:?}", wait.kind),
        other => other.kind().to_owned(),
    };
    rows[crash + 1..]
        .iter()
        .map(|row| format!("{} {}", row.step.as_ref().map_or("-", |step| step.as_str()), about(&row.entry)))
        .collect()
}

/// Begins the plan, waits until its silent call has begun and its sibling has ended as `ended`, and dies.
fn dies_during(world: &World, act: &ScriptedTool, plan: Value, ended: &str) -> TaskId {
    world.run(async |live| {
        let id = live.begin(plan, json!({})).await;
        live.until(id, |task| {
            let steps = task.completed_step_ids.iter().chain(&task.failed_steps);
            act.count() == 1 && (ended.is_empty() || steps.into_iter().any(|step| step == ended))
        })
        .await;
        id
    })
}

#[test]
fn a_failure_beside_an_open_call_does_not_hide_it() {
    let act = silent();
    let world = World::with([act.clone(), sibling()]);
    let bad = json!([step("bad", "t.sibling", json!({"fail": true}))]);
    let id = dies_during(&world, &act, beside(bad, step("act", "t.act", json!({}))), "p__bad");
    world.run(async |live| {
        let task = live.rest(id).await;
        assert_eq!((task.status, kinds(&task), act.count()), (TaskStatus::NeedsReview, vec![WaitKind::Ambiguous], 1));
        live.answer(id, None, json!({"id": 5}), Some(Resolution::Done)).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, act.count(), &task.state["id"]), (TaskStatus::Failed, 1, &json!(5)));
        assert_eq!(task.completed_step_ids, ["p__act"]);
    });
}

/// What the last row says of steps without an end: those that never ran, and those that may have run.
fn without_end(world: &World, id: TaskId) -> (Vec<String>, Vec<String>) {
    match world.journal(id).pop().map(|row| row.entry) {
        Some(JournalEntry::Ended { skipped, may_have_run, .. }) => (skipped, may_have_run),
        other => panic!("the task has not ended: {other:?}"),
    }
}

#[test]
fn a_step_that_was_given_up_may_have_run_and_is_not_called_one_that_never_ran() {
    let slow = || Arc::new(ScriptedTool::pending("t.slow", EffectClass::Read, |_, _| std::future::pending().boxed()));
    let steps = || plan(json!([step("a", "t.slow", json!({})), step("b", "core.noop", json!({}))]));
    let expected = (vec!["b".to_owned()], vec!["a".to_owned()]);
    // It is cancelled while it runs.
    let tool = slow();
    let world = World::with([tool.clone()]);
    world.run(async |live| {
        let id = dies_at(&live, &tool, steps()).await;
        live.engine.tasks().cancel(&live.world.actor, id).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Cancelled);
        assert_eq!(without_end(live.world, id), expected);
    });
    // The worker dies, and it is cancelled before anybody begins it anew.
    let tool = slow();
    let world = World::with([tool.clone()]);
    let id = world.run(async |live| dies_at(&live, &tool, steps()).await);
    world.run(async |live| {
        live.engine.tasks().cancel(&live.world.actor, id).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Cancelled);
    });
    assert_eq!(without_end(&world, id), expected);
    let told = world.journal(id).into_iter().find_map(|row| match row.entry {
        JournalEntry::Recovered { may_have_begun, .. } => Some(may_have_begun),
        _ => None,
    });
    assert_eq!(told.unwrap().iter().map(|step| step.as_str()).collect::<Vec<_>>(), ["a"]);
    // The worker stops in good order, and it is cancelled before anybody begins it anew.
    let tool = slow();
    let world = World::with([tool.clone()]);
    let id = world.run(async |live| {
        let id = dies_at(&live, &tool, steps()).await;
        live.engine.drain(Millis(50)).await;
        live.engine.tasks().cancel(&live.world.actor, id).await.unwrap();
        id
    });
    world.run(async |live| {
        let task = live.proven(id).await;
        assert_eq!((task.status, task.recoveries, tool.count()), (TaskStatus::Cancelled, 0, 1));
    });
    assert_eq!(without_end(&world, id), expected);
}

/// Begins the plan and waits until its tool has been called.
async fn dies_at(live: &Live<'_>, tool: &ScriptedTool, plan: Value) -> TaskId {
    let id = live.begin(plan, json!({})).await;
    live.until(id, |_| tool.count() == 1).await;
    id
}

#[test]
fn a_condition_that_has_changed_meanwhile_does_not_hide_it() {
    let act = silent();
    let world = World::with([act.clone(), sibling()]);
    let mut call = step("act", "t.act", json!({}));
    call["condition"] = json!("{{ state.x is undefined }}");
    let quick = json!([step("quick", "t.sibling", json!({"set": {"x": 1}}))]);
    let id = dies_during(&world, &act, beside(quick, call), "p__quick");
    world.run(async |live| {
        let task = live.rest(id).await;
        assert_eq!((task.status, kinds(&task)), (TaskStatus::NeedsReview, vec![WaitKind::Ambiguous]));
    });
}

#[test]
fn a_call_that_can_be_made_again_is_hidden_neither_by_a_failure_beside_it_nor_by_a_condition() {
    for effect in [EffectClass::Keyed, EffectClass::Queryable] {
        let act = Arc::new(ScriptedTool::pending("t.act", effect, |context, _| {
            async move {
                if !context.may_have_happened {
                    std::future::pending::<()>().await;
                }
                Ok(ToolOutcome::default())
            }
            .boxed()
        }));
        let ends = [(json!({"fail": true}), TaskStatus::Failed), (json!({"set": {"x": 1}}), TaskStatus::Completed)];
        for (how, status) in ends {
            let world = World::with([act.clone(), sibling()]);
            let calls = act.count();
            let mut call = step("act", "t.act", json!({}));
            call["condition"] = json!("{{ state.x is undefined }}");
            let plan = beside(json!([step("other", "t.sibling", how)]), call);
            let id = world.run(async |live| {
                let id = live.begin(plan, json!({})).await;
                live.until(id, |task| {
                    let ended = task.completed_step_ids.iter().chain(&task.failed_steps).any(|step| step == "p__other");
                    ended && act.count() == calls + 1
                })
                .await;
                id
            });
            world.run(async |live| {
                let task = live.proven(id).await;
                assert_eq!((task.status, act.count()), (status, calls + 2));
                assert!(task.completed_step_ids.iter().any(|step| step == "p__act"), "{:?}", task.completed_step_ids);
            });
        }
    }
}

#[test]
fn it_is_asked_about_before_its_siblings_begin_anything() {
    let act = silent();
    let world = World::with([act.clone(), sibling()]);
    let ask = json!({"id": "ask", "kind": "input", "title": "t", "fields": {}});
    let other = json!([step("quick", "t.sibling", json!({})), ask]);
    // A pause keeps the question from being asked in the first life; it stands before the open call in the plan.
    let id = world.run(async |live| {
        let id = live.begin(beside(other, step("act", "t.act", json!({}))), json!({})).await;
        live.until(id, |_| act.count() == 1).await;
        live.engine.tasks().pause(&world.actor, id).await.unwrap();
        live.until(id, |task| task.completed_step_ids == ["p__quick"]).await;
        id
    });
    let audit = AuditEvent::by_executor("task.resume", format!("task:{id}"), json!({}));
    let resume = world.store.set_paused(world.scope(), id, false, world.clock.now(), audit);
    block_on(world.look(resume)).unwrap();
    world.run(async |live| {
        live.until(id, |task| task.waits.len() == 2).await;
        assert_eq!(after_the_crash(&world, id), ["p__act Ambiguous", "p__ask Input"]);
    });
}

#[test]
fn a_cancel_does_not_hide_it() {
    let act = silent();
    let world = World::with([act.clone()]);
    let id = dies_during(&world, &act, plan(json!([step("act", "t.act", json!({}))])), "");
    let audit = AuditEvent::by_executor("task.cancel", format!("task:{id}"), json!({}));
    let cancel = world.store.request_cancel(world.scope(), id, world.clock.now(), audit);
    block_on(world.look(cancel)).unwrap();
    world.run(async |live| {
        assert_eq!(live.proven(id).await.status, TaskStatus::Cancelled);
        assert_eq!(
            (after_the_crash(live.world, id), act.count()),
            (vec!["act Ambiguous".to_owned(), "- ended".to_owned()], 1)
        );
    });
}

/// What the audit says of the calls of tools: which, at which step and try, of which class, and how they ended.
fn acts(world: &World) -> Vec<Value> {
    let events = block_on(world.look(world.store.audit_events(world.scope(), 0, 1_000))).unwrap();
    let calls = events.into_iter().map(|link| link.event).filter(|event| event.action == "tool.call");
    calls.map(|call| json!(["tool", "stepId", "attempt", "effect", "status"].map(|name| &call.detail[name]))).collect()
}

#[test]
fn a_call_that_was_cut_off_is_an_act_of_which_nobody_knows_how_it_ended() {
    let act = silent();
    let world = World::with([act.clone()]);
    let id = dies_during(&world, &act, plan(json!([step("act", "t.act", json!({}))])), "");
    assert_eq!(acts(&world), [] as [Value; 0], "whoever made it did not live to say so");
    for _ in 0..2 {
        world.run(async |live| {
            let task = live.rest(id).await;
            assert_eq!(
                (kinds(&task), &task.waits[0].details["effect"]),
                (vec![WaitKind::Ambiguous], &json!("unkeyed"))
            );
        });
        assert_eq!(acts(&world), [json!(["t.act", "act", 1, "unkeyed", "unknown"])], "once");
    }
}

#[test]
fn a_call_that_would_have_been_made_again_is_an_act_too_when_the_task_ends_first() {
    let tool = || ScriptedTool::pending("t.act", EffectClass::Keyed, |_, _| std::future::pending().boxed());
    let act = Arc::new(tool());
    let world = World::with([act.clone()]);
    let id = dies_during(&world, &act, plan(json!([step("act", "t.act", json!({}))])), "");
    let audit = AuditEvent::by_executor("task.cancel", format!("task:{id}"), json!({}));
    let cancel = world.store.request_cancel(world.scope(), id, world.clock.now(), audit);
    block_on(world.look(cancel)).unwrap();
    world.run(async |live| assert_eq!(live.proven(id).await.status, TaskStatus::Cancelled));
    assert_eq!((acts(&world), act.count()), (vec![json!(["t.act", "act", 1, "keyed", "unknown"])], 1));
}

/// Offers one tool, as it is at one time.
struct Offering(Arc<OfferedTools>);

#[async_trait]
impl ToolSource for Offering {
    fn name(&self) -> &'static str {
        "test"
    }

    async fn tools(&self, _: TenantScope) -> Result<Arc<OfferedTools>> {
        Ok(self.0.clone())
    }
}

fn offering(tool: &Arc<ScriptedTool>, hash: &str) -> Vec<Arc<dyn ToolSource>> {
    let offered = OfferedTool { tool: tool.clone(), hash: hash.into(), output_schema: None };
    vec![Arc::new(Offering(Arc::new(OfferedTools { tools: vec![offered], bytes: 1 })))]
}

#[test]
fn the_question_about_a_call_whose_tool_was_changed_names_the_class_that_it_had() {
    let act = Arc::new(ScriptedTool::pending("own.act", EffectClass::Keyed, |_, _| std::future::pending().boxed()));
    let mut world = World::new();
    world.tool_sources = offering(&act, "one");
    let id = dies_during(&world, &act, plan(json!([step("act", "own.act", json!({}))])), "");
    world.tool_sources = offering(&act, "two");
    world.run(async |live| {
        let task = live.rest(id).await;
        assert_eq!((kinds(&task), act.count()), (vec![WaitKind::Ambiguous], 1));
        assert!(task.waits[0].reason.contains("the tool has been changed since"), "{}", task.waits[0].reason);
        assert_eq!(task.waits[0].details["effect"], json!("keyed"));
        live.resolve(id, Resolution::Done).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        assert_eq!(live.outcome(id, "act").unwrap().effect, Some(EffectClass::Keyed));
    });
    assert_eq!(acts(&world), [json!(["own.act", "act", 1, "keyed", "unknown"])]);
}
