//! Reads plans from their wire form. Every fault is listed, not only the first; unknown fields are faults, because a
//! field that is silently ignored is a plan that does something else than its author thinks.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value};

use super::fault::PlanFault;
use super::step::StepSpec;
use super::{graph, limits, parse_step};
use crate::json;

/// The highest version of a plan; every database has room for it and for the next.
pub const MAX_VERSION: u32 = 1_000_000_000;

/// Why a plan cannot have a version, where there is none so high.
#[must_use]
pub fn no_version(key: &str, version: u32) -> Option<String> {
    (version > MAX_VERSION).then(|| format!("plan {key} has the last version that there may be: name a free one"))
}

/// A plan as somebody wants it stored: no id, and perhaps no version, yet.
#[derive(Clone, PartialEq, Debug)]
pub struct PlanDraft {
    pub key: String,
    /// The intent it serves; its key when the author names none.
    pub intent_key: String,
    /// Its domain; the part of the key before the first dot when the author names none.
    pub domain: String,
    /// What it does.
    pub description: String,
    /// Words that speak for its intent.
    pub keywords: Vec<String>,
    /// Messages that ask for its intent.
    pub examples: Vec<String>,
    /// Its rank among plans for one intent.
    pub priority: i64,
    /// The version the author asks for; the next free one otherwise.
    pub version: Option<u32>,
    /// The expression that makes the result.
    pub output: Option<String>,
    pub steps: Vec<StepSpec>,
}

/// The most characters of an intent's name: tasks are found by it, and indexes take no long texts.
pub const MAX_INTENT_KEY: usize = 200;

const FIELDS: &[&str] =
    &["key", "intentKey", "domain", "description", "keywords", "examples", "priority", "version", "output", "steps"];

/// Reads a plan.
///
/// # Errors
/// Every fault of form and order. Tools and agents are not known here; the engine checks those.
pub fn plan(value: &Value) -> Result<PlanDraft, Vec<PlanFault>> {
    match readable(value) {
        (Some(draft), faults) if faults.is_empty() => Ok(draft),
        (_, faults) => Err(faults),
    }
}

/// Reads what can be read of a plan, and lists every fault of form and order: a checker of tools can then list its
/// own faults beside them.
#[must_use]
pub fn readable(value: &Value) -> (Option<PlanDraft>, Vec<PlanFault>) {
    let mut faults = Vec::new();
    let Value::Object(fields) = value else {
        return (None, vec![PlanFault::new("", None, "a plan is a JSON object")]);
    };
    if let Some(fault) = too_large(value, "") {
        // Nothing else is looked for in what nobody wants.
        return (None, vec![fault]);
    }
    known_fields(fields, FIELDS, "", None, &mut faults);
    no_nul(value, "", &mut faults);
    let key = text(fields, "key", ("", None), &mut faults).unwrap_or_default();
    if !key_is_well_formed(&key) {
        let message = format!("key {key:?} must be 1 to 100 characters of [a-z0-9_.-] and begin with a letter");
        faults.push(PlanFault::new("/key", None, message));
    }
    let domain = text(fields, "domain", ("", None), &mut faults);
    let intent_key = text(fields, "intentKey", ("", None), &mut faults).unwrap_or_else(|| key.clone());
    let description = text(fields, "description", ("", None), &mut faults).unwrap_or_default();
    for (name, text, most) in [
        ("intentKey", &intent_key, MAX_INTENT_KEY),
        ("domain", domain.as_ref().unwrap_or(&key), limits::MAX_DOMAIN),
        ("description", &description, limits::MAX_DESCRIPTION),
    ] {
        faults.extend(too_long(text, most, name).map(|message| PlanFault::new(format!("/{name}"), None, message)));
    }
    let steps = steps(get(fields, "steps").unwrap_or(&Value::Null), "/steps", &mut faults);
    let output = text(fields, "output", ("", None), &mut faults);
    let draft = PlanDraft {
        domain: domain.unwrap_or_else(|| key.split_once('.').map_or("global", |(domain, _)| domain).to_owned()),
        description,
        keywords: texts(fields, "keywords", &mut faults),
        examples: texts(fields, "examples", &mut faults),
        priority: integer(fields, "priority", &mut faults).unwrap_or(0),
        version: integer(fields, "version", &mut faults).and_then(|version| {
            let version = u32::try_from(version).ok().filter(|version| (1..=MAX_VERSION).contains(version));
            if version.is_none() {
                faults.push(PlanFault::new("/version", None, "version must be from 1 to 1,000,000,000"));
            }
            version
        }),
        key,
        intent_key,
        output,
        steps,
    };
    (Some(draft), faults)
}

/// What is wrong with the size of a plan, or of steps that are to become part of one.
#[must_use]
pub fn too_large<T: Serialize + ?Sized>(written: &T, path: &str) -> Option<PlanFault> {
    let bytes = json::bytes_of(written);
    (bytes > limits::MAX_BYTES).then(|| {
        let most = limits::MAX_BYTES;
        let message = format!(
            "{bytes} bytes of JSON are over the limit of {most}: keep large values in a record or a \
                               file and name them here, or hand a part to a task step with a plan of its own"
        );
        PlanFault::new(path, None, message)
    })
}

/// Reads a list of steps with all that is inside, and checks ids and order.
pub fn steps(value: &Value, path: &str, faults: &mut Vec<PlanFault>) -> Vec<StepSpec> {
    let list = step_list(value, path, 0, faults);
    let count: usize = list.iter().map(StepSpec::count).sum();
    if count > limits::MAX_STEPS {
        let message = format!("{count} steps are over the limit of {}", limits::MAX_STEPS);
        faults.push(PlanFault::new(path, None, message));
        // Whether they fit together is not looked at any more.
        return Vec::new();
    }
    let mut seen = HashSet::new();
    unique_ids(&list, path, &mut seen, faults);
    graph::check(&list, path, faults);
    list
}

/// Reads one level of steps.
pub(super) fn step_list(value: &Value, path: &str, depth: usize, faults: &mut Vec<PlanFault>) -> Vec<StepSpec> {
    // Nothing is nested in an empty list, which stands where none is written.
    if depth > limits::MAX_DEPTH && value.as_array().is_none_or(|items| !items.is_empty()) {
        let message = format!("steps are nested deeper than {}", limits::MAX_DEPTH);
        faults.push(PlanFault::new(path, None, message));
        return Vec::new();
    }
    let Value::Array(items) = value else {
        faults.push(PlanFault::new(path, None, "expected a list of steps"));
        return Vec::new();
    };
    let mut list = Vec::new();
    for (n, item) in items.iter().enumerate() {
        if is_hopeless(faults) {
            break;
        }
        list.extend(parse_step::step(item, &format!("{path}/{n}"), depth, faults));
    }
    list
}

/// Whether so many faults are listed that one more helps nobody.
fn is_hopeless(faults: &[PlanFault]) -> bool {
    faults.len() >= limits::MAX_FAULTS
}

fn unique_ids(list: &[StepSpec], path: &str, seen: &mut HashSet<String>, faults: &mut Vec<PlanFault>) {
    for (n, step) in list.iter().enumerate() {
        let id = step.id.as_str();
        let mut fault = |message| faults.push(PlanFault::new(format!("{path}/{n}/id"), Some(id), message));
        if id.contains("__") {
            // Else it could be the id of a step that stands inside another.
            fault(format!("step id {id:?} has two underscores in a row, which join the ids of steps inside others"));
        } else if !seen.insert(id.to_owned()) {
            fault(format!("step id {id:?} appears twice, ids are unique in a plan"));
        }
        for inner in step.kind.inner() {
            unique_ids(inner, &format!("{path}/{n}"), seen, faults);
        }
    }
}

/// No database keeps U+0000, and no template, address or prompt has a use for it.
fn no_nul(value: &Value, path: &str, faults: &mut Vec<PlanFault>) {
    let found = match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| no_nul(item, &format!("{path}/{n}"), faults));
            false
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| no_nul(member, &format!("{path}/{name}"), faults));
            members.keys().any(|name| name.contains('\0'))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    if found && !is_hopeless(faults) {
        faults.push(PlanFault::new(path, None, "contains the character U+0000, remove it"));
    }
}

fn key_is_well_formed(key: &str) -> bool {
    key.len() <= 100
        && key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.' | '-'))
}

/// A field under its name or its snake_case alias.
pub(super) fn get<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).or_else(|| fields.get(&snake(name))).filter(|value| !value.is_null())
}

/// A field's other name: `depends_on` for `dependsOn`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

pub(super) fn known_fields(
    fields: &Map<String, Value>,
    known: &[&str],
    path: &str,
    step_id: Option<&str>,
    faults: &mut Vec<PlanFault>,
) {
    for name in fields.keys() {
        if is_hopeless(faults) {
            break;
        }
        if !known.contains(&name.as_str()) && !known.iter().any(|known| *name == snake(known)) {
            let message = format!("unknown field {name:?}");
            faults.push(PlanFault::new(format!("{path}/{name}"), step_id, message));
        }
    }
}

/// What is wrong with a text that has more characters than it may.
pub(super) fn too_long(text: &str, most: usize, name: &str) -> Option<String> {
    (text.chars().count() > most).then(|| format!("{name} has at most {most} characters"))
}

pub(super) fn text(
    fields: &Map<String, Value>,
    name: &str,
    (path, step_id): (&str, Option<&str>),
    faults: &mut Vec<PlanFault>,
) -> Option<String> {
    match get(fields, name)? {
        Value::String(text) => Some(text.clone()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            let message = format!("{name} must be a text, found {}", kind_of(other));
            faults.push(PlanFault::new(format!("{path}/{name}"), step_id, message));
            None
        }
    }
}

fn texts(fields: &Map<String, Value>, name: &str, faults: &mut Vec<PlanFault>) -> Vec<String> {
    let Some(value) = get(fields, name) else { return Vec::new() };
    let list: Option<Vec<String>> =
        value.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    list.unwrap_or_else(|| {
        faults.push(PlanFault::new(format!("/{name}"), None, format!("{name} must be a list of texts")));
        Vec::new()
    })
}

fn integer(fields: &Map<String, Value>, name: &str, faults: &mut Vec<PlanFault>) -> Option<i64> {
    let value = get(fields, name)?;
    if value.as_i64().is_none() {
        faults.push(PlanFault::new(format!("/{name}"), None, format!("{name} must be an integer")));
    }
    value.as_i64()
}

/// What a JSON value is, for messages.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_deepest_loop_may_hold_nothing_whether_it_says_so_or_not() {
        let nested = |innermost: Value| {
            let steps = (0..limits::MAX_DEPTH).fold(
                json!([innermost]),
                |inner, n| json!([{"id": format!("n{n}"), "kind": "loop", "over": [], "steps": inner}]),
            );
            plan(&json!({"key": "a.b", "steps": steps}))
        };
        let silent = nested(json!({"id": "x", "kind": "loop", "over": []})).unwrap();
        assert_eq!(nested(json!({"id": "x", "kind": "loop", "over": [], "steps": []})).unwrap(), silent);
        let deeper = json!({"id": "x", "kind": "loop", "over": [], "steps": [{"id": "y", "tool": "core.noop"}]});
        assert!(nested(deeper).unwrap_err()[0].message.contains("nested deeper"));
    }

    #[test]
    fn an_expression_is_not_held_to_the_length_of_a_name() {
        let of = |test: Value| plan(&json!({"key": "a.b", "steps": [{"id": "a", "kind": "condition", "if": test}]}));
        assert!(of(json!(format!("1 =={}1", " ".repeat(1_000)))).is_ok());
        for (test, says) in [(Value::Null, "if is missing"), (json!(7), "if must be a text")] {
            let faults = of(test).unwrap_err();
            assert_eq!((faults.len(), faults[0].path.as_str()), (1, "/steps/0/if"), "{faults:?}");
            assert!(faults[0].message.contains(says), "{faults:?}");
        }
    }

    #[test]
    fn no_written_id_can_be_that_of_a_step_inside_another() {
        let faults = |inner: &str, behind: &str| {
            let ask =
                json!({"id": "ask", "kind": "condition", "if": "true", "then": [{"id": inner, "tool": "core.noop"}]});
            let steps = json!([ask, {"id": behind, "tool": "core.noop"}]);
            plan(&json!({"key": "a.b", "steps": steps})).err().unwrap_or_default()
        };
        assert_eq!(faults("yes", "ask_yes"), []);
        let found = faults("yes", "ask__yes");
        assert_eq!((found.len(), found[0].path.as_str()), (1, "/steps/1/id"), "{found:?}");
        assert!(found[0].message.contains("two underscores"), "{found:?}");
        assert_eq!(faults("yes__no", "x")[0].path, "/steps/0/0/id");
    }

    #[test]
    fn a_plan_with_more_faults_than_help_is_read_no_further() {
        let most = |faults: Vec<PlanFault>| assert!(faults.len() <= limits::MAX_FAULTS + 20, "{}", faults.len());
        let many = 100_000;
        let of_many = |body: Value| plan(&body).unwrap_err();
        most(of_many(json!({"key": "a.b", "steps": vec![json!({}); many]})));
        let inner = json!({"id": "x", "kind": "loop", "over": [], "steps": vec![json!({}); 300]});
        most(of_many(json!({"key": "a.b", "steps": vec![inner; 300]})));
        let unknown: Map<String, Value> = (0..many / 2).map(|n| (format!("f{n}"), Value::Null)).collect();
        most(of_many(Value::Object(unknown)));
        most(of_many(json!({"key": "a.b", "keywords": vec!["\0"; many]})));
        let good = json!({"id": "x", "tool": "core.noop"});
        assert!(of_many(json!({"key": "a.b", "steps": vec![good; 10_000]}))[0].message.contains("10000 steps"));
    }

    #[test]
    fn a_plan_of_more_bytes_than_the_limit_is_refused_for_that_alone() {
        let step = |bytes: usize| json!({"id": "x", "tool": "t", "args": {"text": "x".repeat(bytes)}});
        let of = |bytes: usize| json!({"key": "a.b", "steps": [step(bytes)]});
        let around = of(0).to_string().len();
        assert!(plan(&of(limits::MAX_BYTES - around)).is_ok());
        let faults = plan(&of(limits::MAX_BYTES - around + 1)).unwrap_err();
        assert_eq!((faults.len(), faults[0].path.as_str()), (1, ""));
        assert!(
            faults[0].message.starts_with("524289 bytes of JSON are over the limit of 524288"),
            "{}",
            faults[0].message
        );
    }

    #[test]
    fn a_nul_is_a_fault_wherever_it_stands() {
        let good = json!({"key": "a.b", "steps": [{"id": "x", "tool": "core.set", "args": {"deep": ["ok"]}}]});
        assert!(plan(&good).is_ok());
        let places = |change: &dyn Fn(&mut Value)| {
            let mut body = good.clone();
            change(&mut body);
            plan(&body).unwrap_err().into_iter().map(|fault| fault.path).collect::<Vec<_>>()
        };
        assert_eq!(places(&|body| body["description"] = json!("a\0")), ["/description"]);
        assert_eq!(places(&|body| body["description"] = json!("é".repeat(2_001))), ["/description"]);
        assert_eq!(places(&|body| body["domain"] = json!("d".repeat(101))), ["/domain"]);
        assert_eq!(places(&|body| body["steps"][0]["tool"] = json!("t".repeat(201))), ["/steps/0/tool"]);
        let child = json!({"id": "x", "kind": "task", "planKey": "p".repeat(201)});
        assert_eq!(places(&|body| body["steps"][0] = child.clone()), ["/steps/0/planKey"]);
        assert_eq!(places(&|body| body["keywords"] = json!(["a", "b\0"])), ["/keywords/1"]);
        assert_eq!(places(&|body| body["steps"][0]["args"]["deep"][0] = json!("\0")), ["/steps/0/args/deep/0"]);
        assert_eq!(places(&|body| body["steps"][0]["args"]["a\0"] = json!(1)), ["/steps/0/args"]);
    }
}
