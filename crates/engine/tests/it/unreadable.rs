//! What cannot be read harms itself only: it is given up, cancelled and shown, and everything beside it goes on.

use kybern_core::approval::Verdict;
use kybern_core::error::ErrorCode;
use kybern_core::event::EventType;
use kybern_core::id::TaskId;
use kybern_core::ports::TaskFilter;
use kybern_core::task::TaskStatus;
use kybern_core::time::Millis;
use kybern_engine::approval::ApprovalDecision;
use kybern_testkit::conformance::Spoilt;
use serde_json::json;

use crate::live::Live;
use crate::world::{World, plan, step};

/// A short lease, so that recoveries come soon.
fn world() -> World {
    World::new().set(|settings| {
        settings.lease = Millis(1_000);
        settings.heartbeat = Millis(300);
    })
}

/// A task that rests for a while.
async fn resting(live: &Live<'_>, ms: u64) -> TaskId {
    let steps = json!([step("rest", "core.wait", json!({"ms": ms})), step("after", "core.noop", json!({}))]);
    let id = live.begin(plan(steps), json!({"n": 1})).await;
    live.until(id, |_| live.world.mem().holder(id).is_none()).await;
    id
}

#[test]
fn an_unreadable_task_is_given_up_and_the_others_go_on() {
    world().run(async |live| {
        let (bad, good) = (resting(&live, 500).await, resting(&live, 500).await);
        live.world.mem().spoil(Spoilt::Task(bad));
        assert_eq!(live.proven(good).await.status, TaskStatus::Completed);
        let listed =
            live.engine.tasks().list(&live.world.actor, TaskFilter { limit: 10, ..TaskFilter::default() }).await;
        let told: Vec<bool> = listed.unwrap().items.iter().map(|task| task.unreadable.is_some()).collect();
        assert_eq!(told, [false, true]);
        let task = live.end(bad).await;
        assert_eq!(task.status, TaskStatus::Failed);
        let error = task.error.unwrap();
        assert!(error.message.contains("cannot be loaded") && error.message.contains("kybern doctor"), "{error:?}");
        assert_eq!(
            live.engine.tasks().replay(&live.world.actor, bad).await.unwrap_err().code(),
            ErrorCode::Unprocessable
        );
        let fork = live.engine.tasks().fork(&live.world.actor, bad, None).await;
        assert_eq!(fork.unwrap_err().code(), ErrorCode::Unprocessable, "nothing is made of what is not there");
    });
}

#[test]
fn a_task_whose_plan_cannot_be_read_is_shown_with_what_is_wrong() {
    let world = world();
    let id = world.run(async |live| {
        let id = resting(&live, 3_600_000).await;
        live.world.mem().spoil(Spoilt::PlanOf(id));
        id
    });
    // Another process has not read the plan before.
    world.run(async |live| {
        let task = live.task(id).await;
        let told = task.unreadable.unwrap();
        assert!(told.contains("the frozen plan cannot be read") && told.contains("kybern doctor"), "{told}");
        assert_eq!((task.selected_plan.as_deref(), task.frozen_plan.steps().len()), (Some("test.plan"), 0));
        let waited = live.engine.tasks().wait_for(&live.world.actor, id, Millis(1)).await.unwrap();
        assert!(waited.unreadable.is_some());
        live.engine.tasks().cancel(&live.world.actor, id).await.unwrap();
        assert_eq!(live.end(id).await.status, TaskStatus::Cancelled);
        assert_eq!(
            live.engine.tasks().replay(&live.world.actor, id).await.unwrap_err().code(),
            ErrorCode::Unprocessable
        );
    });
}

#[test]
fn an_unreadable_task_is_cancelled_at_once() {
    world().run(async |live| {
        let id = resting(&live, 3_600_000).await;
        live.world.mem().spoil(Spoilt::Task(id));
        live.engine.tasks().cancel(&live.world.actor, id).await.unwrap();
        let task = live.end(id).await;
        assert_eq!((task.status, task.recoveries), (TaskStatus::Cancelled, 0));
    });
}

#[test]
fn an_unreadable_row_of_the_journal_gives_its_task_up_and_stands_in_its_log() {
    world().run(async |live| {
        let id = resting(&live, 500).await;
        live.world.mem().spoil(Spoilt::Journal(id, 1));
        let task = live.end(id).await;
        assert_eq!(task.status, TaskStatus::Failed);
        assert!(task.error.unwrap().message.contains("row 1 of its journal cannot be read"));
        let shown = live.log(id).await.into_iter().filter(|entry| entry.event_type == EventType::Unreadable).count();
        assert_eq!(shown, 1);
        assert!(!live.replay(id).await.matches);
    });
}

#[test]
fn an_unreadable_answer_fails_its_task_and_a_retry_asks_again() {
    world().run(async |live| {
        let ask = step("ask", "core.ask", json!({"title": "what?", "fields": {"v": {}}}));
        let id = live.begin(plan(json!([ask])), json!({})).await;
        live.rest(id).await;
        live.engine.tasks().pause(&live.world.actor, id).await.unwrap();
        live.review(id, None, json!({"v": 1})).await.unwrap();
        live.world.mem().spoil(Spoilt::Signal(id, 1));
        live.engine.tasks().resume(&live.world.actor, id).await.unwrap();
        let task = live.end(id).await;
        assert_eq!(task.status, TaskStatus::Failed);
        assert!(task.error.unwrap().message.contains("what was answered cannot be read (signal 1)"));
    });
}

#[test]
fn an_unreadable_question_can_only_be_denied() {
    world().run(async |live| {
        let ask = step("ask", "core.ask", json!({"title": "what?", "fields": {"v": {}}}));
        let id = live.begin(json!({"key": "test.ask", "steps": [ask]}), json!({})).await;
        let approval = live.rest(id).await.waits[0].approval_id.unwrap();
        live.world.mem().spoil(Spoilt::Approval(approval));
        let decide = async |word| {
            let decision = ApprovalDecision { word, note: None, resolution: None };
            live.engine.approvals().decide(&live.world.actor, approval, decision).await
        };
        let refused = decide(Verdict::Approve(None)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Conflict);
        assert!(refused.to_string().contains("deny it"), "{refused}");
        decide(Verdict::Deny).await.unwrap();
        assert_eq!(live.end(id).await.status, TaskStatus::Cancelled);
    });
}
