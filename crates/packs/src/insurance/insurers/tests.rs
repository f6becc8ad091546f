use kybern_core::record::Lookup;
use serde_json::{Value, json};

use super::super::extract_documents::ExtractDocuments;
use super::*;
use crate::tests::World;

fn named(names: &[&str], text: &str) -> Option<usize> {
    let ids: Vec<RecordId> = (1..).take(names.len()).map(uuid::Uuid::from_u128).map(RecordId::from_uuid).collect();
    let known = ids.iter().zip(names).map(|(id, name)| (*id, company::normal_name(name))).collect();
    let found = Names::of(known).only_one_in(text)?;
    ids.iter().position(|id| *id == found)
}

#[test]
fn an_insurer_is_known_by_the_beginning_of_its_name_that_no_other_has() {
    let known =
        ["Prairie Lantern Mutual Insurance Company", "Prairie Gate Casualty Company", "Quillfeather Insurance Co."];
    assert_eq!(named(&known, "Loss runs from Prairie Lantern, please."), Some(0));
    assert_eq!(named(&known, "we are with QUILLFEATHER"), Some(2));
    assert_eq!(named(&known, "out on the prairie"), None);
    assert_eq!(named(&known, "Quillfeather, and Prairie Gate before"), None, "two are named");
    assert_eq!(named(&["Quillfeather Ltd", "Quillfeather Ltd"], "with Quillfeather"), Some(0), "the oldest of a name");
}

#[test]
fn an_insurers_own_domain_is_its_name() {
    for (address, insurer) in [
        ("a@quillfeather.example", "Quillfeather Insurance Co."),
        ("a@mail.quillfeather-insurance.example", "Quillfeather Insurance Co."),
        ("a@quillfeathergroup.example", "Quillfeather Insurance Co."),
        ("a@quillfeathermutualins.example", "Quillfeather Casualty Company of America"),
        ("a@redaldergroup.example", "Red Alder County Mutual"),
        ("a@quillfeather.co.uk", "Quillfeather Insurance Co."),
        ("a@redalder.example", "Red Alder County Mutual"),
        ("a@redaldercounty.example", "Red Alder County Mutual"),
        ("a@harrowmead.example", "Harrow & Mead Insurance Ltd."),
        ("a@harrowandmead.example", "Harrow & Mead Insurance Ltd."),
        ("a@greatwestcasualty.example", "Great West Casualty Company"),
        ("a@quillfeathergroup.example", "Quillfeather Insurance Co. of America"),
    ] {
        assert!(writes_from(address, insurer), "{address}");
    }
    for (address, insurer) in [
        ("a@hearthadjusters.example", "Quillfeather Mutual Insurance Co."),
        ("a@mutualinsurance.example", "Quillfeather Mutual Insurance Co."),
        ("quillfeather@mailbox.example", "Quillfeather Mutual Insurance Co."),
        ("none", "Quillfeather Mutual Insurance Co."),
        ("a@quillfeather.evil.example", "Quillfeather Mutual Insurance Co."),
        ("a@quillfeather-claims.example", "Quillfeather Mutual Insurance Co."),
        ("a@myquillfeather.example", "Quillfeather Mutual Insurance Co."),
        ("a@quill.example", "Quillfeather Mutual Insurance Co."),
        ("a@prairie.example", "Prairie Lantern Mutual Insurance Company"),
        ("a@red.example", "Red Alder County Mutual"),
        ("a@redgroup.example", "Red Alder County Mutual"),
        ("a@prairiegroup.example", "Prairie Lantern Mutual Insurance Company"),
        ("a@quillfeathergroupclaims.example", "Quillfeather Mutual Insurance Co."),
        ("a@mutualinsurance.example", "First Mutual Insurance Co."),
        ("a@great.example", "Great West Casualty Company"),
    ] {
        assert!(!writes_from(address, insurer), "{address}");
    }
}

/// The tenant's records have this insurer.
fn insurer(world: &World, key: &str, name: &str) {
    let lookups = vec![Lookup::shared(ALL.0, ALL.1), Lookup::shared("name", company::normal_name(name))];
    world.put_with(ENTITY, key, json!({"name": name, "entity_type": ALL.1}), lookups);
}

async fn insurer_of(world: &mut World, paper: &str) -> Value {
    world.document("a.pdf", paper);
    let data = world.run(&ExtractDocuments::new(), json!({})).await;
    data["extracted_policies"][0]["insurer"].clone()
}

#[tokio::test]
async fn a_policy_without_an_insurer_has_the_one_that_its_paper_names_as_the_record_spells_it() {
    let mut world = World::new();
    insurer(&world, "naic:77001", "Prairie Lantern Mutual");
    world.put(ENTITY, "dot:9000003", json!({"name": "Oak Bend Haulage", "entity_type": "motor_carrier"}));
    let paper = "@insured.name = Acme LLC\n@policies[0].policy_number = A1\n";
    let named = insurer_of(&mut world, &format!("{paper}through PRAIRIE LANTERN, Oak Bend Haulage")).await;
    assert_eq!(named, "Prairie Lantern Mutual");
}

#[tokio::test]
async fn the_end_of_an_insurers_name_is_not_taken_for_that_insurer() {
    let mut world = World::new();
    insurer(&world, "naic:77001", "Prairie Lantern Transportation Insurance Company");
    let paper = "@insured.name = Acme LLC\n@policies[0].policy_number = A1\n\
                 @policies[0].insurer = Transportation Insurance Company";
    assert_eq!(insurer_of(&mut world, paper).await, "Transportation Insurance Company");
    insurer(&world, "naic:77002", "Quillfeather Transportation Insurance Company");
    assert_eq!(insurer_of(&mut world, paper).await, "Transportation Insurance Company", "two have it");
    let mut world = World::new();
    let known_as = |name: &str| json!({"insurer_name": name, "naic_number": "77001", "create": true});
    world
        .run(crate::tests::insurer_tool().as_ref(), known_as("Prairie Lantern Transportation Insurance Company"))
        .await;
    let coded = |code: &str| format!("{paper}\n@policies[0].naic = {code}");
    assert_eq!(insurer_of(&mut world, &coded("77001")).await, "Prairie Lantern Transportation Insurance Company");
    let mut world = World::new();
    world.run(crate::tests::insurer_tool().as_ref(), known_as("Quillfeather Transportation Insurance Company")).await;
    assert_eq!(insurer_of(&mut world, &coded("77003")).await, "Transportation Insurance Company", "another's code");
}

#[tokio::test]
async fn in_a_letter_the_insurer_of_the_numbers_own_sentence_counts() {
    let mut world = World::new();
    insurer(&world, "naic:77001", "Prairie Lantern Mutual");
    insurer(&world, "naic:77002", "Quillfeather Insurance");
    let text = "Our trucks are with Prairie Lantern, AB-7712.\n\nThe cargo is written by Quillfeather.\n\
                @insured.name = Acme LLC\n@policies[0].insurer = Quillfeather Insurance\n@policies[0].policy_number = AB-7712";
    world.mail("kim@acme.example", "Losses", text);
    let data = world.run(&ExtractDocuments::new(), json!({})).await;
    assert_eq!(data["extracted_policies"][0]["insurer"], "Prairie Lantern Mutual");
}

#[tokio::test]
async fn an_unknown_insurer_beside_a_known_one_is_contested() {
    let mut world = World::new();
    insurer(&world, "naic:77001", "Prairie Lantern Mutual");
    let text = "Prairie Lantern has AB-7712, 2021 to 2023 was with Quillfeather.\n\
                @insured.name = Acme LLC\n@policies[0].insurer = Quillfeather Insurance\n@policies[0].policy_number = AB-7712";
    world.mail("kim@acme.example", "Losses", text);
    let contested = async |world: &mut World, text: &str| {
        world.mail("kim@acme.example", "Losses", text);
        world.run(&ExtractDocuments::new(), json!({})).await["extracted_policies"][0]["contested"].clone()
    };
    let both = json!(["Quillfeather Insurance", "Prairie Lantern Mutual"]);
    assert_eq!(contested(&mut world, text).await, both);
    // Its own name cut short is no other insurer; one that only begins alike is.
    let cut = text.replace("= Quillfeather Insurance", "= Prairie Lant");
    assert_eq!(contested(&mut world, &cut).await, Value::Null);
    insurer(&world, "naic:77003", "Halyard Motor Risk Retention Group, Inc.");
    let initials =
        text.replace("Prairie Lantern has", "Halyard RRG has").replace("Quillfeather Insurance", "Halyard RRG");
    assert_eq!(contested(&mut world, &initials).await, Value::Null);
    for near in ["Prairie Latern Mutual", "Prairie Casualty Company"] {
        let text = text.replace("Quillfeather Insurance", near);
        assert_eq!(contested(&mut world, &text).await, json!([near, "Prairie Lantern Mutual"]));
    }
}

#[tokio::test]
async fn a_policy_of_a_paper_that_names_two_insurers_has_none() {
    let mut world = World::new();
    insurer(&world, "naic:77001", "Prairie Lantern Mutual");
    insurer(&world, "naic:77002", "Quillfeather Insurance");
    let paper = "@insured.name = Acme LLC\n@policies[0].policy_number = A1\nfrom Prairie Lantern";
    assert_eq!(insurer_of(&mut world, paper).await, "Prairie Lantern Mutual");
    let mut world = World::new();
    insurer(&world, "naic:77001", "Prairie Lantern Mutual");
    insurer(&world, "naic:77002", "Quillfeather Insurance");
    assert_eq!(insurer_of(&mut world, &format!("{paper} to Quillfeather")).await, Value::Null);
}
