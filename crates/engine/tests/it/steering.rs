//! Waiting, pausing, cancelling, recovering.

use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::error::ErrorCode;
use kybern_core::task::{EffectClass, JournalEntry, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::ToolOutcome;
use kybern_testkit::Fault;
use kybern_testkit::tools::ScriptedTool;
use serde_json::json;

use crate::live::Live;
use crate::outside::pause;
use crate::world::{World, plan, step};

fn lasting(effect: EffectClass, ms: u64) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::pending("t.lasting", effect, move |_, _| {
        async move {
            pause(Millis(ms)).await;
            Ok(ToolOutcome::default())
        }
        .boxed()
    }))
}

#[test]
fn a_wait_outlives_the_process_and_nobody_holds_the_task_meanwhile() {
    let world = World::new().set(|settings| settings.poll = Millis(60_000));
    let id = world.run(async |live| {
        let steps =
            json!([step("rest", "core.wait", json!({"ms": 86_400_000})), step("after", "core.noop", json!({}))]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.until(id, |_| live.world.mem().holder(id).is_none()).await;
        assert_eq!(task.status, TaskStatus::Executing);
        id
    });
    world.run(async |live| {
        let task = live.proven(id).await;
        assert_eq!((task.status, task.recoveries), (TaskStatus::Completed, 0));
        let lasted = task.completed_at.unwrap().since(task.created_at).0;
        assert!((86_400_000..86_400_000 + 180_000).contains(&lasted), "{lasted}");
    });
}

#[test]
fn a_paused_task_keeps_its_status_records_what_is_in_flight_and_begins_nothing() {
    let tool = lasting(EffectClass::Keyed, 300);
    World::with([tool.clone()]).run(async |live| {
        let steps = json!([step("a", "t.lasting", json!({})), step("b", "t.lasting", json!({}))]);
        let id = live.begin(plan(steps), json!({})).await;
        live.until(id, |_| tool.count() == 1).await;
        let task = live.engine.tasks().pause(&live.world.actor, id).await.unwrap();
        assert!(task.paused_at.is_some());
        let task = live.until(id, |task| task.completed_step_ids == ["a"]).await;
        assert_eq!(task.status, TaskStatus::Executing);
        pause(Millis(5_000)).await;
        assert_eq!((tool.count(), live.task(id).await.completed_step_ids.len()), (1, 1));
        assert_eq!(live.engine.tasks().pause(&live.world.actor, id).await.unwrap_err().code(), ErrorCode::Conflict);
        live.engine.tasks().resume(&live.world.actor, id).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        assert_eq!(live.engine.tasks().resume(&live.world.actor, id).await.unwrap_err().code(), ErrorCode::Conflict);
    });
}

async fn cancelled(live: &Live<'_>, id: kybern_core::id::TaskId) -> kybern_engine::task::TaskView {
    live.engine.tasks().cancel(&live.world.actor, id).await.unwrap();
    let task = live.proven(id).await;
    assert_eq!(task.status, TaskStatus::Cancelled);
    assert_eq!(live.engine.tasks().cancel(&live.world.actor, id).await.unwrap_err().code(), ErrorCode::Conflict);
    task
}

#[test]
fn a_cancelled_task_records_the_effect_in_flight_and_begins_nothing() {
    let tool = lasting(EffectClass::Keyed, 300);
    World::with([tool.clone()]).run(async |live| {
        let steps = json!([step("a", "t.lasting", json!({})), {"id": "b", "tool": "t.lasting", "when": "always"}]);
        let id = live.begin(plan(steps), json!({})).await;
        live.until(id, |_| tool.count() == 1).await;
        let task = cancelled(&live, id).await;
        assert_eq!((task.completed_step_ids, tool.count()), (vec!["a".to_owned()], 1));
        assert_eq!(task.result.unwrap(), json!({"partial": true, "completed": ["a"]}));
    });
}

#[test]
fn a_cancelled_task_drops_a_call_that_changes_nothing_outside() {
    let tool = lasting(EffectClass::Read, 20_000);
    World::with([tool.clone()]).run(async |live| {
        let id = live.begin(plan(json!([step("a", "t.lasting", json!({}))])), json!({})).await;
        live.until(id, |_| tool.count() == 1).await;
        let began = live.now();
        let task = cancelled(&live, id).await;
        assert!(task.completed_step_ids.is_empty());
        assert!(live.now().since(began) < Millis(15_000));
    });
}

#[test]
fn a_task_is_cancelled_while_it_waits_for_a_person_the_clock_an_engine_or_is_paused() {
    World::new().run(async |live| {
        let waits = [
            step("w", "core.ask", json!({"title": "t", "fields": {}})),
            step("w", "core.wait", json!({"ms": 3_600_000})),
            json!({"id": "w", "kind": "workflow", "workflow": "flow"}),
        ];
        for paused in [false, true] {
            for wait in &waits {
                let id = live
                    .begin(plan(json!([wait, {"id": "b", "tool": "core.noop", "when": "always"}])), json!({}))
                    .await;
                live.until(id, |_| live.world.mem().holder(id).is_none() && !live.world.journal(id).is_empty()).await;
                if paused {
                    live.engine.tasks().pause(&live.world.actor, id).await.unwrap();
                }
                let task = cancelled(&live, id).await;
                assert!(task.completed_step_ids.is_empty() && task.waits.is_empty(), "{wait}");
            }
        }
    });
}

#[test]
fn a_cancel_at_every_moment_starts_nothing_afterwards() {
    for at in 0..60 {
        let tool = lasting(EffectClass::Keyed, 3);
        World::with([tool.clone()]).run(async |live| {
            let branch = |id: &str| {
                json!([
                    step(id, "t.lasting", json!({})),
                    step(&format!("{id}2"), "core.wait", json!({"ms": 5})),
                    step(&format!("{id}3"), "t.lasting", json!({}))
                ])
            };
            let steps = json!([{"id": "p", "kind": "parallel", "branches": [branch("a"), branch("b")]}]);
            let id = live.begin(plan(steps), json!({})).await;
            pause(Millis(at)).await;
            if live.engine.tasks().cancel(&live.world.actor, id).await.is_err() {
                return;
            }
            let (begun, attempts) = (tool.count(), live.attempts(id).await.len());
            let task = live.proven(id).await;
            // A call whose beginning was being recorded just then may still have gone out.
            assert!(tool.count() <= begun.max(attempts), "at {at}");
            assert!(matches!(task.status, TaskStatus::Cancelled), "at {at}: {}", task.status);
            let done = task.completed_step_ids.iter().filter(|id| !id.ends_with('2') && *id != "p").count();
            assert_eq!(done, tool.count(), "at {at}: every effect is recorded");
        });
    }
}

#[test]
fn a_worker_that_slept_past_its_lease_writes_nothing() {
    let tool = Arc::new(ScriptedTool::pending("t.sleepy", EffectClass::Keyed, |context, _| {
        async move {
            // The first holder takes forever, the second answers at once.
            if !context.may_have_happened {
                pause(Millis(20_000)).await;
            }
            let mut data = serde_json::Map::new();
            data.insert("again".to_owned(), json!(context.may_have_happened));
            Ok(ToolOutcome::new(data, ""))
        }
        .boxed()
    }));
    let world = World::with([tool.clone()]).set(|settings| {
        settings.lease = Millis(1_000);
        settings.heartbeat = Millis(10_000_000);
    });
    world.run(async |live| {
        let id = live.begin(plan(json!([step("a", "t.sleepy", json!({}))])), json!({})).await;
        live.until(id, |_| tool.count() == 1).await;
        let second = live.world.engine(live.world.settings.clone());
        second.start().await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((&task.state["again"], task.recoveries), (&json!(true), 1));
        pause(Millis(40_000)).await;
        assert_eq!(live.world.journal(id).len(), 3);
        assert_eq!(live.proven(id).await.state, task.state);
        let keys: Vec<String> = tool.calls().into_iter().map(|call| call.key).collect();
        assert_eq!(keys[0], keys[1]);
    });
}

#[test]
fn a_task_that_kills_its_workers_is_given_up_and_one_that_gets_further_is_not() {
    let deaths = |rounds: u32, progress: bool| {
        let tool =
            Arc::new(ScriptedTool::pending("t.killer", EffectClass::Keyed, |_, _| std::future::pending().boxed()));
        let quick = Arc::new(ScriptedTool::noop("t.quick", EffectClass::Keyed));
        let world = World::with([tool.clone(), quick]);
        let id = world.run(async |live| {
            let body = json!([step("q", "t.quick", json!({})), {"id": "w", "tool": "core.wait", "args": {"ms": 10}}]);
            let steps = if progress {
                json!([{"id": "l", "kind": "loop", "over": "{{ task.payload.n }}", "steps": body}])
            } else {
                json!([step("k", "t.killer", json!({}))])
            };
            let id = live.begin(plan(steps), json!({"n": (0..20).collect::<Vec<_>>()})).await;
            let begun = |world: &World| world.mem().holder(id).is_some() || !world.journal(id).is_empty();
            live.until(id, |_| begun(live.world)).await;
            id
        });
        for _ in 0..rounds {
            // Each life dies once it has looked for work for a while.
            world.doom(30, Fault::CrashAfter);
            world.life(async |live| live.end(id).await);
        }
        (world, id)
    };
    let (world, id) = deaths(10, false);
    world.run(async |live| {
        let task = live.end(id).await;
        assert_eq!(task.status, TaskStatus::Failed);
        assert!(task.error_message.unwrap().contains("given up"));
        assert!(live.replay(id).await.matches);
    });
    let recovered = world.journal(id).iter().filter(|row| matches!(row.entry, JournalEntry::Recovered { .. })).count();
    assert_eq!(recovered, 6);
    let (world, id) = deaths(10, true);
    world.run(async |live| {
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        assert!(task.recoveries > 0, "{}", task.recoveries);
    });
}

#[test]
fn a_graceful_stop_gives_leases_back_and_the_next_process_goes_on() {
    let tool = lasting(EffectClass::Keyed, 100);
    let world = World::with([tool.clone()]);
    let id = world.run(async |live| {
        let steps = json!([step("a", "t.lasting", json!({})), step("b", "t.lasting", json!({}))]);
        let id = live.begin(plan(steps), json!({})).await;
        live.until(id, |_| tool.count() == 1).await;
        live.engine.drain(Millis(5_000)).await;
        let task = live.task(id).await;
        assert_eq!((task.completed_step_ids, live.world.mem().holder(id)), (vec!["a".to_owned()], None));
        id
    });
    world.run(async |live| {
        let task = live.proven(id).await;
        assert_eq!((task.status, task.recoveries, tool.count()), (TaskStatus::Completed, 0, 2));
    });
}

#[test]
fn what_still_runs_at_the_end_of_the_grace_time_is_resumed_by_another_worker_at_once() {
    let tool = lasting(EffectClass::Local, 1_000);
    World::with([tool.clone()]).set(|settings| settings.poll = Millis(50)).run(async |live| {
        let other = live.world.engine(live.world.settings.clone());
        other.start().await.unwrap();
        let id = live.begin(plan(json!([step("a", "t.lasting", json!({}))])), json!({})).await;
        live.until(id, |_| tool.count() == 1).await;
        live.engine.drain(Millis(1)).await;
        let stopped = live.now();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.recoveries, tool.count()), (TaskStatus::Completed, 0, 2));
        assert!(task.completed_at.unwrap().since(stopped) < Millis(5_000), "nobody waited for a lease");
    });
}

#[test]
fn whoever_may_not_see_a_task_is_not_told_of_its_end_either() {
    let tool = lasting(EffectClass::Local, 500);
    World::with([tool]).run(async |live| {
        let elsewhere = kybern_core::id::TenantId::from_uuid(uuid::Uuid::from_u128(77));
        let admin = [kybern_core::actor::Role::Admin];
        let stranger =
            kybern_testkit::actors::user(elsewhere, kybern_core::id::UserId::from_uuid(uuid::Uuid::nil()), &admin);
        let id = live.begin(plan(json!([step("a", "t.lasting", json!({}))])), json!({"secret": "hush"})).await;
        let wait = Millis(2_000);
        let (own, foreign, again) = futures::join!(
            live.engine.tasks().wait_for(&live.world.actor, id, wait),
            live.engine.tasks().wait_for(&stranger, id, wait),
            live.engine.tasks().wait_for(&live.world.actor, id, wait),
        );
        assert_eq!((own.unwrap().status, again.unwrap().status), (TaskStatus::Completed, TaskStatus::Completed));
        assert_eq!(foreign.unwrap_err().code(), kybern_core::error::ErrorCode::NotFound);
    });
}

#[test]
fn the_submitter_is_told_what_the_store_says() {
    let (ask, fail) = (json!({"title": "t", "fields": {}}), json!({"message": "no"}));
    let plans = [
        json!([step("a", "core.set", json!({"x": 1})), step("b", "t.echo", json!({"y": "{{ state.x }}"}))]),
        json!([step("a", "core.ask", ask)]),
        json!([step("a", "core.fail", fail)]),
        json!([{"id": "l", "kind": "loop", "over": "{{ [1, 2] }}", "steps": [step("x", "t.echo", json!({"i": "{{ item }}"}))]}]),
    ];
    World::new().run(async |live| {
        for steps in plans {
            let key = live.put(plan(steps)).await;
            let request = kybern_engine::task::SubmitRequest {
                plan_key: Some(key),
                ..kybern_engine::task::SubmitRequest::text("go")
            };
            let told = live.engine.tasks().submit(&live.world.actor, request, Some(Millis(60_000))).await.unwrap();
            assert_eq!(json!(told), json!(live.task(told.id).await));
        }
    });
}

#[test]
fn clean_stops_during_a_call_are_no_deaths() {
    for effect in [EffectClass::Keyed, EffectClass::Unkeyed] {
        let tool = Arc::new(ScriptedTool::pending("t.hangs", effect, |_, _| std::future::pending().boxed()));
        let world = World::with([tool.clone()]);
        let id = world.run(async |live| {
            let mut hangs = step("a", "t.hangs", json!({}));
            hangs["timeoutMs"] = json!(600_000);
            let id = live.begin(plan(json!([hangs])), json!({})).await;
            live.until(id, |_| tool.count() == 1).await;
            live.engine.drain(Millis(50)).await;
            id
        });
        assert_eq!(world.mem().holder(id), None, "nobody holds what was given back");
        if effect == EffectClass::Unkeyed {
            // The call was open: only a person knows what became of it.
            world.run(async |live| assert_eq!(live.rest(id).await.status, TaskStatus::NeedsReview));
            assert_eq!(tool.count(), 1);
            continue;
        }
        for calls in 2..=10 {
            world.run(async |live| {
                live.until(id, |_| tool.count() == calls).await;
                live.engine.drain(Millis(50)).await;
            });
        }
        let recovered = world.journal(id).iter().any(|row| matches!(row.entry, JournalEntry::Recovered { .. }));
        assert!(!recovered);
        world.run(async |live| {
            let task = live.until(id, |_| tool.count() == 11).await;
            assert_eq!((task.status, task.recoveries), (TaskStatus::Executing, 0));
            let keys: std::collections::BTreeSet<String> = tool.calls().into_iter().map(|call| call.key).collect();
            assert_eq!(keys.len(), 1, "the receiver drops the repeats");
        });
    }
}
