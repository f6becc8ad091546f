//! Numbers that a term leads to, in sentences, lists and headings of blocks.

use serde_json::{Value, json};

use super::rental::{dollars, plain, read, values};

/// What belongs to each number: its kinds, its lessor and its term.
async fn items(text: &str) -> Vec<(String, Vec<String>, Option<String>, Option<String>)> {
    let found = read(1, text).await;
    let of = |item: Option<u32>, name: &str| {
        let ours = found.iter().filter(|field| field.item == item && field.name == name);
        ours.map(|field| field.value.clone()).collect::<Vec<Value>>()
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut items = Vec::new();
    for number in found.iter().filter(|field| field.name == "number") {
        let kinds = of(number.item, "kind").iter().map(text).collect();
        let term = of(number.item, "term").first().map(|term| text(&term["start"]));
        items.push((text(&number.value), kinds, of(number.item, "lessor").first().map(text), term));
    }
    items.sort();
    items
}

fn item(
    number: &str,
    kind: &str,
    lessor: Option<&str>,
    start: Option<&str>,
) -> (String, Vec<String>, Option<String>, Option<String>) {
    (number.to_owned(), vec![kind.to_owned()], lessor.map(str::to_owned), start.map(str::to_owned))
}

#[tokio::test]
async fn in_a_sentence_each_term_has_the_number_that_it_leads_to() {
    for text in [
        "Contract list. Full service is LX-26-4401 and night service is LXN-26-4402.",
        "The contracts: full service (LX-26-4401) and night service (LXN-26-4402)",
        "Our contracts are LX-26-4401 for full service and LXN-26-4402 for night service, thanks",
        "Contracts: full service LX-26-4401, night service LXN-26-4402",
        "Our contracts are full service\nLX-26-4401 and night service no. LXN-26-4402, as\nyou know",
    ] {
        let expected =
            [item("LX-26-4401", "Full Service", None, None), item("LXN-26-4402", "Night Service", None, None)];
        assert_eq!(items(text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn names_and_terms_of_a_sentence_go_with_its_numbers() {
    let apart = "Full service is with Larch Leasing Company (LX-26-4401) and night service is with Rowan Leasing Company (LXN-26-4402).";
    let expected = [
        item("LX-26-4401", "Full Service", Some("Larch Leasing Company"), None),
        item("LXN-26-4402", "Night Service", Some("Rowan Leasing Company"), None),
    ];
    assert_eq!(items(apart).await, expected);
    let both = "Both are with Larch Leasing Company. Full service is LX-26-4401 and night service is LXN-26-4402, they run 9/30/25 - 9/30/26.";
    let of_both = |number, kind| item(number, kind, Some("Larch Leasing Company"), Some("2025-09-30"));
    assert_eq!(items(both).await, [of_both("LX-26-4401", "Full Service"), of_both("LXN-26-4402", "Night Service")]);
}

#[tokio::test]
async fn a_number_that_has_a_label_takes_the_term_beside_it() {
    for text in [
        "Full service contract LX-26-4401 from 05/01/2025 to 05/01/2026",
        "Contract LX-26-4401 and those before it (full service) from 05/01/2025 to 05/01/2026",
        "Contract LX-26-4401 for full service from 05/01/2025 to 05/01/2026",
    ] {
        assert_eq!(items(text).await, [item("LX-26-4401", "Full Service", None, Some("2025-05-01"))], "{text}");
    }
}

#[tokio::test]
async fn a_name_in_brackets_or_before_a_comma_goes_with_its_number() {
    let list = "Our contracts:\n- Full service: Larch Leasing Company, LX-26-4401, 4/1/2026 to 4/1/2027\n- Night service - LXN-26-4402 (Rowan Leasing Company) - 04/02/2026 - 04/02/2027";
    let expected = [
        item("LX-26-4401", "Full Service", Some("Larch Leasing Company"), Some("2026-04-01")),
        item("LXN-26-4402", "Night Service", Some("Rowan Leasing Company"), Some("2026-04-02")),
    ];
    assert_eq!(items(list).await, expected);
}

#[tokio::test]
async fn terms_that_a_joint_connects_have_one_number() {
    let text = "Contracts\nFull service + night service: Larch Leasing Company LX-26-4401";
    let kinds = vec!["Full Service".to_owned(), "Night Service".to_owned()];
    assert_eq!(items(text).await, [("LX-26-4401".to_owned(), kinds, Some("Larch Leasing Company".to_owned()), None)]);
}

#[tokio::test]
async fn a_label_leads_to_all_numbers_of_its_list() {
    let text = "Re: contract LX-26-4401, LXN-26-4402 and LX/26/4403";
    assert_eq!(plain(text, "number").await, ["LX-26-4401", "LXN-26-4402", "LX/26/4403"]);
    for text in
        ["Contract LX-26-4401, 05/01/2025", "Contract LX-26-4401 and 2021 Kenworth", "Contract LX-26-4401, DOT 9228815"]
    {
        assert_eq!(plain(text, "number").await, ["LX-26-4401"], "{text}");
    }
}

#[tokio::test]
async fn several_names_in_a_sentence_stand_each_with_its_number() {
    let beside = "Larch Leasing Company has contract LX-4401, and Rowan Leasing Company has contract LX-4402.";
    let expected = [(Some(0), json!("Larch Leasing Company")), (Some(1), json!("Rowan Leasing Company"))];
    assert_eq!(values(beside, "lessor").await, expected);
    let apart =
        "Re: contract LX-4401\nRe: contract LX-4402\n\nPlease ask Larch Leasing Company and Rowan Leasing Company.";
    assert_eq!(plain(apart, "lessor").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_letter_behind_a_label_says_which_of_several_it_is() {
    let form = "CLIENT                       LESSOR B : Rowan Leasing Company\nFern Hollow Rentals LLC      LESSOR C :";
    assert_eq!(plain(form, "client.name").await, ["Fern Hollow Rentals LLC"]);
}

#[tokio::test]
async fn a_block_of_facts_is_an_item_though_nothing_leads_to_its_number() {
    let bare = "NIGHT SERVICE\nLarch Leasing Company\nLXN-26-4402\n05/01/2025 - 05/01/2026\n\nFULL SERVICE\nRowan Leasing Company\nLX-26-4401\n06/01/2025 - 06/01/2026";
    let led = "No.: LXN-26-4402\nClass: Night service\nLessor: Larch Leasing Company\nRunning: 1 May 2025 to 1 May 2026\n\nNo.: LX-26-4401\nClass: Full service\nLessor: Rowan Leasing Company\nRunning: 1 June 2025 to 1 June 2026";
    for text in [bare, led] {
        let expected = [
            item("LX-26-4401", "Full Service", Some("Rowan Leasing Company"), Some("2025-06-01")),
            item("LXN-26-4402", "Night Service", Some("Larch Leasing Company"), Some("2025-05-01")),
        ];
        assert_eq!(items(text).await, expected, "{text}");
    }
    for text in [
        "Rowan Leasing Company\nLXN-26-4402\nplease call",
        "NIGHT SERVICE\nLarch Leasing Company\nLXN-26-4402\nLXN-26-4403\n05/01/2025 - 05/01/2026",
        "Ticket: T-2201\n\nNIGHT SERVICE\nLarch Leasing Company\nRP-26-4402\n05/01/2025 - 05/01/2026",
    ] {
        assert_eq!(plain(text, "number").await, Vec::<Value>::new(), "{text}");
    }
}

#[tokio::test]
async fn a_term_inside_a_long_row_heads_nothing() {
    let row = "Contract Number: LX-4401\n  26-7479    12-19-2025    NIGHT SERVICE   Open     lamp broken";
    assert_eq!(plain(row, "kind").await, Vec::<Value>::new());
}

#[tokio::test]
async fn an_everyday_word_is_a_term_only_where_one_is_expected() {
    assert_eq!(items("Full is LX-26-4401").await, [item("LX-26-4401", "Full Service", None, None)]);
    assert_eq!(plain("Contract Number: LX-4401\nKind: full", "kind").await, ["Full Service"]);
    assert_eq!(plain("Kind\tContract Number\tBegin\nFULL\tLX-4401\t05/01/2025", "kind").await, ["Full Service"]);
    for text in ["Contract Number: LX-4401\n\nFULL", "Contract Number: LX-4401\nThe lot is full"] {
        assert_eq!(plain(text, "kind").await, Vec::<Value>::new(), "{text}");
    }
}

#[tokio::test]
async fn what_is_written_like_something_else_is_no_number() {
    for text in [
        "Full service is 84,000 a year",
        "Full service: 05/01/2025",
        "Full service (512) 555-0171",
        "Full service 2021 Kenworth",
        "Full service, DOT 9228815",
        "Full service is 1XKYD49X5MJ914201",
        "Full service LX 44017",
        "Ticket Number: RP-2201\n\nFull Service          RP-26-4401",
    ] {
        assert_eq!(plain(text, "number").await, Vec::<Value>::new(), "{text}");
    }
}

#[tokio::test]
async fn a_heading_with_a_number_begins_a_block() {
    let text = "Full service for three cars                    LX-26-4401\n  Lessor  Larch Leasing Company\n  Term    Dec 1, 2025 through Dec 1, 2026\n\nNight service                         LXN/26/4402-1\n  Lessor  Rowan Leasing Company\n  Term    Jan 10, 2026 through Jan 10, 2027";
    let expected = [
        item("LX-26-4401", "Full Service", Some("Larch Leasing Company"), Some("2025-12-01")),
        item("LXN/26/4402-1", "Night Service", Some("Rowan Leasing Company"), Some("2026-01-10")),
    ];
    assert_eq!(items(text).await, expected);
}

#[tokio::test]
async fn a_name_alone_on_a_line_heads_the_item_beneath_it() {
    let text = "Larch Leasing Company\nContract LX-4401, May 1 2025 to May 1 2026\n\nRowan Leasing Company (a branch)\nContract LX-4402\n\nContract Number: LX-4403\nLessor: Oak Leasing Corporation";
    let lessors = values(text, "lessor").await;
    let named = |item, name: &str| (Some(item), json!(name));
    let expected =
        [named(0, "Larch Leasing Company"), named(1, "Rowan Leasing Company"), named(2, "Oak Leasing Corporation")];
    assert_eq!(lessors, expected);
}

#[tokio::test]
async fn an_amount_before_a_term_is_its_limit() {
    let list = "Contract Number: LX-4401\n\n$1,200 full service\n900,000 for night service";
    assert_eq!(plain(list, "fee").await, [dollars(1200), dollars(900_000)]);
}

#[tokio::test]
async fn in_a_sentence_with_boxes_only_ticked_terms_count() {
    assert_eq!(plain("I want a car with [X] RR", "client.extras").await, ["Roof Rack"]);
    for text in ["I want a car with [ ] RR", "I want a car with [X] seats [ ]\nRR"] {
        assert_eq!(plain(text, "client.extras").await, Vec::<Value>::new(), "{text}");
    }
}

#[tokio::test]
async fn it_is_leads_on_from_a_label() {
    assert_eq!(plain("You asked for our DOT number, it is 9228815", "client.dot").await, ["9228815"]);
}

#[tokio::test]
async fn numbers_with_a_whole_term_behind_them_need_no_label() {
    let letter = "Larch Leasing Company\n\nRe: Dry Creek Hauling LLC\nLX-08-554120, 12/18/2024 - 12/18/2025\nLX-08-519004, 12/18/2023 - 12/18/2024\n\nNo repairs.";
    let sentence = "Larch Leasing Company\n\nPapers LX-08-554120 (12/18/2024 to 12/18/2025) and LX-08-519004 (12/18/2023 to\n12/18/2024). As of today.";
    let term = |start: &str, end: &str| json!({"start": start, "end": end});
    for text in [letter, sentence] {
        assert_eq!(plain(text, "number").await, ["LX-08-554120", "LX-08-519004"], "{text}");
        assert_eq!(plain(text, "term").await, [term("2024-12-18", "2025-12-18"), term("2023-12-18", "2024-12-18")]);
    }
    for text in ["LX-08-554120, 12/18/2024 - 12/20/2024", "LX-08-554120, seen 12/18/2024 - 12/18/2025"] {
        assert!(plain(text, "number").await.is_empty(), "{text}");
    }
}
