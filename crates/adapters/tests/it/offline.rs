//! The offline rules model, through its ports, on a small domain that is none of the packs'.

mod bands;
mod breaks;
mod compound;
mod kinds;
mod labels;
mod layouts;
mod legends;
mod numbered;
mod own;
mod parties;
mod rental;
mod said;
mod sentences;
mod stops;
mod tables;

use kybern_adapters::models::offline::{MODEL, RulesModel};
use std::sync::Arc;

use kybern_core::document::{DocumentFormat, DocumentText, PageText};
use kybern_core::model::{
    CategoryPattern, Classification, ClassifyInput, ExtractedField, ExtractionSchema, FieldPattern, IntentSpec,
    SectionPattern, ValueKind,
};
use kybern_core::ports::{Extractor, IntentModel};
use serde_json::{Value, json};

fn field(name: &str, labels: &[&str], value: ValueKind) -> FieldPattern {
    FieldPattern::new(name, labels, value)
}

fn item(name: &str, labels: &[&str], value: ValueKind, opens_item: bool) -> FieldPattern {
    let section = Some("has_contracts".to_owned());
    FieldPattern { section, opens_item, ..field(name, labels, value).of("contracts") }
}

fn schema() -> ExtractionSchema {
    let car = |name: &str, labels: &[&str], value, opens_item| FieldPattern {
        opens_item,
        ..field(name, labels, value).of("cars")
    };
    ExtractionSchema {
        name: "contracts".to_owned(),
        writer: None,
        about: None,
        categories: Arc::new([
            CategoryPattern::new("CONTRACT", &[("contract sheet", 5), ("contract number", 2)]),
            CategoryPattern::new("LETTER", &[("dear", 1), ("kind regards", 3)]),
        ]),
        sections: Arc::new([SectionPattern::new("has_contracts", &["contract number", "contract no"])]),
        fields: Arc::new([
            field("client.name", &["client", "client name", "client and address"], ValueKind::Name),
            field("client.dot", &["usdot", "dot number"], ValueKind::DotNumber),
            field("client.address", &["address", "client and address"], ValueKind::Address),
            field("client.phone", &["phone", "tel"], ValueKind::Phone),
            field("client.email", &["email", "e-mail"], ValueKind::Email),
            item("number", &["contract number", "contract"], ValueKind::PolicyNumber, true),
            item("partner", &["partner"], ValueKind::Name, false),
            item("term", &["term"], ValueKind::DateRange, false),
            item("begin", &["begin", "begin date"], ValueKind::Date, false),
            item("fee", &["fee", "annual fee"], ValueKind::Money, false),
            item(
                "kind",
                &["kinds", "kind", "full service=Full Service", "night service=Night Service", "night=Night Service"],
                ValueKind::Text,
                false,
            ),
            car("vin", &["vin"], ValueKind::Vin, true),
            car("year", &["year"], ValueKind::Year, false),
            car("make", &["make"], ValueKind::Text, false),
        ]),
        ..ExtractionSchema::default()
    }
}

fn document(pages: &[&str]) -> DocumentText {
    let page = |(index, text): (usize, &&str)| PageText {
        number: u32::try_from(index + 1).unwrap(),
        text: (*text).to_owned(),
        ..PageText::default()
    };
    DocumentText { format: DocumentFormat::Text, pages: pages.iter().enumerate().map(page).collect() }
}

async fn fields(pages: &[&str]) -> Vec<ExtractedField> {
    let (document, schema) = (document(pages), Arc::new(schema()));
    let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
    let extraction = RulesModel.extract(3, &document, &analysis, &schema).await.unwrap();
    assert_eq!(extraction.model, MODEL);
    for field in &extraction.fields {
        let page = document.pages.iter().find(|page| page.number == field.source.page).unwrap();
        assert_eq!(field.source.document, 3);
        assert!(!page.text.get(field.source.start..field.source.end).unwrap().trim().is_empty());
    }
    extraction.fields
}

/// The values of a field, with the item of each.
async fn values(pages: &[&str], name: &str) -> Vec<(Option<u32>, Value)> {
    fields(pages).await.into_iter().filter(|field| field.name == name).map(|field| (field.item, field.value)).collect()
}

async fn single(text: &str, name: &str) -> Value {
    values(&[text], name).await.into_iter().next().map_or(Value::Null, |(_, value)| value)
}

#[tokio::test]
async fn a_value_stands_after_beside_or_beneath_its_label() {
    for text in [
        "Client: Fern Hollow Inc.",
        "CLIENT NAME    Fern Hollow Inc.",
        "Client\tFern Hollow Inc.",
        "Client .......... Fern Hollow Inc.",
        "CLIENT             PHONE\n\nFern Hollow Inc.   (512) 555-0171",
        "{\"clientName\":\"Fern Hollow Inc.\",\"other\":1}",
        "1. Client (required): Fern Hollow Inc.",
    ] {
        assert_eq!(single(text, "client.name").await, "Fern Hollow Inc.", "{text}");
    }
}

#[tokio::test]
async fn an_empty_label_takes_nobody_elses_value() {
    for text in [
        "Client:\nPhone: (512) 555-0171",
        "Client:\nRemark: late",
        "{\"client\":\"\",\"remark\":\"late\"}",
        "the client is late",
    ] {
        assert_eq!(single(text, "client.name").await, Value::Null, "{text}");
    }
}

#[tokio::test]
async fn an_address_takes_its_lines_and_not_those_of_the_next_column() {
    let form = "CLIENT AND ADDRESS        BEGIN DATE\n\nFern Hollow Inc.          06/15/2025\n12 Mill Row\n                          DOT NUMBER\nPueblo, CO 81003\n                          9118320";
    assert_eq!(single(form, "client.name").await, "Fern Hollow Inc.");
    assert_eq!(single(form, "client.address").await, "12 Mill Row, Pueblo, CO 81003");
    assert_eq!(single(form, "client.dot").await, "9118320");
}

#[tokio::test]
async fn blocks_become_items_and_what_is_said_once_holds_for_all() {
    let text = "Partner: Larch Ltd.\n\nContract No.: LX-4401\nTerm: May 1, 2025 - May 1, 2026\n\nContract No.: LX-4402\nTerm: 6/1/25 to 6/1/26";
    assert_eq!(values(&[text], "number").await, [(Some(0), json!("LX-4401")), (Some(1), json!("LX-4402"))]);
    let partners = values(&[text], "partner").await;
    assert_eq!(partners.len(), 2);
    let terms = values(&[text], "term").await;
    assert_eq!(terms[1], (Some(1), json!({"start": "2025-06-01", "end": "2026-06-01"})));
}

#[tokio::test]
async fn the_same_opening_value_is_the_same_item() {
    let pages = ["Contract Number: LX-4401\nPartner: Larch Ltd.", "Contract Number: LX-4401\nFee: $1,200.50"];
    assert_eq!(values(&pages, "number").await.len(), 1);
    assert_eq!(values(&pages, "fee").await, [(Some(0), json!(1_200_500_000_000_i64))]);
}

#[tokio::test]
async fn rows_become_items_and_a_total_does_not() {
    let table = "Kind           Contract No.   Begin        Fee\nFull Service   LX-4401        03/01/2025   $100\nNight Service  LX-4402                     $200\nTotal                                      $300";
    assert_eq!(values(&[table], "number").await.len(), 2);
    let fees = values(&[table], "fee").await;
    assert_eq!(fees, [(Some(0), json!(100_000_000_000_i64)), (Some(1), json!(200_000_000_000_i64))]);
    assert_eq!(values(&[table], "begin").await, [(Some(0), json!("2025-03-01"))]);
    assert_eq!(values(&[table], "kind").await[1], (Some(1), json!("Night Service")));
}

#[tokio::test]
async fn a_table_goes_on_overleaf() {
    let pages = ["Year  Make  VIN\n2021  Kenworth  1XKYD49X5MJ914201", "2019  Utility  1UYVS2531KU914222"];
    assert_eq!(values(&pages, "make").await, [(Some(0), json!("Kenworth")), (Some(1), json!("Utility"))]);
}

#[tokio::test]
async fn ticked_terms_count_and_empty_boxes_do_not() {
    let form = "Contract No.: LX-4401\n\nKINDS\n X Full Service     Night Service";
    assert_eq!(values(&[form], "kind").await, [(Some(0), json!("Full Service"))]);
    let list = "Contract No.: LX-4401\nKinds: full service and night";
    assert_eq!(values(&[list], "kind").await.len(), 2);
    let heading = "NIGHT SERVICE CONTRACT SHEET\nContract No.: LX-4401";
    assert_eq!(values(&[heading], "kind").await, [(Some(0), json!("Night Service"))]);
}

#[tokio::test]
async fn a_wrong_check_digit_is_kept_and_told() {
    let found = fields(&["VIN: 1M1AN4GY4LM961047"]).await;
    assert_eq!(found[0].value, "1M1AN4GY4LM961047");
    assert!(found[0].problem.as_ref().unwrap().contains("check digit"));
    assert!(found[0].confidence < 0.7);
}

#[tokio::test]
async fn what_nobody_labelled_is_found_and_less_sure() {
    let text = "Fern Hollow Inc. has bought\n2021  Kenworth  1XKYD49X5MJ914201\nwrite to desk@fern.example or call (512) 555-0171";
    let found = fields(&[text]).await;
    let sure = |name: &str| found.iter().find(|field| field.name == name).map(|field| field.confidence).unwrap();
    for name in ["client.name", "client.email", "client.phone", "vin", "year", "make"] {
        assert!(sure(name) <= 0.7, "{name}");
    }
    assert!(sure("client.name") <= 0.5);
    assert_eq!(single("USDOT 9228815, Waco", "client.dot").await, "9228815");
}

#[tokio::test]
async fn a_field_of_an_absent_section_is_not_looked_for() {
    assert_eq!(single("Partner: Larch Ltd.", "partner").await, Value::Null);
}

#[tokio::test]
async fn the_first_stage_says_what_is_there() {
    let schema = Arc::new(schema());
    let analysis = RulesModel
        .analyse(&document(&["CONTRACT SHEET\nContract Number: LX-4401\nPhone (512) 555-0171"]), &schema)
        .await
        .unwrap();
    assert_eq!(analysis.category.as_deref(), Some("CONTRACT"));
    assert!(analysis.confidence > 0.7);
    assert_eq!(analysis.sections, ["has_contracts"]);
    assert!(analysis.has_contact_info && !analysis.has_tabular_data);
    let nothing = RulesModel.analyse(&document(&["once upon a time"]), &schema).await.unwrap();
    assert_eq!((nothing.category, nothing.confidence), (None, 0.0));
}

#[tokio::test]
async fn a_document_is_the_same_by_one_schema_and_by_several() {
    let fewer = ExtractionSchema { sections: Arc::default(), ..schema() };
    let schemas = [Arc::new(schema()), Arc::default(), Arc::new(fewer)];
    let document = document(&["CONTRACT SHEET\nContract Number: LX-4401\nPhone (512) 555-0171"]);
    let together = RulesModel.analyse_by(&document, &schemas).await.unwrap();
    let mut alone = Vec::new();
    for schema in &schemas {
        alone.push(RulesModel.analyse(&document, schema).await.unwrap());
    }
    assert_eq!(together, alone);
    let sections: Vec<usize> = together.iter().map(|analysis| analysis.sections.len()).collect();
    assert_eq!(sections, [1, 0, 0]);
}

fn intents() -> Arc<[IntentSpec]> {
    let spec = |key: &str, keywords: &[&str], examples: &[&str]| IntentSpec {
        key: key.to_owned(),
        description: String::new(),
        keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
        examples: examples.iter().map(|example| (*example).to_owned()).collect(),
    };
    Arc::from([
        spec(
            "garden.mow",
            &["mow^2", "lawn^2", "grass"],
            &["Please mow the lawn this week.", "The grass is too high."],
        ),
        spec("garden.plant", &["plant^2", "tree^2", "doc:PLANT_LIST^2"], &["Please plant the trees on the list."]),
    ])
}

async fn ask(subject: &str, text: &str, documents: &[&str]) -> Classification {
    let input = ClassifyInput {
        subject: subject.to_owned(),
        text: text.to_owned(),
        document_categories: documents.iter().map(|key| (*key).to_owned()).collect(),
        document_text: String::new(),
        ..ClassifyInput::default()
    };
    RulesModel.classify(&input, &intents()).await.unwrap()
}

#[tokio::test]
async fn a_clear_message_is_sure_and_says_why() {
    let answer = ask("Lawn", "Could you mow the lawns on Friday?", &[]).await;
    assert_eq!(answer.intent.as_deref(), Some("garden.mow"));
    assert!(answer.confidence >= 0.8, "{answer:?}");
    assert!(answer.reasoning.contains("\"lawn\""), "{}", answer.reasoning);
    assert_eq!(answer.model, MODEL);
}

#[tokio::test]
async fn a_document_speaks_for_its_intent() {
    let answer = ask("", "see attachment", &["PLANT_LIST"]).await;
    assert_eq!(answer.intent.as_deref(), Some("garden.plant"));
}

#[tokio::test]
async fn what_matches_nothing_has_no_intent() {
    for text in ["ok see you at 3", "", "👍", "Lunch on Tuesday?"] {
        let answer = ask("", text, &[]).await;
        assert_eq!(answer.intent, None, "{text}");
        assert!(answer.confidence < 0.5, "{text}");
    }
    let answer = RulesModel.classify(&ClassifyInput::default(), &Arc::from([])).await.unwrap();
    assert_eq!(answer.intent, None);
}

#[tokio::test]
async fn bulk_mail_and_two_wishes_at_once_are_left_to_a_person() {
    let advert = ask("Lawn week", "Mow your lawn with 60 % off! Shop now!!! Unsubscribe here.", &[]).await;
    assert!(advert.confidence < 0.5, "{advert:?}");
    let both = ask("", "mow the lawn or plant the tree", &[]).await;
    assert!(both.confidence < 0.8, "{both:?}");
    assert_eq!(both.alternatives.len(), 1);
}
