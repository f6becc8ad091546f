//! Values with templates in them, made into values.

use kybern_core::json::{MAX_DEPTH, Unstorable, check_value};
use serde_json::{Map, Value};

use super::context::Context;
use super::expression::{ExpressionError, MAX_RESULT, Path, compile, size_over};

/// Filters that the expressions of one value use together: each may go over all that the task holds.
const MAX_FILTERS: usize = 1_000;
/// Words and signs of them together: so may each comparison.
const MAX_TOKENS: usize = 50_000;

/// Why a value cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// An expression cannot be compiled or evaluated.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// A text opens an expression and does not close it.
    #[error("{0:?} opens an expression with {{{{ and does not close it with }}}}")]
    Unclosed(String),
    /// A text holds statements, which are not templates here.
    #[error("{0:?} holds a statement, only {{{{ expressions }}}} are allowed")]
    Statement(String),
    /// The template is nested too deep, or the text becomes too large.
    #[error("the value is over a limit: {0}")]
    Limit(&'static str),
    /// What is made is nested too deep.
    #[error(transparent)]
    Unstorable(#[from] Unstorable),
}

/// A piece of a text.
enum TemplatePart<'a> {
    Literal(&'a str),
    Expression(&'a str),
}

/// What the expressions of one value may still do. Each has bounds of its own, and there may be thousands.
struct RenderBudget {
    filters: usize,
    tokens: usize,
    bytes: usize,
}

impl RenderBudget {
    const fn all() -> Self {
        Self { filters: MAX_FILTERS, tokens: MAX_TOKENS, bytes: MAX_RESULT }
    }

    /// Evaluates an expression within what is left.
    fn evaluate(&mut self, source: &str, context: &Context) -> Result<Value, RenderError> {
        let compiled = compile(source)?;
        let filters = self.filters.checked_sub(compiled.filters());
        self.filters = filters.ok_or(RenderError::Limit("its expressions use more than 1,000 filters together"))?;
        let tokens = self.tokens.checked_sub(compiled.tokens());
        self.tokens =
            tokens.ok_or(RenderError::Limit("its expressions have more than 50,000 words and signs together"))?;
        let value = compiled.evaluate(context)?;
        let bytes = size_over(&value, self.bytes);
        self.bytes = bytes.ok_or(RenderError::Limit("what its expressions make is larger than 4 MiB together"))?;
        Ok(value)
    }
}

/// Whether a value holds an expression anywhere.
#[must_use]
pub fn has_expression(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("{{"),
        Value::Array(items) => items.iter().any(has_expression),
        Value::Object(members) => members.values().any(has_expression),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Renders a value. Its shape stays, its texts are rendered.
///
/// # Errors
/// See [`RenderError`].
pub fn render(value: &Value, context: &Context) -> Result<Value, RenderError> {
    if !has_expression(value) {
        return rendered(value, context, &mut RenderBudget::all());
    }
    context.beside_the_runtime(|| rendered(value, context, &mut RenderBudget::all()))
}

/// Renders the members of an object, which have the limits of one value together.
///
/// # Errors
/// See [`RenderError`].
pub fn render_members(members: &Map<String, Value>, context: &Context) -> Result<Map<String, Value>, RenderError> {
    let mut left = RenderBudget::all();
    let mut render = |(name, value): (&String, &Value)| Ok((name.clone(), rendered(value, context, &mut left)?));
    context.beside_the_runtime(|| members.iter().map(&mut render).collect())
}

fn rendered(value: &Value, context: &Context, left: &mut RenderBudget) -> Result<Value, RenderError> {
    let rendered = render_at(value, context, left, 0)?;
    check_value(&rendered)?;
    Ok(rendered)
}

fn render_at(value: &Value, context: &Context, left: &mut RenderBudget, depth: usize) -> Result<Value, RenderError> {
    if depth > MAX_DEPTH {
        return Err(RenderError::Limit("nested deeper than 64"));
    }
    Ok(match value {
        Value::String(text) if text.contains("{{") || text.contains("{%") => render_text(text, context, left)?,
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| render_at(item, context, left, depth + 1)).collect::<Result<_, _>>()?)
        }
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, member)| Ok((name.clone(), render_at(member, context, left, depth + 1)?)))
                .collect::<Result<Map<_, _>, RenderError>>()?,
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    })
}

fn render_text(text: &str, context: &Context, left: &mut RenderBudget) -> Result<Value, RenderError> {
    let pieces = pieces(text)?;
    if let [TemplatePart::Expression(source)] = pieces.as_slice() {
        return left.evaluate(source, context);
    }
    joined(pieces, context, left, &|value| value).map(Value::String)
}

/// Renders a text in which what each expression comes to is written as `write` has it.
///
/// # Errors
/// See [`RenderError`].
pub fn render_encoded(text: &str, context: &Context, write: &dyn Fn(String) -> String) -> Result<String, RenderError> {
    context.beside_the_runtime(|| joined(pieces(text)?, context, &mut RenderBudget::all(), write))
}

fn joined(
    pieces: Vec<TemplatePart<'_>>,
    context: &Context,
    left: &mut RenderBudget,
    write: &dyn Fn(String) -> String,
) -> Result<String, RenderError> {
    let mut joined = String::new();
    for piece in pieces {
        match piece {
            TemplatePart::Literal(literal) => joined.push_str(literal),
            TemplatePart::Expression(source) => match left.evaluate(source, context)? {
                Value::String(value) => joined.push_str(&write(value)),
                Value::Null => joined.push_str(&write(String::new())),
                value @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    joined.push_str(&write(value.to_string()));
                }
            },
        }
        if joined.len() > MAX_RESULT {
            return Err(RenderError::Limit("the text is larger than 4 MiB"));
        }
    }
    Ok(joined)
}

/// Cuts a text into literals and expressions. White space around a lone expression does not count.
fn pieces(text: &str) -> Result<Vec<TemplatePart<'_>>, RenderError> {
    if text.contains("{%") || text.contains("{#") {
        return Err(RenderError::Statement(text.chars().take(80).collect()));
    }
    let unclosed = || RenderError::Unclosed(text.chars().take(80).collect());
    let mut pieces = Vec::new();
    let mut rest = if text.trim().starts_with("{{") && text.trim().ends_with("}}") { text.trim() } else { text };
    while let Some(start) = rest.find("{{") {
        if start > 0 {
            pieces.push(TemplatePart::Literal(&rest[..start]));
        }
        let inner = &rest[start + 2..];
        let end = end_of_expression(inner).ok_or_else(unclosed)?;
        pieces.push(TemplatePart::Expression(inner[..end].trim()));
        rest = &inner[end + 2..];
    }
    if !rest.is_empty() {
        pieces.push(TemplatePart::Literal(rest));
    }
    Ok(pieces)
}

/// Where the `}}` stands that closes an expression: not inside a text, and not the end of an object in it.
fn end_of_expression(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let (mut at, mut quote, mut depth) = (0, None, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{') => depth += 1,
            (None, b'}') if depth == 0 && bytes.get(at + 1) == Some(&b'}') => return Some(at),
            (None, b'}') => depth = depth.checked_sub(1)?,
            (None, _) => {}
        }
        at += 1;
    }
    None
}

/// The names that the expressions in a value read.
///
/// # Errors
/// When one of them cannot be compiled.
pub fn expressions_in(value: &Value) -> Result<Vec<Path>, RenderError> {
    let mut paths = Vec::new();
    collect(value, &mut paths)?;
    Ok(paths)
}

fn collect(value: &Value, paths: &mut Vec<Path>) -> Result<(), RenderError> {
    match value {
        Value::String(text) if text.contains("{{") || text.contains("{%") => paths.extend(check_text(text)?),
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, paths))?,
        Value::Object(members) => members.values().try_for_each(|member| collect(member, paths))?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}

/// Compiles every expression of a text and returns the names they read.
///
/// # Errors
/// When one of them cannot be compiled.
pub fn check_text(text: &str) -> Result<Vec<Path>, RenderError> {
    let mut paths = Vec::new();
    for piece in pieces(text)? {
        if let TemplatePart::Expression(source) = piece {
            paths.extend(compile(source)?.paths().iter().cloned());
        }
    }
    Ok(paths)
}

/// The truth of a condition: `{{ expression }}`, or the bare expression. Only `false`, `null`, `0`, and what is empty
/// are false; the text `"False"` never comes up, because types are kept.
///
/// # Errors
/// When it cannot be evaluated.
pub fn truth(condition: &str, context: &Context) -> Result<bool, RenderError> {
    let value = context.beside_the_runtime(|| match condition.contains("{{") {
        true => render_text(condition, context, &mut RenderBudget::all()),
        false => Ok(compile(condition.trim())?.evaluate(context)?),
    })?;
    Ok(match value {
        Value::Null => false,
        Value::Bool(flag) => flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::templates::context::StepView;
    use serde_json::json;

    fn context(state: Value) -> Context {
        let done = kybern_core::task::StepOutcome::bare(kybern_core::task::StepStatus::Completed);
        Context {
            state: Arc::new(state.as_object().cloned().unwrap()),
            steps: Arc::new(vec![StepView { id: "done".into(), outcome: Arc::new(done) }]),
            task: Arc::default(),
            tenant: Arc::default(),
            user: Arc::new(Value::Null),
            args: None,
            round: None,
            weight: 0,
        }
    }

    fn eval(template: &str, state: Value) -> Result<Value, RenderError> {
        render(&json!(template), &context(state))
    }

    #[test]
    fn types_are_kept() {
        let state = json!({"list": [1, "a", null], "no": false, "n": 3, "o": {"k": [true]}});
        assert_eq!(eval("{{ state.list }}", state.clone()).unwrap(), json!([1, "a", null]));
        assert_eq!(eval("{{ context.state.no }}", state.clone()).unwrap(), json!(false));
        assert_eq!(eval("{{ state.o }}", state.clone()).unwrap(), json!({"k": [true]}));
        assert_eq!(eval("{{ state.n * 2 + 1 }}", state.clone()).unwrap(), json!(7));
        assert_eq!(eval("n = {{ state.n }}, {{ state.no }}", state).unwrap(), json!("n = 3, false"));
    }

    #[test]
    fn unknown_names_are_errors_and_defaults_help() {
        assert!(eval("{{ state.ghost }}", json!({})).is_err());
        assert_eq!(eval("{{ state.ghost | default(none) }}", json!({})).unwrap(), Value::Null);
    }

    #[test]
    fn memory_is_bounded() {
        let state = json!({"s": "x".repeat(1000), "l": [1, 2], "n": 100_000_000, "million": 1_000_000});
        for bomb in [
            "{{ 'a' * 100000000 }}",
            "{{ state.s * state.n }}",
            "{{ state.l * state.n }}",
            "{{ (state.l * 2) | length }}",
            "{{ [1] * 100000000 }}",
            "{{ (state.n | string) * state.n }}",
            "{{ ((state | first) * state.million) | length }}",
            "{{ ((context | first) * state.million) | length }}",
            "{{ ((steps | last) * state.million) | length }}",
            "{{ (steps.done.status * state.million) | length }}",
            "{{ ((steps.done | first) * state.million) | length }}",
            "{{ ((1,) * state.million) | length }}",
            "{{ state.s | replace('x', state.s) | replace('x', state.s) }}",
        ] {
            assert!(eval(bomb, state.clone()).is_err(), "{bomb}");
        }
    }

    #[test]
    fn what_an_expression_that_multiplies_only_reads_is_as_it_was() {
        let state =
            json!({"s": "word", "t": "word", "u": "other", "empty": "", "l": [1, "a"], "o": {"k": ["x"]}, "n": 3});
        for (template, value) in [
            ("{{ state.s if state.n * 2 > 1 else none }}", json!("word")),
            ("{{ state.l if state.n * 2 > 1 }}", json!([1, "a"])),
            ("{{ state.l[1] if state.n * 2 > 1 }}", json!("a")),
            ("{{ state.o if state.n * 2 > 1 }}", json!({"k": ["x"]})),
            ("{{ state if state.n * 2 > 1 }}", state.clone()),
            ("{{ state.ghost | default(state.s) if state.n * 2 > 1 }}", json!("word")),
            ("{{ state.s == state.t and state.n * 2 > 1 }}", json!(true)),
            ("{{ state.s == state.u and state.n * 2 > 1 }}", json!(false)),
            ("{{ state.s > state.u and state.n * 2 > 1 }}", json!(true)),
            ("{{ state.l == state.o.k and state.n * 2 > 1 }}", json!(false)),
            ("{{ 1 if state.empty else state.n * 2 }}", json!(6)),
            ("{{ state.s is string and state.n * 2 > 1 }}", json!(true)),
            ("{{ state.l is sequence and state.n * 2 > 1 }}", json!(true)),
            ("{{ (state.n * 2) is string }}", json!(false)),
        ] {
            assert_eq!(eval(template, state.clone()).unwrap(), value, "{template}");
        }
        for whole in ["context", "steps", "steps.done"] {
            let refused = eval(&format!("{{{{ {whole} if state.n * 2 > 1 }}}}"), state.clone()).unwrap_err();
            assert!(refused.to_string().contains("name a value"), "{refused}");
        }
    }

    #[test]
    fn lists_are_mapped_by_attribute_only() {
        let state = json!({"l": [{"n": 1}, {"n": 2}], "big": "xx", "b": [1]});
        assert_eq!(eval("{{ state.l | map(attribute='n') | sum }}", state.clone()).unwrap(), json!(3));
        for work in ["{{ state.l | map('replace', 'x', state.big) }}", "{{ state.l | select('in', state.b) }}"] {
            assert!(eval(work, state.clone()).is_err(), "{work}");
        }
        let many = format!("{{{{ [{}] }}}}", vec!["state.big"; 100].join(", "));
        assert!(eval(&many, state).is_err(), "a list of a hundred copies");
    }

    #[test]
    fn statements_are_refused() {
        assert!(matches!(eval("{% for x in y %}{{ x }}{% endfor %}", json!({})), Err(RenderError::Statement(_))));
        assert!(matches!(eval("{{ state.a ", json!({})), Err(RenderError::Unclosed(_))));
    }

    #[test]
    fn braces_and_quotes_inside_an_expression_do_not_end_it() {
        assert_eq!(eval("{{ {'a': {'b': '}}'}} }}", json!({})).unwrap(), json!({"a": {"b": "}}"}}));
    }

    #[test]
    fn truth_is_typed() {
        let context = context(json!({"no": false, "yes": "no", "empty": []}));
        assert!(!truth("{{ state.no }}", &context).unwrap());
        assert!(truth("state.yes == 'no'", &context).unwrap());
        assert!(!truth("{{ state.empty }}", &context).unwrap());
    }

    #[test]
    fn paths_say_what_is_read() {
        let paths = expressions_in(&json!({"a": ["{{ context.state.x.y }} {{ steps.one.result }}"]})).unwrap();
        assert!(paths.contains(&vec!["state".into(), "x".into(), "y".into()]));
        assert!(paths.contains(&vec!["steps".into(), "one".into(), "result".into()]));
    }
}
