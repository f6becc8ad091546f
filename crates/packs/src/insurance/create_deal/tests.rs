use super::*;
use crate::insurance::kinds::{ENTITY, POLICY};
use crate::tests::World;
use kybern_core::ports::StatelessTool;

fn tool() -> StatelessTool {
    create_deal()
}

fn entity(world: &World) -> String {
    let props = json!({"name": "Acme LLC", "entity_type": "motor_carrier", "identifiers": [], "is_shadow": true});
    world.put(ENTITY, "dot:1", props)
}

#[tokio::test]
async fn an_open_deal_is_added_to_and_a_closed_one_is_left() {
    let world = World::new();
    let entity = entity(&world);
    let args = |lines: &[&str]| json!({"entity_id": entity, "pipeline_type": "renewal", "coverage_types": lines});
    let first = world.run(&tool(), args(&["AL"])).await;
    let more = world.run(&tool(), args(&["Cargo"])).await;
    assert_eq!((&more["deal_id"], &more["deal_was_updated"]), (&first["deal_id"], &json!(true)));
    assert_eq!(world.run(&tool(), args(&["cargo"])).await["deal_was_updated"], false);
    assert_eq!(world.records(DEAL)[0].props["coverage_types"], json!(["Auto Liability", "Motor Truck Cargo"]));

    let deal = world.records(DEAL).remove(0);
    let closed = change::update(&deal, fields([("stage", json!("lost"))]), Vec::new());
    world.write(&ToolOutcome { records: vec![closed], ..ToolOutcome::default() });
    assert_ne!(world.run(&tool(), args(&["AL"])).await["deal_id"], first["deal_id"]);
}

#[tokio::test]
async fn a_later_period_replaces_an_earlier_one_and_never_the_other_way() {
    let world = World::new();
    let entity = entity(&world);
    let args = |year: &str, premium: i64, line: &str| {
        json!({"entity_id": entity, "pipeline_type": "renewal", "policies": [{
            "policy_number": "A-1", "insurer": "North", "lines": [line], "premium_nanos": premium,
            "expiration": format!("{year}-03-01"),
        }]})
    };
    world.run(&tool(), args("2026", 1, "AL")).await;
    let renewed = world.run(&tool(), args("2027", 2, "Cargo")).await;
    assert_eq!((&renewed["policies_created"], &renewed["policies_updated"]), (&json!(0), &json!(1)));
    world.run(&tool(), args("2025", 3, "AL")).await;
    let policy = &world.records(POLICY)[0];
    assert_eq!((&policy.props["expiration"], &policy.props["premium_nanos"]), (&json!("2027-03-01"), &json!(2)));
    assert_eq!(policy.props["lines"], json!(["Auto Liability", "Motor Truck Cargo"]));
}

#[tokio::test]
async fn without_an_entity_it_says_what_to_do_first() {
    let world = World::new();
    let failure = world.call(&tool(), json!({"pipeline_type": "renewal"})).await.unwrap_err();
    assert!(failure.message.contains("resolve the entity first"), "{failure}");
}
