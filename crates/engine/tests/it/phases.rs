//! What comes before the plan: documents, the intent, the choice.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use kybern_core::agent::AgentDraft;
use kybern_core::error::ErrorCode;
use kybern_core::id::TaskId;
use kybern_core::task::{Resolution, TaskStatus, WaitKind};
use kybern_engine::task::{AttachmentRequest, ReviewRequest, SubmitRequest};
use kybern_testkit::fakes::FixedIntent;
use serde_json::{Value, json};

use crate::live::{Live, kinds, object, wait};
use crate::outside::CountedIntent;
use crate::world::{World, plan, step};

fn file(name: &str, text: &str) -> AttachmentRequest {
    AttachmentRequest {
        filename: name.to_owned(),
        content_type: "text/plain".to_owned(),
        bytes: Bytes::from(text.to_owned()),
    }
}

fn knowing(table: FixedIntent) -> World {
    World::new().knowing(CountedIntent { table, ..CountedIntent::default() })
}

fn asked(world: &World) -> usize {
    world.intents.asked.load(Ordering::SeqCst)
}

async fn with_files(live: &Live<'_>, text: &str, files: Vec<AttachmentRequest>) -> TaskId {
    live.put(plan(json!([step("a", "core.set", json!({"input": "{{ task.input }}", "intent": "{{ task.intent }}"}))])))
        .await;
    live.try_submit(SubmitRequest { attachments: files, ..SubmitRequest::text(text) }).await.unwrap().id
}

#[test]
fn a_sure_intent_chooses_its_plan_and_the_steps_see_it() {
    knowing(FixedIntent::new().when("please", "test.plan", 0.9)).run(async |live| {
        let id = with_files(&live, "please do", vec![file("a.txt", "text")]).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, task.selected_plan.as_deref()), (TaskStatus::Completed, Some("test.plan")));
        assert_eq!((task.detected_intent.as_deref(), task.confidence_score), (Some("test.plan"), Some(0.9)));
        assert_eq!(json!(task.state), json!({"input": "please do", "intent": "test.plan"}));
        assert_eq!((asked(live.world), live.world.extractor.asked.load(Ordering::SeqCst)), (1, 1));
    });
}

#[test]
fn a_document_that_cannot_be_read_is_asked_about_by_name_and_models_are_not_asked_twice() {
    let answers =
        [json!({"documents": {"2": {"ignore": true}}}), json!({"documents": {"2": {"text": "what it says"}}})];
    for (answer, status) in answers.into_iter().zip(["ignored", "typed"]) {
        let world = knowing(FixedIntent::new().when("please", "test.plan", 0.9));
        let id = world.run(async |live| {
            let files = vec![file("good.txt", "fine"), file("bad.scan", &format!("x{status}"))];
            let id = with_files(&live, "please do", files).await;
            let task = live.rest(id).await;
            assert_eq!(kinds(&task), [WaitKind::Document]);
            assert!(wait(&task).reason.contains("bad.scan") && !wait(&task).reason.contains("good.txt"));
            assert_eq!(asked(live.world), 0);
            for wrong in [
                json!({}),
                json!({"documents": {}}),
                json!({"documents": {"2": {}}}),
                json!({"documents": {"1": {"ignore": true}, "2": {"ignore": true}}}),
            ] {
                assert_eq!(live.review(id, None, wrong).await.unwrap_err().code(), ErrorCode::Validation);
            }
            live.review(id, Some("extraction"), answer.clone()).await.unwrap();
            id
        });
        world.run(async |live| {
            let task = live.proven(id).await;
            assert_eq!(task.status, TaskStatus::Completed);
            assert_eq!(asked(live.world), 1);
            let outcome = live.outcome(id, "_extraction").unwrap();
            assert_eq!(outcome.data["documents"][1]["status"], json!(status));
        });
    }
}

#[test]
fn a_plan_that_came_with_the_task_waits_for_its_documents() {
    World::new().run(async |live| {
        let key = live.put(plan(json!([step("a", "core.noop", json!({}))]))).await;
        let request = SubmitRequest {
            plan_key: Some(key),
            attachments: vec![file("bad.locked", "x")],
            ..SubmitRequest::text("go")
        };
        let id = live.try_submit(request).await.unwrap().id;
        let task = live.rest(id).await;
        assert_eq!((kinds(&task), task.completed_step_ids.len()), (vec![WaitKind::Document], 0));
        live.review(id, None, json!({"documents": {"1": {"ignore": true}}})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids), (TaskStatus::Completed, vec!["a".to_owned()]));
        assert_eq!(asked(live.world), 0);
    });
}

#[test]
fn an_unsure_intent_is_asked_about_and_the_answer_is_taken() {
    let world = knowing(FixedIntent::new().when("perhaps", "test.plan", 0.5));
    for text in ["perhaps", "nothing known"] {
        let id = world.run(async |live| {
            let id = with_files(&live, text, vec![]).await;
            let task = live.rest(id).await;
            assert_eq!(kinds(&task), [WaitKind::Intent]);
            assert_eq!(task.detected_intent.is_some(), text == "perhaps");
            let wrong = live.review(id, None, json!({"intent": "test.ghost"})).await.unwrap_err();
            assert_eq!(wrong.code(), ErrorCode::Validation);
            live.review(id, None, json!({"intent": "test.plan", "customer": {"name": "Acme"}})).await.unwrap();
            id
        });
        let before = asked(&world);
        world.run(async |live| {
            let task = live.proven(id).await;
            assert_eq!((task.status, task.confidence_score), (TaskStatus::Completed, Some(1.0)));
            assert_eq!(task.state["customer"], json!({"name": "Acme"}));
            assert_eq!(asked(live.world), before);
        });
    }
}

#[test]
fn a_threshold_of_the_tasks_own_decides() {
    knowing(FixedIntent::new().when("perhaps", "test.plan", 0.5)).run(async |live| {
        live.put(plan(json!([step("a", "core.noop", json!({}))]))).await;
        let request = SubmitRequest { confidence_threshold: Some(0.4), ..SubmitRequest::text("perhaps") };
        let id = live.try_submit(request).await.unwrap().id;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}

#[test]
fn an_intent_without_a_usable_plan_asks_which() {
    knowing(FixedIntent::new().when("please", "test.wish", 0.9)).run(async |live| {
        let serving =
            json!({"key": "test.serving", "intentKey": "test.wish", "steps": [step("a", "core.noop", json!({}))]});
        live.put(serving).await;
        live.put(plan(json!([step("b", "core.noop", json!({}))]))).await;
        live.world.set_active(&live, "test.serving", true).await;
        let id = live.try_submit(SubmitRequest::text("please")).await.unwrap().id;
        assert_eq!(live.proven(id).await.selected_plan.as_deref(), Some("test.serving"));
        // An intent that is chosen by a person although its plan has gone.
        live.put(json!({"key": "test.gone", "intentKey": "test.other", "steps": [step("a", "core.noop", json!({}))]}))
            .await;
        let id = live.try_submit(SubmitRequest::text("unknown words")).await.unwrap().id;
        let task = live.rest(id).await;
        live.world.set_active(&live, "test.gone", false).await;
        live.review(id, None, json!({"intent": "test.other"})).await.unwrap();
        let task = live.after_answer(id, &task).await;
        assert_eq!(kinds(&task), [WaitKind::Plan]);
        assert!(wait(&task).reason.contains("test.other"));
        live.review(id, None, json!({"planKey": "test.plan"})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.completed_step_ids), (TaskStatus::Completed, vec!["b".to_owned()]));
    });
}

#[test]
fn an_answer_without_a_plan_lets_the_task_choose_whatever_was_named_before() {
    knowing(FixedIntent::new()).run(async |live| {
        live.put(
            json!({"key": "test.serving", "intentKey": "test.wish", "steps": [step("a", "core.noop", json!({}))]}),
        )
        .await;
        live.put(plan(json!([step("b", "core.noop", json!({}))]))).await;
        let set = async |key: &str, active: bool| live.world.set_active(&live, key, active).await;
        let id = live.try_submit(SubmitRequest::text("unknown words")).await.unwrap().id;
        let intent = live.rest(id).await;
        set("test.serving", false).await;
        live.review(id, None, json!({"intent": "test.wish"})).await.unwrap();
        let first = live.after_answer(id, &intent).await;
        assert_eq!(kinds(&first), [WaitKind::Plan]);
        set("test.plan", false).await;
        live.review(id, None, json!({"planKey": "test.plan"})).await.unwrap();
        let again = live.after_answer(id, &first).await;
        assert_eq!(wait(&again).reason, "plan test.plan cannot be used, name another");
        set("test.plan", true).await;
        set("test.serving", true).await;
        live.review(id, None, json!({})).await.unwrap();
        assert_eq!(live.proven(id).await.selected_plan.as_deref(), Some("test.serving"));
    });
}

#[test]
fn an_intent_whose_only_plan_is_in_quarantine_is_not_offered() {
    let intents = CountedIntent { table: FixedIntent::new(), ..CountedIntent::default() };
    World::on_sqlite([]).knowing(intents).run(async |live| {
        let (agents, actor) = (live.engine.agents(), &live.world.actor);
        agents.create(actor, AgentDraft::named("Clerk", "You file.")).await.unwrap();
        let filed = json!([{"id": "a", "kind": "agent", "agent": "clerk", "task": "file it"}]);
        live.put(json!({"key": "test.file", "intentKey": "test.other", "steps": filed})).await;
        live.put(plan(json!([step("b", "core.noop", json!({}))]))).await;
        agents.delete(actor, "clerk").await.unwrap();
        let id = live.try_submit(SubmitRequest::text("unknown words")).await.unwrap().id;
        let offered = wait(&live.rest(id).await).schema["properties"]["intent"]["enum"].clone();
        let offers = |intent: &str| offered.as_array().unwrap().contains(&json!(intent));
        assert!(offers("test.plan") && !offers("test.other"), "{offered}");
        let refused = live.review(id, None, json!({"intent": "test.other"})).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Validation);
        live.review(id, None, json!({"intent": "test.plan"})).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}

#[test]
fn an_answer_to_a_question_that_is_gone_answers_no_other() {
    knowing(FixedIntent::new()).run(async |live| {
        live.put(json!({"key": "test.gone", "intentKey": "test.other", "steps": [step("a", "core.noop", json!({}))]}))
            .await;
        live.put(plan(json!([step("b", "core.noop", json!({}))]))).await;
        let id = live.try_submit(SubmitRequest::text("unknown words")).await.unwrap().id;
        let first = live.rest(id).await;
        live.world.set_active(&live, "test.gone", false).await;
        live.review(id, None, json!({"intent": "test.other"})).await.unwrap();
        let next = live.after_answer(id, &first).await;
        assert_eq!(kinds(&next), [WaitKind::Plan]);
        // It would fit the question that has taken its place.
        let corrections = object(json!({"planKey": "test.plan"}));
        let answer = async |question, step_id: Option<&str>| {
            let (corrections, step_id) = (corrections.clone(), step_id.map(str::to_owned));
            let request = ReviewRequest { corrections, question, step_id, ..ReviewRequest::default() };
            live.engine.tasks().review(&live.world.actor, id, request).await.map_err(|error| error.code())
        };
        let (old, new) = (wait(&first).approval_id, wait(&next).approval_id);
        assert!(old.is_some() && new.is_some() && old != new);
        assert_eq!(answer(old, None).await.err(), Some(ErrorCode::Conflict));
        assert_eq!(answer(None, Some("intent")).await.err(), Some(ErrorCode::Conflict));
        assert_eq!(answer(new, Some("intent")).await.err(), Some(ErrorCode::Conflict));
        answer(new, None).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        assert_eq!(answer(new, None).await.err(), Some(ErrorCode::Conflict));
    });
}

#[test]
fn a_phase_to_which_a_person_says_no_cancels_the_task() {
    knowing(FixedIntent::new()).run(async |live| {
        let id = with_files(&live, "unknown", vec![]).await;
        live.rest(id).await;
        live.resolve(id, Resolution::Fail).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.error_message.as_deref()), (TaskStatus::Cancelled, Some("a person said no")));
        let refused = live.engine.tasks().retry(&live.world.actor, id).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Conflict, "nothing failed");
    });
}

#[test]
fn a_model_that_rests_is_asked_again_later() {
    let intents = CountedIntent {
        table: FixedIntent::new().when("please", "test.plan", 0.9),
        fails: 2,
        ..CountedIntent::default()
    };
    World::new().knowing(intents).run(async |live| {
        let id = with_files(&live, "please", vec![]).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, asked(live.world)), (TaskStatus::Completed, 3));
        assert!(task.completed_at.unwrap().since(task.created_at).0 >= 4_000);
        let rows: Vec<Value> = live.world.journal(id).iter().map(|row| json!(row.step)).collect();
        assert_eq!(rows, [json!("_intent_detection"), json!("_planning"), json!("a"), Value::Null]);
    });
}
