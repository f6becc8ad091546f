//! Labels and names that a narrow column breaks, and labels that stand behind or beneath their values.

use super::papers::{read, values};

#[tokio::test]
async fn a_label_broken_over_several_lines_is_one() {
    let form = "DECLARATIONS\n\
                WRITING   Oakmere Mutual Insurance Company   NAIC      50123\n\
                COMPANY:                                     COMPANY\n\
                \u{20}                                            CODE:\n\
                CONTRACT  OMI-44-120987    NAMED     Fern Hollow Hauling LLC\n\
                NUMBER /  01/05/2025 / 01/05/2026   INSURED:  12 Mill Row\n\
                POLICY\n\
                PERIOD:\n";
    let found = read("insurance", 1, form).await;
    assert_eq!(values(&found, "policies/policy_number"), ["OMI-44-120987"]);
    assert_eq!(values(&found, "insured.name"), ["Fern Hollow Hauling LLC"]);
}

#[tokio::test]
async fn insurers_broken_over_two_lines_stand_in_their_columns() {
    let sheet = "DECLARATIONS\n\
                 company affording     Sable Ridge County Mutual Insurance  Oakmere Fire & Marine Insurance\n\
                 coverage              Company                              Company\n\
                 naic no.              50999                                50123\n\
                 insurance policy no.  SRC 77120                            OMI-44-120987\n\
                 effective date        01/05/2025                           02/09/2025\n";
    let found = read("insurance", 1, sheet).await;
    assert_eq!(
        values(&found, "policies/insurer"),
        ["Sable Ridge County Mutual Insurance Company", "Oakmere Fire & Marine Insurance Company"]
    );
}

#[tokio::test]
async fn labels_in_brackets_stand_behind_their_values_or_beneath_long_ones() {
    let page = "Oakmere Mutual Insurance Company              (INSURING COMPANY)\n\
                50123                                         (NAIC NO.)\n\
                OMI-44-120987                                 (Your policy number)\n\
                Sable Risk Partners, 12 Mill Row, Waco, TX 76701\n\
                \u{20}        (SERVICING AGENT)\n\
                Fern Hollow Hauling LLC, 9 Oak Street, Elko, NV 89801\n\
                \u{20}        (POLICYHOLDER)\n\
                9228815                                       (DOT NO.)\n";
    let found = read("insurance", 1, page).await;
    assert_eq!(values(&found, "insured.name"), ["Fern Hollow Hauling LLC"]);
    assert_eq!(values(&found, "agency.name"), ["Sable Risk Partners"]);
    assert_eq!(values(&found, "policies/policy_number"), ["OMI-44-120987"]);
}

#[tokio::test]
async fn a_code_before_its_label_is_no_insurer() {
    let page = "B  (Underwriting Company)\n\
                Fern Hollow Hauling LLC, 9 Oak Street, Elko, NV 89801\n\
                \u{20}        (Named Insured)\n\
                9228815  (US DOT #)\n\
                OMI-44-120987  (Policy #)\n\
                2025-01-05     (Effective)\n\
                A = Sable Ridge Casualty Company; B = Oakmere Mutual Insurance Company (NAIC 50123).\n";
    let found = read("insurance", 1, page).await;
    assert_eq!(values(&found, "insured.name"), ["Fern Hollow Hauling LLC"]);
    assert!(!values(&found, "policies/insurer").contains(&"Fern Hollow Hauling LLC".into()));
}

#[tokio::test]
async fn two_labels_before_one_value_are_the_first_ones() {
    let page = "DECLARATIONS\nPolicy No / Policy Period OMI-44-120987        Total Premium $79,955.00\n\
                Jun 7, 2025 through Jun 7, 2026\n";
    assert_eq!(values(&read("insurance", 1, page).await, "policies/policy_number"), ["OMI-44-120987"]);
}

#[tokio::test]
async fn a_heading_of_two_columns_has_its_name_beneath() {
    let page = "DECLARATIONS\nFirst Named Insured          Location\nFern Hollow Hauling LLC      9 Oak Street\n";
    assert_eq!(values(&read("insurance", 1, page).await, "insured.name"), ["Fern Hollow Hauling LLC"]);
    let pair =
        "DECLARATIONS\nInsured's Name:          Date Prepared: 28 June 2025\nFern Hollow Hauling LLC   DOT # 9228815\n";
    assert_eq!(values(&read("insurance", 1, pair).await, "insured.name"), ["Fern Hollow Hauling LLC"]);
}

#[tokio::test]
async fn a_name_may_break_within_a_sentence() {
    let letter = "To whom it may concern\n\
                  Oakmere Mutual Insurance Company of 12 Mill Row, Waco, TX 76701 insures Fern\n\
                  Hollow Hauling Corporation, 9 Oak Street, Elko, NV 89801, under policy OMI-44-120987.\n";
    assert_eq!(values(&read("insurance", 1, letter).await, "insured.name"), ["Fern Hollow Hauling Corporation"]);
}

#[tokio::test]
async fn letters_within_a_number_label_nothing() {
    let page = "DECLARATIONS\nCargo: Oakmere Mutual Insurance Company, policy OMI-MC-361209\n";
    let found = read("insurance", 1, page).await;
    assert!(values(&found, "insured.mc_number").is_empty());
}

#[tokio::test]
async fn an_agency_of_which_two_words_are_a_label_is_one() {
    let page = "INSURED\tFern Hollow Hauling LLC\tAGENT\tBelfry Insurance Agency\nISSUED TO\tDry Creek Couriers LLC\tADDRESS\t9 Oak Street\n";
    assert_eq!(values(&read("insurance", 1, page).await, "agency.name"), ["Belfry Insurance Agency"]);
}

#[tokio::test]
async fn policies_side_by_side_keep_their_own_values() {
    let beside = "DECLARATIONS\nInsured: Fern Hollow Hauling LLC\n\n\
                  Coverage: Automobile Liability              Coverage: Motor Truck Cargo\n\
                  Company: Oakmere Mutual Insurance Company   Company: Sable Ridge Casualty Company\n\
                  Policy no.: OMI-44-120987                   Policy no.: SRC-77120\n\
                  Effective: July 8, 2025                     Effective: August 9, 2025\n";
    let beneath = "INSURANCE BINDER\nInsured: Fern Hollow Hauling LLC\n\n\
                   COVERAGE A \u{2013} AUTOMOBILE LIABILITY   COVERAGE B \u{2013} MOTOR TRUCK CARGO\n\
                   Company                             Company\n\
                   Oakmere Mutual Insurance Company    Sable Ridge Casualty Company\n\
                   Policy no.                          Policy no.\n\
                   OMI-44-120987                       SRC-77120\n\
                   Effective                           Effective\n\
                   July 8, 2025                        August 9, 2025\n";
    for page in [beside, beneath] {
        let found = read("insurance", 1, page).await;
        for (field, wanted) in [
            ("policy_number", ["OMI-44-120987", "SRC-77120"]),
            ("insurer", ["Oakmere Mutual Insurance Company", "Sable Ridge Casualty Company"]),
            ("line", ["Auto Liability", "Motor Truck Cargo"]),
            ("effective", ["2025-07-08", "2025-08-09"]),
        ] {
            let mut values: Vec<(Option<u32>, String)> = found
                .fields
                .iter()
                .filter(|value| value.name == field && value.group.as_deref() == Some("policies"))
                .map(|value| (value.item, value.value.as_str().unwrap_or_default().to_owned()))
                .collect();
            values.sort();
            let wanted = [(Some(0), wanted[0].to_owned()), (Some(1), wanted[1].to_owned())];
            assert_eq!(values, wanted, "{field} of {page}");
        }
    }
}

#[tokio::test]
async fn a_blank_beside_a_value_belongs_to_nobody_else() {
    let page = "DECLARATIONS\nInsured: Fern Hollow Hauling LLC\n\n\
                Policy no.: OMI-44-120987   Policy no.: SRC-77120       Policy no.: BHA-40-118265\n\
                Effective: 01/01/2026       Effective:                  Effective: 05/01/2026\n";
    let found = read("insurance", 1, page).await;
    let effective = found.fields.iter().filter(|value| value.name == "effective");
    let mut dates: Vec<(Option<u32>, String)> =
        effective.map(|value| (value.item, value.value.as_str().unwrap_or_default().to_owned())).collect();
    dates.sort();
    assert_eq!(dates, [(Some(0), "2026-01-01".to_owned()), (Some(2), "2026-05-01".to_owned())]);
}

#[tokio::test]
async fn a_company_beneath_its_label_is_whom_its_words_say() {
    let words = "Need loss runs please.\nCompany\nOakmere Mutual Insurance Company\nPol. No.\nOMI-44-120987\n\
                 First Named Insured\nFern Hollow Hauling LLC\nU.S. DOT\n9228815\n";
    let found = read("insurance", 0, words).await;
    assert_eq!(values(&found, "policies/insurer"), ["Oakmere Mutual Insurance Company"]);
    assert_eq!(values(&found, "insured.name"), ["Fern Hollow Hauling LLC"]);
}
