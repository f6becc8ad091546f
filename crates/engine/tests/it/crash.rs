//! The process dies at every call of the store, before it took effect and after; another process goes on. The end must
//! be the same, nothing is written twice, and nothing that was committed is done again.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::outbox::{OutboxMessage, OutboxStatus};
use kybern_core::ports::{OutboxStore as _, RecordStore as _, TaskStore as _};
use kybern_core::task::{EffectClass, JournalEntry, StepStatus, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use kybern_engine::task::{SubmitRequest, TaskView};
use kybern_testkit::Fault;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Map, Value, json};

use crate::live::Live;
use crate::outside::header;
use crate::world::{World, step};

/// What a person answers, by step.
type Answers = BTreeMap<&'static str, Value>;

/// A story: a plan, and what persons and outside engines say along the way.
struct Story {
    plans: Vec<Value>,
    payload: Value,
    answers: Answers,
    /// Whether a retry follows the first failure.
    retries: bool,
}

impl Story {
    fn of(steps: Value) -> Self {
        let plans = vec![json!({"key": "test.story", "steps": steps})];
        Self { plans, payload: json!({"names": ["a", "b"], "n": 2}), answers: Answers::new(), retries: false }
    }
}

/// What is left at the end, apart from ids and times.
#[derive(PartialEq, Debug)]
struct End {
    status: TaskStatus,
    result: Value,
    state: Value,
    completed: Vec<String>,
    failed: Vec<String>,
    records: Vec<(String, Value, i64)>,
    links: usize,
    sent: Vec<(String, String)>,
    keys: Vec<String>,
    children: usize,
}

struct Scene {
    world: World,
    keyed: Arc<ScriptedTool>,
    looked: Arc<ScriptedTool>,
    fragile: Arc<ScriptedTool>,
}

fn scene() -> Scene {
    let keyed = Arc::new(ScriptedTool::noop("t.keyed", EffectClass::Keyed));
    let looked = Arc::new(ScriptedTool::new("t.looked", EffectClass::Queryable, |context, _| {
        let mut data = Map::new();
        data.insert("looked".to_owned(), json!(true));
        // It fails once, so that a crash also meets a back-off.
        if context.attempt == 1 { Err(ToolFailure::transient("later")) } else { Ok(ToolOutcome::new(data, "")) }
    }));
    let fragile = Arc::new(ScriptedTool::new("t.fragile", EffectClass::Keyed, |context, _| {
        if context.key.ends_with(":0") { Err(ToolFailure::permanent("no")) } else { Ok(ToolOutcome::default()) }
    }));
    let mut world = World::with([keyed.clone(), looked.clone(), fragile.clone()]).set(|settings| {
        settings.max_recoveries = 50;
        settings.poll = Millis(200);
    });
    world.tick = Millis(100);
    Scene { world, keyed, looked, fragile }
}

/// Tells the story as far as it goes: what was done in an earlier life is done already.
async fn tell(live: &Live<'_>, story: &Story) -> TaskView {
    let request = SubmitRequest {
        plan_key: Some("test.story".to_owned()),
        payload: story.payload.clone(),
        idempotency_key: Some("once".to_owned()),
        ..SubmitRequest::text("go")
    };
    let id = live.try_submit(request).await.unwrap().id;
    let mut retried = story.retries && live.engine.tasks().get(&live.world.actor, id).await.is_err();
    loop {
        let task = live.rest(id).await;
        if task.status.is_terminal() {
            let first =
                live.world.journal(id).iter().filter(|row| matches!(row.entry, JournalEntry::Ended { .. })).count()
                    == 1;
            if story.retries && !retried && first && task.status == TaskStatus::Failed {
                retried = true;
                live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
                live.until(id, |task| task.status == TaskStatus::Completed).await;
                continue;
            }
            // Messages are sent after the end.
            live.find(async || {
                let kept = live.outbox().await;
                let open = |m: &OutboxMessage| matches!(m.status, OutboxStatus::Pending | OutboxStatus::Sending);
                (!kept.iter().any(open)).then_some(())
            })
            .await;
            return task;
        }
        for wait in &task.waits {
            let answer = story.answers[wait.step_id.as_str()].clone();
            // An answer that arrived before the process died needs no second one.
            let _ = live.review(id, Some(wait.step_id.as_str()), answer).await;
        }
        live.after_answer(id, &task).await;
    }
}

async fn end_of(live: &Live<'_>, task: &TaskView) -> End {
    let (store, scope) = (&live.world.store, live.world.scope());
    let records = store.records(scope, "thing", None, 200).await.unwrap().items;
    let sent = store.outbox(scope, None, None, 200).await.unwrap().items;
    let short = |key: &str| key.rsplit(':').take(2).collect::<Vec<_>>().join(":");
    let mut keys: Vec<String> = live
        .world
        .wire
        .requests()
        .iter()
        .filter_map(|request| header(request, "Idempotency-Key"))
        .map(|key| short(&key))
        .collect();
    keys.sort();
    keys.dedup();
    End {
        status: task.status,
        result: without_ids(task.result.clone().unwrap()),
        state: without_ids(json!(task.state)),
        completed: task.completed_step_ids.clone(),
        failed: task.failed_steps.clone(),
        records: records.iter().map(|r| (r.key.clone(), json!(r.props), r.version)).collect(),
        links: store.artifacts(scope, task.id).await.unwrap().len(),
        sent: sent.iter().map(|m| (m.message.target.clone(), short(&m.message.key))).collect(),
        keys,
        children: store.children(scope, task.id).await.unwrap().len(),
    }
}

fn without_ids(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            members.retain(|name, _| !name.ends_with("_id") && !name.ends_with("Id"));
            members.values_mut().for_each(|member| *member = without_ids(member.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_ids(item.take())),
        _ => {}
    }
    value
}

/// The steps that are committed, and how often each was called by now.
fn calls(scene: &Scene) -> BTreeMap<(String, String), usize> {
    let mut calls = BTreeMap::new();
    for tool in [&scene.keyed, &scene.looked, &scene.fragile] {
        for call in tool.calls() {
            *calls.entry((call.key, call.step.unwrap().to_string())).or_insert(0) += 1;
        }
    }
    calls
}

fn finished(world: &World) -> Vec<(TaskId, String, u32)> {
    let rows = |id| world.journal(id).into_iter().map(move |row| (id, row));
    let tasks = futures::executor::block_on(
        world.store.tasks(world.scope(), &kybern_core::ports::TaskFilter { limit: 200, ..Default::default() }),
    );
    tasks
        .unwrap()
        .items
        .into_iter()
        .flat_map(|task| rows(task.id))
        // What holds steps ends once more when a retry has reopened it.
        .filter(|(_, row)| row.tool.is_some())
        .filter(|(_, row)| matches!(&row.entry, JournalEntry::Finished(o) if o.status != StepStatus::Skipped))
        .filter_map(|(id, row)| Some((id, row.step?.to_string(), row.generation)))
        .collect()
}

fn prepare(story: &Story) -> Scene {
    let scene = scene();
    scene.world.run(async |live| {
        for plan in &story.plans {
            live.put(plan.clone()).await;
        }
    });
    scene
}

/// Runs the story once in peace, and then once for every moment at which the process can die.
fn survives_every_crash(story: &Story) {
    let peaceful = prepare(story);
    let before = peaceful.world.calls();
    let expected = peaceful.world.run(async |live| {
        let task = tell(&live, story).await;
        assert!(live.replay(task.id).await.matches);
        live.world.look(end_of(&live, &task)).await
    });
    let most = peaceful.world.calls() - before;
    let mut struck = 0;
    for n in 1..=most {
        for how in [Fault::CrashBefore, Fault::CrashAfter] {
            let scene = prepare(story);
            scene.world.doom(n, how);
            if scene.world.life(async |live| tell(&live, story).await).is_some() {
                continue;
            }
            struck += 1;
            let (done, called) = (finished(&scene.world), calls(&scene));
            let end = scene.world.run(async |live| {
                let task = tell(&live, story).await;
                let report = live.replay(task.id).await;
                assert!(report.matches, "call {n}, {how:?}: {:#?}", report.differences);
                live.world.look(end_of(&live, &task)).await
            });
            assert_eq!(end, expected, "call {n}, {how:?}");
            let later = calls(&scene);
            for (task, step, generation) in done {
                let same = |(key, id): &(String, String)| {
                    *id == step && key.contains(&task.to_string()) && key.ends_with(&format!(":{generation}"))
                };
                let count = |calls: &BTreeMap<(String, String), usize>| {
                    calls.iter().filter(|(name, _)| same(name)).map(|(_, n)| *n).sum::<usize>()
                };
                assert_eq!(count(&called), count(&later), "call {n}, {how:?}: {step} was done again");
            }
            let all = finished(&scene.world);
            let mut once = all.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), all.len(), "call {n}, {how:?}: a step ended twice");
        }
    }
    assert!(struck > 20, "the process died {struck} times only");
}

fn put(id: &str, key: &str) -> Value {
    let args = json!({"kind": "thing", "key": key, "props": {"list": [id]}, "merge": "union"});
    step(id, "core.put_record", args)
}

fn post(id: &str) -> Value {
    step(id, "core.http_request", json!({"method": "POST", "url": "http://out.test/x", "json": {"from": id}}))
}

#[test]
fn a_sequence_of_effects_survives_every_crash() {
    survives_every_crash(&Story::of(json!([
        put("first", "k"),
        post("send"),
        step("keyed", "t.keyed", json!({"x": "{{ task.payload.n }}"})),
        put("second", "k"),
        step("tell", "core.notify", json!({"to": "a@example.com", "subject": "s", "body": "b"})),
        {"id": "skipped", "tool": "core.noop", "condition": false},
        {"id": "soft", "tool": "core.fail", "args": {"message": "no"}, "stopOnFailure": false},
        step("looked", "t.looked", json!({})),
    ])));
}

#[test]
fn branches_and_loops_survive_every_crash() {
    survives_every_crash(&Story::of(json!([
        {"id": "p", "kind": "parallel", "branches": [
            [step("a", "t.keyed", json!({"n": 1})), put("pa", "a")],
            [{"id": "each", "kind": "loop", "over": "{{ task.payload.names }}", "steps": [
                step("k", "t.keyed", json!({"n": "{{ item }}"})),
            ]}],
        ]},
        step("zero", "core.set", json!({"n": 0})),
        {"id": "up", "kind": "loop", "while": "state.n < 2",
         "steps": [step("add", "core.set", json!({"n": "{{ state.n + 1 }}"})), put("r", "w")]},
        {"id": "c", "kind": "condition", "if": "{{ state.n == 2 }}", "then": [post("yes")], "else": [post("no")]},
    ])));
}

#[test]
fn injected_steps_survive_every_crash() {
    survives_every_crash(&Story::of(json!([
        step(
            "grow",
            "t.inject",
            json!({"steps": [
                {"id": "one", "tool": "t.keyed", "args": {"x": 1}},
                {"id": "two", "tool": "core.put_record", "args": {"kind": "thing", "key": "i", "props": {"a": 1}}},
                {"id": "more", "tool": "t.inject", "args": {"steps": [{"id": "deep", "tool": "t.keyed", "args": {}}]}},
            ]})
        ),
        step("after", "core.set", json!({"end": true})),
    ])));
}

#[test]
fn waits_for_persons_and_for_the_clock_survive_every_crash() {
    let mut story = Story::of(json!([
        put("first", "k"),
        step("ask", "core.ask", json!({"title": "how many?", "fields": {"count": {"type": "integer"}}})),
        step("rest", "core.wait", json!({"ms": 500})),
        {"id": "form", "kind": "input", "title": "and?", "fields": {"word": {"type": "string"}}},
        step("keyed", "t.keyed", json!({"x": "{{ state.count }}", "y": "{{ state.word }}"})),
    ]));
    story.answers = [("ask", json!({"count": 3})), ("form", json!({"word": "yes"}))].into();
    survives_every_crash(&story);
}

#[test]
fn a_child_task_survives_every_crash() {
    let mut story = Story::of(json!([
        post("send"),
        {"id": "sub", "kind": "task", "planKey": "test.child", "input": {"from": "{{ task.payload.n }}"}},
        step("after", "t.keyed", json!({"got": "{{ steps.sub.result.y }}"})),
    ]));
    let steps = json!([put("p", "child"), step("e", "t.echo", json!({"y": "{{ task.payload.from }}"}))]);
    story.plans.insert(0, json!({"key": "test.child", "steps": steps}));
    survives_every_crash(&story);
}

#[test]
fn a_retry_after_a_failure_survives_every_crash() {
    let mut story = Story::of(json!([
        put("first", "k"),
        {"id": "p", "kind": "parallel", "branches": [[step("bad", "t.fragile", json!({}))], [post("ok"), put("more", "m")]]},
        put("last", "l"),
    ]));
    story.retries = true;
    survives_every_crash(&story);
}

#[test]
fn a_failing_task_with_a_step_that_always_runs_survives_every_crash() {
    survives_every_crash(&Story::of(json!([
        put("first", "k"),
        step("bad", "core.fail", json!({"message": "no"})),
        put("never", "n"),
        {"id": "always", "tool": "core.put_record", "when": "always",
         "args": {"kind": "thing", "key": "a", "props": {"why": "{{ steps.bad.error.message }}"}}},
    ])));
}

#[test]
fn an_unkeyed_call_that_a_crash_interrupts_asks_a_person_and_is_never_repeated_by_itself() {
    let build = || {
        let tool = Arc::new(ScriptedTool::noop("t.unkeyed", EffectClass::Unkeyed));
        let world = World::with([tool.clone()]);
        world.run(async |live| {
            live.put(json!({"key": "test.story", "steps": [step("a", "t.unkeyed", json!({}))]})).await;
        });
        (world, tool)
    };
    let story = Story::of(json!([]));
    let (peaceful, _) = build();
    let before = peaceful.calls();
    peaceful.run(async |live| tell(&live, &story).await);
    let (mut asked, mut went_on) = (0, 0);
    for n in 1..=peaceful.calls() - before {
        for how in [Fault::CrashBefore, Fault::CrashAfter] {
            let (world, tool) = build();
            world.doom(n, how);
            if world.life(async |live| tell(&live, &story).await).is_some() {
                continue;
            }
            let begun = tool.count();
            world.run(async |live| {
                let request = SubmitRequest {
                    plan_key: Some("test.story".to_owned()),
                    payload: story.payload.clone(),
                    idempotency_key: Some("once".to_owned()),
                    ..SubmitRequest::text("go")
                };
                let id = live.try_submit(request).await.unwrap().id;
                let task = live.rest(id).await;
                if task.status == TaskStatus::NeedsReview {
                    asked += 1;
                    assert_eq!(tool.count(), begun, "call {n}, {how:?}");
                } else {
                    went_on += 1;
                    assert_eq!((task.status, tool.count()), (TaskStatus::Completed, 1), "call {n}, {how:?}");
                }
            });
        }
    }
    assert!(asked > 0 && went_on > 0, "{asked} {went_on}");
}
