//! What a dossier is made of: the entity's record, what other records say of it, what is remembered.

use futures::future::join_all;
use kybern_core::dossier::{RecordOwner, RecordsOf};
use kybern_core::id::{MemoryId, RecordId};
use kybern_core::memory::{Memory, NewMemory, Subject, Trust};
use kybern_core::record::{Expect, Lookup, PutRecord};
use kybern_core::task::{Commit, Effect};
use serde_json::{Value, json};

use super::fixture::LONG;
use super::{FullHarness, Home, World};

/// An entity's deals, and the letters of these.
const READS: [RecordsOf; 2] = [
    RecordsOf { kind: "test.deal", lookup: "entity", owner: RecordOwner::Entity },
    RecordsOf { kind: "test.letter", lookup: "deal", owner: RecordOwner::Of("test.deal") },
];

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

    let rows = async |entity, memories| w.store().dossier_rows(home.scope, entity, &READS, memories).await.unwrap();
    let found = rows(first, true).await.unwrap();
    assert_eq!((found.entity.id, found.entity.key.as_str()), (first, "first"));
    let keys = |kind: &str| found.records.of(kind).iter().map(|record| record.key.as_str()).collect::<Vec<_>>();
    assert_eq!((keys("test.deal"), keys("test.letter")), (vec!["b", "a"], vec!["y", "x"]), "the newest first");
    assert!(!found.records.has_more("test.deal") && keys("test.other").is_empty());
    assert_eq!(found.memories, Some(vec![(remembered, None)]));
    assert_eq!(rows(first, false).await.unwrap().memories, None, "who may not see them does not read them");
    assert_eq!(rows(RecordId::from_uuid(w.id()), true).await, None);
    let none = rows(deals[3], true).await.unwrap();
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
    let rows = async |home: &Home, entity| w.store().dossier_rows(home.scope, entity, &READS, true).await.unwrap();
    let says = |rows: &kybern_core::ports::DossierRows| -> Vec<String> {
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
    let rows = w.store().dossier_rows(home.scope, entity, &READS, true).await.unwrap().unwrap();
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
            let reading = (0..4).map(|_| w.store().dossier_rows(home.scope, entity, &READS, true));
            for rows in join_all(reading).await {
                let records = rows.unwrap().unwrap().records;
                assert_eq!(records.of("test.deal").len(), records.of("test.letter").len(), "both or neither");
            }
        }
    };
    futures::future::join(make, look).await;
    let rows = w.store().dossier_rows(home.scope, entity, &READS, true).await.unwrap().unwrap();
    assert_eq!(rows.records.of("test.letter").len(), 20, "a reader does not keep an old moment");
}
