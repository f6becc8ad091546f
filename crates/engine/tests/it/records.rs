//! What tools may keep: records that fit the kinds which packs declare, and jobs of a bounded size.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::id::JobId;
use kybern_core::job::{self, NewJob};
use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};
use kybern_core::ports::RecordStore as _;
use kybern_core::record::RecordKind;
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_core::tool::ToolOutcome;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

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
