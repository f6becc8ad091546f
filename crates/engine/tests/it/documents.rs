//! Documents that cannot be had for a while: nobody goes on as if they were empty.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use kybern_core::error::ErrorCode;
use kybern_core::id::TaskId;
use kybern_core::task::{EffectClass, JournalEntry, TaskStatus};
use kybern_core::tool::ToolOutcome;
use kybern_engine::task::{AttachmentRequest, SubmitRequest};
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::{Live, object};
use crate::world::{World, plan, step};

/// So many texts of this many bytes make the kept ones go.
const MANY: usize = 3;
const LARGE: usize = 12 * 1024 * 1024;

fn file(name: &str, text: &str) -> AttachmentRequest {
    AttachmentRequest {
        filename: name.to_owned(),
        content_type: "text/plain".to_owned(),
        bytes: Bytes::from(text.to_owned()),
    }
}

/// Says how many documents there are, and what they say.
fn reading() -> Arc<ScriptedTool> {
    let tool = ScriptedTool::pending("t.read", EffectClass::Read, |context, _| {
        Box::pin(async move {
            let texts = context.documents()?.texts().await?;
            let said: Vec<&str> = texts.iter().map(|(_, text)| text.pages[0].text.as_str()).collect();
            Ok(ToolOutcome::new(object(json!({"said": said})), ""))
        })
    });
    Arc::new(tool.with_spec(|spec| spec.needs.documents = true))
}

/// A task whose document was read when it came in and is read again once its question is answered. The text that was
/// kept in memory is gone.
async fn about_to_read(live: &Live<'_>) -> TaskId {
    let mut read = step("read", "t.read", json!({}));
    read["retry"] = json!({"maxAttempts": 5, "initialDelayMs": 1000});
    let ask = step("ask", "core.ask", json!({"title": "go on?", "fields": {}}));
    let key = live.put(plan(json!([ask, read]))).await;
    let request = SubmitRequest {
        plan_key: Some(key),
        attachments: vec![file("a.txt", "what it says")],
        ..SubmitRequest::text("go")
    };
    let id = live.try_submit(request).await.unwrap().id;
    live.rest(id).await;
    let others = json!({"key": "test.others", "steps": [step("a", "core.noop", json!({}))]});
    let key = live.put(others).await;
    let files = (0..MANY).map(|n| file(&format!("{n}.txt"), &n.to_string().repeat(LARGE))).collect();
    let request = SubmitRequest { plan_key: Some(key), attachments: files, ..SubmitRequest::text("go") };
    live.end(live.try_submit(request).await.unwrap().id).await;
    id
}

/// How often a try of a step was put off, and why.
fn put_off(live: &Live<'_>, id: TaskId) -> Vec<ErrorCode> {
    let rows = live.world.journal(id);
    let retrying = |entry: &JournalEntry| match entry {
        JournalEntry::Retrying { error, .. } => Some(error.code),
        _ => None,
    };
    rows.iter().filter_map(|row| retrying(&row.entry)).collect()
}

#[test]
fn a_document_whose_bytes_cannot_be_had_is_read_later_and_not_taken_for_none() {
    let tool = reading();
    World::with([tool.clone()]).run(async |live| {
        let id = about_to_read(&live).await;
        live.world.lacks(Some("blob"));
        live.review(id, None, json!({})).await.unwrap();
        live.until(id, |_| !put_off(&live, id).is_empty()).await;
        live.world.lacks(None);
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!(["what it says"])));
        assert!(put_off(&live, id).iter().all(|code| *code == ErrorCode::Unavailable));
    });
}

#[test]
fn a_document_that_cannot_be_read_any_more_is_read_later_and_not_left_out() {
    let tool = reading();
    World::with([tool.clone()]).run(async |live| {
        let id = about_to_read(&live).await;
        live.world.reader.busy.store(true, Ordering::SeqCst);
        live.review(id, None, json!({})).await.unwrap();
        live.until(id, |_| !put_off(&live, id).is_empty()).await;
        live.world.reader.busy.store(false, Ordering::SeqCst);
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!(["what it says"])));
        assert_eq!(put_off(&live, id)[0], ErrorCode::Unavailable);
    });
}

#[test]
fn nobody_is_asked_about_a_document_whose_reader_is_busy() {
    World::new().run(async |live| {
        let key = live.put(plan(json!([step("a", "core.noop", json!({}))]))).await;
        live.world.reader.busy.store(true, Ordering::SeqCst);
        let request = SubmitRequest {
            plan_key: Some(key),
            attachments: vec![file("a.txt", "first")],
            ..SubmitRequest::text("go")
        };
        let id = live.try_submit(request).await.unwrap().id;
        live.until(id, |_| live.world.mem().holder(id).is_none()).await;
        assert!(live.world.journal(id).is_empty(), "it is neither read nor asked about");
        live.world.reader.busy.store(false, Ordering::SeqCst);
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        let rows = live.outcome(id, "_extraction").unwrap().data["documents"].clone();
        assert_eq!(rows[0]["status"], json!("read"));
    });
}

#[test]
fn a_document_that_stays_unreadable_fails_its_step_by_name_of_the_cause() {
    World::with([reading()]).run(async |live| {
        let id = about_to_read(&live).await;
        live.world.reader.busy.store(true, Ordering::SeqCst);
        live.review(id, None, json!({})).await.unwrap();
        let task = live.proven(id).await;
        let error = task.error.unwrap();
        assert_eq!((task.status, error.code), (TaskStatus::Failed, ErrorCode::Unavailable));
        assert!(error.message.contains("document 1 cannot be read right now"), "{}", error.message);
    });
}

#[test]
fn a_store_that_has_no_bytes_for_a_while_puts_the_first_reading_off() {
    World::new().run(async |live| {
        let key = live.put(plan(json!([step("a", "core.noop", json!({}))]))).await;
        live.world.lacks(Some("blob"));
        let request = SubmitRequest {
            plan_key: Some(key),
            attachments: vec![file("a.txt", "first")],
            ..SubmitRequest::text("go")
        };
        let id = live.try_submit(request).await.unwrap().id;
        live.until(id, |_| live.world.mem().holder(id).is_none()).await;
        assert!(live.world.journal(id).is_empty());
        live.world.lacks(None);
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        assert!(task.completed_at.unwrap().since(task.created_at).0 >= 2_000);
        let rows: Vec<Value> = live.outcome(id, "_extraction").unwrap().data["documents"].as_array().cloned().unwrap();
        assert_eq!((rows.len(), &rows[0]["status"]), (1, &json!("read")));
    });
}
