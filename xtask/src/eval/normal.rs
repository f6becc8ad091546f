//! Values as they are compared: what is the same in another spelling is the same.

use serde_json::Value;

/// Words of a company's name that say nothing.
const NOISE: &[&str] = &[
    "llc",
    "inc",
    "co",
    "corp",
    "corporation",
    "company",
    "ltd",
    "lp",
    "insurance",
    "ins",
    "incorporated",
    "the",
    "and",
    "y",
];
/// Fields whose values are names of companies.
const COMPANIES: &[&str] =
    &["insured_name", "carrier", "certificate_holder", "shipper", "consignee", "broker", "carrier_name"];
/// Fields whose values are numbers.
const NUMBERS: &[&str] = &["limit", "claim_amount", "rate_amount", "amount", "deductible", "weight", "driver_count"];
/// Coverages, by what a spelling of them has in it; the first that fits.
const COVERAGES: &[(&str, &[&str])] = &[
    ("non_trucking_liability", &["nontruck", "bobtail"]),
    ("trailer_interchange", &["interchange"]),
    ("um_uim", &["underinsured", "uninsured"]),
    ("med_pay", &["medpay", "medicalpay"]),
    ("motor_truck_cargo", &["cargo", "carga"]),
    ("physical_damage", &["phys", "collision"]),
    ("umbrella", &["umbrella", "excess"]),
    ("workers_compensation", &["workerscomp", "workcomp"]),
    ("general_liability", &["general", "truckersliab"]),
    ("auto_liability", &["auto", "primary", "truckliab", "truckingliab", "responsabilidad"]),
];

/// Small letters without accents.
fn plain(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(without_accent).collect()
}

/// The letters of Western Europe without their accents.
fn without_accent(letter: char) -> char {
    match letter {
        'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'ö' | 'õ' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ñ' => 'n',
        'ç' => 'c',
        other => other,
    }
}

fn letters(text: &str) -> String {
    plain(text).chars().filter(char::is_ascii_alphanumeric).collect()
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn words(text: &str) -> Vec<String> {
    let text = plain(text).replace('&', " ").replace("'s", "s");
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !NOISE.contains(word))
        .map(str::to_owned)
        .collect()
}

/// A value as text: a text as it is, a number as it is written.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The value in the form in which it is compared; empty when there is none.
pub(super) fn normal(field: &str, value: &Value) -> String {
    let text = text_of(value);
    if NUMBERS.contains(&field) {
        let number = text.replace([',', '$', ' '], "").parse::<f64>();
        return number.map_or(text, |number| format!("{number:.2}"));
    }
    if COMPANIES.contains(&field) {
        return words(&text).join(" ");
    }
    match field {
        "coverage_type" => {
            let name = letters(&text);
            let known = COVERAGES
                .iter()
                .find(|(key, parts)| name == letters(key) || parts.iter().any(|part| name.contains(part)));
            known.map_or(name, |(key, _)| (*key).to_owned())
        }
        "contact_phone" => {
            let digits = digits(text.split(['x', 'X', 'e', 'E']).next().unwrap_or_default());
            digits[digits.len().saturating_sub(10)..].to_owned()
        }
        "dot_number" | "mc_number" | "naic_number" => digits(&text).trim_start_matches('0').to_owned(),
        "driver_name" | "contact_name" => {
            let mut words = words(&text);
            words.sort();
            words.join(" ")
        }
        "license_number" => {
            let number = letters(&text).to_uppercase();
            // A state before it is part of some spellings.
            let state = number.len() >= 8 && number.chars().take(2).all(|c| c.is_ascii_uppercase());
            let rest = number.get(2..).unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_uppercase());
            if state && rest.starts_with(|c: char| c.is_ascii_digit()) { number[2..].to_owned() } else { number }
        }
        "contact_email" | "request_token" => plain(text.trim()),
        _ if field.ends_with("_date") || field == "license_expiry" => text.trim().to_owned(),
        _ => letters(&text),
    }
}

/// Whether what was read is what stands there: a company may lack the end of its name, an address its end or beginning.
pub(super) fn same(field: &str, read: &str, wanted: &str) -> bool {
    if read == wanted {
        return true;
    }
    match field {
        "insured_name" | "carrier" | "shipper" | "consignee" | "broker" | "certificate_holder" => {
            let begins = !read.is_empty() && wanted.starts_with(&format!("{read} "));
            begins && (read.contains(' ') || read.len() >= if field == "carrier" { 6 } else { 8 })
        }
        "address" => read.len() >= 10 && wanted.contains(read),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_spellings_are_the_same() {
        for (field, left, right) in [
            ("insured_name", json!("JUNO AND WICKER TRANSPORT INC"), json!("Juno & Wicker Transport, Inc.")),
            ("carrier", json!("Harrow and Mead Insurance"), json!("Harrow & Mead Insurance Ltd.")),
            ("limit", json!("1,000,000"), json!(1_000_000)),
            ("contact_phone", json!("1-918-555-0100 x7"), json!("(918) 555.0100")),
            ("license_number", json!("SD 01447822"), json!("01447822")),
            ("driver_name", json!("ROSSLYN, Kezia"), json!("Kezia Rosslyn")),
            ("policy_number", json!("KGA5520-118-03"), json!("KGA 5520-118-03")),
            ("mc_number", json!("MC-3510044"), json!("3510044")),
            ("coverage_type", json!("Auto Liability"), json!("auto_liability")),
            ("coverage_type", json!("Motor Truck Cargo"), json!("motor_truck_cargo")),
        ] {
            assert_eq!(normal(field, &left), normal(field, &right), "{field}");
        }
    }

    #[test]
    fn a_name_may_lack_its_end_and_nothing_else() {
        assert!(same("insured_name", "larkspur valley", "larkspur valley bulk haulers"));
        assert!(!same("insured_name", "larkspur", "larkspurs valley"));
        assert!(!same("insured_name", "bulk haulers", "larkspur valley bulk haulers"));
        assert!(!same("policy_number", "abc", "abc1"));
    }
}
