//! How papers and mails lay out what they say: lists without a head, values that go on, names of several lines.

use serde_json::{Value, json};

use super::papers::{read, values};

const DOLLAR: i64 = 1_000_000_000;

#[tokio::test]
async fn losses_are_read_without_a_row_of_labels() {
    let text = "OAKMERE MUTUAL INSURANCE COMPANY\nLOSS RUN   INSURED: FERN HOLLOW HAULING LLC\nVALUATION DATE 02/01/26\n\nPOLICY NUMBER OMI-44-120987  01/05/25 to 01/05/26\n  77120455        03/09/25   AL    Closed   MIRROR STRUCK A SIGN\n                  TOTAL PAID      1,250.00   CASE RESERVE       0.00   GROSS INCURRED      1,250.00\n  77120988        07/21/25   MTC   Open     PALLETS WET\n                  TOTAL PAID        300.00   CASE RESERVE   2,000.00   GROSS INCURRED      2,300.00\n";
    let found = read("insurance", 1, text).await;
    assert_eq!(values(&found, "losses/claim_number"), ["77120455", "77120988"]);
    assert_eq!(values(&found, "losses/date"), ["2025-03-09", "2025-07-21"]);
    assert_eq!(values(&found, "losses/incurred"), [json!(1_250 * DOLLAR), json!(2_300 * DOLLAR)]);
    // A number and a day with no amount of a loss beneath are anything.
    let invoices = "LOSS RUN\nClaims paid\n  77120455        03/09/25   paid by check\n  77120988        07/21/25   paid by check\n";
    assert_eq!(values(&read("insurance", 1, invoices).await, "losses/claim_number"), Vec::<Value>::new());
}

#[tokio::test]
async fn two_losses_of_one_day_are_two() {
    let text = "LOSS RUN\nClaim Number   Loss Date    Description           Incurred\n55-10231       07/10/2025   Fire in a trailer     4,100.00\n55-10299       07/10/2025   Mirror broken         900.00\n";
    let found = read("insurance", 1, text).await;
    assert_eq!(values(&found, "losses/claim_number"), ["55-10231", "55-10299"]);
    assert_eq!(values(&found, "losses/incurred"), [json!(4_100 * DOLLAR), json!(900 * DOLLAR)]);
}

#[tokio::test]
async fn a_term_may_stand_alone_beneath_its_number() {
    let text = "Loss History\nInsured: Fern Hollow Hauling LLC\nPolicy No. OMI-44-120987\n01/05/24 thru 01/05/25\nNo losses\n\nPolicy No. OMI-44-131313\n01/05/25 thru 01/05/26\nNo losses\n";
    let terms = values(&read("insurance", 1, text).await, "policies/period");
    let term = |year: u16| json!({"start": format!("{year}-01-05"), "end": format!("{}-01-05", year + 1)});
    assert_eq!(terms, [term(2024), term(2025)]);
    let other = "Policy No. OMI-44-120987\n03/01/26 thru 03/20/26\n";
    assert_eq!(values(&read("insurance", 1, other).await, "policies/period"), Vec::<Value>::new(), "no whole term");
}

#[tokio::test]
async fn a_value_may_begin_the_line_after_its_label() {
    let text = "LOSS RUN\nClaim #: 55-10231   Loss Date: 07/10/2025   Paid: 100.00   Reserve: 0.00   Gross Incurred:\n100.00   Description: Mirror broken\nClaim #: 55-10299   Loss Date: 08/11/2025   Paid: 250.00   Reserve: 50.00   Gross Incurred:\n300.00   Description: Fire in a trailer\n";
    let incurred = values(&read("insurance", 1, text).await, "losses/incurred");
    assert_eq!(incurred, [json!(100 * DOLLAR), json!(300 * DOLLAR)]);
}

#[tokio::test]
async fn each_policy_has_the_insurer_that_stands_above_it() {
    let text = "DECLARATIONS\nInsurance Company: Oakmere Mutual Insurance Company\nPolicy Number: OMI-44-120987\nEffective: 01/05/2025\nExpiration: 01/05/2026\nInsured: Fern Hollow Hauling LLC\nDriver   License Number\nAda Marsh   TX 88120455\n\nInsurance Company: Sable Ridge Casualty Company\nNAIC #   Policy Number\n50999   SRC77120\nExpiration: 02/09/2026\n";
    let found = read("insurance", 1, text).await;
    assert_eq!(values(&found, "policies/policy_number"), ["OMI-44-120987", "SRC77120"]);
    let mut insurers: Vec<(Option<u32>, Value)> = found
        .fields
        .iter()
        .filter(|field| field.name == "insurer")
        .map(|field| (field.item, field.value.clone()))
        .collect();
    insurers.sort_by_key(|(item, _)| *item);
    let wanted = ["Oakmere Mutual Insurance Company", "Sable Ridge Casualty Company"];
    assert_eq!(insurers, [(Some(0), json!(wanted[0])), (Some(1), json!(wanted[1]))]);
}

#[tokio::test]
async fn a_name_goes_on_beneath_though_its_end_is_a_label_too() {
    let text = "DECLARATIONS\nInsurer: Sable Ridge County Mutual         Insured: Ada Marsh D/B/A Fern Hollow\nInsurance Company                         Night Hauling\nPolicy Number: SRC77120                   DOT #: 9228815\n";
    assert_eq!(
        values(&read("insurance", 1, text).await, "policies/insurer"),
        ["Sable Ridge County Mutual Insurance Company"]
    );
    let narrow = "DECLARATIONS\nInsurer        Sable Ridge Fire &   Policy Number   SRC77120\n(Assureur):    Marine Insurance     Effective       01/05/2025\n               Company              Expiration      01/05/2026\n";
    assert_eq!(
        values(&read("insurance", 1, narrow).await, "policies/insurer"),
        ["Sable Ridge Fire & Marine Insurance Company"]
    );
    // What stands beside a label of its own is another name.
    let load = "RATE CONFIRMATION\nCarrier    Dry Creek Couriers\nOrigin     Plum Hollow Foods, LLC\n";
    assert_eq!(values(&read("freight", 1, load).await, "company_name"), ["Dry Creek Couriers"]);
}

#[tokio::test]
async fn what_a_label_names_is_no_driver() {
    let text = "DECLARATIONS\nFederal DOT No.\t843348\nMC No.\t2414180\nCustomer No.\t2747951\n\nDriver\tLicense\nAda Marsh\tTX88120455\n";
    assert_eq!(values(&read("insurance", 1, text).await, "drivers/name"), ["Ada Marsh"]);
}

#[tokio::test]
async fn a_column_is_known_by_its_terms_and_an_amount_by_what_is_missing() {
    let text = "CERTIFICATE\nCompany                    Type                            Policy Number   Policy Eff   Policy Exp\nOakmere Mutual Insurance   AUTO LIABILITY X Any auto       OMI-44-120987   01/05/2025   01/05/2026\nOakmere Mutual Insurance   COMMERCIAL GENERAL LIABILITY    OMI-45-666123   01/05/2025   01/05/2026\n";
    let tabbed = text.lines().map(|line| {
        let cells: Vec<&str> = line.split("   ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        cells.join("\t")
    });
    let tabbed = tabbed.collect::<Vec<_>>().join("\n");
    let lines = values(&read("insurance", 1, &tabbed).await, "policies/line");
    assert_eq!(lines, ["Auto Liability", "General Liability"]);
    let text = "DECLARATIONS\nPolicy Number: OMI-44-120987\nCoverage\tAmount\tDeductible\nMotor Truck Cargo\t$100,000\t$1,000\n";
    assert_eq!(values(&read("insurance", 1, text).await, "policies/limit"), [json!(100_000 * DOLLAR)]);
}

#[tokio::test]
async fn holders_of_certificates_come_as_a_list_and_beneath_a_sentence() {
    let list = "Certificates please:\nHolder                    Address                          Type\nPlum Hollow Foods Inc.    12 Mill Row, Waco, TX 76701      AI\nCedar Mill Grocers LLC    9 Oak Street, Elko, NV 89801     holder\n\nThanks\n";
    let found = read("insurance", 0, list).await;
    assert_eq!(values(&found, "certificate_holder"), ["Plum Hollow Foods Inc.", "Cedar Mill Grocers LLC"]);
    for asked in ["the cert holder is", "Could you issue a certificate of insurance to the company below?"] {
        let text = format!("Hello,\n{asked}\n\nPlum Hollow Foods Inc.\n12 Mill Row, Waco, TX 76701\n");
        assert_eq!(
            values(&read("insurance", 0, &text).await, "certificate_holder"),
            ["Plum Hollow Foods Inc."],
            "{asked}"
        );
    }
}

#[tokio::test]
async fn from_when_a_quote_is_wanted_is_read() {
    for said in
        ["We need auto liability and cargo starting May 26, 2026.", "Start date: 05/26/2026", "Needed by - 05/26/2026"]
    {
        let text = format!("Please quote Fern Hollow Hauling LLC, DOT 9228815.\n{said}\n");
        assert_eq!(values(&read("insurance", 0, &text).await, "wanted_from"), ["2026-05-26"], "{said}");
    }
}

#[tokio::test]
async fn what_follows_a_drivers_name_is_the_drivers() {
    let text = "New driver: Ada Marsh, CDL TX 88120455, expires November 14, 2028, starting May 16, 2026.";
    let found = read("fleet", 0, text).await;
    assert_eq!(values(&found, "drivers/license_expiry"), ["2028-11-14"]);
    assert_eq!(values(&found, "drivers/hire_date"), ["2026-05-16"]);
    let record = "MOTOR VEHICLE RECORD\nNAME.............. Marsh, Ada\nOLN............... TX 88120455\nEXP............... 14-Nov-2028\n";
    let found = read("fleet", 1, record).await;
    assert_eq!(values(&found, "drivers/name"), ["Ada Marsh"]);
    assert_eq!(values(&found, "drivers/license_number"), ["TX 88120455"]);
}

#[tokio::test]
async fn a_carriers_customer_is_the_broker_of_the_load() {
    let text = "Carrier Load Sheet\nCustomer                                Order\nSable Ridge Freight Brokerage LLC, MC 123456   SR-48213\nCarrier                                 Shipper\nDry Creek Hauling LLC, MC 654321        Plum Hollow Foods Inc.\nFlat rate                               $2,150.00\nTotal                                   $2,150.00\n";
    let found = read("freight", 1, text).await;
    assert_eq!(found.analysis.category.as_deref(), Some("RATE_CON"));
    assert_eq!(values(&found, "broker"), ["Sable Ridge Freight Brokerage LLC"]);
    assert_eq!(values(&found, "mc_number"), ["654321"]);
    let booked = "Load Confirmation\nReceiver    Cedar Mill Grocers LLC\nBooked with Sable Ridge Load Exchange, MC 123456\nCarrier Dry Creek Hauling LLC, MC 654321\nAll in $2,150.00\n";
    let found = read("freight", 1, booked).await;
    assert_eq!(values(&found, "broker"), ["Sable Ridge Load Exchange"]);
    assert_eq!(values(&found, "consignee"), ["Cedar Mill Grocers LLC"]);
    assert_eq!(values(&found, "rate_amount"), [json!(2_150 * DOLLAR)]);
}

#[tokio::test]
async fn an_item_goes_on_in_rows_without_a_number() {
    let text = "Declarations\nPolicy #\tInsurer\tLimit\tDeductible\tCoverage\nOMI-44-120987\tOakmere Mutual Insurance Company\t1000000\t\tAuto Liability\n\t\t95500\t5000\tPhysical Damage\nOMI-45-666123\tOakmere Mutual Insurance Company\t1000000\t\tGeneral Liability\n";
    let found = read("insurance", 1, text).await;
    let lines: Vec<(Option<u32>, Value)> = found
        .fields
        .iter()
        .filter(|field| field.name == "line")
        .map(|field| (field.item, field.value.clone()))
        .collect();
    let wanted = [(0, "Auto Liability"), (0, "Physical Damage"), (1, "General Liability")];
    assert_eq!(lines, wanted.map(|(item, line)| (Some(item), json!(line))));
}

#[tokio::test]
async fn an_item_of_a_form_may_announce_several_values() {
    let text = "DECLARATIONS\nPart 1. Policy Number / Effective / Expiration\nOMI44120987\n01/05/2025 to 01/05/2026\n";
    assert_eq!(values(&read("insurance", 1, text).await, "policies/policy_number"), ["OMI44120987"]);
}

#[tokio::test]
async fn companies_beneath_a_wish_for_certificates_are_holders() {
    let text = "Need certs for all of these.\nCompany                   Where                            Wording\nPlum Hollow Foods Inc.    12 Mill Row, Waco, TX 76701      AI\nCedar Mill Grocers LLC    9 Oak Street, Elko, NV 89801     holder\n";
    let found = read("insurance", 0, text).await;
    assert_eq!(values(&found, "certificate_holder"), ["Plum Hollow Foods Inc.", "Cedar Mill Grocers LLC"]);
}

#[tokio::test]
async fn an_insurer_of_one_word_is_no_label() {
    let text = "DECLARATIONS\nInsurance company\tNAIC no.\nOakmere Insurance Company\t50123\nPolicy #\tEffective\nOMI-44-120987\t01/05/2025\nInsurance company\tNAIC no.\nSable Ridge National Insurance Company\t50999\nPolicy #\tEffective\nSRC77120\t02/09/2025\n";
    let found = read("insurance", 1, text).await;
    let mut insurers: Vec<(Option<u32>, Value)> = found
        .fields
        .iter()
        .filter(|field| field.name == "insurer")
        .map(|field| (field.item, field.value.clone()))
        .collect();
    insurers.sort_by_key(|(item, _)| *item);
    let wanted = ["Oakmere Insurance Company", "Sable Ridge National Insurance Company"];
    assert_eq!(insurers, [(Some(0), json!(wanted[0])), (Some(1), json!(wanted[1]))]);
}

#[tokio::test]
async fn a_label_that_goes_on_beneath_leads_to_no_number() {
    let text = "DECLARATIONS\nPolicy / No. de        SRC77120\npóliza / Vigencia de   05/14/2025 al\nla póliza / Term of    05/14/2026\nPolicy:\n";
    assert_eq!(values(&read("insurance", 1, text).await, "policies/policy_number"), ["SRC77120"]);
}
