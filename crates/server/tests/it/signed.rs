//! Signed webhooks and callbacks.

use kybern_core::id::TenantId;
use kybern_core::policy::sms;
use kybern_core::policy::webhook::{seconds, sign};
use kybern_core::ports::Keys;
use kybern_core::time::Millis;
use kybern_testkit::TestKeys;
use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::harness::{Answer, App, Ask, GATEWAY_TOKEN, SOURCE_SECRET};

const BODY: &str = r#"{"event":"lead.created"}"#;

fn signed(app: &App, path: &str, id: &str, body: &str, secret: &str) -> Ask {
    let now = app.engine.clock().now();
    Ask::post(path)
        .header("webhook-id", id)
        .header("webhook-timestamp", &seconds(now).to_string())
        .header("webhook-signature", &sign(secret, id, now, body.as_bytes()).unwrap())
        .body("application/json", body.to_owned())
}

#[tokio::test]
async fn a_signed_delivery_of_a_configured_source_needs_no_key() {
    let app = App::start().await;
    let deliver = async |id: &str| {
        let answer = app.send(signed(&app, "/api/inbound/webhook/forms", id, BODY, SOURCE_SECRET)).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()
    };
    let first = deliver("msg_1").await;
    assert_eq!(first["duplicate"], false);
    let again = deliver("msg_1").await;
    assert_eq!((&again["taskId"], &again["duplicate"]), (&first["taskId"], &json!(true)));
    assert_ne!(deliver("msg_2").await["taskId"], first["taskId"]);
    let path = format!("/api/tasks/{}", first["taskId"].as_str().unwrap());
    let task = app.send(Ask::get(&path).key(&app.ours.viewer)).await.json();
    assert_eq!((&task["channel"], &task["createdBy"]), (&json!("webhook"), &json!("channel:webhook/forms")));
}

#[tokio::test]
async fn a_signature_that_does_not_hold_is_refused_with_or_without_a_key() {
    let app = App::start().await;
    let path = "/api/inbound/webhook/forms";
    let other = "whsec_YW5vdGhlciBzZWNyZXQ=";
    let now = app.engine.clock().now();
    let old = now.minus(Millis::from_secs(400));
    let stale = || {
        Ask::post(path)
            .header("webhook-id", "m")
            .header("webhook-timestamp", &seconds(old).to_string())
            .header("webhook-signature", &sign(SOURCE_SECRET, "m", old, BODY.as_bytes()).unwrap())
            .body("application/json", BODY)
    };
    let edited = || signed(&app, path, "m", BODY, SOURCE_SECRET).body("application/json", "{}");
    let bare = || Ask::post(path).header("webhook-signature", "v1,AAAA").body("application/json", BODY);
    let asks: [(&str, &dyn Fn() -> Ask); 4] = [
        ("another secret", &|| signed(&app, path, "m", BODY, other)),
        ("a stale signature", &stale),
        ("an edited body", &edited),
        ("no id and no timestamp", &bare),
    ];
    for (what, ask) in asks {
        app.send(ask()).await.refused(401, "UNAUTHENTICATED", what);
        app.send(ask().key(&app.ours.operator)).await.refused(401, "UNAUTHENTICATED", what);
    }
}

#[tokio::test]
async fn a_source_without_a_secret_needs_a_key() {
    let app = App::start().await;
    for path in ["/api/inbound/webhook/open", "/api/inbound/webhook/unknown"] {
        let unsigned = Ask::post(path).body("application/json", BODY);
        app.send(unsigned).await.refused(401, "UNAUTHENTICATED", path);
        app.send(signed(&app, path, "m", BODY, SOURCE_SECRET)).await.refused(401, "UNAUTHENTICATED", path);
        let keyed = Ask::post(path).key(&app.ours.operator).body("application/json", BODY);
        assert_eq!(app.send(keyed).await.status, 202, "{path}");
    }
}

#[tokio::test]
async fn deliveries_without_an_id_are_tasks_of_their_own() {
    let app = App::start().await;
    let send = async |header: Option<&'static str>| {
        let ask = Ask::post("/api/inbound/webhook/crm").key(&app.ours.operator).body("application/json", BODY);
        let ask = match header {
            Some(header) => ask.header(header, "d-1"),
            None => ask,
        };
        app.send(ask).await.json()["taskId"].clone()
    };
    assert_ne!(send(None).await, send(None).await);
    for header in ["webhook-id", "idempotency-key", "x-delivery-id"] {
        assert_eq!(send(Some(header)).await, send(Some(header)).await, "{header}");
    }
}

#[tokio::test]
async fn a_source_with_an_odd_name_is_refused() {
    let app = App::start().await;
    for source in ["a%20b", "a%2Fb", "%C3%A4", &"x".repeat(65)] {
        let ask = Ask::post(&format!("/api/inbound/webhook/{source}")).key(&app.ours.operator);
        let answer = app.send(ask.body("application/json", BODY)).await;
        assert_eq!(answer.refused(400, "VALIDATION_ERROR", source), ["/source"]);
    }
}

fn callback(task: &str) -> (String, String, Value) {
    let workflow = format!("v1:{}:{task}:put:1", TenantId::DEFAULT);
    let body = json!({"workflowId": workflow, "success": true, "data": {"quotes": 3}});
    (format!("/api/internal/brain/callback/{task}"), workflow, body)
}

#[tokio::test]
async fn a_callback_proves_itself_by_secret_or_signature() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let (path, workflow, body) = callback(&fixture.ended);
    let secret = TestKeys::new().callback_secret(&workflow);
    app.send(Ask::post(&path).json(&body)).await.refused(401, "UNAUTHENTICATED", "no proof");
    app.send(Ask::post(&path).header("x-callback-secret", "guessed").json(&body)).await.refused(
        401,
        "UNAUTHENTICATED",
        "a wrong secret",
    );
    // An API key, however strong, is no proof.
    app.send(Ask::post(&path).key(&app.ours.admin).json(&body)).await.refused(401, "UNAUTHENTICATED", "a key");
    let answer: Answer = app.send(Ask::post(&path).header("x-callback-secret", &secret).json(&body)).await;
    assert_eq!((answer.status, &answer.json()["outcome"]), (200, &json!("late")), "{}", answer.text());
    let answer = app.send(Ask::post(&path).header("x-callback-secret", &secret).json(&body)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn a_callback_for_nothing_is_not_found() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let (path, _, _) = callback(&fixture.ended);
    let body = json!({"workflowId": "made up", "success": true});
    let ask = Ask::post(&path).header("x-callback-secret", "x").json(&body);
    app.send(ask).await.refused(404, "NOT_FOUND", "an unknown delegation");
}

/// An id as Twilio gives it.
const MESSAGE_SID: &str = "SM0123456789abcdef0123456789abcdef";

/// A text message as Twilio sends it, with what it signs with `token` over `url`.
fn text_message(url: &str, token: &str, body: &str) -> Ask {
    let fields =
        [("Body", body), ("From", "+15550100"), ("MessageSid", MESSAGE_SID), ("NumMedia", "0"), ("To", "+15550199")];
    let signature = sms::sign(token, url, &fields.map(|(name, value)| (name.to_owned(), value.to_owned())));
    signed_form(url, &fields, &signature)
}

fn signed_form(url: &str, fields: &[(&str, &str)], signature: &str) -> Ask {
    let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let path = url.strip_prefix("http://127.0.0.1:7171").unwrap();
    Ask::post(path).header("x-twilio-signature", signature).body("application/x-www-form-urlencoded", form)
}

#[tokio::test]
async fn a_text_message_that_its_gateway_has_signed_needs_no_key() {
    let app = App::start().await;
    let (plain, asked) = ("http://127.0.0.1:7171/api/inbound/sms", "http://127.0.0.1:7171/api/inbound/sms?from=twilio");
    for (url, duplicate) in [(plain, false), (asked, true)] {
        let answer = app.send(text_message(url, GATEWAY_TOKEN, "See you at 3")).await;
        assert_eq!((answer.status, answer.json()["duplicate"].clone()), (202, json!(duplicate)), "{}", answer.text());
    }
    let wrong = || text_message(plain, "another token", "See you at 3");
    app.send(wrong()).await.refused(401, "UNAUTHENTICATED", "another token");
    app.send(wrong().key(&app.ours.operator)).await.refused(401, "UNAUTHENTICATED", "a wrong signature beside a key");
    let elsewhere = Ask::post("/api/inbound/sms").header("x-twilio-signature", "AAAA");
    let form = "From=%2B1&To=%2B2&Body=x&MessageSid=SM2";
    let unsigned = || Ask::post("/api/inbound/sms").body("application/x-www-form-urlencoded", form.to_owned());
    let bad = elsewhere.body("application/x-www-form-urlencoded", form.to_owned());
    app.send(bad).await.refused(401, "UNAUTHENTICATED", "no signature at all");
    app.send(unsigned()).await.refused(401, "UNAUTHENTICATED", "neither a key nor a signature");
    app.send(unsigned().key(&app.ours.viewer)).await.refused(403, "PERMISSION_DENIED", "a key that may only read");
    assert_eq!(app.send(unsigned().key(&app.ours.operator)).await.status, 202);
}

#[tokio::test]
async fn a_signed_text_message_is_not_new_because_its_fields_are_cut_elsewhere() {
    let app = App::start().await;
    let url = "http://127.0.0.1:7171/api/inbound/sms";
    assert_eq!(app.send(text_message(url, GATEWAY_TOKEN, "See you at 3")).await.status, 202);
    // The signature covers names and values one after the other, so these have the same.
    let longer = format!("{MESSAGE_SID}NumMedia0");
    let fields =
        [("Body", "See you at 3"), ("From", "+15550100"), ("MessageSid", longer.as_str()), ("To", "+15550199")];
    let signature = sms::sign(GATEWAY_TOKEN, url, &fields.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let refused = app.send(signed_form(url, &fields, &signature)).await;
    refused.refused(400, "VALIDATION_ERROR", "an id that swallows the field behind it");
}
