//! Papers as each office lays them out in its own way: blocks, legends, columns and questions.

use std::sync::Arc;

use kybern_adapters::models::offline::RulesModel;
use kybern_core::model::{ExtractionSchema, FieldPattern, ValueKind};
use kybern_core::ports::Extractor;
use serde_json::{Value, json};

use super::{document, field};

fn of(group: &str, name: &str, labels: &[&str], value: ValueKind) -> FieldPattern {
    field(name, labels, value).of(group)
}

fn opens(pattern: FieldPattern) -> FieldPattern {
    FieldPattern { opens_item: true, ..pattern }
}

fn schema() -> ExtractionSchema {
    let contract = |name: &str, labels: &[&str], value| of("contracts", name, labels, value);
    let visit = |name: &str, labels: &[&str], value| of("visits", name, labels, value);
    let lessor = contract("lessor", &["lessor", "company", "let by"], ValueKind::Name);
    let signs = ["leasing company", "leasing co", "leasing exchange", "-haulage"];
    let deposit = contract("deposit", &["deposit"], ValueKind::Money);
    ExtractionSchema {
        fields: Arc::new([
            field("client.name", &["client", "company", "applicant"], ValueKind::Name),
            field("request", &["reference"], ValueKind::RequestToken),
            opens(contract("number", &["contract number", "contract", "current contract"], ValueKind::PolicyNumber)),
            lessor.signed(&signs),
            contract("code", &["code"], ValueKind::Naic),
            contract("term", &["term"], ValueKind::DateRange),
            contract("begin", &["begin", "began on", "inception"], ValueKind::Date),
            contract("end", &["end", "will end on", "when does it end"], ValueKind::Date),
            contract(
                "kind",
                &["kind", "kinds", "full service=Full Service", "night service=Night Service", "day=Day Service"],
                ValueKind::Text,
            ),
            FieldPattern { many: true, ..deposit },
            contract("bills", &[], ValueKind::Text).signed(&["bills", "bill"]),
            opens(visit("day", &["day", "visit", "visit date"], ValueKind::Date)),
            visit("visit_number", &["visit number"], ValueKind::Reference),
            visit("cost", &["cost"], ValueKind::Money),
            opens(of("drivers", "name", &["driver", "last first", "applicant"], ValueKind::Person)),
            of("drivers", "license", &["license"], ValueKind::License),
        ]),
        ..ExtractionSchema::default()
    }
}

/// The values of a field on pages, each with its item.
async fn on(pages: &[&str], name: &str) -> Vec<(Option<u32>, Value)> {
    let (document, schema) = (document(pages), Arc::new(schema()));
    let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
    let fields = RulesModel.extract(1, &document, &analysis, &schema).await.unwrap().fields;
    fields.into_iter().filter(|field| field.name == name).map(|field| (field.item, field.value)).collect()
}

async fn plain(text: &str, name: &str) -> Vec<Value> {
    on(&[text], name).await.into_iter().map(|(_, value)| value).collect()
}

/// What a field says of each contract, by the contract's number.
async fn of_numbers(text: &str, name: &str) -> Vec<(Value, Vec<Value>)> {
    let values = on(&[text], name).await;
    let numbers = on(&[text], "number").await.into_iter();
    let of = |item: Option<u32>| values.iter().filter(move |(other, _)| *other == item).map(|(_, value)| value.clone());
    numbers.map(|(item, number)| (number, of(item).collect())).collect()
}

fn row(number: &str, values: &[&str]) -> (Value, Vec<Value>) {
    (json!(number), values.iter().map(|value| json!(value)).collect())
}

#[tokio::test]
async fn one_label_with_two_names_of_the_number_has_the_number_beneath() {
    for label in ["REFERENCE / CONTRACT NUMBER", "Reference and contract number"] {
        assert_eq!(
            plain(&format!("{label}\nLX-4401-22\nBEGIN\nJuly 1, 2026"), "number").await,
            ["LX-4401-22"],
            "{label}"
        );
    }
}

#[tokio::test]
async fn a_number_that_a_narrow_column_broke_is_one() {
    let table = "\
CODE  KIND           CONTRACT NUMBER  BEGIN       END         DEPOSIT
A     FULL SERVICE   LX/26/           05/01/2025  05/01/2026  for each
      by day         4401                                     car $100
B     NIGHT SERVICE  LX-4402          05/01/2025  05/01/2026  $200";
    assert_eq!(plain(table, "number").await, ["LX/26/4401", "LX-4402"]);
    assert_eq!(of_numbers(table, "begin").await, [row("LX/26/4401", &["2025-05-01"]), row("LX-4402", &["2025-05-01"])]);
    let deposits = on(&[table], "deposit").await;
    assert_eq!(deposits[0], (Some(0), json!(100_000_000_000_i64)));
}

#[tokio::test]
async fn a_column_of_two_facts_that_and_joins_has_both() {
    let table = "\
Letter  Kind and deposit         Contract number and term
A       Full service $100        LX-4401 from Jan 1, 2026 until Jan 1, 2027
A       Night service $100       LX-4401 same term
B       Night service $300       LX-4402 from Feb 15, 2026 until Feb 15, 2027";
    let term = |number: &str, start: &str, end: &str| (json!(number), vec![json!({"start": start, "end": end})]);
    assert_eq!(
        of_numbers(table, "term").await,
        [term("LX-4401", "2026-01-01", "2027-01-01"), term("LX-4402", "2026-02-15", "2027-02-15")]
    );
    assert_eq!(
        of_numbers(table, "kind").await,
        [row("LX-4401", &["Full Service", "Night Service"]), row("LX-4402", &["Night Service"])]
    );
}

#[tokio::test]
async fn codes_are_explained_by_numbers_letters_and_equals_signs() {
    let by_equals = "\
SEQ CO  CONTRACT NUMBER   BEGIN
001 41  LX-4401           05/01/25
002 77  LX-4402           05/01/25

COMPANY TABLE   41 = LARCH LEASING COMPANY
                77 = ROWAN LEASING COMPANY";
    assert_eq!(
        of_numbers(by_equals, "lessor").await,
        [row("LX-4401", &["LARCH LEASING COMPANY"]), row("LX-4402", &["ROWAN LEASING COMPANY"])]
    );
    let rows = |codes: [&str; 2]| {
        format!(
            "Co  Contract Number  Begin       End\n{}   LX-4401          05/01/2025  05/01/2026\n{}   LX-4402          05/01/2025  05/01/2026",
            codes[0], codes[1]
        )
    };
    for (legend, codes) in [
        (
            "Office             Companies\nFern Hollow Ltd    A Larch Leasing Company\nWaco, TX           B Rowan Leasing Company",
            ["B", "A"],
        ),
        ("Companies\n  1  Larch Leasing Company\n  2  Rowan Leasing Company", ["2", "1"]),
    ] {
        let paper = format!("{legend}\n\n{}", rows(codes));
        assert_eq!(
            of_numbers(&paper, "lessor").await,
            [row("LX-4401", &["Rowan Leasing Company"]), row("LX-4402", &["Larch Leasing Company"])],
            "{legend}"
        );
    }
}

#[tokio::test]
async fn blocks_beneath_each_other_have_their_numbers_where_no_label_leads_to_them() {
    let cards = "\
Full service (by day)
LX-4401
Lessor    Larch Leasing Company
Term      Jan 1, 2026 → Jan 1, 2027
Night service
LX-4402
Lessor    Rowan Leasing Exchange
Term      Feb 1, 2026 → Feb 1, 2027";
    assert_eq!(
        of_numbers(cards, "lessor").await,
        [row("LX-4401", &["Larch Leasing Company"]), row("LX-4402", &["Rowan Leasing Exchange"])]
    );
    let unknown = "\
Company      Larch Leasing Company
Agreement    LX-4401
Inception    June 1, 2025

Company      Rowan Leasing Company
Agreement    LX-4402
Inception    June 15, 2025";
    assert_eq!(
        of_numbers(unknown, "lessor").await,
        [row("LX-4401", &["Larch Leasing Company"]), row("LX-4402", &["Rowan Leasing Company"])]
    );
}

#[tokio::test]
async fn blocks_beside_each_other_are_one_item_each() {
    let cards = "\
Full service                  Night service
#LX-4401                      #LX-4402
Larch Leasing Company         Rowan Leasing
                              Company
Open · 05/01/2025 – 05/01/26  Open · 06/01/2025 – 06/01/26";
    assert_eq!(
        of_numbers(cards, "lessor").await,
        [row("LX-4401", &["Larch Leasing Company"]), row("LX-4402", &["Rowan Leasing Company"])]
    );
    assert_eq!(
        of_numbers(cards, "kind").await,
        [row("LX-4401", &["Full Service"]), row("LX-4402", &["Night Service"])]
    );
    assert_eq!(plain("#LX-4401    #LX-4402\nOpen        Open", "number").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_block_begins_with_the_label_that_leads_each_of_them() {
    let first = "\
Lessor: Larch Leasing Company
Contract: LX-4401
Night service  $750
Day  $500";
    let second = "\
Night service
Lessor: Rowan Leasing Company
Contract: LX-4402
Full service  $100";
    let pages = [first, second];
    assert_eq!(
        on(&pages, "lessor").await,
        [(Some(0), json!("Larch Leasing Company")), (Some(1), json!("Rowan Leasing Company"))]
    );
    let kinds = on(&pages, "kind").await.into_iter().filter(|(item, _)| *item == Some(1)).count();
    assert_eq!(kinds, 2, "the heading above the second lessor is of its block");
}

#[tokio::test]
async fn a_list_of_names_has_each_name_with_its_number() {
    let letter = "We let from\nLarch Leasing Company, LX-11-700208\nRowan Leasing Exchange - contract LX 61044\nuntil further notice";
    assert_eq!(
        of_numbers(letter, "lessor").await,
        [row("LX-11-700208", &["Larch Leasing Company"]), row("LX 61044", &["Rowan Leasing Exchange"])]
    );
    assert_eq!(plain("Larch Leasing Company, (512) 555-0171", "number").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_name_ends_where_the_number_beside_it_begins() {
    let sentence = "The night service is with Larch Leasing Company LXRG 21-3380, and more.";
    assert_eq!(of_numbers(sentence, "lessor").await, [row("LXRG 21-3380", &["Larch Leasing Company"])]);
}

#[tokio::test]
async fn an_amount_inside_a_number_is_none() {
    let row = "Full service  Larch Leasing Company LX BA 70011  deposit $1,500";
    assert_eq!(plain(row, "number").await, ["LX BA 70011"]);
    assert_eq!(plain(row, "deposit").await, [json!(1_500_000_000_000_i64)]);
}

#[tokio::test]
async fn a_number_may_be_put_in_behind_what_it_is() {
    let text = "The current contract, LX-TR-6120034, began on 11/02/2025 and will end on 11/02/2026.";
    assert_eq!(plain(text, "number").await, ["LX-TR-6120034"]);
    assert_eq!(plain(text, "begin").await, ["2025-11-02"]);
    assert_eq!(plain("The current contract, 2026 edition, is here.", "number").await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_column_of_a_field_is_the_one_whose_values_fit() {
    let list = "\
Visit      Visit date  Cost
VX-118-07  09/30/2025  $100.00
VX-118-08  11/14/2025  $200.00";
    assert_eq!(plain(list, "day").await, ["2025-09-30", "2025-11-14"]);
    assert_eq!(plain(list, "visit_number").await, ["VX-118-07", "VX-118-08"]);
    let unlabelled = "Ours       Visit date  Cost\nVX-118-07  09/30/2025  $100.00\nVX-118-08  11/14/2025  $200.00";
    assert_eq!(plain(unlabelled, "visit_number").await, ["VX-118-07", "VX-118-08"]);
    let alike = unlabelled.replace("VX-118-08", "VX-118-07");
    assert_eq!(plain(&alike, "visit_number").await, Vec::<Value>::new(), "what each row says alike tells none of them");
}

#[tokio::test]
async fn names_in_two_columns_are_whole_names() {
    let list = "Last\tFirst\tState\tLicense\nExample\tAda\tTX\t44120987\nSample\tBo\tTX\t50233118";
    assert_eq!(plain(list, "name").await, ["Ada Example", "Bo Sample"]);
}

#[tokio::test]
async fn a_column_that_asks_about_each_row_is_known_by_its_answers() {
    let list = "Contract\tLessor\tSend bills?\nLX-4401\tLarch Leasing Company\tY\nLX-4402\tRowan Leasing Company\tN - have them";
    assert_eq!(of_numbers(list, "bills").await, [row("LX-4401", &["Y"]), row("LX-4402", &["N - have them"])]);
    let told = list.replace("\tY\n", "\tto the office\n");
    assert!(plain(&told, "bills").await.is_empty());
}

#[tokio::test]
async fn a_name_that_ends_with_a_joining_word_goes_on_beneath() {
    let paper = "CONTRACT: LX-4401\n\nLESSOR:         Larch Leasing Co. of\n                America";
    assert_eq!(plain(paper, "lessor").await, ["Larch Leasing Co. of America"]);
    let whole = "CONTRACT: LX-4401\n\nLESSOR:         Larch Leasing Co.\n                America";
    assert_eq!(plain(whole, "lessor").await, ["Larch Leasing Co."]);
}

#[tokio::test]
async fn a_question_is_answered_beside_it() {
    let form = "1. What is the contract number?  LX 51007\n2. When does it end?  July 9, 2026";
    assert_eq!(plain(form, "number").await, ["LX 51007"]);
    assert_eq!(plain(form, "end").await, ["2026-07-09"]);
    assert_eq!(plain("Which is the lessor?\nPlease tell us soon", "lessor").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_name_that_cannot_be_the_lessors_is_the_clients() {
    let form = "Company: Dry Creek Haulage LLC\nContract: LX-4401";
    assert_eq!(plain(form, "client.name").await, ["Dry Creek Haulage LLC"]);
    assert_eq!(plain(form, "lessor").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_name_beside_its_label_is_its_value_though_others_stand_beneath_theirs() {
    let paper = "\
CLIENT  DRY CREEK HAULAGE INC
        12 MILL ROW

CODES    BEGIN       DEPOSIT
CODE     05/01/2025  $100

CONTRACT
LX-4401
BEGIN
05/01/2025";
    assert_eq!(plain(paper, "client.name").await, ["DRY CREEK HAULAGE INC"]);
}

#[tokio::test]
async fn the_kinds_above_a_table_on_its_side_head_its_columns() {
    let table = "\tFull service\tNight service\nLessor\tLarch Leasing Company\tRowan Leasing Company\nContract\tLX-4401\tLX-4402\nBegin\t05/01/2025\t06/01/2025";
    assert_eq!(
        of_numbers(table, "kind").await,
        [row("LX-4401", &["Full Service"]), row("LX-4402", &["Night Service"])]
    );
}

#[tokio::test]
async fn names_between_the_rows_of_a_table_head_the_rows_beneath_them() {
    let table = "\
Contract Number  Begin       End
Larch Leasing Company
LX-4401-09       05/01/2025  05/01/2026
LX-4402-10       05/01/2025  05/01/2026
Rowan Leasing Company (of Waco)
LX-4403-20       06/01/2025  06/01/2026";
    assert_eq!(
        of_numbers(table, "lessor").await,
        [
            row("LX-4401-09", &["Larch Leasing Company"]),
            row("LX-4402-10", &["Larch Leasing Company"]),
            row("LX-4403-20", &["Rowan Leasing Company"])
        ]
    );
}

#[tokio::test]
async fn a_department_is_no_part_of_the_name_behind_it() {
    let signature = "Ada Example\nBilling Data Unit, Larch Leasing Company\nContract LX-4401";
    assert_eq!(plain(signature, "lessor").await, ["Larch Leasing Company"]);
    let whole = "Larch Meadow, Rowan Leasing Company";
    assert_eq!(plain(whole, "lessor").await, [whole], "what is no department is a part of it");
}

#[tokio::test]
async fn an_applicant_with_a_legal_form_is_no_person() {
    let form = "Applicant\tOak Bend Intermodal, Inc.\nLicense\t44120987";
    assert_eq!(plain(form, "client.name").await, ["Oak Bend Intermodal, Inc."]);
    assert_eq!(plain(form, "name").await, Vec::<Value>::new());
    assert_eq!(plain("Applicant: Ada Example\nLicense: TX 44120987", "name").await, ["Ada Example"]);
}

#[tokio::test]
async fn a_name_on_a_row_is_the_rows_whatever_its_column_is_called() {
    let text = "Client\tBig Leasing Co\tContract\tBegin\n\
                Acme LLC\tBrook Leasing Company\tBR-100417-A\t2025-01-01\n\
                Acme LLC\tBrook Leasing Company\tBR-100417-B\t2026-01-01\n\
                Acme LLC\tFern Leasing Exchange\tFLE 2200190\t2026-01-01\n";
    let [brook, fern] = ["Brook Leasing Company", "Fern Leasing Exchange"];
    let expected = [row("BR-100417-A", &[brook]), row("BR-100417-B", &[brook]), row("FLE 2200190", &[fern])];
    assert_eq!(of_numbers(text, "lessor").await, expected);
}
