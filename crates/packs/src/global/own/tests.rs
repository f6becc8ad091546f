use kybern_core::model::{FieldPattern, ValueKind};
use kybern_core::tool::ToolOutcome;
use serde_json::{Value, json};

use super::ask;
use crate::global::ExtractDocuments;
use crate::tests::World;

fn schema() -> Value {
    let field =
        |name: &str, kind: &str| json!({"name": name, "type": kind, "labels": {"en": [format!("{name} label")]}});
    let mut number = field("number", "reference");
    number["required"] = json!(true);
    let mut tag = field("tag", "text");
    tag["many"] = json!(true);
    let mut berth = field("berth", "integer");
    (berth["required"], berth["section"]) = (json!(true), json!("has_berth"));
    let boats = json!({"name": "boats", "type": "table", "columns": [
        {"name": "boat", "type": "name", "headings": {"en": ["boat"]}},
        {"name": "length", "type": "integer", "headings": {"en": ["length"]}}]});
    json!({
        "name": "harbour",
        "sections": [{"key": "has_berth", "markers": ["berth plan"]}],
        "fields": [number, field("owner", "name"), tag, berth, boats]
    })
}

/// What comes of papers, each of lines that the world's extractor understands.
async fn outcome(papers: &[&str], state: Value) -> ToolOutcome {
    let mut world = World::new();
    for (n, paper) in papers.iter().enumerate() {
        world.document(&format!("{n}.txt"), paper);
    }
    world.state(state);
    let tool = ExtractDocuments::new(std::iter::empty().collect());
    world.call(&tool, json!({"schema": schema()})).await.unwrap()
}

async fn values(papers: &[&str]) -> Value {
    let outcome = outcome(papers, json!({})).await;
    assert!(outcome.review.is_none(), "{:?}", outcome.review);
    outcome.data["harbour"].clone()
}

async fn asked(papers: &[&str]) -> (String, Value) {
    let review = outcome(papers, json!({})).await.review.unwrap();
    (review.reason.clone(), review.details["asked"].clone())
}

#[tokio::test]
async fn what_all_papers_say_is_put_together() {
    let papers = [
        "@number = N-1\n@tag = red\n@boats[0].boat = Heron\n@boats[0].length = \"9\"",
        "@number = N-1\n@number = N-2 ?0.3\n@tag = blue\n@boats[0].boat = Heron\n@boats[0].length = \"9\"",
        "@boats[0].boat = Tern",
    ];
    let row = |boat: &str, length: Value| json!({"boat": boat, "length": length});
    let expected = json!({
        "number": "N-1", "owner": null, "tag": ["red", "blue"], "berth": null,
        "boats": [row("Heron", json!("9")), row("Tern", Value::Null)],
    });
    assert_eq!(
        values(&papers).await,
        expected,
        "the same table twice is one, and no section is asked for that is not there"
    );
}

#[tokio::test]
async fn what_is_missing_doubtful_or_contradicting_is_asked_at_once() {
    let (reason, names) = asked(&["@owner = Ada ?0.4\n@tag = red", "@tag = blue !\n@boats[0].length = \"9\""]).await;
    assert_eq!(names, json!(["number", "owner", "tag", "boats"]));
    assert!(reason.starts_with("nothing was found for number; what was found may be wrong for boats, owner, tag in"));
    let (reason, names) = asked(&["@number = N-1", "@number = N-2"]).await;
    assert_eq!(names, json!(["number"]));
    assert!(reason.starts_with("the papers contradict each other on number in \"0.txt\", \"1.txt\";"), "{reason}");
}

#[tokio::test]
async fn a_table_that_is_said_otherwise_is_asked() {
    let heron = "@number = N-1\n@boats[0].boat = Heron\n@boats[0].length = \"9\"";
    let otherwise = "@boats[0].boat = Heron\n@boats[0].length = \"9\"\n@boats[1].boat = Gull";
    for papers in [[heron, otherwise], [otherwise, heron]] {
        assert_eq!(asked(&papers).await.1, json!(["boats"]), "nobody knows which is the whole");
    }
    let read = async |message: &str| {
        let mut world = World::new();
        world.document("0.txt", heron);
        world.input(message);
        world.call(&ExtractDocuments::new(std::iter::empty().collect()), json!({"schema": schema()})).await.unwrap()
    };
    assert!(read("@boats[0].boat = Heron\n@boats[0].length = \"9\"").await.review.is_none(), "it says the same");
    let review = read("@boats[0].boat = Tern").await.review.unwrap();
    assert_eq!(review.details["asked"], json!(["boats"]), "a message adds nothing to a paper by itself");
    assert!(
        review.reason.contains("contradict each other on boats in \"0.txt\" and the message;"),
        "{}",
        review.reason
    );
}

#[tokio::test]
async fn an_answer_settles_what_it_names() {
    let answered = json!({"harbour": {"number": "N-7", "owner": null}});
    let outcome = outcome(&["@number = N-1\n@owner = Ada ?0.4", "@number = N-2"], answered).await;
    let said = &outcome.data["harbour"];
    assert_eq!((&said["number"], &said["owner"]), (&json!("N-7"), &Value::Null));
}

#[test]
fn the_form_takes_the_kinds_in_their_normal_form() {
    for (value, good, bad) in [
        (ValueKind::Percentage, ["2.5", "-3", "100"], ["2.5 %", "2,5", ".5"]),
        (ValueKind::Time, ["08:00", "00:00", "23:59"], ["8:00", "24:00", "8 am"]),
        (ValueKind::Fein, ["84-5550142", "00-0000000", "99-9999999"], ["845550142", "123-45-6789", "84-555014"]),
    ] {
        let form = ask::value(&FieldPattern { value, ..FieldPattern::default() }, true);
        let fits = |text: &str| jsonschema::is_valid(&form, &json!(text));
        assert!(good.into_iter().all(fits) && !bad.into_iter().any(fits), "{value:?}");
    }
}

#[tokio::test]
async fn the_form_says_what_may_be_left_out() {
    let review = outcome(&["@owner = Ada ?0.4\n@boats[0].length = \"9\""], json!({})).await.review.unwrap();
    let form = &review.schema["properties"]["harbour"];
    let check = |answer: Value| jsonschema::is_valid(&review.schema, &json!({"harbour": answer}));
    assert_eq!(form["required"], json!(["number", "owner", "boats"]));
    assert!(check(json!({"number": "N-1", "owner": null, "boats": []})));
    assert!(check(json!({"number": "N-1", "owner": "Ada", "boats": [{"boat": "Tern", "length": 9}]})));
    assert!(!check(json!({"number": null, "owner": "Ada", "boats": []})), "what is required is needed");
    assert!(!check(json!({"number": "N-1", "owner": "Ada", "boats": [{"length": 9}]})), "a row needs its key");
    assert!(!check(json!({"number": "N-1", "owner": "Ada"})), "all that is asked is answered");
}
