//! Whether a document says what a language model claims, on a small domain that is none of the packs'.

use kybern_adapters::models::offline::RulesModel;
use kybern_core::document::{DocumentFormat, DocumentText, PageText};
use kybern_core::model::{Claim, FieldPattern, Located, ValueKind};
use kybern_core::ports::Extractor;
use serde_json::{Value, json};

fn field(labels: &[&str], value: ValueKind) -> FieldPattern {
    FieldPattern::new("field", labels, value)
}

fn item(value: ValueKind) -> FieldPattern {
    field(&["seats"], value).of("rooms")
}

fn document(pages: &[&str]) -> DocumentText {
    let page = |(number, text): (u32, &&str)| PageText { number, text: (*text).to_owned(), ..PageText::default() };
    DocumentText { format: DocumentFormat::Text, pages: (1..).zip(pages).map(page).collect() }
}

async fn locate(pages: &[&str], claims: &[Claim<'_>]) -> Vec<Option<Located>> {
    RulesModel.locate(&document(pages), claims).await.unwrap()
}

/// The value that a claim comes to, with the words that prove it.
async fn proof(text: &str, field: &FieldPattern, claimed: &str) -> Option<(Value, String)> {
    let claims = [Claim { field, item: None, text: claimed }];
    let found = locate(&[text], &claims).await.remove(0)?;
    Some((found.value, text[found.start..found.end].to_owned()))
}

#[tokio::test]
async fn blanks_case_punctuation_and_line_breaks_do_not_matter() {
    let name = field(&[], ValueKind::Name);
    let (value, words) = proof("Tenant: FERN  HOLLOW,\tINC.", &name, "Fern Hollow Inc").await.unwrap();
    assert_eq!((value, words.as_str()), (json!("FERN  HOLLOW,\tINC"), "FERN  HOLLOW,\tINC"));
    let number = field(&[], ValueKind::PolicyNumber);
    let found = proof("No. KQ5520-118-03, due", &number, "kq5520-118-03").await;
    assert_eq!(found.map(|(_, words)| words).as_deref(), Some("KQ5520-118-03"));
}

#[tokio::test]
async fn a_name_that_a_line_breaks_is_read_over_both_lines() {
    let name = field(&[], ValueKind::Name);
    let text =
        "Written by: Fern Hollow Insurance Co. of\n            America\nTenant: Oak Bros.\nFreight Inc\n12 Mill Row";
    let (value, words) = proof(text, &name, "Fern Hollow Insurance Co. of America").await.unwrap();
    assert_eq!(value, json!("Fern Hollow Insurance Co. of America"));
    assert_eq!(words, "Fern Hollow Insurance Co. of\n            America");
    assert_eq!(proof(text, &name, "Oak Bros. Freight Inc").await.unwrap().0, json!("Oak Bros. Freight Inc"));
    let address_too = proof(text, &name, "Oak Bros. Freight Inc 12 Mill Row").await.unwrap();
    assert_eq!(address_too.0, json!("Oak Bros. Freight Inc"), "the line of an address is no part of it");
}

#[tokio::test]
async fn a_date_or_an_amount_is_found_however_the_claim_writes_it() {
    let date = field(&[], ValueKind::Date);
    for claimed in ["2025-03-04", "March 4, 2025", "3/4/2025"] {
        let (value, words) = proof("Signed on 03/04/2025 in Waco", &date, claimed).await.expect(claimed);
        assert_eq!((value, words.as_str()), (json!("2025-03-04"), "03/04/2025"), "{claimed}");
    }
    let money = field(&[], ValueKind::Money);
    for claimed in ["$1,000,000", "1000000", "1,000,000.00"] {
        let found = proof("The limit is $1,000,000 for each", &money, claimed).await.expect(claimed);
        assert_eq!(found.0, json!(1_000_000_000_000_000_i64), "{claimed}");
    }
    let phone = field(&[], ValueKind::Phone);
    assert_eq!(proof("call (512) 555-0171 now", &phone, "512.555.0171").await.unwrap().0, json!("5125550171"));
}

#[tokio::test]
async fn a_number_is_as_long_as_the_claim_says_where_the_text_leaves_that_open() {
    let policy = field(&[], ValueKind::PolicyNumber);
    let text = "we are insured under policy KQAM 5540 2203 B from May 1, and KQAM 118 22-9 since June";
    let words = |claimed: &'static str| async { proof(text, &policy, claimed).await.map(|(_, words)| words) };
    assert_eq!(words("KQAM 5540 2203 B").await.as_deref(), Some("KQAM 5540 2203 B"));
    for cut in ["KQAM 5540", "KQAM 118", "KQAM 118 22", "AM 5540 2203"] {
        assert_eq!(words(cut).await, None, "{cut}");
    }
    let license = field(&[], ValueKind::License);
    for text in ["NO......... OR D8835035\nCLASS... A", "Amity Rowe\tOR D8835035\t11/30/2028", "Amity (OR D8835035)"] {
        let found = proof(text, &license, "OR D8835035").await;
        assert_eq!(found.map(|(_, words)| words).as_deref(), Some("OR D8835035"), "{text}");
    }
}

#[tokio::test]
async fn what_the_document_does_not_say_is_refused() {
    let text = "Fern Hollow Inc., USDOT 9104417, limit $10,000.00, signed on 03/04/2025, ref KQ5520-118-03";
    for (kind, claimed) in [
        (ValueKind::Name, "Fern Hollow Holdings Inc"),
        (ValueKind::Name, "ollow Inc"),
        (ValueKind::DotNumber, "9104418"),
        (ValueKind::DotNumber, "104417"),
        // The same digits, and another amount.
        (ValueKind::Money, "$1,000,000"),
        (ValueKind::Date, "2025-04-03"),
        (ValueKind::Date, "03/05/2025"),
        (ValueKind::PolicyNumber, "KQ5520"),
        (ValueKind::Email, "fern@hollow.example"),
        (ValueKind::Text, ""),
        (ValueKind::Text, "—"),
    ] {
        assert_eq!(proof(text, &field(&[], kind), claimed).await, None, "{claimed}");
    }
}

#[tokio::test]
async fn a_short_value_needs_its_label_or_the_line_of_its_item() {
    let seats = field(&["seats"], ValueKind::Integer);
    let text = "Page 7 of 9\nSeats: 40\nFloor 3";
    assert_eq!(proof(text, &seats, "40").await.unwrap().0, json!(40));
    assert_eq!(proof(text, &field(&["rooms"], ValueKind::Integer), "9").await, None);
    let (name, count) = (item(ValueKind::Name), item(ValueKind::Integer));
    let text = "Hall\tCount\nBlue Room\t12\nRed Room\t14\n";
    let claims = [
        Claim { field: &name, item: Some(0), text: "Red Room" },
        Claim { field: &count, item: Some(0), text: "14" },
        Claim { field: &name, item: Some(1), text: "Blue Room" },
        Claim { field: &count, item: Some(1), text: "14" },
    ];
    let found = locate(&[text], &claims).await;
    assert_eq!(found[1].as_ref().map(|found| &found.value), Some(&json!(14)));
    assert_eq!(found[3], None, "another item's count");
}

#[tokio::test]
async fn a_term_is_found_by_its_phrases_and_comes_out_as_its_value() {
    let kind = field(&["kind", "full service=Full Service", "night=Night Service"], ValueKind::Text);
    let (value, words) = proof("We take the Night tariff", &kind, "Night Service").await.unwrap();
    assert_eq!((value, words.as_str()), (json!("Night Service"), "Night"));
    assert_eq!(proof("We take the day tariff", &kind, "Night Service").await, None);
}

#[tokio::test]
async fn an_items_value_is_the_one_next_to_its_other_values() {
    let (name, date) = (item(ValueKind::Name), item(ValueKind::Date));
    let page = "Blue Room\t03/04/2025\nGreen Room\t04/04/2025\nRed Room\t03/04/2025";
    let claims = [
        Claim { field: &name, item: Some(2), text: "Red Room" },
        Claim { field: &date, item: Some(2), text: "2025-03-04" },
    ];
    let found = locate(&["nothing", page], &claims).await;
    let second = found[1].as_ref().unwrap();
    assert_eq!((second.page, second.start), (2, page.rfind("03/04").unwrap()));
}

#[tokio::test]
async fn a_flood_of_claims_and_text_ends() {
    let text = "aaaa 12/12/2025 $5 ".repeat(20_000);
    let (name, date) = (field(&[], ValueKind::Name), field(&[], ValueKind::Date));
    let claims: Vec<Claim<'_>> = (0..1_000)
        .map(|n| Claim { field: if n % 2 == 0 { &name } else { &date }, item: None, text: "aaaa 11/12/2025" })
        .collect();
    assert!(locate(&[&text], &claims).await.iter().all(Option::is_none));
}
