//! What people answer is learned: suggested with what it would have changed, accepted by an admin, and used by the next
//! message of its kind; by nobody else, and by no message that came before.

use serde_json::{Value, json};

use crate::server::client::{Ask, text, until};
use crate::server::{Client, Server, Site};

/// The plan that the messages want. Its only word is in none of them.
const INTENT: &str = "yard.hose";

async fn store_plan(client: &Client) {
    let body = json!({"key": INTENT, "description": "Care of the yard", "keywords": ["zeppelin mast^3"],
        "steps": [{"id": "only", "tool": "core.noop", "args": {}}]});
    client.post("/api/plans", &body).await;
}

/// Hands in a mail, and waits until it has ended or asks.
async fn mail(client: &Client, n: u32, headers: &str, (subject, body): (&str, &str)) -> Value {
    let raw = format!(
        "Message-ID: <{n}@yard.example.com>\r\n{headers}To: in@example.com\r\nSubject: {subject}\r\n\r\n{body}\r\n"
    );
    let received = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", raw)).await;
    client.rest(&text(&received["taskId"])).await
}

const FROM_BO: &str = "From: Bo Reed <bo@yard.example.com>\r\n";
const DRIPS: (&str, &str) =
    ("Gate C drips", "Hello,\r\n\r\nThe tap beside gate C drips again, someone ought to replace the washer.\r\n\r\nBo");
const DRIPS_TOO: (&str, &str) = (
    "Gate F drips",
    "Good morning,\r\n\r\nThe tap beside gate F drips again. Someone should replace its washer before winter.\r\n\r\nAl",
);
const DRIPS_LATER: (&str, &str) =
    ("Gate K drips", "Hi,\r\n\r\nThe tap near gate K drips again, someone ought to replace that washer.\r\n\r\nJo");

/// The one lesson of a status, once there is one.
async fn lesson(client: &Client, status: &str) -> Value {
    until("a lesson is there", || async {
        let all = client.list(&format!("/api/lessons?status={status}")).await;
        assert!(all.len() < 2, "{all:?}");
        all.into_iter().next()
    })
    .await
}

async fn decide(client: &Client, lesson: &Value, act: &str) -> Value {
    client.post(&format!("/api/lessons/{}/{act}", text(&lesson["id"])), &json!({})).await
}

async fn another_tenant(client: &Client) -> Client {
    let tenant = client.post("/api/admin/tenants", &json!({"name": "Second yard"})).await;
    client.with_key(&text(&tenant["adminKey"]))
}

async fn a_chosen_intent_lets_the_next_message_of_its_kind_pass(site: Site) {
    let server = site.start();
    let client = server.client();
    let other = another_tenant(&client).await;
    store_plan(&client).await;
    store_plan(&other).await;
    let first = mail(&client, 1, FROM_BO, DRIPS).await;
    assert_eq!((&first["status"], &first["waits"][0]["kind"]), (&json!("needs_review"), &json!("intent")), "{first}");
    // It waits while its kind is learned, and is not read anew.
    let early = mail(&client, 2, FROM_BO, DRIPS_TOO).await;
    assert_eq!(early["status"], "needs_review");
    let answered = client.review(&first, &json!({"corrections": {"intent": INTENT}})).await;
    assert_eq!(client.rest(&text(&answered["id"])).await["status"], "completed");

    let suggested = lesson(&client, "suggested").await;
    assert_eq!((&suggested["kind"], &suggested["intent"]), (&json!("intent_example"), &json!(INTENT)));
    assert_eq!((&suggested["source"]["taskId"], &suggested["sinceVersion"]), (&first["id"], &Value::Null));
    let preview = client.get(&format!("/api/lessons/{}/preview", text(&suggested["id"]))).await;
    assert_eq!((&preview["mails"], &preview["leftOut"]), (&json!(2), &json!(0)), "{preview}");
    let changed = preview["changed"].as_array().unwrap();
    let own = changed.iter().find(|mail| mail["taskId"] == first["id"]).unwrap();
    assert_eq!((&own["without"]["asks"], &own["with"]["asks"]), (&json!(true), &json!(false)), "{preview}");
    assert_eq!((&own["with"]["intent"], &own["intent"]), (&json!(INTENT), &json!(INTENT)));
    assert_eq!(own["subject"], DRIPS.0);

    // A suggestion is used by nobody.
    assert_eq!(mail(&client, 3, FROM_BO, DRIPS_TOO).await["status"], "needs_review");
    let accepted = decide(&client, &suggested, "accept").await;
    assert_eq!((&accepted["status"], &accepted["sinceVersion"]), (&json!("accepted"), &json!(1)));
    let next = mail(&client, 4, FROM_BO, DRIPS_LATER).await;
    assert_eq!((&next["status"], &next["detectedIntent"]), (&json!("completed"), &json!(INTENT)), "{next}");
    client.replays(&text(&next["id"])).await;

    // No other tenant sees any of it.
    assert_eq!(mail(&other, 5, FROM_BO, DRIPS_LATER).await["status"], "needs_review");
    assert!(other.list("/api/lessons").await.is_empty());
    let (status, refused) = other.send(&Ask::get(&format!("/api/lessons/{}", text(&suggested["id"])))).await;
    assert_eq!((status.as_u16(), &refused["error"]["code"]), (404, &json!("NOT_FOUND")));

    let withdrawn = decide(&client, &accepted, "withdraw").await;
    assert_eq!((&withdrawn["status"], &withdrawn["untilVersion"]), (&json!("withdrawn"), &json!(2)));
    assert_eq!(mail(&client, 6, FROM_BO, DRIPS_LATER).await["status"], "needs_review");
    client.replays(&text(&next["id"])).await;
    client.audit_is_whole().await;
}

#[tokio::test]
async fn a_chosen_intent_lets_the_next_message_of_its_kind_pass_on_sqlite() {
    a_chosen_intent_lets_the_next_message_of_its_kind_pass(Site::sqlite()).await;
}

#[tokio::test]
async fn a_chosen_intent_lets_the_next_message_of_its_kind_pass_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_chosen_intent_lets_the_next_message_of_its_kind_pass(site).await;
}

/// A plan whose first step needs to know the insured.
async fn store_reading_plan(client: &Client) {
    let body = json!({"key": "yard.papers", "keywords": ["zeppelin papers^3"],
        "steps": [{"id": "read", "tool": "insurance.extract_documents", "args": {}}]});
    client.post("/api/plans", &body).await;
}

/// A message whose label for the insured nobody knows.
fn request(insured: &str) -> String {
    format!("Hello,\r\n\r\nhere are the zeppelin papers.\r\n\r\nYard steward: {insured}\r\n\r\nThank you")
}

async fn insured_of(client: &Client, task: &Value) -> Value {
    client.get(&format!("/api/tasks/{}", text(&task["id"]))).await["state"]["insured"]["name"].clone()
}

async fn a_typed_value_teaches_the_label_under_which_it_stands(site: Site) {
    let server = site.start();
    let client = server.client();
    store_reading_plan(&client).await;
    let asked = mail(&client, 1, FROM_BO, ("Zeppelin papers", &request("Fern Hollow"))).await;
    assert_eq!((&asked["status"], &asked["waits"][0]["kind"]), (&json!("needs_review"), &json!("review")), "{asked}");
    client.review(&asked, &json!({"corrections": {"insured": {"name": "Fern Hollow"}}})).await;
    let suggested = lesson(&client, "suggested").await;
    assert_eq!((&suggested["kind"], &suggested["label"]), (&json!("label"), &json!("yard steward")), "{suggested}");
    assert_eq!((&suggested["schema"], &suggested["field"]), (&json!("insurance"), &json!("insured.name")));
    let preview = client.get(&format!("/api/lessons/{}/preview", text(&suggested["id"]))).await;
    let change = &preview["changed"][0];
    assert_eq!(change["without"]["fields"]["insured.name"], Value::Null, "{preview}");
    assert_eq!(change["with"]["fields"]["insured.name"][0]["value"], "Fern Hollow");
    let early = mail(&client, 2, FROM_BO, ("Zeppelin papers", &request("Birch Corner"))).await;
    assert_eq!(early["status"], "needs_review");
    decide(&client, &suggested, "accept").await;
    let next = mail(&client, 3, FROM_BO, ("Zeppelin papers", &request("Larch Point"))).await;
    assert_eq!(insured_of(&client, &next).await, "Larch Point", "{next}");
    // What came before goes on with what was known then, although its papers are read again.
    let answered = client.review(&early, &json!({"corrections": {"insured": {"dot_number": "9104431"}}})).await;
    assert_eq!(insured_of(&client, &answered).await, Value::Null, "{answered}");
}

#[tokio::test]
async fn a_typed_value_teaches_the_label_under_which_it_stands_on_sqlite() {
    a_typed_value_teaches_the_label_under_which_it_stands(Site::sqlite()).await;
}

#[tokio::test]
async fn a_typed_value_teaches_the_label_under_which_it_stands_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_typed_value_teaches_the_label_under_which_it_stands(site).await;
}

#[tokio::test]
async fn an_admin_adds_a_label_and_a_term_without_a_question() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    store_reading_plan(&client).await;
    let label = json!({"kind": "label", "schema": "insurance", "field": "insured.name", "label": "Yard Steward:"});
    let made = client.post("/api/lessons", &label).await;
    assert_eq!(made["label"], "yard steward");
    decide(&client, &made, "accept").await;
    let read = mail(&client, 1, FROM_BO, ("Zeppelin papers", &request("Larch Point"))).await;
    assert_eq!(insured_of(&client, &read).await, "Larch Point", "{read}");
    for (field, label, place) in [
        ("insured.name", "named insured", "/label"),
        ("insured.nom", "assuré principal", "/field"),
        ("insured.name", "[a-z]+", "/label"),
    ] {
        let body = json!({"kind": "label", "schema": "insurance", "field": field, "label": label});
        let (status, refused) = client.send(&Ask::json("/api/lessons", &body)).await;
        assert_eq!((status.as_u16(), &refused["error"]["details"][0]["path"]), (400, &json!(place)), "{refused}");
    }
}

/// A server whose mail server says whether mail comes from where it says.
fn with_mail_server(site: &Site) -> Server {
    site.file("kybern.toml", "[intake]\ntrusted_authserv = \"mx.example.com\"\n");
    site.start()
}

#[tokio::test]
async fn a_trusted_sender_is_asked_about_no_more_and_money_is() {
    let site = Site::sqlite();
    let server = with_mail_server(&site);
    let client = server.client();
    store_plan(&client).await;
    let fails = |from: &str| format!("Authentication-Results: mx.example.com; dmarc=fail\r\nFrom: {from}\r\n");
    let wish = ("Zeppelin mast", "Please look after the zeppelin mast.\r\n\r\nBo");
    let asked = mail(&client, 1, &fails("bo@yard.example.com"), wish).await;
    assert_eq!((&asked["status"], &asked["detectedIntent"]), (&json!("needs_review"), &json!(INTENT)), "{asked}");
    client.review(&asked, &json!({"corrections": {"intent": INTENT}})).await;
    let suggested = lesson(&client, "suggested").await;
    assert_eq!((&suggested["kind"], &suggested["address"]), (&json!("trusted_sender"), &json!("bo@yard.example.com")));
    let preview = client.get(&format!("/api/lessons/{}/preview", text(&suggested["id"]))).await;
    assert_eq!(preview["changed"][0]["with"], json!({"doubtsSender": false}), "{preview}");
    decide(&client, &suggested, "accept").await;
    assert_eq!(mail(&client, 2, &fails("Bo@yard.example.com"), wish).await["status"], "completed");
    assert_eq!(mail(&client, 3, &fails("al@yard.example.com"), wish).await["status"], "needs_review");
    let money = (
        "Zeppelin mast",
        "Please look after the zeppelin mast, and wire the payment today to our new bank account.\r\n\r\nBo",
    );
    assert_eq!(mail(&client, 4, &fails("bo@yard.example.com"), money).await["status"], "needs_review");
}

#[tokio::test]
async fn what_asks_for_a_reason_asks_whatever_was_learned() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    store_plan(&client).await;
    let gate = json!({"key": "yard.gate", "keywords": ["cannot open^1.2 => the gate is said to be stuck"],
        "steps": [{"id": "only", "tool": "core.noop", "args": {}}]});
    client.post("/api/plans", &gate).await;
    let words = "Gate C cannot open. The tap beside it drips again, someone ought to replace the washer.";
    let example = json!({"kind": "intent_example", "intent": INTENT, "text": words});
    let made = client.post("/api/lessons", &example).await;
    decide(&client, &made, "accept").await;
    let asked = mail(&client, 1, FROM_BO, ("Gate C", words)).await;
    assert_eq!((&asked["status"], &asked["detectedIntent"]), (&json!("needs_review"), &json!(INTENT)), "{asked}");
    assert!(text(&asked["waits"][0]["reason"]).contains("the gate is said to be stuck"), "{asked}");
}
