//! What a dossier is made of: the entity's record, what other records say of it, what is remembered.

use futures::future::join_all;
use kybern_core::dossier::{CalledEntity, FoundEntities, MAX_FOUND, RecordOwner, RecordsOf};
use kybern_core::id::{MemoryId, RecordId};
use kybern_core::memory::{Memory, MemoryStatus, NewMemory, Subject, Trust};
use kybern_core::model::Vector;
use kybern_core::ports::{DossierRows, HeldMemories};
use kybern_core::record::{Expect, Lookup, PutRecord};
use kybern_core::task::{Commit, Effect};
use kybern_core::time::{Millis, Timestamp};
use serde_json::{Value, json};

use super::fixture::LONG;
use super::{FullHarness, Home, Spoilt, World};

/// An entity's deals, and the letters of these.
const READS: [RecordsOf; 2] = [
    RecordsOf { kind: "test.deal", lookup: "entity", owner: RecordOwner::Entity },
    RecordsOf { kind: "test.letter", lookup: "deal", owner: RecordOwner::Of("test.deal") },
];

/// The memories that hold now.
fn held(w: &World) -> Option<HeldMemories> {
    Some(HeldMemories { at: w.now(), vectors: false })
}

async fn read(w: &World, home: &Home, entity: RecordId) -> Option<DossierRows> {
    w.store().dossier_rows(home.scope, entity, &READS, held(w)).await.unwrap()
}

async fn put(w: &World, home: &Home, all: &[(&str, &str, Value, Vec<Lookup>)]) -> Vec<RecordId> {
    let lease = w.leased_as(home, w.new_task(), "w", LONG).await.lease;
    let put = |(kind, key, props, lookups): &(&str, &str, Value, Vec<Lookup>)| PutRecord {
        lookups: lookups.clone(),
        ..w.put(kind, key, props.clone(), Expect::Absent)
    };
    let puts: Vec<PutRecord> = all.iter().map(put).collect();
    let ids = puts.iter().map(|put| put.id).collect();
    let effects = puts.into_iter().map(|put| Effect::Put(Box::new(put))).collect();
    w.commit(&lease, Commit { effects, ..w.blank() }).await;
    ids
}

async fn company(w: &World, home: &Home, key: &str) -> RecordId {
    put(w, home, &[("test.company", key, json!({"name": key}), Vec::new())]).await[0]
}

fn of(name: &str, owner: RecordId) -> Vec<Lookup> {
    vec![Lookup::shared(name, owner.to_string())]
}

async fn remember(w: &World, home: &Home, entity: RecordId, says: &str) -> Memory {
    let new = NewMemory::fact(Subject::Entity(entity), says);
    let memory = Memory::of(new, MemoryId::from_uuid(w.id()), Trust::User, w.now()).unwrap();
    w.store().add_memory(home.scope, &memory, None, w.event("memory.add")).await.unwrap()
}

pub async fn a_dossier_has_the_records_of_its_entity_and_theirs_and_of_nobody_else(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (first, second) = (company(&w, &home, "first").await, company(&w, &home, "second").await);
    let deals = [
        ("test.deal", "a", json!({"n": 1}), of("entity", first)),
        ("test.deal", "b", json!({"n": 2}), of("entity", first)),
        ("test.deal", "c", json!({"n": 3}), of("entity", second)),
        ("test.other", "d", json!({"n": 4}), of("entity", first)),
    ];
    let deals = put(&w, &home, &deals).await;
    let letters = [
        ("test.letter", "x", json!({"n": 5}), of("deal", deals[0])),
        ("test.letter", "y", json!({"n": 6}), of("deal", deals[1])),
        ("test.letter", "z", json!({"n": 7}), of("deal", deals[2])),
        ("test.letter", "v", json!({"n": 8}), of("deal", first)),
    ];
    put(&w, &home, &letters).await;
    let remembered = remember(&w, &home, first, "Pays late.").await;
    remember(&w, &home, second, "Pays early.").await;
    remember(&w, &home, deals[0], "Is urgent.").await;

    let found = read(&w, &home, first).await.unwrap();
    assert_eq!((found.entity.id, found.entity.key.as_str()), (first, "first"));
    let keys = |kind: &str| found.records.of(kind).iter().map(|record| record.key.as_str()).collect::<Vec<_>>();
    assert_eq!((keys("test.deal"), keys("test.letter")), (vec!["b", "a"], vec!["y", "x"]), "the newest first");
    assert!(!found.records.has_more("test.deal") && keys("test.other").is_empty());
    assert_eq!(found.memories, Some(vec![(remembered, None)]));
    let withheld = w.store().dossier_rows(home.scope, first, &READS, None).await.unwrap().unwrap();
    assert_eq!(withheld.memories, None, "who may not see them does not read them");
    assert_eq!(read(&w, &home, RecordId::from_uuid(w.id())).await, None);
    let none = read(&w, &home, deals[3]).await.unwrap();
    assert_eq!((none.records.of("test.deal"), none.memories), (&[][..], Some(Vec::new())), "any record is an entity");
}

pub async fn another_tenants_dossier_of_the_same_company_holds_nothing_of_ours(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let (ours, theirs) = (company(&w, &home, "shared").await, company(&w, &other, "shared").await);
    put(&w, &home, &[("test.deal", "a", json!({"n": 1}), of("entity", ours))]).await;
    // A record of theirs that names our entity.
    put(&w, &other, &[("test.deal", "a", json!({"n": 2}), of("entity", ours))]).await;
    remember(&w, &home, ours, "This carrier is difficult.").await;
    remember(&w, &other, theirs, "A great relationship with this carrier.").await;
    let rows = async |home: &Home, entity| read(&w, home, entity).await;
    let says = |rows: &DossierRows| -> Vec<String> {
        rows.memories.iter().flatten().map(|(memory, _)| memory.content.clone()).collect()
    };
    let (our_rows, their_rows) = (rows(&home, ours).await.unwrap(), rows(&other, theirs).await.unwrap());
    assert_eq!(says(&our_rows), ["This carrier is difficult."]);
    assert_eq!(our_rows.records.of("test.deal")[0].props["n"], 1);
    assert_eq!(our_rows.records.of("test.deal").len(), 1);
    assert_eq!(says(&their_rows), ["A great relationship with this carrier."]);
    assert!(their_rows.records.of("test.deal").is_empty());
    assert_eq!((rows(&home, theirs).await, rows(&other, ours).await), (None, None));
}

pub async fn of_many_records_a_dossier_has_the_newest_and_says_that_there_are_more(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let entity = company(&w, &home, "first").await;
    let keys: Vec<String> = (0..205).map(|n| format!("{n:03}")).collect();
    let deals: Vec<_> =
        keys.iter().map(|key| ("test.deal", key.as_str(), json!({"n": 1}), of("entity", entity))).collect();
    for some in deals.chunks(50) {
        put(&w, &home, some).await;
    }
    let rows = read(&w, &home, entity).await.unwrap();
    let found = rows.records.of("test.deal");
    assert_eq!((found.len(), found[0].key.as_str(), found[199].key.as_str()), (200, "204", "005"));
    assert!(rows.records.has_more("test.deal"));
    assert!(rows.records.has_more("test.letter"), "those of the older deals were not looked for");
}

/// Each commit makes a deal with its letter. Whoever looks meanwhile sees both of them or neither.
pub async fn a_dossier_is_of_one_moment(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let entity = company(&w, &home, "first").await;
    let make = async {
        for n in 0..20 {
            let key = format!("deal {n}");
            let lease = w.leased_as(&home, w.new_task(), "w", LONG).await.lease;
            let deal = PutRecord {
                lookups: of("entity", entity),
                ..w.put("test.deal", &key, json!({"n": n}), Expect::Absent)
            };
            let letter = PutRecord {
                lookups: of("deal", deal.id),
                ..w.put("test.letter", &key, json!({"n": n}), Expect::Absent)
            };
            let effects = [deal, letter].map(|put| Effect::Put(Box::new(put))).into();
            w.commit(&lease, Commit { effects, ..w.blank() }).await;
        }
    };
    let look = async {
        for _ in 0..40 {
            let reading = (0..4).map(|_| w.store().dossier_rows(home.scope, entity, &READS, None));
            for rows in join_all(reading).await {
                let records = rows.unwrap().unwrap().records;
                assert_eq!(records.of("test.deal").len(), records.of("test.letter").len(), "both or neither");
            }
        }
    };
    futures::future::join(make, look).await;
    let rows = read(&w, &home, entity).await.unwrap();
    assert_eq!(rows.records.of("test.letter").len(), 20, "a reader does not keep an old moment");
}

pub async fn a_dossier_reads_the_memories_that_hold_and_their_vectors_on_demand(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let entity = company(&w, &home, "first").await;
    let now = w.now();
    let said = |content: &str, trust, expires_at: Option<Timestamp>| {
        let new = NewMemory { expires_at, ..NewMemory::fact(Subject::Entity(entity), content) };
        Memory::of(new, MemoryId::from_uuid(w.id()), trust, now).unwrap()
    };
    let ends = now.plus(Millis(60_000));
    let known = said("Pays late.", Trust::User, None);
    let closed = said("Is closed this week.", Trust::User, Some(ends));
    let waits = said("Perhaps moves.", Trust::Model, None);
    let rejected = Memory { status: MemoryStatus::Rejected, ..said("Is on fire.", Trust::Model, None) };
    let vector = Vector { model: "test/embed".to_owned(), values: vec![1.0, 0.5] };
    for memory in [&known, &closed, &waits, &rejected] {
        w.store().add_memory(home.scope, memory, Some(&vector), w.event("memory.add")).await.unwrap();
    }
    let read = async |at: Timestamp, vectors: bool| {
        let wanted = Some(HeldMemories { at, vectors });
        let rows = w.store().dossier_rows(home.scope, entity, &READS, wanted).await.unwrap().unwrap();
        let found = rows.memories.unwrap().into_iter().map(|(memory, vector)| (memory.content, vector.is_some()));
        found.collect::<Vec<_>>()
    };
    let one = |content: &str, vector: bool| (content.to_owned(), vector);
    assert_eq!(read(now, true).await, [one("Pays late.", true), one("Is closed this week.", true)]);
    assert_eq!(read(now, false).await, [one("Pays late.", false), one("Is closed this week.", false)]);
    assert_eq!(read(ends, false).await, [one("Pays late.", false)], "it ends at that moment");
}

pub async fn an_owned_record_that_cannot_be_read_is_one_more_that_was_not_looked_at(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let entity = company(&w, &home, "first").await;
    let deals = [
        ("test.deal", "a", json!({"n": 1}), of("entity", entity)),
        ("test.deal", "b", json!({"n": 2}), of("entity", entity)),
    ];
    let deals = put(&w, &home, &deals).await;
    put(&w, &home, &[("test.letter", "x", json!({"n": 3}), of("deal", deals[1]))]).await;
    assert!(!read(&w, &home, entity).await.unwrap().records.has_more("test.deal"));
    w.harness.spoil(Spoilt::Record(deals[0])).await;
    let rows = read(&w, &home, entity).await.unwrap().records;
    let keys: Vec<&str> = rows.of("test.deal").iter().map(|record| record.key.as_str()).collect();
    assert_eq!((keys, rows.of("test.letter").len()), (vec!["b"], 1), "the others are there");
    assert!(rows.has_more("test.deal") && rows.has_more("test.letter"), "what it says, and what it owns, is not known");
}

fn called(name: &str) -> CalledEntity {
    CalledEntity { kind: "test.company", key: name.to_owned(), lookups: vec![Lookup::shared("name", name)] }
}

pub async fn entities_of_one_name_are_found_with_those_that_cannot_be_read_up_to_a_number(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let named =
        |key: &'static str| ("test.company", key, json!({"name": "Acme"}), vec![Lookup::shared("name", "acme")]);
    let [first, second] = put(&w, &home, &[named("a"), named("acme")]).await[..] else { panic!("two") };
    let strange = [("test.other", "acme", json!({}), vec![Lookup::shared("name", "acme")])];
    put(&w, &home, &strange).await;
    put(&w, &other, &[named("a")]).await;
    let find = async |name: &str| w.store().entities_called(home.scope, &[called(name)]).await.unwrap();
    let ids = |found: &FoundEntities| found.records.iter().map(|record| record.id).collect::<Vec<_>>();
    let found = find("acme").await;
    assert_eq!((ids(&found), found.more), (vec![first, second], false), "by key and by name, each once");
    assert_eq!((ids(&find("a").await), find("b").await), (vec![first], FoundEntities::default()));

    w.harness.spoil(Spoilt::Record(first)).await;
    let found = find("acme").await;
    assert_eq!(ids(&found), [first, second], "a namesake that cannot be read costs nobody the others");
    assert!(found.records[0].unreadable.is_some() && found.records[1].unreadable.is_none());

    let keys: Vec<String> = (0..MAX_FOUND).map(|n| format!("n{n:02}")).collect();
    let many: Vec<_> = keys
        .iter()
        .map(|key| ("test.company", key.as_str(), json!({"name": "Acme"}), vec![Lookup::shared("name", "acme")]))
        .collect();
    put(&w, &home, &many).await;
    let found = find("acme").await;
    assert_eq!((found.records.len(), found.records[0].id, found.more), (MAX_FOUND, first, true));
}

pub async fn entities_of_one_name_take_a_page_at_most(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let long = "x".repeat(250 << 10);
    for n in 0..20 {
        let key = format!("n{n}");
        let large = ("test.company", key.as_str(), json!({"name": long}), vec![Lookup::shared("name", "acme")]);
        put(&w, &home, &[large]).await;
    }
    let found = w.store().entities_called(home.scope, &[called("acme")]).await.unwrap();
    assert!(found.more && found.records.len() == 16, "{}", found.records.len());
}
