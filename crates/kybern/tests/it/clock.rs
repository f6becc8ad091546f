//! Clocks that are wrong, and clocks that are set under a running process.

use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::event::EventType;
use kybern_core::pack::PackRegistry;
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::ToolOutcome;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::tools::ScriptedTool;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::server::Site;
use crate::server::client::until;
use crate::server::inside::{self, ShiftedClock};

#[tokio::test]
async fn a_process_takes_no_running_task_from_itself_when_its_clock_is_set_forward() {
    let site = Site::sqlite();
    let clock = Arc::new(ShiftedClock::default());
    let answered = CancellationToken::new();
    let tool = slow(answered.clone());
    let mut registry = PackRegistry::default();
    registry.tool(tool.clone()).unwrap();
    let (engine, admin) = inside::start(&site, clock.clone(), registry).await;
    let slow = json!({"key": "test.slow", "steps": [{"id": "a", "tool": "test.slow"}]});
    let rests = json!({"key": "test.rests", "steps": [
        {"id": "a", "tool": "core.wait", "args": {"ms": 20}}, {"id": "b", "tool": "core.noop"}]});
    for plan in [&slow, &rests] {
        engine.plans().put(&admin, plan).await.unwrap();
    }
    let submit = async |plan: &str| {
        let request = SubmitRequest { plan_key: Some(plan.to_owned()), ..SubmitRequest::text("go") };
        engine.tasks().submit(&admin, request, None).await.unwrap().id
    };
    let ended = async |id| {
        until("the task ends", || async {
            let task = engine.tasks().get(&admin, id).await.unwrap();
            task.status.is_terminal().then_some(task)
        })
        .await
    };
    let running = submit("test.slow").await;
    until("its call is made", || std::future::ready((tool.count() == 1).then_some(()))).await;
    // The lease of half a minute is over at once, and each of these shows that the worker has claimed since.
    for _ in 0..3 {
        clock.advance(Millis(35_000));
        let other = submit("test.rests").await;
        assert_eq!(ended(other).await.status, TaskStatus::Completed);
        assert_eq!(engine.tasks().get(&admin, running).await.unwrap().recoveries, 0);
    }
    answered.cancel();
    let task = ended(running).await;
    assert_eq!((task.status, task.recoveries, tool.count()), (TaskStatus::Completed, 0, 1));
    let log = engine.tasks().log(&admin, running, -1, 100).await.unwrap().0;
    assert!(log.iter().all(|entry| entry.event_type != EventType::ZombieReset), "{log:?}");
    engine.drain(Millis(1_000)).await;
}

/// A call that waits for that.
fn slow(answered: CancellationToken) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::pending("test.slow", EffectClass::Keyed, move |_, _| {
        let answered = answered.clone();
        async move {
            answered.cancelled().await;
            Ok(ToolOutcome::default())
        }
        .boxed()
    }))
}

async fn a_wait_takes_as_long_as_it_says_although_the_clock_is_a_day_ahead(site: Site) {
    let day = Millis(86_400_000);
    let (clock, answered) = (Arc::new(ShiftedClock::default()), CancellationToken::new());
    clock.advance(day);
    let tool = slow(answered.clone());
    let mut registry = PackRegistry::default();
    registry.tool(tool.clone()).unwrap();
    let (engine, admin) = inside::start(&site, clock.clone(), registry).await;
    let rests = json!({"id": "b", "tool": "core.wait", "args": {"ms": 20}});
    for (key, first) in [("test.rests", "core.noop"), ("test.slow", "test.slow")] {
        engine.plans().put(&admin, &json!({"key": key, "steps": [{"id": "a", "tool": first}, rests]})).await.unwrap();
    }
    let submit = async |plan: &str| {
        let request = SubmitRequest { plan_key: Some(plan.to_owned()), ..SubmitRequest::text("go") };
        engine.tasks().submit(&admin, request, None).await.unwrap().id
    };
    let ended = async |id| {
        let task = until("the task ends", || async {
            let task = engine.tasks().get(&admin, id).await.unwrap();
            task.status.is_terminal().then_some(task)
        })
        .await;
        assert_eq!(task.status, TaskStatus::Completed);
        let took = task.completed_at.unwrap().as_millis() - task.created_at.as_millis();
        assert!((0..3_600_000).contains(&took), "{took}");
    };
    ended(submit("test.rests").await).await;
    if site.keeps_time() {
        // The clock is set under a running step, the step lets the task wait, and the clock is set right.
        let running = submit("test.slow").await;
        until("its call is made", || std::future::ready((tool.count() == 1).then_some(()))).await;
        clock.advance(day);
        answered.cancel();
        until("it waits", || async {
            let task = engine.tasks().get(&admin, running).await.unwrap();
            task.completed_step_ids.contains(&"a".to_owned()).then_some(())
        })
        .await;
        clock.set_right();
        ended(running).await;
    }
    engine.drain(Millis(1_000)).await;
}

#[tokio::test]
async fn a_wait_takes_as_long_as_it_says_although_the_clock_is_a_day_ahead_on_sqlite() {
    a_wait_takes_as_long_as_it_says_although_the_clock_is_a_day_ahead(Site::sqlite()).await;
}

#[tokio::test]
async fn a_wait_takes_as_long_as_it_says_although_the_clock_is_a_day_ahead_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_wait_takes_as_long_as_it_says_although_the_clock_is_a_day_ahead(site).await;
}
