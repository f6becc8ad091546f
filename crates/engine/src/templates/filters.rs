//! The filters and tests that expressions may use. None of them can make much out of little.

use std::fmt::Write as _;
use std::io;

use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, filters, tests};

use super::expression::MAX_RESULT;
use super::value::OpaqueValue;

/// Pieces that a text may be cut into.
const MAX_PIECES: usize = 100_000;
/// Spaces for each level of JSON that is laid out.
const MAX_INDENT: u64 = 8;

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
    environment.add_filter("list", list);
    environment.add_filter("first", filters::first);
    environment.add_filter("last", filters::last);
    environment.add_filter("min", filters::min);
    environment.add_filter("max", filters::max);
    environment.add_filter("sum", sum);
    environment.add_filter("sort", filters::sort);
    environment.add_filter("unique", filters::unique);
    environment.add_filter("reverse", filters::reverse);
    environment.add_filter("map", attribute);
    environment.add_filter("selectattr", filters::selectattr);
    environment.add_filter("rejectattr", filters::rejectattr);
    environment.add_filter("items", filters::items);
    environment.add_filter("split", split);
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    environment.add_filter("tojson", tojson);
    environment.add_test("defined", tests::is_defined);
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("none", tests::is_none);
    environment.add_test("true", tests::is_true);
    environment.add_test("false", tests::is_false);
    environment.add_test("string", is_string);
    environment.add_test("number", tests::is_number);
    environment.add_test("sequence", is_sequence);
    environment.add_test("mapping", tests::is_mapping);
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

fn too_many() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("the text would become more than {MAX_PIECES} pieces"))
}

fn length(value: &Value) -> Result<usize, Error> {
    if let Some(opaque) = value.downcast_object_ref::<OpaqueValue>() {
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

fn is_string(value: &Value) -> bool {
    let opaque = value.downcast_object_ref::<OpaqueValue>();
    opaque.map_or_else(|| value.kind() == ValueKind::String, |opaque| opaque.0.is_string())
}

fn is_sequence(value: &Value) -> bool {
    let opaque = value.downcast_object_ref::<OpaqueValue>();
    opaque.map_or_else(|| tests::is_sequence(value), |opaque| opaque.0.is_array())
}

/// The text of a value.
fn string(value: &Value) -> Result<String, Error> {
    let mut text = LimitedText::default();
    write!(text, "{value}").map_err(|_| too_large())?;
    Ok(text.text)
}

/// A text that stops growing at the limit.
#[derive(Default)]
struct LimitedText {
    text: String,
    bytes: usize,
}

impl LimitedText {
    fn count(&mut self, more: usize) -> bool {
        self.bytes = self.bytes.saturating_add(more);
        self.bytes <= MAX_RESULT
    }
}

impl std::fmt::Write for LimitedText {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        if !self.count(piece.len()) {
            return Err(std::fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }
}

/// Counts only.
impl io::Write for LimitedText {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.count(piece.len()) { Ok(piece.len()) } else { Err(io::ErrorKind::FileTooLarge.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// JSON of a value, with `indent` laid out. It is measured first: quotes are escaped again each time that JSON becomes
/// JSON once more, and the library indents as far as it is told.
fn tojson(value: &Value, indent: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    let indent = indent.map_or_else(|| options.get::<Option<Value>>("indent"), |indent| Ok(Some(indent)))?;
    let wide = |indent: &Value| u64::try_from(indent.clone()).is_ok_and(|indent| indent > MAX_INDENT);
    if indent.as_ref().is_some_and(wide) {
        return Err(Error::new(ErrorKind::InvalidOperation, format!("tojson indents by at most {MAX_INDENT}")));
    }
    let mut size = LimitedText::default();
    match serde_json::to_writer(&mut size, value) {
        Err(error) if error.is_io() => Err(too_large()),
        // What cannot be written is told by the filter itself.
        Err(_) | Ok(()) => filters::tojson(value, indent, options),
    }
}

/// The characters of a text, or the items of what has some.
fn list(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    match value.as_str() {
        Some(text) if text.chars().count() > MAX_PIECES => Err(too_many()),
        _ => filters::list(state, value),
    }
}

/// The pieces of a text.
fn split(value: &Value, separator: Option<std::sync::Arc<str>>, most: Option<i64>) -> Result<Value, Error> {
    let text = value.as_str().unwrap_or_default();
    let pieces = match &separator {
        Some(separator) => text.matches(&**separator).count() + 1,
        None => text.split_whitespace().count(),
    };
    if pieces > MAX_PIECES {
        return Err(too_many());
    }
    filters::split(value, separator, most)
}

/// The sum of numbers. Texts and lists are joined by `join`: adding one after the other copies all before it each time.
fn sum(
    state: &State<'_, '_>,
    values: Value,
    attribute: Option<&str>,
    start: Option<Value>,
    options: Kwargs,
) -> Result<Value, Error> {
    let named: Option<Value> = options.get("start")?;
    if start.iter().chain(&named).any(|start| !start.is_number()) {
        return Err(Error::new(ErrorKind::InvalidOperation, "sum adds numbers, its start is a number too"));
    }
    filters::sum(state, values, attribute, start, options)
}

/// `map(attribute="name")`: the only form, because a filter in each item multiplies what it makes.
fn attribute(value: &Value, options: Kwargs) -> Result<Vec<Value>, Error> {
    let name: String = options.get("attribute")?;
    let default = options.get::<Option<Value>>("default")?.unwrap_or(Value::from(()));
    options.assert_all_used()?;
    let read = |item: Value| {
        let found = item.get_attr(&name)?;
        Ok(if found.is_undefined() { default.clone() } else { found })
    };
    value.try_iter()?.map(read).collect()
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

#[cfg(test)]
mod unit {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use crate::templates::{Context, render};

    fn eval(expression: &str) -> Option<Value> {
        let state = json!({
            "names": ["b", "a", "b"], "people": [{"n": 1, "ok": true}, {"n": 2, "ok": false}],
            "text": " Some Words ", "count": 3, "none": null, "day": "2026-01-02"
        });
        let context = Context {
            state: Arc::new(state.as_object().cloned().unwrap()),
            steps: Arc::default(),
            task: Arc::default(),
            tenant: Arc::default(),
            user: Arc::default(),
            args: None,
            round: Some((Arc::new(json!({"k": 7})), 4)),
            weight: 0,
        };
        render(&json!(format!("{{{{ {expression} }}}}")), &context).ok()
    }

    #[test]
    fn filters_do_what_their_names_say_and_keep_types() {
        for (expression, value) in [
            ("state.names | length", json!(3)),
            ("state.names | sort | join('-')", json!("a-b-b")),
            ("state.names | unique", json!(["b", "a"])),
            ("state.names | first", json!("b")),
            ("state.names | reverse | list", json!(["b", "a", "b"])),
            ("state.people | selectattr('ok') | map(attribute='n') | list", json!([1])),
            ("state.people | map(attribute='n') | sum", json!(3)),
            ("state.text | trim | lower", json!("some words")),
            ("state.text | trim | replace('Some', 'No')", json!("No Words")),
            ("'7' | int + 1", json!(8)),
            ("state.ghost | default('x')", json!("x")),
            ("state.none is none", json!(true)),
            ("'a' in state.names", json!(true)),
            ("state.day.split('-') | first", json!("2026")),
            ("state.count * 2 if state.count > 2 else 0", json!(6)),
            ("state.names[1:]", json!(["a", "b"])),
            ("item.k * index", json!(28)),
            ("{'a': [state.count]}", json!({"a": [3]})),
        ] {
            let found = eval(expression);
            if expression.contains(".split(") {
                // Methods of texts are not offered, filters are.
                assert_eq!((found, eval("state.day | split('-') | first")), (None, Some(value)));
            } else {
                assert_eq!(found, Some(value), "{expression}");
            }
        }
    }

    #[test]
    fn escaping_again_and_again_ends_at_the_limit() {
        for expression in [
            format!("'\"'{}", " | tojson".repeat(31)),
            format!("{}'\\\\'{}", "[".repeat(31), "] | string".repeat(31)),
            "('a' | list | tojson) ~ (state.text | tojson(indent=2)) ~ state.names ~ ''".to_owned(),
        ] {
            let long = expression.len() > 100;
            assert_eq!(eval(&expression).is_none(), long, "{expression}");
        }
    }

    #[test]
    fn a_text_is_not_cut_into_more_pieces_than_are_allowed() {
        let state = json!({"text": "a ".repeat(super::MAX_PIECES + 1)});
        let state = Arc::new(state.as_object().cloned().unwrap());
        let nothing = Context {
            state,
            steps: Arc::default(),
            task: Arc::default(),
            tenant: Arc::default(),
            user: Arc::default(),
            args: None,
            round: None,
            weight: 0,
        };
        for filter in ["split", "split(' ')", "split('')", "list"] {
            assert!(render(&json!(format!("{{{{ state.text | {filter} | length }}}}")), &nothing).is_err(), "{filter}");
        }
        let pieces = |separators: usize| {
            let state = json!({"text": ",".repeat(separators)});
            let context = Context { state: Arc::new(state.as_object().cloned().unwrap()), ..nothing.clone() };
            render(&json!("{{ state.text | split(',') | length }}"), &context).ok()
        };
        assert_eq!(pieces(super::MAX_PIECES - 1), Some(json!(super::MAX_PIECES)));
        assert_eq!(pieces(super::MAX_PIECES), None);
    }

    #[test]
    fn what_could_be_misused_is_not_there() {
        for expression in [
            "range(1000000)",
            "namespace()",
            "dict(a=1)",
            "debug()",
            "lipsum()",
            "state | pprint",
            "state.text | center(10000000)",
            "state.text | indent(10000000)",
            "'%s' | format(1)",
            "[1] | tojson(indent=1000000000)",
            "[1] | tojson(100000)",
            "state.names | sum(start='')",
            "state.names | sum(attribute='x', start=[])",
            "state.names | batch(1)",
            "state.text | replace('', 'x')",
            "state.__class__",
        ] {
            assert_eq!(eval(expression), None, "{expression}");
        }
    }
}
