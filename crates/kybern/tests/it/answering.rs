//! An insurer's answer finds the request that it answers: by the thread of the mail that asked, and by a person's word
//! where it only names the policy.

use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::{Client, Site};

const CUSTOMER: &str = "From: Kim Larch <kim@oakbendhaulage.example>\r\n";
const INSURER: &str = "From: Loss Desk <desk@harrowplains.example>\r\n";

/// Hands in a mail, and waits until it has ended or asks.
async fn mail(client: &Client, n: u32, headers: &str, (subject, body): (&str, &str)) -> Value {
    let raw = format!(
        "Message-ID: <{n}@mail.example.com>\r\n{headers}To: in@example.com\r\nSubject: {subject}\r\n\r\n{body}\r\n"
    );
    let received = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", raw)).await;
    client.rest(&text(&received["taskId"])).await
}

async fn requests(client: &Client) -> Vec<Value> {
    client.list("/api/records/insurance.loss_run_request").await
}

/// A wish for loss runs of a policy with this insurer, which makes a request.
fn wish(number: &str, insurer: &str) -> String {
    format!(
        "Hello,\r\n\r\nplease order loss runs for Oak Bend Haulage LLC, DOT 9228815.\r\n\r\nPolicy number: {number}\r\n\
         Insurance company: {insurer}\r\n\r\nThank you\r\nKim Larch"
    )
}

const ANSWER: &str = "Hello,\r\n\r\nPlease find attached the loss runs that you requested. There are no losses on record \
                      for policy number HPM-93318.\r\n\r\nLoss Desk";

/// What the step that looks for the request has found.
async fn answered(client: &Client, task: &Value) -> Value {
    client.get(&format!("/api/tasks/{}", text(&task["id"]))).await["state"]["request_ids"].clone()
}

async fn an_answer_in_the_thread_of_a_sent_request_finds_it(site: Site) {
    let server = site.start();
    let client = server.client();
    let asked = mail(&client, 1, CUSTOMER, ("Loss runs", &wish("HPM-93318", "Harrow Plains Mutual"))).await;
    assert_eq!(asked["status"], "completed", "{asked}");
    let request = requests(&client).await.remove(0);
    assert_eq!(request["props"]["status"], "draft", "{request}");

    // Without the thread and the token it is a question, as long as the request is open.
    let loose = mail(&client, 2, INSURER, ("Loss runs HPM-93318", ANSWER)).await;
    assert_eq!(loose["waits"][0]["title"], "Is this the answer to the request?", "{loose}");
    let candidate = &loose["waits"][0]["details"]["candidates"][0];
    assert_eq!((&candidate["id"], &candidate["doubts"]), (&request["id"], &json!([])), "{loose}");
    let chosen = client.review(&loose, &json!({"corrections": {"answered_request": request["id"]}})).await;
    assert_eq!(answered(&client, &chosen).await, json!([request["id"]]));

    let input = json!({"input": {"request_id": request["id"], "to": "desk@harrowplains.example"}});
    let tool = "/api/tools/insurance.send_loss_run_request/invoke?waitMs=30000";
    let sent = client.post(tool, &input).await;
    assert_eq!(sent["status"], "success", "{sent}");
    let request = requests(&client).await.remove(0);
    assert_eq!(request["props"]["status"], "requested");
    let (_, again) = client.send(&Ask::json(tool, &input)).await;
    assert_ne!(again["status"], "success", "nothing is sent twice: {again}");
    let message = text(&request["props"]["message_ids"][0]);
    let outbox = client.list("/api/outbox").await;
    let own: Vec<&Value> = outbox.iter().filter(|mail| message.starts_with(&text(&mail["id"]))).collect();
    assert_eq!((own.len(), &own[0]["target"]), (1, &json!("desk@harrowplains.example")), "{outbox:?}");

    let thread = format!("{INSURER}In-Reply-To: <{message}>\r\nReferences: <{message}>\r\n");
    let found = mail(&client, 3, &thread, ("RE: Loss runs", ANSWER)).await;
    assert_eq!(found["waits"][0]["stepId"], "hand_over", "{found}");
    assert_eq!(answered(&client, &found).await, json!([request["id"]]), "{found}");
    let ended = client.review(&chosen, &json!({"corrections": {"handled": true}})).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    client.replays(&text(&ended["id"])).await;
    client.audit_is_whole().await;
}

#[tokio::test]
async fn an_answer_in_the_thread_of_a_sent_request_finds_it_on_sqlite() {
    an_answer_in_the_thread_of_a_sent_request_finds_it(Site::sqlite()).await;
}

#[tokio::test]
async fn an_answer_in_the_thread_of_a_sent_request_finds_it_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    an_answer_in_the_thread_of_a_sent_request_finds_it(site).await;
}

/// The tenant knows this insurer.
async fn know(client: &Client, insurer: &str) {
    let input = json!({"input": {"insurer_name": insurer, "create": true}});
    let made = client.post("/api/tools/network.resolve_insurer/invoke?waitMs=30000", &input).await;
    assert_eq!(made["output"]["insurer_found"], true, "{made}");
}

async fn an_insurer_with_a_slip_of_the_pen_is_asked_about(site: Site) {
    let server = site.start();
    let client = server.client();
    know(&client, "Harrow Plains Mutual").await;
    let asked = mail(&client, 1, CUSTOMER, ("Loss runs", &wish("HPM-93318", "Harow Plains Mutual"))).await;
    assert_eq!(asked["waits"][0]["title"], "Which insurer?", "{asked}");
    let policy = &asked["waits"][0]["details"]["policies"][0];
    assert_eq!(policy["candidates"][0]["name"], "Harrow Plains Mutual", "{asked}");
    assert!(requests(&client).await.is_empty());
    let answer = json!({"corrections": {"policy_insurers": {"HPM-93318": "Harrow Plains Mutual"}}});
    assert_eq!(client.review(&asked, &answer).await["status"], "completed");
    let request = requests(&client).await.remove(0);
    assert_eq!(request["props"]["insurer_entity_id"], policy["candidates"][0]["id"], "{request}");
    client.replays(&text(&asked["id"])).await;
}

#[tokio::test]
async fn an_insurer_with_a_slip_of_the_pen_is_asked_about_on_sqlite() {
    an_insurer_with_a_slip_of_the_pen_is_asked_about(Site::sqlite()).await;
}

#[tokio::test]
async fn an_insurer_with_a_slip_of_the_pen_is_asked_about_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    an_insurer_with_a_slip_of_the_pen_is_asked_about(site).await;
}
