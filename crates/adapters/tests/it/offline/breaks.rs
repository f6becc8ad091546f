//! What a line break, a stroke or a heading parts, and what only looks like a label, a row or a value.

use serde_json::{Value, json};

use super::rental::{dollars, plain, values};

async fn first(text: &str, name: &str) -> Option<Value> {
    plain(text, name).await.into_iter().next()
}

#[tokio::test]
async fn a_name_that_ends_with_a_joint_goes_on_in_its_column() {
    for (text, name) in [
        ("CLIENT: Larch &          DOT: 2211887\nMeadow Hauling LLC       MC: 551122\n", "Larch & Meadow Hauling LLC"),
        ("CLIENT: Larch Haulage of DOT: 2211887\nTexas Inc\n12 Mill Row\n", "Larch Haulage of Texas Inc"),
        (
            "CLIENT: Fletes Larch S. de  DOT: 2211887\nR.L. de C.V.                MC: 551122\n",
            "Fletes Larch S. de R.L. de C.V.",
        ),
        ("CLIENTE / CLIENT: Dry Creek Hauling LLC  DOT: 2211887\nWaco\n", "Dry Creek Hauling LLC"),
    ] {
        assert_eq!(first(text, "client.name").await, Some(json!(name)), "{text}");
    }
}

#[tokio::test]
async fn a_number_that_a_narrow_column_broke_goes_on_beneath() {
    let number = |text: &'static str| async move { values(text, "number").await };
    for (text, whole) in [
        (
            "Contract Number: 9APD       Client: Dry Creek Hauling LLC\n633738 26                   12 Mill Row\n",
            "9APD 633738 26",
        ),
        (
            "Begin: 05/01/2025          Contract Number: 29 IM RPC\nEnd: 05/01/2026            0619-9A\n",
            "29 IM RPC 0619-9A",
        ),
        (
            "Contract Number   29 IM RPC      DOT: 2211887\n                  0619-9A        MC: 551122\n",
            "29 IM RPC 0619-9A",
        ),
        ("Contract Number: LX-4401    Begin: 05/01/2025\n26                          End: 05/01/2026\n", "LX-4401 26"),
    ] {
        assert_eq!(number(text).await, [(Some(0), json!(whole))], "{text}");
    }
    let whole = "Contract Number: LX-4401    Begin: 05/01/2025\nTX 76701                    End: 05/01/2026\n";
    assert_eq!(number(whole).await, [(Some(0), json!("LX-4401"))], "a whole number needs no rest");
}

#[tokio::test]
async fn a_name_ends_before_the_label_of_something_else() {
    let text = "Client: Dry Creek Hauling LLC Client code: DRYCR-01\n";
    assert_eq!(first(text, "client.name").await, Some(json!("Dry Creek Hauling LLC")));
}

#[tokio::test]
async fn a_table_on_its_side_may_have_broken_labels_and_names() {
    let text = "\
Lessor /             Larch Leasing       Rowan Leasing
Leasing company      Company             Corporation
Contract number      LX-4401             LX-4402
Begin                05/01/2025          06/01/2025
End                  05/01/2026          06/01/2026
";
    let lessors = values(text, "lessor").await;
    assert_eq!(lessors, [(Some(0), json!("Larch Leasing Company")), (Some(1), json!("Rowan Leasing Corporation"))]);
}

#[tokio::test]
async fn labels_beneath_their_values_head_no_table() {
    let text = "\
LX-4401                  05/01/2025 - 05/01/2026
CONTRACT NUMBER          TERM

Dry Creek Hauling LLC    12 Mill Row
CLIENT                   ADDRESS

2211887                  551122
DOT NUMBER               MC
";
    assert_eq!(plain(text, "number").await, [json!("LX-4401")]);
    assert_eq!(first(text, "client.name").await, Some(json!("Dry Creek Hauling LLC")));
    assert_eq!(first(text, "client.dot").await, Some(json!("2211887")));
}

#[tokio::test]
async fn labels_beneath_labels_have_their_values_beside_them() {
    let text = "\
lessor    Larch Leasing Company           client           Dry Creek Hauling LLC
place     79 Mill Road, Waco, TX 76701    dot number       2211887
mc        551122                          contract number  LX-4401
";
    assert_eq!(first(text, "lessor").await, Some(json!("Larch Leasing Company")));
    assert_eq!(first(text, "client.name").await, Some(json!("Dry Creek Hauling LLC")));
    assert_eq!(first(text, "client.dot").await, Some(json!("2211887")));
}

#[tokio::test]
async fn a_table_between_tabs_ends_with_them() {
    let text = "\
Begin\tEnd\tLessor\tContract #\n05/01/2025\t05/01/2026\tLarch Leasing Company\tLX-4401\n
Ada Example
Dry Creek Hauling LLC
O 419-555-0117 | F 419-555-0118 | DOT 2211887
";
    assert_eq!(plain(text, "number").await, [json!("LX-4401")]);
    assert_eq!(first(text, "client.dot").await, Some(json!("2211887")));
}

#[tokio::test]
async fn a_number_may_be_called_so_beneath_its_heading_or_behind_a_comma() {
    assert_eq!(plain("Contract\nNumber LX-4401\nTerm 05/01/2025 - 05/01/2026\n", "number").await, [json!("LX-4401")]);
    assert_eq!(plain("Vehicle\nNumber LX-4401\n", "number").await, Vec::<Value>::new());
    assert_eq!(plain("Your contract, number LX-4401, will not be renewed.", "number").await, [json!("LX-4401")]);
}

#[tokio::test]
async fn what_a_paper_leaves_out_is_no_term_of_it() {
    let text = "\
Contract number  LX-4401

Kind           Deposit   Fee
Full service   $1,000    $200
Night service  Not covered
";
    assert_eq!(plain(text, "kind").await, [json!("Full Service")]);
    assert_eq!(plain(text, "deposit").await, [dollars(1_000)]);
}
