//! What persons are asked, and what their answers do.

use std::sync::Arc;

use kybern_core::approval::{ApprovalFilter, ApprovalStatus, Verdict};
use kybern_core::error::ErrorCode;
use kybern_core::task::{EffectClass, Resolution, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_core::tool::{Review, ToolOutcome};
use kybern_engine::approval::ApprovalDecision;
use kybern_testkit::fakes::FixedIntent;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::{kinds, object, wait};
use crate::outside::{CountedIntent, Wire, Wired};
use crate::world::{World, plan, step};

#[test]
fn a_form_is_checked_and_its_answer_is_the_steps_data() {
    World::new().run(async |live| {
        for asking in [
            json!({"id": "ask", "kind": "input", "title": "For {{ task.payload.who }}", "fields": {"age": {"type": "integer"}}}),
            step("ask", "core.ask", json!({"title": "For {{ task.payload.who }}", "fields": {"age": {"type": "integer"}}})),
        ] {
            let steps = json!([asking, step("after", "t.echo", json!({"old": "{{ state.age }}"}))]);
            let id = live.begin(plan(steps), json!({"who": "you"})).await;
            let task = live.rest(id).await;
            assert_eq!((task.status, kinds(&task)), (TaskStatus::NeedsReview, vec![WaitKind::Input]));
            assert_eq!(wait(&task).title.as_deref(), Some("For you"));
            assert_eq!(task.current_step_id.as_deref(), Some("ask"));
            assert!(live.world.mem().holder(id).is_none());
            for wrong in [json!({}), json!({"age": "old"}), json!({"age": 1, "more": 2}), json!({"_age": 1})] {
                let refused = live.review(id, None, wrong).await.unwrap_err();
                assert_eq!(refused.code(), ErrorCode::Validation);
                assert!(!refused.details().is_empty());
            }
            let other = live.review(id, Some("after"), json!({"age": 1})).await.unwrap_err();
            assert_eq!(other.code(), ErrorCode::Conflict);
            live.review(id, None, json!({"age": 7})).await.unwrap();
            let task = live.proven(id).await;
            assert_eq!(task.result, Some(json!({"old": 7})));
            assert_eq!(live.review(id, None, json!({"age": 8})).await.unwrap_err().code(), ErrorCode::Conflict);
        }
    });
}

#[test]
fn a_persons_no_cancels_what_it_stops_and_says_why() {
    let ask = json!({"id": "ask", "kind": "input", "title": "t", "fields": {}});
    let inside = json!({"id": "whether", "kind": "condition", "if": "{{ true }}", "then": [ask]});
    let tolerated = json!({"id": "ask", "kind": "input", "title": "t", "fields": {}, "stopOnFailure": false});
    for (step, status) in
        [(ask, TaskStatus::Cancelled), (inside, TaskStatus::Cancelled), (tolerated, TaskStatus::Completed)]
    {
        World::new().run(async |live| {
            let id = live.begin(plan(json!([step])), json!({})).await;
            live.rest(id).await;
            let asked = live.inbox(Some(ApprovalStatus::Pending)).await[0].approval.asked.id;
            live.decide(asked, Verdict::Deny, Some("not ours")).await.unwrap();
            let task = live.proven(id).await;
            assert_eq!(task.status, status, "{step}");
            let reason = task.error_message.unwrap_or_default();
            assert_eq!(reason.ends_with("a person said no: not ours"), status == TaskStatus::Cancelled, "{reason}");
        });
    }
}

#[test]
fn a_form_can_be_refused_and_can_run_out_of_time() {
    World::new().set(|settings| settings.poll = kybern_core::time::Millis(1_000)).run(async |live| {
        let ask = json!({"id": "ask", "kind": "input", "title": "t", "fields": {}, "timeoutMs": 60_000});
        let id = live.begin(plan(json!([ask])), json!({})).await;
        live.rest(id).await;
        live.resolve(id, Resolution::Fail).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.error.unwrap().code), (TaskStatus::Cancelled, ErrorCode::Unprocessable));
        let id = live.begin(plan(json!([ask])), json!({})).await;
        live.rest(id).await;
        let task = live.proven(id).await;
        assert_eq!(task.error.unwrap().code, ErrorCode::Timeout);
        assert!(task.completed_at.unwrap().since(task.created_at).0 >= 60_000);
    });
}

/// Asks for a name until the state has one, then acts.
fn asking(effect: EffectClass) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new("t.careful", effect, |_, args| {
        if args.get("name").is_some_and(Value::is_string) {
            return Ok(ToolOutcome::new(object(json!({"acted": args["name"]})), ""));
        }
        Ok(ToolOutcome::ask(Review {
            reason: "letter.pdf says no name".to_owned(),
            title: None,
            schema: json!({
                "type": "object",
                "properties": {"customer": {"type": "object", "properties": {"name": {"type": "string"}}}},
                "additionalProperties": false
            }),
            details: json!({"file": "letter.pdf"}),
            answer_is_result: false,
        }))
    }))
}

#[test]
fn done_has_to_fit_what_the_answer_is_asked_for_where_the_answer_ends_the_step() {
    for ends in [true, false] {
        let tool = Arc::new(ScriptedTool::new("t.ask", EffectClass::Read, move |_, _| {
            Ok(ToolOutcome::ask(Review {
                reason: "somebody has to look".to_owned(),
                title: None,
                schema: json!({
                    "type": "object",
                    "properties": {"handled": {"type": "boolean", "const": true}},
                    "required": ["handled"],
                    "additionalProperties": false
                }),
                details: Value::Null,
                answer_is_result: ends,
            }))
        }));
        World::with([tool]).run(async |live| {
            let id = live.begin(plan(json!([step("ask", "t.ask", json!({}))])), json!({})).await;
            live.rest(id).await;
            let other = live.answer(id, None, json!({"found": 3}), Some(Resolution::Done)).await;
            if ends {
                let wrong = other.unwrap_err();
                assert_eq!((wrong.code(), wrong.details().is_empty()), (ErrorCode::Validation, false), "{wrong}");
                live.answer(id, None, json!({"handled": true}), Some(Resolution::Done)).await.unwrap();
            } else {
                other.unwrap();
            }
            let task = live.proven(id).await;
            let found = if ends { json!({"handled": true}) } else { json!({"found": 3}) };
            assert_eq!((task.status, json!(task.state)), (TaskStatus::Completed, found));
        });
    }
}

#[test]
fn corrections_enter_the_state_deeply_and_the_tool_is_called_again() {
    for effect in
        [EffectClass::Read, EffectClass::Local, EffectClass::Keyed, EffectClass::Queryable, EffectClass::Unkeyed]
    {
        let tool = asking(effect);
        World::with([tool.clone()]).run(async |live| {
            let steps = json!([
                step("know", "core.set", json!({"customer": {"id": 1, "name": null}})),
                step("act", "t.careful", json!({"name": "{{ state.customer.name }}"})),
            ]);
            let id = live.begin(plan(steps), json!({})).await;
            let task = live.rest(id).await;
            assert_eq!((kinds(&task), tool.count()), (vec![WaitKind::Review], 1));
            assert!(wait(&task).reason.contains("letter.pdf"));
            let wrong = live.review(id, None, json!({"customer": {"name": 5}})).await.unwrap_err();
            assert_eq!(wrong.code(), ErrorCode::Validation);
            assert_eq!(wrong.details()[0].path, "/corrections/customer/name");
            live.review(id, None, json!({"customer": {"name": "Acme"}})).await.unwrap();
            let task = live.after_answer(id, &task).await;
            assert_eq!(task.status, TaskStatus::Completed, "{effect:?} {task:#?}");
            let task = live.proven(id).await;
            assert_eq!(json!(task.state), json!({"customer": {"id": 1, "name": "Acme"}, "acted": "Acme"}));
            assert_eq!(tool.count(), 2);
        });
    }
}

#[test]
fn an_answer_outlives_the_process_that_took_it() {
    let tool = asking(EffectClass::Unkeyed);
    let world = World::with([tool.clone()]);
    let id = world.run(async |live| {
        let steps = json!([step(
            "act",
            "t.careful",
            json!({"name": "{{ (state.customer | default({})).name | default(none) }}"})
        )]);
        let id = live.begin(plan(steps), json!({})).await;
        live.rest(id).await;
        live.review(id, None, json!({"customer": {"name": "Acme"}})).await.unwrap();
        id
    });
    world.run(async |live| {
        let task = live.proven(id).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Completed, 2));
    });
}

#[test]
fn of_fifty_answers_at_once_one_is_taken() {
    World::new().run(async |live| {
        let steps = json!([step("ask", "core.ask", json!({"title": "t", "fields": {"n": {"type": "integer"}}}))]);
        let id = live.begin(plan(steps), json!({})).await;
        live.rest(id).await;
        let answers = futures::future::join_all((0..50).map(|n| live.review(id, None, json!({"n": n})))).await;
        let taken = answers.iter().filter(|answer| answer.is_ok()).count();
        let refused =
            answers.iter().filter_map(|answer| answer.as_ref().err()).filter(|e| e.code() == ErrorCode::Conflict);
        assert_eq!((taken, refused.count()), (1, 49));
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}

#[test]
fn two_questions_at_once_are_answered_by_name() {
    World::new().run(async |live| {
        let ask = |id: &str| json!([step(id, "core.ask", json!({"title": id, "fields": {id: {"type": "integer"}}}))]);
        let id = live
            .begin(plan(json!([{"id": "p", "kind": "parallel", "branches": [ask("one"), ask("two")]}])), json!({}))
            .await;
        let task = live.rest(id).await;
        let task = live.until(task.id, |task| task.waits.len() == 2).await;
        assert_eq!(live.review(id, None, json!({"one": 1})).await.unwrap_err().code(), ErrorCode::Validation);
        live.review(id, Some("p__two"), json!({"two": 2})).await.unwrap();
        let task = live.until(task.id, |task| task.waits.len() == 1).await;
        assert_eq!(task.status, TaskStatus::NeedsReview);
        live.review(id, None, json!({"one": 1})).await.unwrap();
        assert_eq!(json!(live.proven(id).await.state), json!({"one": 1, "two": 2}));
    });
}

#[test]
fn a_question_beside_a_call_that_still_runs_is_shown_and_can_be_answered_once_that_has_ended() {
    let slow = Arc::new(ScriptedTool::pending("t.slow", EffectClass::Local, |_, _| {
        Box::pin(async {
            crate::outside::pause(Millis(60_000)).await;
            Ok(ToolOutcome::default())
        })
    }));
    World::with([slow.clone()]).run(async |live| {
        let ask = json!([step("ask", "core.ask", json!({"title": "How old?", "fields": {"n": {"type": "integer"}}}))]);
        let mut call = step("slow", "t.slow", json!({}));
        call["timeoutMs"] = json!(3_600_000);
        let both = json!([{"id": "p", "kind": "parallel", "branches": [ask, [call]]}]);
        let id = live.begin(plan(both), json!({})).await;
        let actor = &live.world.actor;
        let open = async || {
            let page = live.engine.approvals().list(actor, ApprovalFilter::default(), None, 10).await.unwrap();
            page.items.into_iter().next()
        };
        let view = live.find(open).await;
        assert_eq!((live.task(id).await.status, slow.count()), (TaskStatus::Executing, 1));
        let shown = view.wait.unwrap();
        assert_eq!(shown.title.as_deref(), Some("How old?"));
        assert_eq!(shown.schema["properties"]["n"]["type"], "integer");
        let question = view.approval.asked.id;
        let answer = |n: u64| Verdict::Approve(Some(object(json!({"n": n}))));
        let decide = async |word: Verdict| {
            let decision = ApprovalDecision { word, note: None, resolution: None };
            live.engine.approvals().decide(actor, question, decision).await
        };
        let by_step = live.review(id, Some("p__ask"), json!({"n": 7}));
        let refused = [decide(answer(7)).await.unwrap_err(), by_step.await.unwrap_err()];
        for refused in refused {
            assert_eq!(refused.code(), ErrorCode::Conflict);
            assert!(refused.to_string().contains("busy with another step: answer once that has ended"), "{refused}");
        }
        let other = live.review(id, Some("p__slow"), json!({})).await.unwrap_err();
        assert!(other.to_string().contains("does not wait for a person"), "{other}");
        live.rest(id).await;
        decide(answer(7)).await.unwrap();
        let again = live.review(id, Some("p__ask"), json!({"n": 8})).await.unwrap_err();
        assert_eq!(again.code(), ErrorCode::Conflict);
        assert_eq!(live.proven(id).await.state["n"], json!(7));
    });
}

#[test]
fn an_answer_in_a_branch_whose_sibling_has_failed_is_recorded_and_proven() {
    World::new().run(async |live| {
        let ask = json!([step("ask", "core.ask", json!({"title": "t", "fields": {"n": {"type": "integer"}}}))]);
        let bad =
            json!([step("rest", "core.wait", json!({"ms": 100})), step("bad", "core.fail", json!({"message": "no"}))]);
        let id = live.begin(plan(json!([{"id": "p", "kind": "parallel", "branches": [ask, bad]}])), json!({})).await;
        live.until(id, |task| task.failed_steps == ["p__bad"]).await;
        live.review(id, None, json!({"n": 2})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["n"]), (TaskStatus::Failed, &json!(2)));
    });
}

fn trusting() -> CountedIntent {
    CountedIntent { table: FixedIntent::new().when("please", "test.plan", 0.95), ..CountedIntent::default() }
}

fn fetched() -> Wire {
    Wire::new(|_, _| Wired::Answer(200, json!({"address": "evil@example.com", "url": "http://evil.test/"})))
}

/// Starts the plan with a webhook's body as payload.
async fn by_webhook(live: &crate::live::Live<'_>, steps: Value, payload: Value) -> kybern_core::id::TaskId {
    live.put(json!({"key": "test.plan", "steps": steps})).await;
    let raw = payload.to_string();
    let received =
        live.engine.intake().receive_webhook(&live.world.actor, "forms", None, payload, raw.as_bytes(), None).await;
    received.unwrap().task_id
}

fn mail(to: &str) -> Value {
    step("tell", "core.notify", json!({"to": to, "subject": "s", "body": "{{ task.payload.word }}"}))
}

#[test]
fn a_receiver_out_of_a_strangers_message_is_confirmed_as_it_is_corrected_or_denied() {
    for (corrections, resolution, sent) in [
        (json!({}), None, vec!["stranger@example.com"]),
        (json!({"to": "right@example.com"}), None, vec!["right@example.com"]),
        (json!({}), Some(Resolution::Fail), vec![]),
    ] {
        World::new().knowing(trusting()).run(async |live| {
            let payload = json!({"word": "please", "to": "stranger@example.com"});
            let id = by_webhook(&live, json!([mail("{{ task.payload.to }}")]), payload).await;
            let task = live.rest(id).await;
            assert_eq!(kinds(&task), [WaitKind::Confirmation]);
            assert!(wait(&task).reason.contains("stranger@example.com"));
            assert_eq!(wait(&task).details["args"]["to"], json!("stranger@example.com"));
            assert!(live.outbox().await.is_empty());
            live.answer(id, None, corrections.clone(), resolution).await.unwrap();
            let task = live.proven(id).await;
            let targets: Vec<String> = live.outbox().await.into_iter().map(|m| m.message.target).collect();
            assert_eq!(targets, sent);
            if resolution.is_some() {
                assert_eq!(task.error.unwrap().code, ErrorCode::PermissionDenied);
            }
        });
    }
}

#[test]
fn taint_sticks_to_what_is_made_of_it() {
    let payload = json!({"word": "please", "to": ["stranger@example.com"]});
    for steps in [
        json!([step("a", "core.set", json!({"who": "{{ task.payload.to[0] }}"})), mail("{{ state.who }}")]),
        json!([step("a", "core.set", json!({"who": "{{ task.payload.to[0] }}"})), mail("{{ steps.a.result.who }}")]),
        json!([step("a", "core.set", json!({"x": "{{ task.payload }}"})), mail("{{ state['x'].to[0] }}")]),
        json!([{"id": "l", "kind": "loop", "over": "{{ task.payload.to }}", "steps": [mail("{{ item }}")]}]),
        json!([{"id": "l", "kind": "loop", "over": "{{ task.payload.to }}", "steps": [
            {"id": "deep", "kind": "loop", "over": [1], "steps": [step("s", "core.set", json!({"t": "{{ task.payload.to[0] }}"})), mail("{{ state.t }}")]}]}]),
    ] {
        World::new().knowing(trusting()).run(async |live| {
            let id = by_webhook(&live, steps.clone(), payload.clone()).await;
            assert_eq!(kinds(&live.rest(id).await), [WaitKind::Confirmation], "{steps}");
        });
    }
}

#[test]
fn what_the_web_answers_is_confirmed_even_in_a_trusted_task() {
    World::new().on(fetched()).run(async |live| {
        let get = step("get", "core.http_request", json!({"method": "GET", "url": "http://open.test/"}));
        let post =
            step("post", "core.http_request", json!({"method": "POST", "url": "{{ steps.get.result.json.url }}"}));
        let id = live.begin(plan(json!([get, post])), json!({"word": "w"})).await;
        let task = live.rest(id).await;
        assert_eq!((kinds(&task), live.world.wire.requests().len()), (vec![WaitKind::Confirmation], 1));
        live.review(id, None, json!({})).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        let urls: Vec<String> = live.world.wire.requests().into_iter().map(|request| request.url).collect();
        assert_eq!(urls, ["http://open.test/", "http://evil.test/"]);
        let id = live.begin(plan(json!([get, mail("{{ state.json.address }}")])), json!({"word": "w"})).await;
        assert_eq!(kinds(&live.rest(id).await), [WaitKind::Confirmation]);
    });
}

#[test]
fn literals_and_trusted_payloads_are_not_asked_about() {
    World::new().knowing(trusting()).run(async |live| {
        let id = by_webhook(&live, json!([mail("fixed@example.com")]), json!({"word": "please"})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        let payload = json!({"word": "w", "to": "asked@example.com"});
        let id = live.begin(plan(json!([mail("{{ task.payload.to }}")])), payload).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        // What a person typed in is trusted.
        let ask = step("ask", "core.ask", json!({"title": "to whom?", "fields": {"who": {"type": "string"}}}));
        let id = by_webhook(&live, json!([ask, mail("{{ state.who }}")]), json!({"word": "please"})).await;
        live.rest(id).await;
        live.review(id, None, json!({"who": "typed@example.com"})).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}
