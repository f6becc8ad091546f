//! Sentences and lists of a message that tell of one item each, without a label.

use serde_json::{Value, json};

use super::rental::{read, values};

/// The number, the lessor and the term of each item of a message.
async fn items(text: &str) -> Vec<[Value; 3]> {
    let found = read(0, text).await;
    let numbers = found.iter().filter(|field| field.name == "number");
    let of = |item: Option<u32>, name: &str| {
        let value = found.iter().find(|field| field.item == item && field.name == name);
        value.map(|field| field.value.clone()).unwrap_or_default()
    };
    numbers.map(|number| [number.value.clone(), of(number.item, "lessor"), of(number.item, "term")]).collect()
}

fn term(start: &str, end: &str) -> Value {
    json!({"start": start, "end": end})
}

#[tokio::test]
async fn a_sentence_with_one_number_tells_its_name_and_its_term() {
    let term = term("2026-02-09", "2027-02-09");
    let whole = [json!("LXQ-7714-0052-A"), json!("Larch Leasing Company"), term.clone()];
    for text in [
        "it is Larch Leasing Company LXQ-7714-0052-A, good 2/9/26 thru 2/9/27. pic below",
        "Larch Leasing Company wrote us LXQ-7714-0052-A for 2/9/26-27.",
        "- we have LXQ-7714-0052-A (02/09/2026 to 02/09/2027) with Larch Leasing Company\n- and a dog",
    ] {
        assert_eq!(items(text).await, std::slice::from_ref(&whole), "{text}");
    }
    let nothing = "Nothing was reported under LXQ0041903 (02/09/2026 to 02/09/2027) so far.";
    assert_eq!(items(nothing).await, [[json!("LXQ0041903"), Value::Null, term]]);
}

#[tokio::test]
async fn each_item_of_a_list_has_its_own_name() {
    let text = "1) LXQ-4401-22 with Larch Leasing Company\n2) LXQ-4402-22 with Rowan Leasing Company";
    let expected = [("LXQ-4401-22", "Larch Leasing Company"), ("LXQ-4402-22", "Rowan Leasing Company")];
    assert_eq!(items(text).await, expected.map(|(number, name)| [json!(number), json!(name), Value::Null]));
}

#[tokio::test]
async fn what_may_be_something_else_is_no_number_of_a_sentence() {
    for text in [
        "Write to Larch Leasing Company, Waco, TX 78701-1234.",
        "Call Larch Leasing Company at 512-555-0171 by 2/9/26.",
        "Larch Leasing Company has LXQ-4401-22 and LXQ-4402-22.",
        "Where is LXQ-4401-22?",
        "Larch Leasing Company closed ticket RT-1234-99 on 2/9/26.",
        "The car of Larch Leasing Company is 1XKYDP9X1HN275346.",
    ] {
        assert_eq!(items(text).await, Vec::<[Value; 3]>::new(), "{text}");
    }
}

#[tokio::test]
async fn a_list_of_years_repeats_a_name_with_a_word() {
    let text = "Please order:\n\n5/30/25-26   LX 2041 00318 02   Larch Leasing Company\n5/30/24-25   LX 2041 00318 01   same\n5/30/23-24   RO 5518820   Rowan Leasing Company";
    let larch = json!("Larch Leasing Company");
    let expected = [
        [json!("LX 2041 00318 02"), larch.clone(), term("2025-05-30", "2026-05-30")],
        [json!("LX 2041 00318 01"), larch, term("2024-05-30", "2025-05-30")],
        [json!("RO 5518820"), json!("Rowan Leasing Company"), term("2023-05-30", "2024-05-30")],
    ];
    assert_eq!(items(text).await, expected);
    let apart = "5/30/25-26   LX 2041 00318 02   Larch Leasing Company\n\n5/30/24-25   LX 2041 00318 01   same";
    assert_eq!(values(apart, "lessor").await.len(), 1, "what is said of the line above is not said across a gap");
}

#[tokio::test]
async fn the_terms_of_a_sentence_are_its_numbers_with_an_amount_each() {
    let of = |fields: &[kybern_core::model::ExtractedField], name: &str| -> Vec<Value> {
        fields.iter().filter(|field| field.name == name).map(|field| field.value.clone()).collect()
    };
    for text in [
        "The full service and the night service are with Larch Leasing Company, that is contract LXQ-4401-22.",
        "We have contract LXQ-4401-22. It includes full service and night service.",
        "We have contract LXQ-4401-22, which covers the full service of the cars and also the night service.",
    ] {
        let found = read(0, text).await;
        assert_eq!(of(&found, "kind"), ["Full Service", "Night Service"], "{text}");
        assert_eq!(of(&found, "number"), ["LXQ-4401-22"], "{text}");
    }
    let found =
        read(0, "We have contract LXQ-4401-22. It includes full service for $1,200 and night service for $300.").await;
    assert_eq!(of(&found, "fee"), [json!(1_200_000_000_000_i64), json!(300_000_000_000_i64)]);
    for text in [
        "We have contract LXQ-4401-22. We never had night service.",
        "We have contract LXQ-4401-22. Night service costs extra.",
        "We have contract LXQ-4401-22 with Night Service Leasing Company.",
    ] {
        assert!(of(&read(0, text).await, "kind").is_empty(), "{text}");
    }
}
