use super::*;
use crate::tests::World;
use kybern_core::ports::StatelessTool;

fn tool() -> StatelessTool {
    resolve_entity()
}

#[tokio::test]
async fn identifiers_win_over_names() {
    let world = World::new();
    let first = world.run(&tool(), json!({"name": "Juniper Flats Transport LLC", "dot_number": "9104417"})).await;
    assert_eq!((&first["entity_is_new"], &first["entity_match_reason"]), (&json!(true), &json!("created")));
    let again = world
        .run(&tool(), json!({"name": "J. F. Transport", "dot_number": 9_104_417, "mc_number": "MC-1904417"}))
        .await;
    assert_eq!((&again["entity_id"], &again["entity_match_reason"]), (&first["entity_id"], &json!("dot_match")));
    let by_mc = world.run(&tool(), json!({"mc_number": "01904417"})).await;
    assert_eq!((&by_mc["entity_id"], &by_mc["entity_match_reason"]), (&first["entity_id"], &json!("mc_match")));
}

#[tokio::test]
async fn only_what_is_empty_is_filled_with_its_source() {
    let world = World::new();
    let args = json!({"name": "Acme Freight LLC", "state": "TX", "email": "a@acme.example"});
    world.run(&tool(), args.clone()).await;
    let same = world.run(&tool(), args).await;
    assert_eq!(same["entity_was_enriched"], false);
    let args = json!({
        "name": "ACME FREIGHT", "email": "other@acme.example", "phone": "(512) 555-0142", "dot_number": "9000001",
        "sources": {"phone": {"document": 2, "confidence": 0.8}},
    });
    let richer = world.run(&tool(), args).await;
    assert_eq!(richer["entity_match_reason"], "name_match");
    assert_eq!(richer["entity_enriched_fields"], json!(["phone", "identifiers"]));
    let entity = &world.records(entity::KIND)[0];
    assert_eq!((&entity.props["email"], &entity.props["phone"]), (&json!("a@acme.example"), &json!("5125550142")));
    assert_eq!(
        (&entity.props["sources"]["phone"]["document"], &entity.props["sources"]["phone"]["step"]),
        (&json!(2), &json!("step"))
    );
    assert!(world.run(&tool(), json!({"dot_number": "9000001"})).await["entity_id"] == richer["entity_id"]);
}

#[tokio::test]
async fn a_known_name_with_another_number_asks_and_may_be_a_second_company() {
    let mut world = World::new();
    let a = world.run(&tool(), json!({"name": "Acme Freight", "dot_number": "9000001"})).await;
    let other = json!({"name": "ACME FREIGHT LLC", "dot_number": "9000002"});
    let review = world.call(&tool(), other.clone()).await.unwrap().review.unwrap();
    assert!(review.reason.contains("recorded with another number"), "{}", review.reason);
    assert_eq!(review.details["candidates"][0]["id"], a["entity_id"]);
    let choices = &review.schema["properties"]["entity_choice"]["enum"];
    assert_eq!(*choices, json!([a["entity_id"], "new"]));
    assert_eq!(world.records(entity::KIND).len(), 1, "nothing is recorded before the answer");

    world.state(json!({"entity_choice": a["entity_id"]}));
    let chosen = world.run(&tool(), other.clone()).await;
    assert_eq!((&chosen["entity_id"], &chosen["entity_enriched_fields"]), (&a["entity_id"], &json!([])));
    world.state(json!({"entity_choice": "new"}));
    let b = world.run(&tool(), other.clone()).await;
    assert_ne!(a["entity_id"], b["entity_id"]);
    world.state(json!({"entity_choice": null}));
    assert_eq!(world.run(&tool(), other).await["entity_id"], b["entity_id"], "its number tells it from now on");
    let review = world.call(&tool(), json!({"name": "Acme Freight"})).await.unwrap().review.unwrap();
    assert_eq!(review.details["candidates"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_known_number_under_another_name_asks_and_stays_with_its_company() {
    let mut world = World::new();
    let known = json!({"name": "Acme Freight", "dot_number": "9000001"});
    let a = world.run(&tool(), known).await;
    let b = world.run(&tool(), json!({"name": "Copper Kettle Hauling LLC"})).await;
    let mixed = json!({"name": "Copper Kettle Hauling", "dot_number": "9000001"});
    let review = world.call(&tool(), mixed.clone()).await.unwrap().review.unwrap();
    assert!(review.reason.contains("a company with another name"), "{}", review.reason);
    let choices = &review.schema["properties"]["entity_choice"]["enum"];
    assert_eq!(*choices, json!([a["entity_id"], b["entity_id"], "new"]), "whose number it is, and whose name");

    world.state(json!({"entity_choice": b["entity_id"]}));
    let chosen = world.run(&tool(), mixed.clone()).await;
    assert_eq!((&chosen["entity_id"], &chosen["entity_enriched_fields"]), (&b["entity_id"], &json!([])));
    world.state(json!({"entity_choice": "new"}));
    let new = world.run(&tool(), mixed).await;
    let records = world.records(entity::KIND);
    let new = records.iter().find(|record| json!(record.id) == new["entity_id"]).unwrap();
    assert_eq!(new.props["identifiers"], json!([]), "the number stays with the company that has it");
}

#[tokio::test]
async fn a_number_under_a_variant_of_the_name_asks_nobody() {
    let world = World::new();
    let known = world.run(&tool(), json!({"name": "Juniper Flats Transport LLC", "dot_number": "9104417"})).await;
    for name in ["Juniper Flat Transport", "JUNIPER FLATS", "Juniperflats Trucking", "Ada Example DBA Juniper Flats"] {
        let found = world.run(&tool(), json!({"name": name, "dot_number": "9104417"})).await;
        assert_eq!((&found["entity_id"], &found["entity_match_reason"]), (&known["entity_id"], &json!("dot_match")));
    }
}

#[tokio::test]
async fn a_person_chooses_among_namesakes_or_makes_a_third() {
    let mut world = World::new();
    let a = world.run(&tool(), json!({"name": "Acme Freight", "state": "TX"})).await;
    let b = world.run(&tool(), json!({"name": "Acme Freight", "state": "OK"})).await;
    assert_ne!(a["entity_id"], b["entity_id"]);
    assert_eq!(world.run(&tool(), json!({"name": "Acme Freight", "state": "OK"})).await["entity_id"], b["entity_id"]);
    world.state(json!({"entity_choice": b["entity_id"]}));
    let chosen = world.run(&tool(), json!({"name": "Acme Freight"})).await;
    assert_eq!((&chosen["entity_id"], &chosen["entity_match_reason"]), (&b["entity_id"], &json!("human_choice")));
    world.state(json!({"entity_choice": "new"}));
    for _ in 0..2 {
        let new = world.run(&tool(), json!({"name": "Acme Freight"})).await;
        assert_eq!(new["entity_is_new"], true);
    }
    assert_eq!(world.records(entity::KIND).len(), 4);
}

#[tokio::test]
async fn a_slip_in_the_name_is_forgiven_where_something_else_agrees_and_asked_about_otherwise() {
    let known = json!({"name": "Juniper Flats Transport", "dot_number": "9104417", "state": "TX",
        "email": "ops@juniperflats.example", "phone": "+1 (555) 555-0142", "address": "12 Elm Street, Lubbock, TX 79401"});
    let slip = |more: serde_json::Value| {
        let mut asked = json!({"name": "Juniper Flat Transport"});
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        asked
    };
    for more in [
        json!({"mc_number": "77", "phone": "555-555-0142"}),
        json!({"email": "OPS@juniperflats.example"}),
        json!({"email": "claims@mail.juniperflats.example"}),
        json!({"address": "12 ELM STREET LUBBOCK TX 79401"}),
    ] {
        let world = World::new();
        world.run(&tool(), known.clone()).await;
        let found = world.run(&tool(), slip(more.clone())).await;
        assert_eq!(found["entity_match_reason"], "fuzzy_match", "{more}");
        assert_eq!(found["entity_enriched_fields"], json!([]), "a likeness is no proof of a number");
    }
    for more in [json!({"dot_number": "1"}), json!({"state": "NV"})] {
        let world = World::new();
        world.run(&tool(), known.clone()).await;
        assert_eq!(world.run(&tool(), slip(more.clone())).await["entity_is_new"], true, "{more}");
    }
    for more in [json!({}), json!({"state": "TX"}), json!({"email": "a@gmail.example", "phone": "555-555-0199"})] {
        let world = World::new();
        world.run(&tool(), known.clone()).await;
        let review = world.call(&tool(), slip(more.clone())).await.unwrap().review.unwrap();
        assert!(review.reason.starts_with("a company with nearly the same name may be meant"), "{more}");
        let choices = review.schema["properties"]["entity_choice"]["enum"].as_array().unwrap();
        assert!(choices.len() == 2 && choices.contains(&json!("new")), "{choices:?}");
    }
}

#[tokio::test]
async fn customers_whose_names_differ_by_a_letter_are_not_taken_for_each_other() {
    for (one, other) in [
        ("Baker Trucking LLC", "Barker Trucking LLC"),
        ("Eastern Transport Logistics Inc", "Western Transport Logistics Inc"),
        ("Northern Freight Haulers LLC", "Southern Freight Haulers LLC"),
    ] {
        let world = World::new();
        world.run(&tool(), json!({"name": one, "state": "TX", "email": "a@one.example"})).await;
        let asked = json!({"name": other, "state": "TX", "email": "b@other.example"});
        let outcome = world.call(&tool(), asked).await.unwrap();
        let is_taken = outcome.review.is_none() && outcome.data["entity_is_new"] != json!(true);
        assert!(!is_taken, "{other} was taken for {one}: {:?}", outcome.data);
    }
}

#[tokio::test]
async fn identifiers_of_two_companies_ask() {
    let world = World::new();
    world.run(&tool(), json!({"name": "A", "dot_number": "1"})).await;
    world.run(&tool(), json!({"name": "B", "mc_number": "2"})).await;
    let review =
        world.call(&tool(), json!({"name": "C", "dot_number": "1", "mc_number": "2"})).await.unwrap().review.unwrap();
    let choices = review.schema["properties"]["entity_choice"]["enum"].as_array().unwrap();
    assert!(choices.len() == 2 && !choices.contains(&json!("new")), "{choices:?}");
}

#[tokio::test]
async fn nobody_named_asks_and_a_number_alone_asks_for_the_name() {
    let world = World::new();
    for args in [json!({}), json!({"name": " ", "dot_number": ""}), json!({"dot_number": "123"})] {
        let review = world.call(&tool(), args).await.unwrap().review.unwrap();
        assert!(jsonschema::is_valid(&review.schema, &json!({"company_name": "Acme"})));
        assert!(!jsonschema::is_valid(&review.schema, &json!({})));
    }
}

#[tokio::test]
async fn an_answer_that_is_no_number_is_asked_for_again_with_what_is_wrong() {
    let mut world = World::new();
    world.state(json!({"dot_number": "abc"}));
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    let why = "\"abc\" is no dot_number: a DOT number has 1 to 8 digits; neither";
    assert!(review.reason.starts_with(why), "{}", review.reason);
}
