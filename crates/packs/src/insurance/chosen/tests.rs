use std::sync::Arc;

use kybern_core::document::DocumentText;
use kybern_core::model::{ExtractedField, Extraction, FieldSource, FoundBy};

use super::*;
use crate::insurance::ExtractDocuments;
use crate::tests::World;

fn policy(number: &str, insurer: &str, lines: &[&str]) -> Policy {
    Policy {
        number: number.to_owned(),
        insurer: Some(insurer.to_owned()),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        confidence: Some(0.9),
        ..Policy::default()
    }
}

fn policies() -> Vec<Policy> {
    vec![
        policy("AL-40021", "Northfield Mutual Insurance Company", &["Auto Liability"]),
        policy("MC 77-1003", "Cedar Point Casualty Company", &["Motor Truck Cargo"]),
        policy("GL-55014", "Northfield Mutual Insurance Company", &["General Liability"]),
        policy("UM-90210", "Summit Bay Insurance Company", &["Umbrella"]),
    ]
}

/// The numbers of the policies that a message wants; `None` where a person is asked.
fn wanted(text: &str) -> Option<Vec<String>> {
    wanted_of(text, &policies())
}

fn wanted_of(text: &str, policies: &[Policy]) -> Option<Vec<String>> {
    let mentions = Mentions::new(&[], policies);
    let mut picked = PickedPolicies::default();
    sentences(text).iter().for_each(|sentence| picked.read(sentence, &mentions, policies));
    let wanted = match picked.choice(policies.len()) {
        Choice::All => vec![true; policies.len()],
        Choice::These(wanted) => wanted,
        Choice::Some(_) | Choice::Perhaps(_) => return None,
    };
    Some(policies.iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(policy, _)| policy.number.clone()).collect())
}

#[test]
fn what_a_message_picks_for_certain_is_all_that_it_wants() {
    for (text, numbers) in [
        ("Please order loss runs for the auto liability only.", &["AL-40021"][..]),
        ("Need loss runs, just the cargo policy please. Schedule attached.", &["MC 77-1003"]),
        ("We only need the cargo and the umbrella. Thanks", &["MC 77-1003", "UM-90210"]),
        ("Please request the losses only from Northfield.", &["AL-40021", "GL-55014"]),
        ("Please pull the loss runs from Cedar Point and Summit Bay only, thanks.", &["MC 77-1003", "UM-90210"]),
        ("Loss runs on MC 77-1003 only, please.", &["MC 77-1003"]),
        ("Can you order the loss runs? Nothing for the cargo.", &["AL-40021", "GL-55014", "UM-90210"]),
        ("Please order loss runs on everything but the umbrella.", &["AL-40021", "MC 77-1003", "GL-55014"]),
        ("Order them all except for Cedar Point's, please.", &["AL-40021", "GL-55014", "UM-90210"]),
        ("Loss runs for the attached. The umbrella is not needed.", &["AL-40021", "MC 77-1003", "GL-55014"]),
        ("Loss runs for the attached please, you can leave the cargo out.", &["AL-40021", "GL-55014", "UM-90210"]),
        ("We need the losses. The cargo is brand new, do NOT write to them.", &["AL-40021", "GL-55014", "UM-90210"]),
        ("We don't need the cargo, only the general liability.", &["GL-55014"]),
        ("Just the general liability from Northfield, please.", &["GL-55014"]),
        ("Please order the losses, no loss runs needed for the cargo.", &["AL-40021", "GL-55014", "UM-90210"]),
        ("Loss runs please, only the cargo policy which renews in May.", &["MC 77-1003"]),
        ("Please order the cargo only and let me know.", &["MC 77-1003"]),
        (
            "Can you get the history? We do NOT need it for the garage, that is the Cedar Point one (MC 77-1003).",
            &["AL-40021", "GL-55014", "UM-90210"],
        ),
        ("Necesito el historial de p\u{e9}rdidas, solo de la carga.", &["MC 77-1003"]),
        ("Merci de demander les sinistres, sauf pour la cargaison.", &["AL-40021", "GL-55014", "UM-90210"]),
    ] {
        assert_eq!(
            wanted(text).as_deref(),
            Some(&numbers.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>()[..]),
            "{text}"
        );
    }
}

#[test]
fn where_nobody_can_tell_what_a_message_picks_a_person_is_asked() {
    for text in [
        "Please order loss runs for the physical damage only.",
        "We only need the liability.",
        "Only the first two carriers please, loss runs for five years.",
        "Loss runs for five years please. Just the first two carriers.",
        "Just the highlighted policies need loss runs.",
        "Loss runs for the cargo only. Please also request the umbrella.",
        "Please order the loss runs. We already have the cargo losses.",
        "We need loss runs only for the cargo and the reefer breakdown.",
        "Could you just order the cargo loss runs?",
        "Please order the loss runs, nothing on the cargo.",
        "Please order everything except the physical damage.",
        "Please do not order anything except for the cargo.",
        "All losses are closed except for the cargo.",
    ] {
        assert_eq!(wanted(text), None, "{text}");
    }
}

#[test]
fn what_people_call_a_line_is_that_line() {
    let policies = vec![
        policy("A-11002", "North Bay Mutual", &["Auto Liability"]),
        policy("W-22003", "Summit Bay Insurance", &["Workers Compensation"]),
        policy("U-33004", "Cedar Point Casualty", &["Umbrella"]),
    ];
    for (text, numbers) in [
        ("Please get loss runs on all of it but comp.", &["A-11002", "U-33004"][..]),
        ("Please order the loss runs. Leave WC and umbrella alone, those two came in.", &["A-11002"]),
        ("Merci de commander les sinistres. Tous sauf l\u{2019}umbrella.", &["A-11002", "W-22003"]),
        (
            "Merci de commander les sinistres. Tous sauf l'umbrella, celui-l\u{e0} on ne le renouvelle pas et c'est tout.",
            &["A-11002", "W-22003"],
        ),
        (
            "Please get loss runs on all of it but comp. Comp went elsewhere and they send me theirs every month.",
            &["A-11002", "U-33004"],
        ),
    ] {
        let numbers: Vec<String> = numbers.iter().map(|number| (*number).to_owned()).collect();
        assert_eq!(wanted_of(text, &policies), Some(numbers), "{text}");
    }
}

#[test]
fn words_that_pick_no_policies_leave_all() {
    for text in [
        "Please order the loss runs for the attached policies.",
        "We just moved the cargo to Cedar Point, please order the loss runs.",
        "They ask for losses on all of it, not the auto liability only.",
        "Need loss runs, not just the cargo.",
        "I can hold capacity until Wednesday only. Please order the loss runs.",
        "I've got nothing from Cedar Point or Summit Bay, please chase the loss runs.",
        "No claims except the mirror, please order the loss runs.",
        "There were no losses except for the cargo.",
        "No claims except for the cargo, please order the loss runs.",
        "We have no loss runs for the cargo, please order them all.",
        "I have nothing for the cargo, please chase Cedar Point.",
        "Please order the loss runs, only the last five years.",
        "Please order the loss runs only from the carriers listed below.",
        "The umbrella only drops down over the auto liability. Order loss runs please.",
        "This message is intended only for the addressee. It is not for Northfield to read, please order all.",
        "Don't forget the cargo when you order the loss runs.",
        "Loss runs for the auto liability, the cargo, the general liability and the umbrella only.",
        "Liability | cargo only | 1,000,000 | AL-40021",
    ] {
        assert_eq!(wanted(text).map(|wanted| wanted.len()), Some(4), "{text}");
    }
}

#[test]
fn a_line_of_several_policies_or_of_none_that_is_known_is_not_certain() {
    let mut several = policies();
    several[2].lines = Vec::new();
    assert_eq!(wanted_of("Loss runs for the cargo only.", &several), None, "the third may be a cargo policy");
    let two = vec![
        policy("A-11002", "North Bay Mutual", &["Umbrella"]),
        policy("B-22003", "North Bay Mutual", &["Umbrella"]),
    ];
    assert_eq!(wanted_of("Only the umbrella please.", &two).map(|wanted| wanted.len()), Some(2));
    assert_eq!(wanted_of("Please order them only from North Bay.", &two).map(|wanted| wanted.len()), Some(2));
}

#[test]
fn the_words_of_turns_are_as_words_are_compared() {
    let lists = [
        say::ONLY,
        say::ALONE,
        say::NOTHING_BUT,
        word::NOT,
        say::EXCEPT,
        say::NOT_NEEDED,
        say::LEAVE_THEM,
        say::IN_HAND,
        word::ASKS,
        word::LOSSES,
        word::BETWEEN,
        word::AND,
        word::OF,
        word::THINGS,
        word::AFTER,
        word::LAYERS,
        word::PICKS,
        word::TERMS,
        word::PICKED,
        word::ALL_OF,
        word::OUT,
        say::UNSURE,
        word::DOES,
        say::STATED,
        word::NONE,
        say::NOTHING_FOR,
        word::LEADS,
        word::EVERY,
        word::GOES_ON,
    ];
    for phrase in lists.into_iter().flatten() {
        let words: Vec<String> = phrase.split(' ').map(company::normal_name).collect();
        assert_eq!(words.join(" "), *phrase);
    }
}

#[tokio::test]
async fn a_person_chooses_and_the_others_are_left_out() {
    let mut world = World::new();
    let text = "@insured.name = Oak Bend Haulage LLC\n@policies[0].policy_number = AL-40021\n@policies[0].line = Auto\n\
                @policies[0].insurer = Northfield Mutual\n@policies[1].policy_number = UM-90210\n@policies[1].line = Umbrella\n\
                @policies[1].insurer = Summit Bay Insurance";
    world.document("schedule.pdf", text);
    world.mail(
        "kim@oakbend.example",
        "Loss runs",
        "Please order the loss runs for the umbrella only, schedule attached.",
    );
    let args = json!({"required": ["insured", "policies"]});
    let data = world.run(&ExtractDocuments::new(), args.clone()).await;
    assert_eq!(
        (&data["policy_count"], &data["extracted_policies"][0]["policy_number"]),
        (&json!(1), &json!("UM-90210"))
    );
    world.mail("kim@oakbend.example", "Loss runs", "Please order the loss runs, only for the highlighted policy.");
    let review = world.call(&ExtractDocuments::new(), args.clone()).await.unwrap().review.unwrap();
    assert_eq!(review.title.as_deref(), Some("Which policies are wanted?"));
    assert_eq!(review.schema["properties"]["wanted_policies"]["items"]["enum"], json!(["AL-40021", "UM-90210"]));
    assert!(review.reason.contains("only for the highlighted policy"), "{}", review.reason);
    world.state(json!({"wanted_policies": ["AL-40021"]}));
    let data = world.run(&ExtractDocuments::new(), args).await;
    assert_eq!(
        (&data["policy_count"], &data["extracted_policies"][0]["policy_number"]),
        (&json!(1), &json!("AL-40021"))
    );
}

#[test]
fn what_alone_is_wanted_is_what_is_left_where_no_paper_calls_it_so() {
    let policies =
        [policy("THR-2204467", "Cedar Point Casualty Company", &[]), policy("GSG-10082", "Summit Bay Insurance", &[])];
    let garage = "We do not need it for the garage, that is the Summit Bay one (GSG-10082).";
    let only = wanted_of(&format!("Can you get the loss history? Only the auto please. {garage}"), &policies);
    assert_eq!(only, Some(vec!["THR-2204467".to_owned()]));
    assert_eq!(wanted_of("Can you get the loss history? Only the auto please.", &policies), None);
}

#[tokio::test]
async fn what_is_left_out_in_words_that_nobody_knows_is_asked_about() {
    let read = |text: &str| {
        let mut world = World::new();
        world.document(
            "a.pdf",
            "@insured.name = Acme LLC\n@policies[0].policy_number = AL-40021\n@policies[0].insurer = Northfield Mutual\n\
             @policies[1].policy_number = MC-771003\n@policies[1].insurer = Cedar Point Casualty",
        );
        world.mail("kim@acme.example", "Loss runs", text);
        world
    };
    for text in [
        "Please order the loss runs. The old ones are only there for show, nobody needs to bother those folks.",
        "Please request loss experience on whatever is Active in the export.",
        "Please order the loss runs, with the exception of the office package.",
    ] {
        let world = read(text);
        let review =
            world.call(&ExtractDocuments::new(), json!({"required": ["insured", "policies"]})).await.unwrap().review;
        assert!(review.is_some_and(|review| review.title.as_deref() == Some("Which policies are wanted?")), "{text}");
    }
    for text in [
        "Please order the loss runs for both policies.",
        "Please order the loss runs. Hallmere Casualty Company had us until 2021; skip them.",
    ] {
        let data = read(text).run(&ExtractDocuments::new(), json!({"required": ["insured", "policies"]})).await;
        assert_eq!(data["extracted_policies"].as_array().map(Vec::len), Some(2), "{text}");
    }
}

fn dated(number: &str, from: &str, to: &str) -> Policy {
    Policy {
        effective: Some(from.to_owned()),
        expiration: Some(to.to_owned()),
        ..policy(number, "Northfield Mutual Insurance Company", &["Auto Liability"])
    }
}

/// What a message of that day wants of these policies; `None` where a person is asked.
fn wanted_on(day: &str, text: &str, register: &str, policies: &[Policy]) -> Option<Vec<String>> {
    let mut message = crate::reading::as_document(text.to_owned());
    message.pages[0].written = day.parse().ok();
    let read = |n: u32, text: DocumentText, fields: Vec<ExtractedField>| ReadDocument {
        n,
        filename: String::new(),
        extraction: Extraction { fields, ..Extraction::default() },
        text: Arc::new(text),
    };
    let place = |n: u32, text: &str, (item, policy): (usize, &Policy)| {
        let start = text.find(&policy.number)?;
        let source =
            FieldSource { document: n, page: 1, start, end: start + policy.number.len(), ..FieldSource::default() };
        Some(ExtractedField {
            name: "policy_number".to_owned(),
            group: Some("policies".to_owned()),
            item: u32::try_from(item).ok(),
            value: policy.number.as_str().into(),
            confidence: 0.9,
            problem: None,
            source,
            found_by: FoundBy::Rules,
            rival: None,
        })
    };
    let fields = |n: u32, text: &str| policies.iter().enumerate().filter_map(|one| place(n, text, one)).collect();
    // Without a register the message numbers them.
    let own = if register.is_empty() { fields(MESSAGE_NUMBER, text) } else { Vec::new() };
    let paper = crate::reading::as_document(register.to_owned());
    let all = [read(1, paper, fields(1, register)), read(MESSAGE_NUMBER, message, own)];
    match choice(&all, policies) {
        Choice::All => Some(policies.iter().map(|policy| policy.number.clone()).collect()),
        Choice::These(wanted) => {
            Some(policies.iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(one, _)| one.number.clone()).collect())
        }
        Choice::Some(_) | Choice::Perhaps(_) => None,
    }
}

#[test]
fn what_a_register_marks_is_wanted_by_its_mark() {
    let policies = [
        policy("AL-40021", "Northfield Mutual", &["Auto Liability"]),
        policy("AL-40020", "Northfield Mutual", &["Auto Liability"]),
        policy("MC-77100", "Cedar Point Casualty", &["Motor Truck Cargo"]),
    ];
    let register = "Policy\tTo\tStatus\nAL-40021\t2027\tActive\nAL-40020\t2026\tExpired\nMC-77100\t2027\tActive\n";
    let text = "Please order loss runs on everything that shows Active on there, and skip the rest.";
    let wanted = ["AL-40021", "MC-77100"].map(str::to_owned).to_vec();
    assert_eq!(wanted_on("2026-03-02", text, register, &policies), Some(wanted));
    let unmarked = "Policy\tTo\nAL-40021\t2027\nAL-40020\t2026\nMC-77100\t2027\n";
    assert_eq!(wanted_on("2026-03-02", text, unmarked, &policies), None);
}

#[test]
fn a_list_says_in_its_rows_what_is_wanted() {
    let policies = [
        policy("AL-40021", "Northfield Mutual", &["Auto Liability"]),
        policy("MC-77100", "Cedar Point Casualty", &["Motor Truck Cargo"]),
        policy("BP-30001", "Summit Bay", &[]),
    ];
    let wanted = |numbers: &[&str]| Some(numbers.iter().map(|number| (*number).to_owned()).collect::<Vec<_>>());
    let on = |text: &str, register: &str| wanted_on("2026-03-02", text, register, &policies);
    let marked = "Policy\tLoss run\tLine\nAL-40021\thave it\tAuto\nMC-77100\tNEED\tCargo\nBP-30001\tneed\tOffice\n";
    assert_eq!(on("Please order the ones I have marked.", marked), wanted(&["MC-77100", "BP-30001"]));
    assert_eq!(on("Please order them all.", marked), None, "a paper's own words may mean something else");
    let own = "Please order what I lack:\n\nAL-40021\thave it\tAuto\nMC-77100\tNEED\tCargo\nBP-30001\tneed\tOffice\n";
    assert_eq!(on(own, ""), wanted(&["MC-77100", "BP-30001"]), "its writer's own list");
    let plain =
        "Policy\tStatus\tLine\nAL-40021\tActive\tAuto\nMC-77100\tExpired\tCargo\nBP-30001\tNTU\tOffice building\n";
    assert_eq!(on("Please order the ones I have marked.", plain), None, "what is marked by hand nobody sees");
    let text = "Loss runs please for everything in the list that is active or expired. Skip the NTU row.";
    assert_eq!(on(text, plain), wanted(&["AL-40021", "MC-77100"]));
    let text = "Please order loss runs on every line on the tab except the office building.";
    assert_eq!(on(text, plain), wanted(&["AL-40021", "MC-77100"]));
    let text = "Please order loss runs for all. Our ref AL-2026-0093311, it is with the billing desk.";
    assert_eq!(on(text, plain), wanted(&["AL-40021", "MC-77100", "BP-30001"]), "a mark is no line of coverage");
    let text = "Please order them all.\n\nAny use by persons other than the intended recipient is prohibited.";
    assert_eq!(on(text, plain), wanted(&["AL-40021", "MC-77100", "BP-30001"]), "a notice leaves nothing out");
}

#[test]
fn a_day_narrows_what_a_line_picks() {
    let mut cargo = dated("MC-77100", "2025-01-01", "2026-01-01");
    cargo.lines = vec!["Motor Truck Cargo".to_owned()];
    let mut auto = [dated("AL-40021", "2026-01-01", "2027-01-01"), dated("AL-40020", "2022-01-01", "2023-01-01")];
    auto.iter_mut().for_each(|policy| policy.lines = vec!["Auto Liability".to_owned()]);
    let [new, old] = auto;
    let text =
        "She wants loss runs for auto liability only, and only for policies that expired on or after January 1, 2024.";
    let on = |policies: &[Policy]| wanted_on("2026-03-02", text, "", policies);
    assert_eq!(on(&[new.clone(), old, cargo]), Some(vec!["AL-40021".to_owned()]));
    let unknown = Policy { expiration: None, ..new.clone() };
    assert_eq!(on(&[new, unknown]), None, "of one nobody knows when it ends");
}

#[test]
fn the_dates_say_which_terms_are_over() {
    let policies = [dated("AL-40021", "2026-01-01", "2027-01-01"), dated("AL-40020", "2025-01-01", "2026-01-01")];
    let only = |number: &str| Some(vec![number.to_owned()]);
    let on = |text: &str| wanted_on("2026-03-02", text, "", &policies);
    assert_eq!(on("Please order the loss runs. Only the expired terms please."), only("AL-40020"));
    assert_eq!(on("Please order the loss runs, only the current policy please."), only("AL-40021"));
    assert_eq!(on("Please order only currently valued loss runs."), Some(vec!["AL-40021".into(), "AL-40020".into()]));
    let unknown = [policy("AL-40021", "Northfield Mutual", &[]), policies[1].clone()];
    assert_eq!(wanted_on("2026-03-02", "Only the expired terms please.", "", &unknown), None);
}

#[test]
fn what_is_said_of_some_policies_and_not_understood_is_asked_about() {
    let all: Vec<String> = policies().iter().map(|policy| policy.number.clone()).collect();
    let on = |text: &str| wanted_on("2026-03-02", text, "", &policies());
    for text in [
        "Please order the loss runs. The cargo moved to the association in January.",
        "Please order the loss runs. I put that in on their portal yesterday, do not double up.",
        "Please order the loss runs today. I do not think the cargo can wait.",
        "Please order the loss runs, whatever is active.",
        "Please order loss runs for the first one on the attached list only.",
        "Please order loss runs for some of the policies of the attached list.",
        "Could you pull the losses on the first two?",
        "Please order it for some of the policies.",
        "Por favor pidan la siniestralidad de algunas de las polizas adjuntas.",
        "Please order the loss runs. Cargo is with Cedar Point Casualty Company, and we would rather you did not approach them.",
    ] {
        assert_eq!(on(text), None, "{text}");
    }
    for text in [
        "Please order the loss runs. The cargo renews in March, so sooner is better.",
        "Please order the loss runs.\nFern Cargo Transport\n512-555-0171",
        "Please order the loss runs. The cargo is AL-40021 with Northfield as you know.",
        "Please order the loss runs.\nGreetings from Fern Cargo Transport near here, as it happens",
        "Please order the loss runs. We are still missing the one of Northfield.",
        "Please order the loss runs for the last two years.",
        "Please order the loss runs for the last three policy years.",
        "Please order the loss runs. It is the first one that we ask you for this year.",
        "Please order the loss runs. Here is what we carry: liability, cargo and general liability.",
    ] {
        assert_eq!(on(text), Some(all.clone()), "{text}");
    }
}

#[test]
fn a_list_of_policies_without_an_end_is_chosen_from_in_time() {
    let text: String = (0..60).map(|n| format!("liability of AL-{n} with Fern{n}, ")).collect();
    let choose = |count: usize| {
        let policies: Vec<Policy> =
            (0..count).map(|n| policy(&format!("BA{n}"), &format!("Fern{n} Casualty"), &["Auto Liability"])).collect();
        drop(wanted_of(&text, &policies));
    };
    assert!(kybern_testkit::growth(50, choose) < 12.0);
}

#[test]
fn what_is_named_again_and_again_before_a_turn_is_joined_in_time() {
    let text = |times: usize| format!("{}{}", "cargo ".repeat(times), "foo cargo x not needed ".repeat(times));
    assert!(kybern_testkit::growth(30, |times| drop(wanted(&text(times)))) < 24.0);
}
