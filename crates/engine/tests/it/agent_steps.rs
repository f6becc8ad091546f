//! Agents that steps of plans name: found whenever the plan is chosen, and missed by name when they are not there.

use std::sync::Arc;

use kybern_core::agent::AgentDraft;
use kybern_core::error::ErrorCode;
use kybern_core::memory::{MemoryStatus, Subject};
use kybern_core::model::ModelFailureKind;
use kybern_core::ports::MemoryStore as _;
use kybern_core::task::{JournalEntry, JournalRow, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::fakes::FixedIntent;
use kybern_testkit::models::{Scripted, ScriptedModel};
use serde_json::{Value, json};

use crate::live::kinds;
use crate::outside::CountedIntent;
use crate::turns::{calls, helper, provider, reading, says, scripted, sending};
use crate::world::{World, plan};

fn clerk() -> AgentDraft {
    AgentDraft::named("Clerk", "You count for Acme Freight.")
}

fn ask(agent: &str) -> Value {
    json!({"id": "help", "kind": "agent", "agent": agent, "task": "How many boxes?"})
}

fn approve() -> Value {
    json!({"id": "approve", "kind": "input", "title": "Shall it?", "fields": {}})
}

fn world(model: &Arc<ScriptedModel>) -> World {
    let intents = FixedIntent::new().when("please", "test.plan", 0.9);
    let intents = CountedIntent { table: intents, ..CountedIntent::default() };
    // What an administrator writes holds at once.
    World::on_sqlite([]).asking(provider(model)).knowing(intents).set(|settings| settings.self_approval = true)
}

#[test]
fn an_agent_is_found_by_a_plan_that_is_chosen_in_the_same_run() {
    for inside in [false, true] {
        let model = scripted(vec![says("Seven boxes.")]);
        let world = world(&model);
        world.run(async |live| {
            live.engine.agents().create(&world.actor, clerk()).await.unwrap();
            let steps = if inside {
                json!([{"id": "if", "kind": "condition", "if": "{{ task.intent == 'test.plan' }}",
                    "then": [ask("clerk")]}])
            } else {
                json!([ask("clerk")])
            };
            live.put(plan(steps)).await;
            let id = live.try_submit(SubmitRequest::text("please count")).await.unwrap().id;
            let task = live.proven(id).await;
            assert_eq!((task.status, task.selected_plan.as_deref()), (TaskStatus::Completed, Some("test.plan")));
            assert_eq!(task.recoveries, 0);
            let told: String = model.asked()[0].messages.iter().map(|message| message.joined_text()).collect();
            assert!(told.contains("You count for Acme Freight."), "{told}");
        });
    }
}

#[test]
fn an_agent_is_found_by_a_plan_that_a_person_names() {
    let model = scripted(vec![says("Seven boxes.")]);
    let world = world(&model);
    world.run(async |live| {
        live.engine.agents().create(&world.actor, clerk()).await.unwrap();
        live.put(plan(json!([ask("clerk")]))).await;
        let id = live.try_submit(SubmitRequest::text("who knows what")).await.unwrap().id;
        let task = live.rest(id).await;
        assert_eq!(kinds(&task), [WaitKind::Intent]);
        live.review(id, None, json!({"intent": "test.plan"})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["content"]), (TaskStatus::Completed, &json!("Seven boxes.")));
    });
}

#[test]
fn an_agent_that_is_gone_when_its_step_begins_is_missed_by_its_name() {
    let model = scripted(vec![says("Seven boxes.")]);
    let world = world(&model);
    world.run(async |live| {
        live.engine.agents().create(&world.actor, clerk()).await.unwrap();
        let id = live.begin(plan(json!([approve(), ask("clerk")])), Value::Null).await;
        live.rest(id).await;
        live.engine.agents().delete(&world.actor, "clerk").await.unwrap();
        live.review(id, Some("approve"), json!({})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Failed);
        let error = live.outcome(id, "help").unwrap().error.unwrap();
        assert_eq!(error.code, ErrorCode::NotFound);
        assert!(error.message.contains("there is no agent \"clerk\", see GET /api/agents"), "{}", error.message);
        assert!(model.asked().is_empty(), "nobody else answers in its place");
    });
}

#[test]
fn a_turn_whose_agent_is_deleted_while_it_waits_makes_the_call_and_then_misses_it_by_name() {
    let send = calls(&[("t__send", json!({"to": "stranger@example.net"}))]);
    let model = scripted(vec![calls(&[("t__read", json!({}))]), send, says("Done.")]);
    let tool = sending();
    let world = World::on_sqlite([tool.clone(), reading()]).asking(provider(&model));
    world.run(async |live| {
        let tools = ["t.read", "t.send"].map(str::to_owned).to_vec();
        live.engine.agents().create(&world.actor, AgentDraft { tools, ..clerk() }).await.unwrap();
        let id = live.begin(plan(json!([ask("clerk")])), Value::Null).await;
        let task = live.rest(id).await;
        assert_eq!((kinds(&task), tool.count()), (vec![WaitKind::Confirmation], 0));
        live.engine.agents().delete(&world.actor, "clerk").await.unwrap();
        live.answer(id, None, Value::Null, None).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Failed, 1), "what was answered with yes is done");
        let error = live.outcome(id, "help").unwrap().error.unwrap();
        assert_eq!(error.code, ErrorCode::NotFound);
        let message = "the agent \"clerk\" was deleted before its turn had ended";
        assert!(error.message.contains(message), "{}", error.message);
        assert_eq!(model.asked().len(), 2, "nobody else is asked in its place");
    });
}

#[test]
fn a_step_says_how_often_its_agents_model_is_asked_again() {
    for (fields, again) in
        [(json!({}), 2), (json!({"retry": {"maxAttempts": 1}}), 0), (json!({"retry": {"maxAttempts": 2}}), 1)]
    {
        let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::fail(ModelFailureKind::Provider)));
        world(&model).run(async |live| {
            live.engine.agents().create(&live.world.actor, clerk()).await.unwrap();
            let mut step = ask("clerk");
            step.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let id = live.begin(plan(json!([step])), json!({})).await;
            assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
            let retried = |row: &JournalRow| matches!(row.entry, JournalEntry::Retrying { .. });
            assert_eq!(live.world.journal(id).iter().filter(|row| retried(row)).count(), again, "{fields}");
        });
    }
}

#[test]
fn a_step_may_give_a_turn_less_time_than_its_agent_has_and_never_more() {
    // What the model wants after its first reply takes a second question, for which time must be left.
    let cases = [
        (1_000, 30_000, Some(ErrorCode::Timeout)),
        (60_000, 30_000, None),
        // The agent has two minutes.
        (86_400_000, 130_000, Some(ErrorCode::Timeout)),
    ];
    for (timeout, takes, code) in cases {
        let first = calls(&[("t__echo", json!({"text": "again"}))]);
        let model = scripted(vec![Scripted::After(Millis(takes), Box::new(first)), says("Seven boxes.")]);
        let world = World::on_sqlite([]).asking(provider(&model)).employing([helper(&["t.echo"])]);
        world.run(async |live| {
            let mut step = ask("helper");
            step["timeoutMs"] = json!(timeout);
            let id = live.begin(plan(json!([step])), json!({})).await;
            let task = live.proven(id).await;
            let failed = if code.is_some() { TaskStatus::Failed } else { TaskStatus::Completed };
            assert_eq!((task.status, task.error.map(|error| error.code)), (failed, code), "{timeout}");
        });
    }
}

#[test]
fn what_a_steps_agent_would_remember_waits_for_the_users_yes() {
    let memory = "Ships to Ohio on Mondays.";
    let model = scripted(vec![calls(&[("suggest_memory", json!({"memory": memory}))]), says("Noted.")]);
    let world = World::on_sqlite([]).asking(provider(&model)).employing([helper(&["suggest_memory"])]);
    world.run(async |live| {
        let task = live.begin(plan(json!([ask("helper")])), json!({})).await;
        live.proven(task).await;
        let subject = Subject::User(live.world.actor.user().unwrap());
        let noted = live.find(async || {
            let all = live.world.store.memories_of(live.world.scope(), subject);
            live.world.look(all).await.unwrap().into_iter().next().map(|(memory, _)| memory)
        });
        let noted = noted.await;
        assert_eq!((noted.content.as_str(), noted.status), (memory, MemoryStatus::Pending));
        assert_eq!((noted.provenance.task, noted.provenance.chat), (Some(task), None));
    });
}

#[test]
fn for_a_task_of_nobody_an_agent_has_nobody_to_remember_anything_of() {
    let model = scripted(vec![says("Seven boxes.")]);
    let intents = FixedIntent::new().when("boxes", "test.plan", 0.9);
    let world = World::on_sqlite([]).asking(provider(&model)).employing([helper(&["suggest_memory", "t.echo"])]);
    world.knowing(CountedIntent { table: intents, ..CountedIntent::default() }).run(async |live| {
        live.put(plan(json!([ask("helper")]))).await;
        let letter = json!({"id": "1@example.com", "subject": "A question", "text": "How many boxes?"});
        let nobody =
            live.engine.identity().channel_actor(live.world.scope().tenant(), "email", live.world.actor.request());
        let received = live.engine.intake().receive_email(&nobody, letter.to_string().into(), None).await.unwrap();
        assert_eq!(live.proven(received.task_id).await.status, TaskStatus::Completed);
        let offered: Vec<String> = model.asked().last().unwrap().functions.iter().map(|one| one.name.clone()).collect();
        assert_eq!(offered, ["t__echo"]);
    });
}
