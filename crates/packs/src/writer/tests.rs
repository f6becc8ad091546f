use super::*;

fn company(text: &str, address: &str) -> String {
    let named = company_of(text, address);
    assert!(named.iter().all(|named| text[named.start..].starts_with(&named.name)));
    named.map(|named| named.name).unwrap_or_default()
}

#[test]
fn the_company_is_the_name_of_the_domain() {
    for (text, name) in [
        ("Ada Example, Fern Hollow Hauling LLC 512-555-0171", "Fern Hollow Hauling LLC"),
        ("Fern Hollow Hauling 512-555-0171", "Fern Hollow Hauling"),
        ("Thanks\nAda Example | Owner | Fern Hollow Hauling | (512) 555-0171", "Fern Hollow Hauling"),
        ("Fern Hollow Hauling needs\n\nAda Example, Fern Hollow Hauling, Inc.", "Fern Hollow Hauling, Inc."),
        ("Fern Hollow Hauling\nTel. 512-555-0171", "Fern Hollow Hauling"),
        ("We at Fern Hollow Hauling LLC need a truck", "Fern Hollow Hauling LLC"),
        ("Cedar Mill Grocers LLC wants a certificate", ""),
        ("soy dueño de Transportes Fern Hollow Hauling LLC", "Transportes Fern Hollow Hauling LLC"),
        ("fern hollow", ""),
    ] {
        assert_eq!(company(text, "ada@fernhollowhauling.example"), name, "{text}");
    }
    let short = "It is Fern Hollow Freightways, Inc. on everything, not just Fern Hollow. Thanks";
    assert_eq!(company(short, "ada@fernhollowfrt.example"), "Fern Hollow Freightways, Inc.");
    assert_eq!(
        company("Ada Example, Fern Hollow Hauling. Shopping around", "ada@fernhollow.example"),
        "Fern Hollow Hauling"
    );
    assert_eq!(company("Fern & Hollow Motor Lines LLP", "ada@fernhollow.example"), "Fern & Hollow Motor Lines LLP");
}

#[test]
fn a_company_typed_in_small_letters_is_one_where_the_domain_says_so() {
    let text = "need loss runs from sable point, thx\n\nada example\nfern hollow flatbed inc\n";
    assert_eq!(company(text, "ada@fernhollow.example"), "fern hollow flatbed inc");
    assert_eq!(company(text, "ada@elsewhere.example"), "");
}

#[test]
fn whoever_writes_is_no_part_of_the_company() {
    let behind = |name| company_behind(name, "Kim Marsh").unwrap_or_default().to_owned();
    assert_eq!(behind("Kim Marsh of Fern Hollow LLC"), "Fern Hollow LLC");
    assert_eq!(behind("Ada Example de Transportes Fern LLC"), "Transportes Fern LLC");
    assert_eq!(behind("Fletes de Transportes Fern LLC"), "");
    assert_eq!(behind("Hijos de Ada Example LLC"), "");
}

#[test]
fn whoever_places_insurance_is_not_whom_it_is_for() {
    let is_office = |name: &str| is_office(name, &ExtractionSchema::default());
    assert!(
        !is_office("River Bank Hauling LLC")
            && is_office("Fern Hollow Wholesale")
            && is_office("Courtage Fern Hollow")
            && is_office("Fern Hollow Brokers")
            && !is_office("Fern Hollow Freight")
    );
}

#[test]
fn an_initial_beside_the_address_is_the_name_at_the_end() {
    let found = |name: &str, body: &str| {
        let named = person_of(body, &Sender { us: "", name, address: "ada@fernhollow.example" });
        assert!(named.iter().all(|named| body[named.start..].starts_with(&named.name)));
        named.map(|named| named.name).unwrap_or_default()
    };
    assert_eq!(found("A Example", "need a quote\n  Ada Example\n"), "Ada Example");
    assert_eq!(found("A. Example", "Thanks,\nAda B. Example"), "Ada B. Example");
    assert_eq!(found("Ada Example", "Thanks, Ada Example"), "Ada Example");
    for body in ["Bea Example", "Ada Example called", "Example", "Ada Sample"] {
        assert_eq!(found("A Example", body), "", "{body}");
    }
}

#[test]
fn a_person_is_no_company() {
    let person = |name: &str| is_person(&Sender { us: "", name, address: "ada@fernhollow.example" });
    assert!(person("Ada Example"));
    for name in [
        "Underwriting Services",
        "Claims Desk",
        "",
        "Ada",
        "Fern Hollow",
        "Cedar Mill Grocers LLC",
        "loads desk",
        "Ada Example 2",
    ] {
        assert!(!person(name), "{name}");
    }
}

#[test]
fn a_firm_that_says_what_it_is_writes_for_somebody_else() {
    let of = |text: &str| company_of(text, "kim@fernpike.example").map(|named| named.name);
    assert_eq!(of("Kim\nFern & Pike, LLP").as_deref(), Some("Fern & Pike, LLP"));
    assert_eq!(of("Kim\nFern & Pike, Certified Public Accountants, LLP"), None);
    assert_eq!(of("FERN & PIKE\nAttorneys at Law"), None);
    assert_eq!(of("Fern Pike LLC, insurance renewal").as_deref(), Some("Fern Pike LLC"));
    assert_eq!(of("Fern Pike LLC\n\nOur accountants want them").as_deref(), Some("Fern Pike LLC"));
}

#[test]
fn a_line_on_which_a_company_is_named_without_an_end_is_read_in_time() {
    let text = |times: usize| "Fern Hollow Hauling, ".repeat(times);
    assert_eq!(company(&text(30), "ada@fernhollow.example"), "Fern Hollow Hauling");
    assert!(kybern_testkit::growth(40, |times| drop(company_of(&text(times), "ada@fernhollow.example"))) < 24.0);
}
