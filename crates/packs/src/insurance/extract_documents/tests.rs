use super::*;
use crate::tests::World;

fn tool() -> ExtractDocuments {
    ExtractDocuments::new()
}

#[tokio::test]
async fn a_policy_in_two_documents_is_one() {
    let mut world = World::new();
    world.document(
        "a.pdf",
        "@insured.name = Acme LLC\n@policies[0].policy_number = AB-12 3\n@policies[0].insurer = North",
    );
    world.document("b.pdf", "@policies[0].policy_number = ab 123\n@policies[0].naic = 1234\n@policies[0].line = Cargo");
    let data = world.run(&tool(), json!({"required": ["insured", "policies"]})).await;
    let policies = data["extracted_policies"].as_array().unwrap();
    assert_eq!(policies.len(), 1);
    assert_eq!((&policies[0]["insurer"], &policies[0]["naic"]), (&json!("North"), &json!("01234")));
    assert_eq!((&policies[0]["lines"], &policies[0]["documents"]), (&json!(["Motor Truck Cargo"]), &json!([1, 2])));
}

#[tokio::test]
async fn what_a_document_says_once_holds_for_all_its_policies() {
    let mut world = World::new();
    let text = "@insured.name = Acme LLC\n@insurer = North Mutual\n@naic = 99338\n@effective = 2025-01-01\n\
                @policies[0].policy_number = A1\n@policies[1].policy_number = B2";
    world.document("a.pdf", text);
    let data = world.run(&tool(), json!({})).await;
    for policy in data["extracted_policies"].as_array().unwrap() {
        assert_eq!((&policy["insurer"], &policy["naic"]), (&json!("North Mutual"), &json!("99338")));
        assert_eq!(policy["effective"], Value::Null, "whose date it is nobody knows");
    }
}

#[tokio::test]
async fn a_guess_is_listed_and_is_not_enough_for_a_name() {
    let mut world = World::new();
    world.document("a.pdf", "@insured.name = Maybe LLC ?0.3");
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["insured"]["name"], "Maybe LLC");
    assert!(review.reason.contains("a.pdf"), "{}", review.reason);
    world.document("b.pdf", "@insured.dot_number = 9000001");
    let data = world.run(&tool(), json!({})).await;
    assert_eq!(
        (&data["insured"]["name"], &data["fields_for_review"][0]["name"]),
        (&json!("Maybe LLC"), &json!("insured.name"))
    );
}

#[tokio::test]
async fn two_insured_companies_ask_and_a_correction_decides() {
    let mut world = World::new();
    world.document("a.pdf", "@insured.name = Acme LLC\n@insured.dot_number = 9000001");
    world.document("b.pdf", "@insured.name = Other LLC\n@insured.dot_number = 9000002");
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["dot_numbers"], json!(["9000001", "9000002"]));
    world.state(json!({"insured": {"name": "Other LLC", "dot_number": "9000002"}}));
    let data = world.run(&tool(), json!({})).await;
    assert_eq!((&data["insured"]["name"], &data["insured"]["dot_number"]), (&json!("Other LLC"), &json!("9000002")));
}

#[tokio::test]
async fn two_mc_numbers_ask_where_no_dot_number_decides() {
    let mut world = World::new();
    world.document("a.pdf", "@insured.name = Acme LLC\n@insured.mc_number = 900001");
    world.document("b.pdf", "@insured.name = Acme LLC\n@insured.mc_number = MC-900002");
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["mc_numbers"], json!(["900001", "900002"]));
    assert!(review.reason.contains("2 different MC numbers for the insured"), "{}", review.reason);
    world.state(json!({"insured": {"mc_number": "900002"}}));
    assert_eq!(world.run(&tool(), json!({})).await["insured"]["mc_number"], "900002");
    // A carrier may have several authorities under one DOT number.
    let mut world = World::new();
    world.document("a.pdf", "@insured.name = Acme LLC\n@insured.dot_number = 9000001\n@insured.mc_number = 900001");
    world.document("b.pdf", "@insured.name = Acme LLC\n@insured.dot_number = 9000001\n@insured.mc_number = 900002");
    assert_eq!(world.run(&tool(), json!({})).await["insured"]["dot_number"], "9000001");
}

#[tokio::test]
async fn a_number_with_two_characters_swapped_asks_and_the_answer_settles_it() {
    let mut world = World::new();
    world.document("a.pdf", "@insured.name = Acme LLC\n@policies[0].policy_number = AC 81-5075");
    world.document("b.pdf", "@insured.name = Acme LLC\n@policies[0].policy_number = AC 815057");
    let args = json!({"required": ["insured", "policies"]});
    let review = world.call(&tool(), args.clone()).await.unwrap().review.unwrap();
    assert!(review.reason.contains("AC 81-5075 and AC 815057 are one"), "{}", review.reason);
    world.state(json!({"extracted_policies": [{"policy_number": "AC 81-5075"}]}));
    let data = world.run(&tool(), args.clone()).await;
    assert_eq!(
        (data["policy_count"].clone(), data["extracted_policies"][0]["policy_number"].clone()),
        (json!(1), json!("AC 81-5075"))
    );
    // Both may be right, and the number of the next term is no slip.
    let both = json!([{"policy_number": "AC 81-5075"}, {"policy_number": "AC 815057"}]);
    world.state(json!({"extracted_policies": both}));
    assert_eq!(world.run(&tool(), args.clone()).await["policy_count"], 2);
    let mut world = World::new();
    world.document("a.pdf", "@insured.name = Acme LLC\n@policies[0].policy_number = AC 815057-05");
    world.document("b.pdf", "@insured.name = Acme LLC\n@policies[0].policy_number = AC 815057-06");
    assert_eq!(world.run(&tool(), args).await["policy_count"], 2);
}

#[tokio::test]
async fn a_policy_number_that_is_hard_to_read_asks_and_the_answer_settles_it() {
    let mut world = World::new();
    let args = json!({"required": ["insured", "policies"]});
    let faint = "@policies[0].policy_number = AC 8150 ?0.3\n@policies[1].policy_number = BD 77";
    let review = asked_of(&mut world, faint).await.unwrap();
    assert!(review.reason.contains("number is hard to read: AC 8150; name what is right"), "{}", review.reason);
    assert_eq!(review.details["policies"][0]["confidence"], 0.3);
    world.state(json!({"extracted_policies": [{"policy_number": "AC 8159"}]}));
    let data = world.run(&tool(), args.clone()).await;
    let numbers: Vec<&Value> =
        data["extracted_policies"].as_array().unwrap().iter().map(|one| &one["policy_number"]).collect();
    assert_eq!(numbers, [&json!("AC 8159"), &json!("BD 77")]);
    // Another paper that shows it plainly is an answer, too.
    let mut world = World::new();
    world.document("b.pdf", "@policies[0].policy_number = AC-8150 ?0.8");
    assert!(asked_of(&mut world, faint).await.is_none());
    assert_eq!(world.run(&tool(), args).await["extracted_policies"][0]["confidence"], 0.8);
}

#[tokio::test]
async fn dates_by_which_a_policy_ends_before_it_begins_are_for_a_person_to_look_at() {
    let mut world = World::new();
    let text = "@insured.name = Acme LLC\n\
                @policies[0].policy_number = A1\n@policies[0].effective = 2026-01-01\n\
                @policies[0].expiration = 2025-01-01\n\
                @policies[1].policy_number = B2\n@policies[1].effective = 2025-01-01\n\
                @policies[1].expiration = 2026-01-01";
    world.document("a.pdf", text);
    let data = world.run(&tool(), json!({"required": ["insured", "policies"]})).await;
    let listed = data["fields_for_review"].as_array().unwrap();
    let listed: Vec<(&Value, &Value)> = listed.iter().map(|field| (&field["name"], &field["item"])).collect();
    assert_eq!(listed, [(&json!("effective"), &json!(0)), (&json!("expiration"), &json!(0))]);
    assert_eq!(data["fields_for_review"][0]["problem"], "the policy would end before it begins");
    assert_eq!(data["extracted_policies"][1]["effective"], "2025-01-01");
}

#[tokio::test]
async fn the_agency_is_never_the_insured() {
    let mut world = World::new();
    let text = "@agency.name = Birch Street Agency\n@insured.name = Birch Street Agency LLC ?0.95\n\
                @insured.name = Ironwood Lane Insurance Agency ?0.95\n@insured.name = Acme LLC ?0.7";
    world.document("a.pdf", text);
    assert_eq!(world.run(&tool(), json!({})).await["insured"]["name"], "Acme LLC");
}

#[tokio::test]
async fn nothing_required_asks_nothing() {
    let data = World::new().run(&tool(), json!({"required": []})).await;
    assert_eq!((&data["insured"]["name"], &data["policy_count"]), (&Value::Null, &json!(0)));
}

#[tokio::test]
async fn policies_of_two_companies_ask_although_no_number_tells_them_apart() {
    let paper = |name: &str, number: &str| {
        format!(
            "@insured.name = {name} ?0.97\n@policies[0].policy_number = {number}\n@policies[0].insurer = North Mutual"
        )
    };
    let mut world = World::new();
    world.document("a.pdf", &paper("Oak Bend Haulage LLC", "A1"));
    world.document("b.pdf", &paper("OAK BEND HAULAGE", "A2"));
    world.run(&tool(), json!({})).await;
    world.document("c.pdf", &paper("Juniper Flats Transport Inc", "C1"));
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["companies"], json!(["Oak Bend Haulage LLC", "Juniper Flats Transport Inc"]));
    world.state(json!({"insured": {"name": "Oak Bend Haulage LLC"}}));
    world.run(&tool(), json!({})).await;
}

#[tokio::test]
async fn companies_of_one_family_are_two_where_papers_insure_both() {
    let mut world = World::new();
    let paper =
        |name: &str, number: &str| format!("@insured.name = {name} ?0.97\n@policies[0].policy_number = {number}");
    world.document("a.pdf", &paper("Thorn Trucking, Inc.", "A1"));
    world.document("b.pdf", &paper("Thorn Truckng Inc", "A2"));
    world.run(&tool(), json!({})).await;
    world.document("c.pdf", &paper("Thorn & Son Grain LLC", "C1"));
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["companies"], json!(["Thorn Trucking, Inc.", "Thorn & Son Grain LLC"]));
}

#[tokio::test]
async fn two_companies_in_a_signature_are_asked_about() {
    let mut world = World::new();
    let text = "Please order them.\n\nKim\nMaple Spur Trucking LLC  |  Maple Spur Logistics Inc.";
    world.mail("kim@maplespur.example", "Losses", text);
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["companies"], json!(["Maple Spur Logistics Inc.", "Maple Spur Trucking LLC"]));
    let led = format!("@insured.name = Maple Spur Trucking LLC ?0.9\n{text}");
    world.mail("kim@maplespur.example", "Losses", &led);
    assert!(world.call(&tool(), json!({})).await.unwrap().review.is_none());
    world.mail("kim@maplespur.example", "Losses", "Please order them.\nKim | Maple Spur Trucking LLC | 512-555-0171");
    assert!(world.call(&tool(), json!({})).await.unwrap().review.is_none());
}

#[tokio::test]
async fn companies_of_whom_a_message_speaks_together_are_several() {
    let mut world = World::new();
    let names = "@companies[0].name = Redbud Haul LLC\n@companies[1].name = Larch Logistics LLC";
    let text = "Please order them for both of our companies, Redbud Haul LLC and Larch Logistics LLC.";
    world.mail("kim@redbudhaul.example", "Losses", &format!("{text}\n\n{names}"));
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["companies"], json!(["Larch Logistics LLC", "Redbud Haul LLC"]));
    let text = "Please order them for Redbud Haul LLC. Larch Logistics LLC, a shipper, wants them.";
    world.mail("kim@redbudhaul.example", "Losses", &format!("{text}\n\n{names}"));
    assert!(world.call(&tool(), json!({})).await.unwrap().review.is_none());
}

#[tokio::test]
async fn a_consultant_writes_about_whom_the_papers_name() {
    let mut world = World::new();
    world.document("a.pdf", "@insured.name = Yarrow Cliff Transport LLC ?0.7\n@insured.dot_number = 9000001");
    let company = "@companies[0].name = Straight Safety LLC";
    let named = |world: &mut World, text: &str| {
        world.mail("kim@straightsafety.example", "Losses", &format!("{text}\nStraight Safety LLC\n{company}"));
    };
    named(&mut world, "I was retained by Yarrow Cliff, please order them.");
    assert_eq!(world.run(&tool(), json!({})).await["insured"]["name"], "Yarrow Cliff Transport LLC");
    named(&mut world, "Please order them.");
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["companies"], json!(["Straight Safety LLC", "Yarrow Cliff Transport LLC"]));
}

#[tokio::test]
async fn companies_that_a_message_lists_with_a_number_each_are_several() {
    let mut world = World::new();
    let list = "Both please.\nMaple Spur Hauling LLC (DOT 9000001)\nZephyr Mill Transport Inc (DOT 9000002)";
    world.mail("kim@elsewhere.example", "Losses", list);
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["companies"], json!(["Maple Spur Hauling LLC", "Zephyr Mill Transport Inc"]));
    world.mail("kim@elsewhere.example", "Losses", "Maple Spur Hauling LLC (DOT 9000001), please order them.");
    assert!(world.call(&tool(), json!({})).await.unwrap().review.is_none());
}

#[tokio::test]
async fn the_name_of_whoever_writes_is_no_part_of_the_company() {
    let mut world = World::new();
    let text = "Kim Marsh of Fern Hollow LLC here.\n@insured.name = Kim Marsh of Fern Hollow LLC ?0.7";
    world.mail_from("Kim Marsh", "kim@elsewhere.example", "Losses", text);
    assert_eq!(world.run(&tool(), json!({})).await["insured"]["name"], "Fern Hollow LLC");
    world.mail_from("Fern Hollow", "ops@fernhollow.example", "Losses", "@insured.name = Fern Hollow of Waco LLC ?0.7");
    assert_eq!(world.run(&tool(), json!({})).await["insured"]["name"], "Fern Hollow of Waco LLC");
}

#[tokio::test]
async fn whoever_writes_of_one_company_and_sends_a_paper_of_another_is_asked() {
    let paper = "@insured.name = Yarrow Cliff Transport LLC ?0.97\n@policies[0].policy_number = B1\n\
                 @policies[0].insurer = North Mutual";
    let companies = |name: &str| format!("@companies[0].name = {name}");
    let own = format!("{}\n@policies[0].policy_number = A1", companies("Oak Bend Haulage LLC"));
    let mut world = World::new();
    world.document("a.pdf", paper);
    world.mail("kim@oakbend.example", "Losses", &format!("Order ours, A1.\nOak Bend Haulage LLC\n{own}"));
    let review = world.call(&tool(), json!({"required": ["insured", "policies"]})).await.unwrap().review.unwrap();
    assert_eq!(review.details["companies"], json!(["Oak Bend Haulage LLC", "Yarrow Cliff Transport LLC"]));
    world.mail(
        "kim@oakbend.example",
        "Losses",
        &format!("Order them.\nOak Bend Haulage LLC\n{}", companies("Oak Bend Haulage LLC")),
    );
    assert!(world.call(&tool(), json!({})).await.unwrap().review.is_none(), "it numbers nothing of its own");
}

#[tokio::test]
async fn a_number_in_the_message_that_is_not_the_papers_asks() {
    let mut world = World::new();
    world.document("a.pdf", "@insured.name = Acme LLC\n@insured.dot_number = 9000001");
    world.mail("kim@acme.example", "Losses", "Please order them. Our USDOT number is 9000010.");
    let review = world.call(&tool(), json!({})).await.unwrap().review.unwrap();
    assert_eq!(review.details["dot_numbers"], json!(["9000001", "9000010"]));
    world.mail("kim@acme.example", "Losses", "We are DOT# 9000001, and before us DOT 9000010.");
    assert!(world.call(&tool(), json!({})).await.unwrap().review.is_none(), "of two numbers one is another's");
}

#[tokio::test]
async fn the_company_from_whose_domain_the_message_came_is_the_insured() {
    let mut world = World::new();
    let companies = "@companies[0].name = Birch Street Freight LLC\n@companies[1].name = Juniper Flats Transport LLC";
    world.mail("ops@juniperflats.example", "Loss runs", companies);
    let data = world.run(&tool(), json!({})).await;
    assert_eq!(data["insured"]["name"], "Juniper Flats Transport LLC");
    assert_eq!(data["insured_sources"]["name"]["confidence"], json!(0.8));
    // What a paper says plainly is surer, and a stranger's domain says nothing.
    world.document("a.pdf", "@insured.name = Acme LLC");
    assert_eq!(world.run(&tool(), json!({})).await["insured"]["name"], "Acme LLC");
    let mut stranger = World::new();
    stranger.mail("ops@elsewhere.example", "Loss runs", companies);
    assert_eq!(stranger.run(&tool(), json!({"required": []})).await["insured"]["name"], Value::Null);
}

#[tokio::test]
async fn whoever_sends_somebody_else_is_not_the_insured() {
    let companies = "@companies[0].name = Birch Street Rigs LLC\n@companies[1].name = Juniper Flats Transport LLC";
    let name = async |text: &str| {
        let mut world = World::new();
        world.mail("sales@birchstreetrigs.example", "insurance", &format!("{text}\n{companies}"));
        world.run(&tool(), json!({"required": []})).await["insured"]["name"].clone()
    };
    assert_eq!(name("Got a buyer for you, please call her.").await, "Juniper Flats Transport LLC");
    assert_eq!(name("A buyer called.").await, "Birch Street Rigs LLC");
}

#[tokio::test]
async fn the_company_that_a_message_is_about_needs_no_legal_form() {
    let name = async |subject: &str, text: &str| {
        let mut world = World::new();
        world.mail_from("Ada Example", "ada@mailbox.example", subject, text);
        world.run(&tool(), json!({"required": []})).await["insured"]["name"].clone()
    };
    assert_eq!(name("", "it's Ada with Fern Hollow Hauling, need reports").await, "Fern Hollow Hauling");
    assert_eq!(name("", "for Fern Hollow Hauling, DOT 9000001").await, "Fern Hollow Hauling");
    assert_eq!(name("Losses - Fern Hollow", "Fern Hollow Hauling renews in May.").await, "Fern Hollow Hauling");
    assert_eq!(name("Losses - Ada Example", "Ada Example needs them.").await, Value::Null, "the sender is a person");
    assert_eq!(name("certificate for Fern Hollow", "Fern Hollow Hauling wants it").await, Value::Null);
    let labelled = "it's Ada with Fern Hollow Hauling\n@insured.name = Acme LLC";
    assert_eq!(name("", labelled).await, "Acme LLC", "a label says it more plainly");
}

#[tokio::test]
async fn who_holds_a_certificate_that_was_asked_for_beneath_is_not_the_insured() {
    let mut world = World::new();
    let text =
        "Please order the reports.\n\nFrom: Dock <dock@cedarmillfoods.example>\nPlease send it to Cedar Mill Foods.";
    world.mail("kim@mailbox.example", "FW: papers", text);
    assert_eq!(world.run(&tool(), json!({"required": []})).await["insured"]["name"], "Cedar Mill Foods");
    let text = format!("{text}\n@certificate_holder = Cedar Mill Foods");
    world.mail("kim@mailbox.example", "FW: papers", &text);
    assert_eq!(world.run(&tool(), json!({"required": []})).await["insured"]["name"], Value::Null);
}

#[tokio::test]
async fn the_tenant_is_not_the_insured_though_it_writes() {
    let mut world = World::new();
    let us = "@companies[0].name = Ironwood Lane Insurance Agency";
    world.mail("desk@ironwoodlaneinsuranceagency.example", "Loss runs", us);
    assert_eq!(world.run(&tool(), json!({"required": []})).await["insured"]["name"], Value::Null);
}

#[tokio::test]
async fn who_writes_is_told_by_the_senders_name_and_address() {
    let mut world = World::new();
    let text = "@contact.name = Wrong Person\n@contact.email = desk@elsewhere.example ?0.5\nThanks, Ada Example";
    world.mail_from("Ada Example", "ada@fernhollow.example", "Loss runs", text);
    let read = world.run(&tool(), json!({"required": []})).await["extractions"].clone();
    let fields = read[0]["fields"].as_array().unwrap();
    let of = |name: &str| {
        fields.iter().filter(|field| field["name"] == name).map(|field| &field["value"]).collect::<Vec<_>>()
    };
    assert_eq!(of("contact.name"), ["Ada Example"]);
    assert!(of("contact.email").is_empty(), "an address of a stranger's domain is not the sender's");
}

#[tokio::test]
async fn a_mail_servers_report_names_nobody_to_write_to() {
    let mut world = World::new();
    let text = "@contact.email = lost@elsewhere.example\n@insured.name = Acme LLC\nnot delivered";
    world.mail("mailer-daemon@elsewhere.example", "Undeliverable", text);
    let fields = |read: &Value| read["extractions"][0]["fields"].as_array().unwrap().len();
    assert_eq!(fields(&json!(world.run(&tool(), json!({"required": []})).await)), 2);
    world.mail.as_mut().unwrap().kind = kybern_core::mail::MailKind::Bounce;
    assert_eq!(fields(&json!(world.run(&tool(), json!({"required": []})).await)), 1);
}

#[tokio::test]
async fn the_rest_of_a_name_is_no_insurer() {
    let mut world = World::new();
    let text = "@insured.name = Acme LLC\n@policies[0].policy_number = A1\n@policies[0].insurer = Casualty Insurance Co.\n\
                @policies[1].policy_number = B2\n@policies[1].insurer = North Casualty Insurance Co.";
    world.document("a.pdf", text);
    let data = world.run(&tool(), json!({})).await;
    assert_eq!(data["extracted_policies"][0]["insurer"], Value::Null);
    assert_eq!(data["extracted_policies"][1]["insurer"], "North Casualty Insurance Co.");
}

#[tokio::test]
async fn all_that_is_open_is_one_question_and_one_answer_settles_it() {
    let mut world = World::new();
    let paper = |name: &str, dot: &str, number: &str| {
        format!(
            "@insured.name = {name} ?0.97\n@insured.dot_number = {dot}\n@policies[0].policy_number = {number}\n\
             @policies[0].insurer = North Mutual"
        )
    };
    world.document("a.pdf", &paper("Oak Bend Haulage LLC", "9000001", "AC 815075"));
    world.document("b.pdf", &paper("Juniper Flats Transport Inc", "9000002", "AC 815057"));
    world.document("c.pdf", "@policies[0].policy_number = GL 40012\n@policies[0].insurer = North Mutual");
    world.document("d.pdf", "@policies[0].policy_number = GL 40021\n@policies[0].insurer = North Mutual");
    let args = json!({"required": ["insured", "policies"]});
    let review = world.call(&tool(), args.clone()).await.unwrap().review.unwrap();
    for part in ["AC 815075 and AC 815057", "GL 40012 and GL 40021", "DOT numbers for the insured", "insured companies"]
    {
        assert!(review.reason.contains(part), "{part}: {}", review.reason);
    }
    assert_eq!(review.title.as_deref(), Some("What do the documents say?"));
    assert_eq!(review.details["dot_numbers"], json!(["9000001", "9000002"]));
    assert_eq!(review.details["companies"], json!(["Oak Bend Haulage LLC", "Juniper Flats Transport Inc"]));
    assert_eq!(review.details["policies"].as_array().unwrap().len(), 4);
    // What leaves one of them open is no answer.
    let policies = json!([{"policy_number": "AC 815075"}, {"policy_number": "GL 40012"}]);
    let mut answer = json!({"extracted_policies": policies, "insured": {"name": "Oak Bend Haulage LLC"}});
    assert!(!jsonschema::is_valid(&review.schema, &answer));
    answer["insured"]["dot_number"] = json!("9000001");
    assert!(jsonschema::is_valid(&review.schema, &answer));
    world.state(answer);
    let data = world.run(&tool(), args).await;
    assert_eq!((&data["insured"]["dot_number"], &data["policy_count"]), (&json!("9000001"), &json!(2)));
}

#[tokio::test]
async fn whose_a_policy_is_is_asked_with_what_else_is_open() {
    let mut world = World::new();
    world.document("a.pdf", "@policies[0].policy_number = A1");
    let args = json!({"required": ["insured", "policies"]});
    let review = world.call(&tool(), args.clone()).await.unwrap().review.unwrap();
    assert!(review.reason.contains("insured's name") && review.reason.contains("the insurer of 1 policies"));
    let answer = json!({"insured": {"name": "Acme LLC"}, "policy_insurers": {"A1": "North Mutual"}});
    assert!(jsonschema::is_valid(&review.schema, &answer));
    // Where nothing else is open, the step that needs the insurer asks.
    world.state(json!({"insured": {"name": "Acme LLC"}}));
    world.run(&tool(), args).await;
}

#[tokio::test]
async fn a_register_says_of_which_policies_the_losses_are_wanted() {
    let mut world = World::new();
    let row = |n: usize, said: &str| format!("@policies[{n}].policy_number = A{n}\n@policies[{n}].loss_runs = {said}");
    let rows = [
        row(1, "Y"),
        row(2, "N - have it"),
        row(3, "yes, five years"),
        row(4, "no"),
        row(5, "now"),
        row(6, "received 3/2"),
    ]
    .join("\n");
    world.document("a.pdf", &format!("@insured.name = Acme LLC\n{rows}"));
    let data = world.run(&tool(), json!({})).await;
    let numbers: Vec<&Value> =
        data["extracted_policies"].as_array().unwrap().iter().map(|policy| &policy["policy_number"]).collect();
    assert_eq!(numbers, ["A1", "A3", "A5"]);
}

/// What a paper says of policies, and what is asked about it.
async fn asked_of(world: &mut World, policies: &str) -> Option<Box<Review>> {
    world.document("a.pdf", &format!("@insured.name = Acme LLC\n{policies}"));
    world.call(&tool(), json!({"required": ["insured", "policies"]})).await.unwrap().review
}

#[tokio::test]
async fn an_insurer_that_rules_and_model_read_differently_is_asked_before_anything_is_made() {
    let mut world = World::new();
    let policies = "@policies[0].policy_number = A1\n@policies[0].insurer = North Mutual ~South Casualty\n\
                    @policies[1].policy_number = B2\n@policies[1].insurer = North Mutual";
    let review = asked_of(&mut world, policies).await.unwrap();
    assert!(
        review.reason.contains("different insurers were read for A1, North Mutual and South Casualty"),
        "{}",
        review.reason
    );
    let asked = &review.schema["properties"]["policy_insurers"]["properties"];
    assert_eq!((&asked["A1"]["examples"], asked.get("B2")), (&json!(["North Mutual", "South Casualty"]), None));
    world.state(json!({"policy_insurers": {"A1": "South Casualty"}}));
    let data = world.run(&tool(), json!({"required": ["insured", "policies"]})).await;
    let insurers: Vec<&Value> =
        data["extracted_policies"].as_array().unwrap().iter().map(|one| &one["insurer"]).collect();
    assert_eq!(insurers, [&json!("South Casualty"), &json!("North Mutual")]);
}

#[tokio::test]
async fn what_one_paper_says_plainly_settles_what_is_contested_in_another() {
    let mut world = World::new();
    world.document("b.pdf", "@policies[0].policy_number = A1\n@policies[0].insurer = South Casualty");
    let contested = "@policies[0].policy_number = A1\n@policies[0].insurer = North Mutual ~South Casualty";
    assert_eq!(asked_of(&mut world, contested).await, None);
    let data = world.run(&tool(), json!({})).await;
    assert_eq!(data["extracted_policies"][0]["insurer"], "South Casualty");
}

#[tokio::test]
async fn one_insurers_code_beside_another_ones_name_is_asked() {
    for (code, is_asked) in [("99339 *", true), ("99338 *", false), ("99339", true), ("99338 ~99339", true)] {
        let mut world = World::new();
        for (name, naic) in [("North Mutual", "99338"), ("South Casualty", "99339")] {
            let insurer = json!({"insurer_name": name, "naic_number": naic, "create": true});
            world.run(crate::tests::insurer_tool().as_ref(), insurer).await;
        }
        let policies =
            format!("@policies[0].policy_number = A1\n@policies[0].insurer = North Mutual\n@policies[0].naic = {code}");
        let review = asked_of(&mut world, &policies).await;
        assert_eq!(review.is_some(), is_asked, "{code}: {review:?}");
        if let Some(review) = review {
            let choices = &review.schema["properties"]["policy_insurers"]["properties"]["A1"]["examples"];
            let choices: Vec<String> = serde_json::from_value(choices.clone()).unwrap();
            assert_eq!(choices.len(), 2, "{choices:?}");
            assert!(choices.contains(&"South Casualty".to_owned()), "{choices:?}");
        }
    }
}

#[tokio::test]
async fn a_shorter_spelling_of_one_insurer_is_no_contest() {
    let mut world = World::new();
    let policies = "@policies[0].policy_number = A1\n@policies[0].insurer = North Ridge Insurance Company ~North Ridge";
    assert_eq!(asked_of(&mut world, policies).await, None);
}

#[tokio::test]
async fn an_insurer_that_was_asked_for_and_has_no_policy_is_a_question() {
    let mut world = World::new();
    for (name, naic) in [("Northfield Mutual", "99338"), ("Cedar Point Casualty", "99339")] {
        let insurer = json!({"insurer_name": name, "naic_number": naic, "create": true});
        world.run(crate::tests::insurer_tool().as_ref(), insurer).await;
    }
    world.document(
        "a.pdf",
        "@insured.name = Acme LLC\n@policies[0].policy_number = AL-40021\n@policies[0].insurer = Northfield Mutual",
    );
    world.mail(
        "kim@acme.example",
        "Loss runs",
        "Please order the loss runs from Northfield Mutual and Cedar Point Casualty.",
    );
    let args = json!({"required": ["insured", "policies"]});
    let review = world.call(&tool(), args.clone()).await.unwrap().review.unwrap();
    assert_eq!(review.details["insurers"], json!(["Cedar Point Casualty"]));
    assert!(review.reason.contains("no policy of theirs was found"), "{}", review.reason);
    // That there is none is an answer.
    world.state(json!({"extracted_policies": []}));
    let data = world.run(&tool(), args.clone()).await;
    assert_eq!(data["extracted_policies"].as_array().map(Vec::len), Some(1));
    // Whom the message only mentions is not asked for.
    let mut world = World::new();
    world
        .run(crate::tests::insurer_tool().as_ref(), json!({"insurer_name": "Cedar Point Casualty", "create": true}))
        .await;
    world.document(
        "a.pdf",
        "@insured.name = Acme LLC\n@policies[0].policy_number = AL-40021\n@policies[0].insurer = Northfield Mutual",
    );
    world.mail("kim@acme.example", "Loss runs", "Please order the loss runs. Cedar Point Casualty made an offer too.");
    assert_eq!(world.run(&tool(), args).await["extracted_policies"].as_array().map(Vec::len), Some(1));
}
