use kybern_core::id::OutboxId;
use kybern_core::lesson::Teaching;
use kybern_core::outbox::message_id;
use kybern_core::record::Lookup;
use uuid::Uuid;

use super::*;
use crate::insurance::kinds::{DEAL, ENTITY, LOSS_RUN_REQUEST};
use crate::tests::World;

const INSURER: &str = "Prairie Lantern Mutual Insurance Company";

fn world(sender: &str, policies: &[&str]) -> (World, String) {
    let mut world = World::new();
    let props = json!({
        "deal_id": "d", "entity_id": "e", "insurer": INSURER, "status": "requested",
        "policy_numbers": policies, "lines": []
    });
    let id = world.put(LOSS_RUN_REQUEST, "r", props);
    world.mail(sender, "Loss runs", "attached");
    world.answers(&id);
    (world, id)
}

async fn asked(world: &World) -> Option<Review> {
    world.call(&match_reply(), json!({})).await.unwrap().review.map(|review| *review)
}

#[tokio::test]
async fn the_insurers_own_answer_finds_its_request() {
    for sender in ["desk@prairielantern.example", "noreply@claims.prairie-lantern-mutual.example"] {
        let (world, id) = world(sender, &["A-1"]);
        let outcome = world.call(&match_reply(), json!({})).await.unwrap();
        assert!(outcome.review.is_none(), "{sender}");
        assert_eq!((&outcome.data["request_ids"], outcome.links.len()), (&json!([id]), 1));
    }
}

#[tokio::test]
async fn an_answer_from_somebody_else_asks_and_a_person_decides() {
    let (mut world, _) = world("kim@hearthadjusters.example", &["A-1"]);
    let review = asked(&world).await.unwrap();
    assert!(review.reason.contains(INSURER) && review.reason.contains("kim@hearthadjusters.example"), "{review:?}");
    let answer = json!({CONFIRMED: true});
    assert!(jsonschema::is_valid(&review.schema, &answer));
    world.state(answer);
    assert!(asked(&world).await.is_none());
    world.state(json!({CONFIRMED: false}));
    let outcome = world.call(&match_reply(), json!({})).await.unwrap();
    assert_eq!((&outcome.data["request_ids"], outcome.links.len()), (&json!([]), 0), "a no breaks nothing");
}

#[tokio::test]
async fn a_domain_that_only_contains_the_name_asks() {
    for sender in ["a@prairielantern.evil.example", "a@prairie-lantern-claims.example", "a@prairie.example"] {
        let (world, _) = world(sender, &["A-1"]);
        assert!(asked(&world).await.is_some(), "{sender}");
    }
}

#[tokio::test]
async fn only_a_user_of_the_tenant_hands_on_an_insurers_answer() {
    let handed_on = |sender: &str| {
        let (mut world, _) = world(sender, &["A-1"]);
        world.user("kim@ironwoodlane.example", &[]);
        world.forwards("desk@prairielantern.example", sender);
        world
    };
    assert!(asked(&handed_on("Kim@ironwoodlane.example")).await.is_none());
    // A stranger writes to themselves, too, or from a domain that the organisation's mail has.
    for sender in ["kim@hearthadjusters.example", "kym@ironwoodlane.example"] {
        assert!(asked(&handed_on(sender)).await.is_some(), "{sender}");
    }
}

#[tokio::test]
async fn what_a_stranger_quotes_below_their_own_header_clears_no_doubt() {
    let stranger = "kim@hearthadjusters.example";
    let (mut world, _) = world("lee@ironwoodlane.example", &["A-1"]);
    world.user("lee@ironwoodlane.example", &[]);
    world.forwards(stranger, "lee@ironwoodlane.example");
    let mail = world.mail.as_mut().unwrap();
    let mut pasted = mail.passages[0].clone();
    pasted.author.as_mut().unwrap().address = "desk@prairielantern.example".to_owned();
    mail.passages.push(pasted);
    let review = asked(&world).await.unwrap();
    assert!(review.reason.contains(stranger) && !review.reason.contains("lee@"), "{}", review.reason);
    assert_eq!(review.details["sender"], "lee@ironwoodlane.example");
    assert_eq!(review.details["author"], stranger);
    world.state(json!({CONFIRMED: true}));
    let lessons = world.call(&match_reply(), json!({})).await.unwrap().lessons;
    assert!(
        matches!(&lessons[..], [Teaching::Speaker { address, .. }] if address == stranger),
        "the address that the question named: {lessons:?}"
    );
    // A header that names nobody is the first one all the same.
    world.state(json!({CONFIRMED: null}));
    world.mail.as_mut().unwrap().passages[0].author = None;
    assert!(asked(&world).await.unwrap().reason.contains("lee@ironwoodlane.example"));
}

#[tokio::test]
async fn a_report_about_something_else_asks() {
    let (mut world, _) = world("desk@prairielantern.example", &["PLM-77001-01"]);
    let report = |number: &str| {
        let field = json!({"name": "policy_number", "group": "policies", "value": number});
        json!({"extractions": [{"n": 1, "fields": [field]}]})
    };
    world.state(report("PLM 77001"));
    assert!(asked(&world).await.is_none(), "the term is left out");
    world.state(report("ZZ 99"));
    assert!(asked(&world).await.unwrap().reason.contains("ZZ99"));
}

#[tokio::test]
async fn a_token_that_is_none_of_ours_asks_and_none_at_all_does_not() {
    let mut world = World::new();
    world.mail("a@b.example", "Loss runs", "x");
    world.answers("019d2eae-b7a3-7eae-a7a3-2eaeb7a33a7b");
    assert!(asked(&world).await.is_some());
    world.mail("a@b.example", "Loss runs", "x");
    assert!(asked(&world).await.is_none());
    // A known insurer may answer what somebody else asked: that goes to a person at the end of the plan anyway.
    let resolver = crate::tests::insurer_tool();
    world.run(resolver.as_ref(), json!({"insurer_name": INSURER, "naic_number": "77001", "create": true})).await;
    world.mail("a@prairielantern.example", "Loss runs", "x");
    world.answers("019d2eae-b7a3-7eae-a7a3-2eaeb7a33a7b");
    assert!(asked(&world).await.is_none());
}

#[tokio::test]
async fn an_answer_with_a_strange_token_asks_for_one_of_the_requests_that_fit() {
    let mut world = World::new();
    let entity =
        world.put_with(ENTITY, "e", json!({"name": "Fern Hollow LLC"}), vec![Lookup::shared("name", "fern hollow")]);
    let deal = world.put_with(DEAL, "d", json!({}), vec![Lookup::shared("entity", entity.clone())]);
    let put = |key: &str, insurer: &str, status: &str, number: &str| {
        let props = json!({"entity_id": entity, "insurer": insurer, "status": status, "policy_numbers": [number]});
        let mut lookups = request::number_lookups(&[number.to_owned()]);
        lookups.push(Lookup::shared("deal", deal.clone()));
        world.put_with(LOSS_RUN_REQUEST, key, props, lookups)
    };
    let (own, _) = (put("a", INSURER, "draft", "PLM-77001"), put("b", "Harrow Mutual", "draft", "HM-1"));
    put("c", INSURER, "closed", "PLM-77001");
    world.mail("kim@hearthadjusters.example", "Loss runs", "x");
    world.answers("019d2eae-b7a3-7eae-a7a3-2eaeb7a33a7b");
    let read = |fields: Value| json!({"extractions": [{"n": 1, "fields": fields}]});
    let insured = json!({"name": "insured.name", "value": "Fern Hollow LLC"});
    for said in [json!({"name": "policy_number", "value": "plm 77001"}), json!({"name": "insurer", "value": INSURER})] {
        world.state(read(json!([insured, said])));
        let review = asked(&world).await.unwrap();
        assert!(review.reason.contains("which is none of ours") && review.reason.contains("PLM-77001"), "{review:?}");
        assert_eq!(review.schema["properties"][CHOSEN]["enum"], json!([own, NONE]));
        let candidate = &review.details["candidates"][0];
        assert_eq!((&candidate["insured"], &candidate["insurer"]), (&json!("Fern Hollow LLC"), &json!(INSURER)));
    }
    // What fits nothing is asked for by its id, again when that is none, and after a yes without one too.
    world.state(json!({"extractions": [], CONFIRMED: true}));
    let review = asked(&world).await.unwrap();
    assert!(review.reason.contains("no open request fits") && review.schema["properties"][CHOSEN]["type"] == "string");
    world.state(json!({CHOSEN: "019d2eae-b7a3-7eae-a7a3-2eaeb7a33a7b"}));
    assert!(asked(&world).await.unwrap().reason.contains("there is no request"));
    world.state(json!({CHOSEN: own}));
    let outcome = world.call(&match_reply(), json!({})).await.unwrap();
    assert_eq!((outcome.review, &outcome.data["request_ids"]), (None, &json!([own])));
}

/// A request that was sent, under whose mail and policies it is found.
fn sent(world: &World, key: &str, mail: u128, policies: &[&str]) -> (String, String) {
    let message = message_id(OutboxId::from_uuid(Uuid::from_u128(mail)));
    let props = json!({
        "deal_id": "d", "entity_id": "e", "insurer": INSURER, "status": "requested",
        "policy_numbers": policies, "lines": [], "message_ids": [message]
    });
    let policies: Vec<String> = policies.iter().map(|number| (*number).to_owned()).collect();
    let mut lookups = request::number_lookups(&policies);
    lookups.extend(request::mail_lookups(std::slice::from_ref(&message)));
    (world.put_with(LOSS_RUN_REQUEST, key, props, lookups), message)
}

fn insurer_writes(in_reply_to: Option<&str>, references: &[&str]) -> (World, String, String) {
    let mut world = World::new();
    let (id, message) = sent(&world, "r", 7, &["PLM-77001"]);
    world.mail("desk@prairielantern.example", "Loss runs", "attached");
    let mail = world.mail.as_mut().unwrap();
    let meant = |id: &str| if id == "ours" { message.clone() } else { id.to_owned() };
    mail.in_reply_to = in_reply_to.map(meant);
    mail.references = references.iter().copied().map(meant).collect();
    (world, id, message)
}

#[tokio::test]
async fn an_answer_in_the_thread_of_our_mail_answers_its_request() {
    for (in_reply_to, references) in [
        (Some("ours"), &[][..]),
        (Some("x@mail.example"), &["a@mail.example", "ours", "x@mail.example"]),
        (None, &["ours"]),
    ] {
        let (world, id, _) = insurer_writes(in_reply_to, references);
        let outcome = world.call(&match_reply(), json!({})).await.unwrap();
        assert!(outcome.review.is_none());
        assert_eq!((&outcome.data["request_ids"], outcome.links.len()), (&json!([id]), 1));
    }
    let (world, ..) = insurer_writes(Some("a@mail.example"), &[]);
    let outcome = world.call(&match_reply(), json!({})).await.unwrap();
    assert_eq!((outcome.review, &outcome.data["request_ids"]), (None, &json!([])), "a thread of somebody else's");
}

#[tokio::test]
async fn the_bare_id_of_an_open_request_is_as_good_as_its_token() {
    let written = |subject: &str, text: &str| {
        let mut world = World::new();
        let (id, _) = sent(&world, "r", 7, &["PLM-77001"]);
        let with = |text: &str| text.replace("ID", &id.to_uppercase());
        world.mail("desk@prairielantern.example", &with(subject), &with(text));
        (world, id)
    };
    for (subject, text) in
        [("Losses [ref ID]", "attached"), ("Losses", "see attached\n\nYour reference: ID."), ("ID", "")]
    {
        let (world, id) = written(subject, text);
        let outcome = world.call(&match_reply(), json!({})).await.unwrap();
        assert_eq!((outcome.review, &outcome.data["request_ids"]), (None, &json!([id])), "{subject} {text}");
    }
    // It proves nothing either, and what is no request of ours is no reference to one.
    let (mut world, _) = written("Losses", "ref ID");
    world.mail.as_mut().unwrap().from.address = "kim@hearthadjusters.example".to_owned();
    assert_eq!(asked(&world).await.unwrap().title.as_deref(), Some("Is this the insurer's answer?"));
    let (mut world, _) = written("Losses", "x");
    world.mail("desk@prairielantern.example", "Losses", "session 019d2eae-b7a3-7eae-a7a3-2eaeb7a33a7b");
    let outcome = world.call(&match_reply(), json!({})).await.unwrap();
    assert_eq!((outcome.review, &outcome.data["request_ids"]), (None, &json!([])));
    let props = json!({"insurer": INSURER, "status": "closed", "policy_numbers": ["PLM-77001"]});
    let closed = world.put(LOSS_RUN_REQUEST, "closed", props);
    world.mail("desk@prairielantern.example", "Losses", &format!("ref {closed}"));
    let outcome = world.call(&match_reply(), json!({})).await.unwrap();
    assert_eq!((outcome.review, &outcome.data["request_ids"]), (None, &json!([])), "it is over");
}

#[tokio::test]
async fn papers_about_another_insured_ask_unless_a_policy_of_the_request_is_in_them() {
    let mut world = World::new();
    let entity = world.put(ENTITY, "dot:1", json!({"name": "Fern Hollow LLC", "entity_type": "motor_carrier"}));
    let props = json!({
        "deal_id": "d", "entity_id": entity, "insurer": INSURER, "status": "requested", "lines": [],
        "policy_numbers": ["PLM-77001"]
    });
    let id = world.put(LOSS_RUN_REQUEST, "r", props);
    world.mail("desk@prairielantern.example", "Loss runs", &format!("attached, your ref. {id}"));
    let read = |insured: &str, number: Option<&str>| {
        let number = number.map(|number| json!({"name": "policy_number", "group": "policies", "value": number}));
        let fields: Vec<Value> =
            [Some(json!({"name": "insured.name", "value": insured})), number].into_iter().flatten().collect();
        json!({"extractions": [{"n": 1, "fields": fields}]})
    };
    for (insured, number, asks) in [
        ("Fern Valley Leasing Inc", None, true),
        ("Fern Valley Leasing Inc", Some("PLM-99002"), true),
        ("Fern Hollow", None, false),
        ("Fern Hollw Transport", Some("PLM 77001"), false),
    ] {
        world.state(read(insured, number));
        let review = asked(&world).await;
        let told = review.as_ref().is_some_and(|review| review.reason.contains("the request is about Fern Hollow LLC"));
        assert_eq!((review.is_some(), told), (asks, asks), "{insured} {number:?}: {review:?}");
    }
}

#[tokio::test]
async fn the_thread_proves_no_sender() {
    let (mut world, ..) = insurer_writes(Some("ours"), &[]);
    world.mail.as_mut().unwrap().from.address = "kim@hearthadjusters.example".to_owned();
    assert_eq!(asked(&world).await.unwrap().title.as_deref(), Some("Is this the insurer's answer?"));
}

#[tokio::test]
async fn token_and_thread_that_agree_pass_and_those_that_contradict_ask() {
    let (mut world, id, _) = insurer_writes(Some("ours"), &[]);
    world.answers(&id);
    assert!(asked(&world).await.is_none());
    let (mut world, id, _) = insurer_writes(Some("ours"), &[]);
    let (other, _) = sent(&world, "other", 8, &["ZZ-1"]);
    world.answers(&other);
    let review = asked(&world).await.unwrap();
    assert_eq!(review.schema["properties"][CHOSEN]["enum"], json!([other, id, NONE]), "{review:?}");
    world.state(json!({CHOSEN: id}));
    let outcome = world.call(&match_reply(), json!({})).await.unwrap();
    assert_eq!((outcome.review, &outcome.data["request_ids"]), (None, &json!([id])));
    let (mut world, id, _) = insurer_writes(Some("ours"), &[]);
    world.answers("019d2eae-b7a3-7eae-a7a3-2eaeb7a33a7b");
    let review = asked(&world).await.unwrap();
    assert_eq!(review.schema["properties"][CHOSEN]["enum"], json!([id, NONE]), "a token of nobody's");
}

#[tokio::test]
async fn a_thread_of_two_requests_asks_for_one() {
    let (mut world, id, _) = insurer_writes(Some("ours"), &[]);
    let (other, message) = sent(&world, "other", 8, &["ZZ-1"]);
    world.mail.as_mut().unwrap().references = vec![message];
    let review = asked(&world).await.unwrap();
    assert_eq!(review.schema["properties"][CHOSEN]["enum"], json!([id, other, NONE]));
}

#[tokio::test]
async fn an_answer_that_only_names_a_policy_is_a_question_with_the_requests() {
    let (mut world, id, _) = insurer_writes(None, &[]);
    let entity = world.put(ENTITY, "dot:1", json!({"name": "Fern Hollow LLC", "entity_type": "motor_carrier"}));
    let closed = json!({"entity_id": entity, "insurer": INSURER, "status": "closed", "policy_numbers": ["PLM-77001"]});
    world.put_with(LOSS_RUN_REQUEST, "closed", closed, request::number_lookups(&["PLM-77001".to_owned()]));
    let read = |number: &str, insured: &str| {
        let fields = json!([
            {"name": "policy_number", "group": "policies", "value": number},
            {"name": "insured.name", "value": insured}
        ]);
        json!({"extractions": [{"n": 0, "fields": fields}]})
    };
    world.state(read("plm 77001 02", "Fern Hollow"));
    let review = asked(&world).await.unwrap();
    assert_eq!(review.title.as_deref(), Some("Is this the answer to the request?"));
    assert_eq!(review.schema["properties"][CHOSEN]["enum"], json!([id, NONE]));
    assert_eq!(review.details["candidates"][0]["doubts"], json!([]), "{review:?}");

    let about = json!({
        "deal_id": "d", "entity_id": entity, "insurer": "Harrow Mutual", "status": "draft", "lines": [],
        "policy_numbers": ["PLM-77001"]
    });
    let lookups = request::number_lookups(&["PLM-77001".to_owned()]);
    let second = world.put_with(LOSS_RUN_REQUEST, "second", about, lookups);
    world.state(read("PLM-77001", "Larch Point Inc"));
    let review = asked(&world).await.unwrap();
    assert_eq!(review.title.as_deref(), Some("Which request does this answer?"));
    let doubts = review.details["candidates"][1]["doubts"].to_string();
    assert!(doubts.contains("Larch Point") && doubts.contains("Harrow Mutual"), "{doubts}");
    world.state(json!({CHOSEN: second}));
    let outcome = world.call(&match_reply(), json!({})).await.unwrap();
    assert_eq!(
        (outcome.review, &outcome.data["request_ids"]),
        (None, &json!([second])),
        "it was shown with its doubts"
    );
    world.state(json!({CHOSEN: NONE}));
    let outcome = world.call(&match_reply(), json!({})).await.unwrap();
    assert_eq!((outcome.review, &outcome.data["request_ids"]), (None, &json!([])));
    let (mut world, ..) = insurer_writes(None, &[]);
    world.state(read("ZZ-9", "Fern Hollow"));
    assert!(asked(&world).await.is_none(), "nobody asked about that policy");
}

#[tokio::test]
async fn a_request_to_which_no_policy_leads_is_found_all_the_same() {
    let (mut world, id, _) = insurer_writes(None, &[]);
    let props = |status: &str| {
        json!({
            "deal_id": "d", "entity_id": "e", "insurer": INSURER, "status": status, "policy_numbers": ["PLM 66002"],
            "lines": []
        })
    };
    let old = world.put(LOSS_RUN_REQUEST, "old", props("requested"));
    world.put(LOSS_RUN_REQUEST, "closed", props("closed"));
    let read = |number: &str| {
        let fields = json!([{"name": "policy_number", "group": "policies", "value": number}]);
        json!({"extractions": [{"n": 0, "fields": fields}]})
    };
    world.state(read("PLM-66002-01"));
    assert_eq!(asked(&world).await.unwrap().schema["properties"][CHOSEN]["enum"], json!([old, NONE]));
    world.state(read("PLM-77001"));
    assert_eq!(asked(&world).await.unwrap().schema["properties"][CHOSEN]["enum"], json!([id, NONE]));
}

#[tokio::test]
async fn a_yes_to_a_strange_address_teaches_that_it_answers_for_the_insurer() {
    let strange = "Kim@hearthadjusters.example";
    let lesson = Teaching::Speaker { address: "kim@hearthadjusters.example".to_owned(), company: INSURER.to_owned() };
    let (mut world, id) = world(strange, &["PLM-77001"]);
    world.state(json!({CONFIRMED: true}));
    assert_eq!(world.call(&match_reply(), json!({})).await.unwrap().lessons, std::slice::from_ref(&lesson));
    world.next_task();
    world.learn(lesson);
    world.mail(strange, "Loss runs", "attached");
    world.answers(&id);
    assert!(asked(&world).await.is_none(), "it passes from now on");
    world.mail("other@hearthadjusters.example", "Loss runs", "attached");
    world.answers(&id);
    assert!(asked(&world).await.is_some(), "one address is no domain");
    let props = json!({
        "deal_id": "d", "entity_id": "e", "insurer": "Harrow Mutual", "status": "requested",
        "policy_numbers": [], "lines": []
    });
    let other = world.put(LOSS_RUN_REQUEST, "other", props);
    world.mail(strange, "Loss runs", "attached");
    world.answers(&other);
    assert!(asked(&world).await.is_some(), "nor every insurer");
}

#[tokio::test]
async fn what_the_lesson_would_not_have_settled_teaches_nothing() {
    let report = json!([{"n": 1, "fields": [{"name": "policy_number", "group": "policies", "value": "ZZ 99"}]}]);
    let (mut other, _) = world("kim@hearthadjusters.example", &["PLM-77001"]);
    other.state(json!({CONFIRMED: true, "extractions": report}));
    assert!(other.call(&match_reply(), json!({})).await.unwrap().lessons.is_empty(), "the policy is another one");
    let (mut own, _) = world("kim@ironwoodlane.example", &["PLM-77001"]);
    own.user("kim@ironwoodlane.example", &[]);
    own.state(json!({CONFIRMED: true}));
    assert!(own.call(&match_reply(), json!({})).await.unwrap().lessons.is_empty(), "a colleague is no insurer");
    own.forwards("desk@hearthadjusters.example", "kim@ironwoodlane.example");
    let lessons = own.call(&match_reply(), json!({})).await.unwrap().lessons;
    assert!(matches!(&lessons[..], [Teaching::Speaker { address, .. }] if address == "desk@hearthadjusters.example"));
}

/// The outbox has a mail to this address; its `Message-ID`.
fn sent_to_desk(world: &mut World, address: &str) -> Value {
    let id = OutboxId::from_uuid(Uuid::from_u128(901));
    world.outbox = vec![(id, kybern_core::outbox::OutboxStatus::Sent)];
    world.receiver = address.to_owned();
    json!([message_id(id)])
}

#[tokio::test]
async fn a_domain_under_another_ending_than_the_one_that_was_asked_asks() {
    let mut world = World::new();
    let mut props = json!({
        "deal_id": "d", "entity_id": "e", "insurer": INSURER, "status": "requested", "policy_numbers": [], "lines": [],
    });
    let label = "prairielantern";
    for (sent_to, ending, asks) in
        [(Some("example"), "example", false), (Some("example"), "test", true), (None, "test", false)]
    {
        if let Some(sent) = sent_to {
            props["message_ids"] = sent_to_desk(&mut world, &format!("losses@{label}.{sent}"));
        } else {
            props.as_object_mut().unwrap().remove("message_ids");
        }
        let id = world.put(LOSS_RUN_REQUEST, &format!("{sent_to:?} {ending}"), props.clone());
        world.mail(&format!("kim@mail.{label}.{ending}"), "Loss runs", "attached");
        world.answers(&id);
        assert_eq!(asked(&world).await.is_some(), asks, "{sent_to:?} {ending}");
    }
}

#[tokio::test]
async fn whoever_was_asked_may_answer() {
    let mut world = World::new();
    let props = json!({
        "deal_id": "d", "entity_id": "e", "insurer": INSURER, "status": "requested", "policy_numbers": [], "lines": [],
        "sent_to": "somebody@elsewhere.example",
        "message_ids": sent_to_desk(&mut world, "desk@hearthadjusters.example")
    });
    let id = world.put(LOSS_RUN_REQUEST, "r", props);
    let whoever = ["kim@hearthadjusters.example", "somebody@elsewhere.example"].map(|sender| (sender, true));
    for (sender, asks) in [("Desk@hearthadjusters.example", false)].into_iter().chain(whoever) {
        world.mail(sender, "Loss runs", "attached");
        world.answers(&id);
        assert_eq!(asked(&world).await.is_some(), asks, "{sender}");
    }
}
