//! Callers who leave: what the store has given to this process is run, whoever has left.

use kybern_core::ports::{TaskFilter, TaskStore as _};
use kybern_core::task::TaskStatus;
use kybern_core::time::Millis;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::Fault;
use serde_json::json;

use crate::chats::{chat, contents, saying};
use crate::outside::pause;
use crate::turns::{helper, provider, says, scripted};
use crate::world::{World, plan, step};

/// A store that takes its time.
const SLOW: Fault = Fault::Stall(Millis(50));

/// Waits for something for a moment, and leaves.
async fn and_leaves<T>(asked: impl Future<Output = T>) {
    let left = tokio::time::timeout(Millis(20).as_duration(), asked).await;
    assert!(left.is_err(), "it was answered before anybody could leave");
}

#[test]
fn a_task_whose_submitter_has_left_is_run() {
    World::on_sqlite([]).run(async |live| {
        let key = live.put(plan(json!([step("a", "t.echo", json!({}))]))).await;
        live.world.ails([("submit", SLOW)]);
        let request = SubmitRequest { plan_key: Some(key), ..SubmitRequest::text("go") };
        and_leaves(Box::pin(live.engine.tasks().submit(&live.world.actor, request, None))).await;
        live.world.ails(None);
        pause(Millis(500)).await;
        let filter = TaskFilter { limit: 10, ..TaskFilter::default() };
        let all = live.world.look(live.world.store.tasks(live.world.scope(), &filter)).await.unwrap().items;
        let told: Vec<_> = all.iter().map(|task| (task.status, task.recoveries, task.epoch)).collect();
        assert_eq!(told, [(TaskStatus::Completed, 0, 1)], "long before its lease would have been over");
        assert_eq!(live.engine.health().running(), 0);
    });
}

#[test]
fn a_message_whose_writer_has_left_is_answered() {
    let model = scripted(vec![says("Hello.")]);
    World::on_sqlite([]).asking(provider(&model)).employing([helper(&[])]).run(async |live| {
        let chat = chat(&live).await;
        live.world.ails([("submit", SLOW)]);
        and_leaves(Box::pin(live.engine.chats().say(&live.world.actor, chat, saying("Hi!"), None))).await;
        live.world.ails(None);
        pause(Millis(500)).await;
        let all = contents(&live, chat).await;
        assert_eq!((all.len(), model.count()), (2, 1));
        assert_eq!(all[1].1, "Hello.");
    });
}

#[test]
fn whoever_waits_for_a_task_is_answered_when_the_engine_stops() {
    World::on_sqlite([]).run(async |live| {
        let key = live.put(plan(json!([step("a", "core.wait", json!({"ms": 3_600_000}))]))).await;
        let request = SubmitRequest { plan_key: Some(key), ..SubmitRequest::text("go") };
        let tasks = live.engine.tasks();
        let submitted = Box::pin(tasks.submit(&live.world.actor, request, Some(Millis(60_000))));
        let stop = async {
            pause(Millis(500)).await;
            live.engine.drain(Millis(1_000)).await;
        };
        let began = live.world.clock();
        let (task, ()) = futures::future::join(submitted, stop).await;
        let (task, waited) = (task.unwrap(), live.world.clock().since(began));
        assert!(!task.status.is_terminal() && waited < Millis(10_000), "{:?} after {waited}", task.status);
    });
}
