use super::super::businesses::find_businesses;
use super::*;

fn value(read: Option<ReadValue>) -> String {
    read.and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
}

#[test]
fn names_end_where_remarks_begin() {
    for (text, expected) in [
        ("Prairie Lantern Mutual Insurance Company (NAIC", "Prairie Lantern Mutual Insurance Company"),
        ("Copper Kettle Hauling Inc.", "Copper Kettle Hauling Inc."),
        ("Ironwood Lane Insurance Agency, (512) 555-0100", "Ironwood Lane Insurance Agency"),
        ("Thistle Run Carriers LLC. ", "Thistle Run Carriers LLC"),
        ("Bramble Fork Trucking,", "Bramble Fork Trucking"),
        ("Acme Freight, LLC", "Acme Freight, LLC"),
        ("Dry Creek Hauling LLC, Waco, TX", "Dry Creek Hauling LLC"),
        ("\"Sorrel Canyon Carriers LLC\",", "Sorrel Canyon Carriers LLC"),
        ("Dry Creek Exchange, MC 654321", "Dry Creek Exchange"),
        ("Dry Creek Exchange MC# 654321", "Dry Creek Exchange"),
        ("DRY CREEK FREIGHT, PO BOX 8068, WACO, TX 76701", "DRY CREEK FREIGHT"),
        ("Dry Creek Freight 12 Mill Row Waco, TX 76701", "Dry Creek Freight"),
        ("82 Mill Ct Ste 2", ""),
        ("Cedar Falls, CO", ""),
        ("Cedar Falls Bros. Freight Inc", "Cedar Falls Bros. Freight Inc"),
        ("Prairie Lantern Mutual, runs out 11/2/2026", "Prairie Lantern Mutual"),
        ("Cedar, Falls, and Sons", "Cedar, Falls, and Sons"),
        ("Transport Val-Clair ltée 12, rue du Moulin Val-Clair, QC J7E 9A3", "Transport Val-Clair ltée"),
        ("Cedar Falls, TX", ""),
        ("CEDAR FALLS FREIGHT, CO", "CEDAR FALLS FREIGHT, CO"),
        ("Cedar Falls Freight, LP", "Cedar Falls Freight, LP"),
        ("PO Box 8068", ""),
        ("24 Road Freight LLC", "24 Road Freight LLC"),
        ("none", ""),
    ] {
        assert_eq!(value(name(text)), expected, "{text}");
    }
}

#[test]
fn a_stop_behind_a_word_that_is_written_short_ends_no_name() {
    for (text, expected) in [
        ("Fern Bros. Freight Inc", "Fern Bros. Freight Inc"),
        ("J. R. Fern Assoc. Hauling LLC", "J. R. Fern Assoc. Hauling LLC"),
        ("St. Fern Hauling LLC", "St. Fern Hauling LLC"),
        ("Fern Brothers. Freight", "Fern Brothers"),
    ] {
        assert_eq!(value(name(text)), expected, "{text}");
    }
    assert_eq!(value(find_businesses("for Fern Bros. Freight Inc, please").pop()), "Fern Bros. Freight Inc");
    assert_eq!(value(find_businesses("St. Fern Hauling LLC").pop()), "St. Fern Hauling LLC");
    assert_eq!(value(find_businesses("we went on. Fern Hauling LLC").pop()), "Fern Hauling LLC");
}

#[test]
fn a_name_goes_on_in_the_next_line_until_it_is_whole() {
    for (text, expected) in [
        ("Fern Hollow Insurance Co. of\nAmerica", "Fern Hollow Insurance Co. of America"),
        ("Fern Hollow\r\n   Mutual Company", "Fern Hollow Mutual Company"),
        ("Fern Hollow Company\nof America", "Fern Hollow Company of America"),
        ("Fern Hollow LLC\nMill Row", "Fern Hollow LLC"),
        ("Fern Hollow\n12 Mill Row", "Fern Hollow"),
        ("Fern Hollow\nWaco, TX 76701", "Fern Hollow"),
        ("Fern Hollow\nWaco, TX", "Fern Hollow"),
    ] {
        assert_eq!(value(name_over_lines(text)), expected, "{text}");
    }
}

#[test]
fn words_of_labels_name_nobody() {
    assert_eq!(name("Company NAIC / Code"), None);
    assert_eq!(name("NAIC No."), None);
    assert!(name("Code Company LLC").is_some());
}

#[test]
fn the_name_at_the_beginning_is_the_first_of_the_line() {
    for line in [
        "Dry Creek Hauling LLC and Copper Kettle Hauling Inc.",
        "  the Prairie Lantern Insurance Company of Waco, and Dry Creek Hauling LLC",
        "Policy of Dry Creek Hauling LLC",
        "every day Dry Creek Hauling LLC",
        "One Two Three Four Five Six Seven Eight LLC",
        "One, Two LLC",
        "Insured: Acme LLC",
        "Acme Freight, LLC\nDry Creek Hauling LLC",
        "\"Acme Freight LLC\"",
        "",
    ] {
        let first = line.split('\n').next().unwrap_or_default();
        let whole = find_businesses(first).into_iter().next().filter(|read| read.start == past_article(first));
        assert_eq!(leading_business(line).map(|read| read.value), whole.map(|read| read.value), "{line}");
    }
    let many = "Prairie Lantern Insurance Company ".repeat(1_000);
    let last = past_article(&many);
    assert_eq!(businesses_from(&many, last).len(), 1, "what begins later is not read");
}
