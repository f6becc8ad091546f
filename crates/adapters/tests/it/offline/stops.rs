//! Names of places beside and beneath the dates of visits.

use std::sync::Arc;

use kybern_adapters::models::offline::RulesModel;
use kybern_core::model::{ExtractionSchema, FieldPattern, ValueKind};
use kybern_core::ports::Extractor;
use serde_json::Value;

use super::{document, field};

async fn venue(text: &str) -> Vec<Value> {
    let venue =
        FieldPattern { visited_on: Some("visit".to_owned()), ..field("venue", &["venue", "garage"], ValueKind::Name) };
    let fields = Arc::new([field("visit", &["visit", "call on"], ValueKind::Date), venue]);
    let schema = Arc::new(ExtractionSchema { fields, ..ExtractionSchema::default() });
    let document = document(&[text]);
    let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
    let found = RulesModel.extract(1, &document, &analysis, &schema).await.unwrap().fields;
    found.into_iter().filter(|field| field.name == "venue").map(|field| field.value).collect()
}

#[tokio::test]
async fn a_place_is_named_beneath_a_date_before_its_address() {
    for text in [
        "VISIT 10/19/2026 08:00-14:00\nFern Hollow Mills, 44 Bin Road, Waco, TX 76701\nBring gloves",
        "VISIT 10/19/2026 08:00-14:00\nFern Hollow Mills\n44 Bin Road\nWaco, TX 76701",
        "Visit: 10/19/2026\nFern Hollow Mills\nWaco, TX 76701",
    ] {
        assert_eq!(venue(text).await, ["Fern Hollow Mills"], "{text}");
    }
}

#[tokio::test]
async fn a_place_is_named_behind_a_date_and_a_small_word() {
    for (text, name) in [
        ("please call on 10/22/2026 at Fern Hollow Mills (back gate), then home", "Fern Hollow Mills"),
        ("call on 10/22/2026 8 am at Mills LLC, ask for Ada", "Mills LLC"),
    ] {
        assert_eq!(venue(text).await, [name], "{text}");
    }
}

#[tokio::test]
async fn a_place_is_named_in_the_cell_beside_a_date() {
    for text in [
        "VISIT   10/22/2026 08:00-10:00    Fern Hollow Brick & Tile, 4 Kiln Rd, Waco, TX",
        "Visit      10/22/2026      Fern Hollow Brick & Tile, Waco TX",
    ] {
        assert_eq!(venue(text).await, ["Fern Hollow Brick & Tile"], "{text}");
    }
    assert!(venue("VISIT   10/22/2026    bring gloves").await.is_empty());
}

#[tokio::test]
async fn a_town_a_label_or_a_sentence_is_no_place_of_a_visit() {
    for text in [
        "please call on 10/22/2026 at Waco",
        "please call on 10/22/2026 at Salt Lake City, UT",
        "please call on 10/22/2026, thanks to Fern Hollow Mills",
        "VISIT 10/19/2026\nWaco, TX 76701",
        "VISIT 10/19/2026\nBring gloves and a hat",
        "VISIT 10/19/2026\nFern Hollow Mills\n\nWaco, TX 76701",
        "VISIT 10/19/2026\nGarage hours, 44 Bin Road, Waco, TX 76701",
    ] {
        assert!(venue(text).await.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn a_label_says_more_than_a_date() {
    let text = "Venue: Oak Bend Garage\nVISIT 10/19/2026\nFern Hollow Mills, 44 Bin Road, Waco, TX 76701";
    assert_eq!(venue(text).await, ["Oak Bend Garage"]);
}
