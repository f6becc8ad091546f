//! U+0000 means nothing in a text and no database has to keep it: wherever it comes in, it becomes U+FFFD.

use bytes::Bytes;
use kybern_core::ports::{CallbackOutcome, Keys as _};
use kybern_core::task::TaskStatus;
use kybern_engine::task::{AttachmentRequest, CallbackProof, CallbackRequest, SubmitRequest};
use kybern_testkit::TestKeys;
use serde_json::json;

use crate::world::{World, plan, step};

#[test]
fn a_nul_in_a_submission_becomes_the_sign_of_a_broken_character() {
    World::new().run(async |live| {
        let key = live.put(plan(json!([step("a", "t.echo", json!({"p": "{{ task.payload }}"}))]))).await;
        let file = |name: &str| AttachmentRequest {
            filename: name.to_owned(),
            content_type: "text/plain\0".to_owned(),
            bytes: Bytes::from_static(b"a\0b"),
        };
        let request = SubmitRequest {
            plan_key: Some(key),
            payload: json!({"na\0me": ["x\0", {"deep": "\0"}], "n": 1}),
            attachments: vec![file("no\0tes.txt")],
            idempotency_key: Some("k\0".to_owned()),
            ..SubmitRequest::text("a\0b")
        };
        let id = live.try_submit(request.clone()).await.unwrap().id;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        assert_eq!(task.input, "a\u{fffd}b");
        let clean = json!({"na\u{fffd}me": ["x\u{fffd}", {"deep": "\u{fffd}"}], "n": 1});
        assert_eq!((&task.payload, task.result), (&clean, Some(json!({"p": clean}))));
        let kept = live.world.look(live.engine.store().attachments(live.world.scope(), id)).await.unwrap();
        assert_eq!(
            (kept[0].filename.as_str(), kept[0].content_type.as_str()),
            ("no\u{fffd}tes.txt", "text/plain\u{fffd}")
        );
        // What is in a file is left as it is.
        let bytes = live.world.look(live.engine.store().blob(live.world.scope(), &kept[0].hash)).await.unwrap();
        assert_eq!(bytes.as_deref(), Some(&b"a\0b"[..]));
        assert_eq!(live.try_submit(request).await.unwrap().id, id);
    });
}

#[test]
fn a_nul_in_an_answer_reaches_neither_the_state_nor_a_receiver() {
    World::new().run(async |live| {
        let fields = json!({"who": {"type": "string", "maxLength": 40}});
        let steps = json!([
            step("ask", "core.ask", json!({"title": "to whom?", "fields": fields})),
            step("tell", "core.notify", json!({"to": "{{ state.who }}", "subject": "s", "body": "b"})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        live.rest(id).await;
        live.review(id, None, json!({"who": "a\0@example.com"})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!(task.state["who"], json!("a\u{fffd}@example.com"));
        let targets: Vec<String> = live.outbox().await.into_iter().map(|sent| sent.message.target).collect();
        assert_eq!(targets, ["a\u{fffd}@example.com"]);
    });
}

#[test]
fn a_nul_in_a_callback_reaches_neither_the_state_nor_the_error() {
    for success in [true, false] {
        World::new().run(async |live| {
            let out = json!({"id": "out", "kind": "workflow", "workflow": "flow", "args": {}});
            let id = live.begin(plan(json!([out])), json!({})).await;
            let task = live.until(id, |task| task.status == TaskStatus::Delegated).await;
            let workflow_id = task.delegated_workflow_id.unwrap();
            let request = CallbackRequest {
                workflow_id: workflow_id.clone(),
                success,
                error: (!success).then(|| "it\0rained".to_owned()),
                data: json!({"na\0me": "a\0b"}),
                body_hash: "hash".to_owned(),
            };
            let proof = CallbackProof::Secret(TestKeys::new().callback_secret(&workflow_id));
            let taken = live.engine.tasks().callback(id, &proof, request.clone()).await.unwrap();
            assert_eq!(taken, CallbackOutcome::Accepted);
            assert_eq!(live.engine.tasks().callback(id, &proof, request).await.unwrap(), CallbackOutcome::Duplicate);
            let task = live.proven(id).await;
            match success {
                true => assert_eq!(json!(task.state), json!({"na\u{fffd}me": "a\u{fffd}b"})),
                false => assert_eq!(task.error_message.as_deref(), Some("it\u{fffd}rained")),
            }
        });
    }
}
