//! `core.http_request`: keys, effect classes, and what an answer means.

use kybern_core::error::ErrorCode;
use kybern_core::policy::EgressDenied;
use kybern_core::ports::{HttpBody, HttpFailure};
use kybern_core::task::{TaskStatus, WaitKind};
use kybern_core::time::Millis;
use serde_json::{Value, json};

use crate::live::kinds;
use crate::outside::{Wire, Wired, header};
use crate::world::{World, plan, step};

fn request(method: &str, more: Value) -> Value {
    let mut args = json!({"method": method, "url": "http://out.test/x"});
    args.as_object_mut().unwrap().extend(crate::live::object(more));
    step("a", "core.http_request", args)
}

#[test]
fn a_request_carries_its_body_its_trace_and_its_key_unless_it_reads() {
    World::new().run(async |live| {
        let steps = json!([
            request("GET", json!({})),
            {"id": "b", "tool": "http_request", "args": {"method": "POST", "url": "http://out.test/y", "json": {"n": 1}}},
            {"id": "c", "tool": "core.http_request", "args": {
                "method": "PUT", "url": "http://out.test/z", "text": "t", "effect": "read", "headers": {"X-A": "b"}}},
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!((&task.state["status"], &task.state["json"]), (&json!(200), &json!({"ok": true})));
        let sent = live.world.wire.requests();
        let key = format!("v1:{}:{id}:b:0", kybern_core::id::TenantId::DEFAULT);
        let keys: Vec<Option<String>> = sent.iter().map(|request| header(request, "Idempotency-Key")).collect();
        assert_eq!(keys, [None, Some(key), None]);
        assert!(sent.iter().all(|request| header(request, "traceparent").unwrap().contains(&task.trace_id)));
        assert!(sent.iter().all(|request| !request.trusted_endpoint));
        let bodies: Vec<HttpBody> = sent.iter().map(|request| request.body.clone()).collect();
        assert_eq!(bodies, [HttpBody::Empty, HttpBody::Json(json!({"n": 1})), HttpBody::Text("t".to_owned())]);
        assert_eq!(header(&sent[2], "x-a").as_deref(), Some("b"));
    });
}

#[test]
fn whatever_a_request_did_outside_is_audited_also_when_it_only_read() {
    let gone = |nth| Wired::Answer(if nth == 1 { 200 } else { 404 }, json!({}));
    World::new().on(Wire::new(move |_, nth| gone(nth))).run(async |live| {
        let second = json!({"id": "b", "tool": "http_request", "args": {"method": "GET", "url": "http://out.test/y"}});
        let task = live.run(json!([request("GET", json!({})), second]), json!({})).await;
        live.proven(task.id).await;
        let events = live.engine.audit().events(live.world.scope(), 0, 100).await.unwrap();
        let calls = events.iter().map(|event| &event.event).filter(|event| event.action == "tool.call");
        let told: Vec<[&Value; 3]> =
            calls.map(|call| ["stepId", "effect", "status"].map(|name| &call.detail[name])).collect();
        let read = json!("read");
        assert_eq!(told, [[&json!("a"), &read, &json!("completed")], [&json!("b"), &read, &json!("failed")]]);
    });
}

#[test]
fn an_answer_succeeds_fails_for_good_or_is_asked_for_again() {
    for (status, tries, code) in [
        (204, 1, None),
        (302, 1, None),
        (404, 1, Some(ErrorCode::Tool)),
        (429, 3, Some(ErrorCode::Tool)),
        (503, 3, Some(ErrorCode::Tool)),
    ] {
        World::new().on(Wire::new(move |_, _| Wired::Answer(status, json!({})))).run(async |live| {
            let task = live.run(json!([request("POST", json!({}))]), json!({})).await;
            assert_eq!(task.error.map(|error| error.code), code, "{status}");
            assert_eq!(live.world.wire.requests().len(), tries, "{status}");
            assert_eq!(live.world.wire.keys().len(), 1);
        });
    }
}

#[test]
fn a_request_that_got_no_answer_is_sent_again_with_its_key_or_asked_about_without_one() {
    for (failure, effect, calls, status) in [
        (HttpFailure::Connect("refused".to_owned()), "keyed", 3, TaskStatus::Failed),
        (HttpFailure::Connect("refused".to_owned()), "unkeyed", 3, TaskStatus::Failed),
        (HttpFailure::NoAnswer("reset".to_owned()), "keyed", 3, TaskStatus::Failed),
        (HttpFailure::NoAnswer("reset".to_owned()), "unkeyed", 1, TaskStatus::NeedsReview),
        (HttpFailure::TimedOut(Millis(200)), "keyed", 3, TaskStatus::Failed),
        (HttpFailure::TimedOut(Millis(200)), "unkeyed", 1, TaskStatus::NeedsReview),
        (HttpFailure::Denied(EgressDenied::Scheme("ftp".to_owned())), "keyed", 1, TaskStatus::Failed),
        (HttpFailure::Invalid("bad".to_owned()), "unkeyed", 1, TaskStatus::Failed),
    ] {
        let answer = failure.clone();
        World::new().on(Wire::new(move |_, _| Wired::Fail(answer.clone()))).run(async |live| {
            let task = live.run(json!([request("POST", json!({"effect": effect}))]), json!({})).await;
            assert_eq!((task.status, live.world.wire.requests().len()), (status, calls), "{failure} {effect}");
            assert!(live.world.wire.keys().len() <= 1);
        });
    }
}

#[test]
fn an_address_that_is_refused_is_in_the_audit_with_its_tool_and_step() {
    for (failure, denials) in [
        (HttpFailure::Denied(EgressDenied::Host("elsewhere.example.com".to_owned())), 1),
        (HttpFailure::Denied(EgressDenied::Credentials), 1),
        (HttpFailure::Invalid("bad".to_owned()), 0),
        (HttpFailure::Connect("refused".to_owned()), 0),
    ] {
        for method in ["GET", "POST"] {
            let answer = failure.clone();
            World::new().on(Wire::new(move |_, _| Wired::Fail(answer.clone()))).run(async |live| {
                let id = live.begin(plan(json!([request(method, json!({}))])), json!({})).await;
                live.proven(id).await;
                let acts = live.acts().await;
                let denied: Vec<&Value> =
                    acts.iter().filter(|act| act.action == "tool.deny").map(|act| &act.detail).collect();
                let says = json!({"tool": "core.http_request", "stepId": "a", "code": "PERMISSION_DENIED"});
                assert_eq!(denied, vec![&says; denials], "{failure} {method}");
            });
        }
    }
}

#[test]
fn a_request_whose_time_is_over_is_a_timeout_whoever_notices_first() {
    World::new().on(Wire::new(|_, _| Wired::Fail(HttpFailure::TimedOut(Millis(200))))).run(async |live| {
        let mut read = request("GET", json!({}));
        read["retry"] = json!({"maxAttempts": 1});
        let error = live.run(json!([read]), json!({})).await.error.unwrap();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::Timeout, "no answer within 200 ms"));
    });
}

#[test]
fn a_request_that_hangs_ends_with_its_time() {
    World::new().on(Wire::new(|_, _| Wired::Hang)).run(async |live| {
        let task = live.run(json!([request("POST", json!({"effect": "unkeyed"}))]), json!({})).await;
        assert_eq!(kinds(&task), [WaitKind::Ambiguous]);
        let mut read = request("GET", json!({}));
        read["retry"] = json!({"maxAttempts": 1});
        let task = live.run(json!([read]), json!({})).await;
        assert_eq!(task.error.unwrap().code, ErrorCode::Timeout);
    });
}
