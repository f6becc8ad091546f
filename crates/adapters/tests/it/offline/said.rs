//! Days and persons in the sentences of a message, and names beneath a line that leads to them.

use std::sync::Arc;

use kybern_adapters::models::offline::RulesModel;
use kybern_core::model::{CategoryPattern, ExtractionSchema, FieldPattern, SectionPattern, ValueKind};
use kybern_core::ports::Extractor;
use serde_json::Value;

use super::{document, field};

/// A garage: who works there from when on, what broke when, and who is to get the bill.
fn schema() -> ExtractionSchema {
    let worker = FieldPattern { opens_item: true, ..field("worker", &["mechanic"], ValueKind::Person).of("workers") };
    let begins = field("begins", &["begin date"], ValueKind::Date).of("workers");
    let broke = FieldPattern { opens_item: true, ..field("broke", &[], ValueKind::Date).of("repairs") };
    let bill = field("bill", &["bill to"], ValueKind::Name);
    ExtractionSchema {
        categories: Arc::new([CategoryPattern::new("SLIP", &[("dispatch slip", 5)])]),
        sections: Arc::new([
            SectionPattern::new("has_bills", &["bill", "bills"]),
            SectionPattern::new("on_slip", &["doc:SLIP"]),
        ]),
        fields: Arc::new([
            worker.signed(&["to our mechanics", "starts fixing", "is a mechanic"]),
            begins.signed(&["first day", "starts"]),
            broke.signed(&["broke", "went out", "-since"]),
            field("open", &["open"], ValueKind::Date).signed(&["open again", "reopen"]),
            FieldPattern { many: true, section: Some("has_bills".to_owned()), ..bill },
            field("ends", &["good until"], ValueKind::Date),
            FieldPattern {
                section: Some("on_slip".to_owned()),
                ..field("slip_ends", &["good until", "valid"], ValueKind::Date)
            },
        ]),
        ..ExtractionSchema::default()
    }
}

async fn read(number: u32, text: &str, written: &str) -> Vec<(String, Value)> {
    let (mut document, schema) = (document(&[text]), Arc::new(schema()));
    document.pages[0].written = written.parse().ok();
    let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
    let found = RulesModel.extract(number, &document, &analysis, &schema).await.unwrap().fields;
    for field in &found {
        assert!(document.pages[0].text.get(field.source.start..field.source.end).is_some());
    }
    found.into_iter().map(|field| (field.name, field.value)).collect()
}

async fn values(text: &str, name: &str) -> Vec<Value> {
    let found = read(0, text, "2026-04-14").await.into_iter();
    found.filter(|(field, _)| field == name).map(|(_, value)| value).collect()
}

#[tokio::test]
async fn a_day_is_what_the_words_of_its_clause_say() {
    for (text, name, day) in [
        ("The lift broke on Sunday April 12, 2026 around noon.", "broke", "2026-04-12"),
        ("The lift broke, it went out 4/12/2026, and nobody knows why.", "broke", "2026-04-12"),
        ("We reopen Monday, June 1, so be patient.", "open", "2026-06-01"),
        ("4/20 is when we open again", "open", "2026-04-20"),
        ("Ada Example is a mechanic, and her first day is the 4th of May 2026.", "begins", "2026-05-04"),
    ] {
        assert_eq!(values(text, name).await, [day], "{text}");
    }
    let two = "The lift broke 4/12/2026, the shop reopens? We reopen 6/1/2026.";
    assert_eq!(
        (values(two, "broke").await, values(two, "open").await),
        (vec!["2026-04-12".into()], vec!["2026-06-01".into()])
    );
}

#[tokio::test]
async fn a_day_that_nothing_speaks_for_is_nobodys() {
    for text in [
        "Call me 4/20/2026.",
        "The lift has been new since 4/12/2026 and broke.",
        "We reopen between 6/1 and 6/3.",
        "We reopen 6/1-6/3.",
        "We reopen in 5/27.",
        "We reopen 12/1.",
        "It broke or we open again 4/20/2026",
    ] {
        let found = read(0, text, "2026-04-14").await;
        assert!(!found.iter().any(|(name, _)| name == "open" || name == "broke"), "{text}: {found:?}");
    }
    assert!(read(1, "We reopen on June 1, 2026.", "2026-04-14").await.is_empty(), "a paper has labels");
}

#[tokio::test]
async fn a_person_is_who_the_words_behind_the_name_say() {
    for text in [
        "Please add Ada Example to our mechanics, she is good.",
        "Ada Example starts fixing things on Monday.",
        "Our mechanic, Ada Example, was asleep.",
    ] {
        assert_eq!(values(text, "worker").await, ["Ada Example"], "{text}");
    }
    for text in [
        "Ada Example called about Fern Hollow.",
        "We went to Salt Lake, a mechanic said so.",
        "Fern Hollow LLC starts fixing things.",
    ] {
        assert!(values(text, "worker").await.is_empty(), "{text}");
    }
    let labelled = "Mechanic: Bo Sample\nAda Example starts fixing things on Monday.";
    assert_eq!(values(labelled, "worker").await, ["Bo Sample"], "a label says more");
}

#[tokio::test]
async fn names_with_their_addresses_follow_the_line_that_leads_to_them() {
    for text in [
        "Who gets our bill this year\nFern Hollow Books, LLC - 12 Mill Row, Waco, TX 76701\nCopper Kettle Co. - 8 Dock St, Waco, TX 76702",
        "Please send a bill to both of the following:\n1. Fern Hollow Books, LLC, 12 Mill Row, Waco, TX 76701\n2. Copper Kettle Co., 8 Dock St, Waco, TX 76702",
    ] {
        assert_eq!(values(text, "bill").await, ["Fern Hollow Books, LLC", "Copper Kettle Co."], "{text}");
    }
    let block = "Please make the bill for May to:\n\n   Fern Hollow Books\n   12 Mill Row\n   Waco, TX 76701\n\nThanks";
    assert_eq!(values(block, "bill").await, ["Fern Hollow Books"]);
    for text in [
        "Please pay the bill.\nFern Hollow Books\n12 Mill Row\nWaco, TX 76701",
        "We have moved to:\nFern Hollow Books, 12 Mill Row, Waco, TX 76701",
        "The bill is wrong:\nit says too much, Waco, TX 76701",
    ] {
        assert!(values(text, "bill").await.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn a_section_of_a_category_is_there_on_such_papers_only() {
    let named = |found: Vec<(String, Value)>| found.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(named(read(1, "DISPATCH SLIP\nGood until: 5/1/2026", "").await), ["slip_ends"]);
    assert_eq!(named(read(1, "PARKING\nGood until: 5/1/2026", "").await), ["ends"]);
}
