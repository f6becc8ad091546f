//! Plans: any JSON is a plan or a list of faults, and a plan that is written down is read back as the same.

use kybern_core::plan::frozen::FrozenPlan;
use kybern_core::plan::parse::{self, PlanDraft};
use kybern_core::plan::{Plan, PlanOrigin};
use kybern_core::time::Timestamp;
use kybern_engine::Engine;
use kybern_testkit::fuzz::{Chance, Target, json as damage};
use serde_json::{Value, json};

use crate::world::World;

const NAMES: &[&str] = &[
    "id",
    "kind",
    "condition",
    "when",
    "dependsOn",
    "depends_on",
    "saveAs",
    "save_as",
    "stopOnFailure",
    "retry",
    "timeoutMs",
    "timeout_ms",
    "tool",
    "args",
    "agent",
    "task",
    "prompt",
    "schema",
    "title",
    "fields",
    "if",
    "then",
    "else",
    "branches",
    "over",
    "while",
    "maxIterations",
    "steps",
    "workflow",
    "planKey",
    "capability",
    "input",
    "maxAttempts",
    "initialDelayMs",
    "maxDelayMs",
    "backoffMultiplier",
    "key",
    "intentKey",
    "domain",
    "keywords",
    "examples",
    "priority",
    "version",
    "output",
    "__proto__",
    "text",
    "type",
    "properties",
    "required",
];
const TEXTS: &[&str] = &[
    "a",
    "b",
    "c__0__d",
    "Not An Id",
    "tool",
    "agent",
    "decision",
    "input",
    "condition",
    "parallel",
    "loop",
    "workflow",
    "task",
    "tool_call",
    "always",
    "success",
    "t.echo",
    "t.put",
    "t.inject",
    "core.set",
    "core.fail",
    "flow",
    "{{ state.x }}",
    "{{ steps.a.result }}",
    "{{ steps.ghost.result }}",
    "{{",
    "{{ 1 + }}",
    "state.n > 1",
    "item",
    "{{ item.n * index }}",
    "test.plan",
    "string",
    "object",
    "[",
    "(a+)+$",
];

/// Plans of every kind of step.
fn samples() -> Vec<Value> {
    let step = |id: &str| json!({"id": id, "tool": "t.echo", "args": {"got": "{{ task.payload.n }}"}});
    let retry = json!({"maxAttempts": 3, "initialDelayMs": 5, "maxDelayMs": 50, "backoffMultiplier": 1.5});
    vec![
        json!({"key": "test.all", "intentKey": "test.intent", "description": "x", "keywords": ["a"], "examples": ["b"],
            "priority": -3, "version": 2, "output": "{{ steps.a.result }}", "steps": [
            {"id": "a", "tool": "t.echo", "args": {}, "condition": "{{ state.n > 1 }}", "saveAs": "got", "retry": retry, "timeoutMs": 99},
            {"id": "b", "kind": "condition", "if": "steps.a.result", "then": [step("c")], "else": [step("d")]},
            {"id": "e", "kind": "parallel", "branches": [[step("f"), step("g")], [step("h")]], "dependsOn": ["a"]},
            {"id": "i", "kind": "loop", "over": "{{ state.list }}", "maxIterations": 5, "steps": [step("j")], "dependsOn": ["a", "b"]},
        ]}),
        json!({"key": "test.more", "steps": [
            {"id": "k", "kind": "loop", "while": "index < 3", "steps": [step("l")]},
            {"id": "m", "kind": "workflow", "workflow": "flow", "args": {"n": 1}, "stopOnFailure": false},
            {"id": "n", "kind": "task", "planKey": "test.all", "input": {"x": "{{ state.y }}"}, "when": "always"},
            {"id": "o", "kind": "input", "title": "Which?", "fields": {"type": "object", "properties": {"a": {"type": "string"}}}},
            {"id": "p", "kind": "agent", "agent": "x", "task": "do"},
            {"id": "q", "kind": "decision", "prompt": "which", "schema": {"type": "string"}},
            {"id": "r", "kind": "task", "capability": "c"},
        ]}),
        json!({"key": "test.small", "steps": [step("a")]}),
    ]
}

fn check(engine: &Engine, world: &World, input: &[u8]) -> Result<(), String> {
    let Ok(value) = serde_json::from_slice::<Value>(input) else { return Ok(()) };
    let faults =
        futures::executor::block_on(engine.plans().check(world.scope(), &value)).map_err(|error| error.to_string())?;
    let draft = match parse::plan(&value) {
        Ok(draft) => draft,
        Err(_) if faults.is_empty() => return Err("a plan that cannot be read has no faults".to_owned()),
        Err(found) if found.iter().any(|fault| fault.message.is_empty()) => {
            return Err("a fault says nothing".to_owned());
        }
        Err(_) => return Ok(()),
    };
    let written = write(&draft);
    match parse::plan(&written) {
        Ok(again) if again != draft => return Err(format!("read {draft:?}, written and read {again:?}")),
        Ok(again) if write(&again) != written => return Err("written twice it is two different plans".to_owned()),
        Ok(_) => {}
        Err(faults) => return Err(format!("what was written cannot be read: {}", faults[0])),
    }
    let frozen = FrozenPlan::freeze(&draft.key, 1, draft.steps.clone(), draft.output.clone());
    match FrozenPlan::thaw(frozen.body()) {
        Ok(thawed) if thawed == frozen => Ok(()),
        Ok(_) => Err("thawed it is another plan".to_owned()),
        Err(why) => Err(format!("what was frozen cannot be thawed: {why}")),
    }
}

/// A plan as it is sent out, without what the store knows of it.
fn write(draft: &PlanDraft) -> Value {
    let draft = draft.clone();
    let plan = Plan {
        id: None,
        key: draft.key,
        intent_key: draft.intent_key,
        domain: draft.domain,
        description: draft.description,
        keywords: draft.keywords,
        examples: draft.examples,
        priority: draft.priority,
        version: draft.version.unwrap_or(1),
        output: draft.output,
        steps: draft.steps,
        origin: PlanOrigin::Tenant,
        active: true,
        created_at: Timestamp::default(),
        quarantine: Vec::new(),
    };
    let mut value = plan.to_json();
    if let Some(members) = value.as_object_mut() {
        for name in ["id", "origin", "active", "createdAt", "quarantine"] {
            members.remove(name);
        }
        if draft.version.is_none() {
            members.remove("version");
        }
    }
    value
}

fn make(chance: &Chance) -> Vec<u8> {
    let all = samples();
    let (mut plan, other) = (chance.one(&all).clone(), chance.one(&all));
    for _ in 0..=chance.below(5) {
        damage::mutate(&mut plan, other, NAMES, TEXTS, chance);
    }
    plan.to_string().into_bytes()
}

/// What is built to take long or to go deep.
fn bombs() -> Vec<Vec<u8>> {
    let list =
        |step: &dyn Fn(usize) -> Value, n: usize| json!({"key": "a.b", "steps": (0..n).map(step).collect::<Vec<_>>()});
    let nested = (0..40)
        .fold(json!([]), |inner, n| json!([{"id": format!("n{n}"), "kind": "loop", "over": [], "steps": inner}]));
    let all: Vec<String> = (0..400).map(|n| format!("s{n}")).collect();
    vec![
        list(&|n| json!({"id": format!("s{n}")}), 4_000),
        list(&|n| json!({"id": format!("s{n}"), "tool": "t", "dependsOn": [format!("s{}", n + 1)]}), 1_000),
        list(&|n| json!({"id": format!("s{n}"), "tool": "t", "dependsOn": all[..n % 20]}), 400),
        json!({"key": "a.b", "steps": nested}),
        json!({"key": "a.b", "steps": [], "keywords": vec!["x"; 10_000]}),
        json!({"key": "a.b", "steps": [{"id": "a", "kind": "input", "title": "t", "fields": {"type": "string", "pattern": "(a|a)*$".repeat(500)}}]}),
    ]
    .into_iter()
    .map(|plan| plan.to_string().into_bytes())
    .collect()
}

#[test]
fn plans() {
    let world = World::new();
    let engine = world.engine(world.settings.clone());
    let samples = samples().into_iter().map(|plan| plan.to_string().into_bytes());
    Target::new("plans", 1_500, move |input| check(&engine, &world, input))
        .seeds(bombs())
        .seeds(samples)
        .words(&[
            "{",
            "}",
            "[",
            "]",
            "\"",
            ":",
            ",",
            "null",
            "1e999",
            "\\u0000",
            "\\ud800",
            "\"steps\":",
            "\"id\":\"a\"",
        ])
        .made_by(make)
        .play();
}
