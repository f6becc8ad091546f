//! The canonical wire form of plans and steps: camelCase, defaults left out, fields in a fixed order.

use serde_json::{Map, Value, json};

use super::step::{LoopSource, StepKind, StepSpec, TaskTarget, When};
use super::stored::Plan;

/// A plan on the wire.
pub(super) fn plan(plan: &Plan) -> Value {
    json!({
        "id": plan.id,
        "key": plan.key,
        "intentKey": plan.intent_key,
        "domain": plan.domain,
        "description": plan.description,
        "keywords": plan.keywords,
        "examples": plan.examples,
        "priority": plan.priority,
        "version": plan.version,
        "output": plan.output,
        "steps": plan.steps.iter().map(step).collect::<Vec<_>>(),
        "origin": plan.origin,
        "active": plan.active,
        "createdAt": plan.created_at,
        "quarantine": plan.quarantine,
    })
}

/// A step on the wire.
pub(super) fn step(step: &StepSpec) -> Value {
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| {
        out.insert(name.to_owned(), value);
    };
    put("id", json!(step.id));
    put("kind", json!(step.kind.name()));
    match &step.kind {
        StepKind::Tool { tool, args } => {
            put("tool", json!(tool));
            put("args", json!(args));
        }
        // The kernel's own, and never written into a plan.
        StepKind::Question => {}
        StepKind::Agent { agent, task } => {
            put("agent", json!(agent));
            put("task", task.clone());
        }
        StepKind::Decision { prompt, schema } => {
            put("prompt", prompt.clone());
            put("schema", schema.clone());
        }
        StepKind::Input { title, fields } => {
            put("title", title.clone());
            put("fields", fields.clone());
        }
        StepKind::Condition { test, then, otherwise } => {
            put("if", json!(test));
            put("then", steps(then));
            put("else", steps(otherwise));
        }
        StepKind::Parallel { branches } => {
            put("branches", branches.iter().map(|branch| steps(branch)).collect());
        }
        StepKind::Loop { source, max_iterations, steps: inner } => {
            match source {
                LoopSource::Over(items) => put("over", items.clone()),
                LoopSource::While(test) => put("while", json!(test)),
            }
            put("maxIterations", json!(max_iterations));
            put("steps", steps(inner));
        }
        StepKind::Workflow { workflow, args } => {
            put("workflow", json!(workflow));
            put("args", json!(args));
        }
        StepKind::Task { target, input } => {
            match target {
                TaskTarget::Plan(key) => put("planKey", json!(key)),
                TaskTarget::Capability(key) => put("capability", json!(key)),
            }
            put("input", input.clone());
        }
    }
    if let Some(condition) = &step.condition {
        put("condition", json!(condition));
    }
    if step.when != When::Success {
        put("when", json!(step.when));
    }
    if let Some(depends_on) = &step.depends_on {
        put("dependsOn", json!(depends_on));
    }
    if let Some(save_as) = &step.save_as {
        put("saveAs", json!(save_as));
    }
    if let Some(stop) = step.stop_on_failure {
        put("stopOnFailure", json!(stop));
    }
    if let Some(retry) = &step.retry {
        put("retry", json!(retry));
    }
    if let Some(timeout) = step.timeout {
        put("timeoutMs", json!(timeout));
    }
    Value::Object(out)
}

fn steps(list: &[StepSpec]) -> Value {
    list.iter().map(step).collect()
}
