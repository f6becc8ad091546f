use serde_json::json;

use super::*;
use crate::model::{FieldPattern, ValueKind, ValueRange};

fn delivery_note() -> Value {
    json!({
        "name": "delivery_note",
        "categories": [{"key": "DELIVERY_NOTE", "markers": ["delivery note^5", "consignee"]}],
        "sections": [{"key": "has_goods", "markers": ["goods"]}],
        "fields": [
            {"name": "number", "type": "identifier", "pattern": "DN-[0-9]{6}", "required": true,
             "labels": {"en": ["Delivery note no."], "de": ["Lieferschein-Nr.:"]}},
            {"name": "carrier", "type": "name", "labels": {"en": ["carrier"], "de": ["carrier"]}, "many": true},
            {"name": "terms", "type": "choice", "labels": {"en": ["terms"]}, "choices": [
                {"value": "Prepaid", "labels": {"en": ["freight prepaid"]}},
                {"value": "Collect", "labels": {"en": ["collect", "freight collect"]}}]},
            {"name": "goods", "type": "table", "required": true, "section": "has_goods", "columns": [
                {"name": "article", "type": "reference", "headings": {"en": ["article"]}, "key": true},
                {"name": "quantity", "type": "integer", "headings": {"en": ["quantity", "qty"]}, "required": true}]}
        ]
    })
}

fn faults(change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let mut value = delivery_note();
    change(&mut value);
    let faults = read(&value, None, &["contact"]).err().unwrap_or_default();
    faults.into_iter().map(|fault| (fault.path, fault.message)).collect()
}

/// The one fault of a changed schema.
fn fault(change: impl FnOnce(&mut Value)) -> (String, String) {
    let mut faults = faults(change);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.remove(0)
}

#[test]
fn a_schema_becomes_what_packs_declare() {
    let schema = read(&delivery_note(), None, &["contact"]).unwrap();
    assert_eq!(schema.name, "delivery_note");
    assert_eq!(schema.categories[0].markers, [("delivery note".to_owned(), 5), ("consignee".to_owned(), WEIGHT)]);
    let paths: Vec<String> = schema.fields.iter().map(FieldPattern::path).collect();
    assert_eq!(paths, ["number", "carrier", "terms", "goods/article", "goods/quantity"]);
    let [number, carrier, terms, article, quantity] = &schema.fields[..] else { panic!("five fields") };
    assert_eq!(number.labels, ["delivery note no.", "lieferschein-nr."]);
    assert!(number.required && number.value == ValueKind::Identifier);
    assert_eq!(number.pattern.as_ref().unwrap().source(), "DN-[0-9]{6}");
    assert_eq!((carrier.labels.len(), carrier.many), (1, true), "languages share words");
    assert_eq!(terms.labels, ["terms", "freight prepaid=Prepaid", "collect=Collect", "freight collect=Collect"]);
    assert!(article.opens_item && article.required && article.repeats);
    assert!(quantity.required && !quantity.opens_item);
    assert_eq!(quantity.section.as_deref(), Some("has_goods"));
}

#[test]
fn an_amount_has_bounds_in_its_own_unit() {
    let with = |min: Value, max: Value| {
        json!({"name": "note", "fields": [
            {"name": "share", "type": "percentage", "labels": {"en": ["share"]}, "min": min, "max": max}]})
    };
    let range = |min, max| read(&with(min, max), None, &[]).map(|schema| schema.fields[0].range);
    let expected = ValueRange { min: Some(500_000_000), max: Some(100_000_000_000) };
    assert_eq!(range(json!("0.5"), json!(100)).unwrap(), Some(expected));
    for (min, max, at) in [
        (json!(0.5), json!(100), "/fields/0/min"),
        (json!(0), json!("1e3"), "/fields/0/max"),
        (json!(0), json!(9_999_999_999_i64), "/fields/0/max"),
        (json!(3), json!(2), "/fields/0/min"),
    ] {
        assert_eq!(range(min, max).unwrap_err()[0].path, at);
    }
}

#[test]
fn a_fault_names_its_place_and_the_remedy() {
    let told = |(path, message): (String, String), at: &str, part: &str| {
        assert_eq!(path, at, "{message}");
        assert!(message.contains(part), "{message}");
    };
    told(fault(|schema| schema["name"] = json!("contact")), "/name", "taken");
    told(fault(|schema| schema["name"] = json!("Delivery note")), "/name", "[a-z0-9_]");
    told(fault(|schema| schema["version"] = json!(2)), "/version", "use name, categories");
    told(fault(|schema| schema["fields"] = json!([])), "/fields", "at least one field");
    told(fault(|schema| schema["fields"][1]["type"] = json!("blob")), "/fields/1/type", "use one of text, identifier");
    told(fault(|schema| schema["fields"][1]["name"] = json!("number")), "/fields/1/name", "entry 0");
    told(fault(|schema| schema["fields"][0]["pattern"] = json!("[A-Z")), "/fields/0/pattern", "no regular expression");
    told(fault(|schema| schema["fields"][1]["pattern"] = json!("[A-Z]")), "/fields/1/pattern", "only an identifier");
    told(fault(|schema| schema["fields"][1]["choices"] = json!([])), "/fields/1/choices", "only a choice");
    told(fault(|schema| schema["fields"][1]["min"] = json!(1)), "/fields/1/min", "only money, percentage and integer");
    told(fault(|schema| schema["fields"][1]["required"] = json!("yes")), "/fields/1/required", "true or false");
    told(fault(|schema| schema["fields"][1]["section"] = json!("x")), "/fields/1/section", "has_goods");
    told(fault(|schema| schema["fields"][1]["labels"] = json!(["carrier"])), "/fields/1/labels", "by language");
    told(fault(|schema| schema["fields"][1]["labels"] = json!({"en": []})), "/fields/1/labels/en", "at least one");
    told(fault(|schema| schema["fields"][1]["labels"] = json!({"en": "x"})), "/fields/1/labels/en", "a list is needed");
    told(
        fault(|schema| schema["fields"][1]["labels"] = json!({"English": ["x y"]})),
        "/fields/1/labels/English",
        "no language tag",
    );
    told(
        fault(|schema| schema["fields"][1]["labels"]["en"] = json!(["carrier", "a=b"])),
        "/fields/1/labels/en/1",
        "plain words",
    );
    told(
        fault(|schema| schema["fields"][1]["labels"]["en"] = json!(["Delivery note: no"])),
        "/fields/1/labels/en/0",
        "plain words",
    );
    told(
        fault(|schema| schema["fields"][1]["labels"]["en"] = json!(["Delivery Note No"])),
        "/fields/1/labels/en/0",
        "/fields/0/labels/en/0",
    );
    let columns = "/fields/3/columns";
    told(fault(|schema| schema["fields"][3]["columns"] = json!(null)), columns, "at least 2");
    let key = format!("{columns}/1/key");
    told(fault(|schema| schema["fields"][3]["columns"][1]["key"] = json!(true)), &key, "one key column");
    let name = format!("{columns}/1/name");
    told(fault(|schema| schema["fields"][3]["columns"][1]["name"] = json!("article")), &name, "entry 0");
    told(fault(|schema| schema["categories"][0]["markers"] = json!(["a note^9"])), "/categories/0/markers/0", "1 to 5");
    let value = "/fields/2/choices/1/value";
    told(fault(|schema| schema["fields"][2]["choices"][1]["value"] = json!("Prepaid")), value, "comes twice");
}

#[test]
fn a_table_inside_a_table_is_no_type() {
    let (path, message) = fault(|schema| schema["fields"][3]["columns"][1]["type"] = json!("table"));
    assert_eq!(path, "/fields/3/columns/1/type");
    assert!(!message.contains("table"), "{message}");
}

#[test]
fn a_schema_has_bounds() {
    let field = |n: usize| json!({"name": format!("f{n}"), "type": "text", "labels": {"en": [format!("label x{n}")]}});
    let many = |n: usize| Value::Array((0..n).map(field).collect());
    assert!(read(&json!({"name": "wide", "fields": many(MAX_FIELDS)}), None, &[]).is_ok());
    let (path, message) = fault(|schema| schema["fields"] = many(MAX_FIELDS + 1));
    assert!(path == "/fields" && message.contains("more than 100"), "{message}");
    let (path, message) = fault(|schema| {
        let columns = (0..MAX_FIELDS - 1)
            .map(|n| json!({"name": format!("c{n}"), "type": "text", "headings": {"en": [format!("head x{n}")]}}));
        schema["fields"][3]["columns"] = columns.collect();
    });
    assert!(path == "/fields" && message.contains("103 fields and columns"), "{message}");
    let labels = |n: usize| (0..n).map(|n| json!(format!("label x{n}"))).collect::<Value>();
    let (path, message) = fault(|schema| schema["fields"][1]["labels"]["en"] = labels(MAX_LABELS - 4));
    assert!(path.starts_with("/fields/1/labels/en/") && message.contains("more than 1000 labels"), "{path} {message}");
    let patterned = |n: usize| {
        let mut field = field(n);
        (field["type"], field["pattern"]) = (json!("identifier"), json!("[A-Z]{3}"));
        field
    };
    let (path, message) = fault(|schema| schema["fields"] = (0..=MAX_PATTERNS).map(patterned).collect());
    assert!(path == "/fields/8/pattern" && message.contains("more than 8 patterns"), "{path} {message}");
    let (path, message) = fault(|schema| schema["fields"][1]["name"] = json!("x".repeat(MAX_BYTES)));
    assert!(path.is_empty() && message.contains("more than 32768"), "{message}");
    assert_eq!(faults(|schema| schema["fields"] = Value::Array(vec![json!(1); 90])).len(), 20, "not all are listed");
}
