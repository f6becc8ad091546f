//! Tries, deadlines, and what happens when nobody knows whether an effect happened.

use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::error::ErrorCode;
use kybern_core::task::{EffectClass, JournalEntry, Resolution, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use kybern_testkit::tools::{ScriptedAnswer, ScriptedTool};
use serde_json::{Value, json};

use crate::live::{kinds, object, wait};
use crate::world::{World, plan, step};

fn done(data: Value) -> ScriptedAnswer {
    Ok(ToolOutcome::new(object(data), "done"))
}

fn transient() -> ScriptedAnswer {
    Err(ToolFailure::transient("not now"))
}

fn unknown() -> ScriptedAnswer {
    Err(ToolFailure::transient("the line broke").unknown())
}

fn scripted(effect: EffectClass, answers: impl IntoIterator<Item = ScriptedAnswer>) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::answers("t.act", effect, answers))
}

#[test]
fn a_transient_failure_is_tried_again_after_growing_pauses_and_then_no_more() {
    let tool = scripted(EffectClass::Read, [transient(), transient(), transient(), done(json!({}))]);
    World::with([tool.clone()]).run(async |live| {
        let mut act = step("a", "t.act", json!({}));
        act["retry"] = json!({"maxAttempts": 3, "initialDelayMs": 1000, "backoffMultiplier": 4});
        let id = live.begin(plan(json!([act])), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Failed, 3));
        let pauses: Vec<Millis> = live
            .world
            .journal(id)
            .iter()
            .filter_map(|row| match &row.entry {
                JournalEntry::Retrying { due, .. } => Some(due.since(row.at)),
                _ => None,
            })
            .collect();
        assert!((500..=1000).contains(&pauses[0].0) && (2000..=4000).contains(&pauses[1].0), "{pauses:?}");
        assert_eq!(pauses.len(), 2);
        assert!(task.completed_at.unwrap().since(task.created_at) >= Millis(2500));
    });
}

#[test]
fn while_a_try_is_put_off_the_task_executes_and_nobody_holds_it() {
    let tool = scripted(EffectClass::Keyed, [transient(), done(json!({}))]);
    World::with([tool.clone()]).run(async |live| {
        let id = live.begin(plan(json!([step("a", "t.act", json!({}))])), json!({})).await;
        let task = live.until(id, |_| live.world.mem().holder(id).is_none()).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Executing, 1));
        let due = live.world.mem().claimable_at(id).unwrap();
        assert!(due > live.now());
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        assert!(live.now() >= due);
        let calls = tool.calls();
        assert_eq!((calls[0].key.as_str(), calls[0].attempt), (calls[1].key.as_str(), 1));
        assert_eq!(calls[1].attempt, 2);
    });
}

#[test]
fn a_permanent_failure_is_not_tried_again() {
    let tool = scripted(EffectClass::Read, [Err(ToolFailure::permanent("never"))]);
    World::with([tool.clone()]).run(async |live| {
        let task = live.run(json!([step("a", "t.act", json!({}))]), json!({})).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Failed, 1));
    });
}

fn hanging(effect: EffectClass) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::pending("t.act", effect, |_, _| std::future::pending().boxed()))
}

#[test]
fn a_call_over_its_time_ends_with_timeout_and_a_local_one_is_tried_again() {
    let tool = hanging(EffectClass::Local);
    World::with([tool.clone()]).run(async |live| {
        let mut act = step("a", "t.act", json!({}));
        act["timeoutMs"] = json!(500);
        act["retry"] = json!({"maxAttempts": 2});
        let id = live.begin(plan(json!([act])), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!((task.error.unwrap().code, tool.count()), (ErrorCode::Timeout, 2));
    });
}

#[test]
fn an_unkeyed_call_over_its_time_asks_a_person_and_is_not_tried_again() {
    let tool = hanging(EffectClass::Unkeyed);
    World::with([tool.clone()]).run(async |live| {
        let task = live.run(json!([step("a", "t.act", json!({}))]), json!({})).await;
        assert_eq!((task.status, kinds(&task), tool.count()), (TaskStatus::NeedsReview, vec![WaitKind::Ambiguous], 1));
        assert!(wait(&task).reason.contains("t.act"));
        let refused = live.review(task.id, None, json!({})).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Validation);
    });
}

#[test]
fn an_ambiguous_effect_is_answered_done_retry_or_fail() {
    for (resolution, calls, status) in [
        (Resolution::Done, 1, TaskStatus::Completed),
        (Resolution::Retry, 2, TaskStatus::Completed),
        (Resolution::Fail, 1, TaskStatus::Failed),
    ] {
        let tool = scripted(EffectClass::Unkeyed, [unknown(), done(json!({"id": 7}))]);
        World::with([tool.clone()]).run(async |live| {
            let id = live.begin(plan(json!([step("a", "t.act", json!({}))])), json!({})).await;
            live.rest(id).await;
            live.answer(id, None, json!({"id": 5}), Some(resolution)).await.unwrap();
            let task = live.proven(id).await;
            assert_eq!((task.status, tool.count()), (status, calls), "{resolution:?}");
            let outcome = live.outcome(id, "a").unwrap();
            assert_eq!(outcome.possible_duplicate, resolution == Resolution::Retry);
            match resolution {
                Resolution::Done => assert_eq!(task.state["id"], json!(5)),
                Resolution::Retry => {
                    assert_eq!(task.state["id"], json!(7));
                    let keys: Vec<String> = tool.calls().into_iter().map(|call| call.key).collect();
                    assert!(keys[0].ends_with(":a:0") && keys[1].ends_with(":a:1"), "{keys:?}");
                }
                Resolution::Fail => assert_eq!(task.failed_steps, ["a"]),
            }
        });
    }
}

#[test]
fn a_call_that_was_made_twice_is_marked_also_where_a_person_says_how_the_second_ended() {
    for (resolution, status) in [(Resolution::Done, TaskStatus::Completed), (Resolution::Fail, TaskStatus::Failed)] {
        let tool = scripted(EffectClass::Unkeyed, [unknown(), unknown()]);
        World::with([tool.clone()]).run(async |live| {
            let id = live.begin(plan(json!([step("a", "t.act", json!({}))])), json!({})).await;
            let first = live.rest(id).await;
            live.answer(id, None, json!({}), Some(Resolution::Retry)).await.unwrap();
            live.after_answer(id, &first).await;
            live.answer(id, None, json!({}), Some(resolution)).await.unwrap();
            assert_eq!((live.proven(id).await.status, tool.count()), (status, 2));
            assert!(live.outcome(id, "a").unwrap().possible_duplicate, "{resolution:?}");
            let log = live.log(id).await;
            assert!(log.iter().any(|entry| entry.metadata.get("possibleDuplicate") == Some(&json!(true))));
        });
    }
}

#[test]
fn an_unkeyed_call_that_was_given_up_unknown_is_marked_when_its_task_is_tried_again() {
    let answers = [unknown(), Err(ToolFailure::permanent("no")), done(json!({}))];
    let tool = scripted(EffectClass::Unkeyed, answers);
    World::with([tool.clone()]).run(async |live| {
        let id = live.begin(plan(json!([step("a", "t.act", json!({}))])), json!({})).await;
        live.rest(id).await;
        live.answer(id, None, json!({}), Some(Resolution::Fail)).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
        for (calls, status) in [(2, TaskStatus::Failed), (3, TaskStatus::Completed)] {
            live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
            live.until(id, |task| task.status == status && tool.count() == calls).await;
            assert_eq!(live.proven(id).await.status, status);
            assert!(live.outcome(id, "a").unwrap().possible_duplicate, "call {calls}");
            let log = live.log(id).await;
            let marked = log.iter().filter(|entry| entry.metadata.get("possibleDuplicate") == Some(&json!(true)));
            assert_eq!(marked.count(), calls - 1);
        }
    });
}

#[test]
fn a_keyed_call_of_unknown_end_is_tried_again_with_the_same_key() {
    let tool = scripted(EffectClass::Keyed, [unknown(), unknown(), done(json!({}))]);
    World::with([tool.clone()]).run(async |live| {
        let id =
            live.begin(plan(json!([step("a", "t.act", json!({"x": "{{ task.payload.x }}"}))])), json!({"x": 1})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Completed, 3));
        let calls = tool.calls();
        assert!(calls.iter().all(|call| call.key == calls[0].key && call.args == calls[0].args));
        let attempts: Vec<u32> = live.attempts(id).await.iter().map(|attempt| attempt.attempt).collect();
        assert_eq!(attempts, [1, 2, 3]);
    });
}

#[test]
fn a_queryable_call_is_told_that_it_may_have_happened() {
    let tool = scripted(EffectClass::Queryable, [unknown(), done(json!({}))]);
    World::with([tool.clone()]).run(async |live| {
        let id = live.begin(plan(json!([step("a", "t.act", json!({}))])), json!({})).await;
        live.proven(id).await;
        let told: Vec<bool> = tool.calls().iter().map(|call| call.may_have_happened).collect();
        assert_eq!(told, [false, true]);
    });
}

#[test]
fn a_read_or_a_local_call_leaves_no_attempt_and_any_other_does_before_it_begins() {
    for effect in
        [EffectClass::Read, EffectClass::Local, EffectClass::Keyed, EffectClass::Queryable, EffectClass::Unkeyed]
    {
        let tool = hanging(effect);
        World::with([tool.clone()]).run(async |live| {
            let mut act = step("a", "t.act", json!({}));
            act["timeoutMs"] = json!(60_000);
            let id = live.begin(plan(json!([act])), json!({})).await;
            live.until(id, |_| tool.count() == 1).await;
            assert_eq!(live.attempts(id).await.len(), usize::from(effect.needs_attempt_row()), "{effect:?}");
        });
    }
}

#[test]
fn a_failed_task_tried_again_keeps_what_succeeded_and_takes_the_next_generation() {
    let fragile = scripted(EffectClass::Keyed, [Err(ToolFailure::permanent("no")), done(json!({"x": 1}))]);
    let before = Arc::new(ScriptedTool::noop("t.before", EffectClass::Keyed));
    World::with([fragile.clone(), before.clone()]).run(async |live| {
        let steps = json!([
            step("first", "t.before", json!({})),
            step("a", "t.act", json!({})),
            step("after", "t.echo", json!({"y": "{{ state.x }}"})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        let task = live.until(id, |task| task.status == TaskStatus::Completed).await;
        live.proven(id).await;
        assert_eq!(task.result, Some(json!({"y": 1})));
        assert_eq!((before.count(), fragile.count()), (1, 2));
        let keys: Vec<String> = fragile.calls().into_iter().map(|call| call.key).collect();
        assert!(keys[0].ends_with(":a:0") && keys[1].ends_with(":a:1"));
        let again = live.engine.tasks().retry(&live.world.actor, id).await.unwrap_err();
        assert_eq!(again.code(), ErrorCode::Conflict);
    });
}

#[test]
fn a_task_tried_again_goes_on_with_branches_that_its_failure_interrupted() {
    let fragile = scripted(EffectClass::Read, [Err(ToolFailure::permanent("no")), done(json!({}))]);
    World::with([fragile, crate::parallel::slow()]).run(async |live| {
        let rounds = json!({"id": "each", "kind": "loop", "over": [1, 2, 3],
                            "steps": [step("s", "t.slow", json!({"ms": 10}))]});
        let steps = json!([{"id": "p", "kind": "parallel", "branches": [[rounds], [step("a", "t.act", json!({}))]]}]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids), (TaskStatus::Failed, vec!["p__each__0__s".to_owned()]));
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        let task = live.until(id, |task| task.completed_at.is_some() && task.status == TaskStatus::Completed).await;
        live.proven(id).await;
        let rounds = task.completed_step_ids.iter().filter(|id| id.starts_with("p__each__")).count();
        assert_eq!(rounds, 3, "{:?}", task.completed_step_ids);
    });
}

#[test]
fn a_record_that_keeps_changing_fails_its_step_instead_of_spinning() {
    let tool = ScriptedTool::new("t.stubborn", EffectClass::Local, |context, _| {
        let mut outcome = ToolOutcome::default();
        let id = kybern_core::id::RecordId::from_uuid(context.ids.next());
        let (kind, key) = ("thing".to_owned(), "k".to_owned());
        outcome.records.push(kybern_core::tool::RecordChange {
            put: kybern_core::record::PutRecord {
                id,
                kind: kind.clone(),
                key: key.clone(),
                props: serde_json::Map::new(),
                merge: kybern_core::record::Merge::Overwrite,
                expect: kybern_core::record::Expect::Version(99),
                lookups: Vec::new(),
            },
            link: kybern_core::record::ArtifactLink {
                kind,
                record_id: id,
                key,
                role: kybern_core::record::ArtifactRole::Updated,
                metadata: serde_json::Map::new(),
            },
        });
        Ok(outcome)
    });
    let tool = Arc::new(tool);
    World::with([tool.clone()]).run(async |live| {
        let steps = json!([step("a", "t.stubborn", json!({})), step("b", "core.noop", json!({}))]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.error.unwrap().code, ErrorCode::Conflict);
        assert!(tool.count() > 1);
    });
}
