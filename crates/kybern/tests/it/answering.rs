//! An insurer's answer finds the request that it answers: by the thread of the mail that asked, and by a person's word
//! where it only names the policy. What people say of insurers' names and addresses is learned.

use serde_json::{Value, json};

use crate::server::client::{Ask, text, until};
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

    let input = json!({"input": {
        "request_id": request["id"], "version": request["version"], "to": "desk@harrowplains.example"
    }});
    let tool = "/api/tools/insurance.send_loss_run_request/invoke?waitMs=30000";
    let sent = client.post(tool, &input).await;
    assert_eq!(sent["status"], "success", "{sent}");
    let request = requests(&client).await.remove(0);
    assert_eq!(request["props"]["status"], "requested");
    let (_, again) = client.send(&Ask::json(tool, &input)).await;
    assert_ne!(again["status"], "success", "nothing is sent twice: {again}");
    let chase = client.get(&format!("/api/tasks/{}", text(&sent["output"]["chase_task_id"]))).await;
    let week = json!({"request_id": request["id"], "wait_ms": 7 * 24 * 60 * 60 * 1000});
    let plan = json!("insurance.loss_run_chase_pipeline");
    assert_eq!((&chase["selectedPlan"], &chase["payload"]), (&plan, &week), "{chase}");
    let message = text(&request["props"]["message_ids"][0]);
    let outbox = client.list("/api/outbox").await;
    let own: Vec<&Value> = outbox.iter().filter(|mail| message.starts_with(&text(&mail["id"]))).collect();
    assert_eq!((own.len(), &own[0]["target"]), (1, &json!("desk@harrowplains.example")), "{outbox:?}");

    let thread = format!("{INSURER}In-Reply-To: <{message}>\r\nReferences: <{message}>\r\n");
    let found = mail(&client, 3, &thread, ("RE: Loss runs", ANSWER)).await;
    assert_eq!(found["waits"][0]["stepId"], "file", "no paper came with it: {found}");
    assert_eq!(answered(&client, &found).await, json!([request["id"]]), "{found}");
    let nothing = json!({"corrections": {"loss_runs_of": {text(&request["id"]): []}}});
    let ended = client.review(&chosen, &nothing).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    client.replays(&text(&ended["id"])).await;

    // Few words are an answer where they stand in that thread, and mean nothing elsewhere.
    let few = ("RE: your message", "Sorry for the delay, please find it below.\r\n\r\nLoss Desk");
    assert_ne!(mail(&client, 4, INSURER, few).await["detectedIntent"], "insurance.loss_run_reply");
    let found = mail(&client, 5, &thread, few).await;
    assert_eq!(found["detectedIntent"], "insurance.loss_run_reply", "{found}");
    assert_eq!(answered(&client, &found).await, json!([request["id"]]));
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

/// A request that was sent by mail, and the `Message-ID` of that mail.
async fn sent_request(client: &Client) -> (Value, String) {
    mail(client, 1, CUSTOMER, ("Loss runs", &wish("HPM-93318", "Harrow Plains Mutual"))).await;
    let draft = requests(client).await.remove(0);
    let input = json!({"input": {
        "request_id": draft["id"], "version": draft["version"], "to": "desk@harrowplains.example"
    }});
    let sent = client.post("/api/tools/insurance.send_loss_run_request/invoke?waitMs=30000", &input).await;
    assert_eq!(sent["status"], "success", "{sent}");
    let request = requests(client).await.remove(0);
    let message = text(&request["props"]["message_ids"][0]);
    (request, message)
}

async fn an_automatic_reply_in_the_thread_is_no_answer(site: Site) {
    let server = site.start();
    let client = server.client();
    let (request, message) = sent_request(&client).await;
    let thread = format!("{INSURER}In-Reply-To: <{message}>\r\nReferences: <{message}>\r\n");
    let away = "I am out of the office until Monday. For loss runs please write to service@harrowplains.example.\r\n\r\n\
                Loss Desk";
    for (n, mark) in [(2, "Auto-Submitted: auto-replied\r\n"), (3, "Precedence: auto_reply\r\n")] {
        let headers = format!("{thread}{mark}");
        let found = mail(&client, n, &headers, ("Out of office", away)).await;
        assert_eq!(found["detectedIntent"], "general_instruction", "{found}");
        assert_eq!(answered(&client, &found).await, Value::Null, "{found}");
    }
    assert_eq!(requests(&client).await[0]["version"], request["version"], "nothing of it changes the request");
    // What a person writes there is one.
    let found = mail(&client, 4, &thread, ("RE: your message", "Sorry for the delay, please find it below.")).await;
    assert_eq!(answered(&client, &found).await, json!([request["id"]]), "{found}");
    client.audit_is_whole().await;
}

#[tokio::test]
async fn an_automatic_reply_in_the_thread_is_no_answer_on_sqlite() {
    an_automatic_reply_in_the_thread_is_no_answer(Site::sqlite()).await;
}

#[tokio::test]
async fn an_automatic_reply_in_the_thread_is_no_answer_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    an_automatic_reply_in_the_thread_is_no_answer(site).await;
}

async fn where_a_relay_changed_the_id_of_our_mail_the_token_is_left(site: Site) {
    let server = site.start();
    let client = server.client();
    let (request, _) = sent_request(&client).await;
    let thread = format!("{INSURER}In-Reply-To: <9f31@relay.example.net>\r\nReferences: <9f31@relay.example.net>\r\n");
    let token = format!("[Request:{}]", text(&request["id"]));
    let few = "Sorry for the delay, please find it below.\r\n\r\nLoss Desk";
    let subject = format!("RE: Loss run request: HPM-93318 {token}");
    let quoted = format!("{few}\r\n\r\nOn Monday, Example Agency wrote:\r\n> Policy number: HPM-93318\r\n> {token}");
    for (n, (subject, body)) in [(2, (subject.as_str(), few)), (3, ("RE: your message", quoted.as_str()))] {
        let found = mail(&client, n, &thread, (subject, body)).await;
        assert_eq!(found["detectedIntent"], "insurance.loss_run_reply", "{found}");
        assert_eq!(answered(&client, &found).await, json!([request["id"]]), "{found}");
    }
    // Without it nothing says which request is meant.
    let lost = mail(&client, 4, &thread, ("RE: your message", few)).await;
    assert_eq!(answered(&client, &lost).await, Value::Null, "{lost}");
    client.audit_is_whole().await;
}

#[tokio::test]
async fn where_a_relay_changed_the_id_of_our_mail_the_token_is_left_on_sqlite() {
    where_a_relay_changed_the_id_of_our_mail_the_token_is_left(Site::sqlite()).await;
}

#[tokio::test]
async fn where_a_relay_changed_the_id_of_our_mail_the_token_is_left_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    where_a_relay_changed_the_id_of_our_mail_the_token_is_left(site).await;
}

async fn a_letter_of_authority_goes_along_with_the_request(site: Site) {
    let server = site.start();
    let client = server.client();
    let letter = "LETTER OF AUTHORIZATION\r\n\r\nWe hereby authorize Example Agency to request and receive our loss \
                  runs, and our insurers to release loss information to it.\r\n\r\nKim Larch, Oak Bend Haulage LLC";
    let part = |headers: &str, text: &str| format!("--cut\r\nContent-Type: text/plain\r\n{headers}\r\n{text}\r\n");
    let body = format!(
        "{}{}--cut--",
        part("", &wish("HPM-93318", "Harrow Plains Mutual")),
        part("Content-Disposition: attachment; filename=\"loa.txt\"\r\n", letter)
    );
    let headers = format!("{CUSTOMER}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=cut\r\n");
    let asked = mail(&client, 1, &headers, ("Loss runs", &body)).await;
    assert_eq!(asked["status"], "completed", "{asked}");
    let draft = requests(&client).await.remove(0);
    let listed = &draft["props"]["attachments"];
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["filename"]), (Some(1), &json!("loa.txt")), "{draft}");
    let input = json!({"input": {
        "request_id": draft["id"], "version": draft["version"], "to": "desk@harrowplains.example"
    }});
    let sent = client.post("/api/tools/insurance.send_loss_run_request/invoke?waitMs=30000", &input).await;
    assert_eq!((&sent["status"], &sent["output"]["attached_count"]), (&json!("success"), &json!(1)), "{sent}");
    let outbox = client.list("/api/outbox").await;
    let own = outbox.iter().find(|mail| mail["id"] == sent["output"]["outbox_id"]).unwrap();
    assert_eq!(own["body"]["attachments"][0]["hash"], listed[0]["hash"], "{own}");
}

#[tokio::test]
async fn a_letter_of_authority_goes_along_with_the_request_on_sqlite() {
    a_letter_of_authority_goes_along_with_the_request(Site::sqlite()).await;
}

#[tokio::test]
async fn a_letter_of_authority_goes_along_with_the_request_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_letter_of_authority_goes_along_with_the_request(site).await;
}

async fn a_request_without_lookups_is_found_by_its_policy(site: Site) {
    let server = site.start();
    let client = server.client();
    // As requests were before they could be found by their policies.
    let input = json!({"input": {"kind": "insurance.loss_run_request", "key": "deal:1:name:harrow plains", "props": {
        "deal_id": "1", "entity_id": "2", "insurer": "Harrow Plains Mutual", "status": "requested",
        "policy_numbers": ["HPM 93318"], "lines": []
    }}});
    let made = client.post("/api/tools/core.put_record/invoke?waitMs=30000", &input).await;
    assert_eq!(made["status"], "success", "{made}");
    let newer = mail(&client, 1, CUSTOMER, ("Loss runs", &wish("HPM-44001", "Harrow Plains Mutual"))).await;
    assert_eq!(newer["status"], "completed", "{newer}");
    let loose = mail(&client, 2, INSURER, ("Loss runs HPM-93318", ANSWER)).await;
    let candidates = loose["waits"][0]["details"]["candidates"].as_array().unwrap();
    assert_eq!((candidates.len(), &candidates[0]["id"]), (1, &made["output"]["record_id"]), "{loose}");
}

#[tokio::test]
async fn a_request_without_lookups_is_found_by_its_policy_on_sqlite() {
    a_request_without_lookups_is_found_by_its_policy(Site::sqlite()).await;
}

#[tokio::test]
async fn a_request_without_lookups_is_found_by_its_policy_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_request_without_lookups_is_found_by_its_policy(site).await;
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

/// The one suggestion, once there is one.
async fn suggested(client: &Client) -> Value {
    until("a lesson is suggested", || async {
        let all = client.list("/api/lessons?status=suggested").await;
        assert!(all.len() < 2, "{all:?}");
        all.into_iter().next()
    })
    .await
}

async fn decide(client: &Client, lesson: &Value, act: &str) -> Value {
    client.post(&format!("/api/lessons/{}/{act}", text(&lesson["id"])), &json!({})).await
}

async fn preview(client: &Client, lesson: &Value) -> Value {
    client.get(&format!("/api/lessons/{}/preview", text(&lesson["id"]))).await
}

async fn another_tenant(client: &Client) -> Client {
    let tenant = client.post("/api/admin/tenants", &json!({"name": "Second agency"})).await;
    client.with_key(&text(&tenant["adminKey"]))
}

async fn another_spelling_of_an_insurer_is_learned(site: Site) {
    let server = site.start();
    let client = server.client();
    let other = another_tenant(&client).await;
    for tenant in [&client, &other] {
        know(tenant, "Harrow Plains Mutual").await;
    }
    let slip = |number: &str| wish(number, "Harow Plains Mutual");
    let asked = mail(&client, 1, CUSTOMER, ("Loss runs", &slip("HPM-93318"))).await;
    let early = mail(&client, 2, CUSTOMER, ("Loss runs", &slip("HPM-93319"))).await;
    let answer = json!({"corrections": {"policy_insurers": {"HPM-93318": "Harrow Plains Mutual"}}});
    assert_eq!(client.review(&asked, &answer).await["status"], "completed");
    let lesson = suggested(&client).await;
    let taught = ["kind", "schema", "field", "label", "value"].map(|name| text(&lesson[name]));
    let spelling = ["spelling", "insurance", "policies/insurer", "harow plains mutual", "Harrow Plains Mutual"];
    assert_eq!(taught, spelling, "{lesson}");
    assert_eq!(lesson["source"]["taskId"], asked["id"]);
    let shown = preview(&client, &lesson).await;
    let own = shown["changed"].as_array().unwrap().iter().find(|mail| mail["taskId"] == asked["id"]).unwrap();
    let insurer = |side: &str| own[side]["fields"]["policies/insurer"][0]["value"].clone();
    assert_eq!((insurer("without"), insurer("with")), (json!("Harow Plains Mutual"), json!("Harrow Plains Mutual")));

    let accepted = decide(&client, &lesson, "accept").await;
    let next = mail(&client, 3, CUSTOMER, ("Loss runs", &slip("HPM-93320"))).await;
    assert_eq!(next["status"], "completed", "{next}");
    assert!(requests(&client).await.iter().all(|request| request["props"]["insurer"] == "Harrow Plains Mutual"));
    client.replays(&text(&next["id"])).await;
    let still = client.rest(&text(&early["id"])).await;
    assert_eq!(still["waits"][0]["title"], "Which insurer?", "what came before waits on: {still}");
    let foreign = mail(&other, 4, CUSTOMER, ("Loss runs", &slip("HPM-93318"))).await;
    assert_eq!(foreign["waits"][0]["title"], "Which insurer?", "no other tenant has learned it: {foreign}");
    assert!(other.list("/api/lessons").await.is_empty());
    decide(&client, &accepted, "withdraw").await;
    let after = mail(&client, 5, CUSTOMER, ("Loss runs", &wish("HPM-93321", "Harow Plains Mutual"))).await;
    assert_eq!(after["waits"][0]["title"], "Which insurer?", "{after}");
    // The code of another insurer counts before the lesson, and so the preview does not promise otherwise.
    let input = json!({"input": {"insurer_name": "Blue Heron Assurance", "naic_number": "99101", "create": true}});
    client.post("/api/tools/network.resolve_insurer/invoke?waitMs=30000", &input).await;
    let coded = wish("HPM-93322", "Harow Plains Mutual\r\nNAIC: 99101");
    let coded = mail(&client, 6, CUSTOMER, ("Loss runs", &coded)).await;
    let read = client.get(&format!("/api/tasks/{}", text(&coded["id"]))).await["state"]["extractions"].to_string();
    assert!(read.contains("Harow Plains Mutual") && read.contains("99101"), "{read}");
    let shown = preview(&client, &lesson).await;
    let changed: Vec<&Value> = shown["changed"].as_array().unwrap().iter().map(|mail| &mail["taskId"]).collect();
    assert!(changed.contains(&&asked["id"]) && !changed.contains(&&coded["id"]), "{shown}");
    client.audit_is_whole().await;
}

#[tokio::test]
async fn another_spelling_of_an_insurer_is_learned_on_sqlite() {
    another_spelling_of_an_insurer_is_learned(Site::sqlite()).await;
}

#[tokio::test]
async fn another_spelling_of_an_insurer_is_learned_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    another_spelling_of_an_insurer_is_learned(site).await;
}

const STRANGER: &str = "From: Lee Moss <lee@hearthadjusters.example>\r\n";

async fn an_address_that_answers_for_an_insurer_is_learned(site: Site) {
    let server = site.start();
    let client = server.client();
    let other = another_tenant(&client).await;
    for tenant in [&client, &other] {
        mail(tenant, 1, CUSTOMER, ("Loss runs", &wish("HPM-93318", "Harrow Plains Mutual"))).await;
    }
    let request = text(&requests(&client).await[0]["id"]);
    let subject = format!("RE: Loss runs [Request:{request}]");
    let asked = mail(&client, 2, STRANGER, (&subject, ANSWER)).await;
    assert_eq!(asked["waits"][0]["title"], "Is this the insurer's answer?", "{asked}");
    client.review(&asked, &json!({"corrections": {"answer_confirmed": true}})).await;
    let lesson = suggested(&client).await;
    let taught = ["kind", "address", "company"].map(|name| text(&lesson[name]));
    assert_eq!(taught, ["speaker", "lee@hearthadjusters.example", "Harrow Plains Mutual"], "{lesson}");
    let shown = preview(&client, &lesson).await;
    let own = shown["changed"].as_array().unwrap();
    assert_eq!((own.len(), &own[0]["taskId"]), (1, &asked["id"]), "{shown}");
    assert_eq!(own[0]["with"]["answersFor"], json!(["Harrow Plains Mutual"]), "{shown}");
    assert_eq!(own[0]["without"]["answersFor"], json!([]), "{shown}");

    let before = mail(&client, 3, STRANGER, (&subject, ANSWER)).await;
    assert_eq!(before["waits"][0]["stepId"], "match_reply", "a suggestion is used by nobody: {before}");
    let accepted = decide(&client, &lesson, "accept").await;
    let next = mail(&client, 4, STRANGER, (&subject, ANSWER)).await;
    assert_eq!(next["waits"][0]["stepId"], "file", "{next}");
    assert_eq!(answered(&client, &next).await, json!([request]));
    let nothing = json!({"corrections": {"loss_runs_of": {request.as_str(): []}}});
    let ended = client.review(&next, &nothing).await;
    client.replays(&text(&ended["id"])).await;

    let theirs = text(&requests(&other).await[0]["id"]);
    let foreign = mail(&other, 5, STRANGER, (&format!("RE: Loss runs [Request:{theirs}]"), ANSWER)).await;
    assert_eq!(foreign["waits"][0]["stepId"], "match_reply", "no other tenant has learned it: {foreign}");
    decide(&client, &accepted, "withdraw").await;
    let after = mail(&client, 6, STRANGER, (&subject, ANSWER)).await;
    assert_eq!(after["waits"][0]["stepId"], "match_reply", "{after}");
    client.audit_is_whole().await;
}

#[tokio::test]
async fn an_address_that_answers_for_an_insurer_is_learned_on_sqlite() {
    an_address_that_answers_for_an_insurer_is_learned(Site::sqlite()).await;
}

#[tokio::test]
async fn an_address_that_answers_for_an_insurer_is_learned_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    an_address_that_answers_for_an_insurer_is_learned(site).await;
}
