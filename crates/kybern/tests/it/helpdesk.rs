//! The helpdesk: its demonstration, one ticket for a message however often it comes, and tickets of two tenants.

use std::path::Path;

use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::{Client, Site};

/// A message of the samples.
fn sample(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/helpdesk").join(name)).unwrap()
}

fn site() -> Site {
    on(Site::sqlite())
}

fn on(site: Site) -> Site {
    site.with("KYBERN_PACKS__DOMAINS", r#"["helpdesk"]"#)
}

async fn deliver(client: &Client, mail: Vec<u8>) -> Value {
    let taken = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", mail)).await;
    client.rest(&text(&taken["taskId"])).await
}

async fn tickets(client: &Client) -> Vec<Value> {
    client.list("/api/records/helpdesk.ticket").await
}

#[test]
fn the_demo_shows_what_a_helpdesk_does() {
    let site = Site::sqlite();
    let output = site.command(&["demo", "helpdesk", "--dir", "demo"]).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{out}{}", String::from_utf8_lossy(&output.stderr));
    let rows = |part: &str| out.lines().filter(|line| line.contains(part)).count();
    for (part, expected) in [
        ("helpdesk.incident with confidence", 5),
        ("opened a ticket", 6),
        ("found the open ticket", 1),
        ("the same message is one task, nothing is done twice", 1),
        ("no intent matches this message", 2),
        ("reads the reply, and says yes", 1),
        ("6 tickets of 9 messages", 1),
        ("2 of 2 finished tasks replayed", 1),
        ("unbroken", 1),
        ("KYBERN_PACKS__DOMAINS='[\"helpdesk\"]' kybern --database", 1),
    ] {
        assert_eq!(rows(part), expected, "{part} in:\n{out}");
    }
    let row = |begin: &str, parts: &[&str]| {
        let found = out.lines().any(|line| line.starts_with(begin) && parts.iter().all(|part| line.contains(part)));
        assert!(found, "{begin} {parts:?} in:\n{out}");
    };
    row("HD-", &["escalated", "critical", "desk@bluefern.example"]);
    row("HD-", &["answered", "office@bluefern.example"]);
    row("office@bluefern.example", &["kept", "Re: How do I set up an automatic reply?"]);
    row("01-outage.eml", &["confirmation", "helpdesk.send_reply would go to"]);
    row("07-text-message.txt", &["review", "5125550142"]);
}

#[test]
fn the_demo_of_a_domain_has_no_crashes() {
    let output = Site::sqlite().command(&["demo", "helpdesk", "--crash"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

async fn one_message_makes_one_ticket(site: Site) {
    let server = site.start();
    let client = server.client();
    let first = deliver(&client, sample("01-outage.eml")).await;
    assert_eq!((&first["status"], &first["waits"][0]["kind"]), (&json!("needs_review"), &json!("confirmation")));
    let again = deliver(&client, sample("01-outage.eml")).await;
    assert_eq!(again["id"], first["id"], "the same mail is one task");
    let twice = deliver(&client, sample("05-outage-sent-again.eml")).await;
    assert_eq!((&twice["status"], &twice["result"]["ticket_is_new"]), (&json!("completed"), &json!(false)), "{twice}");
    let ticket = tickets(&client).await.remove(0);
    assert_eq!(ticket["props"]["tasks"], json!([first["id"], twice["id"]]));
    assert_eq!((tickets(&client).await.len(), &ticket["props"]["status"]), (1, &json!("escalated")));
    // The receipt leaves with a yes, and what answers it finds the ticket.
    let sent = client.review(&first, &json!({"corrections": {}})).await;
    assert_eq!(client.rest(&text(&sent["id"])).await["status"], "completed");
    let threads = tickets(&client).await.remove(0)["props"]["threads"].as_array().unwrap().clone();
    let receipt = text(threads.last().unwrap());
    assert!(receipt.ends_with("@kybern.invalid"), "{receipt}");
    let answer = String::from_utf8(sample("02-printer.eml")).unwrap();
    let answer = answer.replace("warehouse@", "desk@").replace("MIME-", &format!("In-Reply-To: <{receipt}>\r\nMIME-"));
    let answered = deliver(&client, answer.into_bytes()).await;
    assert_eq!(answered["result"]["ticket_id"], ticket["id"], "{answered}");
    // Its requester's dossier has it.
    let found = client.get("/api/entities?name=Desk@bluefern.example").await;
    let dossier = client.get(&format!("/api/entities/{}/dossier", text(&found["items"][0]["id"]))).await;
    assert_eq!(dossier["state"]["helpdesk"]["open_tickets"]["count"], 1, "{dossier}");
    client.replays(&text(&twice["id"])).await;
}

#[tokio::test]
async fn one_message_makes_one_ticket_on_sqlite() {
    one_message_makes_one_ticket(site()).await;
}

#[tokio::test]
async fn one_message_makes_one_ticket_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    one_message_makes_one_ticket(on(site)).await;
}

#[tokio::test]
async fn the_ticket_of_another_tenant_is_not_there() {
    let site = site();
    let server = site.start();
    let client = server.client();
    let tenant = client.post("/api/admin/tenants", &json!({"name": "Second desk"})).await;
    let other = client.with_key(&text(&tenant["adminKey"]));
    deliver(&client, sample("01-outage.eml")).await;
    assert_eq!(tickets(&other).await, [] as [Value; 0]);
    let ticket = tickets(&client).await.remove(0);
    let input = json!({"input": {"ticket_id": ticket["id"], "reason": "curiosity"}});
    let tool = "/api/tools/helpdesk.escalate/invoke?waitMs=30000";
    let (_, refused) = other.send(&Ask::json(tool, &input)).await;
    assert!(refused.to_string().contains("there is no ticket"), "{refused}");
    // The same mail is a ticket of its own there, whose words count only its own requester's tickets.
    let task = deliver(&other, sample("01-outage.eml")).await;
    assert_eq!(task["state"]["ticket_is_new"], true, "{task}");
    assert_eq!((tickets(&other).await.len(), tickets(&client).await.len()), (1, 1));
    assert_eq!(tickets(&client).await.remove(0), ticket);
}

#[tokio::test]
async fn a_server_works_in_the_domains_that_its_settings_name() {
    let usual = Site::sqlite();
    let server = usual.start();
    let (client, name) = (server.client(), |plan: &Value| text(&plan["key"]));
    let plans: Vec<String> = client.list("/api/plans").await.iter().map(name).collect();
    let has = |plans: &[String], domain: &str| plans.iter().any(|plan| plan.starts_with(domain));
    assert!(has(&plans, "insurance.") && has(&plans, "freight.") && !has(&plans, "helpdesk."), "{plans:?}");
    let site = site();
    let server = site.start();
    let plans: Vec<String> = server.client().list("/api/plans").await.iter().map(name).collect();
    assert!(has(&plans, "helpdesk.") && has(&plans, "general_") && !has(&plans, "insurance."), "{plans:?}");
    let refused = Site::sqlite().with("KYBERN_PACKS__DOMAINS", r#"["helpdsk"]"#).try_start().err().unwrap();
    assert!(refused.contains("packs.domains") && refused.contains("is none of insurance"), "{refused}");
}
