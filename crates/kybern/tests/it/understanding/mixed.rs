//! A model that gives one insurer's policy to another one, both of which the mail names.

use serde_json::{Value, json};

use super::{FORMATS, answer, choices, rest, site};
use crate::server::Site;
use crate::server::client::text;
use crate::server::receiver::{Receiver, Seen};

const MAIL: &str = "From: Ada Moor <ada@larkspurvalley.example>\r\nTo: office@agency.example\r\n\
    Subject: Loss runs\r\nMessage-ID: <two@larkspurvalley.example>\r\nDate: Mon, 2 Mar 2026 09:00:00 +0000\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\r\n\
    Good morning,\r\n\r\nplease order currently valued loss runs for both policies.\r\n\r\n\
    Insured: Larkspur Valley Bulk Haulers LLC\r\nUSDOT: 3104417\r\n\r\n\
    Policy number: NRC-AL-204417-02\r\nInsurer: Northfield Ridge Insurance Company\r\n\r\n\
    Policy number: BHA-77-221008\r\nInsurer: Blue Heron Assurance Corporation\r\n\r\nAda Moor\r\n";

/// A model that reads everything right but whose the first policy is.
fn asked(request: &Seen) -> (u16, Value) {
    let question = request.json();
    let said = if choices(&question, "intent").is_some() {
        json!({"intent": "insurance.loss_run_request", "confidence": 0.95, "also": [], "reason": "it says so"})
    } else if choices(&question, "category").is_some() {
        let sections = ["insurance/has_insured", "insurance/has_policies"];
        json!({"category": "other", "confidence": 0.6, "sections": sections})
    } else {
        let claim = |field: &str, item: u32, value: &str| json!({"field": field, "item": item, "value": value});
        json!({"values": [
            claim("policies[].policy_number", 0, "NRC-AL-204417-02"),
            claim("policies[].insurer", 0, "Blue Heron Assurance Corporation"),
            claim("policies[].policy_number", 1, "BHA-77-221008"),
            claim("policies[].insurer", 1, "Blue Heron Assurance Corporation"),
        ]})
    };
    (200, answer(FORMATS[0].0, &said.to_string()))
}

async fn whose_a_policy_is_is_asked(place: Site) {
    let receiver = Receiver::answering(|request, _| Some(asked(request)));
    let place = site(place.with("KYBERN_INTAKE__LANGUAGE_MODEL", "always"), &receiver.url(""), FORMATS[0]);
    let server = place.start();
    let client = server.client();
    let task = rest(&client, MAIL).await;
    assert_eq!(task["status"], "needs_review", "{task}");
    let reason = text(&task["waits"][0]["reason"]);
    assert!(reason.contains("different insurers were read for NRC-AL-204417-02"), "{reason}");
    for kind in ["insurance.policy", "insurance.deal", "insurance.loss_run_request"] {
        assert!(client.list(&format!("/api/records/{kind}")).await.is_empty(), "{kind}");
    }
    let answer = json!({"policy_insurers": {"NRC-AL-204417-02": "Northfield Ridge Insurance Company"}});
    let task = client.review(&task, &json!({"corrections": answer})).await;
    assert_eq!(client.rest(&text(&task["id"])).await["status"], "completed", "{task}");
    let mut requests = client.list("/api/records/insurance.loss_run_request").await;
    requests.sort_by_key(|request| text(&request["props"]["insurer"]));
    let asked: Vec<Value> = requests
        .iter()
        .map(|request| json!([request["props"]["insurer"], request["props"]["policy_numbers"]]))
        .collect();
    let expected = [
        json!(["Blue Heron Assurance Corporation", ["BHA-77-221008"]]),
        json!(["Northfield Ridge Insurance Company", ["NRC-AL-204417-02"]]),
    ];
    assert_eq!(asked, expected);
    client.replays(&text(&task["id"])).await;
}

#[tokio::test]
async fn whose_a_policy_is_is_asked_where_rules_and_model_contradict_each_other() {
    whose_a_policy_is_is_asked(Site::sqlite()).await;
}

#[tokio::test]
async fn whose_a_policy_is_is_asked_on_postgres_too() {
    let Some(place) = Site::postgres() else { return };
    whose_a_policy_is_is_asked(place).await;
}
