//! Papers that no pack knows, read by a schema that the plan brings itself.

use std::path::Path;

use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::{Client, Site};

/// A file of the examples, as a newcomer runs them.
fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(examples.join(name)).unwrap()
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
