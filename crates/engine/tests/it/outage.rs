//! A store that is unavailable for a while: what has happened outside is written when it is back, and happens once.

use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::id::TaskId;
use kybern_core::outbox::OutboxStatus;
use kybern_core::ports::TaskStore as _;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{EffectClass, JournalEntry, StepStatus, TaskStatus, WorkerId};
use kybern_core::time::Millis;
use kybern_core::tool::ToolOutcome;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::Fault;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Map, Value, json};

use crate::live::Live;
use crate::outside::pause;
use crate::world::{World, plan, step};

/// Long, and shorter than a lease.
const OUTAGE: Millis = Millis(20_000);

/// A call that takes so long.
fn taking(key: &str, effect: EffectClass, span: Millis) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::pending(key, effect, move |_, _| {
        async move {
            pause(span).await;
            Ok(ToolOutcome::new(Map::new(), "done"))
        }
        .boxed()
    }))
}

impl Live<'_> {
    /// These calls of the store go like this for so long.
    async fn outage(&self, calls: &[&'static str], how: Fault, span: Millis) {
        self.world.ails(calls.iter().map(|call| (*call, how)));
        pause(span).await;
        self.world.ails(None);
    }

    /// The task completed, in the hands of the one who began it, and its journal leads to the same.
    async fn came_through(&self, id: TaskId) {
        let task = self.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed, "{task:#?}");
        let row = self.world.look(self.world.store.task(self.world.scope(), id)).await.unwrap().unwrap();
        assert_eq!((row.recoveries, row.epoch), (0, 1));
    }
}

#[test]
fn a_store_that_takes_no_writes_and_claims_that_fail_make_a_server_unready() {
    World::new().run(async |live| {
        let part = async |name: &str| {
            let checks = live.engine.health().readiness().await.checks;
            let check = checks.into_iter().find(|check| check.name == name).unwrap();
            (check.ok, check.required)
        };
        assert_eq!((part("database").await, part("worker").await), ((true, true), (true, true)));
        live.world.ails([("probe", Fault::Unavailable), ("claim_due", Fault::Unavailable)]);
        pause(Millis(5_000)).await;
        assert_eq!((part("database").await, part("worker").await), ((false, true), (false, true)));
        assert!(!live.engine.health().readiness().await.is_ready());
        live.world.ails(None);
        pause(Millis(5_000)).await;
        assert!(live.engine.health().readiness().await.is_ready(), "and it says so when it is over");
    });
}

fn acts(keys: &[&str]) -> Value {
    let steps: Vec<Value> = keys.iter().map(|key| step(key.trim_start_matches("t."), key, json!({}))).collect();
    json!(steps)
}

#[test]
fn the_outcome_of_a_call_is_written_once_the_store_is_back() {
    for effect in [EffectClass::Keyed, EffectClass::Unkeyed, EffectClass::Queryable] {
        for how in [Fault::Unavailable, Fault::AnswerLost] {
            let tool = taking("t.act", effect, Millis(100));
            World::with([tool.clone()]).run(async |live| {
                let id = live.begin(plan(acts(&["t.act", "t.echo"])), json!({})).await;
                live.find(async || (tool.count() == 1).then_some(())).await;
                // Nothing gets through: no commit, no heartbeat, no claim.
                live.outage(&["commit", "heartbeat", "claim_due"], how, OUTAGE).await;
                live.came_through(id).await;
                assert_eq!(tool.count(), 1, "{effect:?} {how:?}");
            });
        }
    }
}

#[test]
fn an_end_whose_answer_was_lost_is_told_to_whoever_waits() {
    let tool = taking("t.act", EffectClass::Keyed, Millis(100));
    World::with([tool.clone()]).run(async |live| {
        let key = live.put(plan(acts(&["t.act"]))).await;
        let request = SubmitRequest { plan_key: Some(key), ..SubmitRequest::text("go") };
        let waiting = live.engine.tasks().submit(&live.world.actor, request, Some(Millis(60_000)));
        let away = async {
            live.find(async || (tool.count() == 1).then_some(())).await;
            live.outage(&["commit"], Fault::AnswerLost, Millis(3_000)).await;
        };
        let (task, ()) = futures::join!(waiting, away);
        assert_eq!(task.unwrap().status, TaskStatus::Completed);
    });
}

#[test]
fn a_call_beside_one_whose_outcome_cannot_be_written_ends_by_its_own_time() {
    // The second one ends, and its time is over, while the outcome of the first waits for the store.
    let (quick, slow) =
        (taking("t.quick", EffectClass::Keyed, Millis(100)), taking("t.slow", EffectClass::Unkeyed, Millis(2_000)));
    World::with([quick.clone(), slow.clone()]).run(async |live| {
        let mut second = step("slow", "t.slow", json!({}));
        second["timeoutMs"] = json!(5_000);
        let branches = json!([[step("quick", "t.quick", json!({}))], [second]]);
        let id = live.begin(plan(json!([{"id": "both", "kind": "parallel", "branches": branches}])), json!({})).await;
        live.find(async || (quick.count() == 1 && slow.count() == 1).then_some(())).await;
        live.outage(&["commit"], Fault::Unavailable, Millis(20_000)).await;
        live.came_through(id).await;
        assert_eq!((quick.count(), slow.count()), (1, 1));
        let ended = live.world.journal(id).into_iter().filter_map(|row| match row.entry {
            JournalEntry::Finished(outcome) => Some(outcome.status),
            _ => None,
        });
        assert_eq!(ended.collect::<Vec<_>>(), [StepStatus::Completed; 3], "both calls and what holds them");
    });
}

#[test]
fn a_call_begins_when_it_can_be_recorded_and_its_neighbours_go_on() {
    let tools =
        [taking("t.act", EffectClass::Keyed, Millis(100)), taking("t.other", EffectClass::Unkeyed, Millis(3_000))];
    World::with(tools.clone()).run(async |live| {
        let first = json!([step("rest", "core.wait", json!({"ms": 1_000})), step("act", "t.act", json!({}))]);
        let branches = json!([first, [step("other", "t.other", json!({}))]]);
        let id = live.begin(plan(json!([{"id": "both", "kind": "parallel", "branches": branches}])), json!({})).await;
        live.find(async || (tools[1].count() == 1).then_some(())).await;
        let calls = ["begin_attempt", "signals", "user_rules", "tool_settings", "heartbeat"];
        live.outage(&calls, Fault::Unavailable, Millis(10_000)).await;
        live.came_through(id).await;
        assert_eq!(tools.map(|tool| tool.count()), [1, 1]);
    });
}

#[test]
fn what_a_run_has_to_know_is_asked_until_it_is_answered() {
    World::new().run(async |live| {
        let key = live.put(plan(json!([step("a", "t.echo", json!({"name": "{{ user.name }}"}))]))).await;
        live.world.ails(["user", "user_rules", "tool_settings"].map(|call| (call, Fault::Unavailable)));
        let id = live.submit(&key, json!({})).await.id;
        pause(Millis(4_000)).await;
        assert_eq!(live.task(id).await.status, TaskStatus::Executing);
        live.world.ails(None);
        live.came_through(id).await;
    });
}

#[test]
fn an_outcome_is_discarded_when_somebody_else_has_taken_the_task() {
    let tool = taking("t.act", EffectClass::Keyed, Millis(100));
    World::with([tool.clone()]).run(async |live| {
        let id = live.begin(plan(acts(&["t.act"])), json!({})).await;
        live.find(async || (tool.count() == 1).then_some(())).await;
        live.world.ails(["commit", "heartbeat", "claim_due"].map(|call| (call, Fault::Unavailable)));
        pause(Millis(40_000)).await;
        let (thief, length) = (WorkerId::new("another"), Millis(1_000));
        let taken = live
            .world
            .look(live.world.store.claim_due(&thief, &WorkerCapacity::of(10), length, live.now()))
            .await
            .unwrap();
        live.world.ails(None);
        assert_eq!(taken.len(), 1, "its lease was over");
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        assert_eq!(tool.count(), 2, "whoever has it by then calls again under the same key");
    });
}

#[test]
fn mail_that_was_sent_is_noted_as_sent_once_the_store_is_back() {
    for how in [Fault::Unavailable, Fault::AnswerLost] {
        World::new().run(async |live| {
            let args = json!({"to": "a@example.com", "subject": "s", "body": "b"});
            live.world.mail.take(Millis(500));
            let id = live.begin(plan(json!([step("tell", "core.notify", args)])), json!({})).await;
            live.find(async || (!live.world.mail.sent().is_empty()).then_some(())).await;
            live.outage(&["move_outbox", "finish_job", "renew_job"], how, OUTAGE).await;
            live.proven(id).await;
            live.find(async || {
                live.outbox().await.iter().all(|message| message.status == OutboxStatus::Sent).then_some(())
            })
            .await;
            pause(OUTAGE).await;
            assert_eq!(live.world.mail.sent().len(), 1);
            assert_eq!(live.world.mem().jobs()[0].attempts, 1, "nobody was there who could have done it again");
        });
    }
}

#[test]
fn a_process_takes_nothing_from_itself_when_its_leases_are_over() {
    let tools = [
        taking("t.keyed", EffectClass::Keyed, Millis(90_000)),
        taking("t.unkeyed", EffectClass::Unkeyed, Millis(90_000)),
    ];
    World::with(tools.clone()).run(async |live| {
        let slow = |key: &str| {
            let mut slow = step("a", key, json!({}));
            slow["timeoutMs"] = json!(600_000);
            plan(json!([slow]))
        };
        let (keyed, unkeyed) = (slow("t.keyed"), slow("t.unkeyed"));
        let first = live.begin(keyed, json!({})).await;
        let mut other = unkeyed;
        other["key"] = json!("p.other");
        let second = live.begin(other, json!({})).await;
        live.find(async || tools.iter().all(|tool| tool.count() == 1).then_some(())).await;
        // No sign of life gets through for two leases, while the worker looks for work again and again.
        live.outage(&["heartbeat"], Fault::Unavailable, Millis(60_000)).await;
        for id in [first, second] {
            live.came_through(id).await;
        }
        assert_eq!(tools.map(|tool| tool.count()), [1, 1]);
    });
}

#[test]
fn a_job_is_not_taken_from_itself_when_its_lease_is_over() {
    World::new().run(async |live| {
        live.world.mail.take(Millis(90_000));
        let args = json!({"to": "a@example.com", "subject": "s", "body": "b"});
        live.begin(plan(json!([step("tell", "core.notify", args)])), json!({})).await;
        live.find(async || (live.world.mem().jobs().first()?.attempts == 1).then_some(())).await;
        live.outage(&["renew_job"], Fault::Unavailable, Millis(60_000)).await;
        let sent = async || (live.outbox().await.first()?.status == OutboxStatus::Sent).then_some(());
        live.find(sent).await;
        assert_eq!((live.world.mem().jobs()[0].attempts, live.world.mail.sent().len()), (1, 1));
    });
}
