//! Faulty documents, each sent in a mail of its own: every one ends in a review that names the file and says what a
//! person can do, and the task goes on once somebody did it.

use std::collections::BTreeMap;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kybern_adapters::mail::parse::Mime;
use serde_json::{Value, json};

use crate::samples::{folder, hire};
use crate::server::client::{Ask, text};
use crate::server::{Client, Site};

/// The faults of each kind that have to be there.
const OF_EACH_KIND: usize = 3;
const LEAD: &str = "Need a quote: Dry Creek Hauling LLC, DOT 9228815, Waco, TX. 3 trucks, auto liability and cargo.";
const LOSS_RUNS: &str = "Please order currently valued loss runs from our carrier. The dec page is attached.";

/// A small mail with one attachment.
fn mail(id: &str, body: &str, filename: &str, content_type: &str, attachment: &[u8]) -> Ask {
    let encoded = STANDARD.encode(attachment);
    let lines: Vec<&str> = encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let text = format!(
        "From: Office <office@drycreek.example>\r\nTo: intake@agency.example\r\nSubject: A request\r\n\
         Date: Mon, 12 Jan 2026 08:04:00 -0600\r\nMessage-ID: <{id}@drycreek.example>\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=\"part\"\r\n\r\n\
         --part\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{body}\r\n\
         --part\r\nContent-Type: {content_type}; name=\"{filename}\"\r\n\
         Content-Disposition: attachment; filename=\"{filename}\"\r\nContent-Transfer-Encoding: base64\r\n\r\n\
         {}\r\n--part--\r\n",
        lines.join("\r\n")
    );
    Ask::post("/api/inbound/email", "message/rfc822", text)
}

async fn submit(client: &Client, ask: &Ask) -> Value {
    let received = client.ok(ask).await;
    client.rest(&text(&received["taskId"])).await
}

async fn review(client: &Client, task: &Value, decision: &Value) -> Value {
    let n = task["waits"][0]["details"]["files"][0]["n"].to_string();
    client.review(task, &json!({"corrections": {"documents": {n: decision}}})).await
}

/// What is wrong with the way in which a task waits for a document.
fn fault_of_wait(task: &Value, filename: &str, accepted: &[String]) -> Option<String> {
    let wait = &task["waits"][0];
    let file = &wait["details"]["files"][0];
    let (reason, remedy) = (text(&wait["reason"]), text(&file["remedy"]));
    let kind = text(&file["fault"]);
    let sound = task["status"] == "needs_review"
        && wait["kind"] == "document"
        && file["filename"] == filename
        && accepted.contains(&kind)
        && reason.contains(filename)
        && !remedy.is_empty()
        && reason.contains(&remedy)
        && !text(&file["problem"]).is_empty();
    (!sound).then(|| format!("{} {:?}, accepted {accepted:?}: {wait}", task["status"], task["errorMessage"]))
}

#[tokio::test]
async fn every_faulty_document_waits_for_a_person_and_goes_on() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    hire(&client).await;
    let list = fs::read(folder().join("faults/expected.json")).unwrap();
    let list: Vec<Value> = serde_json::from_slice(&list).unwrap();
    let (mut kinds, mut wrong) = (BTreeMap::<String, usize>::new(), Vec::new());
    for (n, expected) in list.iter().enumerate() {
        let path = text(&expected["file"]);
        let filename = path.rsplit('/').next().unwrap();
        let bytes = fs::read(folder().join("faults").join(&path)).unwrap();
        let ask = mail(&format!("fault-{n}"), LEAD, filename, &text(&expected["contentType"]), &bytes);
        let task = submit(&client, &ask).await;
        let mut accepted = vec![text(&expected["expect"])];
        accepted.extend(expected["alsoAccept"].as_array().into_iter().flatten().map(text));
        *kinds.entry(text(&expected["kind"])).or_default() += 1;
        if let Some(fault) = fault_of_wait(&task, filename, &accepted) {
            wrong.push(format!("{path}: {fault}"));
            continue;
        }
        let ended = review(&client, &task, &json!({"ignore": true})).await;
        if ended["status"] != "completed" || ended["detectedIntent"] != "insurance.new_lead" {
            wrong.push(format!("{path}, ignored: {} {} {}", ended["status"], ended["detectedIntent"], ended["waits"]));
        } else {
            client.replays(&text(&ended["id"])).await;
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), list.len(), wrong.join("\n"));
    for kind in ["pdf", "docx", "xlsx", "csv", "html", "txt"] {
        assert!(kinds.get(kind).is_some_and(|count| *count >= OF_EACH_KIND), "too few faults of {kind}: {kinds:?}");
    }
    client.audit_is_whole().await;
}

#[tokio::test]
async fn typed_text_is_used_in_place_of_the_document() {
    let sample = fs::read(folder().join("mail/24-loss-run-txt-html.eml")).unwrap();
    let parts = Mime.parse(&sample).unwrap().parts;
    let page = parts.into_iter().find(|part| part.content_type == "text/plain").unwrap();
    let typed = String::from_utf8(page.bytes.to_vec()).unwrap();
    let scan = fs::read(folder().join("faults/pdf/scan.pdf")).unwrap();
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let task = submit(&client, &mail("typed", LOSS_RUNS, "dec.pdf", "application/pdf", &scan)).await;
    assert_eq!(fault_of_wait(&task, "dec.pdf", &["scan".to_owned()]), None);
    let ended = review(&client, &task, &json!({"text": typed})).await;
    assert_eq!(ended["status"], "completed", "{}", ended["waits"]);
    assert_eq!(ended["state"]["insured"]["name"], "Tamarack Gap Logistics Inc.");
    let policies = client.list("/api/records/insurance.policy").await;
    let numbers: Vec<String> = policies.iter().map(|policy| text(&policy["props"]["policy_number"])).collect();
    assert_eq!(numbers, ["PLM-AL-3309114"]);
    client.replays(&text(&ended["id"])).await;
}

/// An answer that the wait does not accept changes nothing.
#[tokio::test]
async fn a_review_that_does_not_fit_is_refused() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let task = submit(&client, &mail("refused", LEAD, "empty.txt", "text/plain", b" ")).await;
    let path = format!("/api/tasks/{}/review", text(&task["id"]));
    for corrections in [json!({}), json!({"documents": {}}), json!({"documents": {"7": {"ignore": true}}})] {
        let (status, answer) = client.send(&Ask::json(&path, &json!({"corrections": corrections}))).await;
        assert!(matches!(status.as_u16(), 400 | 422), "{status} {answer}");
    }
    assert_eq!(client.rest(&text(&task["id"])).await["waits"], task["waits"]);
    review(&client, &task, &json!({"ignore": true})).await;
    let (status, answer) = client.send(&Ask::json(&path, &json!({"corrections": {"a": 1}}))).await;
    assert_eq!((status.as_u16(), answer["error"]["code"].as_str()), (409, Some("CONFLICT")));
}
