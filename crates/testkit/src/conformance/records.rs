//! Records: written by commits only, by what the tool believed.

use std::collections::BTreeSet;

use futures::future::join_all;
use kybern_core::id::RecordId;
use kybern_core::plan::StepId;
use kybern_core::ports::MAX_PAGE_BYTES;
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Lookup, Merge, PutRecord, Record};
use kybern_core::task::{Commit, CommitRefused, Effect, Lease};
use serde_json::{Map, Value, json};

use super::fixture::pages;
use super::{Harness, Home, World};

const KIND: &str = "test.thing";

async fn put(w: &World, lease: &Lease, put: PutRecord) -> Result<(), CommitRefused> {
    w.store().commit(lease, w.effects(vec![Effect::Put(Box::new(put))]).into()).await.map(|_| ())
}

async fn read(w: &World, home: &Home, key: &str) -> Option<Record> {
    w.store().record(home.scope, KIND, key).await.unwrap()
}

fn props(record: &Record) -> Value {
    Value::Object(record.props.clone())
}

pub async fn a_record_is_found_by_key_id_and_lookup(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let lookups = vec![Lookup::unique("DOT", "123"), Lookup::shared("name", "acme")];
    let new = PutRecord { lookups, ..w.put(KIND, "a", json!({"name": "Acme", "n": [1, {"x": null}]}), Expect::Absent) };
    let commit = w.effects(vec![Effect::Put(Box::new(new.clone()))]);
    let at = commit.at;
    w.commit(&lease, commit).await;
    let record = read(&w, &home, "a").await.unwrap();
    assert_eq!((record.id, record.version, record.created_at, record.updated_at), (new.id, 1, at, at));
    assert_eq!((record.kind.as_str(), record.key.as_str(), &record.props), (KIND, "a", &new.props));
    assert_eq!(w.store().record_by_id(home.scope, new.id).await.unwrap().as_ref(), Some(&record));
    for (name, value) in [("DOT", "123"), ("name", "acme")] {
        let found = w.store().records_by_lookup(home.scope, KIND, name, value).await.unwrap();
        assert_eq!(found, std::slice::from_ref(&record));
    }
    let values = async |kind, by, wanted| w.store().lookup_values(home.scope, kind, by, wanted).await.unwrap();
    assert_eq!(values(KIND, ("name", "acme"), "DOT").await, [(record.id, "123".to_owned())]);
    assert_eq!(values(KIND, ("name", "acme"), "MC").await, []);
    for (kind, name, value) in [(KIND, "DOT", "124"), (KIND, "MC", "123"), ("test.other", "DOT", "123")] {
        assert!(w.store().records_by_lookup(home.scope, kind, name, value).await.unwrap().is_empty());
        assert_eq!(values(kind, (name, value), "name").await, []);
    }
}

/// Texts that no packing makes short: an index of PostgreSQL takes none of 2,700 bytes.
pub async fn a_record_is_found_by_a_value_that_is_longer_than_an_index_takes(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let long: String = (0..60_u32).map(|n| blake3::hash(&n.to_le_bytes()).to_hex().to_string()).collect();
    let lookups = vec![Lookup::unique("mail", long.clone())];
    w.commit(
        &lease,
        w.effects(vec![Effect::Put(Box::new(PutRecord { lookups, ..w.put(KIND, "a", json!({}), Expect::Absent) }))]),
    )
    .await;
    let found = async |value: &str| w.store().records_by_lookup(home.scope, KIND, "mail", value).await.unwrap().len();
    assert_eq!((found(&long).await, found(&long[1..]).await), (1, 0));
}

pub async fn record_expectation_mismatch_writes_nothing(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    put(&w, &lease, w.put(KIND, "a", json!({"n": 1}), Expect::Absent)).await.unwrap();
    let before = read(&w, &home, "a").await;
    for expect in [Expect::Absent, Expect::Version(2), Expect::Version(0)] {
        let refused = put(&w, &lease, w.put(KIND, "a", json!({"n": 2}), expect)).await.unwrap_err();
        let told = matches!(&refused, CommitRefused::Changed { what } if *what == format!("record {KIND} {:?}", "a"));
        assert!(told, "{expect:?}: {refused}");
        assert_eq!(read(&w, &home, "a").await, before);
    }
    let refused = put(&w, &lease, w.put(KIND, "b", json!({"n": 2}), Expect::Version(1))).await;
    assert!(matches!(refused, Err(CommitRefused::Changed { .. })));
    assert_eq!(read(&w, &home, "b").await, None);
    put(&w, &lease, w.put(KIND, "a", json!({"n": 2}), Expect::Version(1))).await.unwrap();
    put(&w, &lease, w.put(KIND, "a", json!({"n": 3}), Expect::Any)).await.unwrap();
    assert_eq!(read(&w, &home, "a").await.unwrap().version, 3);
}

pub async fn of_twenty_who_expect_nothing_one_writes(h: Harness) {
    let (w, home) = World::new(h).await;
    let mut commits = Vec::new();
    for n in 0..20 {
        let lease = w.leased(&home, "w").await;
        let commit = w.effects(vec![Effect::Put(Box::new(w.put(KIND, "a", json!({"n": n}), Expect::Absent)))]);
        let store = w.shared();
        commits.push(async move { store.commit(&lease, commit.into()).await });
    }
    let answers = join_all(commits).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let refused = |answer: &Result<_, _>| matches!(answer, Err(CommitRefused::Changed { .. }));
    assert_eq!(answers.iter().filter(|answer| refused(answer)).count(), 19);
    assert_eq!(read(&w, &home, "a").await.unwrap().version, 1);
}

pub async fn unique_lookup_is_enforced(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let with = |key: &str, lookups: Vec<Lookup>| PutRecord { lookups, ..w.put(KIND, key, json!({}), Expect::Any) };
    put(&w, &lease, with("a", vec![Lookup::unique("DOT", "1"), Lookup::shared("name", "x")])).await.unwrap();
    let refused = put(&w, &lease, with("b", vec![Lookup::unique("DOT", "1")])).await.unwrap_err();
    assert!(
        matches!(refused, CommitRefused::Changed { ref what } if what.ends_with(concat!("\"", "b", "\""))),
        "{refused}"
    );
    assert_eq!(read(&w, &home, "b").await, None);
    put(&w, &lease, with("a", vec![Lookup::unique("DOT", "1")])).await.unwrap();
    put(&w, &lease, with("b", vec![Lookup::unique("DOT", "2"), Lookup::shared("name", "x")])).await.unwrap();
    let shared = w.store().records_by_lookup(home.scope, KIND, "name", "x").await.unwrap();
    assert_eq!(shared.iter().map(|record| record.key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let other_kind = PutRecord { kind: "test.other".to_owned(), ..with("c", vec![Lookup::unique("DOT", "1")]) };
    put(&w, &lease, other_kind).await.unwrap();
}

pub async fn two_new_records_of_one_commit_may_not_share_a_unique_lookup(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let with = |key: &str| {
        let lookups = vec![Lookup::unique("DOT", "1")];
        Effect::Put(Box::new(PutRecord { lookups, ..w.put(KIND, key, json!({}), Expect::Absent) }))
    };
    let refused = w.store().commit(&lease, w.effects(vec![with("a"), with("b")]).into()).await;
    assert!(matches!(refused, Err(CommitRefused::Changed { .. })));
    assert_eq!((read(&w, &home, "a").await, read(&w, &home, "b").await), (None, None));
}

pub async fn lookups_of_the_same_name_are_replaced(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let with = |key: &str, lookups: Vec<Lookup>| PutRecord { lookups, ..w.put(KIND, key, json!({}), Expect::Any) };
    put(&w, &lease, with("a", vec![Lookup::unique("DOT", "1"), Lookup::shared("name", "x")])).await.unwrap();
    put(&w, &lease, with("a", vec![Lookup::unique("DOT", "2")])).await.unwrap();
    let count = async |name, value| w.store().records_by_lookup(home.scope, KIND, name, value).await.unwrap().len();
    assert_eq!((count("DOT", "1").await, count("DOT", "2").await, count("name", "x").await), (0, 1, 1));
    put(&w, &lease, with("b", vec![Lookup::unique("DOT", "1")])).await.unwrap();
}

pub async fn merge_modes(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let old = json!({"name": "Acme", "phone": "", "tags": ["a"]});
    let new = json!({"name": "Other", "phone": "5", "tags": ["a", "b"]});
    let after = [
        (Merge::Fill, json!({"name": "Acme", "phone": "5", "tags": ["a"]})),
        (Merge::Overwrite, json!({"name": "Other", "phone": "5", "tags": ["a", "b"]})),
        (Merge::Union, json!({"name": "Acme", "phone": "5", "tags": ["a", "b"]})),
    ];
    for (merge, expected) in after {
        let key = format!("{merge:?}");
        put(&w, &lease, w.put(KIND, &key, old.clone(), Expect::Absent)).await.unwrap();
        let first = read(&w, &home, &key).await.unwrap();
        put(&w, &lease, PutRecord { merge, ..w.put(KIND, &key, new.clone(), Expect::Any) }).await.unwrap();
        let record = read(&w, &home, &key).await.unwrap();
        assert_eq!((props(&record), record.version, record.id), (expected, 2, first.id));
    }
}

pub async fn the_version_grows_only_when_something_changed(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let same = || w.put(KIND, "a", json!({"n": 1, "list": [1]}), Expect::Any);
    put(&w, &lease, same()).await.unwrap();
    let before = read(&w, &home, "a").await.unwrap();
    for merge in [Merge::Fill, Merge::Overwrite, Merge::Union] {
        put(&w, &lease, PutRecord { merge, ..same() }).await.unwrap();
        assert_eq!(read(&w, &home, "a").await.unwrap(), before);
    }
    put(&w, &lease, w.put(KIND, "a", json!({"n": 2}), Expect::Version(1))).await.unwrap();
    assert_eq!(read(&w, &home, "a").await.unwrap().version, 2);
}

pub async fn links_name_the_record_that_exists(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    put(&w, &lease, w.put(KIND, "a", json!({"n": 1}), Expect::Absent)).await.unwrap();
    let existing = read(&w, &home, "a").await.unwrap();
    let link = |key: &str, record_id: RecordId, role| {
        let mut metadata = Map::new();
        metadata.insert("fields".to_owned(), json!(["n"]));
        let link = ArtifactLink { kind: KIND.to_owned(), record_id, key: key.to_owned(), role, metadata };
        Effect::Link { link, step: StepId::trusted("make"), tool: Some("test.put".to_owned()) }
    };
    // The tool minted an id for a record that another step made first.
    let again = w.put(KIND, "a", json!({"n": 2}), Expect::Any);
    let fresh = w.put(KIND, "b", json!({}), Expect::Absent);
    let foreign = RecordId::from_uuid(w.id());
    let effects = vec![
        link("a", again.id, ArtifactRole::Updated),
        link("b", fresh.id, ArtifactRole::Created),
        link("elsewhere", foreign, ArtifactRole::Resolved),
        Effect::Put(Box::new(again)),
        Effect::Put(Box::new(fresh.clone())),
    ];
    w.commit(&lease, w.effects(effects)).await;
    let stored = w.store().artifacts(home.scope, lease.task()).await.unwrap();
    let told: Vec<_> = stored.iter().map(|stored| (stored.link.record_id, stored.link.role)).collect();
    let expected =
        [(existing.id, ArtifactRole::Updated), (fresh.id, ArtifactRole::Created), (foreign, ArtifactRole::Resolved)];
    assert_eq!(told, expected);
    assert_eq!((stored[0].step_id.as_str(), stored[0].tool_key.as_deref()), ("make", Some("test.put")));
    assert_eq!(stored[0].link.metadata["fields"], json!(["n"]));
}

pub async fn pages_of_records_visit_each_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let mut all = BTreeSet::new();
    let mut effects = Vec::new();
    for n in 0..23 {
        let put = w.put(KIND, &format!("key {n}"), json!({"n": n}), Expect::Absent);
        all.insert(put.id);
        effects.push(Effect::Put(Box::new(put)));
    }
    effects.push(Effect::Put(Box::new(w.put("test.other", "key 1", json!({}), Expect::Absent))));
    w.commit(&lease, Commit { ..w.effects(effects) }).await;
    let list = async |after| {
        let page = w.store().records(home.scope, KIND, after, 5).await.unwrap();
        assert!(page.items.len() <= 5);
        page
    };
    let seen = pages(list).await;
    assert_eq!(seen.len(), 23);
    assert_eq!(seen.into_iter().map(|record| record.id).collect::<BTreeSet<_>>(), all);
    let kinds: BTreeSet<_> = w.store().record_kinds(home.scope).await.unwrap().into_iter().collect();
    assert_eq!(kinds, BTreeSet::from([(KIND.to_owned(), 23), ("test.other".to_owned(), 1)]));
}

pub async fn a_page_of_large_records_ends_before_its_limit(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let large = "x".repeat(200_000);
    let mut all = BTreeSet::new();
    for n in 0..45 {
        let put = w.put(KIND, &format!("key {n}"), json!({"large": large}), Expect::Absent);
        all.insert(put.id);
        w.commit(&lease, w.effects(vec![Effect::Put(Box::new(put))])).await;
    }
    let (mut after, mut pages) = (None, Vec::new());
    loop {
        let page = w.store().records(home.scope, KIND, after, 200).await.unwrap();
        pages.push(page.items.iter().map(|record| record.id).collect::<Vec<_>>());
        let Some(next) = page.next else { break };
        after = Some(next.parse().unwrap());
    }
    assert!(pages.iter().all(|page| !page.is_empty() && page.len() * large.len() <= MAX_PAGE_BYTES), "{pages:?}");
    assert_eq!(pages.len(), 3, "a page is not left half empty: {pages:?}");
    assert_eq!(pages.iter().flatten().count(), 45);
    assert_eq!(pages.into_iter().flatten().collect::<BTreeSet<_>>(), all);
}
