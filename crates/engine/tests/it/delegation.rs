//! Steps in the hands of outside engines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt as _;
use kybern_core::error::ErrorCode;
use kybern_core::id::TaskId;
use kybern_core::job::JobStatus;
use kybern_core::outbox::{OutboxMessage, OutboxStatus};
use kybern_core::ports::{CallbackOutcome, HttpFailure, Keys as _};
use kybern_core::task::{EffectClass, JournalEntry, JournalRow, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::ToolOutcome;
use kybern_engine::task::{CallbackProof, CallbackRequest, TaskView};
use kybern_testkit::TestKeys;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::Live;
use crate::outside::{Wire, Wired, body, header, pause};
use crate::world::{World, plan, step};

fn delegating() -> Value {
    json!([
        {"id": "out", "kind": "workflow", "workflow": "flow", "args": {"n": "{{ task.payload.n }}"}},
        {"id": "after", "tool": "t.echo", "args": {"got": "{{ steps.out.result.answer }}"}},
    ])
}

async fn delegated(live: &Live<'_>) -> TaskView {
    let id = live.begin(plan(delegating()), json!({"n": [1]})).await;
    live.until(id, |task| task.status == TaskStatus::Delegated).await
}

fn id_of(task: TaskId) -> String {
    format!("v1:{}:{task}:out:0", kybern_core::id::TenantId::DEFAULT)
}

fn answer(task: TaskId, success: bool, data: Value) -> CallbackRequest {
    let body_hash = format!("{success}{data}");
    CallbackRequest {
        workflow_id: id_of(task),
        success,
        error: (!success).then(|| "it rained".to_owned()),
        data,
        body_hash,
    }
}

async fn call_back(live: &Live<'_>, task: TaskId, request: CallbackRequest) -> Result<CallbackOutcome, ErrorCode> {
    let secret = TestKeys::new().callback_secret(&request.workflow_id);
    live.engine.tasks().callback(task, &CallbackProof::Secret(secret), request).await.map_err(|error| error.code())
}

/// The engine that was asked says that it failed, in these words.
pub async fn fails(live: &Live<'_>, task: TaskId, words: &str) {
    let request = CallbackRequest { error: Some(words.to_owned()), ..answer(task, false, Value::Null) };
    call_back(live, task, request).await.unwrap();
}

#[test]
fn a_delegation_is_committed_then_dispatched_with_its_key_and_its_own_secret() {
    World::new().run(async |live| {
        let task = delegated(&live).await;
        assert_eq!(task.delegated_workflow_id, Some(id_of(task.id)));
        assert!(live.world.mem().holder(task.id).is_none());
        let request = live.find(async || live.world.wire.requests().first().cloned()).await;
        let sent = body(&request);
        assert_eq!((request.url.as_str(), request.trusted_endpoint), ("http://flow.test/start", true));
        assert_eq!(header(&request, "Idempotency-Key"), Some(id_of(task.id)));
        assert!(header(&request, "traceparent").unwrap().contains(&task.trace_id));
        assert_eq!((&sent["workflowId"], &sent["args"]), (&json!(id_of(task.id)), &json!({"n": [1]})));
        assert_eq!(sent["callbackSecret"], json!(TestKeys::new().callback_secret(&id_of(task.id))));
        assert!(!json!(live.outbox().await[0].message.body).to_string().contains("callbackSecret"));
        assert_eq!(live.world.mem().delegations(task.id).len(), 1);
    });
}

#[test]
fn a_callback_ends_the_step_and_the_steps_after_it_run() {
    World::new().run(async |live| {
        let task = delegated(&live).await;
        let outcome = call_back(&live, task.id, answer(task.id, true, json!({"answer": 42}))).await;
        assert_eq!(outcome, Ok(CallbackOutcome::Accepted));
        let task = live.proven(task.id).await;
        assert_eq!((task.status, task.result), (TaskStatus::Completed, Some(json!({"got": 42}))));
        assert_eq!(task.delegated_workflow_id, None);
    });
}

#[test]
fn a_callback_of_failure_fails_the_step() {
    World::new().run(async |live| {
        let task = delegated(&live).await;
        call_back(&live, task.id, answer(task.id, false, Value::Null)).await.unwrap();
        let task = live.proven(task.id).await;
        let error = task.error.unwrap();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::Workflow, "it rained"));
    });
}

#[test]
fn the_same_callback_twice_is_a_duplicate_another_body_a_conflict_and_one_after_the_end_is_late() {
    World::new().run(async |live| {
        let task = delegated(&live).await;
        let yes = answer(task.id, true, json!({"answer": 1}));
        assert_eq!(call_back(&live, task.id, yes.clone()).await, Ok(CallbackOutcome::Accepted));
        assert_eq!(call_back(&live, task.id, yes.clone()).await, Ok(CallbackOutcome::Duplicate));
        let no = answer(task.id, false, Value::Null);
        assert_eq!(call_back(&live, task.id, no.clone()).await, Ok(CallbackOutcome::Conflict));
        let ended = live.proven(task.id).await;
        assert_eq!(ended.result, Some(json!({"got": 1})));
        assert_eq!(call_back(&live, task.id, yes).await, Ok(CallbackOutcome::Duplicate));
        let actions: Vec<String> = live
            .engine
            .audit()
            .events(live.world.scope(), 0, 100)
            .await
            .unwrap()
            .into_iter()
            .map(|event| event.event.action)
            .collect();
        assert!(actions.contains(&"delegation.conflict".to_owned()), "{actions:?}");
        let other = delegated(&live).await;
        live.engine.tasks().cancel(&live.world.actor, other.id).await.unwrap();
        live.end(other.id).await;
        assert_eq!(call_back(&live, other.id, answer(other.id, true, json!({}))).await, Ok(CallbackOutcome::Late));
        assert_eq!(live.proven(other.id).await.status, TaskStatus::Cancelled);
    });
}

#[test]
fn a_callback_that_comes_before_the_delegation_is_kept_and_applied() {
    for success in [true, false] {
        World::new().run(async |live| {
            let mut steps = delegating();
            steps.as_array_mut().unwrap().insert(0, step("rest", "core.wait", json!({"ms": 200})));
            let id = live.begin(plan(steps), json!({"n": 1})).await;
            let data = if success { json!({"answer": "early"}) } else { Value::Null };
            assert_eq!(call_back(&live, id, answer(id, success, data)).await, Ok(CallbackOutcome::Kept));
            let task = live.proven(id).await;
            let expected = if success { TaskStatus::Completed } else { TaskStatus::Failed };
            assert_eq!(task.status, expected, "{task:#?}");
            assert!(task.completed_at.unwrap().since(task.created_at) < Millis(10_000));
            assert!(live.world.wire.requests().is_empty());
        });
    }
}

#[test]
fn a_forged_callback_and_one_for_another_task_or_step_are_refused() {
    World::new().run(async |live| {
        let (task, other) = (delegated(&live).await, delegated(&live).await);
        let request = answer(task.id, true, json!({"answer": 1}));
        let forged =
            live.engine.tasks().callback(task.id, &CallbackProof::Secret("guess".to_owned()), request.clone()).await;
        assert_eq!(forged.unwrap_err().code(), ErrorCode::Unauthenticated);
        let keys = TestKeys::new();
        let others = CallbackProof::Secret(keys.callback_secret(&id_of(other.id)));
        let forged = live.engine.tasks().callback(task.id, &others, request.clone()).await;
        assert_eq!(forged.unwrap_err().code(), ErrorCode::Unauthenticated);
        assert_eq!(call_back(&live, other.id, request.clone()).await, Err(ErrorCode::NotFound));
        let mut elsewhere = request.clone();
        elsewhere.workflow_id = elsewhere.workflow_id.replace(":out:", ":ghost:");
        assert_eq!(call_back(&live, task.id, elsewhere).await, Err(ErrorCode::NotFound));
        assert_eq!(live.task(task.id).await.status, TaskStatus::Delegated);
    });
}

#[test]
fn a_delegation_without_a_callback_ends_at_its_deadline_and_a_late_callback_changes_nothing() {
    World::new().set(|settings| settings.poll = Millis(1_000)).run(async |live| {
        let steps = json!([
            {"id": "out", "kind": "workflow", "workflow": "flow", "timeoutMs": 3_600_000, "stopOnFailure": false},
            step("rest", "core.wait", json!({"ms": 60_000})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.until(id, |task| task.failed_steps == ["out"]).await;
        assert_eq!(live.outcome(id, "out").unwrap().error.unwrap().code, ErrorCode::Timeout);
        assert!(live.now().since(task.created_at) >= Millis(3_600_000));
        call_back(&live, id, answer(id, true, json!({"answer": 1}))).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.failed_steps), (TaskStatus::Completed, vec!["out".to_owned()]));
        assert!(!task.state.contains_key("answer"));
    });
}

#[test]
fn a_dispatch_that_the_engine_refuses_fails_the_step_at_once() {
    World::new().on(Wire::new(|_, _| Wired::Answer(404, json!({})))).run(async |live| {
        let task = delegated(&live).await;
        let task = live.proven(task.id).await;
        let error = task.error.unwrap();
        assert_eq!(error.code, ErrorCode::Workflow);
        assert!(error.message.contains("404"), "{}", error.message);
    });
}

#[test]
fn a_dispatch_that_does_not_come_through_is_sent_again_with_the_same_key() {
    let wire = Wire::new(|_, n| if n < 3 { Wired::Answer(503, json!({})) } else { Wired::Answer(202, json!({})) });
    World::new().on(wire).run(async |live| {
        let task = delegated(&live).await;
        live.find(async || (live.world.wire.requests().len() == 3).then_some(())).await;
        assert_eq!(live.world.wire.keys().into_values().collect::<Vec<_>>(), [3]);
        assert_eq!(live.task(task.id).await.status, TaskStatus::Delegated);
    });
}

#[test]
fn a_workflow_that_may_have_begun_is_waited_for_whatever_later_tries_of_its_dispatch_come_to() {
    let lost = || Wired::Fail(HttpFailure::NoAnswer("reset".to_owned()));
    let stories: [fn(usize) -> Wired; 3] = [
        |_| Wired::Answer(500, json!({})),
        |n| if n == 1 { Wired::Answer(502, json!({})) } else { Wired::Answer(404, json!({})) },
        |n| {
            if n == 1 { Wired::Answer(503, json!({})) } else { Wired::Fail(HttpFailure::Connect("refused".to_owned())) }
        },
    ];
    let stories = stories.map(|answers| Wire::new(move |_, n| answers(n)));
    let timed_out = Wire::new(move |_, n| if n == 1 { lost() } else { Wired::Answer(404, json!({})) });
    for (number, wire) in stories.into_iter().chain([timed_out]).enumerate() {
        let mut world = World::new().on(wire);
        world.tick = Millis(1_000);
        world.run(async |live| {
            let task = delegated(&live).await;
            let end = async || live.outbox().await.pop().filter(|message| message.status == OutboxStatus::Uncertain);
            let message = live.find(end).await;
            assert!(message.error.is_some() && message.attempts > 1, "{number}: {message:?}");
            assert_eq!(live.task(task.id).await.status, TaskStatus::Delegated, "{number}");
            let outcome = call_back(&live, task.id, answer(task.id, true, json!({"answer": 7}))).await;
            assert_eq!(outcome, Ok(CallbackOutcome::Accepted), "{number}");
            assert_eq!(live.proven(task.id).await.result, Some(json!({"got": 7})), "{number}");
        });
    }
}

/// An engine that is away until it is said to be there.
fn away(there: &Arc<AtomicBool>) -> Wire {
    let there = Arc::clone(there);
    Wire::new(move |_, _| match there.load(Ordering::SeqCst) {
        true => Wired::Answer(202, json!({})),
        false => Wired::Fail(HttpFailure::Connect("refused".to_owned())),
    })
}

#[test]
fn a_dispatch_that_has_not_left_is_withdrawn_when_its_task_is_cancelled() {
    let there = Arc::new(AtomicBool::new(false));
    World::new().on(away(&there)).run(async |live| {
        let task = delegated(&live).await;
        live.find(async || (live.world.wire.requests().len() == 2).then_some(())).await;
        live.engine.tasks().cancel(&live.world.actor, task.id).await.unwrap();
        assert_eq!(live.end(task.id).await.status, TaskStatus::Cancelled);
        let tried = live.world.wire.requests().len();
        there.store(true, Ordering::SeqCst);
        let withdrawn = async || live.outbox().await.pop().filter(|message| message.status == OutboxStatus::Failed);
        let message = live.find(withdrawn).await;
        let words = "withdrawn: its step waits for it no longer";
        assert_eq!((message.error.as_deref(), live.world.wire.requests().len()), (Some(words), tried));
        live.find(async || live.world.mem().jobs().iter().all(|job| job.status == JobStatus::Done).then_some(())).await;
    });
}

#[test]
fn a_dispatch_whose_time_was_up_before_it_left_does_not_arrive_beside_the_one_of_the_retry() {
    let there = Arc::new(AtomicBool::new(false));
    World::new().on(away(&there)).run(async |live| {
        let id = overdue(&live).await;
        let tried = live.world.wire.requests().len();
        there.store(true, Ordering::SeqCst);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        let open = |message: &OutboxMessage| matches!(message.status, OutboxStatus::Pending | OutboxStatus::Sending);
        live.find(async || (!live.outbox().await.iter().any(open)).then_some(())).await;
        let requests = live.world.wire.requests();
        let keys: Vec<_> = requests[tried..].iter().map(|sent| header(sent, "Idempotency-Key")).collect();
        let again = id_of(id).replace(":out:0", ":out:1");
        assert_eq!(keys, [Some(again.clone())]);
        let mut heard = answer(id, true, json!({"answer": 2}));
        heard.workflow_id = again;
        assert_eq!(call_back(&live, id, heard).await, Ok(CallbackOutcome::Accepted));
        assert_eq!(live.proven(id).await.result, Some(json!({"got": 2})));
    });
}

/// A task whose workflow did not answer in time.
async fn overdue(live: &Live<'_>) -> TaskId {
    let mut steps = delegating();
    steps[0]["timeoutMs"] = json!(60_000);
    let id = live.begin(plan(steps), json!({"n": 1})).await;
    assert_eq!(live.end(id).await.status, TaskStatus::Failed);
    assert_eq!(live.outcome(id, "out").unwrap().error.unwrap().code, ErrorCode::Timeout);
    id
}

#[test]
fn an_answer_that_came_after_the_deadline_counts_once_the_task_is_tried_again() {
    World::new().run(async |live| {
        let id = overdue(&live).await;
        let late = answer(id, true, json!({"answer": "late"}));
        assert_eq!(call_back(&live, id, late).await, Ok(CallbackOutcome::Late));
        assert_eq!(live.task(id).await.status, TaskStatus::Failed);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.result), (TaskStatus::Completed, Some(json!({"got": "late"}))));
        assert_eq!(live.world.wire.requests().len(), 1, "what has answered is not asked again");
    });
}

#[test]
fn a_workflow_that_has_not_answered_or_has_failed_is_begun_anew_when_the_task_is_tried_again() {
    for failed in [true, false] {
        World::new().run(async |live| {
            let id = overdue(&live).await;
            if failed {
                assert_eq!(call_back(&live, id, answer(id, false, Value::Null)).await, Ok(CallbackOutcome::Late));
            }
            live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
            live.until(id, |_| live.world.wire.requests().len() == 2).await;
            let mut again = answer(id, true, json!({"answer": 2}));
            again.workflow_id = again.workflow_id.replace(":out:0", ":out:1");
            assert_eq!(call_back(&live, id, again).await, Ok(CallbackOutcome::Accepted));
            let task = live.proven(id).await;
            assert_eq!((task.status, task.result), (TaskStatus::Completed, Some(json!({"got": 2}))));
            let keys: Vec<_> = live.world.wire.requests().iter().map(|sent| header(sent, "Idempotency-Key")).collect();
            assert_eq!(keys, [Some(id_of(id)), Some(id_of(id).replace(":out:0", ":out:1"))]);
        });
    }
}

/// A task that was given up beside a workflow under way, because worker after worker died in a call.
fn given_up(world: &World, patience: u64) -> TaskId {
    let mut steps = delegating();
    steps[0]["timeoutMs"] = json!(patience);
    let hang = json!({"id": "hang", "tool": "t.hang", "timeoutMs": 3_600_000});
    let both = json!([{"id": "both", "kind": "parallel", "branches": [[steps[0]], [hang]]}]);
    let id = world.run(async |live| {
        let id = live.begin(plan(both), json!({"n": 1})).await;
        live.until(id, |_| !live.world.wire.requests().is_empty()).await;
        id
    });
    for life in 1..=10 {
        let over = world.run(async |live| {
            let is_recovery = |row: &JournalRow| matches!(row.entry, JournalEntry::Recovered { .. });
            let recoveries = || world.journal(id).iter().filter(|row| is_recovery(row)).count();
            let task = live.until(id, |task| task.status.is_terminal() || recoveries() >= life).await;
            task.status.is_terminal()
        });
        if over {
            return id;
        }
    }
    panic!("it was not given up")
}

/// Hangs until a person has had it tried again.
fn hanging(may_end: &Arc<AtomicBool>) -> Arc<ScriptedTool> {
    let may_end = may_end.clone();
    Arc::new(ScriptedTool::pending("t.hang", EffectClass::Keyed, move |_, _| {
        let hangs = !may_end.load(Ordering::SeqCst);
        async move { if hangs { std::future::pending().await } else { Ok(ToolOutcome::default()) } }.boxed()
    }))
}

#[test]
fn a_workflow_that_answers_while_its_task_is_given_up_is_heard_once_the_task_is_tried_again() {
    let may_end = Arc::new(AtomicBool::new(false));
    let world = World::with([hanging(&may_end)]).set(|settings| settings.max_recoveries = 1);
    let id = given_up(&world, 3_600_000);
    may_end.store(true, Ordering::SeqCst);
    world.run(async |live| {
        let mut heard = answer(id, true, json!({"answer": 1}));
        heard.workflow_id = heard.workflow_id.replace(":out:", ":both__out:");
        assert_eq!(call_back(&live, id, heard).await, Ok(CallbackOutcome::Late));
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["answer"]), (TaskStatus::Completed, &json!(1)));
        assert_eq!(live.world.wire.requests().len(), 1);
    });
}

#[test]
fn a_workflow_whose_time_was_up_while_its_task_was_given_up_is_begun_anew() {
    let may_end = Arc::new(AtomicBool::new(false));
    let world = World::with([hanging(&may_end)]).set(|settings| settings.max_recoveries = 1);
    let id = given_up(&world, 3_600_000);
    may_end.store(true, Ordering::SeqCst);
    world.run(async |live| {
        pause(Millis(3_700_000)).await;
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        live.until(id, |_| live.world.wire.requests().len() == 2).await;
        let mut again = answer(id, true, json!({"answer": 2}));
        again.workflow_id = again.workflow_id.replace(":out:0", ":both__out:1");
        assert_eq!(call_back(&live, id, again).await, Ok(CallbackOutcome::Accepted));
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}
