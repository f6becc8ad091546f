use proptest::prelude::*;
use serde_json::{Value, json};

use super::{call, check_refusals, check_table};

fn of(text: &str) -> Value {
    json!({"text": text})
}

fn with_schema(text: &str, schema: Value) -> Value {
    json!({"text": text, "schema": schema})
}

#[test]
fn a_text_that_is_json_is_taken_as_it_is() {
    let cases = [
        (r#"{"a": 1}"#, json!({"a": 1})),
        ("[1, 2, 3]", json!([1, 2, 3])),
        ("  \n{\"a\": {\"b\": [true, null]}}\n ", json!({"a": {"b": [true, null]}})),
        ("\u{feff}{}", json!({})),
        ("42", json!(42)),
        ("-1.5e3", json!(-1500.0)),
        (r#""text""#, json!("text")),
        ("null", Value::Null),
        (r#"{"a": "\u00e9\n\"}{"}"#, json!({"a": "é\n\"}{"})),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
    ];
    let cases: Vec<(Value, &str, Value)> = cases
        .into_iter()
        .flat_map(|(text, value)| {
            [
                (of(text), "/data", value),
                (of(text), "/method", json!("direct_parse")),
                (of(text), "/success", json!(true)),
                (of(text), "/problems", Value::Null),
            ]
        })
        .collect();
    check_table("json_parser", &cases);
}

#[test]
fn json_is_found_in_other_text() {
    let cases = [
        (r#"The answer is {"a": 1}."#, json!({"a": 1})),
        (r#"First {"a": 1}, then {"b": 2}"#, json!({"a": 1})),
        ("values: [1, 2] and more", json!([1, 2])),
        ("```json\n{\"a\": 1}\n```", json!({"a": 1})),
        ("Before {\"x\": 0}\n```json\n{\"a\": 1}\n```\nafter", json!({"a": 1})),
        ("```\n[1]\n```", json!([1])),
        ("```JSON\n// a note\n{\"a\": 1}\n```", json!({"a": 1})),
        ("```python\nprint({1: 2})\n```\n{\"a\": 1}", json!({"a": 1})),
        ("```rust\nlet a = [0u8];\n```\n```json\n[2]\n```", json!([2])),
        (r#"{not json} but {"a": 1}"#, json!({"a": 1})),
        (r#"{"broken": } but {"a": 1}"#, json!({"a": 1})),
        (r#"an { open brace, and {"a": 1}"#, json!({"a": 1})),
        (r#"a "quoted { text" and {"a": "}"}"#, json!({"a": "}"})),
        (r#"it's {"a": "it's"} here"#, json!({"a": "it's"})),
        (r#"{"a": "\\"} tail"#, json!({"a": "\\"})),
        (r#"{"a": "\""} tail }"#, json!({"a": "\""})),
        (r#"x {"a": [{"b": [1, {"c": 2}]}]} y"#, json!({"a": [{"b": [1, {"c": 2}]}]})),
        ("{} then {\"a\": 1}", json!({})),
        ("naïve 日本 {\"ключ\": \"値\"} ✓", json!({"ключ": "値"})),
        (r#"{'single': 1} {"double": 2}"#, json!({"double": 2})),
        ("{\"a\": 1,} {\"b\": 2}", json!({"b": 2})),
        ("[sic] [1]", json!([1])),
        ("data: {\"a\": 1}\ndata: [DONE]", json!({"a": 1})),
    ];
    let cases: Vec<(Value, &str, Value)> = cases
        .into_iter()
        .flat_map(|(text, value)| {
            [
                (of(text), "/data", value),
                (of(text), "/method", json!("extraction")),
                (of(text), "/success", json!(true)),
            ]
        })
        .collect();
    check_table("json_parser", &cases);
}

#[test]
fn what_holds_no_json_says_so() {
    let cases = [
        "no json here",
        "",
        "{",
        "{\"a\": 1",
        "[1, 2",
        "{]",
        "}{",
        "[1}",
        "{'a': 1}",
        "{a: 1}",
        "1e999",
        "tru",
        "\"open",
        "```json\n```",
    ];
    for text in cases {
        let data = call("json_parser", &of(text)).unwrap();
        assert_eq!(data["success"], json!(false), "{text}");
        assert!(data["error"].as_str().unwrap().contains("no complete JSON"), "{text}: {}", data["error"]);
        assert_eq!(data.get("data"), None, "{text}");
    }
    let data = call("json_parser", &of("[1, 2")).unwrap();
    assert!(data["error"].as_str().unwrap().contains("begins on line 1 is never closed"), "{}", data["error"]);
    let data = call("json_parser", &with_schema("Total: 5 pieces", json!({"type": "object"}))).unwrap();
    assert_eq!(data["success"], json!(false));
    assert!(data["error"].as_str().unwrap().contains("With repair: true a language model"), "{}", data["error"]);
}

#[test]
fn what_a_value_would_swallow_is_told() {
    let twice = call("json_parser", &of(r#"{"a": 1, "b": [{"c/d": 1, "c/d": 2}], "a": 3}"#)).unwrap();
    assert_eq!((&twice["success"], &twice["data"]["a"]), (&json!(true), &json!(3)));
    let paths: Vec<&str> = twice["problems"].as_array().unwrap().iter().map(|p| p["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/b/0/c~1d", "/a"]);
    for (text, loses) in [
        ("{\"id\": 12345678901234567890123}", true),
        ("{\"id\": 0.1234567890123456789}", true),
        ("{\"id\": 1e22}", false),
        ("{\"id\": 0.1}", false),
        ("{\"id\": 100000000000000000000}", false),
        ("{\"id\": \"12345678901234567890123\"}", false),
        ("{\"id\": 1.50000000000000000000}", false),
    ] {
        let data = call("json_parser", &of(text)).unwrap();
        let told = data.get("problems").is_some_and(|p| p[0]["message"].as_str().unwrap().contains("loses digits"));
        assert_eq!(told, loses, "{text}: {data:?}");
    }
    let cut = call("json_parser", &of("Here:\n[{\"a\": 1}, {\"a\": 2")).unwrap();
    assert_eq!(cut["data"], json!({"a": 1}));
    assert!(cut["problems"][0]["message"].as_str().unwrap().contains("begins on line 2 is never closed"));
}

#[test]
fn a_schema_is_checked_and_faults_have_their_place() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": "^[A-Z]"},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
            "email": {"type": "string", "format": "email"}
        },
        "required": ["name"],
        "additionalProperties": false,
        "$defs": {"line": {"type": "object", "properties": {"qty": {"type": "integer", "minimum": 1}}, "required": ["qty"]}}
    });
    let cases = [
        (r#"{"name": "Alpha"}"#, json!(null)),
        (r#"{"name": "Alpha", "lines": [{"qty": 2}]}"#, json!(null)),
        (r#"{"name": "alpha"}"#, json!("/name")),
        (r#"{}"#, json!("")),
        (r#"{"name": "Alpha", "other": 1}"#, json!("")),
        (r#"{"name": "Alpha", "lines": [{"qty": 2}, {"qty": 0}]}"#, json!("/lines/1/qty")),
        (r#"{"name": "Alpha", "lines": [{"qty": "2"}]}"#, json!("/lines/0/qty")),
        (r#"{"name": "Alpha", "lines": {}}"#, json!("/lines")),
        (r#"{"name": "Alpha", "email": "nobody"}"#, json!("/email")),
        (r#"[1]"#, json!("")),
    ];
    let cases: Vec<(Value, &str, Value)> = cases
        .into_iter()
        .flat_map(|(text, path)| {
            let args = with_schema(text, schema.clone());
            [(args.clone(), "/success", json!(path.is_null())), (args, "/problems/0/path", path)]
        })
        .collect();
    check_table("json_parser", &cases);
    // Of several values the first that fits is taken; when none fits, the first with its faults.
    let several = with_schema(r#"see [1] and {"name": "alpha"} or {"name": "Beta"}"#, schema.clone());
    check_table("json_parser", &[(several.clone(), "/data/name", json!("Beta")), (several, "/success", json!(true))]);
    let none = with_schema(r#"see {"name": 1} or {"name": 2}"#, schema);
    check_table("json_parser", &[(none.clone(), "/data/name", json!(1)), (none, "/problems/0/path", json!("/name"))]);
}

#[test]
fn schemas_have_limits() {
    let doubling: serde_json::Map<String, Value> = (0..18)
        .map(|n| {
            (
                format!("a{n}"),
                json!({"allOf": [{"$ref": format!("#/$defs/a{}", n + 1)}, {"$ref": format!("#/$defs/a{}", n + 1)}]}),
            )
        })
        .chain([("a18".to_owned(), json!(true))])
        .collect();
    let mut deep = json!(true);
    for _ in 0..100 {
        deep = json!({"not": deep});
    }
    let wide: Vec<String> = (0..20_000).map(|n| format!("value {n}")).collect();
    let many: Vec<u32> = (0..12_000).collect();
    let cases = [
        (with_schema("1", json!({"type": 5})), "no usable JSON Schema"),
        (with_schema("1", json!({"$ref": "https://example.com/schema.json"})), "references stay inside it"),
        (with_schema("1", json!({"$ref": "#/$defs/missing"})), "references stay inside it"),
        (with_schema("1", json!({"$defs": doubling, "$ref": "#/$defs/a0"})), "simplify it"),
        (with_schema("1", json!({"$dynamicRef": "#node"})), "$dynamicRef"),
        (with_schema("1", json!({"properties": {"a": {"$id": "https://example.com/a"}}})), "$id inside the schema"),
        (with_schema("1", json!({"$ref": "#"})), "too large for so large a value"),
        (with_schema("1", deep), "deeper than 64 levels"),
        (with_schema("1", json!({"enum": wide})), "more than 65536"),
        (with_schema("1", json!({"enum": many})), "more than 10000 parts"),
        (with_schema("1", json!({"pattern": "(?=a)b"})), "no usable JSON Schema"),
        (with_schema("1", json!({"pattern": "((a{1,100}){1,100}){1,100}"})), "no usable JSON Schema"),
        (of(&" ".repeat(1024 * 1024 + 1)), "more than 1048576"),
    ];
    check_refusals("json_parser", &cases);
    let parts: Vec<u32> = (0..9_000).collect();
    let large = with_schema(&format!("[{}0]", "0,".repeat(3_000)), json!({"items": {"enum": parts}}));
    assert!(call("json_parser", &large).unwrap_err().contains("too large for so large a value"));
}

#[test]
fn a_schema_may_refer_to_itself() {
    let list = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["n"]});
    let fits = |text: &str| call("json_parser", &with_schema(text, list.clone())).unwrap()["success"].clone();
    assert_eq!(fits(r#"{"n": 1, "next": {"n": 2}}"#), json!(true));
    assert_eq!(fits(r#"{"n": 1, "next": {"n": 2, "next": {}}}"#), json!(false));
}

#[test]
fn depth_has_a_limit_on_both_sides() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(call("json_parser", &of(&nested(63))).unwrap()["method"], json!("direct_parse"));
    for deep in [nested(64), nested(65), nested(127), format!("{{\"a\": {}}}", nested(200))] {
        let found = call("json_parser", &of(&deep)).unwrap();
        assert_eq!((&found["success"], found.get("data")), (&json!(false), None), "{deep}");
        let message = found["error"].as_str().unwrap();
        assert!(message.contains("more than 63 deep in one another"), "{message}");
        // What stands beside it is found, and is no part of it.
        let found = call("json_parser", &of(&format!("first {deep}, then [7]"))).unwrap();
        assert_eq!((&found["data"], &found["method"]), (&json!([7]), &json!("extraction")), "{deep}");
        assert!(found["problems"][0]["message"].as_str().unwrap().contains("were not read"), "{deep}");
    }
    let found = call("json_parser", &of(&format!("see {}", nested(63)))).unwrap();
    kybern_core::json::check_members(&found).unwrap();
}

proptest! {
    #[test]
    fn a_value_that_was_written_is_found_again(value in value(), before in "[a-z ,.'!?()]{0,30}", after in "[a-z ,.'!?()}\\]]{0,30}") {
        let direct = call("json_parser", &of(&value.to_string())).unwrap();
        prop_assert_eq!(&direct["data"], &value);
        let inside = call("json_parser", &of(&format!("{before}:{}{after}", json!([value])))).unwrap();
        prop_assert_eq!(&inside["data"], &json!([value]));
    }

    #[test]
    fn any_text_is_answered(text in "[-{}\\[\\]\":,a0-9.e`\\\\ \n]{0,200}") {
        let data = call("json_parser", &of(&text)).unwrap();
        prop_assert_eq!(data["success"] == json!(true), data.contains_key("data"));
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        "[ -~é\n\"\\\\{}]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z\"/~]{0,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
