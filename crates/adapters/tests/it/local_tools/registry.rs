use kybern_core::task::EffectClass;
use kybern_core::tool::{Risk, ToolNeeds};
use serde_json::{Value, json};

use super::{call, registry};

#[test]
fn the_tools_are_registered_and_none_twice() {
    let mut registry = registry();
    let keys: Vec<String> = registry.registered_tools().map(|tool| tool.spec().key.clone()).collect();
    assert_eq!(keys, ["calculator", "datetime", "deep_reasoning", "json_parser", "text_transform"]);
    assert!(kybern_adapters::tools::local::register(&mut registry).is_err());
}

#[test]
fn they_only_read_and_need_nothing_but_a_model_where_they_ask_one() {
    for tool in registry().registered_tools() {
        let spec = tool.spec();
        let asks = ["deep_reasoning", "json_parser", "text_transform"].contains(&spec.key.as_str());
        let needs = ToolNeeds { language_model: asks, ..ToolNeeds::default() };
        assert_eq!((spec.effect, spec.risk, spec.needs), (EffectClass::Read, Risk::R0, needs));
        assert!(!spec.trusted_output, "{}: what it is given decides", spec.key);
    }
}

#[test]
fn a_call_that_needs_no_model_does_not_get_one() {
    let asks = |tool: &str, args: Value| {
        let registry = registry();
        registry.registered_tool(tool).unwrap().needs_of(args.as_object().unwrap()).language_model
    };
    for (tool, args, expected) in [
        ("deep_reasoning", json!({"problem": "x"}), true),
        ("json_parser", json!({"text": "{}"}), false),
        ("json_parser", json!({"text": "{}", "schema": {}, "repair": true}), true),
        ("text_transform", json!({"text": "x", "operation": "trim"}), false),
        ("text_transform", json!({"text": "x", "operation": "summarize"}), true),
        ("text_transform", json!({"text": "x", "operation": "translate"}), true),
        ("text_transform", json!({"text": "x", "operation": "extract"}), true),
        ("calculator", json!({"expression": "1"}), false),
    ] {
        assert_eq!(asks(tool, args.clone()), expected, "{tool} {args}");
    }
}

#[test]
fn every_argument_is_described_and_no_other_is_taken() {
    fn look(key: &str, schema: &Value) {
        assert_eq!(schema["additionalProperties"], Value::Bool(false), "{key}");
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].as_str().is_some_and(|text| text.len() > 10), "{key}: {name}");
            if property.get("properties").is_some() {
                look(key, property);
            }
        }
    }
    for tool in registry().registered_tools() {
        look(&tool.spec().key, &tool.spec().input_schema);
    }
}

#[test]
fn the_examples_of_the_documentation_are_what_the_tools_answer() {
    let page = include_str!("../../../../../docs/local-tools.md");
    let mut checked = 0;
    for section in page.split("\n## ").skip(1) {
        let tool = section.lines().next().unwrap();
        for block in section.split("```json\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let mut values = serde_json::Deserializer::from_str(block).into_iter::<Value>();
            let (args, answer) = (values.next().unwrap().unwrap(), values.next().unwrap().unwrap());
            assert_eq!(Value::Object(call(tool, &args).unwrap()), answer, "{tool} {args}");
            checked += 1;
        }
    }
    assert_eq!(checked, 4);
}
