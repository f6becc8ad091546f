//! Names that a page explains once, and the rows that name them by their codes.

use serde_json::{Value, json};

use super::rental::{plain, read_pages, values};

/// The lessor of each number.
async fn lessors(text: &str) -> Vec<(Value, Option<Value>)> {
    let lessors = values(text, "lessor").await;
    let of = |item: Option<u32>| lessors.iter().find(|(other, _)| *other == item).map(|(_, name)| name.clone());
    values(text, "number").await.into_iter().map(|(item, number)| (number, of(item))).collect()
}

fn row(number: &str, lessor: &str) -> (Value, Option<Value>) {
    (json!(number), Some(json!(lessor)))
}

/// Beside the explanations stands another column.
const BESIDE: &str = "\
DEALER                          LESSORS                              CODE
Fern Hollow Dealership          LESSOR A : Larch Leasing Company     11111
12 Mill Row                     LESSOR B : Rowan Leasing Company     22222
CLIENT                          LESSOR C : Maple Leasing Company     33333
Dry Creek Hauling LLC           LESSOR D :
";

#[tokio::test]
async fn explanations_may_stand_beside_other_columns() {
    let rows = "\
LTR  CONTRACT NUMBER  BEGIN       END         FEE
C    LX-4401          05/01/2025  05/01/2026  $100
A    LX-4402          05/01/2025  05/01/2026  $200
B    LX-4403          05/01/2025  05/01/2026  $300
";
    assert_eq!(
        lessors(&format!("{BESIDE}\n{rows}")).await,
        [
            row("LX-4401", "Maple Leasing Company"),
            row("LX-4402", "Larch Leasing Company"),
            row("LX-4403", "Rowan Leasing Company")
        ]
    );
}

#[tokio::test]
async fn behind_its_label_and_before_its_number_a_name_needs_no_word_by_which_it_is_known() {
    let rows = "\
LTR  CONTRACT NUMBER  BEGIN       END         FEE
B    LX-4401          05/01/2025  05/01/2026  $100
A    LX-4402          05/01/2025  05/01/2026  $200
";
    let legend = BESIDE
        .replace("Larch Leasing Company", "Great Plains Casualty")
        .replace("Rowan Leasing Company", "Cedar Ridge");
    assert_eq!(
        lessors(&format!("{legend}\n{rows}")).await,
        [row("LX-4401", "Cedar Ridge"), row("LX-4402", "Great Plains Casualty")]
    );
}

#[tokio::test]
async fn the_codes_may_stand_at_the_right() {
    let rows = "\
CONTRACT NUMBER  BEGIN       END         FEE   LTR
LX-4401          05/01/2025  05/01/2026  $100  (B)
LX-4402          05/01/2025  05/01/2026  $200  (A)
";
    assert_eq!(
        lessors(&format!("{BESIDE}\n{rows}")).await,
        [row("LX-4401", "Rowan Leasing Company"), row("LX-4402", "Larch Leasing Company")]
    );
}

#[tokio::test]
async fn a_code_on_another_line_of_its_row_counts_where_all_stand_alike() {
    let below = "\
COMPANIES                       CODE
A  Larch Leasing Company        11111
B  Rowan Leasing Company        22222

CO  KIND OF CONTRACT     CONTRACT NUMBER  BEGIN       END         FEE

FULL SERVICE [X] by day  LX-4401  05/01/2025  05/01/2026
B  a year  $100
NIGHT SERVICE [X] washed  LX-4402  05/01/2025  05/01/2026
A  a year  $200
";
    assert_eq!(
        lessors(below).await,
        [row("LX-4401", "Rowan Leasing Company"), row("LX-4402", "Larch Leasing Company")]
    );
    let unclear = below.replace("A  a year  $200", "   a year  $200");
    let found = lessors(&unclear).await;
    assert!(found.len() == 2 && found.iter().all(|(_, lessor)| lessor.is_none()), "{found:?}");
}

#[tokio::test]
async fn no_name_is_better_than_the_wrong_one() {
    let rows = "\
LTR    CONTRACT NUMBER  BEGIN       END         FEE
A / B  LX-4401          05/01/2025  05/01/2026  $100
       LX-4402          05/01/2025  05/01/2026  $200
";
    let text = format!("{BESIDE}\n{rows}");
    assert_eq!(plain(&text, "number").await, ["LX-4401", "LX-4402"]);
    assert_eq!(plain(&text, "lessor").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_code_may_be_explained_on_another_page() {
    let first = "LEASING COMPANY: ROLZ\nCONTRACT NUMBER: LX-4401\nBEGIN: 05/01/2025\n";
    let last =
        "LARZ = Larch Leasing Company; ROLZ = Rowan Leasing Company (No.\n22222); MALZ = Maple Leasing Company.\n";
    let found = read_pages(&[first, last]).await;
    let lessors: Vec<_> = found.iter().filter(|field| field.name == "lessor").collect();
    let [lessor] = lessors.as_slice() else { panic!("{lessors:?}") };
    assert_eq!(lessor.value, json!("Rowan Leasing Company"));
    // Where it was said of the contract is where its code stands.
    assert_eq!((lessor.source.page, &first[lessor.source.start..lessor.source.end]), (1, "ROLZ"));
    // A code that nobody explains stays what it is.
    let unknown = read_pages(&[&first.replace("ROLZ", "OAKZ"), last]).await;
    assert!(unknown.iter().filter(|field| field.name == "lessor").all(|field| field.value == json!("OAKZ")));
}
