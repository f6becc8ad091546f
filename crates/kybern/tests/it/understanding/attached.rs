//! Papers that come by the API beside a few words: the words are what is asked, and a paper is never taken for them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::server::Site;
use crate::server::client::{Ask, text};

const WORDS: &str = "Please order currently valued loss runs for Larkspur Valley Bulk Haulers LLC, only from Northfield \
                     Ridge. The dec pages are attached.";

fn paper(filename: &str, insurer: &str, number: &str) -> Value {
    let page = format!(
        "COMMERCIAL POLICY DECLARATIONS\n\nInsurer: {insurer}\nPolicy number: {number}\nPolicy period: 03/01/2026 to \
         03/01/2027\nNamed insured: Larkspur Valley Bulk Haulers LLC\nUSDOT: 3104417\n\nAUTOMOBILE LIABILITY\n"
    );
    json!({"filename": filename, "contentType": "text/plain", "dataBase64": STANDARD.encode(page)})
}

async fn only_one_insurer_is_asked(place: Site) {
    let server = place.start();
    let client = server.client();
    let attachments = json!([
        paper("one.txt", "Blue Heron Assurance Corporation", "BHA-77-221008"),
        paper("two.txt", "Northfield Ridge Insurance Company", "NRC-AL-204417-02"),
    ]);
    let task = client.ok(&Ask::json("/api/tasks", &json!({"input": WORDS, "attachments": attachments}))).await;
    let task = client.rest(&text(&task["id"])).await;
    assert_eq!(task["status"], "completed", "{task}");
    let files = client.get(&format!("/api/tasks/{}/attachments", text(&task["id"]))).await;
    let files = files["items"].as_array().unwrap().iter();
    let numbers: Vec<Value> = files.map(|file| json!([file["n"], file["filename"]])).collect();
    assert_eq!(numbers, [json!([1, "one.txt"]), json!([2, "two.txt"])]);
    let requests = client.list("/api/records/insurance.loss_run_request").await;
    let asked: Vec<&Value> = requests.iter().map(|request| &request["props"]["insurer"]).collect();
    assert_eq!(asked, ["Northfield Ridge Insurance Company"]);
    client.replays(&text(&task["id"])).await;
}

#[tokio::test]
async fn only_the_insurer_that_the_words_name_is_asked() {
    only_one_insurer_is_asked(Site::sqlite()).await;
}

#[tokio::test]
async fn only_the_insurer_that_the_words_name_is_asked_on_postgres_too() {
    let Some(place) = Site::postgres() else { return };
    only_one_insurer_is_asked(place).await;
}

/// A list whose rows insure two companies: whose the request is, and which policies go with it, is asked in one question.
#[tokio::test]
async fn two_companies_in_the_rows_of_one_list_are_asked_about() {
    let server = Site::sqlite().start();
    let client = server.client();
    let list = "Named Insured,Coverage,Insurer,Policy Number,Effective,Expiration\n\
                Maple Spur Hauling LLC,Auto Liability,Northfield Ridge Insurance Company,NRC-AL-204417-02,2026-01-01,2027-01-01\n\
                Zephyr Freight Exchange Inc,Motor Truck Cargo,Blue Heron Assurance Corporation,BHA-77-221008,2026-01-01,2027-01-01\n";
    let file = json!({"filename": "list.csv", "contentType": "text/csv", "dataBase64": STANDARD.encode(list)});
    let words = "Please order currently valued loss runs for the attached list.";
    let task = client.ok(&Ask::json("/api/tasks", &json!({"input": words, "attachments": [file]}))).await;
    let task = client.rest(&text(&task["id"])).await;
    assert_eq!(task["status"], "needs_review", "{task}");
    let details = &task["waits"][0]["details"];
    assert_eq!(details["companies"], json!(["Maple Spur Hauling LLC", "Zephyr Freight Exchange Inc"]), "{task}");
    let answer = json!({"insured": {"name": "Maple Spur Hauling LLC"}, "wanted_policies": ["NRC-AL-204417-02"]});
    let task = client.review(&task, &json!({"corrections": answer})).await;
    assert_eq!(client.rest(&text(&task["id"])).await["status"], "completed", "{task}");
    let requests = client.list("/api/records/insurance.loss_run_request").await;
    let asked: Vec<&Value> = requests.iter().map(|request| &request["props"]["insurer"]).collect();
    assert_eq!(asked, ["Northfield Ridge Insurance Company"]);
}
