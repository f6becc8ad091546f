//! Dossiers: what a tenant knows of an entity, who may see which part of it, and how steps recall it and add to it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use kybern_core::actor::{Actor, Role};
use kybern_core::dossier::{DomainState, Dossier, EntityKind, EntityRecords, RecordOwner, RecordsOf, StateItem};
use kybern_core::error::ErrorCode;
use kybern_core::id::{RecordId, TenantId, UserId};
use kybern_core::memory::{Memory, MemoryCategory, MemoryStatus, NewMemory, Subject, Trust};
use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};
use kybern_core::ports::{MemoryStore as _, RecordStore as _, StateProvider};
use kybern_core::record::{Lookup, Record};
use kybern_core::task::TaskStatus;
use kybern_core::time::Millis;
use kybern_engine::models::CallContext;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::models::ScriptedModel;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::live::Live;
use crate::memories::Topics;
use crate::turns::{calls, helper, provider, says};
use crate::world::{World, plan, step};

/// A pack of places and what is stored there. `t.put` makes unique lookups, so each load has one of its own.
pub struct Yard;

struct Loads;

impl StateProvider for Loads {
    fn domain(&self) -> &'static str {
        "yard"
    }

    fn reads(&self) -> Vec<RecordsOf> {
        let load = |lookup| RecordsOf { kind: "yard.load", lookup, owner: RecordOwner::Entity };
        vec![load("first"), load("second"), load("third")]
    }

    fn state(&self, _: &Record, known: &EntityRecords) -> DomainState {
        let waits = |record: &Record| {
            (record.props.get("status") == Some(&json!("waits"))).then(|| StateItem::of(record, "waits"))
        };
        [("waiting_loads".to_owned(), known.count("yard.load", waits))].into()
    }
}

impl Pack for Yard {
    fn name(&self) -> &'static str {
        "yard"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        let lookups = |called: &str| vec![Lookup::shared("name", called.to_lowercase())];
        registry.entity_kind(EntityKind { kind: "yard.place", lookups })?;
        registry.state_provider(Arc::new(Loads))
    }
}

pub async fn place(live: &Live<'_>, key: &str) -> RecordId {
    let args = json!({"kind": "yard.place", "key": key, "lookups": {"name": key.to_lowercase()}});
    live.run(json!([step("put", "t.put", args)]), Value::Null).await;
    live.world.store.record(live.world.scope(), "yard.place", key).await.unwrap().unwrap().id
}

pub async fn load(live: &Live<'_>, place: RecordId, lookup: &str, status: &str) {
    let lookups = json!({lookup: place.to_string()});
    let args = json!({"kind": "yard.load", "key": lookup, "props": {"status": status}, "lookups": lookups});
    live.run(json!([step("put", "t.put", args)]), Value::Null).await;
}

pub async fn know(live: &Live<'_>, of: RecordId, content: &str, category: MemoryCategory, importance: u8) -> Memory {
    let importance = importance.try_into().unwrap();
    let new = NewMemory { category, importance, ..NewMemory::fact(Subject::Entity(of), content) };
    live.engine.memories().remember(&live.world.actor, new).await.unwrap()
}

pub async fn dossier(live: &Live<'_>, actor: &Actor, of: RecordId, question: Option<&str>) -> Dossier {
    live.engine.dossiers().get(actor, &CallContext::of(actor), of, question).await.unwrap()
}

pub fn says_of(memories: &[Memory]) -> Vec<&str> {
    memories.iter().map(|memory| memory.content.as_str()).collect()
}

#[test]
fn a_dossier_has_hard_state_and_what_is_remembered_with_their_sources() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let yard = place(&live, "North").await;
        load(&live, yard, "first", "waits").await;
        load(&live, yard, "second", "waits").await;
        load(&live, yard, "third", "left").await;
        know(&live, yard, "Its scans are often misread.", MemoryCategory::Insight, 5).await;
        know(&live, yard, "Its gate sticks.", MemoryCategory::Fact, 9).await;
        know(&live, yard, "Wants to be called, not written to.", MemoryCategory::Preference, 5).await;
        know(&live, yard, "A load was refused: no papers.", MemoryCategory::Event, 5).await;
        let found = dossier(&live, &live.world.actor, yard, None).await;
        assert_eq!((found.entity.id, found.entity.key.as_str()), (yard, "North"));
        let waiting = &found.state["yard"]["waiting_loads"];
        assert_eq!((waiting.count, waiting.more), (2, false));
        let kinds: Vec<&str> = waiting.items.iter().map(|item| item.kind.as_str()).collect();
        assert_eq!(kinds, ["yard.load"; 2]);
        assert_eq!(says_of(&found.insights), ["Its gate sticks.", "Its scans are often misread."], "weightiest first");
        assert_eq!(says_of(&found.preferences), ["Wants to be called, not written to."]);
        assert_eq!(says_of(&found.recent_events), ["A load was refused: no papers."]);
        assert_eq!(found.insights[0].trust, Trust::User);
        assert!(!found.memories_withheld);

        let missing = RecordId::from_uuid(Uuid::from_u128(9));
        let actor = &live.world.actor;
        let refused = live.engine.dossiers().get(actor, &CallContext::of(actor), missing, None).await;
        assert_eq!(refused.map(drop).map_err(|error| error.code()), Err(ErrorCode::NotFound));
    });
}

#[test]
fn what_has_expired_or_waits_is_not_in_a_dossier() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let (yard, actor) = (place(&live, "North").await, &live.world.actor);
        let ends = Some(live.now().plus(Millis(2_000)));
        let new = NewMemory { expires_at: ends, ..NewMemory::fact(Subject::Entity(yard), "Is closed this week.") };
        live.engine.memories().remember(actor, new).await.unwrap();
        let caller = CallContext::of(actor);
        let new = NewMemory::fact(Subject::Entity(yard), "Perhaps moves.");
        live.engine.memories().suggest(&caller, new).await.unwrap();
        assert_eq!(says_of(&dossier(&live, actor, yard, None).await.insights), ["Is closed this week."]);
        live.find(async || dossier(&live, actor, yard, None).await.insights.is_empty().then_some(())).await;
    });
}

#[test]
fn who_may_not_see_memories_of_entities_is_told_that_they_are_withheld() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let yard = place(&live, "North").await;
        load(&live, yard, "first", "waits").await;
        know(&live, yard, "Its gate sticks.", MemoryCategory::Fact, 5).await;
        let user =
            |n, role| kybern_testkit::actors::user(TenantId::DEFAULT, UserId::from_uuid(Uuid::from_u128(n)), &[role]);
        let (viewer, operator) = (user(6, Role::Viewer), user(7, Role::Operator));
        let seen = dossier(&live, &viewer, yard, None).await;
        assert_eq!(seen.state["yard"]["waiting_loads"].count, 1);
        assert!(seen.memories_withheld && seen.insights.is_empty() && seen.recent_events.is_empty());
        assert_eq!(says_of(&dossier(&live, &operator, yard, None).await.insights), ["Its gate sticks."]);
    });
}

#[test]
fn tenants_that_know_the_same_place_remember_it_each_for_itself() {
    let world = World::on_sqlite([]).bringing(Yard);
    let other = TenantId::from_uuid(Uuid::from_u128(40));
    world.settle_tenant(other, "other");
    let them = kybern_testkit::actors::admin(other);
    world.run(async |live| {
        let yard = place(&live, "North").await;
        know(&live, yard, "This place is difficult.", MemoryCategory::Insight, 5).await;
        let found = live.engine.dossiers().get(&them, &CallContext::of(&them), yard, None).await;
        assert_eq!(found.map(drop).map_err(|error| error.code()), Err(ErrorCode::NotFound));
        assert!(live.engine.dossiers().find(them.scope(), "North").await.unwrap().records.is_empty());
        assert!(live.engine.dossiers().find(them.scope(), &yard.to_string()).await.unwrap().records.is_empty());
        let put = plan(json!([step("put", "t.put", json!({"kind": "yard.place", "key": "North"}))]));
        let key = live.engine.plans().put(&them, &put).await.unwrap().key;
        let request = SubmitRequest { plan_key: Some(key), ..SubmitRequest::text("go") };
        live.engine.tasks().submit(&them, request, None).await.unwrap();
        live.find(async || world.store.record(them.scope(), "yard.place", "North").await.unwrap()).await;
        let theirs = world.store.record(them.scope(), "yard.place", "North").await.unwrap().unwrap().id;
        let new = NewMemory::fact(Subject::Entity(theirs), "A great place.");
        live.engine.memories().remember(&them, new).await.unwrap();
        assert_eq!(says_of(&dossier(&live, &them, theirs, None).await.insights), ["A great place."]);
        assert_eq!(says_of(&dossier(&live, &world.actor, yard, None).await.insights), ["This place is difficult."]);
    });
}

#[test]
fn an_entity_is_found_by_its_id_its_key_and_what_its_pack_looks_up() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let (north, scope) = (place(&live, "North").await, live.world.scope());
        place(&live, "South").await;
        for called in ["North", " nOrTh ", &north.to_string()] {
            let found = live.engine.dossiers().find(scope, called).await.unwrap();
            assert_eq!(found.records.iter().map(|record| record.id).collect::<Vec<_>>(), [north], "{called}");
        }
        assert!(live.engine.dossiers().find(scope, "East").await.unwrap().records.is_empty());
    });
}

#[test]
fn with_a_question_what_has_to_do_with_it_comes_first_by_meaning_or_by_word() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).bringing(Yard).asking(model.provider());
    world.run(async |live| {
        let (yard, actor) = (place(&live, "North").await, &live.world.actor);
        know(&live, yard, "Is paid monthly.", MemoryCategory::Fact, 10).await;
        know(&live, yard, "Has a rail siding.", MemoryCategory::Fact, 3).await;
        know(&live, yard, "Gate G-4417 sticks.", MemoryCategory::Fact, 1).await;
        let order = async |question| {
            let found = dossier(&live, actor, yard, Some(question)).await;
            found.insights.into_iter().map(|memory| memory.content).collect::<Vec<_>>()
        };
        assert_eq!(order("any train?").await[0], "Has a rail siding.", "by meaning");
        assert_eq!(order("what of g-4417").await[0], "Gate G-4417 sticks.", "by a number that no vector knows");
        assert_eq!(order("any train?").await.len(), 3, "the others follow");
        model.down.store(true, Ordering::SeqCst);
        let found = dossier(&live, actor, yard, Some("which boats?")).await;
        assert_eq!(says_of(&found.insights)[0], "Is paid monthly.", "without the model they come by their weight");
    });
}

#[test]
fn a_search_finds_by_word_what_vectors_rank_low() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).asking(model.provider());
    world.run(async |live| {
        let (actor, caller) = (&live.world.actor, CallContext::of(&live.world.actor));
        let own = Subject::User(actor.user().unwrap());
        for (content, importance) in [("Takes the train", 5), ("Contract PLM-77001 ends in May", 5), ("Likes tea", 9)] {
            let importance = importance.try_into().unwrap();
            let new = NewMemory { importance, ..NewMemory::fact(own, content) };
            live.engine.memories().remember(actor, new).await.unwrap();
        }
        let found = async |question: &str| {
            let found = live.engine.memories().search(&caller, own, question, 10).await.unwrap();
            found.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
        };
        assert_eq!(found("train to PLM-77001").await, ["Takes the train", "Contract PLM-77001 ends in May"]);
        assert_eq!(found("77001").await, ["Contract PLM-77001 ends in May"]);
        assert_eq!(found("ships").await, [""; 0]);
    });
}

#[test]
fn a_step_recalls_the_dossier_and_later_ones_read_it() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let yard = place(&live, "North").await;
        load(&live, yard, "first", "waits").await;
        know(&live, yard, "Its gate sticks.", MemoryCategory::Insight, 5).await;
        let busy = "{{ state.dossier.state.yard.waiting_loads.count > 0 }}";
        let steps = json!([
            step("who", "core.set", json!({"entity_id": yard})),
            step("recall", "core.recall_dossier", json!({})),
            {"id": "chase", "tool": "core.set", "condition": busy,
             "args": {"said": "{{ state.dossier.insights[0].says }}"}},
        ]);
        let task = live.run(steps, json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        assert_eq!(task.state["said"], json!("Its gate sticks."));
        assert_eq!(task.state["dossier"]["insights"][0]["trust"], json!("user"));
        assert_eq!(task.state["dossier"]["entity"]["id"], json!(yard));

        let viewer = live.engage(&[Role::Viewer, Role::Operator]).await;
        let unknown = live.step_of(&viewer, "core.recall_dossier", json!({"entity_id": Uuid::nil()})).await;
        assert_eq!(unknown.error.unwrap().code, ErrorCode::NotFound);
        let nobody = live.step_of(&viewer, "core.recall_dossier", json!({})).await;
        assert_eq!(nobody.error.unwrap().code, ErrorCode::Validation);
    });
}

#[test]
fn an_insight_that_a_step_memorizes_is_in_the_next_tasks_dossier_once() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let (yard, actor) = (place(&live, "North").await, &live.world.actor);
        let args = json!({"content": "Scans are unreadable.", "confidence": 0.8, "place": "load.pdf, page 2"});
        let event = json!({"content": "Load refused.", "category": "event", "entity_id": yard});
        let steps = json!([
            step("who", "core.set", json!({"entity_id": yard})),
            step("learn", "core.memorize_insight", args.clone()),
            step("again", "core.memorize_insight", args),
            step("note", "core.memorize_insight", event),
        ]);
        let task = live.run(steps, json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let found = dossier(&live, actor, yard, None).await;
        let [insight] = found.insights.as_slice() else { panic!("{:?}", found.insights) };
        assert_eq!(
            (insight.category, insight.trust, insight.status),
            (MemoryCategory::Insight, Trust::Tool, MemoryStatus::Active)
        );
        assert_eq!(insight.confidence.map(f64::from), Some(0.8));
        let source = &insight.provenance;
        assert_eq!((source.task, source.step.as_ref().map(|step| step.as_str())), (Some(task.id), Some("learn")));
        assert_eq!(source.place.as_deref(), Some("load.pdf, page 2"));
        assert_eq!(says_of(&found.recent_events), ["Load refused."]);
    });
}

#[test]
fn what_a_model_memorizes_waits_for_a_person() {
    let known = Arc::new(OnceLock::<RecordId>::new());
    let of = Arc::clone(&known);
    let model = Arc::new(ScriptedModel::new("one", move |n, _| match n {
        0 => calls(&[("core__memorize_insight", json!({"entity_id": of.get(), "content": "Moves."}))]),
        _ => says("Noted."),
    }));
    let world = World::on_sqlite([]).bringing(Yard).asking(provider(&model));
    let world = world.employing([helper(&["core.memorize_insight"])]);
    world.run(async |live| {
        let yard = place(&live, "North").await;
        known.set(yard).unwrap();
        let ask = json!([{"id": "help", "kind": "agent", "agent": "helper", "task": "Note it."}]);
        let task = live.run(ask, json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let all = world.store.memories_of(world.scope(), Subject::Entity(yard)).await.unwrap();
        let statuses: Vec<_> = all.iter().map(|(memory, _)| (memory.status, memory.trust)).collect();
        assert_eq!(statuses, [(MemoryStatus::Pending, Trust::Model)]);
    });
}

#[test]
fn two_steps_that_remember_the_same_side_by_side_remember_it_once() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let yard = place(&live, "North").await;
        let note = |id: &str| step(id, "memory.remember", json!({"entity_id": yard, "content": "Its gate sticks."}));
        let branches: Vec<Value> = (0..6).map(|n| json!([note(&format!("note_{n}"))])).collect();
        let task = live.run(json!([{"id": "all", "kind": "parallel", "branches": branches}]), json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let all = live.world.store.memories_of(live.world.scope(), Subject::Entity(yard)).await.unwrap();
        assert_eq!(all.len(), 1);
    });
}

#[test]
fn a_user_who_says_what_waits_has_accepted_it() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        let (yard, actor) = (place(&live, "North").await, &live.world.actor);
        let new = || NewMemory::fact(Subject::Entity(yard), "Its gate sticks.");
        let memories = live.engine.memories();
        let suggested = memories.suggest(&CallContext::of(actor), new()).await.unwrap();
        let proposed = memories.remember(actor, NewMemory { pending: true, ..new() }).await.unwrap();
        assert_eq!((proposed.id, proposed.status), (suggested.id, MemoryStatus::Pending), "a proposal accepts nothing");
        let said = memories.remember(actor, new()).await.unwrap();
        assert_eq!((said.id, said.status), (suggested.id, MemoryStatus::Active));
        assert_eq!(memories.remember(actor, new()).await.unwrap(), said);
    });
}
