//! What is remembered again, by whom, and what a turn and a plan are told of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kybern_core::error::ErrorCode;
use kybern_core::id::RecordId;
use kybern_core::memory::{Memory, MemoryCategory, MemoryStatus, NewMemory, Subject, Trust};
use kybern_core::ports::{AuditStore as _, MemoryStore as _};
use kybern_core::task::TaskStatus;
use kybern_core::time::Millis;
use kybern_engine::models::CallContext;
use serde_json::{Value, json};

use crate::chats::saying;
use crate::dossiers::{Yard, dossier, know, load, place, says_of};
use crate::live::Live;
use crate::memories::Topics;
use crate::turns::{helper, provider, says, scripted};
use crate::world::{World, step};

async fn remembered(live: &Live<'_>, of: RecordId) -> Vec<Memory> {
    let all = live.world.store.memories_of(live.world.scope(), Subject::Entity(of)).await.unwrap();
    all.into_iter().map(|(memory, _)| memory).collect()
}

/// How what is remembered stands, by what it says.
async fn statuses(live: &Live<'_>, of: RecordId) -> Vec<(String, MemoryStatus)> {
    remembered(live, of).await.into_iter().map(|memory| (memory.content, memory.status)).collect()
}

#[test]
fn what_a_dossier_told_is_a_strangers_word_by_the_template_and_by_the_task() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let yard = place(&live, "North").await;
        know(&live, yard, "Its gate sticks.", MemoryCategory::Insight, 5).await;
        let learn =
            |id: &str, tool: &str, content: &str| step(id, tool, json!({"entity_id": yard, "content": content}));
        let steps = json!([
            step("recall", "core.recall_dossier", json!({"entity_id": yard})),
            learn("by_template", "memory.remember", "Still so: {{ state.dossier.insights[0].says }}"),
            learn("by_task", "core.memorize_insight", "Was looked at."),
            learn("own_words", "memory.remember", "Was recalled."),
        ]);
        let task = live.run(steps, json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let one = |content: &str, status| (content.to_owned(), status);
        let expected = [
            one("Its gate sticks.", MemoryStatus::Active),
            one("Still so: Its gate sticks.", MemoryStatus::Pending),
            one("Was looked at.", MemoryStatus::Pending),
            one("Was recalled.", MemoryStatus::Active),
        ];
        assert_eq!(statuses(&live, yard).await, expected, "memory.remember sees nothing of the task but its arguments");
    });
}

#[test]
fn a_plan_says_what_was_rejected_of_a_stranger_and_accepts_what_waits() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let (yard, actor) = (place(&live, "North").await, &live.world.actor);
        let (memories, caller) = (live.engine.memories(), CallContext::of(actor));
        let new = |content: &str| NewMemory::fact(Subject::Entity(yard), content);
        let rejected = memories.suggest(&caller, new("Its gate sticks.")).await.unwrap();
        memories.judge(actor, rejected.id, false).await.unwrap();
        let waits = memories.suggest(&caller, new("It floods.")).await.unwrap();
        let silent = memories.suggest(&caller, new("its GATE sticks.")).await.unwrap();
        assert_eq!((silent.id, silent.status), (rejected.id, MemoryStatus::Rejected), "it is not suggested again");

        let say = |id: &str, content: &str| step(id, "memory.remember", json!({"entity_id": yard, "content": content}));
        let steps = json!([say("gate", "Its gate sticks."), say("flood", "It floods."), say("again", "It floods.")]);
        let task = live.run(steps, json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        assert_eq!((&task.state["memory_status"], &task.state["memory_created"]), (&json!("active"), &json!(false)));
        let found = remembered(&live, yard).await;
        let told: Vec<(&str, MemoryStatus, Trust)> =
            found.iter().map(|one| (one.content.as_str(), one.status, one.trust)).collect();
        let expected = [
            ("Its gate sticks.", MemoryStatus::Rejected, Trust::Model),
            ("It floods.", MemoryStatus::Active, Trust::Model),
            ("Its gate sticks.", MemoryStatus::Active, Trust::Tool),
        ];
        assert_eq!(told, expected);
        assert_eq!(found[1].id, waits.id);
        let events = live.world.store.audit_events(live.world.scope(), 0, 100).await.unwrap();
        let accepted: Vec<_> = events.iter().filter(|link| link.event.action == "memory.accept").collect();
        assert_eq!(accepted.len(), 1);
        assert_eq!(accepted[0].event.detail["stepId"], json!("flood"));
    });
}

#[test]
fn a_strangers_words_accept_nothing() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let (yard, actor) = (place(&live, "North").await, &live.world.actor);
        know(&live, yard, "It floods.", MemoryCategory::Insight, 5).await;
        let new = NewMemory::fact(Subject::Entity(yard), "Still so: It floods.");
        live.engine.memories().suggest(&CallContext::of(actor), new).await.unwrap();
        let content = "Still so: {{ state.dossier.insights[0].says }}";
        let steps = json!([
            step("recall", "core.recall_dossier", json!({"entity_id": yard})),
            step("say", "memory.remember", json!({"entity_id": yard, "content": content})),
        ]);
        let task = live.run(steps, json!({})).await;
        assert_eq!((task.status, &task.state["memory_status"]), (TaskStatus::Completed, &json!("pending")));
        assert_eq!(says_of(&dossier(&live, actor, yard, None).await.insights), ["It floods."]);
    });
}

#[test]
fn an_event_that_happens_twice_is_remembered_twice() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let yard = place(&live, "North").await;
        let event = json!({"entity_id": yard, "content": "Load refused.", "category": "event"});
        let note = |id: &str| step(id, "core.memorize_insight", event.clone());
        for _ in 0..2 {
            live.run(json!([note("one"), note("two")]), json!({})).await;
        }
        let found = dossier(&live, &live.world.actor, yard, None).await;
        assert_eq!(says_of(&found.recent_events), ["Load refused."; 4]);
    });
}

#[test]
fn what_has_expired_is_remembered_anew_by_users_steps_and_suggestions() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let (yard, actor) = (place(&live, "North").await, &live.world.actor);
        let memories = live.engine.memories();
        let new = |content: &str| NewMemory::fact(Subject::Entity(yard), content);
        let ends = Some(live.now().plus(Millis(2_000)));
        for content in ["Is closed.", "Is full.", "Is shut."] {
            memories.remember(actor, NewMemory { expires_at: ends, ..new(content) }).await.unwrap();
        }
        live.find(async || dossier(&live, actor, yard, None).await.insights.is_empty().then_some(())).await;
        let again = memories.remember(actor, new("Is closed.")).await.unwrap();
        assert_eq!((again.status, again.expires_at), (MemoryStatus::Active, None));
        let say = step("say", "memory.remember", json!({"entity_id": yard, "content": "Is full."}));
        let task = live.run(json!([say]), json!({})).await;
        assert_eq!(task.state["memory_created"], json!(true));
        let suggested = memories.suggest(&CallContext::of(actor), new("Is shut.")).await.unwrap();
        assert_eq!(suggested.status, MemoryStatus::Pending);
        let found = dossier(&live, actor, yard, None).await;
        assert_eq!(says_of(&found.insights), ["Is full.", "Is closed."]);
    });
}

#[test]
fn a_place_has_no_secret_and_no_link_of_a_stranger_and_is_not_audited() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let yard = place(&live, "North").await;
        know(&live, yard, "see [page](https://evil.example/?q=1)", MemoryCategory::Insight, 5).await;
        let note = |content: &str, place: &str| {
            step("note", "memory.remember", json!({"entity_id": yard, "content": content, "place": place}))
        };
        let secret = live.run(json!([note("Has a gate.", "page 2, password: hunter2hunter2")]), json!({})).await;
        assert_eq!(secret.error.unwrap().code, ErrorCode::Validation);
        let recall = step("recall", "core.recall_dossier", json!({"entity_id": yard}));
        let place = "a.pdf {{ state.dossier.insights[0].says }}";
        let task = live.run(json!([recall, note("Has a gate.", place)]), json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let kept = remembered(&live, yard).await.remove(1);
        let place = kept.provenance.place.unwrap();
        assert!(place.starts_with("a.pdf") && !place.contains("https://"), "{place}");
        let events = live.world.store.audit_events(live.world.scope(), 0, 100).await.unwrap();
        assert!(!events.iter().any(|link| link.event.detail.to_string().contains("a.pdf")), "not where it stands");
    });
}

#[test]
fn what_is_known_is_not_paid_for_again() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).bringing(Yard).asking(model.provider());
    world.run(async |live| {
        let yard = place(&live, "North").await;
        let first = know(&live, yard, "Has a rail siding.", MemoryCategory::Fact, 5).await;
        let paid = model.texts.load(Ordering::SeqCst);
        assert_eq!(know(&live, yard, "Has a rail siding.", MemoryCategory::Fact, 5).await.id, first.id);
        assert_eq!(model.texts.load(Ordering::SeqCst), paid);
    });
}

#[test]
fn words_that_only_hold_a_question_together_find_nothing() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).bringing(Yard).asking(model.provider());
    world.run(async |live| {
        let (yard, caller) = (place(&live, "North").await, CallContext::of(&live.world.actor));
        know(&live, yard, "Goods leave by train monthly.", MemoryCategory::Fact, 5).await;
        know(&live, yard, "Came by boat, they want it repainted.", MemoryCategory::Fact, 10).await;
        let found = async |question: &str| {
            let memories = live.engine.memories();
            let found = memories.search(&caller, Subject::Entity(yard), question, 10).await.unwrap();
            found.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
        };
        assert_eq!(found("What do they want with the railway?").await, ["Goods leave by train monthly."]);
        let both = ["Came by boat, they want it repainted.", "Goods leave by train monthly."];
        assert_eq!(found("Which boat goes by rail?").await, both, "a word that says something counts");
    });
}

#[test]
fn a_composed_turn_is_told_memories_in_the_order_of_both_rankings() {
    let (topics, model) = (Arc::new(Topics::default()), scripted(vec![says("Noted.")]));
    let providers = provider(&model).into_iter().chain(topics.provider()).collect();
    let world = World::on_sqlite([]).asking(providers).employing([helper(&[])]);
    world.run(async |live| {
        let (engine, actor) = (&live.engine, &live.world.actor);
        let own = Subject::User(actor.user().unwrap());
        for (content, importance) in [("Takes the train.", 5), ("Contract PLM-77001 ends in May.", 1)] {
            let importance = importance.try_into().unwrap();
            engine.memories().remember(actor, NewMemory { importance, ..NewMemory::fact(own, content) }).await.unwrap();
        }
        let question = "by rail to PLM-77001";
        let found = engine.memories().search(&CallContext::of(actor), own, question, 10).await.unwrap();
        let order: Vec<&str> = found.iter().map(|hit| hit.text.as_str()).collect();
        assert_eq!(order, ["Contract PLM-77001 ends in May.", "Takes the train."], "it stands in both rankings");
        let chat = engine.chats().create(actor, Some("helper"), None).await.unwrap().id;
        engine.chats().say(actor, chat, saying(question), Some(Millis(60_000))).await.unwrap();
        let told: Vec<String> = model.asked()[0].messages.iter().map(|one| one.joined_text()).collect();
        let told = told.join("\n");
        let places: Vec<usize> = order.iter().map(|one| told.find(one).unwrap()).collect();
        assert!(places.is_sorted(), "{told}");
    });
}

#[test]
fn a_dossier_says_which_record_cannot_be_read_and_that_there_is_more() {
    let world = World::on_sqlite([]).bringing(Yard);
    world.run(async |live| {
        let yard = place(&live, "North").await;
        load(&live, yard, "first", "waits").await;
        load(&live, yard, "second", "waits").await;
        world.spoil_record("yard.load", "first");
        let recall = || json!([step("recall", "core.recall_dossier", json!({"entity_id": yard}))]);
        let told = live.run(recall(), json!({})).await.state["dossier"].clone();
        let waiting = &told["state"]["yard"]["waiting_loads"];
        assert_eq!((&waiting["count"], &waiting["more"]), (&json!(1), &json!(true)));
        assert_eq!(told["entity"]["unreadable"], Value::Null);

        world.spoil_record("yard.place", "North");
        let told = live.run(recall(), json!({})).await.state["dossier"].clone();
        assert!(told["entity"]["unreadable"].is_string(), "{told}");
        let found = live.engine.dossiers().find(world.scope(), "north").await.unwrap();
        assert!(found.records[0].unreadable.is_some() && !found.more);
    });
}
