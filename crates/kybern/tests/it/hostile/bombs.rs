//! Plans: templates that make much out of little, loops in loops, children of children. They are refused when they are
//! stored, or their tasks fail; nothing else does.

use serde_json::{Value, json};

use super::{Attack, Expect};
use crate::server::client::Ask;

pub(super) fn all() -> Vec<Attack> {
    let mut attacks: Vec<Attack> =
        templates().into_iter().enumerate().map(|(n, (what, template))| template_of(n, what, &template)).collect();
    attacks.extend(loops());
    attacks
}

/// Templates that the state below feeds.
fn templates() -> Vec<(&'static str, String)> {
    let chain = |piece: &str, times: usize| piece.repeat(times);
    vec![
        ("a text a hundred million times", "'a' * 100000000".to_owned()),
        ("a tuple a hundred million times", "((1,) * 100000000) | length".to_owned()),
        ("names a hundred million times", "(state | first) * 10000000 + (context | first) * 10000000".to_owned()),
        ("ten thousand million spaces", "[1] | tojson(indent=9999999999)".to_owned()),
        ("JSON of JSON of JSON", format!("'\"'{}", chain(" | tojson", 200))),
        ("a list as a text in a list as a text", format!("{}'\\\\'{}", chain("[", 40), chain("] ~ ''", 40))),
        ("the same by a filter", format!("{}'\\\\'{}", chain("[", 30), chain("] | string", 30))),
        ("everything joined with everything", "task.payload.big | join(task.payload.text)".to_owned()),
        (
            "everything replaced by everything",
            "task.payload.text | replace('x', task.payload.text) | replace('x', task.payload.text)".to_owned(),
        ),
        ("sums of texts", "task.payload.text | split('') | sum(start='')".to_owned()),
        ("sorted a hundred times", format!("task.payload.text{}", chain(" | split('') | sort | join", 60))),
        ("a hundred copies", format!("[{}]", vec!["task.payload.big"; 200].join(", "))),
        ("nested a thousand deep", format!("{}1{}", chain("(", 900), chain(")", 900))),
        ("a statement", "1 }}{% for x in range(1000000000) %}x{% endfor %}{{ 1".to_owned()),
    ]
}

/// A plan that renders it, and a task that feeds it.
fn template_of(n: usize, what: &str, template: &str) -> Attack {
    let plan = json!({"key": format!("hostile.template_{n}"), "steps": [
        {"id": "a", "tool": "core.set", "args": {"x": format!("{{{{ {template} }}}}")}, "retry": {"maxAttempts": 1}},
    ]});
    let payload =
        json!({"text": "x".repeat(200_000), "big": (0..2_000).map(|n| "x".repeat(n % 50)).collect::<Vec<_>>()});
    Attack::new(what, Ask::json("/api/plans", &plan), Expect::Walks(payload, &["failed"]))
}

pub(super) fn loops() -> Vec<Attack> {
    let steps = |what: &str, steps: Value, rests: &'static [&'static str]| {
        let plan = json!({"key": format!("hostile.{}", what.replace(' ', "_")), "steps": steps});
        let list: Vec<usize> = (0..10_000).collect();
        Attack::new(what, Ask::json("/api/plans", &plan), Expect::Walks(json!({"list": list}), rests))
    };
    let noop = json!([{"id": "n", "tool": "core.noop", "args": {}}]);
    let inside = |id: &str, inner: Value| json!([{"id": id, "kind": "loop", "over": "{{ task.payload.list }}", "maxIterations": 10_000, "steps": inner}]);
    let deep = (0..7).fold(noop.clone(), |inner, n| inside(&format!("l{n}"), inner));
    let deeper = (0..25).fold(noop.clone(), |inner, n| inside(&format!("l{n}"), inner));
    let branches: Vec<Value> =
        (0..400).map(|n| json!([{"id": format!("b{n}"), "tool": "core.noop", "args": {}}])).collect();
    vec![
        steps("loops in loops", deep, &["failed"]),
        steps("loops deeper than allowed", deeper, &[]),
        steps(
            "a loop without end",
            json!([{"id": "l", "kind": "loop", "while": "true", "maxIterations": 10_000, "steps": noop}]),
            &["failed"],
        ),
        steps("400 branches", json!([{"id": "p", "kind": "parallel", "branches": branches}]), &["failed"]),
        steps(
            "a pattern that backtracks",
            json!([{"id": "a", "kind": "input", "title": "t", "fields": {"type": "object", "properties": {"x": {"type": "string", "pattern": "(a|a)*$".repeat(2_000)}}}}]),
            &["needs_review", "failed"],
        ),
    ]
}
