//! Records, as people keep them: their history, the tasks that touched them, pages by a lookup, and changes by hand.

use futures::future::join_all;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::RecordId;
use kybern_core::plan::StepId;
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Lookup, PutRecord, Record, RecordEdit, RecordTaskPlace};
use kybern_core::task::{CommitRefused, Effect, Lease};
use serde_json::{Map, Value, json};

use super::fixture::{code, pages};
use super::{FullHarness, Home, Spoilt, World};

const KIND: &str = "test.thing";

/// A record as a step writes it, with the link that names the step.
async fn written(w: &World, lease: &Lease, step: &str, put: PutRecord) -> RecordId {
    let role = if put.expect == Expect::Absent { ArtifactRole::Created } else { ArtifactRole::Updated };
    let link =
        ArtifactLink { kind: put.kind.clone(), record_id: put.id, key: put.key.clone(), role, metadata: Map::new() };
    let (id, step) = (put.id, StepId::trusted(step));
    let link = Effect::Link { link, step, tool: Some("test.put".to_owned()) };
    w.commit(lease, w.effects(vec![Effect::Put(Box::new(put)), link])).await;
    id
}

fn edit(w: &World, home: &Home, id: RecordId, version: i64, changed: Value) -> RecordEdit {
    let changed = changed.as_object().cloned().unwrap();
    let reason = "It came by post.".to_owned();
    RecordEdit { id, version, changed, user: Some(home.user), reason, at: w.now() }
}

async fn try_edit(w: &World, home: &Home, edit: &RecordEdit) -> Result<Record, Error> {
    w.store().edit_record(home.scope, edit, w.event("record.change")).await
}

pub async fn a_record_tells_its_history(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let first = w.put(KIND, "a", json!({"status": "draft", "n": 1, "note": null}), Expect::Absent);
    let id = written(&w, &lease, "make", first).await;
    written(&w, &lease, "send", w.put(KIND, "a", json!({"status": "sent", "n": 1}), Expect::Any)).await;
    // What changes nothing makes no version.
    written(&w, &lease, "again", w.put(KIND, "a", json!({"status": "sent"}), Expect::Any)).await;
    let by_hand = edit(&w, &home, id, 2, json!({"status": "closed", "n": null}));
    let record = try_edit(&w, &home, &by_hand).await.unwrap();
    assert_eq!((record.version, record.updated_at), (3, by_hand.at));
    assert_eq!(Value::Object(record.props.clone()), json!({"status": "closed", "note": null}));
    assert_eq!(w.store().record_by_id(home.scope, id).await.unwrap(), Some(record));

    let all = w.store().record_versions(home.scope, id, None, 10).await.unwrap();
    assert_eq!(all.next, None);
    let [third, second, first] = &all.items[..] else { panic!("{:?}", all.items) };
    assert_eq!((third.version, third.user_id, third.task_id), (3, Some(home.user), None));
    assert_eq!((third.reason.as_deref(), third.created_at), (Some("It came by post."), by_hand.at));
    assert_eq!(Value::Object(third.changed.clone()), json!({"status": "closed", "n": null}));
    let task = Some(lease.task());
    assert_eq!((second.version, second.task_id, second.step_id.as_deref()), (2, task, Some("send")));
    assert_eq!(Value::Object(second.changed.clone()), json!({"status": "sent"}));
    assert_eq!((first.version, first.task_id, first.step_id.as_deref()), (1, task, Some("make")));
    assert_eq!((first.user_id, first.reason.as_deref()), (None, None));
    assert_eq!(Value::Object(first.changed.clone()), json!({"status": "draft", "n": 1, "note": null}));

    let list = async |before: Option<i64>| w.store().record_versions(home.scope, id, before, 1).await.unwrap();
    assert_eq!(pages(list).await, all.items);
    let events = w.store().audit_events(home.scope, 0, 10).await.unwrap();
    let told = events.iter().find(|event| event.event.action == "record.change").unwrap();
    assert_eq!(told.event.detail["version"], 3);

    let other = w.tenant("second").await;
    assert!(w.store().record_versions(other.scope, id, None, 10).await.unwrap().items.is_empty());
    assert_eq!(code(try_edit(&w, &other, &edit(&w, &other, id, 3, json!({"n": 9}))).await), ErrorCode::NotFound);
}

pub async fn a_record_that_changed_since_it_was_seen_is_not_written_over(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let id = written(&w, &lease, "make", w.put(KIND, "a", json!({"n": 1}), Expect::Absent)).await;
    for version in [0, 2] {
        assert_eq!(
            code(try_edit(&w, &home, &edit(&w, &home, id, version, json!({"n": 2}))).await),
            ErrorCode::Conflict
        );
    }
    let unknown = RecordId::from_uuid(w.id());
    assert_eq!(code(try_edit(&w, &home, &edit(&w, &home, unknown, 1, json!({"n": 2}))).await), ErrorCode::NotFound);
    let edits: Vec<RecordEdit> = (0..8).map(|n| edit(&w, &home, id, 1, json!({"n": n + 10}))).collect();
    let answers = join_all(edits.iter().map(|edit| try_edit(&w, &home, edit))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let versions = w.store().record_versions(home.scope, id, None, 10).await.unwrap().items;
    assert_eq!(versions.len(), 2);
    // A step that read it before decides again.
    let stale = w.put(KIND, "a", json!({"n": 3}), Expect::Version(1));
    let refused = w.store().commit(&lease, w.effects(vec![Effect::Put(Box::new(stale))]).into()).await;
    assert!(matches!(refused, Err(CommitRefused::Changed { .. })), "{refused:?}");
}

pub async fn what_changes_nothing_makes_no_version_and_no_event(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let id = written(&w, &lease, "make", w.put(KIND, "a", json!({"n": 1, "note": null}), Expect::Absent)).await;
    let head = w.store().audit_head(home.scope).await.unwrap();
    let same = try_edit(&w, &home, &edit(&w, &home, id, 1, json!({"n": 1, "gone": null}))).await.unwrap();
    assert_eq!((same.version, w.store().audit_head(home.scope).await.unwrap()), (1, head));
    // Beside what changes, only that is told.
    let changed = try_edit(&w, &home, &edit(&w, &home, id, 1, json!({"n": 1, "gone": null, "m": 2}))).await.unwrap();
    assert_eq!(changed.version, 2);
    // An empty prop that a step adds is told as well, so that the versions tell the whole record.
    written(&w, &lease, "more", w.put(KIND, "a", json!({"n": 3, "list": []}), Expect::Any)).await;
    let all = w.store().record_versions(home.scope, id, None, 10).await.unwrap().items;
    let told: Vec<Value> = all.into_iter().map(|version| Value::Object(version.changed)).collect();
    assert_eq!(told, [json!({"n": 3, "list": []}), json!({"m": 2}), json!({"n": 1, "note": null})]);
}

pub async fn a_record_that_cannot_be_read_is_not_changed_by_hand(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let id = written(&w, &lease, "make", w.put(KIND, "a", json!({"n": 1}), Expect::Absent)).await;
    w.harness.spoil(Spoilt::Record(id)).await;
    assert_eq!(code(try_edit(&w, &home, &edit(&w, &home, id, 1, json!({"n": 2}))).await), ErrorCode::Internal);
    assert_eq!(w.store().record_versions(home.scope, id, None, 10).await.unwrap().items.len(), 1);
}

pub async fn the_tasks_of_a_record_are_told_link_by_link(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = w.leased(&home, "w").await;
    let id = written(&w, &first, "make", w.put(KIND, "a", json!({"n": 1}), Expect::Absent)).await;
    written(&w, &first, "send", w.put(KIND, "a", json!({"n": 2}), Expect::Any)).await;
    let second = w.leased(&home, "w").await;
    written(&w, &second, "look", w.put(KIND, "a", json!({"n": 3}), Expect::Any)).await;
    let list = async |after: Option<RecordTaskPlace>, limit: u32| {
        w.store().tasks_of_record(home.scope, id, after, limit).await.unwrap()
    };
    let all = list(None, 10).await;
    assert_eq!(all.next, None);
    let told: Vec<_> = all.items.iter().map(|link| (link.task_id, link.step_id.as_str(), link.role)).collect();
    let (made, changed) = (ArtifactRole::Created, ArtifactRole::Updated);
    let expected = [(second.task(), "look", changed), (first.task(), "make", made), (first.task(), "send", changed)];
    assert_eq!(told, expected);
    assert_eq!(all.items[0].tool_key.as_deref(), Some("test.put"));
    for limit in [1, 2, 3] {
        assert_eq!(pages(async |after| list(after, limit).await).await, all.items, "{limit}");
    }
    let other = w.tenant("second").await;
    assert!(w.store().tasks_of_record(other.scope, id, None, 10).await.unwrap().items.is_empty());
}

pub async fn records_of_a_lookup_are_paged_beyond_fifty(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    for n in 0..53 {
        let lookups = vec![Lookup::shared("name", if n == 7 { "other" } else { "acme" })];
        let put = PutRecord { lookups, ..w.put(KIND, &format!("k{n:02}"), json!({"n": n}), Expect::Absent) };
        w.commit(&lease, w.effects(vec![Effect::Put(Box::new(put))])).await;
    }
    let list = async |after: Option<RecordId>| {
        w.store().records_found(home.scope, KIND, ("name", "acme"), after, 20).await.unwrap()
    };
    let found = pages(list).await;
    assert_eq!(found.len(), 52);
    assert!(found.is_sorted_by_key(|record| record.id) && !found.iter().any(|record| record.key == "k07"));
    let of = async |scope, kind, value| {
        w.store().records_found(scope, kind, ("name", value), None, 20).await.unwrap().items.len()
    };
    assert_eq!((of(home.scope, KIND, "other").await, of(home.scope, "test.other", "other").await), (1, 0));
    assert_eq!(of(w.tenant("second").await.scope, KIND, "other").await, 0);
}
