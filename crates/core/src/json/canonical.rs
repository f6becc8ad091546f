//! The canonical form of JSON, which hashes and signatures cover: that of RFC 8785, but with every digit of an integer.
//! A double holds only so many, and two requests that differ in the last of an account's number are not one.

use serde_json::{Map, Number, Value};

/// The form of a value: without spaces, members in the order of their names' UTF-16 units, integers with all of their
/// digits, other numbers as JavaScript writes them.
#[must_use]
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut form = Vec::new();
    write(value, &mut form);
    form
}

/// The same of an object's members.
#[must_use]
pub fn canonical_members(members: &Map<String, Value>) -> Vec<u8> {
    let mut form = Vec::new();
    write_members(members, &mut form);
    form
}

/// A number as it stands in the form.
pub(crate) fn canonical_number(number: &Number) -> String {
    // Without the feature that keeps the text of numbers, each is an integer or a finite double.
    match number.as_f64() {
        Some(double) if number.is_f64() => ryu_js::Buffer::new().format_finite(double).to_owned(),
        Some(_) | None => number.to_string(),
    }
}

fn write(value: &Value, form: &mut Vec<u8>) {
    match value {
        Value::Null => form.extend(b"null"),
        Value::Bool(true) => form.extend(b"true"),
        Value::Bool(false) => form.extend(b"false"),
        Value::Number(number) => form.extend(canonical_number(number).as_bytes()),
        Value::String(text) => write_text(text, form),
        Value::Array(items) => {
            form.push(b'[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    form.push(b',');
                }
                write(item, form);
            }
            form.push(b']');
        }
        Value::Object(members) => write_members(members, form),
    }
}

fn write_members(members: &Map<String, Value>, form: &mut Vec<u8>) {
    let mut ordered: Vec<(&String, &Value)> = members.iter().collect();
    ordered.sort_unstable_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    form.push(b'{');
    for (n, (name, value)) in ordered.into_iter().enumerate() {
        if n > 0 {
            form.push(b',');
        }
        write_text(name, form);
        form.push(b':');
        write(value, form);
    }
    form.push(b'}');
}

/// RFC 8785 escapes what serde_json does, and the same way. Writing into memory cannot fail.
fn write_text(text: &str, form: &mut Vec<u8>) {
    serde_json::to_writer(form, text).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn text(value: &Value) -> String {
        String::from_utf8(canonical(value)).unwrap()
    }

    #[test]
    fn the_example_of_the_rfc_has_its_form() {
        let value: Value = serde_json::from_str(
            r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#,
        )
        .unwrap();
        let form = concat!(
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
            r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        );
        assert_eq!(text(&value), form);
    }

    #[test]
    fn members_are_ordered_by_utf16_units() {
        // As UTF-8, the face stands behind the Hebrew letter that is written as a ligature.
        let value = json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        let form = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}";
        assert_eq!(text(&value), form);
    }

    #[test]
    fn numbers_are_written_as_javascript_does() {
        let forms = [
            (json!(0), "0"),
            (json!(-0.0), "0"),
            (json!(1.0), "1"),
            (json!(-7), "-7"),
            (json!(9_007_199_254_740_992.0), "9007199254740992"),
            (json!(1e21), "1e+21"),
            (json!(0.000_001), "0.000001"),
            (json!(1e-7), "1e-7"),
            (json!(5e-324), "5e-324"),
        ];
        for (value, form) in forms {
            assert_eq!(text(&value), form);
        }
    }

    #[test]
    fn integers_keep_all_of_their_digits() {
        for number in
            [json!(9_007_199_254_740_993_u64), json!(u64::MAX), json!(i64::MIN), json!(-9_007_199_254_740_993_i64)]
        {
            assert_eq!(text(&number), number.to_string());
        }
    }

    /// Beyond it the form is ours.
    const EXACT: i64 = 1 << 53;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-EXACT..=EXACT).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_has_the_form_that_another_program_gives_it(value in values()) {
            prop_assert_eq!(text(&value), serde_json_canonicalizer::to_string(&value).unwrap());
        }
    }
}
