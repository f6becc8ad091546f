//! How many answers of language models a task gets, for how long it asks, and what becomes of one that its journal has no
//! room for.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::money::Tokens;
use kybern_core::task::{EffectClass, JournalEntry, TaskStatus};
use kybern_core::time::Millis;
use kybern_core::tool::ToolOutcome;
use kybern_testkit::models::{Scripted, ScriptedModel};
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Map, Value, json};

use crate::live::object;
use crate::understanding::{
    About, SHEET, about, answers, asked, by_hand, intent, is_sheet, knowing, letter, model, nothing, plans, reader,
    values, world,
};
use crate::world::step;

/// A step whose data takes 32 bytes of memory for each of so many zeros.
fn filling() -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new("t.fill", EffectClass::Read, |_, args| {
        let zeros = args["zeros"].as_u64().unwrap_or_default();
        let zeros: Vec<Value> = (0..zeros).map(|_| json!(0)).collect();
        Ok(ToolOutcome::new(object(json!({"v": zeros})), "filled"))
    }))
}

#[test]
fn an_answer_that_the_journal_has_no_room_for_is_used_by_no_try_of_the_step() {
    let fields = values(&[("house", 0, "Fern Hall"), ("rooms[].name", 0, "Blue Room")]);
    // What surrounds an object is no part of it, and takes room all the same.
    let long = format!("{fields}{}", " ".repeat(400_000));
    let model = model(move |about, _, _| if about == About::Kind { is_sheet() } else { long.clone() });
    let mut world = world(&model, vec![reader(), filling()]);
    // Each look at the task copies what it holds.
    world.tick = Millis(2_000);
    world.run(async |live| {
        let fill = |n: usize, zeros: u32| step(&format!("s{n}"), "t.fill", json!({"zeros": zeros}));
        let mut steps: Vec<Value> = (0..10).map(|n| fill(n, 200_000)).collect();
        steps.extend([fill(10, 90_000), step("a", "t.read", json!({}))]);
        plans(&live, json!(steps)).await;
        let id = by_hand(&live).await;
        for tries in 1..=2 {
            let task = live.end(id).await;
            assert_eq!((task.status, model.count()), (TaskStatus::Failed, 2), "{tries}: {:?}", task.error);
            let error = live.outcome(id, "a").unwrap().error.unwrap();
            assert_eq!(error.code, ErrorCode::PayloadTooLarge, "{}", error.message);
            assert!(error.message.contains("the answer of a language model was not used"), "{}", error.message);
            assert_eq!((task.state.get("read"), task.usage.input_tokens), (None, Tokens(20)), "both were paid for");
            if tries == 1 {
                live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
            }
        }
        // A fork leaves out what had no room, and asks about the paper itself.
        let fork = live.engine.tasks().fork(&live.world.actor, id, Some("s1".to_owned())).await.unwrap();
        live.end(fork.id).await;
        assert_eq!(model.count(), 4);
    });
}

#[test]
fn steps_that_read_the_same_paper_side_by_side_ask_about_it_once() {
    let model = Arc::new(ScriptedModel::new("one", |_, request| {
        let answer = if about(request) == About::Kind { is_sheet() } else { values(&[("house", 0, "Fern Hall")]) };
        Scripted::After(Millis(500), Box::new(Scripted::text(&answer, 10, 5)))
    }));
    world(&model, vec![reader()]).run(async |live| {
        let read = |id: &str| json!([step(id, "t.read", json!({}))]);
        plans(&live, json!([{"id": "both", "kind": "parallel", "branches": [read("a"), read("b"), read("c")]}])).await;
        let id = by_hand(&live).await;
        let task = live.proven(id).await;
        assert_eq!((task.status, asked(&model)), (TaskStatus::Completed, vec![About::Kind, About::Fields]));
        assert_eq!((answers(live.world, id), task.usage.input_tokens), (2, Tokens(20)));
        let rows = live.world.journal(id).into_iter();
        let read: Vec<Value> = rows
            .filter_map(|row| match row.entry {
                JournalEntry::Finished(outcome) => outcome.data.get("read").cloned(),
                _ => None,
            })
            .collect();
        assert_eq!((read.len(), &read[0]), (3, &read[1]));
        assert_eq!(read[1], read[2]);
    });
}

/// Papers that differ, each of which the rules know nothing of.
fn papers(count: usize) -> Value {
    let paper = |n: usize| (format!("{n:02}.txt"), json!(format!("{SHEET}, sheet {n}")));
    (0..count).map(paper).collect::<Map<String, Value>>().into()
}

#[test]
fn a_mail_of_many_papers_gets_so_many_answers_and_its_intent_is_asked_about_all_the_same() {
    let model = knowing();
    world(&model, vec![]).run(async |live| {
        plans(&live, json!([step("a", "core.set", json!({"seen": "{{ state.extractions }}"}))])).await;
        let id = letter(&live, "could you", papers(30)).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        assert_eq!((model.count(), answers(live.world, id)), (47, 47), "46 about papers, and the intent");
        assert_eq!(asked(&model).pop(), Some(About::Intent));
        let seen = task.state["seen"].as_array().unwrap();
        // Two questions a paper: the message, which comes last, and seven papers are read by the rules alone.
        assert_eq!(seen.iter().filter(|paper| paper.get("unasked").is_some()).count(), 8);
        let why = seen[29]["unasked"].as_str().unwrap();
        assert!(why.starts_with("no language model was asked: the task has had 46 answers"), "{why}");
        assert_eq!((&seen[29]["model"], &seen[29]["fields"][0]["value"]), (&json!("sheets/1"), &json!("Fern Hall")));
    });
}

#[test]
fn the_questions_of_a_phase_have_one_time_limit_and_then_the_rules_stand() {
    let model = Arc::new(ScriptedModel::new("one", |_, request| {
        let answer = match about(request) {
            About::Kind => is_sheet(),
            About::Intent => intent("test.plan", 0.9),
            About::Fields | About::Picture => values(&[]),
        };
        Scripted::After(Millis(50_000), Box::new(Scripted::text(&answer, 10, 5)))
    }));
    world(&model, vec![]).set(|settings| settings.step_timeout = Millis(60_000)).run(async |live| {
        plans(&live, nothing()).await;
        let began = live.now();
        let id = letter(&live, "could you", papers(20)).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let papers = asked(&model).iter().filter(|about| **about != About::Intent).count();
        assert!((5..=6).contains(&papers), "five minutes in all, fifty seconds each: {papers}");
        assert!(live.now().since(began) < Millis(400_000), "{}", live.now().since(began));
        let told = task.state["extractions"].as_array().unwrap().last().unwrap()["unasked"].clone();
        assert!(told.as_str().unwrap().starts_with("no language model was asked"), "{told}");
    });
}
