//! What is kept in memory of tasks that are over: nothing.

use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use kybern_engine::readiness::HeldInMemory;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Map, json};

use crate::chats::{chat, saying};
use crate::outside::pause;
use crate::turns::{helper, provider, says, scripted};
use crate::world::{World, plan, step};

/// Tasks of each kind.
const MANY: usize = 40;

#[test]
fn nothing_is_held_of_tasks_that_are_over() {
    let model = scripted(vec![says("Hello."); MANY]);
    let slow = ScriptedTool::pending("t.slow", EffectClass::Keyed, |_, _| {
        async {
            pause(Millis(200)).await;
            Ok(ToolOutcome::new(Map::new(), "done"))
        }
        .boxed()
    });
    let fails = ScriptedTool::new("t.fails", EffectClass::Read, |_, _| Err(ToolFailure::permanent("it is broken")));
    let world = World::on_sqlite([Arc::new(slow), Arc::new(fails)]);
    world.asking(provider(&model)).employing([helper(&[])]).run(async |live| {
        let mut waits = step("slow", "t.slow", json!({}));
        waits["timeoutMs"] = json!(5_000);
        let good = live.put(plan(json!([waits, step("rest", "core.wait", json!({"ms": 50}))]))).await;
        let bad = json!({"key": "test.bad", "steps": [step("bad", "t.fails", json!({}))]});
        let bad = live.put(bad).await;
        for n in 0..MANY {
            let request = |key: &str| SubmitRequest { plan_key: Some(key.to_owned()), ..SubmitRequest::text("go") };
            let waiting = live.engine.tasks().submit(&live.world.actor, request(&good), Some(Millis(60_000)));
            // Every other one leaves before it is over, and every fifth task is cancelled.
            let patience = if n % 2 == 0 { 60_000 } else { 20 };
            drop(tokio::time::timeout(Millis(patience).as_duration(), Box::pin(waiting)).await);
            let failing = live.try_submit(request(&bad)).await.unwrap();
            let other = live.try_submit(request(&good)).await.unwrap();
            if n % 5 == 0 {
                live.engine.tasks().cancel(&live.world.actor, other.id).await.unwrap();
            }
            let talk = chat(&live).await;
            live.engine.chats().say(&live.world.actor, talk, saying("Hi!"), Some(Millis(60_000))).await.unwrap();
            live.until(failing.id, |task| task.status == TaskStatus::Failed).await;
            live.until(other.id, |task| task.completed_at.is_some()).await;
        }
        live.find(async || (live.engine.health().held().runs == 0).then_some(())).await;
        pause(Millis(1_000)).await;
        assert_eq!(live.engine.health().held(), HeldInMemory::default());
    });
}
