//! A scan that comes by mail: read where Tesseract is, shown with its picture to a person, and only then acted on.

use serde_json::{Value, json};

use crate::samples::{folder, hire};
use crate::server::client::{Ask, text};
use crate::server::{Client, Site};

const VARIABLE: &str = "KYBERN_TEST_TESSERACT";
const MAIL: &str = "mail/14-scan.eml";

/// The same place, where scans are read; `None`, said aloud, where there is no Tesseract.
fn reading(site: Site) -> Option<Site> {
    let Some(program) = std::env::var(VARIABLE).ok().filter(|program| !program.is_empty()) else {
        eprintln!("skipped: {VARIABLE} is not set; `cargo xtask test` sets it when it can");
        return None;
    };
    let is_there = std::path::Path::new(&program).exists();
    assert!(is_there, "there is no Tesseract at {program}: install it, CONTRIBUTING.md says how");
    Some(site.with("KYBERN_DOCUMENTS__OCR", &program).with("KYBERN_DOCUMENTS__OCR_LANGUAGES", "[\"eng\"]"))
}

async fn deliver(client: &Client) -> Value {
    hire(client).await;
    let mail = std::fs::read(folder().join(MAIL)).unwrap();
    let received = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", mail)).await;
    client.rest(&text(&received["taskId"])).await
}

/// The field of that name among what was read from the scan.
fn field(wait: &Value, name: &str) -> Value {
    let documents = wait["details"]["extractions"].as_array().unwrap();
    let fields = documents.iter().filter(|document| document["n"] != 0).flat_map(|d| d["fields"].as_array().unwrap());
    fields
        .into_iter()
        .find(|field| field["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {documents:?}"))
        .clone()
}

async fn a_scan_becomes_records_once_a_person_has_compared_it(site: Site) {
    let server = site.start();
    let client = server.client();
    let task = deliver(&client).await;
    let (id, wait) = (text(&task["id"]), &task["waits"][0]);
    assert_eq!((&task["status"], &wait["kind"]), (&json!("needs_review"), &json!("document")), "{task}");
    let records = client.get("/api/records").await;
    assert_eq!(records["items"].as_array().map(Vec::len), Some(0), "{records}");

    // The question shows what was read, how sure that is, and where it stands in which picture.
    let dot = field(wait, "insured.dot_number");
    assert_eq!((&dot["value"], &dot["source"]["words"]), (&json!("9171809"), &json!("9171809")));
    let place = &dot["source"]["scan"];
    assert!(place["x"].as_u64().unwrap() > 250 && place["confidence"].as_u64().unwrap() > 50, "{place}");
    let scan = &wait["details"]["scans"][0];
    let page = &scan["pages"][0];
    assert!(text(&page["text"]).contains("Blue Culvert Express LLC"), "{page}");
    let picture = client.raw(&Ask::get(&text(&page["picture"]))).await.unwrap();
    assert_eq!(picture.headers()["content-type"], "image/png");
    assert!(picture.bytes().await.unwrap().starts_with(b"\x89PNG"));

    let confirm = json!({"documents": {text(&json!(scan["n"].to_string())): {"confirm": scan["confirm"]}}});
    client.post(&format!("/api/tasks/{id}/review"), &json!({"corrections": confirm})).await;
    let task = client.rest(&id).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["state"]["insured"]["dot_number"], "9171809");
    assert_eq!(task["state"]["extracted_policies"][0]["policy_number"], "NRC-AL-219006-03", "{}", task["state"]);
}

#[tokio::test]
async fn a_scan_becomes_records_once_a_person_has_compared_it_on_sqlite() {
    let Some(site) = reading(Site::sqlite()) else { return };
    a_scan_becomes_records_once_a_person_has_compared_it(site).await;
}

#[tokio::test]
async fn a_scan_becomes_records_once_a_person_has_compared_it_on_postgres() {
    let Some(site) = Site::postgres().and_then(reading) else { return };
    a_scan_becomes_records_once_a_person_has_compared_it(site).await;
}

#[tokio::test]
async fn the_doctor_and_the_question_name_what_reads_scans() {
    let Some(site) = reading(Site::sqlite()) else { return };
    let out = site.command(&["doctor", "--url", "http://127.0.0.1:1"]).output().unwrap();
    let out = String::from_utf8(out.stdout).unwrap();
    assert!(out.contains("scans") && out.contains("reads eng; a person confirms"), "{out}");
    let server = site.start();
    let client = server.client();
    let task = deliver(&client).await;
    let id = text(&task["id"]);
    let mut show = site.command(&["--url", server.url(), "task", "show", &id]);
    let shown = show.env("KYBERN_API_KEY", crate::server::KEY).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    for part in ["was read from a picture", "look at it with kybern", " task attachment ", "9171809", "scan"] {
        assert!(shown.contains(part), "{part} is not in:\n{shown}");
    }
}

#[tokio::test]
async fn without_tesseract_a_person_types_in_what_it_says() {
    let site = Site::sqlite().with("KYBERN_DOCUMENTS__OCR", "off");
    let server = site.start();
    let task = deliver(&server.client()).await;
    let wait = &task["waits"][0];
    assert_eq!(wait["details"]["files"][0]["fault"], "scan", "{wait}");
    assert!(wait["details"].get("scans").is_none());
}
