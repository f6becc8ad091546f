//! The limits of templates, as the documentation has them: what lies at one is taken, what lies over it is not.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Context, ExpressionError, RenderError, compile, render, render_members};

fn eval(template: &Value, state: &Value) -> Result<Value, RenderError> {
    let context = Context {
        state: Arc::new(state.as_object().cloned().unwrap()),
        steps: Arc::default(),
        task: Arc::default(),
        tenant: Arc::default(),
        user: Arc::default(),
        args: None,
        round: None,
        weight: 0,
    };
    render(template, &context)
}

#[test]
fn an_expression_is_taken_up_to_each_limit() {
    let chars = |n: usize| format!("'{}'", "x".repeat(n - 2));
    let words = |n: usize| format!("{}1", "-".repeat(n - 1));
    let brackets = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    let filters = |n: usize| format!("state.x{}", " | trim".repeat(n));
    let joins = |n: usize| vec!["1"; n + 1].join("+");
    let turns = |n: usize| (0..n).fold("'x'".to_owned(), |inner, _| format!("[{inner}] ~ ''"));
    for (what, limit, of) in [
        ("characters", 2_000, &chars as &dyn Fn(usize) -> String),
        ("words and signs", 500, &words),
        ("brackets", 32, &brackets),
        ("filters", 32, &filters),
        ("joins", 64, &joins),
        ("turns", 4, &turns),
    ] {
        assert!(compile(&of(limit)).is_ok(), "{limit} {what}");
        assert!(matches!(compile(&of(limit + 1)), Err(ExpressionError::Refused { .. })), "{} {what}", limit + 1);
    }
}

#[test]
fn what_is_made_on_the_way_is_measured_like_the_result() {
    let long = "x".repeat(1_000_000);
    let state = json!({"long": long, "three": [long, long, long], "five": [long, long, long, long, long]});
    for (fits, over) in [
        ("{{ state.three }}", "{{ state.five }}"),
        ("{{ state.three }}!", "{{ state.three }} {{ state.three }}"),
        ("{{ state.three | string | length }}", "{{ state.five | string | length }}"),
        ("{{ state.three | tojson | length }}", "{{ state.five | tojson | length }}"),
        ("{{ state.three | join(',') | length }}", "{{ state.five | join(',') | length }}"),
        ("{{ state.long | replace('x', 'abc') | length }}", "{{ state.long | replace('x', 'abcde') | length }}"),
    ] {
        assert!(eval(&json!(fits), &state).is_ok(), "{fits}");
        assert!(eval(&json!(over), &state).is_err(), "{over}");
    }
}

#[test]
fn a_text_becomes_a_hundred_thousand_pieces_and_json_is_indented_by_eight() {
    let text = |n: usize| json!({"text": "a,".repeat(n - 1), "spaced": "a ".repeat(n), "chars": "a".repeat(n)});
    for pieces in ["state.text | split(',')", "state.spaced | split", "state.chars | list"] {
        let template = json!(format!("{{{{ {pieces} | length }}}}"));
        assert!(eval(&template, &text(100_000)).is_ok(), "{pieces}");
        assert!(eval(&template, &text(100_001)).is_err(), "{pieces}");
    }
    for (indent, fits) in [(8, true), (9, false)] {
        assert_eq!(eval(&json!(format!("{{{{ [1] | tojson(indent={indent}) }}}}")), &json!({})).is_ok(), fits);
    }
}

#[test]
fn a_value_is_rendered_sixty_four_deep() {
    let nested = |depth: usize| (0..depth).fold(json!("{{ 1 }}"), |inner, _| json!([inner]));
    assert!(eval(&nested(64), &json!({})).is_ok());
    assert!(matches!(eval(&nested(65), &json!({})), Err(RenderError::Limit(_))));
}

#[test]
fn the_expressions_of_one_object_have_limits_together() {
    let context = |text: &str| Context {
        state: Arc::new(json!({"x": text}).as_object().cloned().unwrap()),
        steps: Arc::default(),
        task: Arc::default(),
        tenant: Arc::default(),
        user: Arc::default(),
        args: None,
        round: None,
        weight: 0,
    };
    let members = |count: usize, expression: &str| {
        (0..count).map(|n| (format!("a{n}"), json!(format!("{{{{ {expression} }}}}")))).collect()
    };
    let of = |count, expression: &str, text: &str| render_members(&members(count, expression), &context(text));
    let limit = |count, expression: &str, text: &str, what: &str| match of(count, expression, text) {
        Err(RenderError::Limit(message)) => assert!(message.contains(what), "{message}"),
        other => panic!("{what}: {:?}", other.map(|made| made.len())),
    };
    assert_eq!(of(1_000, "state.x | trim", "a").unwrap().len(), 1_000);
    limit(1_001, "state.x | trim", "a", "1,000 filters");
    limit(1_000, &format!("1{}", "+1".repeat(30)), "a", "50,000 words");
    let text = "x".repeat(1024 * 1024);
    assert_eq!(of(3, "state.x", &text).unwrap().len(), 3);
    limit(4, "state.x", &text, "4 MiB");
    let list = json!(vec!["{{ state.x }}"; 4]);
    assert!(matches!(render(&list, &context(&text)), Err(RenderError::Limit(_))), "those of a list, too");
}
