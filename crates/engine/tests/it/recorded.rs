//! Journals that were written once and are kept as files: whatever changes, they are read and walked to the same end.
//!
//! `KYBERN_RECORD_JOURNALS=1` writes those that are missing. A file is never written anew: what it holds stands in
//! somebody's database.

use std::path::PathBuf;
use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::plan::FrozenPlan;
use kybern_core::ports::TaskStore as _;
use kybern_core::task::{
    Channel, Commit, EffectClass, JournalRow, NewKind, NewTask, StepError, Submitted, TaskChange, TaskEnding,
    TaskStatus, WorkerId,
};
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{Review, ToolFailure, ToolOutcome};
use kybern_testkit::tools::ScriptedTool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::live::Live;
use crate::turns::{ask, calls, helper, provider, reading, says, scripted};
use crate::world::{World, plan, step};

/// A task that has ended, as its database has it.
#[derive(Serialize, Deserialize)]
struct Recorded {
    id: TaskId,
    at: Timestamp,
    channel: Channel,
    input: String,
    payload: Value,
    plan: String,
    rows: Vec<JournalRow>,
    status: TaskStatus,
    result: Value,
    error: Option<StepError>,
    step: Option<String>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/recorded")
}

/// Keeps the journal of a task that has ended, unless there is one of that name.
async fn record(live: &Live<'_>, name: &str, id: TaskId) {
    let path = folder().join(format!("{name}.json"));
    if std::env::var_os("KYBERN_RECORD_JOURNALS").is_none() || path.exists() {
        return;
    }
    let (store, scope) = (&live.world.store, live.world.scope());
    let task = store.task(scope, id).await.unwrap().unwrap();
    let frozen = store.frozen_plan(scope, task.plan_hash.as_ref().unwrap()).await.unwrap().unwrap();
    let recorded = Recorded {
        id,
        at: task.created_at,
        channel: task.channel,
        input: task.input,
        payload: task.payload,
        plan: frozen.body().to_owned(),
        rows: live.world.journal(id),
        status: task.status,
        result: task.result.unwrap_or_default(),
        error: task.error,
        step: task.current_step,
    };
    std::fs::write(path, serde_json::to_string_pretty(&recorded).unwrap() + "\n").unwrap();
}

#[test]
fn journals_that_were_recorded_are_walked_to_the_same_end() {
    let mut walked = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let recorded: Recorded = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        World::new().run(async |live| {
            let (store, id, worker) = (&live.world.store, recorded.id, WorkerId::new("recorder"));
            let task = NewTask {
                id,
                kind: NewKind::Plan,
                channel: recorded.channel,
                source: "api/test".to_owned(),
                dedupe_key: None,
                body_hash: None,
                input: recorded.input.clone(),
                payload: recorded.payload.clone(),
                created_by: "test".to_owned(),
                user: None,
                rights: kybern_core::actor::Rights::OPERATOR,
                plan: Some(FrozenPlan::thaw(&recorded.plan).unwrap().into()),
                intent: None,
                attachments: Vec::new(),
                max_steps: 50,
                confidence_threshold: 0.8,
                budget: None,
                trace_id: "0".repeat(32),
                parent: None,
                depth: 0,
                forked_from: None,
                at: recorded.at,
            };
            let claim = Some((&worker, Millis(1_000)));
            let Submitted::New(claimed) = store.submit(live.world.scope(), task, claim).await.unwrap() else {
                panic!("it is a new task")
            };
            let ending = TaskEnding {
                status: recorded.status,
                result: recorded.result.clone(),
                error: recorded.error.clone(),
                current_step: recorded.step.clone(),
            };
            let (rows, change) = (recorded.rows.clone(), TaskChange::End(Box::new(ending)));
            store
                .commit(&claimed.lease, Commit { rows, change, at: live.now(), ..Commit::default() }.into())
                .await
                .unwrap();
            let report = live.replay(id).await;
            assert!(report.matches && report.rows > 3, "{}: {:#?}", path.display(), report.differences);
        });
        walked += 1;
    }
    assert!(walked >= 4, "{walked} recorded journals");
}

#[test]
fn steps_that_hold_steps_are_recorded() {
    World::new().run(async |live| {
        let steps = json!([
            step("a", "core.set", json!({"n": "{{ task.payload.n }}"})),
            {"id": "c", "kind": "condition", "if": "{{ state.n > 1 }}",
                "then": [step("yes", "t.echo", json!({"m": "{{ state.n + 1 }}"}))]},
            {"id": "p", "kind": "parallel", "branches": [
                [step("left", "t.echo", json!({"l": 1}))], [step("right", "core.noop", json!({}))]]},
            {"id": "l", "kind": "loop", "over": "{{ [state.n, state.m] }}",
                "steps": [step("x", "t.echo", json!({"i": "{{ item }}"}))]},
            {"id": "s", "tool": "core.noop", "condition": "{{ state.n > 5 }}"},
            step("w", "core.wait", json!({"ms": 5})),
            step("z", "t.echo", json!({"end": "{{ state.i }}"})),
        ]);
        let id = live.begin(plan(steps), json!({"n": 2})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        record(&live, "containers", id).await;
    });
}

#[test]
fn tries_and_a_failure_that_stops_the_task_are_recorded() {
    let fails = ScriptedTool::new("t.fails", EffectClass::Keyed, |_, _| Err(ToolFailure::transient("it is busy")));
    World::with([Arc::new(fails)]).run(async |live| {
        let mut tolerated = step("soft", "t.fails", json!({"n": "{{ task.payload.n }}"}));
        tolerated["stopOnFailure"] = json!(false);
        let mut hard = step("hard", "t.fails", json!({}));
        for step in [&mut tolerated, &mut hard] {
            step["retry"] = json!({"maxAttempts": 2, "initialDelayMs": 5, "maxDelayMs": 5});
        }
        let mut always = step("always", "core.noop", json!({}));
        always["when"] = json!("always");
        let id = live
            .begin(plan(json!([tolerated, hard, step("never", "core.noop", json!({})), always])), json!({"n": 1}))
            .await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
        record(&live, "tries", id).await;
    });
}

#[test]
fn a_persons_answer_is_recorded() {
    let careful = ScriptedTool::new("t.careful", EffectClass::Local, |context, _| {
        if context.state.contains_key("name") {
            return Ok(ToolOutcome::new(Map::new(), "done"));
        }
        Ok(ToolOutcome::ask(Review {
            reason: "no name".to_owned(),
            title: None,
            schema: json!({"type": "object", "properties": {"name": {"type": "string"}}}),
            details: Value::Null,
            answer_is_result: false,
        }))
    });
    let careful = careful.with_spec(|spec| spec.needs.task = true);
    World::with([Arc::new(careful)]).run(async |live| {
        let steps =
            json!([step("named", "t.careful", json!({})), step("use", "t.echo", json!({"name": "{{ state.name }}"}))]);
        let id = live.begin(plan(steps), json!({})).await;
        live.rest(id).await;
        live.review(id, None, json!({"name": "Acme Towing"})).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        record(&live, "answered", id).await;
    });
}

#[test]
fn an_agent_with_its_calls_is_recorded() {
    let model = scripted(vec![calls(&[("t__read", json!({}))]), says("Seven boxes.")]);
    let world = World::with([reading()]).asking(provider(&model));
    world.employing([helper(&["t.read"])]).run(async |live| {
        let id = live.begin(plan(ask()), json!({"what": "x"})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        record(&live, "agent", id).await;
    });
}
