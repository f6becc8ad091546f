//! The filters and tests that expressions may use. None of them can make much out of little.

use minijinja::value::{Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, filters, tests};

use super::expression::MAX_RESULT;
use super::value::Opaque;

/// Registers them.
pub(super) fn register(environment: &mut Environment<'static>) {
    environment.add_filter("default", filters::default);
    environment.add_filter("d", filters::default);
    environment.add_filter("length", length);
    environment.add_filter("count", length);
    environment.add_filter("upper", filters::upper);
    environment.add_filter("lower", filters::lower);
    environment.add_filter("title", filters::title);
    environment.add_filter("capitalize", filters::capitalize);
    environment.add_filter("trim", filters::trim);
    environment.add_filter("int", filters::int);
    environment.add_filter("float", filters::float);
    environment.add_filter("round", filters::round);
    environment.add_filter("abs", filters::abs);
    environment.add_filter("bool", filters::bool);
    environment.add_filter("string", string);
    environment.add_filter("list", filters::list);
    environment.add_filter("first", filters::first);
    environment.add_filter("last", filters::last);
    environment.add_filter("min", filters::min);
    environment.add_filter("max", filters::max);
    environment.add_filter("sum", filters::sum);
    environment.add_filter("sort", filters::sort);
    environment.add_filter("unique", filters::unique);
    environment.add_filter("reverse", filters::reverse);
    environment.add_filter("map", filters::map);
    environment.add_filter("select", filters::select);
    environment.add_filter("reject", filters::reject);
    environment.add_filter("selectattr", filters::selectattr);
    environment.add_filter("rejectattr", filters::rejectattr);
    environment.add_filter("items", filters::items);
    environment.add_filter("split", filters::split);
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    environment.add_filter("tojson", filters::tojson);
    environment.add_test("defined", tests::is_defined);
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("none", tests::is_none);
    environment.add_test("true", tests::is_true);
    environment.add_test("false", tests::is_false);
    environment.add_test("string", tests::is_string);
    environment.add_test("number", tests::is_number);
    environment.add_test("sequence", tests::is_sequence);
    environment.add_test("mapping", tests::is_mapping);
    environment.add_test("in", tests::is_in);
    environment.add_test("eq", tests::is_eq);
    environment.add_test("ne", tests::is_ne);
    environment.add_test("gt", tests::is_gt);
    environment.add_test("ge", tests::is_ge);
    environment.add_test("lt", tests::is_lt);
    environment.add_test("le", tests::is_le);
    environment.add_test("startingwith", tests::is_startingwith);
    environment.add_test("endingwith", tests::is_endingwith);
}

fn too_large() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("the result would be larger than {MAX_RESULT} bytes"))
}

fn length(value: &Value) -> Result<usize, Error> {
    if let Some(opaque) = value.downcast_object_ref::<Opaque>() {
        return Ok(match &opaque.0 {
            serde_json::Value::Array(items) => items.len(),
            serde_json::Value::String(text) => text.chars().count(),
            serde_json::Value::Null
            | serde_json::Value::Bool(_)
            | serde_json::Value::Number(_)
            | serde_json::Value::Object(_) => 0,
        });
    }
    value.len().ok_or_else(|| Error::new(ErrorKind::InvalidOperation, format!("a {} has no length", value.kind())))
}

/// The text of a scalar.
fn string(value: &Value) -> String {
    value.to_string()
}

fn join(value: &Value, separator: Rest<String>) -> Result<String, Error> {
    let separator = separator.first().cloned().unwrap_or_default();
    let mut joined = String::new();
    for (n, item) in value.try_iter()?.enumerate() {
        if n > 0 {
            joined.push_str(&separator);
        }
        match item.as_str() {
            Some(text) => joined.push_str(text),
            None if item.kind() == ValueKind::Undefined => {}
            None => joined.push_str(&item.to_string()),
        }
        if joined.len() > MAX_RESULT {
            return Err(too_large());
        }
    }
    Ok(joined)
}

fn replace(value: &str, from: &str, to: &str) -> Result<String, Error> {
    if from.is_empty() {
        return Err(Error::new(ErrorKind::InvalidOperation, "replace needs a text to look for"));
    }
    let hits = value.matches(from).count();
    if value.len().saturating_add(hits.saturating_mul(to.len())) > MAX_RESULT {
        return Err(too_large());
    }
    Ok(value.replace(from, to))
}
