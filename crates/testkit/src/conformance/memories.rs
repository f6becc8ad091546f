//! What is remembered of users and entities.

use futures::future::join_all;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{MemoryId, RecordId, TaskId, UserId};
use kybern_core::memory::{
    MAX_OF_SUBJECT, Memory, MemoryCategory, MemoryChange, MemoryStatus, NewMemory, Provenance, Subject, Trust,
};
use kybern_core::model::Vector;
use kybern_core::plan::StepId;
use kybern_core::ports::MemoryFilter;
use kybern_core::record::{Expect, Lookup, PutRecord};
use kybern_core::task::{CommitRefused, Effect, MemoryEffect, Noun, NounEffect};
use kybern_core::time::{Millis, Timestamp};
use serde_json::json;

use super::fixture::{LONG, code, pages};
use super::{FullHarness, Home, World};

fn vector(first: f32) -> Vector {
    Vector { model: "test/embed".to_owned(), values: vec![first, 0.5, -0.25] }
}

fn said(w: &World, subject: Subject, content: &str, trust: Trust) -> Memory {
    let new = NewMemory { expires_at: Some(w.now().plus(LONG)), ..NewMemory::fact(subject, content) };
    Memory::of(new, MemoryId::from_uuid(w.id()), trust, w.now()).unwrap()
}

async fn add(w: &World, home: &Home, memory: &Memory, vector: Option<&Vector>) -> Result<Memory, Error> {
    w.store().add_memory(home.scope, memory, vector, w.event("memory.add")).await
}

/// A record of the tenant's.
async fn entity(w: &World, home: &Home, key: &str) -> RecordId {
    described(w, home, key, Vec::new()).await
}

/// A record that is found by these as well.
async fn described(w: &World, home: &Home, key: &str, lookups: Vec<Lookup>) -> RecordId {
    let lease = w.leased_as(home, w.new_task(), "w", LONG).await.lease;
    let put = PutRecord { lookups, ..w.put("test.thing", key, json!({"n": 1}), Expect::Absent) };
    let commit = kybern_core::task::Commit { effects: vec![Effect::Put(Box::new(put.clone()))], ..w.blank() };
    w.commit(&lease, commit).await;
    put.id
}

pub async fn a_memory_is_read_back_as_it_was_said(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (ada, company) = (Subject::User(home.user), Subject::Entity(entity(&w, &home, "a").await));
    let tool = Memory {
        category: MemoryCategory::Insight,
        importance: 9.try_into().unwrap(),
        confidence: Some(0.75.try_into().unwrap()),
        provenance: Provenance {
            task: Some(TaskId::from_uuid(w.id())),
            tool: Some("core.noop".to_owned()),
            step: Some(StepId::parse("read").unwrap()),
            place: Some("loss-run.pdf, page 2".to_owned()),
            ..Provenance::default()
        },
        ..said(&w, company, "Pays \"late\".", Trust::Tool)
    };
    let model = Memory { expires_at: None, ..said(&w, ada, "Likes trains.", Trust::Model) };
    add(&w, &home, &tool, Some(&vector(1.0))).await.unwrap();
    add(&w, &home, &model, None).await.unwrap();
    for memory in [&tool, &model] {
        assert_eq!(w.store().memory(home.scope, memory.id).await.unwrap().as_ref(), Some(memory));
    }
    let of = async |subject| w.store().memories_of(home.scope, subject).await.unwrap();
    assert_eq!(of(company).await, [(tool, Some(vector(1.0)))]);
    assert_eq!(of(ada).await, [(model, None)]);
}

pub async fn a_memory_is_of_somebody_or_something_that_is_there(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let theirs = entity(&w, &other, "a").await;
    for subject in [
        Subject::User(UserId::from_uuid(w.id())),
        Subject::User(other.user),
        Subject::Entity(RecordId::from_uuid(w.id())),
        Subject::Entity(theirs),
    ] {
        let refused = add(&w, &home, &said(&w, subject, "Likes trains.", Trust::User), None).await;
        assert_eq!(code(refused), ErrorCode::NotFound, "{subject}");
    }
}

pub async fn what_is_accepted_of_a_record_is_found_by_its_key_and_its_identifiers(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let found = async |home: &Home, names: &[&str], most: u32| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let found = w.store().memories_named(home.scope, &names, most).await.unwrap();
        found.into_iter().map(|(key, memory, vector)| (key, memory.content, vector.is_some())).collect::<Vec<_>>()
    };
    let one = |key: &str, content: &str, vector: bool| (key.to_owned(), content.to_owned(), vector);
    // Before anything is remembered, so that what is known of that does not outlast it.
    assert_eq!(found(&home, &["dot:1"], 3).await, []);
    let first =
        described(&w, &home, "dot:1", vec![Lookup::unique("DOT", "1001"), Lookup::shared("name", "acme-1")]).await;
    let second = described(&w, &home, "dot:2", Vec::new()).await;
    described(&w, &home, "dot:3", Vec::new()).await;
    let theirs = described(&w, &other, "dot:1", vec![Lookup::unique("DOT", "1001")]).await;
    let of = |record| Subject::Entity(record);
    let pays = said(&w, of(first), "Pays late.", Trust::User);
    add(&w, &home, &pays, Some(&vector(1.0))).await.unwrap();
    add(&w, &home, &said(&w, of(first), "Perhaps moves.", Trust::Model), None).await.unwrap();
    add(&w, &home, &said(&w, of(second), "Ships fish.", Trust::Tool), None).await.unwrap();
    add(&w, &home, &said(&w, Subject::User(home.user), "Likes trains.", Trust::User), None).await.unwrap();
    add(&w, &other, &said(&w, of(theirs), "Theirs.", Trust::User), None).await.unwrap();

    let late = one("dot:1", "Pays late.", true);
    for names in [&["dot:1"][..], &["1001"], &["1001", "dot:1", "dot:3", "dot:9"]] {
        assert_eq!(found(&home, names, 3).await, std::slice::from_ref(&late), "{names:?}: what waits is not found");
    }
    assert_eq!(found(&home, &["acme-1", "DOT:1", "1", "Pays late."], 3).await, [], "a shared name names nobody");
    let both = found(&home, &["dot:2", "dot:1", "dot:3"], 3).await;
    assert_eq!(both, [late.clone(), one("dot:2", "Ships fish.", false)]);
    assert_eq!(found(&home, &["dot:2", "dot:1", "dot:3"], 1).await, [late], "the oldest record");
    assert_eq!(found(&other, &["dot:1", "dot:2"], 3).await, [one("dot:1", "Theirs.", false)]);
    assert_eq!(found(&home, &[], 3).await, []);
}

pub async fn a_memory_is_changed_as_it_was_read(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = said(&w, Subject::User(home.user), "Likes trains.", Trust::Model);
    add(&w, &home, &first, Some(&vector(1.0))).await.unwrap();
    let change = async |before: &Memory, after: &Memory, new: Option<&Vector>| {
        w.store().change_memory(home.scope, (before, after), new, w.event("memory.change")).await
    };
    let kept = async || w.store().memories_of(home.scope, first.subject).await.unwrap().remove(0);
    let accepted = first.clone().judged(true, w.now()).unwrap();
    change(&first, &accepted, None).await.unwrap();
    assert_eq!(kept().await, (accepted.clone(), Some(vector(1.0))), "what it says has not changed");
    assert_eq!(code(change(&first, &accepted, None).await), ErrorCode::Conflict);
    let words = MemoryChange {
        content: Some("Likes ships.".to_owned()),
        confidence: Some(0.5.try_into().unwrap()),
        ..MemoryChange::default()
    };
    let reworded = accepted.clone().changed(words, w.now()).unwrap();
    change(&accepted, &reworded, Some(&vector(2.0))).await.unwrap();
    assert_eq!(kept().await, (reworded.clone(), Some(vector(2.0))));
    let words = MemoryChange { content: Some("Likes planes.".to_owned()), ..MemoryChange::default() };
    let again = reworded.clone().changed(words, w.now()).unwrap();
    change(&reworded, &again, None).await.unwrap();
    assert_eq!(kept().await, (again.clone(), None), "the vector of other words is none of these");

    w.store().keep_vectors(home.scope, vec![(again.id, again.updated_at, vector(3.0))]).await.unwrap();
    assert_eq!(kept().await.1, Some(vector(3.0)));
    let stale = again.updated_at.plus(LONG);
    w.store().keep_vectors(home.scope, vec![(again.id, stale, vector(4.0))]).await.unwrap();
    assert_eq!(kept().await.1, Some(vector(3.0)), "it was changed since");
}

pub async fn of_ten_who_judge_at_once_one_does(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = said(&w, Subject::User(home.user), "Likes trains.", Trust::Model);
    add(&w, &home, &first, None).await.unwrap();
    let answers = join_all((0..10).map(async |n| {
        let after = first.clone().judged(n % 2 == 0, w.now()).unwrap();
        let event = w.event("memory.judge");
        w.store().change_memory(home.scope, (&first, &after), None, event).await.map_err(|error| error.code())
    }));
    let answers = answers.await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok(()) | Err(ErrorCode::Conflict))), "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
}

pub async fn pages_of_memories_visit_each_once_newest_first(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (ada, company) = (Subject::User(home.user), Subject::Entity(entity(&w, &home, "a").await));
    let mut made = Vec::new();
    let all =
        [(ada, Trust::User), (company, Trust::Tool), (ada, Trust::Model), (ada, Trust::User), (company, Trust::Model)];
    for (n, (subject, trust)) in all.into_iter().enumerate() {
        let memory = said(&w, subject, &format!("Likes train {n}."), trust);
        add(&w, &home, &memory, None).await.unwrap();
        made.insert(0, memory);
    }
    let filter = |subject, kind, status| MemoryFilter { subject, kind, status };
    for (wanted, places) in [
        (filter(None, None, None), vec![0, 1, 2, 3, 4]),
        (filter(Some(ada), None, None), vec![1, 2, 4]),
        (filter(None, Some("entity"), None), vec![0, 3]),
        (filter(Some(ada), None, Some(MemoryStatus::Active)), vec![1, 4]),
        (filter(None, None, Some(MemoryStatus::Pending)), vec![0, 2]),
        (filter(None, None, Some(MemoryStatus::Rejected)), vec![]),
    ] {
        let seen = pages(async |after| w.store().memories(home.scope, &wanted, after, 2).await.unwrap()).await;
        let expected: Vec<Memory> = places.iter().map(|n: &usize| made[*n].clone()).collect();
        assert_eq!(seen, expected, "{wanted:?}");
    }
}

pub async fn a_subject_has_so_many_memories_and_what_was_rejected_is_none_of_them(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let ada = Subject::User(home.user);
    let all: Vec<Memory> =
        (0..MAX_OF_SUBJECT).map(|n| said(&w, ada, &format!("Likes train {n}."), Trust::Model)).collect();
    for some in all.chunks(200) {
        let added = join_all(some.iter().map(|memory| add(&w, &home, memory, None))).await;
        assert!(added.iter().all(Result::is_ok));
    }
    let more = said(&w, ada, "Likes ships.", Trust::User);
    assert_eq!(code(add(&w, &home, &more, None).await), ErrorCode::Unprocessable);
    let (before, after) = (&all[7], all[7].clone().judged(false, w.now()).unwrap());
    w.store().change_memory(home.scope, (before, &after), None, w.event("memory.reject")).await.unwrap();
    add(&w, &home, &more, None).await.unwrap();
    let again = said(&w, ada, "Likes planes.", Trust::User);
    assert_eq!(code(add(&w, &home, &again, None).await), ErrorCode::Unprocessable);
}

pub async fn of_two_memories_of_the_same_words_side_by_side_one_is_kept(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (ada, company) = (Subject::User(home.user), Subject::Entity(entity(&w, &home, "a").await));
    let same: Vec<Memory> = (0..10).map(|_| said(&w, company, "Pays late.", Trust::User)).collect();
    let answers = join_all(same.iter().map(|memory| add(&w, &home, memory, None))).await;
    let kept = w.store().memories_of(home.scope, company).await.unwrap();
    assert_eq!(kept.len(), 1);
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap() == &kept[0].0), "each is told what is stored");
    assert_eq!(w.acts_of(&home, "memory.add").await, 1);

    let others = [said(&w, ada, "Pays late.", Trust::User), said(&w, company, "Pays later.", Trust::User)];
    for other in &others {
        assert_eq!(&add(&w, &home, other, None).await.unwrap(), other, "of somebody else, or other words");
    }
    let first = &kept[0].0;
    let rejected = Memory { status: MemoryStatus::Rejected, ..first.clone() };
    w.store().change_memory(home.scope, (first, &rejected), None, w.event("memory.reject")).await.unwrap();
    let again = said(&w, company, "Pays late.", Trust::User);
    assert_eq!(add(&w, &home, &again, None).await.unwrap(), again, "what was rejected can be said again");
    let other = w.tenant("second").await;
    let theirs = said(&w, Subject::Entity(entity(&w, &other, "a").await), "Pays late.", Trust::User);
    assert_eq!(add(&w, &other, &theirs, None).await.unwrap(), theirs);
}

pub async fn what_has_expired_can_be_said_again_in_the_same_words(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let company = Subject::Entity(entity(&w, &home, "a").await);
    let first = said(&w, company, "Is closed this week.", Trust::User);
    let end = first.expires_at.unwrap();
    add(&w, &home, &first, None).await.unwrap();
    let at = |moment: Timestamp| {
        let new = NewMemory::fact(company, "Is closed this week.");
        Memory::of(new, MemoryId::from_uuid(w.id()), Trust::User, moment).unwrap()
    };
    let before = at(end.minus(Millis(1)));
    assert_eq!(w.store().memory_in_same_words(home.scope, &before).await.unwrap().as_ref(), Some(&first));
    assert_eq!(add(&w, &home, &before, None).await.unwrap(), first, "it still holds");
    let again = at(end);
    assert_eq!(w.store().memory_in_same_words(home.scope, &again).await.unwrap(), None);
    assert_eq!(add(&w, &home, &again, None).await.unwrap(), again);
    let kept = w.store().memories_of(home.scope, company).await.unwrap();
    assert_eq!(kept.iter().map(|(memory, _)| memory.id).collect::<Vec<_>>(), [first.id, again.id]);
    assert_eq!(add(&w, &home, &at(end), None).await.unwrap(), again, "the new one is answered from then on");
}

pub async fn an_event_in_the_same_words_is_another_one(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let company = Subject::Entity(entity(&w, &home, "a").await);
    let event = || Memory { category: MemoryCategory::Event, ..said(&w, company, "Paid late.", Trust::Tool) };
    for event in [event(), event()] {
        assert_eq!(add(&w, &home, &event, None).await.unwrap(), event);
    }
    let lease = w.leased_as(&home, w.new_task(), "w", LONG).await.lease;
    let what = Noun::Memory(MemoryEffect::Add(event()));
    let effect = Effect::Noun(Box::new(NounEffect { what, audit: w.event("memory.add") }));
    let commit = kybern_core::task::Commit { effects: vec![effect], ..w.blank() };
    assert!(w.store().commit(&lease, commit.into()).await.is_ok());
    assert_eq!(w.store().memories_of(home.scope, company).await.unwrap().len(), 3);
    let fact = said(&w, company, "Paid late.", Trust::Tool);
    assert_eq!(add(&w, &home, &fact, None).await.unwrap(), fact, "an event is no fact");
}

pub async fn a_step_that_remembers_what_is_known_in_these_words_is_asked_again(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let company = Subject::Entity(entity(&w, &home, "a").await);
    let remember = |memory: Memory| {
        let what = Noun::Memory(MemoryEffect::Add(memory));
        Effect::Noun(Box::new(NounEffect { what, audit: w.event("memory.add") }))
    };
    let commit = async |memory: Memory| {
        let lease = w.leased_as(&home, w.new_task(), "w", LONG).await.lease;
        let commit = kybern_core::task::Commit { effects: vec![remember(memory)], ..w.blank() };
        w.store().commit(&lease, commit.into()).await
    };
    assert!(commit(said(&w, company, "Pays late.", Trust::Tool)).await.is_ok());
    let again = commit(said(&w, company, "Pays late.", Trust::Tool)).await;
    assert!(matches!(again, Err(CommitRefused::Changed { .. })), "{again:?}");
    assert!(commit(said(&w, company, "Pays later.", Trust::Tool)).await.is_ok());
    assert_eq!(w.store().memories_of(home.scope, company).await.unwrap().len(), 2);
}

pub async fn what_is_forgotten_takes_its_vector_along(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let company = Subject::Entity(entity(&w, &home, "a").await);
    let first = said(&w, company, "Pays late.", Trust::User);
    add(&w, &home, &first, Some(&vector(1.0))).await.unwrap();
    assert!(w.store().delete_memory(home.scope, first.id, w.now(), w.event("memory.delete")).await.unwrap());
    // A search that had read it before wants to keep what it has embedded meanwhile.
    w.store().keep_vectors(home.scope, vec![(first.id, first.updated_at, vector(2.0))]).await.unwrap();
    assert!(w.store().memories_of(home.scope, company).await.unwrap().is_empty());
    let again = said(&w, company, "Pays late.", Trust::User);
    add(&w, &home, &again, None).await.unwrap();
    assert_eq!(w.store().memories_of(home.scope, company).await.unwrap(), [(again, None)]);
}

pub async fn another_tenant_neither_sees_nor_changes_a_memory(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let mine = said(&w, Subject::User(home.user), "Likes trains.", Trust::User);
    add(&w, &home, &mine, Some(&vector(1.0))).await.unwrap();
    let store = w.store();
    assert_eq!(store.memory(other.scope, mine.id).await.unwrap(), None);
    assert!(store.memories_of(other.scope, mine.subject).await.unwrap().is_empty());
    assert!(store.memories(other.scope, &MemoryFilter::default(), None, 10).await.unwrap().items.is_empty());
    let refused = store.change_memory(other.scope, (&mine, &mine), None, w.event("memory.change")).await;
    assert_eq!(code(refused), ErrorCode::Conflict);
    assert!(!store.delete_memory(other.scope, mine.id, w.now(), w.event("memory.delete")).await.unwrap());
    store.keep_vectors(other.scope, vec![(mine.id, mine.updated_at, vector(9.0))]).await.unwrap();
    assert_eq!(store.memories_of(home.scope, mine.subject).await.unwrap(), [(mine.clone(), Some(vector(1.0)))]);
    assert!(store.delete_memory(home.scope, mine.id, w.now(), w.event("memory.delete")).await.unwrap());
    assert!(!store.delete_memory(home.scope, mine.id, w.now(), w.event("memory.delete")).await.unwrap());
    assert_eq!(w.acts_of(&home, "memory.delete").await, 1);
}
