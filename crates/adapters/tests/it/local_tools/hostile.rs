//! Inputs that are made to hang or to break a tool. Each call ends by itself: what bounds it is counted work, so a
//! call that would not end makes this test time out, and one that panics fails it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::call;

fn all(tool: &str, calls: Vec<Value>) {
    for args in calls {
        match call(tool, &args) {
            Ok(data) => assert!(json!(data).to_string().len() < 32 * 1024 * 1024),
            Err(message) => assert!(message.len() < 2_000, "{}", message.len()),
        }
    }
}

#[test]
fn hostile_expressions_end() {
    let big = "(3/7)^3500";
    let expressions = [
        "10^10^10".to_owned(),
        "9999999!".to_owned(),
        "2^1e9".to_owned(),
        "2^-1e9".to_owned(),
        "1.0000001^1e15".to_owned(),
        "(1/3)^-1e15".to_owned(),
        "9^9^9^9^9^9^9^9^9".to_owned(),
        "((((3!)!)!)!)!".to_owned(),
        "ncr(1e15, 5e14)".to_owned(),
        "npr(1e18, 1e17)".to_owned(),
        "gcd(1e2000, 3^4000)".to_owned(),
        "lcm(1e2000, 3^4000)".to_owned(),
        "root(1e2000, 999)".to_owned(),
        "(2^9000)^(1/61)".to_owned(),
        // They agree in more than a thousand steps of their continued fractions.
        "max(2^5000/3^3100, 2^5000/3^3100 + 1/7^1700)".to_owned(),
        "median(2^5000/3^3100, 2^5000/3^3100 + 1/7^1700, 1)".to_owned(),
        "log((2^2500/3^1500 + 1/7^1700)^1, 2^2500/3^1500)".to_owned(),
        "sin(pi * (2^5000/3^3100 + 1/7^1700))".to_owned(),
        "asin(3^3100/2^5000)".to_owned(),
        "log(3^6000, 1.0000001)".to_owned(),
        "round(3^6000, 100)".to_owned(),
        "sin(1e300)".to_owned(),
        "1e1999 * 1e1999".to_owned(),
        "(".repeat(1_000),
        ")".repeat(1_000),
        "-".repeat(1_000),
        "!".repeat(1_000),
        format!("3{}", "!".repeat(999)),
        format!("1{}", "%".repeat(999)),
        format!("{}1", "sqrt(".repeat(190)),
        format!("2{}", "^2".repeat(499)),
        format!("{big}{}", format!("*{big}").repeat(90)),
        format!("{big}{}", format!("+{big}/7").repeat(70)),
        format!("sum({big}{})", format!(",1/{big}").repeat(70)),
        format!("median(1{})", ",2".repeat(490)),
        "9".repeat(1_000),
        format!("0.{}", "9".repeat(990)),
        format!("1/{}", "9".repeat(990)),
        "x".repeat(1_000_000),
        "\u{0}\u{1}\u{fffd}".to_owned(),
        "١٢٣ + ٤".to_owned(),
        "１＋２".to_owned(),
        format!("1 {} to m", "km*".repeat(300)),
        format!("1 {} to m", "kilo".repeat(200)),
        "1 m^9 m^9 m^9 m^9 to km^9 m^9 m^9 m^9".to_owned(),
        "3 to to to to".to_owned(),
        "1 roll to d".to_owned(),
        "1 today to m".to_owned(),
        "1 sin to cos".to_owned(),
        "1 m to m to m".to_owned(),
    ];
    all("calculator", expressions.into_iter().map(|expression| json!({"expression": expression})).collect());
}

#[test]
fn hostile_dates_end() {
    let texts = [
        "9".repeat(1_000),
        "-".repeat(100),
        "1/".repeat(50),
        "nov ".repeat(25),
        "22 Nov 2026 ".repeat(8),
        "22nd of of of 2026".to_owned(),
        "2026-11-22T10:00:00+23:59".to_owned(),
        "-009999-01-01T00:00:00Z".to_owned(),
        "9999-12-31T23:59:59.999999999Z".to_owned(),
        "9999-12-31T23:59:59-18:00".to_owned(),
        "-9223372036854775808".to_owned(),
        "٢٠٢٦-١١-٢٢".to_owned(),
        "é1 Nov 2026".to_owned(),
        "1é Nov 2026 5é:30".to_owned(),
    ];
    let calls = texts.iter().flat_map(|text| {
        [
            json!({"operation": "parse", "date": text, "timezone": "Asia/Tokyo"}),
            json!({"operation": "parse", "date": "2026-11-22", "timezone": text}),
            json!({"operation": "parse", "date": text, "inputFormat": text}),
            json!({"operation": "format", "format": text}),
            json!({"operation": "diff", "date1": text, "date2": "0001-01-01", "unit": "month"}),
            json!({"operation": "add", "date": text, "amount": -1e14, "unit": "day"}),
            json!({"operation": "add", "date": text, "amount": 1e15, "unit": "millisecond"}),
        ]
    });
    all("datetime", calls.collect());
}

#[test]
fn hostile_json_ends() {
    let texts = [
        "[".repeat(1024 * 1024),
        "{\"a\":".repeat(200_000),
        "[1,".repeat(340_000),
        "[\"".repeat(500_000),
        "[1,[1],".repeat(140_000),
        "{}".repeat(500_000),
        "[{\"a\":[".repeat(100_000),
        "```".repeat(340_000),
        "```json\n[".repeat(100_000),
        format!("[{}", "1,".repeat(500_000)),
        format!("{{\"a\": \"{}", "\\\"".repeat(500_000)),
        format!("[{}1]", "1e308,".repeat(170_000)),
        format!("{{{}\"a\": 1}}", "\"a\": 12345678901234567890123,".repeat(30_000)),
        "\u{0}{\u{0}".to_owned(),
    ];
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "^(a|a)*$"}}});
    let calls = texts.iter().flat_map(|text| [json!({"text": text}), json!({"text": text, "schema": &schema})]);
    all("json_parser", calls.collect());
    all("json_parser", vec![json!({"text": format!("{{\"a\": \"{}!\"}}", "a".repeat(500_000)), "schema": schema})]);
}

#[test]
fn hostile_texts_end() {
    let long = 256 * 1024;
    let texts = [
        "a".repeat(long),
        "@".repeat(long),
        "a@".repeat(long / 2),
        "1".repeat(long),
        "(5".repeat(long / 2),
        "$1,111".repeat(long / 6),
        "<div>".repeat(long / 5),
        "<".repeat(long),
        "&".repeat(long),
        "%".repeat(long),
        "https://".repeat(long / 8),
        "1/1/".repeat(long / 4),
        "\u{301}".repeat(long / 2),
        "\u{200d}".repeat(long / 3),
        "\n".repeat(long),
        ". ".repeat(long / 2),
        "ŉ".repeat(long / 2),
    ];
    for operation in [
        "word_count",
        "uppercase",
        "title_case",
        "sentence_case",
        "camel_case",
        "slugify",
        "normalize_whitespace",
        "reverse",
        "split_lines",
        "sort_lines",
        "unique_lines",
        "extract_entities",
        "keywords",
        "sentiment",
        "base64_encode",
        "base64_decode",
        "url_encode",
        "url_decode",
        "strip_html",
    ] {
        all("text_transform", texts.iter().map(|text| json!({"operation": operation, "text": text})).collect());
    }
    let patterns = ["(a*)*$", "(a|aa)+$", "a*a*a*a*a*b", ".*.*.*=.*", "(.{1,30}){1,30}x", "\\b", "", "((((a))))"];
    let calls = patterns.iter().map(|find| {
        let options = json!({"find": find, "with": "$0$0", "regex": true});
        json!({"operation": "replace", "text": "a".repeat(100_000), "options": options})
    });
    all("text_transform", calls.collect());
}

proptest! {
    #[test]
    fn any_names_are_units_or_refused(
        names in prop::collection::vec(prop::sample::select(NAMES), 1..5),
        signs in prop::collection::vec(prop::sample::select(SIGNS), 5),
        target in prop::sample::select(NAMES),
    ) {
        let unit: String = names.iter().zip(&signs).map(|(name, sign)| format!("{name}{sign}")).collect();
        all("calculator", vec![
            json!({"expression": format!("3 {unit} to {target}")}),
            json!({"expression": format!("3 {target} to {unit}")}),
        ]);
    }
}

/// Units, and names that mean something else to the table of units.
const NAMES: &[&str] = &[
    "km",
    "m",
    "kg",
    "s",
    "h",
    "in",
    "C",
    "F",
    "K",
    "deg",
    "USD",
    "d",
    "roll",
    "mean",
    "sin",
    "today",
    "tomorrow",
    "i",
    "e",
    "pi",
    "half",
    "quarter",
    "percent",
    "version",
    "answer",
    "dozen",
    "million",
    "not",
    "true",
    "of",
    "mod",
    "per",
    "square",
    "cubic",
    "light",
    "year",
    "fluid",
    "ounce",
    "date",
    "hex",
    "binary",
    "fraction",
    "exact",
    "to",
    "as",
    "approx",
    "sf",
    "dp",
    "plus",
    "minus",
    "permille",
    "unitless",
    "kilo",
    "yobi",
    "rad",
    "bool",
    "string",
    "let",
    "fn",
    "quetta",
    "planck",
    "c",
    "lightspeed",
    "gravity",
    "avogadro",
];
const SIGNS: &[&str] = &["", " ", "/", " * ", "^2 ", "^-9 ", "2 ", " per ", " + 1 ", " - 2 "];
