//! Whose a mail is: by its intake address where a mailbox is shared, by the key where one is shown.

use bytes::Bytes;
use kybern_core::error::ErrorCode;
use kybern_core::id::{RequestId, TenantId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{App, Ask, INTAKE};

fn letter(id: &str, to: &[&str]) -> Bytes {
    let to = to.join(", ");
    format!("Message-ID: <{id}@example.com>\r\nFrom: a@example.com\r\nTo: {to}\r\nSubject: Hi\r\n\r\nHello").into()
}

async fn ids(app: &App, key: &str) -> Vec<Value> {
    let tasks = app.send(Ask::get("/api/tasks").key(key)).await.json();
    tasks["items"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect()
}

#[tokio::test]
async fn a_mail_belongs_to_the_tenant_whose_address_it_was_sent_to() {
    let app = App::start().await;
    let mailbox = TenantId::from_uuid(Uuid::max());
    let of = async |to: &[&str]| app.engine.intake().tenant_of_mail(mailbox, &letter("m", to)).await.unwrap();
    let at = |local: &str| format!("{local}@{INTAKE}");
    let (theirs, ours) = (app.their_id, TenantId::DEFAULT);
    for (to, tenant) in [
        (vec![at("other-carrier")], theirs),
        (vec![at("Other-Carrier")], theirs),
        (vec![at("other-carrier+loss.runs")], theirs),
        (vec![at("other-carrier").to_uppercase()], theirs),
        (vec![at("default")], ours),
        (vec!["a@example.com".to_owned(), at("other-carrier")], theirs),
        (vec![at("nobody"), at("other-carrier"), at("default")], theirs),
        // Nobody's: whoever has the mailbox gets it.
        (vec![at("nobody")], mailbox),
        (vec![at("")], mailbox),
        (vec![at("+other-carrier")], mailbox),
        (vec![at("other-carrier-2")], mailbox),
        (vec!["other-carrier@example.com".to_owned()], mailbox),
        (vec![format!("other-carrier@evil.{INTAKE}")], mailbox),
        (vec![format!("other-carrier@{INTAKE}.evil.example")], mailbox),
        (vec![format!("other-carrier@{INTAKE}@evil.example")], mailbox),
        (vec!["other-carrier".to_owned()], mailbox),
        (vec![], mailbox),
    ] {
        let to: Vec<&str> = to.iter().map(String::as_str).collect();
        assert_eq!(of(&to).await, tenant, "{to:?}");
    }
    let none = app.engine.intake().tenant_of_mail(mailbox, &"no message at all".into()).await;
    assert_eq!(none.unwrap_err().code(), ErrorCode::Validation);
}

#[tokio::test]
async fn a_mail_of_a_shared_mailbox_becomes_a_task_of_its_tenant_alone() {
    let app = App::start().await;
    let (ours, theirs) = (ids(&app, &app.ours.admin).await, ids(&app, &app.theirs.admin).await);
    let raw = letter("shared", &[&format!("other-carrier@{INTAKE}")]);
    let tenant = app.engine.intake().tenant_of_mail(TenantId::DEFAULT, &raw).await.unwrap();
    let actor = app.engine.identity().channel_actor(tenant, "imap", RequestId::from_uuid(Uuid::nil()));
    let received = app.engine.intake().receive_email(&actor, raw.clone(), None).await.unwrap();
    let now = ids(&app, &app.theirs.admin).await;
    assert_eq!(now.len(), theirs.len() + 1);
    assert!(now.contains(&json!(received.task_id)));
    assert_eq!(ids(&app, &app.ours.admin).await, ours);
    // The same message, sent to us as well, is a task of ours too, and no repeat.
    let actor = app.engine.identity().channel_actor(TenantId::DEFAULT, "imap", RequestId::from_uuid(Uuid::nil()));
    let mine = app.engine.intake().receive_email(&actor, raw, None).await.unwrap();
    assert!(!mine.duplicate && mine.task_id != received.task_id);
}

#[tokio::test]
async fn a_mail_that_comes_with_a_key_belongs_to_the_keys_tenant_whatever_its_address() {
    let app = App::start().await;
    let theirs = ids(&app, &app.theirs.admin).await;
    let raw = letter("keyed", &[&format!("other-carrier@{INTAKE}")]);
    let ask = Ask::post("/api/inbound/email").key(&app.ours.operator).body("message/rfc822", raw);
    let answer = app.send(ask).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    assert!(ids(&app, &app.ours.admin).await.contains(&answer.json()["taskId"]));
    assert_eq!(ids(&app, &app.theirs.admin).await, theirs);
}

#[tokio::test]
async fn a_key_delivers_in_its_own_tenant_under_the_name_of_anybodys_source() {
    let app = App::start().await;
    let before = ids(&app, &app.ours.admin).await;
    // The source is configured for the first tenant; a key of another is no way into it.
    let deliver = |key: &str| Ask::post("/api/inbound/webhook/forms").key(key).json(&json!({"event": "lead.created"}));
    let answer = app.send(deliver(&app.theirs.operator)).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    assert!(ids(&app, &app.theirs.admin).await.contains(&answer.json()["taskId"]));
    assert_eq!(ids(&app, &app.ours.admin).await, before);
}
