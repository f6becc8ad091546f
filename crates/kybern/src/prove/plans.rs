//! Plans as a proof walks them: what needs a model or a plan that is not here is one call that is made up, and
//! conditions can be decided otherwise.

use std::collections::BTreeSet;

use kybern_core::plan::PlanFault;
use kybern_core::plan::parse::readable;
use kybern_core::tool::OwnDefinition;
use serde_json::{Map, Value, json};

use crate::packs;

/// A plan that can be stored.
pub(super) struct Prepared {
    pub(super) key: String,
    pub(super) value: Value,
}

/// A bundled plan as somebody would write it; `None` when there is none with that key.
///
/// # Errors
/// When the program itself is faulty.
pub(crate) fn bundled(key: &str) -> anyhow::Result<Option<Value>> {
    let registry = packs::registry(packs::DOMAINS)?;
    let Some(plan) = registry.find_plan(key) else { return Ok(None) };
    let mut written = json!({
        "key": plan.key,
        "intentKey": plan.intent_key,
        "domain": plan.domain,
        "description": plan.description,
        "steps": plan.steps,
    });
    if let (Some(members), Some(output)) = (written.as_object_mut(), &plan.output) {
        members.insert("output".to_owned(), json!(output));
    }
    Ok(Some(written))
}

/// An HTTP tool as a tenant defines it for `kybern tool create`, where its kind stands with it.
///
/// # Errors
/// A sentence that says what is wrong.
pub(crate) fn own_definition(mut written: Value) -> Result<OwnDefinition, String> {
    let kind = written.as_object_mut().and_then(|members| members.remove("kind"));
    match kind {
        None => {}
        Some(kind) if kind == "http" => {}
        Some(kind) => return Err(format!("a tool of the kind {kind} cannot be written, only \"http\"")),
    }
    serde_json::from_value(written).map_err(|error| error.to_string())
}

/// The keys of all bundled plans.
///
/// # Errors
/// When the program itself is faulty.
pub(crate) fn bundled_keys() -> anyhow::Result<Vec<String>> {
    Ok(packs::registry(packs::DOMAINS)?.plans().map(|plan| plan.key.clone()).collect())
}

/// The key of a plan that cannot run, with its faults.
pub(super) type FaultyPlan = (String, Vec<PlanFault>);

/// Plans with stand-ins, or the first that is none.
///
/// # Errors
/// When the program itself is faulty.
pub(super) fn prepared(plans: &[Value]) -> anyhow::Result<Result<Vec<Prepared>, FaultyPlan>> {
    let text = |plan: &Value| plan.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut keys: BTreeSet<String> = bundled_keys()?.into_iter().collect();
    keys.extend(plans.iter().map(text));
    let mut prepared = Vec::new();
    for plan in plans {
        let (_, faults) = readable(plan);
        if !faults.is_empty() {
            return Ok(Err((text(plan), faults)));
        }
        let mut value = plan.clone();
        if let Some(members) = value.as_object_mut() {
            // Other versions of it are walked as well.
            members.remove("version");
        }
        each_step(&mut value, &mut |step| stand_in(step, &keys));
        prepared.push(Prepared { key: text(plan), value });
    }
    Ok(Ok(prepared))
}

/// An agent, and a child whose plan is not here, are one call each whose answer is made up.
fn stand_in(step: &mut Map<String, Value>, keys: &BTreeSet<String>) {
    let kind = step.get("kind").and_then(Value::as_str).unwrap_or_default();
    let asked = match kind {
        "agent" => "task",
        "task" if !step.get("planKey").and_then(Value::as_str).is_some_and(|key| keys.contains(key)) => "input",
        _ => return,
    };
    let prompt = match step.remove(asked) {
        Some(Value::String(text)) => json!(text),
        Some(other) => json!(other.to_string()),
        None => json!(""),
    };
    for name in ["agent", "planKey", "capability"] {
        step.remove(name);
    }
    step.insert("kind".to_owned(), json!("decision"));
    step.insert("prompt".to_owned(), prompt);
    step.insert("schema".to_owned(), json!({"type": "object", "properties": {}}));
}

/// The workflows that a plan hands over to.
pub(super) fn workflows(plan: &Value) -> Vec<String> {
    let mut plan = plan.clone();
    let mut found = Vec::new();
    each_step(&mut plan, &mut |step| {
        found.extend(step.get("workflow").and_then(Value::as_str).map(str::to_owned));
    });
    found
}

/// The same plan, in which every step with that condition is skipped.
pub(super) fn without(plan: &Value, condition: &str) -> Value {
    let mut changed = plan.clone();
    each_step(&mut changed, &mut |step| {
        // Whatever a plan may write there, the condition that was read is its text.
        let is_same = match step.get("condition") {
            Some(Value::String(text)) => text == condition,
            Some(Value::Bool(yes)) => condition == if *yes { "true" } else { "false" },
            Some(_) | None => false,
        };
        if is_same {
            step.insert("condition".to_owned(), json!("false"));
        }
    });
    changed
}

/// The same plan, in which that `condition` step takes its other way. `None` where its expression is a text with more
/// than one expression in it.
pub(super) fn other_way(plan: &Value, id: &str, test: &str) -> Option<Value> {
    let bare = match test.trim().strip_prefix("{{") {
        Some(inside) => inside.strip_suffix("}}").filter(|inside| !inside.contains("{{"))?,
        None => test,
    };
    let turned = format!("not ({})", bare.trim());
    let mut changed = plan.clone();
    each_step(&mut changed, &mut |step| {
        if step.get("id").and_then(Value::as_str) == Some(id) {
            step.insert("if".to_owned(), json!(turned));
        }
    });
    let (_, faults) = readable(&changed);
    faults.is_empty().then_some(changed)
}

/// Every step of a plan, each before the steps inside it.
fn each_step(plan: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    if let Some(steps) = plan.get_mut("steps") {
        each_of(steps, change);
    }
}

fn each_of(list: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    for step in list.as_array_mut().into_iter().flatten() {
        // A branch is a list of its own.
        if step.is_array() {
            each_of(step, change);
        }
        let Some(members) = step.as_object_mut() else { continue };
        change(members);
        for name in ["steps", "then", "else", "branches"] {
            if let Some(inner) = members.get_mut(name) {
                each_of(inner, change);
            }
        }
    }
}
