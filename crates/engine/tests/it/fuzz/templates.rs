//! Templates: any text with any state is a value or an error, the same each time, within its fuel and its memory.

use std::sync::{Arc, LazyLock};

use kybern_core::plan::limits::MAX_EXPRESSION;
use kybern_core::task::{StepOutcome, StepStatus};
use kybern_engine::templates::context::{Context, StepView};
use kybern_engine::templates::{compile, expressions_in, render, truth};
use kybern_testkit::fuzz::{Chance, Target};
use serde_json::{Map, Value, json};

/// Bytes of a rendered value: that of one expression, and a little for the text around it.
const MAX_RENDERED: usize = 5 * 1024 * 1024;
const FILTERS: &[&str] = &[
    "default('x')",
    "d(0)",
    "length",
    "count",
    "upper",
    "lower",
    "title",
    "capitalize",
    "trim",
    "int",
    "float",
    "round",
    "round(2)",
    "round(-99999)",
    "round(99999, 'ceil')",
    "abs",
    "bool",
    "string",
    "list",
    "first",
    "last",
    "min",
    "max",
    "sum",
    "sum(attribute='n')",
    "sum(start=[])",
    "sort",
    "sort(reverse=true)",
    "unique",
    "reverse",
    "map(attribute='n')",
    "map(attribute='a.b', default=1)",
    "selectattr('n')",
    "selectattr('n', 'eq', 1)",
    "rejectattr('n', 'gt', 0)",
    "items",
    "split",
    "split(',')",
    "split('')",
    "split(',', 99999999)",
    "join",
    "join(', ')",
    "join(state.long)",
    "replace('a', 'b')",
    "replace('x', state.long)",
    "tojson",
    "tojson(indent=2)",
    "tojson(99999999)",
    "tojson(true)",
    "int(base=99)",
    "trim('x')",
    "batch(1)",
    "indent(99999)",
    "pprint",
    "attr('n')",
    "dictsort",
    "groupby('n')",
    "slice(2)",
];
const ATOMS: &[&str] = &[
    "state",
    "state.text",
    "state.long",
    "state.list",
    "state.list[0]",
    "state.list[-1]",
    "state.list[1:]",
    "state.list[::-1]",
    "state.text[::2]",
    "state.big",
    "state.deep",
    "state.n",
    "state.f",
    "state.no",
    "state.ghost",
    "state['text']",
    "state[state.text]",
    "steps",
    "steps.a.status",
    "steps.a.result",
    "steps.a.error",
    "steps.ghost",
    "task.id",
    "tenant.name",
    "user",
    "item",
    "index",
    "context.state.n",
    "1",
    "0",
    "-1",
    "2.5",
    "1e308",
    "99999999999999999999",
    "170141183460469231731687303715884105727",
    "'a'",
    "'\\\\'",
    "'\"'",
    "\"'\"",
    "true",
    "none",
    "[]",
    "[1, 'a']",
    "{}",
    "{'a': 1}",
    "(1,)",
    "(1, 2)",
    "loop",
    "self",
    "range(9)",
];
const OPERATORS: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "~",
    "==",
    "!=",
    "<",
    ">=",
    "and",
    "or",
    "in",
    "not in",
    "if",
    ".",
    "|",
    ",",
    "is defined or",
];
const WORDS: &[&str] = &[
    "{{",
    "}}",
    "{%",
    "{#",
    "|",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\\",
    "~",
    "*",
    "state.",
    "context.",
    " if ",
    " else ",
    " is ",
    "not ",
    "\n",
    "tojson",
    "string",
    "split('')",
    "first",
    "(1,)",
    "100000000",
    "--",
    "..",
    "\u{0}",
    "é",
];

/// What expressions read.
static CONTEXT: LazyLock<Context> = LazyLock::new(|| {
    let deep = (0..60).fold(json!("x"), |inner, _| json!({"k": [inner]}));
    let state = json!({
        "text": " Some \"quoted\" 'text', and more ", "long": "x y,".repeat(2_000), "list": [3, "a", null, 2.5, [1], {"n": 1}],
        "big": (0..2_000).map(|n| json!({"n": n % 7, "a": {"b": "x"}})).collect::<Vec<_>>(), "deep": deep, "n": 7, "f": 0.1,
        "no": false, "Some": 1,
    });
    let map = |value: Value| Arc::new(value.as_object().cloned().unwrap_or_default());
    let outcome = Arc::new(StepOutcome { data: json!({"x": [1, 2]}), ..StepOutcome::bare(StepStatus::Completed) });
    Context {
        state: map(state),
        steps: Arc::new(vec![StepView { id: "a".into(), outcome }]),
        task: map(json!({"id": "t", "payload": {"n": 1}})),
        tenant: map(json!({"name": "Tenant"})),
        user: Arc::new(json!({"name": "Ada", "roles": ["admin"]})),
        args: None,
        round: Some((Arc::new(json!({"n": 5})), 3)),
        weight: 0,
    }
});

/// The first line is a template, the rest is a state in JSON, or nothing.
fn check(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let (template, state) = text.split_once('\n').unwrap_or((&text, ""));
    let mut context = CONTEXT.clone();
    if let Ok(Value::Object(state)) = serde_json::from_str::<Value>(state) {
        context.state = Arc::new(state);
    }
    let value = json!({"t": template, "list": [template]});
    let checked = expressions_in(&value);
    let rendered = render(&value, &context);
    if render(&value, &context) != rendered {
        return Err("the same template is two different values".to_owned());
    }
    if checked.is_err() && rendered.is_ok() {
        return Err("a template that is faulty can be rendered".to_owned());
    }
    if let Ok(rendered) = rendered {
        // The value holds the template twice.
        if size(&rendered) > 2 * (MAX_RENDERED + template.len()) {
            return Err(format!("{} bytes were rendered", size(&rendered)));
        }
    }
    let bare = truth(template, &context);
    if truth(template, &context) != bare {
        return Err("the same condition is two different truths".to_owned());
    }
    match compile(template) {
        Ok(_) if template.len() > MAX_EXPRESSION => Err("an expression over its length is compiled".to_owned()),
        Ok(compiled) if compiled.paths().iter().any(Vec::is_empty) => Err("a name without parts".to_owned()),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.iter().map(|(name, item)| name.len() + size(item)).sum(),
    }
}

fn expression(chance: &Chance, depth: u64) -> String {
    let mut out = if depth > 0 && chance.percent(40) {
        let inner = expression(chance, depth - 1);
        match chance.below(6) {
            0 => format!("[{inner}]"),
            1 => format!("{{'k': {inner}}}"),
            2 => format!("({inner},)"),
            3 => format!("-{inner}"),
            _ => format!("({inner})"),
        }
    } else {
        (*chance.one(ATOMS)).to_owned()
    };
    for _ in 0..chance.below(4) {
        match chance.below(3) {
            0 => out = format!("{out} {} {}", chance.one(OPERATORS), chance.one(ATOMS)),
            1 if depth > 0 => out = format!("{out} {} ({})", chance.one(OPERATORS), expression(chance, depth - 1)),
            _ => out = format!("{out} | {}", chance.one(FILTERS)),
        }
    }
    if chance.percent(3) { format!("{out} if {} else {}", chance.one(ATOMS), chance.one(ATOMS)) } else { out }
}

fn make(chance: &Chance) -> Vec<u8> {
    let mut template = String::new();
    for _ in 0..=chance.below(2) {
        if chance.percent(30) {
            template.push_str("some text ");
        }
        template.push_str(&format!("{{{{ {} }}}}", expression(chance, 3)));
    }
    if chance.percent(20) {
        let state: Map<String, Value> = ["text", "long", "list", "n"]
            .iter()
            .map(|name| {
                ((*name).to_owned(), chance.one(&[json!(null), json!([[]]), json!("\\\"'"), json!(-1)]).clone())
            })
            .collect();
        template.push_str(&format!("\n{}", Value::Object(state)));
    }
    template.into_bytes()
}

/// Bombs: what makes much out of little, or takes long, or goes deep.
fn bombs() -> Vec<Vec<u8>> {
    let nested =
        |open: &str, close: &str, times: usize| format!("{{{{ {}1{} }}}}", open.repeat(times), close.repeat(times));
    [
        "{{ 'a' * 100000000 }}".to_owned(),
        "{{ (1,) * 100000000 | length }}".to_owned(),
        "{{ (state | first) * 20000000 + (state | first) * 20000000 }}".to_owned(),
        "{{ (context | first) * 20000000 }}".to_owned(),
        "{{ steps.a.status * 10000000 }}".to_owned(),
        "{{ [1] | tojson(indent=9999999999) }}".to_owned(),
        format!("{{{{ '\"'{} }}}}", " | tojson".repeat(200)),
        format!("{{{{ {}'\\\\'{} }}}}", "[".repeat(60), "] ~ ''".repeat(60)),
        format!("{{{{ {}'\\\\'{} }}}}", "[".repeat(100), "] | string".repeat(100)),
        format!("{{{{ state.text{} }}}}", " | split('§') ~ ''".repeat(60)),
        format!("{{{{ state.long{} }}}}", " | split | sort".repeat(100)),
        "{{ state.long | split('') | sum(start='') }}".to_owned(),
        "{{ state.long | replace('x', state.long) | replace('y', state.long) }}".to_owned(),
        "{{ state.big | join(state.long) }}".to_owned(),
        format!("{{{{ [{}] }}}}", ["state.long"; 150].join(",")),
        nested("(", ")", 900),
        nested("[", "]", 900),
        nested("-", "", 1_900),
        nested("not ", "", 400),
        nested("1 - ", "", 450),
        nested("state.a.", "", 200),
        "{{ state.deep | string | tojson }}".to_owned(),
        "{{".repeat(20_000),
        "{{ 1 }}".repeat(8_000),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect()
}

#[test]
fn templates() {
    Target::new("templates", 3_000, check).seeds(bombs()).words(WORDS).made_by(make).play();
}
