//! Texts that stand outside of bodies, and forms: as long as allowed is taken, a little longer is refused with its
//! place. And a handler that panics is a fault of one request.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::chat::MAX_CONTENT;
use kybern_server::Limits;
use serde_json::json;

use crate::harness::{App, Ask};
use crate::outside::{BUSY, NoNetwork, PANICS};

fn long(length: usize) -> String {
    "x".repeat(length)
}

#[tokio::test]
async fn a_name_in_the_path_and_a_value_in_the_query_have_a_longest_length() {
    let app = App::start().await;
    let get = async |path: String| app.send(Ask::get(&path).key(&app.ours.viewer)).await;
    get(format!("/api/plans/{}", long(300))).await.refused(404, "NOT_FOUND", "a long name");
    let paths = get(format!("/api/plans/{}", long(301))).await.refused(400, "VALIDATION_ERROR", "a longer name");
    assert_eq!(paths, ["/key"]);
    let answer = get(format!("/api/records/note?key={}", long(2_000))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let paths = get(format!("/api/records/note?key={}", long(2_001))).await.refused(400, "VALIDATION_ERROR", "a value");
    assert_eq!(paths, ["/key"]);
}

#[tokio::test]
async fn the_id_of_a_delivery_has_a_longest_length() {
    let app = App::start().await;
    let send = async |header: &'static str, id: &str| {
        let ask = Ask::post("/api/inbound/webhook/crm").key(&app.ours.operator).header(header, id);
        app.send(ask.json(&json!({"event": "lead"}))).await
    };
    for header in ["webhook-id", "idempotency-key", "x-delivery-id"] {
        assert_eq!(send(header, &long(255)).await.status, 202, "{header}");
        send(header, &long(256)).await.refused(400, "VALIDATION_ERROR", header);
    }
}

#[tokio::test]
async fn a_form_has_so_many_fields_of_such_a_length() {
    let app = App::start().await;
    let send = async |text: &str, more: usize| {
        let more: String = (0..more).map(|n| format!("&f{n}=1")).collect();
        let form = format!("From=%2B1&To=%2B2&Body={text}&MessageSid=SM{}{more}", text.len() + more.len());
        let ask = Ask::post("/api/inbound/sms").key(&app.ours.operator);
        app.send(ask.body("application/x-www-form-urlencoded", form)).await
    };
    assert_eq!(send("x", 196).await.status, 202);
    assert_eq!(send("x", 197).await.refused(400, "VALIDATION_ERROR", "fields"), [""]);
    assert_eq!(send(&long(10_000), 0).await.status, 202);
    assert_eq!(send(&long(10_001), 0).await.refused(400, "VALIDATION_ERROR", "a long text"), ["/Body"]);
}

#[tokio::test]
async fn a_message_of_a_chat_is_as_long_as_it_may_be_by_whatever_door_it_comes() {
    let app = App::limited(Arc::new(NoNetwork), BTreeMap::new(), Limits::default()).await;
    let post =
        async |path: &str, body: serde_json::Value| app.send(Ask::post(path).key(&app.ours.operator).json(&body)).await;
    let chats = async || app.send(Ask::get("/api/chats").key(&app.ours.operator)).await.json();
    let chat = post("/api/chats", json!({})).await.json();
    let path = format!("/api/chats/{}/messages", chat["id"].as_str().unwrap());
    let agent = |said: &str| {
        let messages = json!([{"role": "user", "content": "hello"}, {"role": "user", "content": said}]);
        json!({"model": "agent:assistant", "messages": messages})
    };
    let (longest, longer) = (long(MAX_CONTENT), long(MAX_CONTENT + 1));
    assert_ne!(post(&path, json!({"content": longest})).await.status, 400);
    assert_ne!(post("/v1/chat/completions", agent(&longest)).await.status, 400);
    let before = chats().await;
    let refused = post(&path, json!({"content": longer})).await.refused(400, "VALIDATION_ERROR", "a message");
    assert_eq!(refused, ["/content"]);
    let answer = post("/v1/chat/completions", agent(&longer)).await;
    assert_eq!(answer.refused(400, "VALIDATION_ERROR", "by OpenAI's door"), ["/messages/1/content"]);
    assert_eq!(chats().await, before, "no chat was begun for it");
}

#[tokio::test]
async fn a_mail_comes_back_when_too_much_is_read_already() {
    let app = App::start().await;
    let mail = format!("Message-ID: <m@example.com>\r\n\r\n{BUSY}");
    let ask = Ask::post("/api/inbound/email").key(&app.ours.operator).body("message/rfc822", mail);
    let answer = app.send(ask).await;
    answer.refused(503, "UNAVAILABLE", "a busy reader");
    assert_eq!(answer.header("retry-after"), "1");
}

#[tokio::test]
async fn a_handler_that_panics_is_a_fault_of_its_request_alone() {
    let app = App::start().await;
    let mail = format!("Message-ID: <m@example.com>\r\n\r\n{PANICS}");
    let ask = Ask::post("/api/inbound/email").key(&app.ours.operator).body("message/rfc822", mail);
    let answer = app.send(ask).await;
    answer.refused(500, "INTERNAL_ERROR", "a panic");
    assert!(!answer.text().contains(PANICS), "{}", answer.text());
    assert_eq!(app.send(Ask::get("/api/tasks").key(&app.ours.viewer)).await.status, 200);
}
