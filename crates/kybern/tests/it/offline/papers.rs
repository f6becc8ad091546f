//! Papers of a fleet and of a load, by the schemas of their packs.

use std::sync::Arc;

use kybern_adapters::models::offline::RulesModel;
use kybern_core::document::{DocumentFormat, DocumentText, PageText};
use kybern_core::model::{Extraction, ExtractionSchema};
use kybern_core::ports::Extractor;
use serde_json::{Value, json};

use super::registry;

fn schema(pack: &str) -> Arc<ExtractionSchema> {
    let registry = registry();
    let (_, schema) = registry.extractions().find(|(name, _)| *name == pack).unwrap();
    Arc::clone(schema)
}

/// What is read in document `number` by the schema of a pack.
pub(super) async fn read(pack: &str, number: u32, text: &str) -> Extraction {
    let schema = schema(pack);
    let page = PageText { number: 1, text: text.to_owned(), ..PageText::default() };
    let document = DocumentText { format: DocumentFormat::Text, pages: vec![page] };
    let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
    RulesModel.extract(number, &document, &analysis, &schema).await.unwrap()
}

/// The values of a field, of a list or alone, in reading order.
pub(super) fn values(extraction: &Extraction, name: &str) -> Vec<Value> {
    let (group, name) = name.split_once('/').map_or((None, name), |(group, name)| (Some(group), name));
    let found = extraction.fields.iter().filter(|field| field.name == name && field.group.as_deref() == group);
    found.map(|field| field.value.clone()).collect()
}

#[tokio::test]
async fn a_rate_confirmation_is_read() {
    let text = "RATE CONFIRMATION\n\nBroker: Sable Ridge Logistics LLC\nLoad Number: SR-48213\nCarrier: Dry Creek Hauling LLC\nMC: 654321\n\nShipper: Plum Hollow Foods\nPickup Date: 07/02/2026\nConsignee: Cedar Mill Grocers\nDelivery Date: 07/04/2026\n\nTotal Rate: $2,150.00\nWeight: 41,200 lbs";
    let found = read("freight", 1, text).await;
    assert_eq!(found.analysis.category.as_deref(), Some("RATE_CON"));
    for (name, value) in [
        ("broker", json!("Sable Ridge Logistics LLC")),
        ("load_number", json!("SR-48213")),
        ("company_name", json!("Dry Creek Hauling LLC")),
        ("mc_number", json!("654321")),
        ("shipper", json!("Plum Hollow Foods")),
        ("consignee", json!("Cedar Mill Grocers")),
        ("pickup_date", json!("2026-07-02")),
        ("delivery_date", json!("2026-07-04")),
        ("rate_amount", json!(2_150_000_000_000_i64)),
        ("weight", json!(41_200)),
    ] {
        assert_eq!(values(&found, name), [value], "{name}");
    }
}

#[tokio::test]
async fn stops_beneath_each_other_and_the_carriers_pay_are_read() {
    let text = "Sable Ridge Freight Brokers LLC  Load # SR-48213\nCarrier load confirmation\n\nCarrier: Dry Creek Hauling LLC  MC 654321\n\nPICK 07/02/2026 08:00-14:00\nPlum Hollow Foods, 12 Mill Row, Waco, TX 76701\nDROP 07/04/2026 06:00 appt\nCedar Mill Grocers, 9 Oak Street, Elko, NV 89801\n\nFuel             150.00\nCarrier is paid  2,150.00 USD";
    let found = read("freight", 1, text).await;
    for (name, value) in [
        ("broker", json!("Sable Ridge Freight Brokers LLC")),
        ("company_name", json!("Dry Creek Hauling LLC")),
        ("shipper", json!("Plum Hollow Foods")),
        ("consignee", json!("Cedar Mill Grocers")),
        ("pickup_date", json!("2026-07-02")),
        ("delivery_date", json!("2026-07-04")),
        ("rate_amount", json!(2_150_000_000_000_i64)),
    ] {
        assert_eq!(values(&found, name), [value], "{name}");
    }
    let offer = "load 10/22 at the plant, deliver 10/23";
    assert!(values(&read("freight", 0, offer).await, "load_number").is_empty());
}

#[tokio::test]
async fn a_brokers_number_is_not_the_carriers() {
    let text = "RATE CONFIRMATION\nBroker     Sable Ridge Freight Inc., MC 123456\nCarrier    Dry Creek Hauling LLC, MC 654321";
    assert_eq!(values(&read("freight", 1, text).await, "mc_number"), ["654321"]);
}

#[tokio::test]
async fn papers_about_one_driver_name_him_in_their_own_words() {
    let record = "DRIVING RECORD\nSubject:   SAMPLE, BO\nLicense:   TX-7719382\nGood to:   11/20/2028\nConvicted: none";
    let found = read("fleet", 1, record).await;
    assert_eq!(values(&found, "drivers/name"), ["BO SAMPLE"]);
    assert_eq!(values(&found, "drivers/license_expiry"), ["2028-11-20"]);
    let application = "Driver application\nFull name: Bo Sample\nLicense no.: TX-7719382\nHired on 03/02/2026";
    let found = read("fleet", 1, application).await;
    assert_eq!(values(&found, "drivers/name"), ["Bo Sample"]);
    assert_eq!(values(&found, "drivers/hire_date"), ["2026-03-02"]);
    assert!(values(&found, "contact.name").is_empty());
    let policy = "Named insured: Dry Creek Hauling LLC\nDrivers\nPolicy good to: 11/20/2028";
    assert!(values(&read("insurance", 1, policy).await, "drivers/license_expiry").is_empty());
}

#[tokio::test]
async fn the_lessor_of_a_vehicle_is_nobodys_contact() {
    let text = "CAB CARD\nREGISTRANT              OWNER / LESSOR            USDOT OF REGISTRANT\nDry Creek Hauling LLC   Oak Bend Lease Partners   9228815\n\nVIN\n1XKYD49X5MJ914201";
    let found = read("fleet", 1, text).await;
    assert_eq!(values(&found, "company_name"), ["Dry Creek Hauling LLC"]);
    assert_eq!(values(&found, "dot_number"), ["9228815"]);
    assert!(values(&found, "contact.name").is_empty());
}

#[tokio::test]
async fn a_form_with_underscores_is_read() {
    let text = "New lead\nCompany__________ Dry Creek Hauling LLC\nProspect_________ Ada Example\nBest phone_______ (254) 555-0171\nUSDOT____________ 9228815";
    let found = read("insurance", 0, text).await;
    assert_eq!(values(&found, "insured.name"), ["Dry Creek Hauling LLC"]);
    assert_eq!(values(&found, "insured.dot_number"), ["9228815"]);
    assert_eq!(values(&found, "contact.name"), ["Ada Example"]);
    assert_eq!(values(&found, "contact.phone"), ["2545550171"]);
}

#[tokio::test]
async fn a_list_of_drivers_and_vehicles_is_read() {
    let text = "DRIVER AND VEHICLE LIST\nMotor Carrier: Dry Creek Hauling LLC\nUSDOT: 9228815\n\nDriver Name      License Number   State   Date of Birth\nAda B. Example   TX-8812045       TX      03/04/1985\nBo Sample        TX-7719382       TX      11/20/1979\n\nUnit   Year   Make        VIN\n12     2021   Kenworth    1XKYD49X5MJ914201\n14     2019   Utility     1UYVS2531KU914222";
    let found = read("fleet", 1, text).await;
    assert_eq!(values(&found, "company_name"), ["Dry Creek Hauling LLC"]);
    assert_eq!(values(&found, "dot_number"), ["9228815"]);
    assert_eq!(values(&found, "drivers/name"), ["Ada B. Example", "Bo Sample"]);
    assert_eq!(values(&found, "drivers/license_number"), ["TX-8812045", "TX-7719382"]);
    assert_eq!(values(&found, "vehicles/vin"), ["1XKYD49X5MJ914201", "1UYVS2531KU914222"]);
    assert_eq!(values(&found, "vehicles/year"), [2021, 2019]);
}

#[tokio::test]
async fn a_time_beside_the_date_of_a_load_is_its_own_value() {
    for (text, picked_up, delivered) in [
        ("Pickup Date: 07/02/2026 08:00\nDelivery Date: 07/04/2026 2:30 PM", "08:00", "14:30"),
        ("Pickup: July 2, 2026 at 8 am\nDelivery: July 4, 2026 by 14:30", "08:00", "14:30"),
        ("Pickup Date       Delivery Date\n07/02/2026 0800   07/04/2026 1430", "08:00", "14:30"),
        ("PU: 07/02/2026 8-10 am\nDeliver by: 07/04/2026 2:30 pm EST", "08:00", "14:30"),
    ] {
        let found = read("freight", 1, text).await;
        assert_eq!(values(&found, "pickup_date"), ["2026-07-02"], "{text}");
        assert_eq!(values(&found, "delivery_date"), ["2026-07-04"], "{text}");
        assert_eq!(values(&found, "pickup_time"), [picked_up], "{text}");
        assert_eq!(values(&found, "delivery_time"), [delivered], "{text}");
    }
    let found = read("freight", 1, "Pickup: Oct 15 at 8 am\nDelivery Date: 10/16/2026").await;
    assert_eq!((values(&found, "pickup_time"), values(&found, "pickup_date")), (vec![json!("08:00")], vec![]));
    assert!(values(&found, "delivery_time").is_empty(), "no other date's time");
}

#[tokio::test]
async fn the_employers_number_is_read_by_every_pack() {
    for (pack, name, text) in [
        ("insurance", "insured.fein", "Named Insured: Dry Creek Hauling LLC\nFEIN: 84-5550142\nUSDOT: 9228815"),
        ("fleet", "fein", "Motor Carrier: Dry Creek Hauling LLC\nFederal Tax ID No. 845550142"),
        ("freight", "fein", "Carrier: Dry Creek Hauling LLC    MC: 654321    EIN: 84-5550142"),
    ] {
        assert_eq!(values(&read(pack, 1, text).await, name), ["84-5550142"], "{pack}");
    }
    let found =
        read("insurance", 1, "Insured: Dry Creek Hauling LLC\nTax ID: 123-45-6789\nPhone: (512) 555-0171").await;
    assert!(values(&found, "insured.fein").is_empty(), "a social security number is none");
    assert_eq!(values(&found, "insured.phone"), ["5125550171"]);
}

#[tokio::test]
async fn a_deductible_in_percent_is_no_money() {
    let policy = "Named Insured: Dry Creek Hauling LLC\nPolicy Number: QX-AL-204417\nLimit: $1,000,000\n";
    for (written, amount, share) in [
        ("Deductible: 2%", vec![], vec![json!("2")]),
        ("Deductible: 2.5 % of the stated amount", vec![], vec![json!("2.5")]),
        ("Deductible: $2,500", vec![json!(2_500_000_000_000_i64)], vec![]),
    ] {
        let found = read("insurance", 1, &format!("{policy}{written}")).await;
        assert_eq!(values(&found, "policies/deductible"), amount, "{written}");
        assert_eq!(values(&found, "policies/deductible_percentage"), share, "{written}");
        assert_eq!(values(&found, "policies/limit"), [1_000_000_000_000_000_i64], "{written}");
    }
}

#[tokio::test]
async fn an_amount_that_cannot_be_is_kept_and_told() {
    let policy = "Named Insured: Dry Creek Hauling LLC\nPolicy Number: QX-AL-204417\n";
    for (pack, name, text, expected) in [
        ("insurance", "limit", format!("{policy}Limit: $1,000,000"), None),
        ("insurance", "limit", format!("{policy}Limit: $100"), Some("it is less than $1000")),
        ("insurance", "limit", format!("{policy}Limit: $2,000,000,000"), Some("it is more than $1000000000")),
        ("insurance", "premium", format!("{policy}Premium: -$4,200"), Some("it is less than $0")),
        ("freight", "rate_amount", "Load Number: SR-48213\nTotal Rate: $2,150.00".to_owned(), None),
        (
            "freight",
            "rate_amount",
            "Load Number: SR-48213\nTotal Rate: $2,150,000.00".to_owned(),
            Some("it is more than $1000000"),
        ),
    ] {
        let found = read(pack, 1, &text).await;
        let field = found.fields.iter().find(|field| field.name == name).expect("it is kept");
        assert_eq!(field.problem.as_deref(), expected, "{text}");
    }
}

#[tokio::test]
async fn papers_are_told_apart() {
    for (pack, text, category) in [
        ("freight", "STRAIGHT BILL OF LADING\nShipper: Plum Hollow Foods\nConsignee: Cedar Mill Grocers", "BOL"),
        ("freight", "PROOF OF DELIVERY\nReceived in good order by: Bo Sample\nLoad: SR-48213", "POD"),
        (
            "insurance",
            "Dry Creek Hauling LLC hereby authorizes Oak Bend Agency to request and receive our loss history.",
            "LOA",
        ),
        (
            "insurance",
            "DRY CREEK HAULING LLC\n\nTo: Sable Ridge Mutual\nRe: claims history\n\nPlease accept this letter as our request \
             that you release currently valued loss runs for policy SR-48213 to our agent.\n\nAda Example, Member",
            "LOA",
        ),
        ("insurance", "LOSS SUMMARY\nInsured: Dry Creek Hauling LLC\nAs of 07/01/2026\nNO LOSSES", "LOSS_RUN"),
        (
            "insurance",
            "Loss Run\nNamed Insured: Dry Creek Hauling LLC\nAs of: 07/01/2026\n\nPolicy No. SR-48213\nPolicy term: 05/01/2025 \
             thru 05/01/2026\nNo claims reported.",
            "LOSS_RUN",
        ),
        ("fleet", "MOTOR VEHICLE RECORD\nDriver: Ada B. Example\nLicense: TX-8812045\nViolations: none", "MVR"),
    ] {
        assert_eq!(read(pack, 1, text).await.analysis.category.as_deref(), Some(category), "{text}");
    }
}

#[tokio::test]
async fn whom_a_paper_is_issued_to_is_not_the_insured_beside_it() {
    let rest = "12 Mill Row                 9 Oak Street\nWaco, TX 76701              Elko, NV 89801\n\nPolicy Number: SR-48213";
    let names = "Plum Hollow Foods Inc       Dry Creek Hauling LLC";
    let found = read("insurance", 1, &format!("ISSUED TO                   INSURED\n{names}\n{rest}")).await;
    assert_eq!(values(&found, "insured.name"), ["Dry Creek Hauling LLC"]);
    let found = read("insurance", 1, "Policy Number: SR-48213\nIssued to: Dry Creek Hauling LLC").await;
    assert_eq!(values(&found, "insured.name"), ["Dry Creek Hauling LLC"], "where nobody else is insured");
}

#[tokio::test]
async fn a_letter_tells_of_policies_line_by_line() {
    let text = "Please order the loss runs for Dry Creek Hauling LLC.\nCargo Liability: Elm Assurance Corporation / EA/CG/4401 / 5/1/2025-5/1/2026\nElm Indemnity Company - Covered Autos Liability - pol# 22 BAP 0068-7A (6/1/2025 - 6/1/2026)";
    let found = read("insurance", 0, text).await;
    assert_eq!(values(&found, "policies/policy_number"), ["EA/CG/4401", "22 BAP 0068-7A"]);
    assert_eq!(values(&found, "policies/insurer"), ["Elm Assurance Corporation", "Elm Indemnity Company"]);
}

#[tokio::test]
async fn a_letter_that_wants_insurance_says_which() {
    let wanted = ["Auto Liability", "Motor Truck Cargo", "Physical Damage"];
    for text in [
        "Hi, just got my authority. I need primary liability, cargo 100k and physical damage on my truck.",
        "Hola, necesito seguro: responsabilidad civil, carga y daños físicos para dos camiones.",
    ] {
        assert_eq!(values(&read("insurance", 0, text).await, "coverage_requested"), wanted, "{text}");
    }
    let text = "Please send our certificate to the port; liability and cargo must be shown on it.";
    assert_eq!(values(&read("insurance", 0, text).await, "coverage_requested"), [json!(null); 0]);
}

#[tokio::test]
async fn drivers_are_listed_without_a_row_of_labels() {
    let text = "DECLARATIONS\nPolicy Number: AB-12345\n\nITEM FOUR. Drivers reported to us\n\n  Ada Example          TX E460-5518-2207\n  Bo Sample            NM 771938201\n  Cam O'Test           AZ D0117719\n\nForms and endorsements\n  Truckers Coverage    AB 01001234";
    let found = read("insurance", 1, text).await;
    assert_eq!(values(&found, "drivers/name"), ["Ada Example", "Bo Sample", "Cam O'Test"]);
    assert_eq!(values(&found, "drivers/license_number").len(), 3);
}
