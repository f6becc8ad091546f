//! Tables that are not plain: on their side, with codes, with columns that nobody knows, of two things at once.

use serde_json::json;

use super::rental::{dollars, plain, values};

#[tokio::test]
async fn a_table_on_its_side_has_an_item_in_each_column() {
    let table = "                  First car       Second car\nContract Number   LX-4401         LX-4402\nBegin Date        05/01/2025      06/01/2025\nKind              Full Service    Night Service\nAnnual Fee        $100            $200";
    assert_eq!(values(table, "number").await, [(Some(0), json!("LX-4401")), (Some(1), json!("LX-4402"))]);
    assert_eq!(values(table, "begin").await, [(Some(0), json!("2025-05-01")), (Some(1), json!("2025-06-01"))]);
    assert_eq!(values(table, "kind").await, [(Some(0), json!("Full Service")), (Some(1), json!("Night Service"))]);
    assert_eq!(values(table, "fee").await, [(Some(0), dollars(100)), (Some(1), dollars(200))]);
}

#[tokio::test]
async fn a_code_in_a_row_stands_for_the_name_in_the_legend() {
    for legend in [
        "A) Larch Leasing Company\nB) Rowan Leasing Company",
        "LESSOR A: Larch Leasing Company\nLESSOR B: Rowan Leasing Company",
        "A   Larch Leasing Company\nB   Rowan Leasing Company",
    ] {
        let paper = format!(
            "{legend}\n\nCode  Contract Number  Begin       Fee\nB     LX-4401          05/01/2025  $100\nA     LX-4402          06/01/2025  $200"
        );
        let lessors = values(&paper, "lessor").await;
        let expected = [(Some(0), json!("Rowan Leasing Company")), (Some(1), json!("Larch Leasing Company"))];
        assert!(lessors.len() == 2 && expected.iter().all(|lessor| lessors.contains(lessor)), "{legend}: {lessors:?}");
    }
}

#[tokio::test]
async fn a_code_where_a_name_is_expected_stands_for_the_name_behind_its_equals_sign() {
    let legend = "02 = Oak Leasing Corporation; 31 = Elm Leasing Company; WICZ = Birch Leasing\nCompany.";
    for (form, name) in [
        ("Lessor:          Contract Number:\n31               LX-4401\n\nUnit\n02", "Elm Leasing Company"),
        ("Lessor    WICZ\nContract Number    LX-4401", "Birch Leasing Company"),
        ("Lessor: 02\nContract Number: LX-4401", "Oak Leasing Corporation"),
        ("Contract Number    Lessor    Begin\nLX-4401            31        05/01/2025", "Elm Leasing Company"),
    ] {
        assert_eq!(plain(&format!("{form}\n\n{legend}"), "lessor").await, [name], "{form}");
    }
}

#[tokio::test]
async fn names_that_are_only_explained_are_nobodys() {
    let text = "Contract Number: LX-4401\n\nA = Oak Leasing Corporation; B = Elm Leasing Company.";
    assert_eq!(plain(text, "lessor").await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn the_head_of_a_list_is_no_form() {
    let list = "Client\tWhere\tWording\nFern Hollow Inc.\t97 Mill Row\tfull\nOak Bend Haulage LLC\t16 Mill Row\thalf";
    assert_ne!(plain(list, "client.name").await, ["Where"]);
}

#[tokio::test]
async fn an_amount_is_no_number_of_a_column() {
    let table = "Plafond      Kinds           Begin\n75 000 $     Full Service    05/01/2025";
    assert_eq!(plain(table, "number").await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn a_column_without_a_known_label_is_found_by_its_values() {
    let table = "Kind           Our file    Begin        Annual fee\nFull Service   LX-44-01    03/01/2025   $100\nNight Service  LX-44-02    04/01/2025   $200";
    assert_eq!(values(table, "number").await, [(Some(0), json!("LX-44-01")), (Some(1), json!("LX-44-02"))]);
    assert_eq!(values(table, "fee").await, [(Some(0), dollars(100)), (Some(1), dollars(200))]);
}

#[tokio::test]
async fn a_row_may_tell_of_two_things() {
    let table = "Contract   Begin        Ticket    Cost\nLX-4401    03/01/2025   T-20871   $310\nLX-4402    04/01/2025   T-20872   $420";
    assert_eq!(plain(table, "number").await, ["LX-4401", "LX-4402"]);
    assert_eq!(values(table, "begin").await, [(Some(0), json!("2025-03-01")), (Some(1), json!("2025-04-01"))]);
    assert_eq!(values(table, "ticket").await, [(Some(0), json!("T-20871")), (Some(1), json!("T-20872"))]);
    assert_eq!(values(table, "cost").await, [(Some(0), dollars(310)), (Some(1), dollars(420))]);
}

#[tokio::test]
async fn a_form_beneath_a_row_is_no_part_of_the_table() {
    let form = "Contract Number    Begin         End\nLX-4401            05/01/2025    05/01/2026\n\nClient\nFern Hollow Rentals\n\nOur file\n778-20455\n\nUSDOT              Handled by\n9228815            Bo Sample";
    assert_eq!(plain(form, "number").await, ["LX-4401"]);
    assert_eq!(plain(form, "client.name").await, ["Fern Hollow Rentals"]);
    assert_eq!(plain(form, "client.dot").await, ["9228815"]);
}

#[tokio::test]
async fn a_column_that_says_the_same_in_all_rows_is_about_the_whole() {
    let row = |client: &str| {
        format!("Client\tContract\tBegin\nFern Hollow Rentals\tLX-4401\t05/01/2025\n{client}\tLX-4402\t06/01/2025")
    };
    assert_eq!(plain(&row("Fern Hollow Rentals"), "client.name").await, ["Fern Hollow Rentals"]);
    assert!(plain(&row("Cedar Mill Cars"), "client.name").await.is_empty());
}

#[tokio::test]
async fn a_column_has_dates_though_its_label_may_lead_to_a_range() {
    let dates = "Contract   Begin        Fee\nLX-4401    03/01/2025   $310";
    assert_eq!(plain(dates, "begin").await, ["2025-03-01"]);
    let ranges = "Contract   Begin                      Fee\nLX-4401    03/01/2025 - 03/01/2026   $310";
    assert_eq!(plain(ranges, "term").await, [json!({"start": "2025-03-01", "end": "2026-03-01"})]);
    let aside = "           First        Second\nContract   LX-4401      LX-4402\nBegin      03/01/2025   04/01/2025\nFee        $310         $420";
    assert_eq!(plain(aside, "begin").await, ["2025-03-01", "2025-04-01"]);
}

#[tokio::test]
async fn words_in_a_column_say_what_an_amount_is() {
    let near = "Contract   Begin        Fee\nLX-4401    03/01/2025   Each year $310";
    assert_eq!(plain(near, "fee").await, [dollars(310)]);
    let apart = "Contract   Begin        Fee\nLX-4401    03/01/2025   Each year    $310";
    assert_eq!(plain(apart, "fee").await, [dollars(310)]);
}

#[tokio::test]
async fn a_row_that_is_out_of_line_with_its_head_is_read_by_its_dates() {
    let text = "\
LTR  KIND               CONTRACT NUMBER  BEGIN DATE  END DATE    FEE

FULL SERVICE [ ] by the day [X] by the year [X] washed  LX-4401  05/01/2025  05/01/2026
A    NIGHT SERVICE                        LX-4402  06/01/2025  06/01/2026  $200";
    assert_eq!(plain(text, "number").await, ["LX-4401", "LX-4402"]);
    assert_eq!(plain(text, "kind").await, ["Full Service", "Night Service"]);
    assert_eq!(plain(text, "begin").await, ["2025-05-01", "2025-06-01"]);
    assert_eq!(plain(text, "end").await, ["2026-05-01", "2026-06-01"]);
}

#[tokio::test]
async fn a_row_out_of_line_whose_number_is_broken_has_all_of_its_number() {
    let text = "\
LTR  KIND               CONTRACT NUMBER  BEGIN DATE  END DATE    FEE

FULL SERVICE [ ] by the day [X] by the year [X] washed  LX 26
A                                                       440177  05/01/2025  05/01/2026";
    assert_eq!(plain(text, "number").await, ["LX 26 440177"]);
}
