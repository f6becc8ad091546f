//! Values nested too deep: refused at each door, the failure of the step that makes one, and never a row that cannot
//! be read again.

use std::sync::Arc;

use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{OutboxId, TaskId};
use kybern_core::json::MAX_DEPTH;
use kybern_core::outbox::{NewOutbox, OutboxChannel};
use kybern_core::ports::{CallbackOutcome, Keys as _, TaskStore as _};
use kybern_core::task::{EffectClass, JournalRow, TaskStatus};
use kybern_core::tool::{Review, ToolOutcome};
use kybern_engine::task::{CallbackProof, CallbackRequest, SubmitRequest};
use kybern_testkit::TestKeys;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::live::{Live, object};
use crate::outside::{Wire, Wired};
use crate::world::{World, plan, step};

/// Lists in each other.
fn nested(depth: usize) -> Value {
    (1..depth).fold(json!([]), |inner, _| json!([inner]))
}

/// Every row of a task's journal is read again by an ordinary reader.
fn readable(world: &World, id: TaskId) {
    for row in world.journal(id) {
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<JournalRow>(&text).unwrap(), row);
    }
}

fn refused(error: &Error, path: &str) {
    assert_eq!(error.code(), ErrorCode::Validation);
    let detail = &error.details()[0];
    assert!(detail.path.starts_with(path), "{}", detail.path);
    assert!(detail.message.contains("deeper than 64 levels"), "{}", detail.message);
}

/// The step has failed because of what it made, and the task with it.
async fn failed(live: &Live<'_>, id: TaskId, step: &str, what: &str) {
    let task = live.proven(id).await;
    assert_eq!(task.status, TaskStatus::Failed);
    let error = live.outcome(id, step).unwrap().error.unwrap();
    assert_eq!(error.code, ErrorCode::Unprocessable, "{}", error.message);
    assert!(error.message.contains(what) && error.message.contains("deeper than 64 levels"), "{}", error.message);
    readable(live.world, id);
}

#[test]
fn a_payload_at_the_limit_is_taken_and_a_deeper_one_refused() {
    World::new().run(async |live| {
        let key = live.put(plan(json!([step("a", "core.noop", json!({}))]))).await;
        let request =
            |depth| SubmitRequest { plan_key: Some(key.clone()), payload: nested(depth), ..SubmitRequest::text("go") };
        let id = live.try_submit(request(MAX_DEPTH)).await.unwrap().id;
        live.proven(id).await;
        refused(&live.try_submit(request(MAX_DEPTH + 1)).await.unwrap_err(), "/payload/0/0");
    });
}

#[test]
fn a_child_that_would_get_too_deep_a_value_is_not_made() {
    World::new().run(async |live| {
        live.put(json!({"key": "test.child", "steps": [step("a", "core.noop", json!({}))]})).await;
        let input = "{{ {'a': {'b': task.payload}} }}";
        let sub = json!([{"id": "sub", "kind": "task", "planKey": "test.child", "input": input}]);
        let id = live.begin(plan(sub), nested(MAX_DEPTH - 1)).await;
        failed(&live, id, "sub", "the step's input cannot be made").await;
        assert!(live.world.store.children(live.world.scope(), id).await.unwrap().is_empty());
    });
}

#[test]
fn a_call_is_not_made_with_arguments_that_are_too_deep() {
    let tool = Arc::new(ScriptedTool::noop("t.post", EffectClass::Keyed));
    World::with([tool.clone()]).run(async |live| {
        let steps = json!([step("a", "t.post", json!({"v": "{{ task.payload }}"}))]);
        let id = live.begin(plan(steps), nested(MAX_DEPTH)).await;
        let task = live.proven(id).await;
        assert_eq!(task.error.unwrap().code, ErrorCode::Validation);
        assert_eq!(tool.count(), 0);
    });
}

#[test]
fn whatever_part_of_a_result_is_too_deep_fails_the_step() {
    let deep = || nested(MAX_DEPTH + 1);
    let review = |schema: Value, details: Value| {
        ToolOutcome::ask(Review { reason: "why".to_owned(), title: None, schema, details, answer_is_result: false })
    };
    let message = NewOutbox {
        id: OutboxId::from_uuid(Uuid::from_u128(7)),
        channel: OutboxChannel::Webhook,
        target: "http://out.test/x".to_owned(),
        key: "k".to_owned(),
        body: deep(),
    };
    let inside = nested(MAX_DEPTH);
    let outcomes = [
        ("the result cannot be kept", ToolOutcome::new(object(json!({"v": inside.clone()})), "made")),
        ("a message cannot be kept", ToolOutcome { outbox: vec![message], ..ToolOutcome::default() }),
        ("a new step cannot be kept", ToolOutcome { new_steps: vec![deep()], ..ToolOutcome::default() }),
        ("the question's schema cannot be kept", review(deep(), Value::Null)),
        ("the question cannot be kept", review(json!({"type": "object"}), deep())),
        (
            "the arguments of the workflow cannot be kept",
            ToolOutcome {
                delegate: Some(Box::new(("flow".to_owned(), object(json!({"v": inside}))))),
                ..ToolOutcome::default()
            },
        ),
    ];
    for (what, outcome) in outcomes {
        let tool = ScriptedTool::answers("t.get", EffectClass::Keyed, [Ok(outcome)]);
        World::with([Arc::new(tool)]).run(async |live| {
            let id = live.begin(plan(json!([step("a", "t.get", json!({}))])), json!({})).await;
            failed(&live, id, "a", what).await;
            assert!(live.outbox().await.is_empty());
        });
    }
}

#[test]
fn steps_that_collect_what_others_made_fail_when_it_grows_too_deep() {
    World::new().run(async |live| {
        let inner = step("e", "t.echo", json!({"v": "{{ task.payload }}"}));
        let steps = json!([
            {"id": "all", "kind": "loop", "over": [1, 2], "steps": [inner]},
            step("after", "core.noop", json!({}))
        ]);
        let id = live.begin(plan(steps), nested(MAX_DEPTH - 1)).await;
        failed(&live, id, "all", "the step's data cannot be kept").await;
    });
}

#[test]
fn an_answer_too_deep_to_be_kept_stays_the_text_that_it_is() {
    let wire = |depth| Wire::new(move |_, _| Wired::Answer(200, nested(depth)));
    let get = || step("a", "core.http_request", json!({"method": "GET", "url": "http://out.test/x"}));
    for (depth, name) in [(MAX_DEPTH - 1, "json"), (MAX_DEPTH, "text"), (126, "text"), (300, "text")] {
        World::new().on(wire(depth)).run(async |live| {
            let id = live.begin(plan(json!([get()])), json!({})).await;
            let task = live.proven(id).await;
            let expected = if name == "json" { nested(depth) } else { json!(nested(depth).to_string()) };
            assert_eq!(task.state.get(name), Some(&expected), "{depth}");
            readable(live.world, id);
        });
    }
}

#[test]
fn answers_of_persons_and_of_workflows_are_refused_and_may_be_given_again() {
    World::new().run(async |live| {
        let steps = json!([
            step("ask", "core.ask", json!({"title": "what?", "fields": {"v": {}}})),
            {"id": "out", "kind": "workflow", "workflow": "flow", "args": {}},
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        live.rest(id).await;
        let refusal = live.review(id, None, json!({"v": nested(MAX_DEPTH)})).await.unwrap_err();
        refused(&refusal, "/corrections/v/0");
        live.review(id, None, json!({"v": nested(MAX_DEPTH - 1)})).await.unwrap();
        live.until(id, |task| task.status == TaskStatus::Delegated).await;
        let call = async |depth| {
            let workflow_id = format!("v1:{}:{id}:out:0", kybern_core::id::TenantId::DEFAULT);
            let proof = CallbackProof::Secret(TestKeys::new().callback_secret(&workflow_id));
            let data = nested(depth);
            let body_hash = depth.to_string();
            let request = CallbackRequest { workflow_id, success: true, error: None, data, body_hash };
            live.engine.tasks().callback(id, &proof, request).await
        };
        refused(&call(MAX_DEPTH + 1).await.unwrap_err(), "/data/0");
        assert_eq!(call(MAX_DEPTH).await.unwrap(), CallbackOutcome::Accepted);
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        readable(live.world, id);
    });
}

#[test]
fn a_task_keeps_so_much_data_and_its_next_step_fails() {
    let small = || Value::Array(vec![json!(0); 200_000]);
    let tool = ScriptedTool::new("t.get", EffectClass::Read, move |context, _| {
        let message = NewOutbox {
            id: OutboxId::from_uuid(context.ids.next()),
            channel: OutboxChannel::Webhook,
            target: "http://out.test/x".to_owned(),
            key: context.key.clone(),
            body: json!({}),
        };
        let outcome = ToolOutcome::new(object(json!({"v": small()})), "made");
        Ok(ToolOutcome { outbox: vec![message], ..outcome })
    });
    World::with([Arc::new(tool)]).run(async |live| {
        // Each step's data takes about 6.1 MiB.
        let many: Vec<Value> = (0..12).map(|n| step(&format!("s{n}"), "t.get", json!({}))).collect();
        let id = live.begin(plan(Value::Array(many)), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Failed);
        let error = live.outcome(id, "s10").unwrap().error.unwrap();
        assert_eq!(error.code, ErrorCode::PayloadTooLarge);
        assert!(error.message.contains("the limit of a task is 67108864"), "{}", error.message);
        assert!(live.outcome(id, "s9").unwrap().error.is_none() && live.outcome(id, "s11").is_none());
        assert_eq!(live.outbox().await.len(), 10, "what has failed sends nothing");
    });
}
