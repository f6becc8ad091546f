use std::sync::Arc;

use kybern_core::model::{ExtractedField, Extraction, FieldSource, FoundBy};
use serde_json::json;

use super::*;
use crate::reading::as_document;

fn document(text: &str, numbers: &[&str]) -> ReadDocument {
    let field = |number: &&str| {
        let start = text.find(number).unwrap();
        ExtractedField {
            name: "policy_number".to_owned(),
            group: Some("policies".to_owned()),
            item: None,
            value: json!(number),
            confidence: 0.9,
            problem: None,
            source: FieldSource { page: 1, start, end: start + number.len(), ..FieldSource::default() },
            found_by: FoundBy::Rules,
            rival: None,
        }
    };
    let extraction = Extraction { fields: numbers.iter().map(field).collect(), ..Extraction::default() };
    let text = Arc::new(as_document(text.to_owned()));
    ReadDocument { n: 0, filename: "message".to_owned(), extraction, text }
}

fn owned(text: &str, numbers: &[&str]) -> Vec<Option<usize>> {
    let known = ["harrow and pike mutual", "brindle bay", "lodestar casualty"];
    let ids: Vec<RecordId> = (1..).take(known.len()).map(uuid::Uuid::from_u128).map(RecordId::from_uuid).collect();
    let names = Names::of(ids.iter().copied().zip(known.map(str::to_owned)).collect());
    let found = named_beside(&names, &document(text, numbers));
    let of = |number: &&str| {
        let beside = found.iter().find(|beside| beside.number == **number)?;
        ids.iter().position(|known| *known == beside.insurer)
    };
    numbers.iter().map(of).collect()
}

#[test]
fn a_number_has_the_insurer_of_its_sentence() {
    let numbers = ["LC-77812-A", "BBI 5510234", "HPM93318"];
    for text in [
        "Liability is with Lodestar, policy number\nLC-77812-A, until 3/1/27. Cargo sits with Brindle Bay under BBI 5510234 and the \
         rest is on Harrow & Pike HPM93318.",
        "LC-77812-A (Lodestar)\nBBI 5510234 (Brindle Bay)\nHPM93318 (Harrow & Pike)",
        "- Lodestar Casualty - AL - LC-77812-A\n- Brindle Bay - MTC - BBI 5510234\n- Harrow and Pike - WC - HPM93318",
        "We were with Lodestar Casualty Co. No. LC-77812-A; then Brindle Bay: BBI 5510234; now HPM93318 of Harrow",
    ] {
        assert_eq!(owned(text, &numbers), [Some(2), Some(1), Some(0)], "{text}");
    }
    let two = "Auto LC-77812-A and cargo BBI 5510234 are with Lodestar, HPM93318 is with Harrow & Pike.";
    assert_eq!(owned(two, &numbers), [Some(2), Some(2), Some(0)]);
    let two = "Brindle Bay: LC-77812-A, BBI 5510234\nHarrow: HPM93318";
    assert_eq!(owned(two, &numbers), [Some(1), Some(1), Some(0)]);
}

#[test]
fn what_a_paragraph_has_named_before_goes_on() {
    let numbers = ["LC-77812-A", "BBI 5510234"];
    let between = "We are with Lodestar until May. Please get copies. LC-77812-A, and before that we had Brindle Bay, \
                   BBI 5510234.";
    assert_eq!(owned(between, &numbers), [Some(2), Some(1)]);
    let memo = "Lodestar has had the trucks since 2024.\nThe present contract is LC-77812-A. The one before it was \
                BBI 5510234.\n\nCargo is with Brindle Bay.";
    assert_eq!(owned(memo, &numbers), [Some(2), Some(2)]);
    let two = "Lodestar has the trucks and Brindle Bay the cargo. The numbers are LC-77812-A and BBI 5510234.";
    assert_eq!(owned(two, &numbers), [None, None], "nobody knows which is whose");
    let apart = "Lodestar has the trucks.\n\nBrindle Bay has the rest.\n\nThe numbers are LC-77812-A, BBI 5510234.";
    assert_eq!(owned(apart, &numbers), [None, None]);
    assert_eq!(owned("Brindle Bay has the cargo. LC-77812-A is with Lodestar.", &numbers[..1]), [Some(2)]);
}

#[test]
fn as_many_insurers_as_numbers_have_them_in_their_order() {
    let numbers = ["LC-77812-A", "BBI 5510234"];
    let text = "Please request from Lodestar and Brindle Bay - policies LC-77812-A and BBI 5510234.";
    assert_eq!(owned(text, &numbers), [Some(2), Some(1)]);
    let more = "Please request from Lodestar, Brindle Bay and Harrow: LC-77812-A, BBI 5510234.";
    assert_eq!(owned(more, &numbers), [None, None]);
}

#[test]
fn beside_an_insurer_a_number_needs_no_label() {
    let names = Names::of(vec![(RecordId::from_uuid(uuid::Uuid::from_u128(1)), "brindle bay".to_owned())]);
    let loose = |text: &str| -> Vec<String> {
        named_beside(&names, &document(text, &[])).into_iter().map(|beside| beside.number).collect()
    };
    assert_eq!(loose("Cargo sits with Brindle Bay under BBI 55-10234, thanks."), ["BBI 55-10234"]);
    assert_eq!(loose("losses please, Brindle Bay BB-26-5512"), ["BB-26-5512"]);
    for text in [
        "Could you get those from Brindle Bay for me? BB-26-5512. Thanks",
        "They are leaving Brindle Bay. Please request the loss runs on BB-26-5512.",
    ] {
        assert_eq!(loose(text), ["BB-26-5512"], "{text}");
    }
    for (text, number) in [
        ("We are with Brindle Bay, BB/2025/11873.", "BB/2025/11873"),
        ("The trucks are with Brindle Bay, SC7 PD 20936.", "SC7 PD 20936"),
        ("Both are with Brindle Bay:\n\n  01-CV-590412   general liability", "01-CV-590412"),
    ] {
        assert_eq!(loose(text), [number], "{text}");
    }
    assert!(loose("We are with Brindle Bay.\n\n01-CV-590412 is the truck of my brother").is_empty());
    let list = "Can you get them from Brindle Bay?\n\nthis year  BB-26-5512\nlast year: BB-25-5512\n\nthx";
    assert_eq!(loose(list), ["BB-26-5512", "BB-25-5512"]);
    for none in [
        "We are with Brindle Bay.\n\nThe tractor that we bought is BB-26-5512",
        "They are leaving Brindle Bay.\n\nThe tractor is BB-26-5512.",
        "They are leaving Brindle Bay. Bring the tractor BB-26-5512.",
        "Brindle Bay, claim CLM-2026-00918",
        "Brindle Bay insures DOT 2211887, MC 778123, in Waco, TX 76701",
        "Brindle Bay since OCT 2026, call 512-555-0171",
        "Our number is BB-26-5512",
        "We are with Brindle Bay today. The number is BB-26-5512",
        "We have been with Brindle Bay since 12-JAN-2026",
    ] {
        assert!(loose(none).is_empty(), "{none}");
    }
}

#[test]
fn what_is_written_like_a_number_of_the_text_is_one() {
    let names = Names::of(vec![(RecordId::from_uuid(uuid::Uuid::from_u128(1)), "brindle bay".to_owned())]);
    let found = |text: &str, known: &str| -> Vec<String> {
        named_beside(&names, &document(text, &[known])).into_iter().map(|beside| beside.number).collect()
    };
    let text = "get me those from Brindle Bay\npolicy # BA4402171\n\nsorry fat thumbs its BA4402178";
    assert_eq!(found(text, "BA4402171"), ["BA4402171", "BA4402178"]);
    let text = "get me those from Brindle Bay\npolicy # BA4402171\n\nthe trailer is TR-22178";
    assert_eq!(found(text, "BA4402171"), ["BA4402171"]);
}

#[test]
fn nobody_knows_whose_a_number_is_between_two_insurers() {
    let numbers = ["LC-77812-A", "BBI 5510234"];
    assert_eq!(owned("Lodestar has LC-77812-A, and BBI 5510234 is with Brindle Bay", &numbers), [None, None]);
    assert_eq!(owned("Lodestar or Brindle Bay: LC-77812-A, Harrow BBI 5510234", &numbers), [None, None]);
    assert_eq!(owned("Lodestar and Brindle Bay.\n\nThe numbers are LC-77812-A, BBI 5510234", &numbers), [None, None]);
}

#[test]
fn a_sentence_of_numbers_without_an_end_is_read_in_time() {
    let names = Names::of(Vec::new());
    let read = |count: usize| {
        let numbers: String = (0..count).map(|n| format!("numbered BA{n:06}, ")).collect();
        drop(named_beside(&names, &document(&numbers, &[])));
    };
    assert!(kybern_testkit::growth(500, read) < 24.0);
}
