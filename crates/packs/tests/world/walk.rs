//! Plans walked by hand: each step's tool in order, with its templates filled in from the state so far.

use kybern_core::actor::Role;
use kybern_core::plan::StepKind;
use kybern_core::tool::Review;
use serde_json::{Value, json};

use super::packs::registry;
use super::templates;
use super::world::World;

const DEC_PAGE_1: &str = "@category = DEC_PAGE\n\
    @insured.name = Juniper Flats Transport LLC\n@insured.dot_number = 9104417\n@insured.mc_number = MC-1904417\n\
    @insured.address = 2218 County Road 412, Abilene, TX 79601\n@insured.email = office@juniperflats.example\n\
    @policies[0].policy_number = NRC-AL-204417-02\n@policies[0].insurer = Northfield Ridge Insurance Company\n\
    @policies[0].naic = 99101\n@policies[0].line = AUTO LIABILITY\n\
    @policies[0].period = {\"start\": \"2025-03-01\", \"end\": \"2026-03-01\"}\n\
    @vehicles[0].vin = 1XKYD49X5MJ914201\n@vehicles[1].vin = 1FUJGLDR0NL914209 !";
const DEC_PAGE_2: &str = "@category = DEC_PAGE\n\
    @insured.name = JUNIPER FLATS TRANSPORT, LLC\n@insured.phone = (325) 555-0142\n\
    @policies[0].policy_number = CHM-7710293\n@policies[0].insurer = Cobalt Harbor Casualty Company\n\
    @policies[0].line = Motor Truck Cargo\n@policies[0].effective = 2025-03-01\n@policies[0].expiration = 2026-03-01";

/// Walks a plan to its end, or to the first step that asks.
pub(super) async fn walk(world: &mut World, plan: &str) -> Result<Value, (String, Review)> {
    let registry = registry();
    let plan = registry.find_plan(plan).unwrap();
    for step in &plan.steps {
        let state = world.present_state().clone();
        let runs = step.condition.as_ref().is_none_or(|test| templates::fill(&json!(test), &state) == json!(true));
        let StepKind::Tool { tool, args } = &step.kind else { panic!("{}", step.id) };
        if !runs {
            continue;
        }
        let args = templates::fill(&Value::Object(args.clone()), &state);
        let outcome = world.call(registry.registered_tool(tool).unwrap().as_ref(), args).await.unwrap();
        if let Some(review) = outcome.review {
            return Err((step.id.to_string(), *review));
        }
        world.write(&outcome);
        world.state(Value::Object(outcome.data));
    }
    let output = plan.output.as_ref().map(|output| templates::fill(&json!(output), world.present_state()));
    Ok(output.unwrap_or(Value::Null))
}

fn agency() -> World {
    let mut world = World::new();
    world.user("boss@ironwoodlane.example", &[Role::Admin]);
    world
}

fn counts(world: &World) -> [usize; 4] {
    ["network.entity", "insurance.deal", "insurance.policy", "insurance.loss_run_request"]
        .map(|kind| world.records(kind).len())
}

fn loss_run_mail(world: &mut World) {
    world.mail("office@juniperflats.example", "Renewal 3/1", "Please order loss runs.");
    world.document("Auto-Liability-Dec.pdf", DEC_PAGE_1);
    world.document("Cargo-Dec.pdf", DEC_PAGE_2);
}

#[tokio::test]
async fn two_dec_pages_become_one_deal_and_two_requests() {
    let mut world = agency();
    loss_run_mail(&mut world);
    let result = walk(&mut world, "insurance.loss_run_pipeline").await.unwrap();
    assert_eq!(counts(&world), [1, 1, 2, 2]);
    assert_eq!((&result["requests_created"], &result["requests_updated"]), (&json!(2), &json!(0)));
    let entity = &world.records("network.entity")[0];
    assert_eq!((entity.key.as_str(), &entity.props["state"]), ("dot:9104417", &json!("TX")));
    assert_eq!(entity.props["sources"]["email"]["document"], 1);
    let policy = &world.records("insurance.policy")[0];
    assert_eq!(
        (&policy.props["lines"], &policy.props["expiration"]),
        (&json!(["Auto Liability"]), &json!("2026-03-01"))
    );
    let request = &world.records("insurance.loss_run_request")[1];
    assert_eq!(
        (&request.props["insurer"], &request.props["status"]),
        (&json!("Cobalt Harbor Casualty Company"), &json!("draft"))
    );
    assert_eq!(
        world.records("insurance.deal")[0].props["coverage_types"],
        json!(["Auto Liability", "Motor Truck Cargo"])
    );
    let valid: Vec<&Value> =
        world.present_state()["extracted_vehicles"].as_array().unwrap().iter().map(|v| &v["valid"]).collect();
    assert_eq!(valid, [&json!(true), &json!(false)]);
}

#[tokio::test]
async fn the_same_documents_again_create_nothing() {
    let mut world = agency();
    for _ in 0..3 {
        world.next_task();
        loss_run_mail(&mut world);
        walk(&mut world, "insurance.loss_run_pipeline").await.unwrap();
        assert_eq!(counts(&world), [1, 1, 2, 2]);
    }
}

#[tokio::test]
async fn documents_without_insured_and_policies_ask_for_both_and_then_go_on() {
    let mut world = agency();
    world.mail("a@b.example", "loss runs", "please order loss runs");
    world.document("letter.txt", "nothing to find");
    let (step, review) = walk(&mut world, "insurance.loss_run_pipeline").await.unwrap_err();
    assert!(step == "extract_docs" && review.reason.contains("letter.txt"), "{}", review.reason);
    let answer = json!({
        "insured": {"name": "Acme Hauling LLC"},
        "extracted_policies": [{"policy_number": "X-1", "insurer": "Red Mesa Specialty", "lines": ["MTC"]}],
    });
    assert!(jsonschema::is_valid(&review.schema, &answer));
    world.state(answer);
    walk(&mut world, "insurance.loss_run_pipeline").await.unwrap();
    assert_eq!(counts(&world), [1, 1, 1, 1]);
    assert_eq!(world.records("insurance.policy")[0].props["lines"], json!(["Motor Truck Cargo"]));
}

#[tokio::test]
async fn a_web_form_becomes_a_deal_with_an_agent() {
    let mut world = agency();
    world.user("clerk@ironwoodlane.example", &[Role::Operator]);
    world.webhook(serde_json::from_str(include_str!("../../../../samples/webhook/lead.json")).unwrap());
    let result = walk(&mut world, "insurance.new_lead_pipeline").await.unwrap();
    assert_eq!(counts(&world), [1, 1, 0, 0]);
    assert_eq!(result["deal_is_new"], true);
    let deal = &world.records("insurance.deal")[0];
    assert_eq!(deal.props["assigned_agent"]["email"], "clerk@ironwoodlane.example");
    assert_eq!(
        (&deal.props["pipeline_type"], &deal.props["entity_name"]),
        (&json!("new_business"), &json!("Sorrel Canyon Carriers LLC"))
    );
    assert_eq!(world.present_state()["notification_queued"], true);
}

#[tokio::test]
async fn an_sms_and_a_mail_with_a_workbook_walk_the_same_plan() {
    let mut world = agency();
    world.sms("+12545550187", "Need a quote: Dry Creek Hauling LLC, DOT 9228815, Waco, TX. 3 trucks, auto liability.");
    walk(&mut world, "insurance.new_lead_pipeline").await.unwrap();
    world.next_task();
    world.mail("ops@pecanshoals.example", "Need a quote", "Could you quote us for liability and cargo? DOT 9201154.");
    world.document("vehicles.xlsx", "@insured.name = Pecan Shoals Trucking LLC\n@insured.dot_number = 9201154");
    walk(&mut world, "insurance.new_lead_pipeline").await.unwrap();
    assert_eq!(counts(&world), [2, 2, 0, 0]);
    assert_eq!(world.records("network.entity")[1].props["name"], "Pecan Shoals Trucking LLC");
}

#[tokio::test]
async fn a_form_without_a_company_asks_for_one_and_goes_on() {
    let mut world = agency();
    world.webhook(serde_json::from_str(include_str!("../../../../samples/webhook/lead-incomplete.json")).unwrap());
    let (step, review) = walk(&mut world, "insurance.new_lead_pipeline").await.unwrap_err();
    assert_eq!((step.as_str(), counts(&world)), ("resolve_entity", [0; 4]));
    let answer = json!({"company_name": "Late Answer Trucking LLC"});
    assert!(jsonschema::is_valid(&review.schema, &answer));
    let registry = registry();
    world.state(answer);
    let tool = registry.registered_tool("resolve_entity").unwrap();
    // The arguments are those of the first call: only the state has learnt the name.
    let data = world.run(tool.as_ref(), json!({"name": null, "dot_number": null})).await;
    assert_eq!(data["entity_name"], "Late Answer Trucking LLC");
}

#[tokio::test]
async fn plans_whose_tools_are_missing_end_with_a_person() {
    let registry = registry();
    let finished = ["insurance.loss_run_pipeline", "insurance.new_lead_pipeline", "insurance.loss_run_chase_pipeline"];
    let is_unfinished =
        |plan: &kybern_core::plan::Plan| !finished.contains(&plan.key.as_str()) && plan.domain != "helpdesk";
    for plan in registry.plans().filter(|plan| is_unfinished(plan)) {
        let mut world = agency();
        world.mail("a@b.example", "something", "Company Name: Acme LLC");
        world.document("paper.txt", "x");
        let (_, review) = walk(&mut world, &plan.key).await.unwrap_err();
        assert!(review.reason.contains("Next: ") && review.answer_is_result, "{}: {}", plan.key, review.reason);
    }
}
