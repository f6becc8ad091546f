//! Steps that touch nothing outside share a commit; what reaches outside, waits or changes more finds them written.

use std::sync::{Arc, Mutex, OnceLock};

use futures::FutureExt as _;
use futures::executor::block_on;
use kybern_core::audit::AuditEvent;
use kybern_core::ports::TaskStore as _;
use kybern_core::task::{EffectClass, JournalEntry, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::ToolOutcome;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::outside::pause;
use crate::world::{Stored, World, plan, step};

fn noops(ids: &[&str]) -> Vec<Value> {
    ids.iter().map(|id| step(id, "core.noop", json!({}))).collect()
}

/// How many calls of the store five such steps cost.
fn calls_for_five(steps_per_commit: u32) -> u64 {
    World::new().set(|settings| settings.steps_per_commit = steps_per_commit).run(async |live| {
        let before = live.world.calls();
        let id = live.begin(plan(Value::Array(noops(&["a", "b", "c", "d", "e"]))), json!({})).await;
        let task = live.proven(id).await;
        let calls = live.world.calls() - before;
        assert_eq!((task.status, task.completed_step_ids.len()), (TaskStatus::Completed, 5));
        let ended = |row: &&kybern_core::task::JournalRow| matches!(row.entry, JournalEntry::Finished(_));
        assert_eq!(live.world.journal(id).iter().filter(ended).count(), 5);
        calls
    })
}

#[test]
fn five_steps_that_touch_nothing_are_one_commit_or_as_many_as_the_setting_says() {
    let [alone, pairs, together] = [1, 2, 32].map(calls_for_five);
    assert_eq!((alone - together, pairs - together), (4, 2));
}

/// What a tool finds in the store when it is called.
#[derive(Clone, Default)]
struct Found(Arc<OnceLock<Arc<Stored>>>, Arc<Mutex<Vec<String>>>);

impl Found {
    fn tool(&self, key: &str, effect: EffectClass, http: bool) -> Arc<ScriptedTool> {
        let Self(store, seen) = self.clone();
        let tool = ScriptedTool::new(key, effect, move |context, _| {
            let rows = store.get().unwrap().journal(context.scope, context.task.unwrap(), 0, 100);
            let finished = block_on(rows).unwrap().into_iter().filter(|row| row.entry.status().is_some());
            seen.lock().unwrap().extend(finished.filter_map(|row| row.step).map(|step| step.to_string()));
            Ok(ToolOutcome::default())
        });
        Arc::new(tool.with_spec(|spec| spec.needs.http = http))
    }
}

#[test]
fn what_led_to_a_call_that_reaches_outside_is_written_before_the_call() {
    for (effect, http, expected) in [
        (EffectClass::Keyed, false, vec!["a", "b"]),
        (EffectClass::Unkeyed, false, vec!["a", "b"]),
        (EffectClass::Read, true, vec!["a", "b"]),
        (EffectClass::Local, true, vec!["a", "b"]),
        // Nobody can tell whether these were called twice.
        (EffectClass::Read, false, Vec::new()),
        (EffectClass::Local, false, Vec::new()),
    ] {
        let found = Found::default();
        let world = World::with([found.tool("t.out", effect, http)]);
        found.0.set(world.store.clone()).unwrap();
        world.run(async |live| {
            let mut steps = noops(&["a", "b"]);
            steps.push(step("out", "t.out", json!({})));
            let id = live.begin(plan(Value::Array(steps)), json!({})).await;
            assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        });
        assert_eq!(*found.1.lock().unwrap(), expected, "{effect:?}, http {http}");
    }
}

#[test]
fn while_a_step_takes_its_time_everything_before_it_is_written() {
    let tool = Arc::new(ScriptedTool::pending("t.long", EffectClass::Local, |_, _| {
        async {
            pause(Millis(60_000)).await;
            Ok(ToolOutcome::default())
        }
        .boxed()
    }));
    let world = World::with([tool.clone()]);
    let id = world.run(async |live| {
        let mut steps = noops(&["a", "b"]);
        let branches = json!([[step("long", "t.long", json!({}))], noops(&["c"])]);
        steps.push(json!({"id": "both", "kind": "parallel", "branches": branches}));
        let id = live.begin(plan(Value::Array(steps)), json!({})).await;
        live.until(id, |_| tool.count() == 1).await;
        id
    });
    // The process died there.
    let written: Vec<String> = world
        .journal(id)
        .into_iter()
        .filter(|row| row.entry.status().is_some())
        .filter_map(|row| row.step)
        .map(|id| id.to_string())
        .collect();
    assert_eq!(written, ["a", "b", "both__c"]);
}

#[test]
fn a_cancel_stops_a_chain_of_steps_that_never_wait() {
    let (engine, told) =
        (Arc::new(OnceLock::<(kybern_engine::Engine, kybern_core::actor::Actor)>::new()), Arc::new(Mutex::new(0)));
    let (from, count) = (engine.clone(), told.clone());
    let tool = Arc::new(ScriptedTool::new("t.count", EffectClass::Local, move |context, _| {
        let mut count = count.lock().unwrap();
        *count += 1;
        if *count == 3 {
            let (engine, actor) = from.get().unwrap();
            // It is told at the first look; what it waits for after that is the end.
            drop(engine.tasks().cancel(actor, context.task.unwrap()).now_or_never());
        }
        Ok(ToolOutcome::default())
    }));
    World::with([tool]).run(async |live| {
        assert!(engine.set((live.engine.clone(), live.world.actor.clone())).is_ok());
        let ids: Vec<String> = (0..10).map(|n| format!("s{n}")).collect();
        let steps = ids.iter().map(|id| step(id, "t.count", json!({}))).collect();
        let id = live.begin(plan(Value::Array(steps)), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids.len()), (TaskStatus::Cancelled, 3));
        assert_eq!(*told.lock().unwrap(), 3);
    });
}

#[test]
fn a_pause_that_comes_with_the_commit_of_what_led_to_a_call_holds_the_call() {
    let store = Arc::new(OnceLock::<Arc<Stored>>::new());
    let from = store.clone();
    // Another process pauses the task: nothing tells this one.
    let pauses = Arc::new(ScriptedTool::new("t.paused", EffectClass::Local, move |context, _| {
        let audit = AuditEvent::by_executor("task.pause", "task", json!({}));
        let paused = from.get().unwrap().set_paused(context.scope, context.task.unwrap(), true, context.now, audit);
        block_on(paused).unwrap();
        Ok(ToolOutcome::default())
    }));
    let read = Arc::new(ScriptedTool::noop("t.read", EffectClass::Read).with_spec(|spec| spec.needs.http = true));
    let world = World::with([pauses, read.clone()]);
    store.set(world.store.clone()).unwrap();
    world.run(async |live| {
        let steps = json!([step("a", "t.paused", json!({})), step("b", "t.read", json!({}))]);
        let id = live.begin(plan(steps), json!({})).await;
        live.until(id, |task| task.paused_at.is_some() && !task.completed_step_ids.is_empty()).await;
        pause(Millis(5_000)).await;
        assert_eq!(read.count(), 0);
        live.engine.tasks().resume(&live.world.actor, id).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}

#[test]
fn what_came_from_outside_is_written_before_anything_else_begins() {
    let found = Found::default();
    let read = Arc::new(ScriptedTool::noop("t.read", EffectClass::Read).with_spec(|spec| spec.needs.http = true));
    let world = World::with([read, found.tool("t.look", EffectClass::Local, false)]);
    found.0.set(world.store.clone()).unwrap();
    world.run(async |live| {
        let mut steps = noops(&["a"]);
        steps.push(step("read", "t.read", json!({})));
        steps.extend(noops(&["b"]));
        steps.push(step("look", "t.look", json!({})));
        let id = live.begin(plan(Value::Array(steps)), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
    assert_eq!(*found.1.lock().unwrap(), ["a", "read"]);
}
