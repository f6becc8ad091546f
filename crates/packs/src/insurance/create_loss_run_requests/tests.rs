use kybern_core::lesson::Teaching;
use kybern_core::ports::StatelessTool;
use kybern_core::ports::{SpelledValue, SpellingRule as _};
use kybern_core::record::{Lookup, Record};

use super::*;
use crate::args::text;
use crate::company;
use crate::insurance::kinds::{DEAL, ENTITY, LOSS_RUN_REQUEST};
use crate::tests::World;

fn tool() -> StatelessTool {
    create_loss_run_requests()
}

fn deal(world: &World) -> String {
    world.put(DEAL, "d", json!({"entity_id": "e", "pipeline_type": "renewal", "stage": "new", "coverage_types": []}))
}

fn policy(number: &str, insurer: &str, naic: Option<&str>) -> Value {
    json!({"policy_number": number, "insurer": insurer, "naic": naic, "lines": ["AL"], "documents": [1]})
}

#[tokio::test]
async fn one_insurer_in_two_spellings_gets_one_request() {
    let world = World::new();
    let deal = deal(&world);
    let policies = json!([
        policy("A1", "Northfield Ridge Insurance Company", Some("99101")),
        policy("A2", "Northfield Ridge Ins. Co.", None),
        policy("B1", "Blue Heron Assurance Corporation", None),
    ]);
    let data = world.run(&tool(), json!({"deal_id": deal, "policies": policies})).await;
    assert_eq!((&data["created_count"], data["request_ids"].as_array().unwrap().len()), (&json!(2), 2));
    assert_eq!(world.records(LOSS_RUN_REQUEST)[0].props["policy_numbers"], json!(["A1", "A2"]));
}

#[tokio::test]
async fn a_draft_is_added_to_and_a_sent_request_is_not() {
    let world = World::new();
    let deal = deal(&world);
    let ask = |numbers: &[&str]| {
        let list: Vec<Value> = numbers.iter().map(|number| policy(number, "North", None)).collect();
        json!({"deal_id": deal, "policies": list})
    };
    world.run(&tool(), ask(&["A1"])).await;
    let merged = world.run(&tool(), ask(&["A1", "A2"])).await;
    assert_eq!((&merged["created_count"], &merged["updated_count"]), (&json!(0), &json!(1)));
    assert_eq!(world.run(&tool(), ask(&["a-1"])).await["updated_count"], 0);

    let sent =
        change::update(&world.records(LOSS_RUN_REQUEST)[0], fields([("status", json!("requested"))]), Vec::new());
    world.write(&ToolOutcome { records: vec![sent], ..ToolOutcome::default() });
    let known = world.run(&tool(), ask(&["A2"])).await;
    assert_eq!((&known["created_count"], &known["request_ids"]), (&json!(0), &merged["request_ids"]));
    assert_eq!(world.run(&tool(), ask(&["A3"])).await["created_count"], 1);
}

#[tokio::test]
async fn a_policy_without_an_insurer_asks_whose_it_is() {
    let mut world = World::new();
    let deal = deal(&world);
    let args = json!({"deal_id": deal, "policies": [{"policy_number": "A1"}]});
    let review = world.call(&tool(), args.clone()).await.unwrap().review.unwrap();
    let answer = json!({"policy_insurers": {"A1": "North Mutual"}});
    assert!(jsonschema::is_valid(&review.schema, &answer));
    world.state(answer);
    world.run(&tool(), args).await;
    assert_eq!(world.records(LOSS_RUN_REQUEST)[0].props["insurer"], "North Mutual");
}

#[tokio::test]
async fn a_draft_takes_up_the_insurer_who_became_known_since() {
    let world = World::new();
    let args = json!({"deal_id": deal(&world), "policies": [policy("A1", "North Mutual", Some("99338"))]});
    world.run(&tool(), args.clone()).await;
    assert_eq!(world.records(LOSS_RUN_REQUEST)[0].props["insurer_entity_id"], Value::Null);
    know(&world, "North Mutual", "99338").await;
    world.run(&tool(), args).await;
    let insurer = world.records(ENTITY).into_iter().find(|one| one.props["name"] == "North Mutual").unwrap();
    let requests = world.records(LOSS_RUN_REQUEST);
    assert_eq!((requests.len(), &requests[0].props["insurer_entity_id"]), (1, &json!(insurer.id)));
}

#[tokio::test]
async fn a_known_insurer_is_linked() {
    let world = World::new();
    let resolver = crate::tests::insurer_tool();
    let args = json!({"insurer_name": "North Mutual", "naic_number": "99338", "create": true});
    let insurer = world.run(resolver.as_ref(), args).await;
    let args = json!({"deal_id": deal(&world), "policies": [policy("A1", "North Mutual Co", None)]});
    let outcome = world.call(&tool(), args).await.unwrap();
    assert_eq!(outcome.records[0].put.props["insurer_entity_id"], insurer["insurer_id"]);
    assert_eq!(outcome.links[0].kind, ENTITY);
}

/// A world that knows an insurer, and its deal.
async fn knowing(insurer: &str) -> (World, String) {
    let world = World::new();
    let resolver = crate::tests::insurer_tool();
    world.run(resolver.as_ref(), json!({"insurer_name": insurer, "naic_number": "99338", "create": true})).await;
    let deal = deal(&world);
    (world, deal)
}

#[tokio::test]
async fn an_insurer_with_a_slip_of_the_pen_is_a_question_with_the_known_one() {
    for written in ["Quilfeather Insurance Co", "Quillfeathre Ins. Company", "Quilfeather", "Quill Feather Insurance"] {
        let (mut world, deal) = knowing("Quillfeather Insurance Company").await;
        let args =
            json!({"deal_id": deal, "policies": [policy("A1", written, None), policy("B1", "Blue Heron", None)]});
        let review = world.call(&tool(), args.clone()).await.unwrap().review.unwrap();
        let choices = &review.schema["properties"]["policy_insurers"]["properties"]["A1"]["examples"];
        assert_eq!(*choices, json!(["Quillfeather Insurance Company", written]), "{review:?}");
        assert_eq!(review.details["policy_numbers"], json!(["A1"]), "an unknown insurer is asked as it is written");
        assert!(review.reason.contains(written), "{}", review.reason);
        world.state(json!({"policy_insurers": {"A1": "Quillfeather Insurance Company"}}));
        let outcome = world.call(&tool(), args).await.unwrap();
        assert!(outcome.review.is_none());
        assert!(outcome.records[0].put.props["insurer_entity_id"].is_string(), "{written}");
        let lesson = Teaching::Spelling {
            schema: "insurance".to_owned(),
            field: "policies/insurer".to_owned(),
            label: written.to_owned(),
            value: "Quillfeather Insurance Company".to_owned(),
        };
        assert_eq!(outcome.lessons, [lesson]);
    }
}

/// A world that knows Arcadia, and has learned that Acadia is another spelling of it.
async fn spelled() -> (World, String) {
    let (mut world, deal) = knowing("Arcadia Mutual").await;
    world.learn(Teaching::Spelling {
        schema: "insurance".to_owned(),
        field: "policies/insurer".to_owned(),
        label: "acadia mutual".to_owned(),
        value: "Arcadia Mutual".to_owned(),
    });
    (world, deal)
}

async fn know(world: &World, insurer: &str, naic: &str) {
    let insurer = json!({"insurer_name": insurer, "naic_number": naic, "create": true});
    world.run(crate::tests::insurer_tool().as_ref(), insurer).await;
}

/// The request to the insurer of one policy: its insurer's name, and whose record it has.
async fn asked_of(world: &World, deal: &str, naic: Option<&str>) -> (Value, Option<String>) {
    let args = json!({"deal_id": deal, "policies": [policy("A1", "Acadia Mutual", naic)]});
    world.run(&tool(), args).await;
    let props = &world.records(LOSS_RUN_REQUEST)[0].props;
    let own = |insurer: &Record| props["insurer_entity_id"] == json!(insurer.id);
    let insurer = world.records(ENTITY).into_iter().find(own);
    (props["insurer"].clone(), insurer.and_then(|insurer| text(&insurer.props, "name")))
}

#[tokio::test]
async fn a_learned_spelling_means_the_known_insurer() {
    let (world, deal) = spelled().await;
    let arcadia = (json!("Arcadia Mutual"), Some("Arcadia Mutual".to_owned()));
    assert_eq!(asked_of(&world, &deal, None).await, arcadia);
}

#[tokio::test]
async fn a_learned_spelling_that_is_a_known_insurers_own_name_means_that_one() {
    let (world, deal) = spelled().await;
    know(&world, "Acadia Mutual", "99777").await;
    let acadia = (json!("Acadia Mutual"), Some("Acadia Mutual".to_owned()));
    assert_eq!(asked_of(&world, &deal, None).await, acadia);
}

#[tokio::test]
async fn a_code_beside_a_learned_spelling_counts_before_it() {
    // A code that nobody knows is not the meant insurer's, which has one of its own.
    let (world, deal) = spelled().await;
    assert_eq!(asked_of(&world, &deal, Some("99778")).await, (json!("Acadia Mutual"), None));
    // Nor is one of another insurer, under whatever name that one is known.
    let (world, deal) = spelled().await;
    know(&world, "Acadia Group", "99777").await;
    let other = (json!("Acadia Mutual"), Some("Acadia Group".to_owned()));
    assert_eq!(asked_of(&world, &deal, Some("99777")).await, other);
}

#[tokio::test]
async fn a_person_who_names_another_known_insurer_teaches_no_spelling_of_it() {
    let (mut world, deal) = knowing("Arcadia Mutual").await;
    know(&world, "Acadia Mutual", "99777").await;
    world.state(json!({"policy_insurers": {"A1": "Arcadia Mutual"}}));
    let args = json!({"deal_id": deal, "policies": [policy("A1", "Acadia Mutual", None)]});
    assert!(world.call(&tool(), args).await.unwrap().lessons.is_empty());
}

#[tokio::test]
async fn what_a_person_leaves_as_it_is_written_is_asked_about_once() {
    let (mut world, deal) = knowing("Acadia Mutual").await;
    let args = json!({"deal_id": deal, "policies": [policy("A1", "Arcadia Mutual", None)]});
    assert!(world.call(&tool(), args.clone()).await.unwrap().review.is_some());
    world.state(json!({"policy_insurers": {"A1": "Arcadia Mutual"}}));
    assert!(world.call(&tool(), args.clone()).await.unwrap().lessons.is_empty());
    world.run(&tool(), args).await;
    let request = &world.records(LOSS_RUN_REQUEST)[0].props;
    assert_eq!((&request["insurer"], &request["insurer_entity_id"]), (&json!("Arcadia Mutual"), &Value::Null));
    world.next_task();
    let more = json!({"deal_id": deal, "policies": [policy("A2", "Arcadia Mutual", None)]});
    assert_eq!(world.run(&tool(), more).await["updated_count"], 1);
}

#[tokio::test]
async fn another_code_is_another_insurer_however_alike_the_name_is() {
    let (world, deal) = knowing("Acadia Mutual").await;
    let args = json!({"deal_id": deal, "policies": [policy("A1", "Arcadia Mutual", Some("99777"))]});
    assert_eq!(world.run(&tool(), args).await["created_count"], 1);
}

#[tokio::test]
async fn a_policy_without_an_insurer_has_those_that_its_paper_may_mean_as_choices() {
    let (mut world, deal) = knowing("Prairie Lantern Transportation Insurance").await;
    let resolver = crate::tests::insurer_tool();
    let other =
        json!({"insurer_name": "Quillfeather Transportation Insurance", "naic_number": "99339", "create": true});
    world.run(resolver.as_ref(), other).await;
    let field = json!({"name": "insurer", "group": "policies", "value": "Transportation Insurance Company"});
    world.state(json!({"extractions": [{"n": 1, "fields": [field]}]}));
    let args = json!({"deal_id": deal, "policies": [{"policy_number": "A1", "documents": [1]}]});
    let review = world.call(&tool(), args).await.unwrap().review.unwrap();
    let choices = &review.schema["properties"]["policy_insurers"]["properties"]["A1"]["examples"];
    let names = ["Prairie Lantern Transportation Insurance", "Quillfeather Transportation Insurance"];
    assert_eq!(*choices, json!(names), "{review:?}");
}

#[tokio::test]
async fn a_persons_word_counts_before_the_code_that_was_read() {
    let mut world = World::new();
    let deal = deal(&world);
    world.state(json!({"policy_insurers": {"A1": "North Mutual", "B1": "Blue Heron"}}));
    let unread = |number: &str| json!({"policy_number": number, "naic": "99777"});
    let args = json!({"deal_id": deal, "policies": [unread("A1"), unread("B1")]});
    assert_eq!(world.run(&tool(), args).await["created_count"], 2);
    let asked: Vec<(Value, Value)> = world
        .records(LOSS_RUN_REQUEST)
        .iter()
        .map(|request| (request.props["insurer"].clone(), request.props["naic"].clone()))
        .collect();
    assert_eq!(asked, [(json!("North Mutual"), Value::Null), (json!("Blue Heron"), Value::Null)]);
}

#[tokio::test]
async fn many_policies_without_an_insurer_are_one_question_made_of_one_look_at_the_known_ones() {
    let (mut world, deal) = knowing("Prairie Lantern Transportation Insurance").await;
    let field = |value: &str| json!({"name": "insurer", "group": "policies", "value": value});
    let names = ["Transportation Insurance Company", "Blue Heron", "Transportation Insurance Company", "Oak Mutual"];
    let papers: Vec<Value> = (1..=2).map(|n| json!({"n": n, "fields": names.map(&field).to_vec()})).collect();
    world.state(json!({"extractions": papers}));
    let unread = |n: u32| json!({"policy_number": format!("A{n}"), "documents": [1 + n % 2]});
    let before = world.surveys();
    let args = json!({"deal_id": deal, "policies": (0..300).map(unread).collect::<Vec<_>>()});
    let review = world.call(&tool(), args).await.unwrap().review.unwrap();
    assert_eq!(world.surveys() - before, 1);
    let asked = &review.schema["properties"]["policy_insurers"];
    assert_eq!(asked["required"].as_array().unwrap().len(), 300);
    let policies = review.details["policies"].as_array().unwrap();
    let with_choices = policies.iter().filter(|policy| policy["candidates"][0].is_object());
    assert_eq!(with_choices.count(), 100, "what is shown of each is bounded, what is asked is not");
}

#[tokio::test]
async fn a_spelling_counts_for_no_known_name_and_no_other_insurers_code() {
    let world = World::new();
    let insurer = |key: &str, name: &str, naic: &str| {
        let identifiers = json!([{"type": "NAIC", "value": naic}]);
        let props = json!({"name": name, "entity_type": "insurance_carrier", "identifiers": identifiers});
        let lookups = vec![Lookup::shared("name", company::normal_name(name)), Lookup::shared("NAIC", naic)];
        world.put_with(ENTITY, key, props, lookups);
    };
    insurer("naic:1", "Harrow Plains Mutual", "99101");
    insurer("naic:2", "Harrow Place Mutual", "99102");
    let (tool, ours, others) = (tool(), json!("99101"), json!("99102"));
    let context = world.context(&tool);
    let counts = async |written: &str, value: &str, naic: Option<&Value>| {
        let beside: Vec<(&str, &Value)> = naic.into_iter().map(|code| ("naic", code)).collect();
        let spelled = SpelledValue { written, value, beside: &beside };
        InsurerNames.counts(context.records().unwrap(), context.scope, spelled).await.unwrap()
    };
    assert!(counts("Harow Plains Mutual", "Harrow Plains Mutual", None).await);
    assert!(counts("Harow Plains Mutual", "Harrow Plains Mutual", Some(&ours)).await);
    assert!(!counts("Harow Plains Mutual", "Harrow Plains Mutual", Some(&others)).await);
    assert!(!counts("Harrow Place Mutual", "Harrow Plains Mutual", None).await, "it is known itself");
    assert!(!counts("Harow Plains Mutual", "Nobody Mutual", None).await, "nobody is meant");
}

#[tokio::test]
async fn a_letter_of_authority_goes_along_with_the_requests_that_it_is_for() {
    let mut world = World::new();
    let deal = deal(&world);
    world.document("dec.pdf", "x");
    world.document("loa-all.pdf", "y");
    world.document("loa-north.pdf", "z");
    let paper = |n: u32, category: &str| json!({"n": n, "category": category, "fields": []});
    world.state(json!({"extractions": [paper(1, "DEC_PAGE"), paper(2, "LOA"), paper(3, "LOA")]}));
    let north = json!({"policy_number": "A1", "insurer": "North Mutual", "documents": [1, 3]});
    let policies = json!([north, policy("B1", "Blue Heron Assurance Corporation", None)]);
    let args = json!({"deal_id": deal, "policies": policies});
    world.run(&tool(), args.clone()).await;
    let attached = |request: &Record| -> Vec<String> {
        let letters = request.props["attachments"].as_array().unwrap();
        letters.iter().map(|letter| letter["filename"].as_str().unwrap().to_owned()).collect()
    };
    let requests = world.records(LOSS_RUN_REQUEST);
    assert_eq!(attached(&requests[0]), ["loa-all.pdf", "loa-north.pdf"], "{requests:?}");
    assert_eq!(attached(&requests[1]), ["loa-all.pdf"]);
    assert_eq!(world.run(&tool(), args).await["updated_count"], 0, "the same letters change nothing");
}

#[test]
fn a_request_takes_as_many_letters_as_one_mail_does() {
    let letter = |n: usize, size: u64| json!({"hash": n, "size": size});
    let joined = |letters: &[Value]| crate::insurance::authority::joined(Vec::new(), letters).taken.len();
    assert_eq!(joined(&(0..20).map(|n| letter(n, 1)).collect::<Vec<_>>()), 10);
    assert_eq!(joined(&[letter(1, 10 << 20), letter(2, 1), letter(1, 1)]), 1);
    assert_eq!(joined(&[json!({"hash": 1})]), 0, "one of no size");
}

#[tokio::test]
async fn a_draft_tells_of_the_letters_for_which_a_mail_has_no_room() {
    let mut world = World::new();
    let deal = deal(&world);
    for n in 1..=12 {
        world.document(&format!("loa-{n}.pdf"), &format!("letter {n}"));
    }
    let papers: Vec<Value> = (1..=12).map(|n| json!({"n": n, "category": "LOA", "fields": []})).collect();
    world.state(json!({"extractions": papers}));
    let args = json!({"deal_id": deal, "policies": [policy("A1", "North Mutual", None)]});
    world.run(&tool(), args.clone()).await;
    let listed = |name: &str| -> Vec<String> {
        let request = world.records(LOSS_RUN_REQUEST).remove(0);
        let letters = request.props.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        letters.iter().map(|letter| letter["filename"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed("attachments").len(), 10);
    assert_eq!(listed("attachments_left_out"), ["loa-11.pdf", "loa-12.pdf"]);
    assert_eq!(world.run(&tool(), args).await["updated_count"], 0, "the same letters change nothing");
    // What changes something else keeps all of their files as well.
    let more =
        json!({"deal_id": deal, "policies": [policy("A1", "North Mutual", None), policy("A2", "North Mutual", None)]});
    let outcome = world.call(&tool(), more).await.unwrap();
    let files = outcome.records[0].put.lookups.iter().filter(|lookup| lookup.name == Lookup::FILE);
    assert_eq!(files.count(), 12);
}
