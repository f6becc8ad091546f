//! What comes in by mail, and what a repeat is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kybern_core::ports::{TaskFilter, TaskStore as _};
use kybern_core::task::{Channel, EffectClass, TaskStatus};
use kybern_core::tool::ToolOutcome;
use kybern_engine::intake::DeliveryOutcome;
use kybern_testkit::fakes::FixedIntent;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::{Live, object};
use crate::outside::CountedIntent;
use crate::world::{World, plan, step};

fn letter(id: &str, text: &str) -> Value {
    json!({"id": id, "subject": "A request", "text": text})
}

async fn receive(live: &Live<'_>, letter: &Value) -> DeliveryOutcome {
    live.engine.intake().receive_email(&live.world.actor, letter.to_string().into(), None).await.unwrap()
}

async fn count(live: &Live<'_>) -> usize {
    let all = TaskFilter { limit: 200, ..TaskFilter::default() };
    live.world.look(live.world.store.tasks(live.world.scope(), &all)).await.unwrap().items.len()
}

fn knowing() -> World {
    let table = FixedIntent::new().when("please", "test.plan", 0.9);
    World::new().knowing(CountedIntent { table, ..CountedIntent::default() })
}

#[test]
fn another_letter_under_a_known_message_id_is_a_task_of_its_own() {
    knowing().run(async |live| {
        live.put(plan(json!([step("a", "core.set", json!({"said": "{{ task.input }}"}))]))).await;
        let texts = ["please quote", "please cancel", "please wait"];
        let mut ids = Vec::new();
        for text in texts {
            let received = receive(&live, &letter("same@example.com", text)).await;
            assert!(!received.duplicate, "{text}");
            assert!(!ids.contains(&received.task_id), "{text}");
            ids.push(received.task_id);
        }
        // A second delivery of each of them finds the task of the first.
        for (text, id) in texts.iter().zip(&ids) {
            let again = receive(&live, &letter("same@example.com", text)).await;
            assert_eq!((again.task_id, again.duplicate), (*id, true), "{text}");
        }
        for (text, id) in texts.iter().zip(&ids) {
            let task = live.proven(*id).await;
            assert_eq!((task.status, task.channel), (TaskStatus::Completed, Channel::Email));
            assert_eq!(task.state["said"], json!(text));
        }
        assert_eq!(count(&live).await, 3);
    });
}

#[test]
fn a_letter_without_an_id_is_known_by_what_it_says() {
    knowing().run(async |live| {
        let nameless = |text: &str, file: &str| json!({"subject": "s", "text": text, "files": {"a.txt": file}});
        let first = receive(&live, &nameless("please", "one")).await;
        assert_eq!(receive(&live, &nameless("please", "one")).await, DeliveryOutcome { duplicate: true, ..first });
        // The same words with another file are another letter.
        let other = receive(&live, &nameless("please", "two")).await;
        assert!(!other.duplicate && other.task_id != first.task_id);
        assert_eq!(count(&live).await, 2);
    });
}

#[test]
fn a_picture_beside_a_paper_that_was_read_stops_no_letter_and_a_locked_paper_does() {
    knowing().run(async |live| {
        live.put(plan(json!([step("a", "core.set", json!({"said": "{{ task.input }}"}))]))).await;
        let with = |file: &str| json!({"subject": "s", "text": "please", "files": {"a.txt": "one", file: "x"}});
        let id = receive(&live, &with("logo.scan")).await.task_id;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        let rows = live.world.journal(id);
        let told = rows.iter().any(|row| format!("{:?}", row.entry).contains("unread"));
        assert!(told, "the journal says which paper nobody read");
        let fork = live.engine.tasks().fork(&live.world.actor, id, None).await.unwrap();
        let fork = live.proven(fork.id).await;
        assert_eq!(
            (fork.status, &fork.state["said"]),
            (TaskStatus::Completed, &task.state["said"]),
            "a fork reads alike"
        );
        let locked = receive(&live, &with("b.locked")).await.task_id;
        assert_eq!(live.rest(locked).await.status, TaskStatus::NeedsReview);
        let alone = json!({"subject": "s", "text": "please", "files": {"only.scan": "x"}});
        let alone = receive(&live, &alone).await.task_id;
        assert_eq!(live.rest(alone).await.status, TaskStatus::NeedsReview);
    });
}

#[test]
fn a_notice_of_a_machine_is_stopped_by_no_file() {
    knowing().run(async |live| {
        live.put(plan(json!([step("a", "core.set", json!({"said": "{{ task.input }}"}))]))).await;
        let cases = [
            ("bounce", json!([]), true),
            ("invitation", json!([]), true),
            ("automatic_reply", json!([]), true),
            // It may be the answer that somebody waits for.
            ("automatic_reply", json!([{"id": "01900000-0000-7000-8000-000000000001", "place": "subject"}]), false),
            ("personal", json!([]), false),
        ];
        for (n, (kind, tokens, goes_on)) in cases.into_iter().enumerate() {
            let text = format!("please, {n}");
            let letter = json!({
                "subject": "s", "text": text, "files": {"b.locked": "x"}, "kind": kind, "requestTokens": tokens
            });
            let id = receive(&live, &letter).await.task_id;
            let task = live.rest(id).await;
            assert_eq!(task.status == TaskStatus::Completed, goes_on, "{kind} {tokens}");
        }
    });
}

#[test]
fn a_letter_is_taken_apart_once_for_all_tools_of_its_task() {
    let read = ScriptedTool::pending("t.read", EffectClass::Read, |context, _| {
        Box::pin(async move {
            let mail = context.documents()?.mail().await?;
            Ok(ToolOutcome::new(object(json!({"said": mail.map(|mail| mail.text.clone())})), ""))
        })
    });
    let table = FixedIntent::new().when("please", "test.plan", 0.9);
    let world = World::with([Arc::new(read.with_spec(|spec| spec.needs.documents = true))]);
    world.knowing(CountedIntent { table, ..CountedIntent::default() }).run(async |live| {
        let steps = ["a", "b", "c"].map(|id| step(id, "t.read", json!({})));
        live.put(plan(json!(steps))).await;
        let asked = || live.world.letters.asked.load(Ordering::SeqCst);
        for (id, text) in [("m1", "please, one"), ("m2", "please, two")] {
            let received = receive(&live, &letter(id, text)).await;
            let at_intake = asked();
            let task = live.end(received.task_id).await;
            assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!(text)));
            assert!(asked() <= at_intake + 1, "the steps share what was read");
        }
    });
}
