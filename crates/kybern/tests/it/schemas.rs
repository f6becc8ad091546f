//! Papers that no pack knows, read by a schema that the plan brings itself.

use std::path::Path;

use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::receiver::{Receiver, Seen};
use crate::server::{Client, Site};
use crate::understanding::{FORMATS, answer, choices, site};

/// A file of the examples, as a newcomer runs them.
fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(examples.join(name)).unwrap()
}

/// The plan with a change of its schema.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut plan = plan();
    change(&mut plan["steps"][0]["args"]["schema"]);
    plan
}

fn plan() -> Value {
    serde_json::from_str(&example("plans/delivery_note.json")).unwrap()
}

/// Hands in the example's mail with its paper changed, and waits until its task has ended or asks.
async fn deliver(client: &Client, n: u32, change: impl Fn(String) -> String) -> Value {
    let mail = change(example("mail/delivery-note.eml").replace("MESSAGE-NUMBER", &n.to_string()));
    let taken = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", mail.replace('\n', "\r\n"))).await;
    client.rest(&text(&taken["taskId"])).await
}

async fn a_paper_is_read_by_the_schema_of_its_plan(site: Site) {
    let server = site.start();
    let client = server.client();
    client.post("/api/plans", &plan()).await;
    let task = deliver(&client, 1, |mail| mail).await;
    assert_eq!(task["status"], "completed", "{task}");
    let row = |article: &str, description: &str, quantity: u32| json!({"article": article, "description": description, "quantity": quantity});
    let note = json!({
        "number": "DN-2026-004711",
        "date": "2026-03-04",
        "consignee": "Harbour Street Depot Ltd.",
        "freight": "Prepaid",
        "goods": [
            row("PX-1001", "Oak shelf, 120 cm", 12),
            row("PX-1002", "Steel bracket", 48),
            row("PX-1001", "Oak shelf, 120 cm", 4),
        ],
    });
    assert_eq!(task["result"], note, "{task}");
    let paper = &task["state"]["extractions"][0];
    assert_eq!((&paper["category"], &paper["fields"][0]["name"]), (&json!("DELIVERY_NOTE"), &json!("number")));
    assert_eq!(paper["fields"][0]["source"]["words"], "DN-2026-004711");
    assert_eq!(client.list("/api/records/example.delivered_goods").await.len(), 3);
    client.replays(&text(&task["id"])).await;
}

#[tokio::test]
async fn a_paper_is_read_by_the_schema_of_its_plan_on_sqlite() {
    a_paper_is_read_by_the_schema_of_its_plan(Site::sqlite()).await;
}

#[tokio::test]
async fn a_paper_is_read_by_the_schema_of_its_plan_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_paper_is_read_by_the_schema_of_its_plan(site).await;
}

async fn what_a_paper_lacks_is_asked(site: Site) {
    let server = site.start();
    let client = server.client();
    client.post("/api/plans", &plan()).await;
    let spoilt = |mail: String| {
        let mail =
            mail.replace("DN-2026-004711", "DN-2026-47").replace("Steel bracket                   48", "Steel bracket");
        mail.replace("Freight:            prepaid\n", "")
    };
    let asked = deliver(&client, 1, spoilt).await;
    assert_eq!((&asked["status"], &asked["waits"][0]["kind"]), (&json!("needs_review"), &json!("review")), "{asked}");
    let wait = &asked["waits"][0];
    let reason = text(&wait["reason"]);
    assert!(reason.contains("nothing was found for number; what was found may be wrong for goods in"), "{reason}");
    assert!(reason.contains("\"delivery-note.txt\""), "{reason}");
    assert_eq!(wait["details"]["asked"], json!(["number", "goods"]), "{wait}");
    assert_eq!(wait["details"]["delivery_note"]["consignee"], "Harbour Street Depot Ltd.", "what is plain is shown");
    assert_eq!(wait["details"]["found"]["goods"][1]["quantity"], Value::Null, "{wait}");

    let goods = json!([{"article": "PX-1002", "description": null, "quantity": 48}]);
    let path = format!("/api/tasks/{}/review", text(&asked["id"]));
    for wrong in [
        json!({"number": "DN-2026-004711"}),
        json!({"number": "4711", "goods": goods}),
        json!({"number": "DN-2026-004711", "goods": []}),
        json!({"number": "DN-2026-004711", "goods": goods, "weight": 4}),
    ] {
        let answer = json!({"corrections": {"delivery_note": wrong}});
        let (status, refused) = client.send(&Ask::json(&path, &answer)).await;
        assert_eq!(status.as_u16(), 400, "{refused}");
        let place = text(&refused["error"]["details"][0]["path"]);
        assert!(place.contains("/delivery_note"), "{refused}");
    }
    let answer = json!({"corrections": {"delivery_note": {"number": "DN-2026-004711", "goods": goods}}});
    let answered = client.review(&asked, &answer).await;
    let task = client.rest(&text(&answered["id"])).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!((&task["result"]["goods"], &task["result"]["number"]), (&goods, &json!("DN-2026-004711")));
    assert_eq!((&task["result"]["date"], &task["result"]["freight"]), (&json!("2026-03-04"), &Value::Null));
    client.replays(&text(&task["id"])).await;
}

#[tokio::test]
async fn what_a_paper_lacks_is_asked_on_sqlite() {
    what_a_paper_lacks_is_asked(Site::sqlite()).await;
}

#[tokio::test]
async fn what_a_paper_lacks_is_asked_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    what_a_paper_lacks_is_asked(site).await;
}

/// A model that knows what the letter says, and makes up a date.
fn model(question: &Value) -> Value {
    if choices(question, "category").is_some() {
        let known = choices(question, "category").unwrap();
        assert_eq!(known, ["delivery_note/DELIVERY_NOTE", "other"], "what others know is no choice");
        return json!({"category": "delivery_note/DELIVERY_NOTE", "confidence": 0.9, "sections": []});
    }
    let fields = choices(question, "field").unwrap();
    assert_eq!(
        fields,
        ["number", "date", "consignee", "freight", "goods[].article", "goods[].description", "goods[].quantity"]
    );
    let claims = [
        ("number", 0, "DN-2026-004712"),
        ("number", 0, "DN-2026-999999"),
        ("date", 0, "2026-04-09"),
        ("date", 0, "2026-05-01"),
        ("consignee", 0, "Harbour Street Depot Ltd."),
        ("goods[].article", 0, "PX-1002"),
        ("goods[].quantity", 0, "48"),
    ];
    let claims = claims.iter().map(|(field, item, value)| json!({"field": field, "item": item, "value": value}));
    json!({"values": claims.collect::<Vec<_>>()})
}

fn asking(request: &Seen) -> (u16, Value) {
    (200, answer(FORMATS[0].0, &model(&request.json()).to_string()))
}

/// The note as a letter, in which no label leads to a value.
const LETTER: &str = "To whom it may concern,\n\n\
    with our truck of 9 April 2026 you get PX-1002, 48 pieces of it, under our DN-2026-004712. It goes to\n\
    Harbour Street Depot Ltd. by way of the north gate.\n";

async fn a_model_reads_by_the_schema_and_invents_nothing(place: Site) {
    let receiver = Receiver::answering(|request, _| Some(asking(request)));
    let place = site(place, &receiver.url(""), FORMATS[0]);
    let server = place.start();
    let client = server.client();
    client.post("/api/plans", &plan()).await;
    let body = json!({"channel": "api", "planKey": "example.delivery_note", "input": LETTER});
    let made = client.post("/api/tasks", &body).await;
    let task = client.rest(&text(&made["id"])).await;
    assert_eq!(task["status"], "completed", "{task}");
    let read = &task["state"]["extractions"][0];
    assert_eq!(task["result"]["number"], "DN-2026-004712", "{task}");
    assert_eq!(task["result"]["date"], "2026-04-09", "{task}");
    let goods = json!([{"article": "PX-1002", "description": null, "quantity": 48}]);
    assert_eq!(task["result"]["goods"], goods, "{task}");
    assert_eq!(read["category"], "DELIVERY_NOTE", "{read}");
    let refused: Vec<String> =
        read["refused"].as_array().unwrap().iter().map(|claim| text(&claim["claimed"])).collect();
    assert_eq!(refused, ["DN-2026-999999", "2026-05-01"], "{read}");
    let number = read["fields"].as_array().unwrap().iter().find(|field| field["name"] == "number").unwrap();
    assert_eq!((&number["foundBy"], &number["source"]["words"]), (&json!("model"), &json!("DN-2026-004712")));
    let asked = receiver.seen().len();
    client.replays(&text(&task["id"])).await;
    assert_eq!(receiver.seen().len(), asked, "a replay asks nobody");
}

#[tokio::test]
async fn a_model_reads_by_the_schema_and_invents_nothing_on_sqlite() {
    a_model_reads_by_the_schema_and_invents_nothing(Site::sqlite()).await;
}

#[tokio::test]
async fn a_model_reads_by_the_schema_and_invents_nothing_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_model_reads_by_the_schema_and_invents_nothing(site).await;
}

#[tokio::test]
async fn a_schema_that_cannot_be_read_by_is_refused_with_its_place() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let field = |n: usize| json!({"name": format!("f{n}"), "type": "text", "labels": {"en": [format!("label x{n}")]}});
    let many: Vec<Value> = (0..101).map(field).collect();
    let cases: [(&str, &str, Value); 6] = [
        ("/fields", "101 entries are more than 100", changed(|schema| schema["fields"] = json!(many))),
        ("/fields/1/type", "use one of text", changed(|schema| schema["fields"][1]["type"] = json!("blob"))),
        ("/fields/1/name", "already", changed(|schema| schema["fields"][1]["name"] = json!("number"))),
        ("/fields/0/pattern", "no regular expression", changed(|schema| schema["fields"][0]["pattern"] = json!("[A-"))),
        ("", "more than 32768", changed(|schema| schema["fields"][0]["name"] = json!("x".repeat(33_000)))),
        ("/name", "taken", changed(|schema| schema["name"] = json!("insurance"))),
    ];
    for (place, part, plan) in &cases {
        let path = format!("/steps/0/args/schema{place}");
        let checked = client.post("/api/plans/check", plan).await.to_string();
        assert!(checked.contains(&format!("{path:?}")) && checked.contains(part), "{checked}");
        let (status, refused) = client.send(&Ask::json("/api/plans", plan)).await;
        assert_eq!((status.as_u16(), &refused["error"]["code"]), (422, &json!("UNPROCESSABLE")), "{refused}");
        assert_eq!(refused["error"]["details"][0]["path"], path, "{refused}");
        let body = json!({"input": plan["steps"][0]["args"]});
        let (status, refused) = client.send(&Ask::json("/api/tools/extract_documents/invoke", &body)).await;
        assert_eq!((status.as_u16(), &refused["error"]["code"]), (400, &json!("VALIDATION_ERROR")), "{refused}");
        assert!(text(&refused["error"]["details"][0]["path"]).ends_with(&format!("/schema{place}")), "{refused}");
    }
    let unknown =
        json!({"key": "yard.x", "steps": [{"id": "read", "tool": "extract_documents", "args": {"schema": "x"}}]});
    let (status, refused) = client.send(&Ask::json("/api/plans", &unknown)).await;
    assert_eq!(status.as_u16(), 422, "{refused}");
    assert!(text(&refused["error"]["details"][0]["message"]).contains("use one of contact"), "{refused}");
}

#[tokio::test]
async fn a_schema_that_a_template_makes_is_checked_when_its_step_runs() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    client.post("/api/plans", &changed(|schema| schema["name"] = json!("{{ task.payload.name }}"))).await;
    let run = async |name: &str| {
        let body = json!({"channel": "api", "planKey": "example.delivery_note", "input": "Nothing", "payload": {"name": name}});
        let made = client.post("/api/tasks", &body).await;
        client.rest(&text(&made["id"])).await
    };
    assert_eq!(run("note_of_today").await["waits"][0]["details"]["asked"][0], "number");
    let failed = run("insurance").await;
    assert_eq!(failed["status"], "failed", "{failed}");
    assert!(failed.to_string().contains("/schema/name") && failed.to_string().contains("VALIDATION_ERROR"), "{failed}");
}

#[tokio::test]
async fn two_tenants_read_alike_papers_each_by_its_own_schema() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let tenant = client.post("/api/admin/tenants", &json!({"name": "Second yard"})).await;
    let other = client.with_key(&text(&tenant["adminKey"]));
    client.post("/api/plans", &plan()).await;
    let narrower = changed(|schema| schema["fields"][0]["pattern"] = json!("DN-2026-[0-9]{4}"));
    other.post("/api/plans", &narrower).await;
    for n in 1..3 {
        assert_eq!(deliver(&client, n, |mail| mail).await["status"], "completed");
        let asked = deliver(&other, n, |mail| mail).await;
        assert_eq!(asked["waits"][0]["details"]["asked"], json!(["number"]), "{asked}");
        let read = deliver(&other, n + 10, |mail| mail.replace("004711", "0471")).await;
        assert_eq!(read["result"]["number"], "DN-2026-0471", "{read}");
    }
}

#[tokio::test]
async fn the_example_of_the_documentation_runs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-schemas.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, written) = page.split_once("```json\n").unwrap();
    let plan: Value = serde_json::from_str(written.split_once("```").unwrap().0).unwrap();
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    client.post("/api/plans", &plan).await;
    let sheet = "Zählernummer: KL-40718\nRead on: March 4, 2026\nRead by: Ada Moor\n\n\
                 Register      Stand\nR1-80         20417\nR2-80          1180\n";
    let body = json!({"channel": "api", "planKey": plan["key"], "input": sheet});
    let made = client.post("/api/tasks", &body).await;
    let task = client.rest(&text(&made["id"])).await;
    let registers = json!([{"register": "R1-80", "reading": 20417}, {"register": "R2-80", "reading": 1180}]);
    let read = json!({"meter": "KL-40718", "read_on": "2026-03-04", "reader": "Ada Moor", "registers": registers});
    assert_eq!(task["result"], read, "{task}");
}
