//! What papers and message say, before it is known what is wanted.

use std::sync::atomic::Ordering;

use kybern_core::id::TaskId;
use kybern_core::task::{TaskStatus, WaitKind};
use kybern_testkit::fakes::FixedIntent;
use serde_json::{Map, Value, json};

use crate::live::{Live, kinds, wait};
use crate::outside::CountedIntent;
use crate::world::{World, plan, step};

fn world() -> World {
    let table = FixedIntent::new().when("please", "test.plan", 0.9);
    let world = World::on_sqlite([]).knowing(CountedIntent { table, ..CountedIntent::default() });
    world.extractor.takes_lines.store(true, Ordering::SeqCst);
    world
}

async fn receive(live: &Live<'_>, files: Map<String, Value>) -> TaskId {
    live.put(plan(json!([step("a", "core.noop", json!({}))]))).await;
    let letter = json!({"id": "1@example.com", "subject": "Papers", "text": "please", "files": files});
    live.engine.intake().receive_email(&live.world.actor, letter.to_string().into(), None).await.unwrap().task_id
}

/// The numbers of the documents, each with the values of its fields.
fn lines(extractions: &Value) -> Vec<(u64, Vec<String>)> {
    let value = |field: &Value| field["value"].as_str().unwrap().to_owned();
    let of = |one: &Value| {
        let fields = one["fields"].as_array().unwrap();
        (one["n"].as_u64().unwrap(), fields.iter().map(value).collect())
    };
    extractions.as_array().unwrap().iter().map(of).collect()
}

#[test]
fn what_papers_and_message_say_stands_in_the_state_while_a_person_is_asked_and_afterwards() {
    let world = world();
    let said = [(1, vec!["one".to_owned(), "two".to_owned()]), (0, vec!["please".to_owned(), "Papers".to_owned()])];
    let id = world.run(async |live| {
        let files = json!({"a.txt": "one\ntwo", "b.locked": "x"});
        let id = receive(&live, files.as_object().cloned().unwrap()).await;
        let task = live.rest(id).await;
        assert_eq!(kinds(&task), [WaitKind::Document]);
        assert_eq!(lines(&wait(&task).details["extractions"]), said);
        assert_eq!(lines(&task.state["extractions"]), said);
        id
    });
    world.run(async |live| {
        live.review(id, None, json!({"documents": {"2": {"ignore": true}}})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        assert_eq!(lines(&task.state["extractions"]), said);
    });
}

#[test]
fn a_fork_of_a_letter_without_files_knows_what_the_letter_says() {
    world().run(async |live| {
        let id = receive(&live, Map::new()).await;
        let task = live.proven(id).await;
        let fork = live.engine.tasks().fork(&live.world.actor, id, None).await.unwrap();
        let fork = live.proven(fork.id).await;
        assert_eq!(lines(&fork.state["extractions"]), [(0, vec!["please".to_owned(), "Papers".to_owned()])]);
        assert_eq!(fork.state["extractions"], task.state["extractions"]);
    });
}

#[test]
fn papers_that_say_more_than_a_step_may_keep_do_not_fail_their_task() {
    world().run(async |live| {
        // Twelve papers of two million bytes: far more together than the data of a step may be.
        let paper = format!("{}\n", "x".repeat(999)).repeat(2_000);
        let files = (0..12).map(|n| (format!("{n:02}.txt"), Value::from(paper.as_str()))).collect();
        let id = receive(&live, files).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let extractions = task.state["extractions"].as_array().unwrap();
        assert_eq!(extractions.len(), 13, "each paper is named, and the message");
        assert!(extractions[0]["fields"].as_array().is_some_and(|fields| fields.len() > 100));
        assert!(extractions[..12].iter().all(|one| one["truncated"] == json!(true)), "each paper lacks something");
        assert!(task.state["extractions"].to_string().len() < 600_000);
    });
}
