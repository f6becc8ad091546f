//! Where values stand beside their labels.

use serde_json::json;

use super::rental::plain;

#[tokio::test]
async fn values_stand_above_their_labels_where_the_page_says_so() {
    let form = "LX-4401              06/15/2025\nContract Number      Begin Date\n\nFern Hollow Rentals  06/15/2026\nClient Name          End Date";
    assert_eq!(plain(form, "number").await, ["LX-4401"]);
    assert_eq!(plain(form, "begin").await, ["2025-06-15"]);
    assert_eq!(plain(form, "end").await, ["2026-06-15"]);
    assert_eq!(plain(form, "client.name").await, ["Fern Hollow Rentals"]);
}

#[tokio::test]
async fn values_stand_to_the_left_of_their_labels_where_the_page_says_so() {
    let form =
        "LX-4401              Contract Number\n06/15/2025           Begin Date\nFern Hollow Rentals  Client Name";
    assert_eq!(plain(form, "number").await, ["LX-4401"]);
    assert_eq!(plain(form, "begin").await, ["2025-06-15"]);
}

#[tokio::test]
async fn a_pair_of_labels_leads_to_a_pair_of_values() {
    let text = "DOT / MC: 9228815 / 654321";
    assert_eq!(plain(text, "client.dot").await, ["9228815"]);
    assert_eq!(plain(text, "client.mc").await, ["654321"]);
}

#[tokio::test]
async fn two_labels_in_one_cell_are_one_label() {
    for text in [
        "Client / Cliente    Fern Hollow Rentals",
        "Client Name (Cliente)\tFern Hollow Rentals",
        "Client / Kunde    Fern Hollow Rentals",
        "CLIENT OR CLIENTE         CONTRACT NUMBER\nFern Hollow Rentals       LX-4401",
    ] {
        assert_eq!(plain(text, "client.name").await, ["Fern Hollow Rentals"], "{text}");
    }
}

#[tokio::test]
async fn amounts_belong_to_the_term_before_them() {
    let list =
        "Contract Number: LX-4401\nFull Service   $1,200 a year / $300 dep.\nNight Service  deposit $150, $900 a year";
    let kinds = plain(list, "kind").await;
    assert_eq!(kinds, ["Full Service", "Night Service"]);
    assert_eq!(plain(list, "fee").await, [super::rental::dollars(1200), super::rental::dollars(900)]);
    assert_eq!(plain(list, "deposit").await, [super::rental::dollars(300), super::rental::dollars(150)]);
}

#[tokio::test]
async fn in_a_list_with_marks_only_marked_lines_count() {
    let list = "Contract Number: LX-4401\n\nX Full Service   $1,200\n  Night Service  $900";
    assert_eq!(plain(list, "kind").await, ["Full Service"]);
    let plain_list = "Contract Number: LX-4401\n\nFull Service   $1,200\nNight Service  $900";
    assert_eq!(plain(plain_list, "kind").await, [json!("Full Service"), json!("Night Service")]);
}

#[tokio::test]
async fn words_such_as_your_change_no_label() {
    let form = "Your contract number    LX-4401\nOur client:  Fern Hollow Rentals\nNew driver: Ada Example, of Waco";
    assert_eq!(plain(form, "number").await, ["LX-4401"]);
    assert_eq!(plain(form, "client.name").await, ["Fern Hollow Rentals"]);
    assert_eq!(plain(form, "driver").await, ["Ada Example"]);
}

#[tokio::test]
async fn a_label_in_a_sentence_leads_to_a_name_without_a_colon() {
    for text in [
        "We write for our client Fern Hollow Rentals, they need a car.",
        "A car for our client Fern Hollow Rentals (DOT 9228815) and its trailer",
        "A car for our client Fern Hollow Rentals and its trailer",
    ] {
        assert_eq!(plain(text, "client.name").await, ["Fern Hollow Rentals"], "{text}");
    }
    assert_eq!(plain("Please add driver Ada Example, from May on.", "driver").await, ["Ada Example"]);
    for text in
        ["We write for our client Larch Leasing Company.", "Ask our client about it.", "for our client Contract Number"]
    {
        assert!(plain(text, "client.name").await.is_empty(), "{text}");
    }
    assert!(plain("THE DRIVER SCHEDULE IS ATTACHED", "driver").await.is_empty());
}

#[tokio::test]
async fn a_value_stands_beneath_a_sentence_that_ends_with_its_label() {
    let text = "Please send the car to our client:\n\nFern Hollow Rentals\n12 Mill Row";
    assert_eq!(plain(text, "client.name").await, ["Fern Hollow Rentals"]);
}

#[tokio::test]
async fn a_name_goes_on_in_its_column_up_to_its_legal_form() {
    let form = "Contract Number: LX-4401    Client:  Fern Hollow Car\n                                     Rentals LLC\nDOT: 9228815";
    assert_eq!(plain(form, "client.name").await, ["Fern Hollow Car Rentals LLC"]);
    let other = "Contract Number: LX-4401    Client:  Fern Hollow Car\n                                     12 Mill Row\nDOT: 9228815";
    assert_eq!(plain(other, "client.name").await, ["Fern Hollow Car"]);
}

#[tokio::test]
async fn a_short_word_in_small_letters_is_no_abbreviation() {
    assert_eq!(plain("A car with RR, please", "client.extras").await, ["Roof Rack"]);
    assert!(plain("A car, rr, please", "client.extras").await.is_empty());
}

#[tokio::test]
async fn of_two_labels_in_one_the_number_of_the_thing_counts() {
    let text = "Full Service\nYOUR DEALER / CONTRACT NUMBER\nLX-08-554120";
    assert_eq!(plain(text, "number").await, ["LX-08-554120"]);
}
