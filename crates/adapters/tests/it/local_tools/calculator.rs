//! Expected values were worked out by hand or with another calculator, never taken from the tool.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{call, check_refusals, check_table};

fn result(expression: &str) -> Result<Value, String> {
    call("calculator", &json!({"expression": expression})).map(|data| data["result"].clone())
}

/// Every expression has that result, exactly or not.
fn results(exact: bool, cases: &[(&str, Value)]) {
    let of =
        |pointer: &'static str, expected: fn(&(&str, Value), bool) -> Value| -> Vec<(Value, &'static str, Value)> {
            cases.iter().map(|case| (json!({"expression": case.0}), pointer, expected(case, exact))).collect()
        };
    check_table("calculator", &of("/result", |case, _| case.1.clone()));
    check_table("calculator", &of("/exact", |_, exact| json!(exact)));
    check_table(
        "calculator",
        &of("/resultType", |case, _| json!(if case.1.is_string() { "string" } else { "number" })),
    );
}

/// Results that machine numbers round: equal but for the last digits.
fn close(cases: &[(&str, f64)]) {
    for (expression, expected) in cases {
        let data = call("calculator", &json!({"expression": expression})).unwrap();
        let found = data["result"].as_f64().unwrap();
        assert!((found - expected).abs() <= expected.abs() * 1e-14, "{expression}: {found}, not {expected}");
        assert_eq!(data["exact"], json!(false), "{expression}");
    }
}

#[test]
fn arithmetic_follows_the_usual_order() {
    results(
        true,
        &[
            ("1 + 1", json!(2)),
            ("2 + 3 * 4", json!(14)),
            ("(2 + 3) * 4", json!(20)),
            ("10 - 4 - 3", json!(3)),
            ("100 / 10 / 2", json!(5)),
            ("2 * 3 % 4", json!(2)),
            ("-3 + 5", json!(2)),
            ("--3", json!(3)),
            ("+7", json!(7)),
            ("2 - -3", json!(5)),
            ("2 * -3", json!(-6)),
            ("6 / -2", json!(-3)),
            ("-2^2", json!(-4)),
            ("(-2)^2", json!(4)),
            ("2^3^2", json!(512)),
            ("2**10", json!(1024)),
            ("2^-2", json!(0.25)),
            ("2^-3 * 16", json!(2)),
            ("0^0", json!(1)),
            ("0^5", json!(0)),
            ("(-1)^1000000000001", json!(-1)),
            ("1^99999999999999999999", json!(1)),
            ("3 × 4 ÷ 6", json!(2)),
            ("5 − 8", json!(-3)),
            ("((((1))))", json!(1)),
            (" \t 1\n+ 2 ", json!(3)),
            ("sqrt(16) + 2^3", json!(12)),
        ],
    );
}

#[test]
fn decimals_and_fractions_are_exact() {
    results(
        true,
        &[
            ("0.1 + 0.2", json!(0.3)),
            ("1.1 * 3", json!(3.3)),
            ("0.1 * 3 - 0.3", json!(0)),
            ("1 / 3 * 3", json!(1)),
            ("1/3 + 1/6", json!(0.5)),
            ("19.99 * 3", json!(59.97)),
            (".5 + .25", json!(0.75)),
            ("5. * 2", json!(10)),
            ("1e3", json!(1000)),
            ("1.5E-3", json!(0.0015)),
            ("2e+2", json!(200)),
            ("7 / 8", json!(0.875)),
            ("-7 / 8", json!(-0.875)),
            ("1 - 0.9", json!(0.1)),
            ("0.1^41", json!(1e-41)),
            ("3 * 1e-400", json!("3e-400")),
            ("4.35 * 100", json!(435)),
            ("1.005 * 1000", json!(1005)),
            ("123456789 * 987654321", json!(121_932_631_112_635_269_i64)),
            ("2^62", json!(4_611_686_018_427_387_904_i64)),
            ("-2^63", json!(i64::MIN)),
            ("1.05^10", json!("1.62889462677744140625")),
            ("2^64", json!("18446744073709551616")),
            ("2^100", json!("1267650600228229401496703205376")),
            ("1234567890123456.78 * 1", json!("1234567890123456.78")),
            ("12345678901234567.89 * 1", json!("12345678901234567.89")),
            ("9007199254740993 / 2", json!("4503599627370496.5")),
        ],
    );
}

#[test]
fn what_never_ends_is_rounded_and_says_so() {
    results(
        false,
        &[
            ("1 / 3", json!(0.333_333_333_333_333_3)),
            ("2 / 3", json!(0.666_666_666_666_666_6)),
            ("-10 / 7", json!(-1.428_571_428_571_428_6)),
        ],
    );
    let third = call("calculator", &json!({"expression": "1 / 3"})).unwrap();
    assert_eq!(third["fraction"], json!("1/3"));
    assert_eq!(third["expression"], json!("1 / 3"));
    assert_eq!(call("calculator", &json!({"expression": "1 / 4"})).unwrap().get("fraction"), None);
    // No machine number is so large or so small.
    assert_eq!(result("10^400 / 3").unwrap(), json!("3.3333333333333333e399"));
    assert_eq!(result("1 / 3 / 10^400").unwrap(), json!("3.3333333333333333e-401"));
    assert_eq!(result("1.05^360").unwrap(), json!(42_476_396.408_680_02));
}

#[test]
fn remainders_have_the_sign_of_the_divisor() {
    results(
        true,
        &[
            ("10 % 3", json!(1)),
            ("10 mod 3", json!(1)),
            ("10 MOD 3", json!(1)),
            ("-7 mod 3", json!(2)),
            ("7 mod -3", json!(-2)),
            ("-7 mod -3", json!(-1)),
            ("mod(17, 5)", json!(2)),
            ("5.5 mod 2", json!(1.5)),
            ("-0.5 mod 2", json!(1.5)),
            ("10 % (4 - 1)", json!(1)),
            ("2 * 7 mod 4", json!(2)),
            ("10 % mod(7, 4)", json!(1)),
            ("10 % mod((7), max(4, 1)) + 1", json!(2)),
            ("10 % mod (3)", json!(0.1)),
            ("10 % mod (3 + max(1, 2))", json!(0.1)),
        ],
    );
    for expression in ["-7 mod 3", "mod(-7, 3)", "mod(7, -3)"] {
        let notes = call("calculator", &json!({"expression": expression})).unwrap();
        assert!(notes["notes"][0].as_str().unwrap().contains("sign of the divisor"), "{expression}");
    }
    assert_eq!(call("calculator", &json!({"expression": "mod(7, 3)"})).unwrap().get("notes"), None);
}

#[test]
fn percentages_are_parts() {
    results(
        true,
        &[
            ("15% of 80", json!(12)),
            ("50%", json!(0.5)),
            ("200 + 10%", json!(220)),
            ("200 - 10%", json!(180)),
            ("200 + 10% - 5%", json!(209)),
            ("200 * 10%", json!(20)),
            ("10% + 5%", json!(0.15)),
            ("200 + (10%)", json!(200.1)),
            ("12.5% of 64", json!(8)),
            ("200 + 10% of 50", json!(205)),
            ("-50% of 8", json!(-4)),
            ("80 / 20%", json!(400)),
            ("99.99 - 25%", json!(74.9925)),
        ],
    );
}

#[test]
fn functions_that_come_out_even_are_exact() {
    results(
        true,
        &[
            ("sqrt(2.25)", json!(1.5)),
            ("sqrt(1/9) * 3", json!(1)),
            ("cbrt(27)", json!(3)),
            ("cbrt(-8)", json!(-2)),
            ("root(32, 5)", json!(2)),
            ("4^0.5", json!(2)),
            ("8^(2/3)", json!(4)),
            ("16^-0.25", json!(0.5)),
            ("abs(-3.5)", json!(3.5)),
            ("sign(-2) + sign(0) + sign(9)", json!(0)),
            ("floor(-2.5)", json!(-3)),
            ("ceil(-2.5)", json!(-2)),
            ("trunc(-2.5)", json!(-2)),
            ("floor(7)", json!(7)),
            ("round(2.5)", json!(3)),
            ("round(-2.5)", json!(-3)),
            ("round(1.005, 2)", json!(1.01)),
            ("round(1234.5678, 2)", json!(1234.57)),
            ("round(1250, -2)", json!(1300)),
            ("round(2/3, 4)", json!(0.6667)),
            ("min(3, 1, 2)", json!(1)),
            ("max(3,1,2)", json!(3)),
            ("max(1/3, 0.3333)*3", json!(1)),
            ("sum(1, 2, 3.5)", json!(6.5)),
            ("mean(1,2,3)", json!(2)),
            ("avg(1, 2)", json!(1.5)),
            ("average(4)", json!(4)),
            ("median(5, 1, 3)", json!(3)),
            ("median(4, 1, 3, 2)", json!(2.5)),
            ("round(mean(1, 2, 4), 2)", json!(2.33)),
            ("5!", json!(120)),
            ("0!", json!(1)),
            ("-3!", json!(-6)),
            ("3!^2", json!(36)),
            ("factorial(20)", json!(2_432_902_008_176_640_000_i64)),
            ("21!", json!("51090942171709440000")),
            ("ncr(5, 2)", json!(10)),
            ("nCr(52, 5)", json!(2_598_960)),
            ("npr(5, 2)", json!(20)),
            ("ncr(2, 5)", json!(0)),
            ("ncr(1000000, 999999)", json!(1_000_000)),
            ("gcd(12, 18)", json!(6)),
            ("lcm(4, 6, 10)", json!(60)),
            ("pow(2, 8)", json!(256)),
            ("log10(1000)", json!(3)),
            ("log(0.01)", json!(-2)),
            ("log2(1024)", json!(10)),
            ("log(81, 3)", json!(4)),
            ("log10(10^400)", json!(400)),
            ("ln(1)", json!(0)),
            ("exp(0)", json!(1)),
            ("SQRT(9)", json!(3)),
        ],
    );
}

#[test]
fn angles_are_radians_and_known_ones_are_exact() {
    results(
        true,
        &[
            ("sin(0)", json!(0)),
            ("sin(pi)", json!(0)),
            ("sin(pi / 6)", json!(0.5)),
            ("sin(30 deg)", json!(0.5)),
            ("sin(30°)", json!(0.5)),
            ("cos(60 deg)", json!(0.5)),
            ("cos(pi)", json!(-1)),
            ("cos(2 * pi)", json!(1)),
            ("sin(-90 deg)", json!(-1)),
            ("sin(750 deg)", json!(0.5)),
            ("tan(45 deg)", json!(1)),
            ("tan(135 deg)", json!(-1)),
            ("tan(π)", json!(0)),
            ("degrees(pi)", json!(180)),
            ("degrees(asin(1))", json!(90)),
            ("degrees(acos(1/2))", json!(60)),
            ("degrees(atan(-1))", json!(-45)),
            ("degrees(atan2(1, 0))", json!(90)),
            ("degrees(radians(12.5))", json!(12.5)),
            ("tau / pi", json!(2)),
            ("pi - pi", json!(0)),
        ],
    );
}

#[test]
fn what_has_no_exact_value_is_the_nearest_machine_number() {
    close(&[
        ("sqrt(2)", std::f64::consts::SQRT_2),
        ("pi", std::f64::consts::PI),
        ("e", std::f64::consts::E),
        ("2 * pi * 3", 18.849_555_921_538_76),
        ("ln(10)", std::f64::consts::LN_10),
        ("log(2)", std::f64::consts::LOG10_2),
        ("exp(1)", std::f64::consts::E),
        ("sin(1)", 0.841_470_984_807_896_5),
        ("cos(1)", 0.540_302_305_868_139_8),
        ("tan(1)", 1.557_407_724_654_902_3),
        ("acos(0.1)", 1.470_628_905_633_336_8),
        ("2^0.5", std::f64::consts::SQRT_2),
        ("(1 + 0.05/12)^360", 4.467_744_314_006_132),
        ("cbrt(2)", 1.259_921_049_894_873_2),
    ]);
    assert_eq!(result("round(pi * 100)").unwrap(), json!(314));
    assert_eq!(result("round(e, 3)").unwrap().to_string(), "2.718");
    let notes =
        |expression: &str| call("calculator", &json!({"expression": expression})).unwrap().get("notes").cloned();
    for angle in ["30", "1/3", "sqrt(2)", "e", "degrees(pi)"] {
        assert!(notes(&format!("sin({angle})")).unwrap()[0].as_str().unwrap().contains("radians"), "{angle}");
    }
    for unit in ["30 deg", "e°", "sqrt(2) deg", "sqrt(2) * pi", "radians(e)", "atan(e)", "pi / 4", "0"] {
        assert_eq!(notes(&format!("tan({unit})")), None, "{unit}");
    }
    assert_eq!(notes("ln(2)"), None);
    // So many digits are not kept: the base is rounded before it is multiplied.
    let long = result("1000 * 1.0001^100000").unwrap().as_f64().unwrap();
    assert!((long - 22_015_456.048_552_2).abs() < 1e-3, "{long}");
    assert_eq!(result("floor(e)").unwrap(), json!(2));
    assert!(
        call("calculator", &json!({"expression": "log(2)"})).unwrap()["notes"][0].as_str().unwrap().contains("base 10")
    );
}

#[test]
fn units_are_converted() {
    let cases = [
        ("1 mile to km", json!(1.609344)),
        ("5 ft 3 in to cm", json!(160.02)),
        ("5 ft + 3 in to cm", json!(160.02)),
        ("1 m - 20 cm to cm", json!(80)),
        ("-5 ft 3 in to cm", json!(-160.02)),
        ("-5 ft + 3 in to cm", json!(-144.78)),
        ("(-5) ft 3 in to cm", json!(-160.02)),
        ("-0 ft 3 in to cm", json!(-7.62)),
        ("-1 mi 0 ft 3 in to in", json!(-63_363)),
        ("10 ft - 5 ft 3 in to in", json!(57)),
        ("10 ft - 5 ft + 3 in to in", json!(63)),
        ("- 1 h 30 min to min", json!(-90)),
        ("(2 + 3) * 2 km to m", json!(10_000)),
        ("90 km/h to m/s", json!(25)),
        ("60 mph to m/s", json!(26.8224)),
        ("1 hour to minutes", json!(60)),
        ("1 acre to m^2", json!(4046.8564224)),
        ("1 N to kg m / s^2", json!(1)),
        ("1 h 30 min to min", json!(90)),
        ("-5 km to m", json!(-5000)),
        ("max(1, 2) km to m", json!(2000)),
        ("1 Kilometer to METERS", json!(1000)),
        ("90 min to h", json!(1.5)),
        ("1 week to hours", json!(168)),
        ("1 kg to g", json!(1000)),
        ("1 lb to kg", json!(0.45359237)),
        ("1 gallon to l", json!(3.785411784)),
        ("1 GB to MB", json!(1000)),
        ("1 GiB to MiB", json!(1024)),
        ("8 Mbps to MB/s", json!(1)),
        ("1 m^3 to l", json!(1000)),
        ("1 m3 to l", json!(1000)),
        ("2 square feet to square inches", json!(288)),
        ("1 hectare to m^2", json!(10_000)),
        ("1 nautical mile to m", json!(1852)),
        ("100 C to F", json!(212)),
        ("-40 celsius to fahrenheit", json!(-40)),
        ("98.6 F to C", json!(37)),
        ("0 °C to K", json!(273.15)),
        ("20°C to F", json!(68)),
        ("20 ° C to °F", json!(68)),
        ("50 °F to K", json!(283.15)),
        ("-40 °F to °C", json!(-40)),
        ("(10 + 10)°C to °F", json!(68)),
        ("20 deg C to deg F", json!(68)),
        ("90° to arcmin", json!(5400)),
        ("5400 arcmin to °", json!(90)),
        ("90° 30 arcmin to arcmin", json!(5430)),
        ("180 degrees to arcmin", json!(10_800)),
        ("12 in in cm", json!(30.48)),
        ("km to m", json!(1000)),
        ("1 kWh to J", json!(3_600_000)),
        ("1 metric ton to kg", json!(1000)),
        ("1 kilometer per hour to meters per hour", json!(1000)),
    ];
    let cases: Vec<(Value, &str, Value)> =
        cases.into_iter().map(|(expression, value)| (json!({"expression": expression}), "/result", value)).collect();
    check_table("calculator", &cases);
    let miles = call("calculator", &json!({"expression": "5 km to miles"})).unwrap();
    assert!((miles["result"].as_f64().unwrap() - 3.106_855_961_186_67).abs() < 1e-12);
    assert_eq!((&miles["unit"], &miles["fraction"]), (&json!("miles"), &json!("78125/25146")));
    let radians = call("calculator", &json!({"expression": "180 deg to rad"})).unwrap();
    assert!((radians["result"].as_f64().unwrap() - std::f64::consts::PI).abs() < 1e-14);
    assert_eq!(radians["exact"], json!(false));
}

#[test]
fn what_is_no_expression_is_refused_with_its_place() {
    let cases = [
        ("", "is empty"),
        ("   ", "is empty"),
        ("1 / 0", "division by zero"),
        ("5 % 0", "division by zero"),
        ("5 mod (3 - 3)", "division by zero"),
        ("0^-1", "division by zero"),
        ("1 / (0.1 + 0.2 - 0.3)", "division by zero"),
        ("import", "nothing called \"import\" (character 1)"),
        ("parse(1)", "nothing called \"parse\""),
        ("2 + foo", "character 5"),
        ("ones(20000,20000)", "nothing called \"ones\""),
        ("x = 3", "character 3: there is no assignment"),
        ("x=3", "no assignment"),
        ("f(x) = x", "no assignment"),
        ("\\x.x", "no functions to define"),
        ("2 > 1", "no comparison"),
        ("1; 2", "one expression in a call"),
        ("[1, 2]", "there are no lists"),
        ("'a'", "there are no texts"),
        ("$5 + 3", "leave the currency out"),
        ("1,234 + 1", "write 1000, not 1,000"),
        ("1,000 + 1", "begins with a 0: write numbers without commas inside, 1000 and not 1,000"),
        ("sum(1,000)", "begins with a 0"),
        ("mean 1, 2", "in parentheses"),
        ("2(3)", "write an operator"),
        ("2 pi", "write an operator"),
        ("(1)(2)", "write an operator"),
        ("1 2", "write an operator"),
        ("1 +", "ends where a number is expected"),
        ("* 2", "stands where a number is expected"),
        ("(1 + 2", "parenthesis at character 1 is not closed"),
        ("1 + 2)", "parenthesis at character 6 closes nothing"),
        ("()", "stands where a number is expected"),
        ("1.2.3", "two points"),
        ("007", "begins with a 0"),
        ("0x1F", "nothing called"),
        ("sqrt(-1)", "not a real number"),
        ("(-8)^(1/3)", "use cbrt"),
        ("ln(0)", "above 0"),
        ("log(-1)", "above 0"),
        ("log(8, 1)", "not 1"),
        ("asin(2)", "between -1 and 1"),
        ("tan(90 deg)", "no value there"),
        ("atan2(0, 0)", "no value at 0, 0"),
        ("sin(10^20)", "angle is too large"),
        ("2.5!", "whole numbers of 0 or more"),
        ("(-1)!", "whole numbers of 0 or more"),
        ("3!!", "no double factorial"),
        ("sqrt()", "takes 1 numbers, not 0"),
        ("sqrt(1, 2)", "takes 1 numbers, not 2"),
        ("round(1, 2, 3)", "takes 1 or 2 numbers"),
        ("max()", "takes 1 or more"),
        ("round(1, 0.5)", "whole number of digits"),
        ("gcd(1.5, 2)", "whole numbers"),
        ("deg(30)", "stands behind a number"),
        ("3 of 4", "percentage"),
        ("10^10^10", "too large"),
        ("2^1e9", "too large"),
        ("9999999!", "too large"),
        ("10^-10^10", "too large"),
        ("1e2001", "too large"),
        ("exp(1000)", "what has no exact value goes up to about 1.8e308"),
        ("1.5^99999", "up to about 1.8e308"),
        ("10^400 + e", "up to about 1.8e308"),
        ("20 °C to m", "cannot be converted"),
        ("exp(-1000)", "too small"),
        ("5 km", "only in a conversion"),
        ("5 km to kg", "cannot be converted"),
        ("5 flurbs to m", "no unit called"),
        ("5 USD to EUR", "no exchange rates"),
        ("5 FT to m", "no unit called \"FT\""),
        ("3 i^-9 to m", "no unit called \"i\""),
        ("1 today to day", "no unit called"),
        ("5 tons to kg", "three things"),
        ("5 km to", "only in a conversion"),
        ("5 km / 2 to m", "needs a unit behind it"),
        ("-300 C to F", "absolute zero"),
        ("5 to km", "a unit is missing"),
        ("3 km to m / 2", "needs a unit behind it"),
        ("import to export", "no unit called"),
        ("process.exit", "not part of an expression"),
    ];
    let cases: Vec<(Value, &str)> =
        cases.into_iter().map(|(expression, words)| (json!({"expression": expression}), words)).collect();
    check_refusals("calculator", &cases);
}

#[test]
fn limits_hold_on_both_sides() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(result(&nested(64)).unwrap(), json!(1));
    assert!(result(&nested(65)).unwrap_err().contains("deeper than 64"));
    assert_eq!(result(&format!("{}1", "-".repeat(64))).unwrap(), json!(1));
    assert!(result(&format!("{}1", "-".repeat(65))).unwrap_err().contains("deeper than 64"));
    let ones = |letters: usize| format!("{}1", "1+".repeat((letters - 1) / 2));
    assert_eq!(result(&ones(999)).unwrap(), json!(500));
    assert!(result(&ones(1_001)).unwrap_err().contains("more than 1000 characters"));
    assert_eq!(result("2^9999").unwrap().as_str().unwrap().len(), 3_010);
    assert!(result("2^10001").unwrap_err().contains("too large"));
    assert_eq!(result("1e2000").unwrap().as_str().unwrap().len(), 2_001);
}

proptest! {
    #[test]
    fn whole_numbers_add_and_multiply_as_rust_does(a in -1_000_000_i64..1_000_000, b in -1_000_000_i64..1_000_000) {
        prop_assert_eq!(result(&format!("{a} + {b}")), Ok(json!(a + b)));
        prop_assert_eq!(result(&format!("{a} - ({b})")), Ok(json!(a - b)));
        prop_assert_eq!(result(&format!("({a}) * ({b})")), Ok(json!(a * b)));
        if b != 0 {
            let rest = a.rem_euclid(b);
            let rest = if rest != 0 && b < 0 { rest + b } else { rest };
            prop_assert_eq!(result(&format!("({a}) mod ({b})")), Ok(json!(rest)));
            prop_assert_eq!(result(&format!("({a}) / ({b}) * ({b})")), Ok(json!(a)));
        }
    }

    #[test]
    fn a_decimal_comes_back_as_it_was_written(cents in -100_000_000_i64..100_000_000) {
        let text = format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100);
        let value: f64 = text.parse().unwrap();
        let found = result(&text).unwrap();
        prop_assert_eq!(found.as_f64(), Some(value));
    }

    #[test]
    fn any_text_is_answered_with_a_finite_number_or_refused(text in "[-0-9a-z+*/^%!(),. =]{0,80}") {
        if let Ok(value) = result(&text) {
            prop_assert!(value.is_number() || value.is_string());
        }
    }
}
