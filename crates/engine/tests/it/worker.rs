//! The worker and tasks that harm it: they end with a reason, and it goes on with the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt as _;
use futures::executor::block_on;
use kybern_core::actor::Actor;
use kybern_core::approval::{ApprovalStatus, Verdict};
use kybern_core::error::ErrorCode;
use kybern_core::id::{TaskId, TenantId};
use kybern_core::ports::{Clock as _, TaskStore as _};
use kybern_core::slots::TenantShare;
use kybern_core::task::{Channel, EffectClass, NewKind, NewTask, Task, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::{Review, ToolOutcome};
use kybern_engine::task::SubmitRequest;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::live::Live;
use crate::outside::pause;
use crate::world::{World, plan, step};

/// A tool that panics for as long as it is told to.
fn explosive(armed: &Arc<AtomicBool>) -> Arc<ScriptedTool> {
    let armed = armed.clone();
    Arc::new(ScriptedTool::new("t.explode", EffectClass::Read, move |_, _| {
        assert!(!armed.load(Ordering::SeqCst), "a tool with a fault");
        Ok(ToolOutcome::default())
    }))
}

/// A process that does one thing at a time.
fn narrow(tool: Arc<ScriptedTool>) -> World {
    World::with([tool]).set(|settings| {
        settings.slots = 1;
        settings.max_recoveries = 2;
    })
}

#[test]
fn a_tool_that_panics_lets_go_of_its_run_and_of_its_slot() {
    let armed = Arc::new(AtomicBool::new(true));
    let tool = explosive(&armed);
    narrow(tool.clone()).run(async |live| {
        let id = live.begin(plan(json!([step("a", "t.explode", json!({}))])), json!({})).await;
        live.find(async || (tool.count() == 1 && live.engine.health().running() == 0).then_some(())).await;
        // The only slot is free, though the task's lease has not expired.
        let other = json!({"key": "test.other", "steps": [step("b", "core.noop", json!({}))]});
        let other = live.begin(other, json!({})).await;
        assert_eq!(live.proven(other).await.status, TaskStatus::Completed);
        assert!(live.world.mem().holder(id).is_some());
        assert_eq!(tool.count(), 1);
        // Once the fault is mended, the task goes on by itself.
        armed.store(false, Ordering::SeqCst);
        let task = live.proven(id).await;
        assert_eq!((task.status, task.recoveries, tool.count()), (TaskStatus::Completed, 1, 2));
    });
}

#[test]
fn a_task_whose_tool_always_panics_is_given_up_with_a_reason() {
    let tool = explosive(&Arc::new(AtomicBool::new(true)));
    narrow(tool.clone()).run(async |live| {
        let id = live.begin(plan(json!([step("a", "t.explode", json!({}))])), json!({})).await;
        let task = live.proven(id).await;
        let error = task.error.unwrap();
        assert_eq!((task.status, error.code), (TaskStatus::Failed, ErrorCode::Internal));
        assert!(error.message.starts_with("given up: 3 workers in a row"), "{}", error.message);
        assert_eq!((tool.count(), live.engine.health().running()), (3, 0));
        let id = live.begin(plan(json!([step("b", "core.noop", json!({}))])), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}

#[test]
fn a_task_that_was_given_up_while_it_asked_asks_again_when_it_is_tried_again() {
    let armed = Arc::new(AtomicBool::new(true));
    let tool = explosive(&armed);
    World::with([tool]).set(|settings| settings.max_recoveries = 2).run(async |live| {
        let ask = step("ask", "core.ask", json!({"title": "t", "fields": {}}));
        let fall = step("fall", "t.explode", json!({}));
        let both = json!([{"id": "p", "kind": "parallel", "branches": [[ask], [fall]]}]);
        let id = live.begin(plan(both), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
        assert_eq!(live.inbox(Some(ApprovalStatus::Pending)).await, []);
        armed.store(false, Ordering::SeqCst);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        assert_eq!(live.rest(id).await.status, TaskStatus::NeedsReview);
        let open = live.inbox(Some(ApprovalStatus::Pending)).await;
        assert_eq!((open.len(), open[0].approval.task), (1, id));
        live.decide(open[0].approval.asked.id, Verdict::Approve(None), None).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}

#[test]
fn a_review_that_is_asked_again_after_a_task_was_given_up_is_about_another_call() {
    let armed = Arc::new(AtomicBool::new(true));
    let review = Review {
        reason: "which insurer?".to_owned(),
        title: None,
        schema: json!({"type": "object"}),
        details: Value::Null,
        answer_is_result: false,
    };
    let answers = [Ok(ToolOutcome::ask(review)), Ok(ToolOutcome::default())];
    let asks = Arc::new(ScriptedTool::answers("t.asks", EffectClass::Unkeyed, answers));
    let tools = [asks.clone(), explosive(&armed)];
    World::with(tools).set(|settings| settings.max_recoveries = 2).run(async |live| {
        let fall = [step("later", "core.wait", json!({"ms": 5_000})), step("fall", "t.explode", json!({}))];
        let both = json!([{"id": "p", "kind": "parallel", "branches": [[step("ask", "t.asks", json!({}))], fall]}]);
        let id = live.begin(plan(both), json!({})).await;
        assert_eq!((live.proven(id).await.status, asks.count()), (TaskStatus::Failed, 1));
        armed.store(false, Ordering::SeqCst);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        // Nobody is asked whether the first call happened: its end is known.
        assert_eq!((live.proven(id).await.status, asks.count()), (TaskStatus::Completed, 2));
        let generations: Vec<String> = asks.calls().iter().map(|call| call.key.clone()).collect();
        assert_ne!(generations[0], generations[1]);
    });
}

/// A task that cannot be loaded: nothing is known of its tenant.
fn stray(world: &World, tenant: TenantId) -> TaskId {
    let id = TaskId::from_uuid(Uuid::from_u128(77));
    let task = NewTask {
        id,
        channel: Channel::Api,
        source: "api/test".to_owned(),
        dedupe_key: None,
        body_hash: None,
        input: "go".to_owned(),
        payload: Value::Null,
        created_by: "test".to_owned(),
        user: None,
        rights: kybern_core::actor::Rights::OPERATOR,
        plan: None,
        intent: None,
        attachments: Vec::new(),
        max_steps: 10,
        confidence_threshold: 0.8,
        budget: None,
        trace_id: "trace".to_owned(),
        parent: None,
        depth: 0,
        forked_from: None,
        kind: NewKind::Plan,
        at: world.clock.now(),
    };
    let scope = kybern_testkit::actors::scope(tenant);
    block_on(world.look(world.store.submit(scope, task, None))).unwrap();
    id
}

/// A task's row: without its plan and its journal it cannot be shown whole.
async fn stored(world: &World, tenant: TenantId, id: TaskId) -> Task {
    world.look(world.store.task(kybern_testkit::actors::scope(tenant), id)).await.unwrap().unwrap()
}

#[test]
fn a_task_that_cannot_be_loaded_is_given_up_with_a_reason() {
    let tenant = TenantId::from_uuid(Uuid::from_u128(9));
    let world = World::new().set(|settings| settings.max_recoveries = 2);
    let id = stray(&world, tenant);
    world.run(async |live| {
        let ended = async || {
            let task = stored(live.world, tenant, id).await;
            task.status.is_terminal().then_some(task)
        };
        let task = live.find(ended).await;
        assert_eq!((task.status, task.recoveries), (TaskStatus::Failed, 3));
        let error = task.error.unwrap();
        assert_eq!(error.code, ErrorCode::Internal);
        assert!(error.message.starts_with("given up while it was pending, it cannot be loaded: "), "{}", error.message);
        assert!(error.message.contains(&tenant.to_string()), "{}", error.message);
        assert!(live.world.mem().claimable_at(id).is_none() && live.world.mem().holder(id).is_none());
        assert_eq!(live.engine.health().running(), 0);
    });
}

#[test]
fn a_task_is_not_given_up_because_the_store_is_away_while_it_is_loaded() {
    World::new().set(|settings| settings.max_recoveries = 2).run(async |live| {
        let ask = step("ask", "core.ask", json!({"title": "t", "fields": {}}));
        let id = live.begin(plan(json!([ask, step("a", "core.noop", json!({}))])), json!({})).await;
        live.rest(id).await;
        live.world.lacks(Some("attempts"));
        live.review(id, None, json!({})).await.unwrap();
        // Ten leases long.
        pause(Millis(300_000)).await;
        let task = stored(live.world, TenantId::DEFAULT, id).await;
        assert_eq!((task.status.is_terminal(), task.error), (false, None));
        live.world.lacks(None);
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        assert_eq!(stored(live.world, TenantId::DEFAULT, id).await.recoveries, 0, "whoever had it went on");
    });
}

/// A task that waits for a person before a step whose tool not every worker has.
fn before_the_tool(world: &World) -> TaskId {
    world.run(async |live| {
        let ask = step("ask", "core.ask", json!({"title": "t", "fields": {}}));
        let id = live.begin(plan(json!([ask, step("a", "t.echo", json!({"said": 1}))])), json!({})).await;
        live.rest(id).await;
        id
    })
}

#[test]
fn a_step_is_left_to_a_worker_that_has_its_tool() {
    let world = World::new();
    let id = before_the_tool(&world);
    *world.missing.lock().unwrap() = Some("t.echo");
    world.run(async |live| {
        live.review(id, None, json!({})).await.unwrap();
        let put_off = async || {
            let rows = live.world.journal(id);
            (rows.iter().filter(|row| row.summary == "left to a worker that has t.echo").count() > 2).then_some(())
        };
        live.find(put_off).await;
        assert!(!stored(live.world, TenantId::DEFAULT, id).await.status.is_terminal());
    });
    *world.missing.lock().unwrap() = None;
    world.run(async |live| {
        let task = live.end(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!(1)));
        live.proven(id).await;
    });
}

#[test]
fn a_step_whose_tool_no_worker_has_fails_in_the_end() {
    let world = World::new().set(|settings| settings.poll = Millis(500));
    let id = before_the_tool(&world);
    *world.missing.lock().unwrap() = Some("t.echo");
    world.run(async |live| {
        live.review(id, None, json!({})).await.unwrap();
        let task = live.end(id).await;
        let error = task.error.unwrap();
        assert_eq!((task.status, error.code), (TaskStatus::Failed, ErrorCode::NotFound), "{}", error.message);
        assert_eq!(live.world.journal(id).iter().filter(|row| row.entry.kind() == "retrying").count(), 60);
    });
}

#[test]
fn a_child_is_left_to_a_worker_that_has_its_plan() {
    for comes in [true, false] {
        let world = World::new().set(|settings| settings.poll = Millis(500));
        let id = world.run(async |live| {
            live.put(json!({"key": "test.child", "steps": [step("a", "t.echo", json!({"said": 1}))]})).await;
            let ask = step("ask", "core.ask", json!({"title": "t", "fields": {}}));
            let sub = json!({"id": "sub", "kind": "task", "planKey": "test.child", "input": {}});
            let id = live.begin(plan(json!([ask, sub])), json!({})).await;
            live.rest(id).await;
            id
        });
        *world.missing.lock().unwrap() = Some("t.echo");
        world.run(async |live| {
            live.review(id, None, json!({})).await.unwrap();
            let left = || {
                let rows = live.world.journal(id);
                rows.iter().filter(|row| row.summary == "left to a worker that has test.child").count()
            };
            if comes {
                live.find(async || (left() > 2).then_some(())).await;
                assert!(!stored(live.world, TenantId::DEFAULT, id).await.status.is_terminal());
            } else {
                let task = live.end(id).await;
                let error = task.error.unwrap();
                assert_eq!((task.status, error.code), (TaskStatus::Failed, ErrorCode::Unprocessable));
                assert_eq!(left(), 60);
            }
        });
        if comes {
            *world.missing.lock().unwrap() = None;
            world.run(async |live| assert_eq!(live.proven(id).await.state["said"], json!(1)));
        }
    }
}

/// An admin of another tenant, which has moved in.
fn neighbour(world: &World, n: u128) -> Actor {
    let tenant = TenantId::from_uuid(Uuid::from_u128(n));
    world.settle_tenant(tenant, &format!("neighbour-{n}"));
    kybern_testkit::actors::admin(tenant)
}

/// Puts a plan of one step and submits so many tasks with it.
async fn submitted(live: &Live<'_>, actor: &Actor, tool: &str, count: usize) -> Vec<TaskId> {
    live.engine.plans().put(actor, &json!({"key": "test.one", "steps": [step("a", tool, json!({}))]})).await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..count {
        let request = SubmitRequest { plan_key: Some("test.one".to_owned()), ..SubmitRequest::text("go") };
        ids.push(live.engine.tasks().submit(actor, request, None).await.unwrap().id);
    }
    ids
}

async fn completed(live: &Live<'_>, actor: &Actor, task: TaskId) {
    let read = async || stored(live.world, actor.tenant(), task).await;
    live.find(async || (read().await.status == TaskStatus::Completed).then_some(())).await;
}

#[test]
fn calls_that_hang_leave_slots_to_other_tenants() {
    let hangs = Arc::new(ScriptedTool::pending("t.hang", EffectClass::Read, |_, _| std::future::pending().boxed()));
    World::with([hangs.clone()]).set(|settings| settings.slots = 6).run(async |live| {
        let (second, third) = (neighbour(live.world, 2), neighbour(live.world, 3));
        let flood = live.world.actor.clone();
        submitted(&live, &flood, "t.hang", 20).await;
        live.find(async || (hangs.count() == 6).then_some(())).await;
        submitted(&live, &second, "t.hang", 20).await;
        live.find(async || (hangs.count() == 7).then_some(())).await;
        let task = submitted(&live, &third, "core.noop", 1).await[0];
        completed(&live, &third, task).await;
        assert_eq!(hangs.count(), 7, "neither of them took the last slot");
    });
}

#[test]
fn a_task_waits_for_one_slot_and_not_for_the_backlog_of_another_tenant() {
    let (turns, order) = (Arc::new(tokio::sync::Semaphore::new(0)), Arc::new(std::sync::Mutex::new(Vec::new())));
    let (gate, seen) = (turns.clone(), order.clone());
    let one = Arc::new(ScriptedTool::pending("t.one", EffectClass::Read, move |context, _| {
        seen.lock().unwrap().push(context.scope.tenant());
        let gate = gate.clone();
        async move {
            gate.acquire().await.unwrap().forget();
            Ok(ToolOutcome::default())
        }
        .boxed()
    }));
    let share = TenantShare::ALL;
    let narrow = |settings: &mut kybern_engine::Settings| (settings.slots, settings.tenant_share) = (1, share);
    World::with([one.clone()]).set(|settings| narrow(settings)).run(async |live| {
        let (flood, second) = (live.world.actor.clone(), neighbour(live.world, 2));
        submitted(&live, &flood, "t.one", 30).await;
        live.find(async || (one.count() == 1).then_some(())).await;
        let task = submitted(&live, &second, "t.one", 1).await[0];
        turns.add_permits(2);
        completed(&live, &second, task).await;
        let order = order.lock().unwrap().clone();
        assert_eq!(order[..2], [flood.tenant(), second.tenant()]);
    });
}

#[test]
fn a_tenant_that_was_held_back_goes_on_as_soon_as_a_slot_of_its_own_is_free() {
    let turns = Arc::new(tokio::sync::Semaphore::new(0));
    let gate = turns.clone();
    let one = Arc::new(ScriptedTool::pending("t.one", EffectClass::Read, move |_, _| {
        let gate = gate.clone();
        async move {
            gate.acquire().await.unwrap().forget();
            Ok(ToolOutcome::default())
        }
        .boxed()
    }));
    let patient = |settings: &mut kybern_engine::Settings| (settings.slots, settings.poll) = (3, Millis(600_000));
    World::with([one.clone()]).set(patient).run(async |live| {
        let flood = live.world.actor.clone();
        let tasks = submitted(&live, &flood, "t.one", 6).await;
        live.find(async || (one.count() == 3).then_some(())).await;
        let began = live.now();
        turns.add_permits(6);
        for task in tasks {
            completed(&live, &flood, task).await;
        }
        assert!(live.now().since(began) < Millis(600_000), "nobody waited for the next look");
    });
}

#[test]
fn what_was_queued_before_the_clock_was_set_back_does_not_wait_for_it() {
    const HOUR: Millis = Millis(3_600_000);
    let open = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&open);
    let tool = Arc::new(ScriptedTool::pending("t.holds", EffectClass::Read, move |_, _| {
        let gate = Arc::clone(&gate);
        async move {
            while !gate.load(Ordering::SeqCst) {
                pause(Millis(20)).await;
            }
            Ok(ToolOutcome::default())
        }
        .boxed()
    }));
    // The clock is looked at with every heartbeat.
    narrow(tool).set(|settings| settings.heartbeat = Millis(100)).run(async |live| {
        let plan_of = |key: &str, tool: &str| json!({"key": key, "steps": [step("a", tool, json!({}))]});
        let first = live.begin(plan_of("test.first", "t.holds"), json!({})).await;
        // The only slot is taken: the second task waits for it.
        let second = live.begin(plan_of("test.second", "core.noop"), json!({})).await;
        pause(Millis(250)).await;
        live.world.clock.shift_back(HOUR);
        let back = live.now();
        open.store(true, Ordering::SeqCst);
        for id in [first, second] {
            assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        }
        assert!(live.now() < back.plus(Millis(120_000)), "nobody waited for the clock");
    });
}
