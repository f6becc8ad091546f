//! Every try of a call is the same call, whatever happens beside it between two tries.

use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::id::{RecordId, TaskId};
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Merge, PutRecord};
use kybern_core::task::{EffectClass, JournalEntry, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_core::tool::{RecordChange, ToolFailure, ToolOutcome};
use kybern_testkit::tools::{Call, ScriptedTool};
use serde_json::{Map, Value, json};

use crate::live::kinds;
use crate::outside::pause;
use crate::world::{World, plan, step};

const CLASSES: [EffectClass; 3] = [EffectClass::Read, EffectClass::Keyed, EffectClass::Queryable];

/// A call whose arguments read what the branch beside it writes a little later.
fn drifting(act: Value) -> Value {
    let mut act = act;
    act["args"] = json!({"x": "{{ state.x | default(0) }}", "to": "a"});
    act["retry"] = json!({"maxAttempts": 5, "initialDelayMs": 3_000, "maxDelayMs": 3_000, "backoffMultiplier": 1});
    let wait = step("wait", "core.wait", json!({"ms": 300}));
    json!([{"id": "both", "kind": "parallel", "branches": [[act], [wait, step("set", "core.set", json!({"x": 1}))]]}])
}

fn acting() -> Value {
    json!({"id": "act", "tool": "t.act"})
}

fn sent(calls: &[Call]) -> Vec<(&str, &Map<String, Value>)> {
    calls.iter().map(|call| (call.key.as_str(), &call.args)).collect()
}

/// Calls that are one call: the same key, and the arguments from before the state changed.
fn are_one(calls: &[Call], count: usize) {
    let args = json!({"x": 0, "to": "a"});
    let one = (calls[0].key.as_str(), args.as_object().unwrap());
    assert_eq!(sent(calls), vec![one; count]);
}

#[test]
fn a_call_that_is_tried_again_sends_what_it_sent_first() {
    for effect in CLASSES {
        let tool = Arc::new(ScriptedTool::new("t.act", effect, |context, _| match context.attempt {
            1 | 2 => Err(ToolFailure::transient("not now")),
            _ => Ok(ToolOutcome::default()),
        }));
        World::with([tool.clone()]).run(async |live| {
            let id = live.begin(plan(drifting(acting())), json!({})).await;
            let task = live.proven(id).await;
            assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error_message);
            are_one(&tool.calls(), 3);
            // They are kept once for all tries.
            let kept = live.world.journal(id).into_iter().filter_map(|row| match row.entry {
                JournalEntry::Retrying { rendered, .. } => Some(rendered.map(|kept| Value::Object(kept.args.clone()))),
                _ => None,
            });
            assert_eq!(kept.collect::<Vec<_>>(), [Some(json!({"x": 0})), None]);
        });
    }
}

#[test]
fn a_call_that_is_made_again_after_a_crash_sends_what_it_sent_first() {
    for effect in [EffectClass::Keyed, EffectClass::Queryable] {
        // The first try is interrupted, the second fails, the third succeeds.
        let tool = Arc::new(ScriptedTool::pending("t.act", effect, |context, _| {
            async move {
                match (context.may_have_happened, context.attempt) {
                    (false, _) => std::future::pending().await,
                    (true, 1) => Err(ToolFailure::transient("not now")),
                    (true, _) => Ok(ToolOutcome::default()),
                }
            }
            .boxed()
        }));
        let world = World::with([tool.clone()]);
        let id = world.run(async |live| {
            let id = live.begin(plan(drifting(acting())), json!({})).await;
            live.until(id, |task| task.state.contains_key("x")).await;
            id
        });
        world.run(async |live| {
            let task = live.proven(id).await;
            assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error_message);
            are_one(&tool.calls(), 3);
        });
    }
}

#[test]
fn arguments_that_came_from_strangers_stay_a_strangers_at_every_try() {
    let web = ScriptedTool::new("t.web", EffectClass::Read, |_, _| {
        Ok(ToolOutcome::new(Map::from_iter([("x".to_owned(), json!("from the web"))]), ""))
    });
    let web = Arc::new(web.with_spec(|spec| spec.untrusted_output = true));
    let tool = Arc::new(ScriptedTool::new("t.act", EffectClass::Keyed, |context, args| match context.attempt {
        1 => Err(ToolFailure::transient("not now")),
        _ => Ok(ToolOutcome::new(Map::from_iter([("got".to_owned(), args["x"].clone())]), "")),
    }));
    World::with([web, tool.clone()]).run(async |live| {
        let mut steps = drifting(acting());
        steps.as_array_mut().unwrap().insert(0, step("web", "t.web", json!({})));
        let id = live.begin(plan(steps), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        let outcome = live.outcome(id, "both__act").unwrap();
        assert_eq!((&outcome.data["got"], outcome.tainted), (&json!("from the web"), true));
    });
}

pub fn put(record: RecordId, expect: Expect) -> RecordChange {
    let (kind, key) = ("thing".to_owned(), "k".to_owned());
    let link = ArtifactLink {
        kind: kind.clone(),
        record_id: record,
        key: key.clone(),
        role: ArtifactRole::Updated,
        metadata: Map::new(),
    };
    let (props, merge, lookups) = (Map::new(), Merge::Overwrite, Vec::new());
    RecordChange { put: PutRecord { id: record, kind, key, props, merge, expect, lookups }, link }
}

/// A tool that believes at its first call of a record what is not so.
fn mistaken(effect: EffectClass) -> Arc<ScriptedTool> {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    Arc::new(ScriptedTool::pending("t.act", effect, move |context, _| {
        let first = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        async move {
            pause(Millis(600)).await;
            let expect = if first { Expect::Version(99) } else { Expect::Absent };
            let id = RecordId::from_uuid(context.ids.next());
            Ok(ToolOutcome { records: vec![put(id, expect)], ..ToolOutcome::default() })
        }
        .boxed()
    }))
}

#[test]
fn a_call_under_which_a_record_changed_is_made_again_as_one_that_may_have_happened() {
    for effect in [EffectClass::Keyed, EffectClass::Queryable] {
        let tool = mistaken(effect);
        World::with([tool.clone()]).run(async |live| {
            let id = live.begin(plan(drifting(acting())), json!({})).await;
            let task = live.proven(id).await;
            assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error_message);
            are_one(&tool.calls(), 2);
            assert_eq!(tool.calls().iter().map(|call| call.may_have_happened).collect::<Vec<_>>(), [false, true]);
        });
    }
}

#[test]
fn an_unkeyed_call_under_which_a_record_changed_asks_a_person() {
    let tool = mistaken(EffectClass::Unkeyed);
    World::with([tool.clone()]).run(async |live| {
        let task = live.run(json!([step("act", "t.act", json!({}))]), json!({})).await;
        assert_eq!((kinds(&task), tool.count()), (vec![WaitKind::Ambiguous], 1));
        assert!(task.waits[0].reason.contains("record"), "{}", task.waits[0].reason);
    });
}

fn ended_at(world: &World, id: TaskId, step: &str) -> Millis {
    let rows = world.journal(id);
    let end = rows.iter().find(|row| {
        matches!(row.entry, JournalEntry::Finished(_)) && row.step.as_ref().is_some_and(|known| known.as_str() == step)
    });
    end.unwrap().at.since(rows[0].at)
}

#[test]
fn waits_back_offs_and_deadlines_are_over_in_time_while_a_call_runs_beside_them() {
    let long = ScriptedTool::pending("t.long", EffectClass::Keyed, |_, _| {
        async {
            pause(Millis(60_000)).await;
            Ok(ToolOutcome::default())
        }
        .boxed()
    });
    let shaky = ScriptedTool::new("t.shaky", EffectClass::Read, |context, _| match context.attempt {
        1 => Err(ToolFailure::transient("not now")),
        _ => Ok(ToolOutcome::default()),
    });
    World::with([Arc::new(long), Arc::new(shaky)]).run(async |live| {
        let mut shaky = step("shaky", "t.shaky", json!({}));
        shaky["retry"] = json!({"maxAttempts": 2, "initialDelayMs": 1_000, "maxDelayMs": 1_000});
        let tolerated = |mut step: Value| {
            (step["timeoutMs"], step["stopOnFailure"]) = (json!(2_000), json!(false));
            step
        };
        let hand = tolerated(json!({"id": "hand", "kind": "workflow", "workflow": "flow"}));
        let form =
            tolerated(json!({"id": "form", "kind": "input", "title": "what?", "fields": {"a": {"type": "string"}}}));
        let mut long = step("long", "t.long", json!({}));
        long["timeoutMs"] = json!(120_000);
        let branches = json!([
            [long],
            [step("wait", "core.wait", json!({"ms": 500})), step("after", "core.noop", json!({}))],
            [shaky],
            [hand],
            [form],
        ]);
        let id = live.begin(plan(json!([{"id": "p", "kind": "parallel", "branches": branches}])), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        for (step, due) in
            [("p__wait", 500), ("p__after", 500), ("p__shaky", 1_000), ("p__hand", 2_000), ("p__form", 2_000)]
        {
            let at = ended_at(live.world, id, step).0;
            assert!(at <= due + 100, "{step} ended after {at} ms");
        }
        assert!(ended_at(live.world, id, "p__long") >= Millis(60_000));
    });
}

#[test]
fn a_wait_follows_a_clock_that_is_set_forward_while_a_call_runs_beside_it() {
    let long = Arc::new(ScriptedTool::pending("t.long", EffectClass::Keyed, |_, _| std::future::pending().boxed()));
    World::with([long.clone()]).run(async |live| {
        let wait = step("wait", "core.wait", json!({"ms": 20_000}));
        let branches = json!([[step("long", "t.long", json!({}))], [wait, step("after", "core.set", json!({"x": 1}))]]);
        let id = live.begin(plan(json!([{"id": "p", "kind": "parallel", "branches": branches}])), json!({})).await;
        live.until(id, |_| long.count() == 1 && live.world.journal(id).len() > 1).await;
        live.world.clock.shift(Millis(19_900));
        let began = tokio::time::Instant::now();
        live.until(id, |task| task.state.contains_key("x")).await;
        assert!(began.elapsed() < std::time::Duration::from_secs(2));
    });
}
