//! Documents that were read from pictures: nobody acts on them before a person has compared.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use kybern_core::error::ErrorCode;
use kybern_core::id::TaskId;
use kybern_core::task::{EffectClass, TaskStatus, WaitKind};
use kybern_core::tool::ToolOutcome;
use kybern_engine::task::{AttachmentRequest, SubmitRequest, TaskView};
use kybern_testkit::fakes::FixedIntent;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::{Live, kinds, object, wait};
use crate::outside::CountedIntent;
use crate::understanding::{Houses, Sheets};
use crate::world::{World, plan, step};

/// What OCR makes of the picture: it is not sure of the second word.
const READ: &str = "DOT 91o4417?";

/// Says what the documents say, and how sure their words are.
fn reading() -> Arc<ScriptedTool> {
    let tool = ScriptedTool::pending("t.read", EffectClass::Read, |context, _| {
        Box::pin(async move {
            let texts = context.documents()?.texts().await?;
            let page = &texts[0].1.pages[0];
            let sure = page.place_in_picture(0, page.text.len()).map(|place| place.confidence);
            Ok(ToolOutcome::new(object(json!({"said": page.text, "sure": sure})), ""))
        })
    });
    Arc::new(tool.with_spec(|spec| spec.needs.documents = true))
}

/// A task with a picture, once it waits.
async fn waiting(live: &Live<'_>) -> (TaskId, TaskView) {
    waiting_with(live, "letter.photo", READ).await
}

/// The same with another file.
async fn waiting_with(live: &Live<'_>, filename: &str, says: &'static str) -> (TaskId, TaskView) {
    let key = live.put(plan(json!([step("read", "t.read", json!({}))]))).await;
    let file = AttachmentRequest {
        filename: filename.to_owned(),
        content_type: "image/png".to_owned(),
        bytes: Bytes::from_static(says.as_bytes()),
    };
    let request = SubmitRequest { plan_key: Some(key), attachments: vec![file], ..SubmitRequest::text("go") };
    let id = live.try_submit(request).await.unwrap().id;
    let task = live.rest(id).await;
    (id, task)
}

/// What a yes to the text that is shown is written as.
fn yes(task: &TaskView) -> Value {
    wait(task).details["scans"][0]["confirm"].clone()
}

fn answer(decision: Value) -> Value {
    json!({"documents": {"1": decision}})
}

#[test]
fn nothing_happens_before_a_person_has_compared_the_text_with_its_picture() {
    World::with([reading()]).run(async |live| {
        let (id, task) = waiting(&live).await;
        assert_eq!((kinds(&task), task.completed_step_ids.len()), (vec![WaitKind::Document], 0));
        assert!(wait(&task).reason.contains("letter.photo was read from a picture"), "{}", wait(&task).reason);
        let page = &wait(&task).details["scans"][0]["pages"][0];
        assert_eq!((&page["page"], &page["text"], &page["confidence"]), (&json!(1), &json!(READ), &json!(0.4)));
        assert_eq!(page["picture"], json!(format!("/api/tasks/{id}/attachments/1?page=1")));
        let picture = live.engine.tasks().page_picture(&live.world.actor, id, 1, 1).await.unwrap();
        assert_eq!(picture.bytes, "picture of page 1");
        live.review(id, None, answer(json!({"confirm": yes(&task)}))).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!(READ)));
        assert_eq!(task.state["sure"], 100);
        let outcome = live.outcome(id, "_extraction").unwrap();
        assert_eq!(outcome.data["documents"][0]["status"], "confirmed");
    });
}

#[test]
fn whoever_waits_for_the_picture_of_a_page_holds_no_file() {
    World::with([reading()]).run(async |live| {
        let (id, _) = waiting(&live).await;
        let reader = &live.world.reader;
        reader.drawing.store(10_000, Ordering::SeqCst);
        let page = || live.engine.tasks().page_picture(&live.world.actor, id, 1, 1);
        for picture in futures::future::join_all((0..10).map(|_| page())).await {
            assert_eq!(picture.unwrap().bytes, "picture of page 1");
        }
        assert_eq!(reader.drawn_at_once.load(Ordering::SeqCst), 2, "what waits has not been handed its file");
        reader.drawing.store(50_000, Ordering::SeqCst);
        let late = futures::future::join_all((0..6).map(|_| page())).await;
        let refused = late.into_iter().filter_map(Result::err).map(|error| error.code());
        assert_eq!(refused.collect::<Vec<_>>(), [ErrorCode::Unavailable; 2], "nobody waits for ever");
    });
}

#[test]
fn what_a_person_corrects_is_what_the_document_says() {
    World::with([reading()]).run(async |live| {
        let (id, task) = waiting(&live).await;
        let correction = json!({"page": 1, "start": 4, "end": 12, "text": "9104417"});
        live.review(id, None, answer(json!({"confirm": yes(&task), "corrections": [correction]}))).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!("DOT 9104417")));
    });
}

#[test]
fn words_are_corrected_by_the_words_that_were_read() {
    World::with([reading()]).run(async |live| {
        let (id, task) = waiting(&live).await;
        let page = &wait(&task).details["scans"][0]["pages"][0];
        assert_eq!(page["unsure"][0]["confidence"], json!(0.4), "{page}");
        let corrected = |old: &str, new: &str| {
            answer(json!({"confirm": yes(&task), "corrections": [{"replace": old, "with": new}]}))
        };
        for (old, why) in [("9104417", "does not stand in the text"), ("4", "stands 2 times")] {
            let refused = live.review(id, None, corrected(old, "x")).await.unwrap_err();
            let fault = &refused.details()[0];
            assert_eq!(
                (refused.code(), fault.path.as_str()),
                (ErrorCode::Validation, "/corrections/documents/1/corrections/0")
            );
            assert!(fault.message.contains(why), "{fault:?}");
        }
        let refused = live.review(id, None, answer(json!({"yes": true}))).await.unwrap_err();
        assert!(refused.details()[0].message.contains("for letter.photo answer {\"confirm\": "), "{refused:?}");
        live.review(id, None, corrected("91o4417?", "9104417")).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!("DOT 9104417")));
        let text = live.engine.tasks().attachment_text(&live.world.actor, id, 1).await.unwrap();
        assert_eq!(text, "DOT 9104417", "as it was confirmed");
        let none = live.engine.tasks().attachment_text(&live.world.actor, id, 7).await.unwrap_err();
        assert_eq!(none.code(), ErrorCode::NotFound);
    });
}

#[test]
fn a_yes_counts_for_the_text_that_was_shown() {
    World::with([reading()]).run(async |live| {
        let (id, task) = waiting(&live).await;
        for wrong in [json!({"confirm": true}), json!({"confirm": "0".repeat(64)}), json!({"scan": {"pages": []}})] {
            let refused = live.review(id, None, answer(wrong)).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::Validation);
        }
        // It names a place that is not there, so the question is asked again and says why.
        let lost = json!({"page": 1, "start": 4, "end": 400, "text": "x"});
        live.review(id, None, answer(json!({"confirm": yes(&task), "corrections": [lost]}))).await.unwrap();
        let task = live.until(id, |task| task.waits.iter().any(|wait| wait.reason.contains("names no place"))).await;
        assert_eq!(task.completed_step_ids.len(), 0);
        live.review(id, None, answer(json!({"text": "DOT 9104417"}))).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((&task.state["said"], &task.state["sure"]), (&json!("DOT 9104417"), &Value::Null));
    });
}

#[test]
fn a_person_is_told_which_pages_of_a_scan_were_not_read() {
    World::with([reading()]).run(async |live| {
        let (id, task) = waiting_with(&live, "letter.photo", "DOT 9104417\u{c}?\u{c}?\u{c}Reno").await;
        let reason = &wait(&task).reason;
        assert!(reason.contains("not all of it: pages 2 and 3 could not be read"), "{reason}");
        let pages = wait(&task).details["scans"][0]["pages"].as_array().unwrap();
        let shown: Vec<(u64, bool)> =
            pages.iter().map(|page| (page["page"].as_u64().unwrap(), page["read"].as_bool().unwrap())).collect();
        assert_eq!(shown, [(1, true), (2, false), (3, false), (4, true)]);
        assert_eq!(pages[1]["picture"], json!(format!("/api/tasks/{id}/attachments/1?page=2")));
        live.review(id, None, answer(json!({"confirm": yes(&task)}))).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        assert_eq!(live.outcome(id, "_extraction").unwrap().data["documents"][0]["unreadPages"], json!([2, 3]));
    });
}

#[test]
fn nothing_happens_on_a_text_of_which_a_page_was_not_read_before_a_person_knows() {
    World::with([reading()]).run(async |live| {
        let (id, task) = waiting_with(&live, "letter.part", "DOT 9104417\u{c}?").await;
        assert_eq!((kinds(&task), task.completed_step_ids.len()), (vec![WaitKind::Document], 0));
        assert!(wait(&task).reason.contains("page 2 could not be read"), "{}", wait(&task).reason);
        live.review(id, None, answer(json!({"confirm": yes(&task)}))).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!("DOT 9104417")));
        let outcome = live.outcome(id, "_extraction").unwrap();
        assert_eq!(outcome.data["decisions"], json!({"1": {"withoutPictures": true}}), "its text needs no room");
    });
}

#[test]
fn a_person_may_type_in_the_page_that_was_not_read() {
    World::with([reading()]).run(async |live| {
        let (id, task) = waiting_with(&live, "letter.part", "?\u{c}Reno").await;
        let page = wait(&task).details["scans"][0]["pages"][0].clone();
        let typed = json!({"page": 1, "start": 0, "end": page["text"].as_str().unwrap().len(), "text": "DOT 9104417"});
        live.review(id, None, answer(json!({"confirm": yes(&task), "corrections": [typed]}))).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!("DOT 9104417")));
        let row = &live.outcome(id, "_extraction").unwrap().data["documents"][0];
        assert_eq!((&row["status"], &row["unreadPages"]), (&json!("confirmed"), &Value::Null));
    });
}

#[test]
fn answers_about_several_documents_add_up() {
    World::with([reading()]).run(async |live| {
        let key = live.put(plan(json!([step("read", "t.read", json!({}))]))).await;
        let file = |name: &str, text: &'static str| AttachmentRequest {
            filename: name.to_owned(),
            content_type: "image/png".to_owned(),
            bytes: Bytes::from_static(text.as_bytes()),
        };
        let attachments = vec![file("a.locked", "x"), file("b.photo", READ)];
        let request = SubmitRequest { plan_key: Some(key), attachments, ..SubmitRequest::text("go") };
        let id = live.try_submit(request).await.unwrap().id;
        let task = live.rest(id).await;
        let lost = json!({"page": 1, "start": 4, "end": 400, "text": "x"});
        let both = json!({
            "documents": {"1": {"text": "typed in"}, "2": {"confirm": yes(&task), "corrections": [lost]}},
            "heard_by": "telephone"
        });
        live.review(id, None, both).await.unwrap();
        let task = live.until(id, |task| task.waits.iter().any(|wait| wait.reason.contains("names no place"))).await;
        assert!(!wait(&task).reason.contains("a.locked"), "the other document is decided: {}", wait(&task).reason);
        live.review(id, None, json!({"documents": {"2": {"confirm": yes(&task)}}})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!("typed in")));
        assert_eq!(task.state["heard_by"], "telephone", "what was said beside it is not forgotten");
        let rows = live.outcome(id, "_extraction").unwrap().data["documents"].clone();
        assert_eq!((&rows[0]["status"], &rows[1]["status"]), (&json!("typed"), &json!("confirmed")));
    });
}

#[test]
fn a_person_is_asked_to_compare_no_more_than_one_can() {
    World::with([reading()]).run(async |live| {
        let key = live.put(plan(json!([step("read", "t.read", json!({}))]))).await;
        let file = |name: &str| AttachmentRequest {
            filename: name.to_owned(),
            content_type: "image/png".to_owned(),
            bytes: Bytes::from("long ".repeat(40_000)),
        };
        let attachments = vec![file("a.photo"), file("b.photo")];
        let request = SubmitRequest { plan_key: Some(key), attachments, ..SubmitRequest::text("go") };
        let id = live.try_submit(request).await.unwrap().id;
        let task = live.rest(id).await;
        let shown = wait(&task).details["scans"].as_array().unwrap();
        assert_eq!((shown.len(), &shown[0]["n"]), (1, &json!(1)));
        assert_eq!(
            shown[0]["pages"][0]["text"].as_str().map(str::len),
            Some(200_000),
            "all that is confirmed is shown"
        );
        let file = &wait(&task).details["files"][0];
        assert_eq!((&file["n"], &file["fault"]), (&json!(2), &json!("too_large")));
        let both = json!({"documents": {"1": {"confirm": yes(&task)}, "2": {"ignore": true}}});
        live.review(id, None, both).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
    });
}

#[test]
fn what_was_confirmed_is_kept_and_never_read_again() {
    World::with([reading()]).run(async |live| {
        let key = live
            .put(plan(json!([
                step("ask", "core.ask", json!({"title": "go on?", "fields": {}})),
                step("read", "t.read", json!({}))
            ])))
            .await;
        let file = AttachmentRequest {
            filename: "letter.photo".to_owned(),
            content_type: "image/png".to_owned(),
            bytes: Bytes::from_static(READ.as_bytes()),
        };
        let request = SubmitRequest { plan_key: Some(key), attachments: vec![file], ..SubmitRequest::text("go") };
        let id = live.try_submit(request).await.unwrap().id;
        let task = live.rest(id).await;
        live.review(id, None, answer(json!({"confirm": yes(&task)}))).await.unwrap();
        live.until(id, |task| task.waits.iter().any(|wait| wait.kind != WaitKind::Document)).await;
        let asked = live.world.reader.asked.load(Ordering::SeqCst);
        live.review(id, None, json!({})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, &task.state["said"]), (TaskStatus::Completed, &json!(READ)));
        assert_eq!(live.world.reader.asked.load(Ordering::SeqCst), asked);
    });
}

#[test]
fn a_picture_that_says_what_its_mail_says_stops_nothing_and_one_that_says_more_does() {
    let table = FixedIntent::new().when("please", "test.plan", 0.9);
    let world = World::new().knowing(CountedIntent { table, ..CountedIntent::default() });
    world.reading(Arc::new(Sheets)).bringing(Houses).run(async |live| {
        live.put(plan(json!([step("a", "core.set", json!({"said": "{{ task.input }}"}))]))).await;
        let cases = [
            ("SHEET\nhouse = A-17", "SHEET please\nhouse = a 17", None),
            ("SHEET\nhouse = A-17", "SHEET please\nhouse = A-18", Some("another house")),
            ("SHEET\nhouse = A-17", "SHEET please", Some("the mail names no house")),
            ("SHEET\nno house", "SHEET please\nhouse = A-17", Some("nobody knows what the picture is about")),
            // Nobody knows what it is, and it says no more than the mail.
            ("LETTER\nhouse = A-17", "SHEET please\nhouse = A-17", None),
            ("LETTER\nhouse = A-18", "SHEET please\nhouse = A-17", Some("another house, whatever it is")),
            ("DEED\nhouse = A-17", "SHEET please\nhouse = A-17", Some("it is sent for what it is")),
        ];
        for (n, (picture, text, asks)) in cases.into_iter().enumerate() {
            let text = format!("{text}\n{n}");
            let letter = json!({"subject": "s", "text": text, "files": {"card.photo": picture}}).to_string();
            let id = live.engine.intake().receive_email(&live.world.actor, letter.into(), None).await.unwrap().task_id;
            let task = live.rest(id).await;
            if let Some(why) = asks {
                assert_eq!(kinds(&task), [WaitKind::Document], "{why}");
                assert!(wait(&task).details["scans"][0]["pages"][0]["text"] == json!(picture), "{why}");
                continue;
            }
            assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
            let outcome = live.outcome(id, "_extraction").unwrap().data;
            let row = outcome["documents"].as_array().unwrap().iter().find(|row| row["n"] != json!(0)).unwrap();
            assert_eq!((&row["status"], &row["fault"]), (&json!("unread"), &json!("scan")));
            let read = outcome["extractions"].as_array().unwrap();
            assert!(read.iter().all(|extraction| extraction["filename"] == "message"), "nothing of the picture counts");
        }
    });
}
