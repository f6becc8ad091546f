//! Submissions and single tool calls over the API.

use std::sync::Arc;

use kybern_core::actor::Role;
use kybern_core::error::ErrorCode;
use kybern_core::id::{TenantId, UserId};
use kybern_core::task::EffectClass;
use kybern_core::time::Millis;
use kybern_core::tool::ToolFailure;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::live::object;
use crate::world::{World, plan, step};

const LONG: Millis = Millis(60_000);

#[test]
fn the_same_key_and_body_is_one_task_and_another_body_a_conflict() {
    World::new().run(async |live| {
        let key = live.put(plan(json!([step("a", "core.noop", json!({}))]))).await;
        let request = |n: i64| SubmitRequest {
            plan_key: Some(key.clone()),
            payload: json!({"n": n, "m": {"deep": [n]}}),
            idempotency_key: Some("k".to_owned()),
            ..SubmitRequest::text("go")
        };
        let first = live.try_submit(request(1)).await.unwrap();
        assert_eq!(live.try_submit(request(1)).await.unwrap().id, first.id);
        assert_eq!(live.try_submit(request(2)).await.unwrap_err().code(), ErrorCode::Conflict);
        live.end(first.id).await;
        assert_eq!(live.try_submit(request(1)).await.unwrap().id, first.id);
        let unnamed = SubmitRequest { idempotency_key: None, ..request(1) };
        assert_ne!(live.try_submit(unnamed.clone()).await.unwrap().id, live.try_submit(unnamed).await.unwrap().id);
        let other =
            kybern_testkit::actors::user(TenantId::DEFAULT, UserId::from_uuid(Uuid::from_u128(5)), &[Role::Admin]);
        assert_ne!(live.engine.tasks().submit(&other, request(1), None).await.unwrap().id, first.id);
    });
}

#[test]
fn submissions_outside_their_limits_are_refused() {
    World::new().run(async |live| {
        for (request, code) in [
            (SubmitRequest::text("  "), ErrorCode::Validation),
            (SubmitRequest { max_steps: Some(0), ..SubmitRequest::text("x") }, ErrorCode::Validation),
            (SubmitRequest { max_steps: Some(10_001), ..SubmitRequest::text("x") }, ErrorCode::Validation),
            (SubmitRequest { confidence_threshold: Some(1.1), ..SubmitRequest::text("x") }, ErrorCode::Validation),
            (SubmitRequest { plan_key: Some("no.plan".to_owned()), ..SubmitRequest::text("x") }, ErrorCode::NotFound),
            (SubmitRequest::text("x".repeat(5 * 1024 * 1024)), ErrorCode::PayloadTooLarge),
        ] {
            assert_eq!(live.try_submit(request).await.unwrap_err().code(), code);
        }
    });
}

#[test]
fn another_tenants_task_is_not_found() {
    let world = World::new();
    let stranger = TenantId::from_uuid(Uuid::from_u128(77));
    world.settle_tenant(stranger, "away");
    world.run(async |live| {
        let id = live.begin(plan(json!([step("w", "core.ask", json!({"title": "t", "fields": {}}))])), json!({})).await;
        live.rest(id).await;
        let actor = kybern_testkit::actors::admin(stranger);
        let review = kybern_engine::task::ReviewRequest::default();
        let refused = [
            live.engine.tasks().get(&actor, id).await.err(),
            live.engine.tasks().cancel(&actor, id).await.err(),
            live.engine.tasks().review(&actor, id, review).await.err(),
            live.engine.tasks().replay(&actor, id).await.err(),
            live.engine.tasks().log(&actor, id, -1, 10).await.err(),
        ];
        for error in refused {
            assert_eq!(error.unwrap().code(), ErrorCode::NotFound);
        }
        assert_eq!(
            live.engine
                .tasks()
                .submit(
                    &actor,
                    SubmitRequest { plan_key: Some("test.plan".to_owned()), ..SubmitRequest::text("x") },
                    None
                )
                .await
                .unwrap_err()
                .code(),
            ErrorCode::NotFound
        );
    });
}

#[test]
fn a_tool_call_succeeds_fails_waits_or_is_refused() {
    let broken = ScriptedTool::new("t.broken", EffectClass::Read, |_, _| Err(ToolFailure::permanent("broken")));
    World::with([Arc::new(broken)]).run(async |live| {
        let (engine, actor) = (&live.engine, &live.world.actor);
        let call = engine.invocations().invoke(actor, "t.echo", object(json!({"x": [1]})), None, LONG).await.unwrap();
        assert_eq!((call.status, call.output), ("success", Some(json!({"x": [1]}))));
        let call = engine.invocations().invoke(actor, "t.broken", object(json!({})), None, LONG).await.unwrap();
        assert_eq!((call.status, call.error.unwrap().message.as_str()), ("failure", "broken"));
        assert_eq!(call.output, None);
        let ask = object(json!({"title": "t", "fields": {}}));
        let call = engine.invocations().invoke(actor, "core.ask", ask, None, LONG).await.unwrap();
        assert_eq!(call.status, "waiting");
        let asked = engine.approvals().get(actor, call.approval_id.unwrap()).await.unwrap();
        assert_eq!((asked.approval.task, asked.approval.asked.reason.as_str()), (call.invocation_id, "t"));
        let wrong =
            engine.invocations().invoke(actor, "core.wait", object(json!({"ms": -1})), None, LONG).await.unwrap_err();
        assert_eq!((wrong.code(), wrong.details()[0].path.as_str()), (ErrorCode::Validation, "/input/ms"));
        let unknown = engine.invocations().invoke(actor, "t.ghost", object(json!({})), None, LONG).await.unwrap_err();
        assert_eq!(unknown.code(), ErrorCode::NotFound);
        let viewer = kybern_testkit::actors::user(TenantId::DEFAULT, UserId::from_uuid(Uuid::nil()), &[Role::Viewer]);
        let denied = engine.invocations().invoke(&viewer, "t.echo", object(json!({})), None, LONG).await.unwrap_err();
        assert_eq!(denied.code(), ErrorCode::PermissionDenied);
    });
}

#[test]
fn the_same_call_under_the_same_key_is_made_once() {
    let paid = Arc::new(ScriptedTool::noop("t.paid", EffectClass::Keyed));
    World::with([paid.clone()]).run(async |live| {
        let (engine, actor, input) = (&live.engine, &live.world.actor, object(json!({"n": 1})));
        let first = engine.invocations().invoke(actor, "t.paid", input.clone(), Some("k"), LONG).await.unwrap();
        let again = engine.invocations().invoke(actor, "t.paid", input.clone(), Some("k"), LONG).await.unwrap();
        assert_eq!((again.invocation_id, again.status, paid.count()), (first.invocation_id, "success", 1));
        let other =
            engine.invocations().invoke(actor, "t.paid", object(json!({"n": 2})), Some("k"), LONG).await.unwrap_err();
        assert_eq!((other.code(), paid.count()), (ErrorCode::Conflict, 1));
        // The key of a call and that of a submission are not the same.
        engine.invocations().invoke(actor, "t.echo", input, Some("k"), LONG).await.unwrap();
        let request = SubmitRequest { idempotency_key: Some("k".to_owned()), ..SubmitRequest::text("go") };
        live.try_submit(request).await.unwrap();
    });
}

#[test]
fn arguments_of_a_tool_call_that_look_like_templates_stay_text() {
    World::new().run(async |live| {
        let sly = json!({"a": "{{ tenant.name }}", "b": ["{% x %}", {"c": "{{"}], "we\"ird '] name": "}}"});
        let call = live
            .engine
            .invocations()
            .invoke(&live.world.actor, "t.echo", object(sly.clone()), None, LONG)
            .await
            .unwrap();
        assert_eq!((call.status, call.output), ("success", Some(sly)), "{:?}", call.error);
        let report = live.replay(call.invocation_id).await;
        assert!(report.matches, "{:#?}", report.differences);
    });
}

/// Two steps side by side.
fn branches(one: Value, two: Value) -> Value {
    json!({"id": "a", "kind": "parallel", "branches": [[step("one", "core.set", one)], [step("two", "core.set", two)]]})
}

/// One step or another one.
fn either(other: &str) -> Value {
    let (one, two) = (step("one", "core.set", json!({"x": 1})), step("two", "core.set", json!({"x": other})));
    json!({"id": "a", "kind": "condition", "if": "true", "then": [one], "else": [two]})
}

fn loop_while(test: &str, steps: Value) -> Value {
    json!({"id": "l", "kind": "loop", "while": test, "steps": steps})
}

#[test]
fn a_plan_may_read_what_has_run_before_and_the_round_of_its_loop() {
    World::new().run(async |live| {
        let reads = |id: &str, path: &str| step(id, "core.set", json!({"r": format!("{{{{ {path} }}}}")}));
        let update = |change: Value| {
            let mut args = object(json!({"memory_id": "{{ state.id }}", "says": "x"}));
            args.extend(object(change));
            step("a", "memory.update", json!(args))
        };
        for steps in [
            json!([branches(json!({"x": 1}), json!({"x": 2})), reads("r", "steps.one.result.x + steps.two.result.x")]),
            json!([either("1"), reads("r", "steps.two.status if steps.two is defined else 0")]),
            json!([loop_while("state.r < 3", json!([reads("r", "index")])), reads("s", "steps.r.result.r")]),
            json!([loop_while("false", json!([either("{{ steps.one.status if steps.one is defined else 0 }}")]))]),
            json!([{"id": "o", "kind": "loop", "over": [1, 2], "steps": [either("{{ steps.one.status }}")]}]),
            json!([{"id": "o", "kind": "loop", "over": [[1]], "steps": [
                {"id": "i", "kind": "loop", "over": "{{ item }}", "steps": [either("{{ item * index }}")]},
                loop_while("item == 1", json!([reads("r", "steps.two.status")])),
            ]}]),
            json!([update(json!({"content": "{{ state.words }}"}))]),
            json!([step("a", "tasks.submit", json!({"input": "{{ state.words }}"}))]),
        ] {
            let faults = live.engine.plans().check(live.world.scope(), &plan(steps.clone())).await.unwrap();
            assert!(faults.is_empty(), "{steps}: {faults:?}");
        }
        let apart = plan(json!([branches(json!({"x": 1}), json!({"x": "{{ steps.one.result.x }}"}))]));
        let told = live.engine.plans().check(live.world.scope(), &apart).await.unwrap()[0].to_string();
        let says = "(step two): steps.one stands in another branch of \"a\", which need not have run before this step: \
                    read it in a step after \"a\"";
        assert!(told.ends_with(says), "{told}");
    });
}

#[test]
fn a_faulty_plan_is_refused_with_every_fault() {
    World::new().run(async |live| {
        let cases = [
            (step("a", "t.ghost", json!({})), "/steps/0/tool"),
            (step("a", "core.wait", json!({})), "/steps/0/args"),
            (step("a", "core.wait", json!({"ms": 1, "x": 2})), "/steps/0/args/x"),
            (step("a", "core.wait", json!({"ms": "1"})), "/steps/0/args/ms"),
            (step("a", "core.set", json!({"x": "{{ 1 + }}"})), "/steps/0/args/x"),
            (step("a", "core.set", json!({"x": "{{ steps.b.result }}"})), "/steps/0/args/x"),
            (step("a", "core.set", json!({"x": "{{ ghost.y }}"})), "/steps/0/args/x"),
            (step("a", "core.set", json!({"x": "{{ item.n }}"})), "/steps/0/args/x"),
            (loop_while("index < 3", json!([step("n", "core.noop", json!({}))])), "/steps/0/while"),
            (branches(json!({"x": 1}), json!({"x": "{{ steps.one.result.x }}"})), "/steps/0/branches/1/0/args/x"),
            (branches(json!({"x": "{{ steps.two.result.x }}"}), json!({"x": 1})), "/steps/0/branches/0/0/args/x"),
            (either("{{ steps.one.status if steps.one is defined else 0 }}"), "/steps/0/else/0/args/x"),
            (step("a", "memory.update", json!({"memory_id": "{{ state.id }}", "says": "x"})), "/steps/0/args"),
            (step("a", "core.set", json!({"x": "{% if %}"})), "/steps/0/args/x"),
            (json!({"id": "a", "kind": "workflow", "workflow": "ghost"}), "/steps/0/workflow"),
            (json!({"id": "a", "kind": "task", "capability": "x"}), "/steps/0/capability"),
            (json!({"id": "a", "kind": "agent", "agent": "x", "task": "y"}), "/steps/0/agent"),
            (json!({"id": "a", "tool": "core.noop", "condition": "{{ steps.a.status }}"}), "/steps/0/condition"),
            (
                json!({"id": "a", "kind": "input", "title": "t", "fields": {"type": "object", "properties": 5}}),
                "/steps/0/fields",
            ),
            (json!({"id": "a", "tool": "core.noop", "dependsOn": ["a"]}), "/steps/0/dependsOn"),
        ];
        for (bad, path) in cases {
            let refused = live
                .engine
                .plans()
                .put(&live.world.actor, &plan(json!([bad, step("b", "core.noop", json!({}))])))
                .await;
            let refused = refused.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::Unprocessable);
            assert_eq!(refused.details()[0].path, path, "{bad}: {:?}", refused.details());
        }
        let two = json!([step("a", "t.ghost", json!({})), step("b", "core.wait", json!({"more": 1}))]);
        let refused = live.engine.plans().put(&live.world.actor, &plan(two)).await.unwrap_err();
        assert_eq!(refused.details().len(), 3, "{:?}", refused.details());
        let none =
            live.engine.plans().check(live.world.scope(), &plan(json!([step("a", "core.noop", json!({}))]))).await;
        assert!(none.unwrap().is_empty());
        let out = json!({"key": "test.out", "output": "{{ steps.ghost.result }}", "steps": []});
        assert_eq!(live.engine.plans().check(live.world.scope(), &out).await.unwrap()[0].path, "/output");
        assert_eq!(
            live.try_submit(SubmitRequest { plan_key: Some("test.out".to_owned()), ..SubmitRequest::text("x") })
                .await
                .unwrap_err()
                .code(),
            ErrorCode::NotFound
        );
    });
}

#[test]
fn a_tool_whose_failure_stops_no_plan_has_failed_all_the_same_when_it_is_called_by_hand() {
    let soft = ScriptedTool::new("t.soft", EffectClass::Read, |_, _| Err(ToolFailure::permanent("nobody is told")));
    let soft = Arc::new(soft.with_spec(|spec| spec.stop_on_failure = false));
    World::with([soft]).run(async |live| {
        let called =
            live.engine.invocations().invoke(&live.world.actor, "t.soft", object(json!({})), None, LONG).await.unwrap();
        assert_eq!((called.status, called.error.unwrap().message.as_str()), ("failure", "nobody is told"));
    });
}
