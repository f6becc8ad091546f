//! A schema that somebody wrote as JSON, read by the rules.

use std::sync::Arc;

use kybern_adapters::models::offline::RulesModel;
use kybern_core::model::{Claim, ExtractedField, ExtractionSchema, own_schema};
use kybern_core::ports::Extractor;
use serde_json::{Value, json};

use super::document;

fn schema() -> Arc<ExtractionSchema> {
    let written = json!({
        "name": "loan",
        "sections": [{"key": "has_books", "markers": ["books"]}],
        "fields": [
            {"name": "card", "type": "identifier", "pattern": "[A-Z]{2} ?[0-9]{4}", "labels": {"en": ["card"]}},
            {"name": "shelf", "type": "identifier", "pattern": "[A-Z]-[0-9]{2}", "many": true, "labels": {"en": ["shelf"]}},
            {"name": "state", "type": "choice", "labels": {"en": ["state"]}, "choices": [
                {"value": "Lent", "labels": {"en": ["on loan"], "de": ["verliehen"]}},
                {"value": "Here", "labels": {"en": ["on the shelf"]}}]},
            {"name": "books", "type": "table", "section": "has_books", "columns": [
                {"name": "title", "type": "text", "headings": {"en": ["title"]}},
                {"name": "code", "type": "identifier", "pattern": "B[0-9]{3}", "key": true, "headings": {"en": ["code"]}},
                {"name": "due", "type": "date", "headings": {"en": ["due"], "de": ["fällig"]}}]}
        ]
    });
    Arc::new(own_schema::read(&written, None, &[]).unwrap())
}

async fn read(text: &str) -> Vec<ExtractedField> {
    let (document, schema) = (document(&[text]), schema());
    let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
    RulesModel.extract(1, &document, &analysis, &schema).await.unwrap().fields
}

async fn values(text: &str, name: &str) -> Vec<Value> {
    read(text).await.into_iter().filter(|field| field.name == name).map(|field| field.value).collect()
}

#[tokio::test]
async fn an_identifier_is_what_its_pattern_says_wherever_its_label_leads() {
    for text in
        ["Card: KL 4071", "Card   KL 4071", "Card\nKL 4071\n", "Your card KL 4071 ends in May.", "card = KL 4071;"]
    {
        assert_eq!(values(text, "card").await, [json!("KL 4071")], "{text:?}");
    }
    for text in ["Card: 4071", "Card: KL 40717", "Card: kl 4071", "KL 4071"] {
        assert!(values(text, "card").await.is_empty(), "{text:?}");
    }
    assert_eq!(values("Shelf: A-01\nShelf: B-02\nShelf: A-01\n", "shelf").await, [json!("A-01"), json!("B-02")]);
}

#[tokio::test]
async fn a_choice_is_its_value_in_whatever_words() {
    assert_eq!(values("State: verliehen", "state").await, [json!("Lent")]);
    assert_eq!(values("State: on the shelf", "state").await, [json!("Here")]);
    assert!(values("State: sold", "state").await.is_empty());
}

#[tokio::test]
async fn rows_with_the_same_key_are_rows_of_their_own() {
    let table = "Books\n\nCode    Title              Fällig\nB101    The Harbour        March 4, 2026\n\
                 B102    Winter Trees       March 5, 2026\nB101    The Harbour        March 9, 2026\n";
    let found = read(table).await;
    let rows: Vec<(Option<u32>, Value)> =
        found.into_iter().filter(|field| field.name == "due").map(|field| (field.item, field.value)).collect();
    let expected = [(Some(0), json!("2026-03-04")), (Some(1), json!("2026-03-05")), (Some(2), json!("2026-03-09"))];
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn a_claim_of_an_identifier_is_looked_up_by_its_own_pattern() {
    let (document, schema) = (document(&["It is KL4071 on shelf A-01, and B101 lies there."]), schema());
    let field = |name: &str| schema.fields.iter().find(|field| field.name == name).unwrap();
    let claims = [("card", "KL 4071"), ("shelf", "A-01"), ("code", "B101"), ("card", "KL 4072"), ("shelf", "B101")];
    let claims: Vec<Claim<'_>> =
        claims.iter().map(|(name, text)| Claim { field: field(name), item: None, text }).collect();
    let found = RulesModel.locate(&document, &claims).await.unwrap();
    let found: Vec<Option<Value>> = found.into_iter().map(|found| found.map(|found| found.value)).collect();
    assert_eq!(found, [Some(json!("KL4071")), Some(json!("A-01")), Some(json!("B101")), None, None]);
}
