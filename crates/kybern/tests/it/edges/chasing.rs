//! A loss-run request to its end, with a real mail server: sent, chased twice, answered by mail, filed, closed, while the
//! process is killed again and again.

use serde_json::{Value, json};

use super::mail::{Post, mailbox};
use crate::server::client::{Ask, text, until};
use crate::server::{Client, Server, Site};

const WISH: &str = "From: Kim Larch <kim@oakbendhaulage.example>\r\nTo: in@example.com\r\nMessage-ID: <1@mail.example>\r\n\
                    Subject: Loss runs\r\n\r\nHello,\r\n\r\nplease order loss runs for Oak Bend Haulage LLC, DOT 9228815.\r\n\
                    \r\nPolicy number: HPM-93318\r\nInsurance company: Harrow Plains Mutual\r\n\r\nThank you\r\nKim Larch\r\n";

/// The days between reminders, in this test.
const WAIT_MS: u64 = 1500;

async fn request(client: &Client) -> Value {
    client.list("/api/records/insurance.loss_run_request").await.remove(0)
}

/// Waits until that many mails to the insurer have left.
async fn left(client: &Client, desk: &str, count: usize) {
    until("the mails have left", || async {
        let outbox = client.list("/api/outbox").await;
        let sent = outbox.iter().filter(|mail| mail["target"] == desk && mail["status"] == "sent").count();
        (sent >= count).then_some(())
    })
    .await;
}

/// The mails that came to the insurer, as its own server has read them.
async fn arrived(insurer: &Client, count: usize) -> Vec<Value> {
    until("the insurer has its mails", || async {
        let tasks = insurer.list("/api/tasks").await;
        (tasks.len() >= count).then_some(tasks)
    })
    .await
}

fn today() -> String {
    crate::storm::now()[..10].to_owned()
}

/// An answer with a paper, as the desk's program writes it.
fn answer(n: u32, (from, to): (&str, &str), token: &str, insurer: &str) -> String {
    let paper = format!(
        "LOSS RUN REPORT\r\n\r\nInsurance company: {insurer}\r\nNamed insured: Oak Bend Haulage LLC\r\n\
         Policy number: HPM-93318\r\nValuation date: {}\r\n\r\nNo losses reported.\r\n",
        today()
    );
    let domain = from.split('@').next_back().unwrap();
    format!(
        "Authentication-Results: mx.kit.test; dmarc=pass header.from={domain}\r\nFrom: Loss Desk <{from}>\r\nTo: {to}\r\nMessage-ID: <{n}@desk.example>\r\n\
         Subject: RE: Loss run request {token}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=cut\r\n\r\n\
         --cut\r\nContent-Type: text/plain\r\n\r\nPlease find attached the loss runs that you requested.\r\n\
         --cut\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=\"loss-run.txt\"\r\n\r\n{paper}\
         --cut--\r\n"
    )
}

/// Kills the server, and starts it again at the same place.
fn again(server: &mut Server, site: &Site) -> Client {
    server.kill();
    *server = site.start();
    server.client()
}

/// Hands in an answer over the API, and waits until it has ended or asks.
async fn answered(client: &Client, raw: String) -> Value {
    let received = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", raw)).await;
    client.rest(&text(&received["taskId"])).await
}

async fn a_request_is_sent_chased_answered_and_closed(place: Site, name: &str) {
    let Some(post) = Post::office() else { return };
    let (desk, intake) = (mailbox(&format!("desk-{name}")), mailbox(&format!("agency-{name}")));
    let (site, insurers) = (
        post.on(place.with("KYBERN_INTAKE__TRUSTED_AUTHSERV", "mx.kit.test"), &intake),
        post.on(Site::sqlite(), &desk),
    );
    let (mut server, insurer) = (site.start(), insurers.start());
    let client = server.client();
    let wish = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", WISH)).await;
    assert_eq!(client.rest(&text(&wish["taskId"])).await["status"], "completed");
    let draft = request(&client).await;
    let input = json!({"input": {
        "request_id": draft["id"], "version": draft["version"], "to": desk, "chase_after_days": 0
    }});
    let sent = client.post("/api/tools/insurance.send_loss_run_request/invoke?waitMs=30000", &input).await;
    assert_eq!((&sent["status"], &sent["output"]["chase_task_id"]), (&json!("success"), &Value::Null), "{sent}");

    // What is killed while a mail is handed over is not sent again: that is another test.
    left(&client, &desk, 1).await;
    let payload = json!({"request_id": draft["id"], "wait_ms": WAIT_MS});
    let chase = json!({"input": "", "planKey": "insurance.loss_run_chase_pipeline", "payload": payload});
    let chase = text(&client.ok(&Ask::json("/api/tasks", &chase)).await["id"]);
    let client = again(&mut server, &site);
    left(&client, &desk, 2).await;
    let client = {
        drop(client);
        again(&mut server, &site)
    };
    let task = client.rest(&chase).await;
    assert_eq!((&task["status"], &task["waits"][0]["stepId"]), (&json!("needs_review"), &json!("hand_over")), "{task}");
    assert!(text(&task["waits"][0]["reason"]).contains("HPM-93318; reminders: 2."), "{task}");
    let mails = arrived(&insurer.client(), 3).await;
    assert_eq!(mails.len(), 3, "the request and two reminders, each once: {mails:?}");
    let asked = request(&client).await;
    let ids = asked["props"]["message_ids"].as_array().unwrap().clone();
    let newest = insurer.client().get(&format!("/api/tasks/{}", text(&mails[0]["id"]))).await;
    assert_eq!(newest["payload"]["inReplyTo"], ids[1], "in the thread of the mail before: {newest}");

    let token = format!("[Request:{}]", text(&draft["id"]));
    let forged = answer(2, ("desk@harrow-plains-claims.example", &intake), &token, "Harrow Plains Mutual");
    let forged = answered(&client, forged).await;
    assert_eq!(forged["waits"][0]["title"], "Is this the insurer's answer?", "{forged}");
    let refused = client.review(&forged, &json!({"corrections": {"answer_confirmed": false}})).await;
    assert_eq!(refused["status"], "completed", "nobody is asked twice: {refused}");
    let unverified = answer(5, (&desk, &intake), &token, "Harrow Plains Mutual");
    let unverified = answered(&client, unverified.replace("dmarc=pass", "dmarc=none")).await;
    assert_eq!(unverified["waits"][0]["title"], "Are these the loss runs?", "{unverified}");
    let other = answered(&client, answer(3, (&desk, &intake), &token, "Cobalt Harbor Casualty Company")).await;
    assert_eq!(other["waits"][0]["title"], "Are these the loss runs?", "{other}");
    let id = text(&draft["id"]);
    let declined = json!({"corrections": {"loss_runs_of": {id: []}}});
    assert_eq!(client.review(&other, &declined).await["status"], "completed");
    assert_eq!(request(&client).await["props"]["status"], "requested", "neither closes the request");

    post.send(&intake, answer(4, (&desk, &intake), &token, "Harrow Plains Mutual").as_bytes());
    let mut client = client;
    for _ in 0..3 {
        crate::server::client::pause(std::time::Duration::from_millis(700)).await;
        client = again(&mut server, &site);
    }
    let closed = until("the request is closed", || async {
        let request = request(&client).await;
        (request["props"]["status"] == "closed").then_some(request)
    })
    .await;
    let runs = closed["props"]["loss_runs"].as_array().unwrap();
    assert_eq!((runs.len(), &runs[0]["valuation_date"]), (1, &json!(today())), "{closed}");
    let said = closed["props"]["correspondence"].as_array().unwrap();
    let said: Vec<&Value> = said.iter().map(|entry| &entry["what"]).collect();
    assert_eq!(said, ["asked", "chased", "chased", "answered"], "{closed}");
    let deal = client.list("/api/records/insurance.deal").await.remove(0);
    assert_eq!(deal["props"]["stage"], "in_progress");
    assert_eq!(arrived(&insurer.client(), 3).await.len(), 3, "nothing more was sent to the insurer");
    client.audit_is_whole().await;
}

#[tokio::test]
async fn a_request_is_sent_chased_answered_and_closed_on_sqlite() {
    a_request_is_sent_chased_answered_and_closed(Site::sqlite(), "sqlite").await;
}

#[tokio::test]
async fn a_request_is_sent_chased_answered_and_closed_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_request_is_sent_chased_answered_and_closed(site, "postgres").await;
}
