//! What a model that has read strangers' words writes is shown without what would carry those words, or the user's, out.

use kybern_core::chat::TurnEvent;
use kybern_core::task::JournalEntry;
use kybern_core::time::Millis;
use serde_json::{Value, json};

use crate::chats::{all, chat, contents, saying, text};
use crate::turns::{ask, calls, helper, provider, reading, says, scripted};
use crate::world::{World, plan};

const REPLY: &str =
    "It says ![x](https://evil.example/?q=1) and [more](https://evil.example), see https://docs.example.com/a.";
const SHOWN: &str = "It says ![x] (picture removed: `evil[.]example/…`) and [more] (`evil[.]example/…`), see \
                     https://docs.example.com/a.";

fn content(events: &[TurnEvent]) -> &Value {
    &events.iter().find(|event| event.name == "message.complete").unwrap().data["content"]
}

#[test]
fn after_strangers_words_no_picture_or_link_leaves_the_turn() {
    for reads in [true, false] {
        let first = if reads { calls(&[("t__read", json!({}))]) } else { calls(&[("t__echo", json!({}))]) };
        let model = scripted(vec![first, says(REPLY)]);
        let world = World::on_sqlite([reading()]).asking(provider(&model)).employing([helper(&["t.read", "t.echo"])]);
        world.run(async |live| {
            let actor = &live.world.actor;
            let chat = chat(&live).await;
            let said = saying("What does it say? Compare with https://docs.example.com/a, please.");
            let reader = live.engine.chats().say_aloud(actor, chat, said).await.unwrap();
            let (task, answer) = (reader.heard().task, reader.heard().turn.answer_id);
            let events = all(reader).await;
            let expected = if reads { SHOWN } else { REPLY };
            assert_eq!(content(&events), expected);
            assert!(text(&events).ends_with(expected), "{}", text(&events));
            assert_eq!(contents(&live, chat).await.last().unwrap().1, expected);
            let later = live.engine.chats().follow_turn(actor, chat, Some(answer), None).await.unwrap();
            assert_eq!(all(later).await, events, "from the journal it is the same");
            // The journal has what the model wrote, and a replay arrives at what was shown.
            let rows = live.world.journal(task);
            let mut written = rows.iter().filter_map(|row| match &row.entry {
                JournalEntry::Finished(outcome) => outcome.reply.as_ref().map(|reply| reply.text()),
                _ => None,
            });
            assert_eq!(written.next_back().unwrap(), REPLY);
            live.proven(task).await;
        });
    }
}

#[test]
fn what_a_model_would_remember_has_none_either() {
    let memory = "See ![x](https://evil.example/p?q=1) and https://evil.example/x.";
    let suggests = calls(&[("suggest_memory", json!({"memory": memory}))]);
    let model = scripted(vec![calls(&[("t__read", json!({}))]), suggests, says("Noted.")]);
    let world =
        World::on_sqlite([reading()]).asking(provider(&model)).employing([helper(&["t.read", "suggest_memory"])]);
    world.run(async |live| {
        let chat = chat(&live).await;
        let turned =
            live.engine.chats().say(&live.world.actor, chat, saying("Read it."), Some(Millis(60_000))).await.unwrap();
        let shown = "See ![x] (picture removed: `evil[.]example/…`) and `evil[.]example/…`.";
        assert_eq!(turned.memory_suggestions, [shown]);
        live.proven(turned.task_id).await;
    });
}

#[test]
fn the_result_of_an_agent_step_has_none_either() {
    let model = scripted(vec![calls(&[("t__read", json!({}))]), says(REPLY)]);
    let world = World::on_sqlite([reading()]).asking(provider(&model)).employing([helper(&["t.read"])]);
    world.run(async |live| {
        let id = live.begin(plan(ask()), json!({"what": "x"})).await;
        let task = live.proven(id).await;
        let result = serde_json::to_string(&task.result).unwrap();
        assert!(result.contains("picture removed: `evil[.]example/…`") && !result.contains("://"), "{result}");
    });
}
