//! Names that are longer than an index takes. Strangers choose some of them, and both databases take or refuse the same.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::plan;
use crate::server::client::{Ask, text};
use crate::server::{Client, Site};

/// A text of so many characters that no packing makes short.
fn long(characters: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from_digit(u32::try_from(state >> 59).unwrap_or_default(), 36).unwrap_or('x')
    };
    (0..characters).map(|_| next()).collect()
}

async fn task_of(client: &Client, ask: &Ask) -> (String, Value) {
    let taken = client.ok(ask).await;
    (text(&taken["taskId"]), taken["duplicate"].clone())
}

async fn long_names_are_taken_or_refused(site: Site) {
    let server = site.start();
    let client = server.client();
    let long = long(3_000);
    let mail = format!(
        "Message-ID: <{long}@example.com>\r\nFrom: a@example.com\r\nTo: b@example.com\r\nSubject: s\r\n\r\nhello"
    );
    let mail = Ask::post("/api/inbound/email", "message/rfc822", mail);
    let form = format!("From=%2B15550100&To=%2B15550101&Body=hello&MessageSid={long}");
    let form = Ask::post("/api/inbound/sms", "application/x-www-form-urlencoded", form);
    for ask in [mail, form] {
        let (first, duplicate) = task_of(&client, &ask).await;
        assert_eq!(duplicate, json!(false));
        assert_eq!(task_of(&client, &ask).await, (first, json!(true)), "the same message is one task");
    }
    let key = json!({"input": {"kind": "note", "key": long, "props": {"a": 1}}});
    let (status, refused) = client.send(&Ask::json("/api/tools/core.put_record/invoke", &key)).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("VALIDATION_ERROR")), "{refused}");
    let steps = json!([{"id": "a", "tool": "core.noop"}]);
    let written = json!({"key": "long", "intentKey": long, "examples": ["frobnicate the sprocket"], "steps": steps});
    let (status, answer) = client.send(&Ask::json("/api/plans", &written)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert!(answer.to_string().contains("intentKey has at most 200 characters"), "{answer}");
    plan(&client, "fine", steps).await;
}

#[tokio::test]
async fn long_names_are_taken_or_refused_on_sqlite() {
    long_names_are_taken_or_refused(Site::sqlite()).await;
}

#[tokio::test]
async fn long_names_are_taken_or_refused_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    long_names_are_taken_or_refused(site).await;
}
