//! Employers' numbers, percentages, times and amounts with bounds, by a schema that somebody wrote.

use std::sync::Arc;

use kybern_adapters::models::offline::RulesModel;
use kybern_core::model::{Claim, ExtractedField, ExtractionSchema, Located, own_schema};
use kybern_core::ports::Extractor;
use serde_json::{Value, json};

use super::document;

fn schema() -> Arc<ExtractionSchema> {
    let written = json!({
        "name": "stall",
        "fields": [
            {"name": "employer", "type": "fein", "labels": {"en": ["tax id"]}},
            {"name": "opened_on", "type": "date", "labels": {"en": ["opens"]}},
            {"name": "opened_at", "type": "time", "labels": {"en": ["opening time"]}},
            {"name": "fee", "type": "money", "min": 10, "max": "500.50", "labels": {"en": ["fee"]}},
            {"name": "fee_share", "type": "percentage", "max": 50, "labels": {"en": ["share"]}},
            {"name": "seats", "type": "integer", "min": 1, "labels": {"en": ["seats"]}},
            {"name": "goods", "type": "table", "columns": [
                {"name": "article", "type": "reference", "headings": {"en": ["article"]}},
                {"name": "tax", "type": "percentage", "headings": {"en": ["tax"]}}]}
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

async fn problem(text: &str, name: &str) -> Option<String> {
    let field = read(text).await.into_iter().find(|field| field.name == name).unwrap();
    assert_eq!(field.problem.is_some(), field.confidence < 0.7, "{text}");
    field.problem
}

async fn claimed(text: &str, name: &str, claim: &str) -> Option<Located> {
    let (document, schema) = (document(&[text]), schema());
    let field = schema.fields.iter().find(|field| field.name == name).unwrap();
    let item = field.group.as_ref().map(|_| 0);
    RulesModel.locate(&document, &[Claim { field, item, text: claim }]).await.unwrap().remove(0)
}

#[tokio::test]
async fn each_kind_is_read_behind_beside_and_beneath_its_label() {
    for (name, label, written, value) in [
        ("employer", "Tax ID", "84-5550142", "84-5550142"),
        ("employer", "Tax ID", "845550142", "84-5550142"),
        ("opened_at", "Opening time", "8:30 am", "08:30"),
        ("opened_at", "Opening time", "10/15/2026 08:30", "08:30"),
        ("fee_share", "Share", "2.50 %", "2.5"),
        ("fee_share", "Share", "12 percent", "12"),
    ] {
        for text in [
            format!("{label}: {written}"),
            format!("{label}    {written}"),
            format!("{label}\n{written}\n"),
            format!("The {} is {written}, as agreed.", label.to_lowercase()),
        ] {
            assert_eq!(values(&text, name).await, [json!(value)], "{text:?}");
        }
    }
    assert_eq!(values("Opens: 10/15/2026 08:30", "opened_on").await, [json!("2026-10-15")], "the date stays the date");
    let table = "Article    Tax\nA-1001     7 %\nA-1002     8.875 %\n";
    assert_eq!(values(table, "tax").await, [json!("7"), json!("8.875")]);
}

#[tokio::test]
async fn what_is_of_another_kind_is_left_alone() {
    for (text, name) in [
        ("Tax ID: 123-45-6789", "employer"),
        ("Share: 12", "fee_share"),
        ("Share: $12", "fee_share"),
        ("Fee: 2 %", "fee"),
        ("Fee: 12 percent", "fee"),
        ("Opening time: 8", "opened_at"),
    ] {
        assert!(values(text, name).await.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn what_cannot_be_right_is_kept_and_told() {
    for (text, name, expected) in [
        ("Tax ID: 84-5550142", "employer", None),
        ("Tax ID: 00-5550142", "employer", Some("no employer's number begins with 00")),
        ("Fee: $10.00", "fee", None),
        ("Fee: $9.99", "fee", Some("it is less than $10")),
        ("Fee: ($20.00)", "fee", Some("it is less than $10")),
        ("Fee: $500.51", "fee", Some("it is more than $500.5")),
        ("Share: 50%", "fee_share", None),
        ("Share: 50.1%", "fee_share", Some("it is more than 50 %")),
        ("Seats: 0", "seats", Some("it is less than 1")),
    ] {
        assert_eq!(problem(text, name).await.as_deref(), expected, "{text}");
    }
}

#[tokio::test]
async fn of_two_amounts_the_one_that_can_be_right_counts() {
    assert_eq!(values("Fee: $5.00\nFee: $50.00", "fee").await, [json!(50_000_000_000_i64)]);
}

#[tokio::test]
async fn a_claim_is_held_to_the_kind_and_to_its_bounds() {
    let text = "Tax ID 84-5550142, share 2.5%, open 08:30 to 16:00, fee $9,999.00, tax 25 %";
    for (name, claim, value) in [
        ("employer", "845550142", json!("84-5550142")),
        ("fee_share", "2.5 percent", json!("2.5")),
        ("fee_share", "25%", json!("25")),
        ("opened_at", "8:30 AM", json!("08:30")),
        ("fee", "9999", json!(9_999_000_000_000_i64)),
    ] {
        assert_eq!(claimed(text, name, claim).await.map(|found| found.value), Some(value), "{claim}");
    }
    for (name, claim) in [
        ("employer", "84-5550143"),
        ("fee_share", "5%"),
        ("fee_share", "0.25%"),
        ("opened_at", "08:31"),
        ("fee", "99%"),
    ] {
        assert_eq!(claimed(text, name, claim).await, None, "{claim}");
    }
    assert_eq!(claimed("share 2.5%", "fee_share", "25%").await, None, "the point counts");
    let found = claimed(text, "fee", "$9,999.00").await.unwrap();
    assert_eq!(found.problem.as_deref(), Some("it is more than $500.5"));
    assert!(found.fit < 0.7);
}
