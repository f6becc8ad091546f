//! What strangers say, handed on to children: it stays as untrusted as it was.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::id::TaskId;
use kybern_core::ports::TaskStore as _;
use kybern_core::task::{Channel, EffectClass, TaskStatus, WaitKind};
use kybern_core::tool::ToolOutcome;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::fakes::FixedIntent;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::{Live, kinds, object, wait};
use crate::outside::CountedIntent;
use crate::world::{World, plan, step};

async fn child_of(live: &Live<'_>, parent: TaskId) -> TaskId {
    let store = &live.world.store;
    live.find(async || live.world.look(store.children(live.world.scope(), parent)).await.unwrap().first().copied())
        .await
}

/// A tool that read a document, and another that goes to a place.
fn reader_and_caller() -> [Arc<ScriptedTool>; 2] {
    let reader = ScriptedTool::new("t.reader", EffectClass::Read, |_, _| {
        Ok(ToolOutcome::new(object(json!({"to": "stranger@example.com"})), ""))
    });
    let caller = ScriptedTool::noop("t.caller", EffectClass::Keyed);
    [
        Arc::new(reader.with_spec(|spec| spec.untrusted_output = true)),
        Arc::new(caller.with_spec(|spec| spec.destinations = vec!["to".to_owned()])),
    ]
}

/// Stores a plan that goes where its input says.
async fn put_calling(live: &Live<'_>) {
    let call = step("call", "t.caller", json!({"to": "{{ task.payload.to | default(task.input) }}"}));
    live.put(json!({"key": "test.child", "steps": [call]})).await;
}

fn handing_on(input: Value) -> Value {
    json!({"id": "sub", "kind": "task", "planKey": "test.child", "input": input})
}

#[test]
fn what_a_trusted_task_read_is_a_strangers_in_its_child() {
    // As an object's member and as the whole text, by the state and by the step's result.
    for input in [json!({"to": "{{ state.to }}"}), json!("{{ steps.read.result.to }}")] {
        let [reader, caller] = reader_and_caller();
        World::with([reader, caller.clone()]).run(async |live| {
            put_calling(&live).await;
            let steps = json!([step("read", "t.reader", json!({})), handing_on(input.clone())]);
            let id = live.begin(plan(steps), json!({})).await;
            let child = live.rest(child_of(&live, id).await).await;
            assert_eq!((child.channel, kinds(&child)), (Channel::Webhook, vec![WaitKind::Confirmation]), "{input}");
            assert!(wait(&child).reason.contains("stranger@example.com"));
            assert_eq!((live.task(id).await.channel, caller.count()), (Channel::Api, 0));
            live.review(child.id, None, json!({})).await.unwrap();
            assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
            assert_eq!(caller.calls()[0].args["to"], json!("stranger@example.com"));
        });
    }
}

#[test]
fn what_a_letter_says_stays_a_strangers_in_every_child_of_its_task() {
    let [reader, caller] = reader_and_caller();
    let table = FixedIntent::new().when("please", "test.plan", 0.9);
    let world = World::with([reader, caller.clone()]).knowing(CountedIntent { table, ..CountedIntent::default() });
    world.run(async |live| {
        put_calling(&live).await;
        live.put(json!({"key": "test.middle", "steps": [handing_on(json!({"to": "{{ task.payload.to }}"}))]})).await;
        let mut first = handing_on(json!({"to": "{{ task.payload.subject }}"}));
        first["planKey"] = json!("test.middle");
        live.put(plan(json!([first]))).await;
        let letter = json!({"id": "1@example.com", "subject": "stranger@example.com", "text": "please"});
        let received =
            live.engine.intake().receive_email(&live.world.actor, letter.to_string().into(), None).await.unwrap();
        let middle = child_of(&live, received.task_id).await;
        let leaf = live.rest(child_of(&live, middle).await).await;
        assert_eq!((live.task(middle).await.channel, leaf.channel), (Channel::Email, Channel::Email));
        assert_eq!((kinds(&leaf), caller.count()), (vec![WaitKind::Confirmation], 0));
    });
}

#[test]
fn a_letter_has_no_more_than_an_operators_rights_whoever_hands_it_in() {
    let table = FixedIntent::new().when("please", "test.plan", 0.9);
    let world = World::with([]).knowing(CountedIntent { table, ..CountedIntent::default() });
    world.run(async |live| {
        live.put(json!({"key": "desk.other", "steps": [step("s", "core.noop", json!({}))]})).await;
        live.put(plan(json!([step("gone", "plans.delete", json!({"plan_key": "desk.other"}))]))).await;
        // The world's actor is an administrator.
        let letter = json!({"id": "1@example.com", "subject": "A plan", "text": "please"});
        let received =
            live.engine.intake().receive_email(&live.world.actor, letter.to_string().into(), None).await.unwrap();
        let task = live.rest(received.task_id).await;
        assert_eq!(task.error.map(|error| error.code), Some(ErrorCode::PermissionDenied));
        let fork = live.engine.tasks().fork(&live.world.actor, received.task_id, None).await.unwrap();
        let fork = live.rest(fork.id).await;
        assert_eq!(fork.error.map(|error| error.code), Some(ErrorCode::PermissionDenied), "nor has a fork of it");
        assert!(live.engine.plans().get(live.world.scope(), "desk.other").await.unwrap().active);
    });
}

#[test]
fn what_a_form_on_the_web_says_is_a_strangers() {
    let [_, caller] = reader_and_caller();
    World::with([caller.clone()]).run(async |live| {
        put_calling(&live).await;
        let request = SubmitRequest {
            plan_key: Some("test.child".to_owned()),
            payload: json!({"to": "stranger@example.com"}),
            channel: Channel::Web,
            ..SubmitRequest::text("go")
        };
        let task = live.rest(live.try_submit(request).await.unwrap().id).await;
        assert_eq!((kinds(&task), caller.count()), (vec![WaitKind::Confirmation], 0));
    });
}

#[test]
fn what_a_trusted_task_says_itself_is_trusted_in_its_child() {
    let [reader, caller] = reader_and_caller();
    World::with([reader, caller.clone()]).run(async |live| {
        put_calling(&live).await;
        // That something untrusted was read beside it taints nothing that is not made of it.
        let steps = json!([step("read", "t.reader", json!({})), handing_on(json!({"to": "{{ task.payload.to }}"}))]);
        let id = live.begin(plan(steps), json!({"to": "us@example.com"})).await;
        let child = live.proven(child_of(&live, id).await).await;
        assert_eq!((child.channel, child.status, caller.count()), (Channel::System, TaskStatus::Completed, 1));
    });
}

#[test]
fn what_an_approved_call_brings_back_is_as_untrusted_as_its_arguments() {
    let [reader, _] = reader_and_caller();
    let caller = ScriptedTool::echo("t.caller").with_spec(|spec| {
        spec.effect = EffectClass::Keyed;
        spec.destinations = vec!["to".to_owned()];
    });
    let caller = Arc::new(caller);
    World::with([reader, caller.clone()]).run(async |live| {
        let steps = json!([
            step("read", "t.reader", json!({})),
            step("first", "t.caller", json!({"to": "{{ steps.read.result.to }}"})),
            // What the state says is overwritten by somebody who is trusted; what was approved is not.
            step("second", "t.caller", json!({"to": "{{ steps.first.result.to }}"})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        live.rest(id).await;
        assert_eq!(wait(&live.task(id).await).tainted_args, ["to"]);
        live.review(id, None, json!({})).await.unwrap();
        let again = live.rest(id).await;
        assert_eq!((kinds(&again), caller.count()), (vec![WaitKind::Confirmation], 1));
        assert_eq!(wait(&again).step_id.as_str(), "second");
        assert!(live.world.outcome(id, "first").tainted);
        live.review(id, None, json!({})).await.unwrap();
        assert_eq!((live.proven(id).await.status, caller.count()), (TaskStatus::Completed, 2));
    });
}

#[test]
fn what_a_tool_reads_of_its_task_taints_what_it_says_and_others_are_shown_nothing_of_it() {
    let says_state = |key: &str, task: bool| {
        let tool = ScriptedTool::new(key, EffectClass::Local, |context, _| {
            let shown = !context.state.is_empty() || !context.input.is_empty() || !context.payload.is_null();
            let to = context.state.get("to").cloned().unwrap_or_else(|| json!("nobody@example.com"));
            Ok(ToolOutcome::new(object(json!({"found": to, "shown": shown})), ""))
        });
        Arc::new(tool.with_spec(|spec| spec.needs.task = task))
    };
    for asks in [true, false] {
        let [reader, caller] = reader_and_caller();
        World::with([reader, caller.clone(), says_state("t.state", asks)]).run(async |live| {
            let steps = json!([
                step("read", "t.reader", json!({})),
                step("state", "t.state", json!({})),
                step("call", "t.caller", json!({"to": "{{ steps.state.result.found }}"})),
            ]);
            let id = live.begin(plan(steps), json!({"a": 1})).await;
            let task = live.rest(id).await;
            let outcome = live.world.outcome(id, "state");
            assert_eq!((outcome.tainted, &outcome.data["shown"]), (asks, &json!(asks)));
            match asks {
                true => assert_eq!((kinds(&task), caller.count()), (vec![WaitKind::Confirmation], 0)),
                false => assert_eq!((task.status, caller.count()), (TaskStatus::Completed, 1)),
            }
        });
    }
}

/// An address that only a stranger has written.
const EVIL: &str = "evil@example.net";

/// Ways by which a stranger's words become the error of step `x`. Each is told in [`error_of`] how it is read back.
fn ways_to_fail() -> Vec<(&'static str, Value)> {
    let tolerated = |mut step: Value| {
        step["id"] = json!("x");
        step["stopOnFailure"] = json!(false);
        step
    };
    let fails = || step("a", "core.fail", json!({"message": "{{ task.payload.subject }}"}));
    let parallel = |inner: Value| json!({"kind": "parallel", "branches": [[inner]]});
    let nested = |id: &str, inner: Value| json!({"id": id, "kind": "condition", "if": "true", "then": [inner]});
    let each = json!({"kind": "loop", "over": ["{{ task.payload.subject }}"], "maxIterations": 2,
        "steps": [step("a", "core.fail", json!({"message": "{{ item }}"}))]});
    let child = json!({"kind": "task", "planKey": "t.fails", "input": {"to": "{{ task.payload.subject }}"}});
    let unrendered = step("a", "core.noop", json!({"n": "{{ task.payload.subject + 1 }}"}));
    vec![
        ("a tool", tolerated(fails())),
        ("a container", tolerated(parallel(fails()))),
        ("a container in a container", tolerated(parallel(nested("c", fails())))),
        ("a loop", tolerated(each)),
        ("a child task", tolerated(child)),
        ("a template", tolerated(unrendered)),
        (
            "a refusal",
            tolerated(step(
                "a",
                "core.put_record",
                json!({"kind": "x", "key": "{{ [task.payload.subject] }}", "props": {}}),
            )),
        ),
    ]
}

#[test]
fn a_receiver_out_of_a_failures_words_asks_whatever_way_the_words_came() {
    for (way, failing) in ways_to_fail() {
        let [_, caller] = reader_and_caller();
        let table = FixedIntent::new().when("please", "test.plan", 0.9);
        let world = World::with([caller.clone()]).knowing(CountedIntent { table, ..CountedIntent::default() });
        world.run(async |live| {
            let fails = step("a", "core.fail", json!({"message": "{{ task.payload.to }}"}));
            live.put(json!({"key": "t.fails", "steps": [fails]})).await;
            let call = step("call", "t.caller", json!({"to": "{{ steps.x.error.message }}"}));
            live.put(plan(json!([failing.clone(), call]))).await;
            let letter = json!({"id": "1@example.com", "subject": EVIL, "text": "please"});
            let received =
                live.engine.intake().receive_email(&live.world.actor, letter.to_string().into(), None).await.unwrap();
            let task = live.rest(received.task_id).await;
            assert_eq!((kinds(&task), caller.count()), (vec![WaitKind::Confirmation], 0), "{way}: {task:?}");
        });
    }
}

#[test]
fn a_receiver_out_of_a_workflows_failure_asks() {
    let [_, caller] = reader_and_caller();
    World::with([caller.clone()]).run(async |live| {
        let flow = json!({"id": "out", "kind": "workflow", "workflow": "flow", "args": {}, "stopOnFailure": false});
        let call = step("call", "t.caller", json!({"to": "{{ steps.out.error.message }}"}));
        let id = live.begin(plan(json!([flow, call])), json!({})).await;
        live.until(id, |task| task.status == TaskStatus::Delegated).await;
        crate::delegation::fails(&live, id, EVIL).await;
        let task = live.until(id, |task| task.status == TaskStatus::NeedsReview || task.status.is_terminal()).await;
        assert_eq!((kinds(&task), caller.count()), (vec![WaitKind::Confirmation], 0));
    });
}

#[test]
fn a_failure_in_our_own_words_asks_nobody() {
    let [_, caller] = reader_and_caller();
    World::with([caller.clone()]).run(async |live| {
        let fails = step("a", "core.fail", json!({"message": "ops@example.com"}));
        let failing = json!({"id": "x", "kind": "parallel", "branches": [[fails]], "stopOnFailure": false});
        let call = step("call", "t.caller", json!({"to": "{{ steps.x.error.message }}"}));
        let task = live.run(json!([failing, call]), json!({})).await;
        assert_eq!((task.status, caller.count()), (TaskStatus::Completed, 1));
    });
}

#[test]
fn which_secret_goes_out_is_nothing_that_a_stranger_decides_wherever_it_is_named() {
    let channel = |payload: Value| SubmitRequest {
        plan_key: Some("test.sends".to_owned()),
        channel: Channel::Web,
        payload,
        ..SubmitRequest::text("x")
    };
    let headers = [json!({"X-Ref": "{{ task.payload.ref }}"}), json!("{{ task.payload.all }}")];
    for headers in headers {
        World::new().run(async |live| {
            let args = json!({"method": "POST", "url": "http://out.test/x", "headers": headers});
            live.put(json!({"key": "test.sends", "steps": [step("send", "core.http_request", args)]})).await;
            let names = json!({"ref": {"secret": "crm"}, "all": {"X-Ref": {"secret": "crm"}}});
            let id = live.try_submit(channel(names)).await.unwrap().id;
            let task = live.rest(id).await;
            assert_eq!(kinds(&task), [WaitKind::Confirmation], "{headers}");
            assert!(wait(&task).reason.contains("would send the secret in headers"), "{}", wait(&task).reason);
            assert!(live.world.wire.requests().is_empty());
            // A text is a text, whoever wrote it.
            let text = json!({"ref": "crm", "all": {"X-Ref": "crm"}});
            let id = live.try_submit(channel(text)).await.unwrap().id;
            assert_eq!(live.proven(id).await.status, TaskStatus::Completed, "{headers}");
        });
    }
}
