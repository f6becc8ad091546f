//! Labels that announce several values, labels that a column has broken or a form has numbered, and lines that tell of an
//! item without any.

use serde_json::{Value, json};

use super::rental::{dollars, plain, values};

fn term() -> Value {
    json!({"start": "2025-05-01", "end": "2026-05-01"})
}

#[tokio::test]
async fn several_values_follow_the_label_that_announces_them() {
    for text in [
        "CONTRACT NUMBER / TERM: LX-4401, 05/01/2025 - 05/01/2026",
        "Contract Number / Term    LX-4401 05/01/2025 to 05/01/2026",
        "Contract Number / Term :   LX-4401\n                           05/01/2025 - 05/01/2026",
        "Contract Number / Term\tClient\nLX-4401\tFern Hollow Inc.\n05/01/2025 - 05/01/2026",
        "Contract Number and Term (12:01 a.m.)\nLX-4401\n05/01/2025 - 05/01/2026\n\nClient\nFern Hollow Inc.",
        "Contract / Begin / End\tLX-4401\n05/01/2025 through 05/01/2026",
        "Agreement / Contract Number / Term\nLX-4401\n05/01/2025 - 05/01/2026",
        "Contract Number / Term (12:01 a.m.)    LX-4401\n                                       05/01/2025 / 05/01/2026",
        "LX-4401, 05/01/2025 - 05/01/2026  (Contract Number / Term)\n9228815                           (USDOT)\n654321                            (MC)",
    ] {
        assert_eq!(plain(text, "number").await, ["LX-4401"], "{text}");
        assert_eq!(plain(text, "term").await, [term()], "{text}");
    }
}

#[tokio::test]
async fn two_dates_behind_a_label_of_two_dates_are_a_range() {
    let text = "Contract: LX-4401\nBegin / End    05/01/2025 thru 05/01/2026";
    assert_eq!(plain(text, "term").await, [term()]);
    assert_eq!(plain(text, "end").await, Vec::<Value>::new());
    let table = "Contract Number   Begin / End\nLX-4401           05/01/2025 - 05/01/2026";
    assert_eq!(plain(table, "term").await, [term()]);
}

#[tokio::test]
async fn a_label_in_two_languages_announces_one_value() {
    assert_eq!(plain("Client / Cliente: Fern Hollow Inc.", "client.name").await, ["Fern Hollow Inc."]);
    assert_eq!(plain("Begin / Begin Date: 05/01/2025", "begin").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_label_that_its_column_has_broken_is_one_label() {
    let form = "Contract   LX-4401           Begin /   05/01/2025 - 05/01/2026\nNumber                       End\nClient     Fern Hollow Inc.\nName";
    assert_eq!(plain(form, "number").await, ["LX-4401"]);
    assert_eq!(plain(form, "term").await, [term()]);
    assert_eq!(plain(form, "client.name").await, ["Fern Hollow Inc."]);
}

#[tokio::test]
async fn a_form_numbers_the_labels_of_what_it_has_several_of() {
    let form = "Contract Number    LX-4401\nKind 1    Full Service\nAnnual Fee 1    $1,200.00\nKind 2    Night Service\nAnnual Fee 2    $300.00";
    assert_eq!(plain(form, "kind").await, ["Full Service", "Night Service"]);
    assert_eq!(plain(form, "fee").await, [dollars(1_200), dollars(300)]);
    assert_eq!(plain("Contract 12    Fern Hollow Inc.", "number").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_line_tells_of_an_item_fact_after_fact() {
    let letter = "Please renew for our client Fern Hollow Inc.:\nFull Service: Elm Leasing Company / LX/4401/22 / 5/1/2025-5/1/2026\nNight Service: Oak Leasing Corporation / LX-4402 / 6/1/2025-6/1/2026\nThank you";
    assert_eq!(values(letter, "number").await, [(Some(0), json!("LX/4401/22")), (Some(1), json!("LX-4402"))]);
    assert_eq!(
        values(letter, "lessor").await,
        [(Some(0), json!("Elm Leasing Company")), (Some(1), json!("Oak Leasing Corporation"))]
    );
    assert_eq!(values(letter, "kind").await, [(Some(0), json!("Full Service")), (Some(1), json!("Night Service"))]);
    let terms = plain(letter, "term").await;
    assert_eq!(terms, [term(), json!({"start": "2025-06-01", "end": "2026-06-01"})]);
}

#[tokio::test]
async fn a_number_in_a_line_that_could_be_several_is_nobodys() {
    for letter in [
        "Elm Leasing Company / LX-4401 / LX-4402 / 5/1/2025-5/1/2026",
        "Elm Leasing Company / 512-555-0171 / 5/1/2025-5/1/2026",
        "Elm Leasing Company / LX-4401 / call me",
        "Fern Hollow Inc. / LX-4401 / 5/1/2025-5/1/2026",
    ] {
        assert_eq!(plain(letter, "number").await, Vec::<Value>::new(), "{letter}");
    }
}

#[tokio::test]
async fn a_name_that_ends_with_a_label_is_a_name() {
    let letter = "Elm Leasing Company - Full Service - contract LX-4401 (5/1/2025 - 5/1/2026)\nOak Leasing Corporation, contract LX-4402, 6/1/2025 to 6/1/2026";
    assert_eq!(
        values(letter, "lessor").await,
        [(Some(0), json!("Elm Leasing Company")), (Some(1), json!("Oak Leasing Corporation"))]
    );
    let question = "Can you write to Elm Leasing Company? Fern Hollow Inc., contract LX-4401.";
    assert_eq!(plain(question, "lessor").await, ["Elm Leasing Company"]);
}

#[tokio::test]
async fn a_number_goes_on_behind_a_gap_that_print_has_left_there() {
    assert_eq!(plain("Contract Number: LX/AB/ 4401-22", "number").await, ["LX/AB/4401-22"]);
    assert_eq!(plain("Contract Number: 22- LX4401-7", "number").await, ["22-LX4401-7"]);
    assert_eq!(plain("Contract Number: LX4401- 05/01/2025", "number").await, ["LX4401"]);
}

#[tokio::test]
async fn an_item_of_a_form_may_have_its_number_before_its_label() {
    let form =
        "Item ONE. Contract Number\nLX-4401\nItem TWO. Begin\n05/01/2025\nItem THREE. Client Name\nFern Hollow Inc.";
    assert_eq!(plain(form, "number").await, ["LX-4401"]);
    assert_eq!(plain(form, "begin").await, ["2025-05-01"]);
    assert_eq!(plain(form, "client.name").await, ["Fern Hollow Inc."]);
}

#[tokio::test]
async fn a_verb_stands_between_a_label_and_its_value() {
    let letter = "Our contract number is LX-4401, and the USDOT is 9228815.";
    assert_eq!(plain(letter, "number").await, ["LX-4401"]);
    assert_eq!(plain(letter, "client.dot").await, ["9228815"]);
}

#[tokio::test]
async fn a_name_goes_on_with_its_legal_form_alone() {
    let form = "Client:    Fern Hollow Rentals    Contract Number:    LX-4401\n           Company";
    assert_eq!(plain(form, "client.name").await, ["Fern Hollow Rentals Company"]);
}

#[tokio::test]
async fn what_stands_in_brackets_behind_an_amount_and_other_words_belongs_to_the_next() {
    let line = "Contract LX-4401\nFull Service: $4,500 stated value (deposit $250)";
    assert_eq!(plain(line, "fee").await, [dollars(4_500)]);
    assert_eq!(plain(line, "deposit").await, [dollars(250)]);
}
