//! A rental business: clients with their cars and contracts, dealers, lessors, and repairs. For what a schema of one kind
//! of party cannot show.

use kybern_adapters::models::offline::RulesModel;
use std::sync::Arc;

use kybern_core::model::{ExtractedField, ExtractionSchema, FieldPattern, ValueKind};
use kybern_core::ports::Extractor;
use serde_json::Value;

use super::{document, field};

/// Words by which the name of a lessor is known.
const LESSOR: &[&str] = &["leasing company", "leasing corporation", "-agency"];

fn of(group: &str, name: &str, labels: &[&str], value: ValueKind, opens_item: bool) -> FieldPattern {
    FieldPattern { opens_item, ..field(name, labels, value).of(group) }
}

fn contract(name: &str, labels: &[&str], value: ValueKind) -> FieldPattern {
    of("contracts", name, labels, value, false)
}

fn schema() -> ExtractionSchema {
    let fee = contract("fee", &["fee", "annual fee"], ValueKind::Money);
    let deposit = contract("deposit", &["deposit"], ValueKind::Money);
    let dealer = field("dealer.name", &["dealer"], ValueKind::Name);
    let lessor = contract("lessor", &["lessor", "leasing company"], ValueKind::Name);
    ExtractionSchema {
        writer: Some("writer".to_owned()),
        fields: Arc::new([
            field("client.name", &["client", "client name", "cliente", "our client"], ValueKind::Name),
            field("client.dot", &["usdot", "dot", "dot number"], ValueKind::DotNumber),
            field("client.mc", &["mc"], ValueKind::McNumber),
            field("client.phone", &["phone", "tel"], ValueKind::Phone),
            field("client.email", &["email"], ValueKind::Email),
            dealer.signed(&["dealership"]),
            field("dealer.phone", &["phone", "tel"], ValueKind::Phone),
            field("writer.name", &["your name", "contact"], ValueKind::Person),
            field("writer.phone", &["phone", "tel"], ValueKind::Phone),
            field("writer.email", &["email"], ValueKind::Email),
            of("contracts", "number", &["contract number", "contract"], ValueKind::PolicyNumber, true),
            lessor.signed(LESSOR),
            contract("term", &["term", "begin"], ValueKind::DateRange),
            contract("begin", &["begin", "begin date"], ValueKind::Date),
            contract("end", &["end", "end date"], ValueKind::Date),
            contract(
                "kind",
                &["kinds", "kind", "full?=Full Service", "full service=Full Service", "night service=Night Service"],
                ValueKind::Text,
            ),
            FieldPattern { many: true, ..fee.signed(&["a year"]) },
            FieldPattern { many: true, ..deposit.signed(&["deposit", "dep"]) },
            field("client.extras", &["extras", "rr=Roof Rack"], ValueKind::Text),
            field("driver", &["driver"], ValueKind::Person),
            of("repairs", "ticket", &["ticket", "ticket number"], ValueKind::Reference, true),
            of("repairs", "cost", &["cost"], ValueKind::Money, false),
        ]),
        ..ExtractionSchema::default()
    }
}

/// What is read in document `number`; the message itself is 0.
pub(super) async fn read(number: u32, text: &str) -> Vec<ExtractedField> {
    let (document, schema) = (document(&[text]), Arc::new(schema()));
    let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
    RulesModel.extract(number, &document, &analysis, &schema).await.unwrap().fields
}

/// What is read in a paper of several pages.
pub(super) async fn read_pages(pages: &[&str]) -> Vec<ExtractedField> {
    let (document, schema) = (document(pages), Arc::new(schema()));
    let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
    RulesModel.extract(1, &document, &analysis, &schema).await.unwrap().fields
}

/// The values of a field of a paper, with the item of each.
pub(super) async fn values(text: &str, name: &str) -> Vec<(Option<u32>, Value)> {
    read(1, text).await.into_iter().filter(|field| field.name == name).map(|field| (field.item, field.value)).collect()
}

/// The values of a field of a paper.
pub(super) async fn plain(text: &str, name: &str) -> Vec<Value> {
    values(text, name).await.into_iter().map(|(_, value)| value).collect()
}

pub(super) fn dollars(amount: i64) -> Value {
    Value::from(amount * 1_000_000_000)
}
