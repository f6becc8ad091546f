use kybern_core::record::Lookup;

use super::*;
use crate::insurance::kinds::LOSS_RUN_REQUEST;
use crate::tests::World;

const INSURER: &str = "Prairie Lantern Mutual Insurance Company";

/// A request about two policies, and an answer with one file. The tests' clock stands at 2026-01-01.
fn world() -> (World, String) {
    let mut world = World::new();
    let props = json!({
        "deal_id": "d", "entity_id": "e", "insurer": INSURER, "status": "requested",
        "policy_numbers": ["PLM-77001", "PLM-88002"], "lines": [], "sent_to": "desk@prairielantern.example"
    });
    let id = world.put(LOSS_RUN_REQUEST, "r", props);
    world.mail("desk@prairielantern.example", "Loss runs", "attached");
    world.verified();
    world.document("runs.pdf", "");
    (world, id)
}

fn field(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value, "confidence": 0.9})
}

/// A paper of the answer as it was read.
fn paper(fields: &[(&str, &str)]) -> Value {
    let fields: Vec<Value> = fields.iter().map(|(name, value)| field(name, value)).collect();
    json!({"n": 1, "category": "LOSS_RUN", "fields": fields})
}

const BOTH: &[(&str, &str)] = &[
    ("policy_number", "PLM 77001-02"),
    ("policy_number", "PLM-88002"),
    ("insurer", "Prairie Lantern Mutual"),
    ("valuation_date", "2025-12-15"),
];

async fn file(world: &World, id: &str) -> ToolOutcome {
    world.call(&file_loss_runs(), json!({"request_ids": [id]})).await.unwrap()
}

/// The request as it is now; where there are two, the one with an insured.
fn request(world: &World) -> Map<String, Value> {
    let mut all = world.records(LOSS_RUN_REQUEST);
    all.sort_by_key(|record| record.key.clone());
    all.remove(0).props
}

#[tokio::test]
async fn loss_runs_of_all_policies_close_the_request() {
    let (mut world, id) = world();
    world.state(json!({"extractions": [paper(BOTH)]}));
    let outcome = file(&world, &id).await;
    assert!(outcome.review.is_none(), "{:?}", outcome.review);
    assert_eq!((&outcome.data["closed_count"], &outcome.data["awaited_count"]), (&json!(1), &json!(0)));
    let lookups = &outcome.records[0].put.lookups;
    assert_eq!(lookups, &[Lookup::file(format!("{:064x}", 1))], "the paper is kept as long as the request");
    world.write(&outcome);
    let filed = request(&world);
    assert_eq!(filed["status"], "closed");
    assert_eq!((&filed["loss_runs"][0]["n"], &filed["loss_runs"][0]["filename"]), (&json!(1), &json!("runs.pdf")));
    let said = &filed["correspondence"][0];
    assert_eq!((&said["what"], &said["address"]), (&json!("answered"), &json!("desk@prairielantern.example")));
    // What is closed stays as it is.
    let again = file(&world, &id).await;
    assert!(again.records.is_empty() && again.data["filed_count"] == 0, "{:?}", again.data);
}

#[tokio::test]
async fn what_is_missing_is_awaited_until_it_comes() {
    let (mut world, id) = world();
    let half = |number| paper(&[("policy_number", number), ("valuation_date", "2025-12-15")]);
    world.state(json!({"extractions": [half("PLM-77001")]}));
    let outcome = file(&world, &id).await;
    world.write(&outcome);
    assert_eq!((&request(&world)["status"], &outcome.data["awaited_count"]), (&json!("received"), &json!(1)));
    assert_eq!(super::request::missing(&request(&world)), ["PLM-88002"]);
    world.state(json!({"extractions": [half("PLM-88002")]}));
    let outcome = file(&world, &id).await;
    world.write(&outcome);
    assert_eq!(
        (&request(&world)["status"], request(&world)["loss_runs"].as_array().unwrap().len()),
        (&json!("closed"), 2)
    );
}

#[tokio::test]
async fn what_was_kept_with_a_request_stays_kept() {
    let (mut world, _) = world();
    let letter = "a".repeat(64);
    let props = json!({
        "deal_id": "d", "entity_id": "e", "insurer": INSURER, "status": "draft", "policy_numbers": ["PLM-77001", "X-1"],
        "lines": [], "attachments": [{"hash": letter}]
    });
    let id = world.put(LOSS_RUN_REQUEST, "s", props);
    world.state(json!({"extractions": [paper(BOTH)]}));
    let outcome = file(&world, &id).await;
    let put = &outcome.records[0].put;
    assert_eq!(put.lookups, [Lookup::file(letter), Lookup::file(format!("{:064x}", 1))]);
    assert_eq!(put.props["status"], "draft", "it can still be sent for the other policy");
    assert_eq!(put.props["loss_runs"][0]["policy_numbers"], json!(["PLM 77001-02"]), "only what was asked about");
}

#[tokio::test]
async fn papers_that_do_not_fit_are_filed_by_nobody_unseen() {
    let with = |changed: &[(&str, &str)]| {
        let mut fields: Vec<(&str, &str)> = BOTH.to_vec();
        for (name, value) in changed {
            fields.retain(|(known, _)| known != name);
            fields.push((name, value));
        }
        fields.retain(|(_, value)| !value.is_empty());
        paper(&fields)
    };
    let mut invoice = paper(BOTH);
    invoice["category"] = json!("INVOICE");
    let mut message = paper(BOTH);
    message["n"] = json!(0);
    let mut unsure = paper(BOTH);
    unsure["fields"][3]["confidence"] = json!(0.4);
    let mut printed = paper(BOTH);
    printed["fields"].as_array_mut().unwrap().push(field("valuation_date", "2024-01-31"));
    let mut ahead = paper(BOTH);
    ahead["fields"].as_array_mut().unwrap().push(field("valuation_date", "2026-02-01"));
    for (paper, doubt) in [
        (with(&[("insurer", "Harrow Plains Mutual")]), "Harrow Plains Mutual"),
        (with(&[("insurer", "P")]), "is of P, and"),
        (with(&[("naic", "10002")]), "10002"),
        (with(&[("insured.name", "Fern Hollow LLC")]), "the request about Oak Bend Haulage LLC"),
        (with(&[("valuation_date", "2025-09-01")]), "122 days ago"),
        (printed, "2024-01-31"),
        (ahead, "valued on 2026-02-01, which is still to come"),
        (with(&[("valuation_date", "2026-02-01")]), "still to come"),
        (with(&[("valuation_date", "")]), "does not say on which day"),
        (with(&[("policy_number", "ZZ-1")]), "no paper names a policy"),
        (invoice, "nothing that came reads as loss runs"),
        (message, "nothing that came reads as loss runs"),
        (unsure, "does not say on which day"),
    ] {
        let (world, id) = doubtful(&paper);
        let review = file(&world, &id).await.review.unwrap_or_else(|| panic!("{doubt}: filed"));
        assert!(review.reason.contains(doubt), "{doubt}: {}", review.reason);
        assert_eq!(review.details["requests"][0]["insurer"], INSURER);
        let all = json!(["PLM-77001", "PLM-88002"]);
        for (said, status, missing) in
            [(all, "closed", 0), (json!(["PLM-77001"]), "received", 1), (json!([]), "requested", 2)]
        {
            let answer = json!({SAID: {id.as_str(): said}});
            assert!(jsonschema::is_valid(&review.schema, &answer), "{said}");
            let (mut world, id) = doubtful(&paper);
            world.state(json!({SAID: {id.as_str(): said}}));
            let outcome = file(&world, &id).await;
            assert!(outcome.review.is_none(), "{said} is asked for once");
            world.write(&outcome);
            let props = request(&world);
            assert_eq!((&props["status"], super::request::missing(&props).len()), (&json!(status), missing), "{doubt}");
            assert_eq!(outcome.data["declined_count"], json!(usize::from(missing == 2)));
            if missing < 2 {
                assert_eq!(props["loss_runs"][0]["filename"], "runs.pdf", "what a person looked at is filed");
            }
        }
    }
}

/// The same world with a paper, and with what else the papers are held against.
fn doubtful(paper: &Value) -> (World, String) {
    let (mut world, _) = world();
    let insured =
        world.put("network.entity", "o", json!({"name": "Oak Bend Haulage LLC", "entity_type": "motor_carrier"}));
    let props = json!({
        "deal_id": "d", "entity_id": insured, "insurer": INSURER, "naic": "77001", "status": "requested",
        "policy_numbers": ["PLM-77001", "PLM-88002"], "lines": [], "sent_to": "desk@prairielantern.example"
    });
    let id = world.put(LOSS_RUN_REQUEST, "0", props);
    world.state(json!({"extractions": [paper]}));
    (world, id)
}

#[tokio::test]
async fn where_nobody_has_verified_the_sender_a_person_looks() {
    let (mut world, id) = world();
    world.mail("desk@prairielantern.example", "Loss runs", "attached");
    world.state(json!({"extractions": [paper(BOTH)]}));
    let review = file(&world, &id).await.review.unwrap();
    assert!(review.reason.contains("intake.trusted_authserv"), "{}", review.reason);
}

#[tokio::test]
async fn one_answer_may_be_for_several_requests() {
    let (mut world, first) = world();
    let props = json!({
        "deal_id": "d", "entity_id": "e", "insurer": INSURER, "status": "requested",
        "policy_numbers": ["PLM-99003"], "lines": []
    });
    let second = world.put(LOSS_RUN_REQUEST, "s", props);
    world.state(json!({"extractions": [paper(BOTH)]}));
    let args = json!({"request_ids": [first, second]});
    let review = world.call(&file_loss_runs(), args.clone()).await.unwrap().review.unwrap();
    assert_eq!(
        review.details["requests"].as_array().unwrap().len(),
        1,
        "only the one that does not fit is asked about"
    );
    world.state(json!({SAID: {second.as_str(): []}}));
    let outcome = world.call(&file_loss_runs(), args).await.unwrap();
    assert_eq!((&outcome.data["closed_count"], &outcome.data["declined_count"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn papers_of_no_request_are_told() {
    let (mut world, id) = world();
    let mut stray = paper(&[("policy_number", "ZZ-1"), ("valuation_date", "2025-12-15")]);
    stray["n"] = json!(2);
    world.state(json!({"extractions": [paper(BOTH), stray]}));
    let outcome = file(&world, &id).await;
    assert_eq!((&outcome.data["closed_count"], &outcome.data["unfiled_documents"]), (&json!(1), &json!([2])));
}
