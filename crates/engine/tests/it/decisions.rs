//! `decision` steps: one question by a schema, one repair, and what they cost.

use std::sync::{Arc, OnceLock};

use futures::FutureExt as _;
use kybern_core::error::ErrorCode;
use kybern_core::model::{ModelFailureKind, ModelRequest, ModelSpec, Prices, Role};
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::{AuditStore as _, TaskStore as _};
use kybern_core::task::{TaskStatus, WorkerId};
use kybern_core::time::Millis;
use kybern_engine::models::ProviderParts;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::models::{Scripted, ScriptedModel};
use serde_json::{Value, json};

use crate::world::{Stored, World, plan, step};

const PRICES: Prices = Prices { input: 1_000_000, cached: None, cache_write: None, output: 2_000_000 };

fn decide() -> Value {
    json!([
        {"id": "pick", "kind": "decision", "prompt": "Which queue takes {{ task.payload.what }}?",
            "schema": {"queue": {"type": "string", "enum": ["claims", "sales"]}}, "retry": {"maxAttempts": 1}},
        step("use", "core.set", json!({"chosen": "{{ state.queue }}"})),
    ])
}

fn world(model: &Arc<ScriptedModel>) -> World {
    let spec = ModelSpec { prices: Some(PRICES), quality: Some(50), ..ModelSpec::unknown("small") };
    let parts = ProviderParts { model: model.clone(), models: vec![spec], others: false, free: false };
    World::with([]).asking(vec![parts])
}

fn answers(texts: &'static [&'static str]) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new("one", move |n, _| Scripted::text(texts[n.min(texts.len() - 1)], 10, 5)))
}

#[test]
fn a_decision_enters_the_state_and_says_what_it_cost() {
    let model = answers(&[r#"{"queue": "claims"}"#]);
    world(&model).run(async |live| {
        let id = live.begin(plan(decide()), json!({"what": "a dented trailer"})).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["chosen"]), (TaskStatus::Completed, &json!("claims")));
        assert_eq!((task.usage.input_tokens, task.usage.cost_nanos), (Tokens(10), NanoUsd(20)));
        let [asked]: [ModelRequest; 1] = model.asked().try_into().unwrap();
        assert_eq!(asked.temperature, Some(0.0));
        assert_eq!(asked.output.unwrap().schema.unwrap()["required"], json!(["queue"]));
        let roles: Vec<Role> = asked.messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::System, Role::User]);
        assert_eq!(asked.messages[1].joined_text(), "Which queue takes a dented trailer?");
        let call = loop {
            let events = live.world.store.audit_events(live.world.scope(), 0, 100).await.unwrap();
            if let Some(call) = events.into_iter().find(|event| event.event.action == "model.call") {
                break call;
            }
            crate::outside::pause(Millis(1)).await;
        };
        assert!(call.event.detail["prompt"].as_str().unwrap().starts_with("decision@"), "{:?}", call.event.detail);
        assert_eq!(call.event.detail["task"], json!(id));
    });
}

#[test]
fn an_answer_that_does_not_fit_is_repaired_once() {
    for first in ["claims, I think", r#"{"queue": "nowhere"}"#, "[1]", "{}"] {
        let model = Arc::new(ScriptedModel::new("one", move |n, _| {
            Scripted::text(if n == 0 { first } else { "```json\n{\"queue\": \"sales\"}\n```" }, 10, 5)
        }));
        world(&model).run(async |live| {
            let id = live.begin(plan(decide()), json!({"what": "a quote"})).await;
            let task = live.proven(id).await;
            assert_eq!((task.status, &task.state["chosen"]), (TaskStatus::Completed, &json!("sales")), "{first}");
            assert_eq!(task.usage.input_tokens, Tokens(20), "both questions count");
            let again = &model.asked()[1];
            assert_eq!((again.messages.len(), again.messages[2].joined_text().as_str()), (4, first));
        });
    }
}

#[test]
fn a_model_that_does_not_learn_fails_the_step() {
    let model = answers(&[r#"{"queue": "nowhere"}"#]);
    world(&model).run(async |live| {
        let id = live.begin(plan(decide()), json!({"what": "x"})).await;
        let task = live.proven(id).await;
        let error = task.error.unwrap();
        assert_eq!((task.status, error.code, model.count()), (TaskStatus::Failed, ErrorCode::Model, 2));
        let spent = (task.usage.input_tokens, task.usage.output_tokens, task.usage.cost_nanos);
        assert_eq!(spent, (Tokens(20), Tokens(10), NanoUsd(40)), "what failed has cost all the same");
        assert!(error.message.contains("/queue"), "{}", error.message);
    });
}

#[test]
fn a_task_cannot_spend_past_its_budget() {
    let model = answers(&[r#"{"queue": "claims"}"#]);
    world(&model).run(async |live| {
        for (budget, status) in [(100, TaskStatus::Failed), (100_000, TaskStatus::Completed)] {
            let plan_key = Some(live.put(plan(decide())).await);
            let (payload, budget) = (json!({"what": "x"}), Some(NanoUsd(budget)));
            let request = SubmitRequest { plan_key, payload, budget, ..SubmitRequest::text("x") };
            let task = live.try_submit(request).await.unwrap();
            let task = live.rest(task.id).await;
            assert_eq!(task.status, status, "{:?}", task.error);
            if status == TaskStatus::Failed {
                assert_eq!((task.error.unwrap().code, model.count()), (ErrorCode::BudgetExceeded, 0));
            }
        }
    });
}

#[test]
fn what_may_pass_is_tried_again_by_the_step() {
    let model = Arc::new(ScriptedModel::new("one", |n, _| match n {
        0..=3 => Scripted::fail(ModelFailureKind::Provider),
        _ => Scripted::text(r#"{"queue": "claims"}"#, 10, 5),
    }));
    world(&model).run(async |live| {
        let mut steps = decide();
        steps[0]["retry"] = json!({"maxAttempts": 2, "initialDelayMs": 60_000});
        let id = live.begin(plan(steps), json!({"what": "x"})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}

#[test]
fn who_has_lost_the_lease_does_not_spend_again() {
    let store: Arc<OnceLock<Arc<Stored>>> = Arc::default();
    let known = Arc::clone(&store);
    let model = Arc::new(ScriptedModel::new("one", move |n, _| {
        if n == 0 {
            // While the model thinks, another worker takes the task over.
            let (store, thief, length) = (known.get().unwrap(), WorkerId::new("thief"), Millis(3_600_000));
            let now = kybern_testkit::SimClock::START;
            store.take_over(now).now_or_never().unwrap().unwrap();
            let later = now.plus(Millis(86_400_000));
            let stolen = store
                .claim_due(&thief, &kybern_core::slots::WorkerCapacity::of(10), length, later)
                .now_or_never()
                .unwrap()
                .unwrap();
            assert_eq!(stolen.len(), 1);
        }
        Scripted::text("no decision", 10, 5)
    }));
    let world = world(&model).set(|settings| settings.heartbeat = Millis(3_600_000));
    store.set(Arc::clone(&world.store)).unwrap();
    world.run(async |live| {
        live.begin(plan(decide()), json!({"what": "x"})).await;
        while model.count() == 0 {
            crate::outside::pause(Millis(1)).await;
        }
        crate::outside::pause(Millis(1_000)).await;
        assert_eq!(model.count(), 1, "the answer did not fit, and somebody else asks again");
    });
}

#[test]
fn without_a_model_a_plan_that_decides_is_faulty() {
    World::new().run(async |live| {
        let faults = live.engine.plans().check(live.world.scope(), &plan(decide())).await.unwrap();
        assert!(format!("{faults:?}").contains("decision"), "{faults:?}");
    });
}
