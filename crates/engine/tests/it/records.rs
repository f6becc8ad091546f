//! What tools may keep: records that fit the kinds which packs declare, and jobs of a bounded size.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::id::{JobId, RecordId};
use kybern_core::job::{self, NewJob};
use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};
use kybern_core::ports::RecordStore as _;
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Merge, PutRecord, RecordKind};
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::tool::{RecordChange, ToolOutcome};
use kybern_engine::record::{RecordChanges, RecordFilter};
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Map, Value, json};

use crate::live::Live;
use crate::world::{World, step};

/// A pack that keeps places.
struct Yard;

impl Pack for Yard {
    fn name(&self) -> &'static str {
        "yard"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        registry.kind(RecordKind {
            key: "yard.place".to_owned(),
            description: "A place in the yard".to_owned(),
            schema: json!({
                "type": "object",
                "required": ["row", "state"],
                "properties": {
                    "row": {"type": "integer"},
                    "state": {"enum": ["free", "taken"]},
                    "marks": {"type": "array", "items": {"type": "string"}}
                },
                "additionalProperties": false
            }),
            by_hand: json!({"state": {"enum": ["free"]}, "marks": {"type": "array"}}),
        })
    }
}

/// Why the record was not kept; nothing when it was.
async fn refusal(live: &Live<'_>, kind: &str, props: Value) -> Option<String> {
    let put = json!({"kind": kind, "key": "a", "props": props});
    let task = live.run(json!([step("put", "core.put_record", put)]), Value::Null).await;
    live.proven(task.id).await;
    let error = task.error?;
    assert_eq!((task.status, error.code), (TaskStatus::Failed, ErrorCode::Validation), "{}", error.message);
    Some(error.message)
}

#[test]
fn what_a_pack_declares_of_its_records_holds_for_every_tool_that_writes_one() {
    World::new().bringing(Yard).run(async |live| {
        let kept = async || {
            let found = live.world.store.record(live.world.scope(), "yard.place", "a").await.unwrap();
            found.map(|record| (record.version, Value::Object(record.props)))
        };
        for (props, named) in [
            (json!({"row": 1, "state": "lost"}), "/state"),
            (json!({"row": 1}), "\"state\" is a required property"),
            (json!({"row": 1, "state": "free", "owner": "x"}), "owner"),
        ] {
            let said = refusal(&live, "yard.place", props).await.unwrap();
            assert!(said.contains("record \"a\" does not fit its kind yard.place") && said.contains(named), "{said}");
            assert_eq!(kept().await, None, "{named}");
        }

        let sound = json!({"row": 1, "state": "free"});
        assert_eq!(refusal(&live, "yard.place", sound.clone()).await, None);
        // What is put into a record that exists need not say what it leaves as it is, and has to fit all the same.
        let said = refusal(&live, "yard.place", json!({"row": "two"})).await.unwrap();
        assert!(said.contains("/row"), "{said}");
        let said = refusal(&live, "yard.place", json!({"marks": [7]})).await.unwrap();
        assert!(said.contains("/marks/0"), "{said}");
        assert_eq!(kept().await, Some((1, sound)));
        assert_eq!(refusal(&live, "yard.place", json!({"state": "taken"})).await, None);
        assert_eq!(refusal(&live, "yard.place", json!({"marks": ["deep"]})).await, None);
        assert_eq!(kept().await, Some((3, json!({"row": 1, "state": "taken", "marks": ["deep"]}))));

        let own = json!({"row": "anything", "owner": null});
        assert_eq!(refusal(&live, "note", own).await, None, "what no pack declares is its user's own");
    });
}

/// A change by hand, and what became of it: the record's version and props, or the code and the places.
async fn by_hand(live: &Live<'_>, (kind, id): (&str, RecordId), version: i64, props: Value) -> Result<Value, Value> {
    let changes =
        RecordChanges { version, props: props.as_object().cloned().unwrap(), reason: "It came by post.".to_owned() };
    let changed = live.engine.records().change(&live.world.actor, kind, id, changes).await;
    changed.map(|record| json!([record.version, record.props])).map_err(|error| {
        let places: Vec<&str> = error.details().iter().map(|fault| fault.path.as_str()).collect();
        json!([error.code(), places])
    })
}

async fn the_only(live: &Live<'_>, kind: &str) -> RecordId {
    let all = live.engine.records().list(live.world.scope(), kind, &RecordFilter::default(), None, 10).await.unwrap();
    assert_eq!(all.items.len(), 1);
    all.items[0].id
}

#[test]
fn a_person_changes_what_the_kind_lets_them() {
    World::on_sqlite([]).bringing(Yard).run(async |live| {
        for (kind, props) in [("yard.place", json!({"row": 1, "state": "taken"})), ("note", json!({"row": 1}))] {
            assert_eq!(refusal(&live, kind, props).await, None);
        }
        let place = ("yard.place", the_only(&live, "yard.place").await);
        let refused = |code: &str, places: &[&str]| Err(json!([code, places]));
        for (props, place_of_fault) in [
            (json!({"row": 2}), "/props/row"),
            (json!({"owner": "x"}), "/props/owner"),
            // The kind takes it, and no person gives it.
            (json!({"state": "taken"}), "/props/state"),
            // What a person may give, and the kind does not take.
            (json!({"marks": [7]}), "/props/marks/0"),
            (json!({"state": null}), "/props"),
            (json!({}), "/props"),
        ] {
            assert_eq!(by_hand(&live, place, 1, props).await, refused("VALIDATION_ERROR", &[place_of_fault]));
        }
        assert_eq!(by_hand(&live, ("note", place.1), 1, json!({"state": "free"})).await, refused("NOT_FOUND", &[]));
        assert_eq!(by_hand(&live, place, 2, json!({"state": "free"})).await, refused("CONFLICT", &[]));
        let after = json!({"row": 1, "state": "free"});
        assert_eq!(by_hand(&live, place, 1, json!({"state": "free"})).await, Ok(json!([2, after])));
        let marked = by_hand(&live, place, 2, json!({"marks": ["deep"]})).await;
        assert_eq!(marked, Ok(json!([3, {"row": 1, "state": "free", "marks": ["deep"]}])));
        assert_eq!(by_hand(&live, place, 3, json!({"marks": null})).await, Ok(json!([4, after])));

        let note = ("note", the_only(&live, "note").await);
        assert_eq!(by_hand(&live, note, 1, json!({"row": null, "x": {"y": 1}})).await, Ok(json!([2, {"x": {"y": 1}}])));
        let large = json!({"x": "x".repeat(256 * 1024)});
        assert_eq!(by_hand(&live, note, 2, large).await, refused("PAYLOAD_TOO_LARGE", &[]));

        let versions = live.engine.records().versions(live.world.scope(), place, None, 10).await.unwrap().items;
        let told: Vec<_> = versions.iter().map(|version| (version.version, version.task_id.is_some())).collect();
        assert_eq!(told, [(4, false), (3, false), (2, false), (1, true)]);
        assert_eq!(versions[0].user_id, live.world.actor.user());
        // Steps go on from what the person wrote.
        assert_eq!(refusal(&live, "yard.place", json!({"state": "taken"})).await, None);
        let tasks = live.engine.records().tasks(live.world.scope(), place, None, 10).await.unwrap();
        assert_eq!(tasks.items.iter().map(|link| link.role.as_str()).collect::<Vec<_>>(), ["updated", "created"]);
    });
}

#[test]
fn records_are_found_by_a_field_and_by_words_page_by_page() {
    World::on_sqlite([]).run(async |live| {
        for n in 0..7 {
            let props =
                json!({"state": if n % 3 == 0 { "free" } else { "taken" }, "said": format!("Nr. {n} \"Größe\"")});
            let put = json!({"kind": "note", "key": format!("n{n}"), "props": props});
            let task = live.run(json!([step("put", "core.put_record", put)]), Value::Null).await;
            assert_eq!(task.status, TaskStatus::Completed);
        }
        let find = async |filter: RecordFilter, limit: u32| {
            let (mut keys, mut after, mut pages) = (Vec::new(), None, 0);
            loop {
                let page = live.engine.records().list(live.world.scope(), "note", &filter, after, limit).await.unwrap();
                keys.extend(page.items.into_iter().map(|record| record.key));
                pages += 1;
                after = page.next.map(|next| next.parse().unwrap());
                if after.is_none() {
                    return (keys.join(" "), pages);
                }
            }
        };
        let field = |value: &str| RecordFilter {
            field: Some(("state".to_owned(), value.to_owned())),
            ..RecordFilter::default()
        };
        let text = |text: &str| RecordFilter { text: Some(text.to_owned()), ..RecordFilter::default() };
        assert_eq!(find(field("free"), 200).await, ("n0 n3 n6".to_owned(), 1));
        assert_eq!(find(field("free"), 1).await.0, "n0 n3 n6");
        assert_eq!(find(text("nr. 4 \"grÖß"), 200).await.0, "n4");
        assert_eq!(find(text("N2"), 200).await.0, "n2", "a key is looked at as well");
        let both = RecordFilter { text: Some("größe".to_owned()), ..field("taken") };
        assert_eq!(find(both, 2).await.0, "n1 n2 n4 n5");
        assert_eq!(find(RecordFilter::default(), 3).await, ("n0 n1 n2 n3 n4 n5 n6".to_owned(), 3));
        assert_eq!(find(text("nothing of the kind"), 3).await.0, "");
    });
}

/// A tool that makes three hundred notes at once.
fn many() -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new("t.many", EffectClass::Local, |context, args| {
        let from = args["from"].as_u64().unwrap();
        let notes = (from..from + 300).map(|n| {
            let (id, key) = (RecordId::from_uuid(context.ids.next()), format!("n{n:04}"));
            let props = json!({"n": n}).as_object().cloned().unwrap();
            let link = ArtifactLink {
                kind: "note".to_owned(),
                record_id: id,
                key: key.clone(),
                role: ArtifactRole::Created,
                metadata: Map::new(),
            };
            let (kind, lookups) = ("note".to_owned(), Vec::new());
            let put = PutRecord { id, kind, key, props, merge: Merge::Fill, expect: Expect::Absent, lookups };
            RecordChange { put, link }
        });
        Ok(ToolOutcome { records: notes.collect(), ..ToolOutcome::default() })
    }))
}

#[test]
fn what_is_rare_is_found_over_several_pages_of_which_the_first_are_empty() {
    World::on_sqlite([many()]).run(async |live| {
        for from in (0..2_400).step_by(300) {
            let task = live.run(json!([step("many", "t.many", json!({"from": from}))]), Value::Null).await;
            assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        }
        let filter = RecordFilter { field: Some(("n".to_owned(), "2350".to_owned())), ..RecordFilter::default() };
        let list =
            async |after| live.engine.records().list(live.world.scope(), "note", &filter, after, 5).await.unwrap();
        let first = list(None).await;
        assert!(first.items.is_empty(), "ten reads of two hundred do not come so far");
        let second = list(Some(first.next.unwrap().parse().unwrap())).await;
        assert_eq!((second.items[0].key.as_str(), second.items.len(), second.next), ("n2350", 1, None));
    });
}

#[test]
fn a_job_is_as_large_as_its_limit_says() {
    let empty = json!({"text": ""}).to_string().len();
    for (over, ends) in [(0, TaskStatus::Completed), (1, TaskStatus::Failed)] {
        let tool = ScriptedTool::new("t.queues", EffectClass::Local, move |context, _| {
            let text = "x".repeat(job::limits::MAX_PAYLOAD - empty + over);
            let job = NewJob {
                id: JobId::from_uuid(context.ids.next()),
                kind: "test.none".to_owned(),
                payload: json!({"text": text}),
                dedupe_key: None,
                max_attempts: 1,
                due_at: context.now,
            };
            Ok(ToolOutcome { jobs: vec![job], ..ToolOutcome::default() })
        });
        World::with([Arc::new(tool)]).run(async |live| {
            let task = live.run(json!([step("queue", "t.queues", json!({}))]), Value::Null).await;
            assert_eq!(task.status, ends, "{:?}", task.error);
            if let Some(error) = task.error {
                assert_eq!(error.code, ErrorCode::Validation);
                assert!(error.message.contains("the payload of a test.none job has 262145 bytes"), "{}", error.message);
            }
            assert_eq!(live.world.mem().jobs().len(), 1 - over);
        });
    }
}
