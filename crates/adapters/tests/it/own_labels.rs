//! Labels and terms that a tenant has added to a pack's schema.

use kybern_adapters::models::offline::RulesModel;
use std::sync::Arc;

use kybern_core::document::{DocumentFormat, DocumentText, PageText};
use kybern_core::model::{ExtractionSchema, FieldPattern, OwnLabel, SectionPattern, ValueKind};
use kybern_core::ports::model::Extractor as _;
use serde_json::{Value, json};

fn schema(labels: &[(&str, &str, Option<&str>)]) -> ExtractionSchema {
    let field = FieldPattern::new;
    let own = |(field, label, value): &(&str, &str, Option<&str>)| OwnLabel {
        field: (*field).to_owned(),
        label: (*label).to_owned(),
        value: value.map(str::to_owned),
    };
    ExtractionSchema {
        name: "boats".to_owned(),
        sections: Arc::new([SectionPattern::new("has_berth", &["berth plan"])]),
        fields: Arc::new([
            field("owner.name", &["owner"], ValueKind::Name),
            FieldPattern {
                section: Some("has_berth".to_owned()),
                ..field("berth", &["berth number"], ValueKind::Reference)
            },
            field("sail", &["sail", "jib=Jib"], ValueKind::Text),
        ]),
        own_labels: labels.iter().map(own).collect(),
        ..ExtractionSchema::default()
    }
}

async fn value(text: &str, own: &[(&str, &str, Option<&str>)], name: &str) -> Value {
    let page = PageText { number: 1, text: text.to_owned(), ..PageText::default() };
    let (document, schema) = (DocumentText { format: DocumentFormat::Text, pages: vec![page] }, Arc::new(schema(own)));
    let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
    let found = RulesModel.extract(1, &document, &analysis, &schema).await.unwrap();
    found.fields.into_iter().find(|field| field.name == name).map_or(Value::Null, |field| field.value)
}

#[tokio::test]
async fn a_value_stands_under_a_label_of_ones_own() {
    let own = [("owner.name", "named skipper", None)];
    for text in ["Named Skipper: Fern Hollow", "NAMED SKIPPER    Fern Hollow", "Named skipper\nFern Hollow"] {
        assert_eq!(value(text, &[], "owner.name").await, Value::Null, "{text}");
        assert_eq!(value(text, &own, "owner.name").await, json!("Fern Hollow"), "{text}");
    }
    assert_eq!(value("Owner: Larch Point", &own, "owner.name").await, json!("Larch Point"), "the others stay");
}

#[tokio::test]
async fn a_section_is_there_where_a_label_of_ones_own_is() {
    let own = [("berth", "mooring place", None)];
    assert_eq!(value("Mooring place: B-4401", &[], "berth").await, Value::Null);
    assert_eq!(value("Mooring place: B-4401", &own, "berth").await, json!("B-4401"));
}

#[tokio::test]
async fn a_term_of_ones_own_is_a_value_of_the_closed_list() {
    let own = [("sail", "foque", Some("Jib"))];
    assert_ne!(value("Sail: foque", &[], "sail").await, json!("Jib"));
    assert_eq!(value("Sail: foque", &own, "sail").await, json!("Jib"));
}
