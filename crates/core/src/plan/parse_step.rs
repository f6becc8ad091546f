//! Reads one step from its wire form.

use serde_json::{Map, Value};

use super::fault::PlanFault;
use super::limits;
use super::parse::{get, kind_of, known_fields, step_list, text, too_long};
use super::step::{LoopSource, RetryPolicy, StepId, StepKind, StepSpec, TaskTarget, When};
use crate::time::Millis;

/// The fields of every step.
const COMMON: [&str; 9] =
    ["id", "kind", "condition", "when", "dependsOn", "saveAs", "stopOnFailure", "retry", "timeoutMs"];

/// The longest that one try of a step may be given: a day.
const MAX_TIMEOUT: u64 = 24 * 60 * 60 * 1000;

/// Where a reader stands, and what it has found wrong so far.
struct Reader<'a> {
    fields: &'a Map<String, Value>,
    path: &'a str,
    id: Option<&'a str>,
    depth: usize,
    faults: &'a mut Vec<PlanFault>,
}

impl Reader<'_> {
    fn fault(&mut self, field: &str, message: impl Into<String>) {
        self.faults.push(PlanFault::new(format!("{}/{field}", self.path), self.id, message));
    }

    fn text(&mut self, name: &str) -> Option<String> {
        text(self.fields, name, (self.path, self.id), self.faults)
    }

    /// The name of what a step uses.
    fn name(&mut self, name: &str) -> Option<String> {
        let found = self.text(name)?;
        if let Some(message) = too_long(&found, limits::MAX_NAMED, name) {
            self.fault(name, message);
        }
        Some(found)
    }

    fn required_name(&mut self, name: &str) -> String {
        let found = self.name(name);
        self.present(name, found)
    }

    /// A text that has to be there.
    fn present(&mut self, name: &str, found: Option<String>) -> String {
        if found.is_none() && get(self.fields, name).is_none() {
            self.fault(name, format!("{name} is missing"));
        }
        found.unwrap_or_default()
    }

    /// An expression, whose own limit holds when it is compiled.
    fn required_expression(&mut self, name: &str) -> String {
        let found = self.text(name);
        self.present(name, found)
    }

    fn required(&mut self, name: &str) -> Value {
        match get(self.fields, name) {
            Some(value) => value.clone(),
            None => {
                self.fault(name, format!("{name} is missing"));
                Value::Null
            }
        }
    }

    fn object(&mut self, name: &str) -> Map<String, Value> {
        match get(self.fields, name) {
            None => Map::new(),
            Some(Value::Object(map)) => map.clone(),
            Some(other) => {
                self.fault(name, format!("{name} must be an object, found {}", kind_of(other)));
                Map::new()
            }
        }
    }

    fn steps(&mut self, name: &str) -> Vec<StepSpec> {
        match get(self.fields, name) {
            None => Vec::new(),
            Some(value) => step_list(value, &format!("{}/{name}", self.path), self.depth + 1, self.faults),
        }
    }
}

/// Reads one step; `None` when it cannot be read at all. Faults are added to `faults`.
pub(super) fn step(value: &Value, path: &str, depth: usize, faults: &mut Vec<PlanFault>) -> Option<StepSpec> {
    let Value::Object(fields) = value else {
        faults.push(PlanFault::new(path, None, format!("a step is an object, found {}", kind_of(value))));
        return None;
    };
    let written_id = fields.get("id").and_then(Value::as_str);
    let mut reader = Reader { fields, path, id: written_id, depth, faults };
    let id = match written_id {
        None => Err("a step needs an id".to_owned()),
        // Derived ids are read back from frozen plans and injected steps; they are longer than an author may write.
        Some(id) if id.contains("__") => StepId::parse_derived(id),
        Some(id) => StepId::parse(id),
    };
    let id = id.map_err(|message| reader.fault("id", message)).ok();
    let kind = kind(&mut reader);
    let spec = StepSpec {
        id: id?,
        kind: kind?,
        condition: condition(&mut reader),
        when: when(&mut reader),
        depends_on: depends_on(&mut reader),
        save_as: save_as(&mut reader),
        stop_on_failure: stop_on_failure(&mut reader),
        retry: retry(&mut reader),
        timeout: timeout(&mut reader),
    };
    Some(spec)
}

fn kind(reader: &mut Reader<'_>) -> Option<StepKind> {
    let name = reader.text("kind").unwrap_or_else(|| "tool".to_owned());
    let own: &[&str] = match name.as_str() {
        "tool" | "tool_call" => &["tool", "args"],
        "agent" => &["agent", "task"],
        "decision" | "llm_decision" => &["prompt", "schema"],
        "input" | "user_input" => &["title", "fields"],
        "condition" => &["if", "then", "else"],
        "parallel" => &["branches"],
        "loop" => &["over", "while", "maxIterations", "steps"],
        "workflow" => &["workflow", "args"],
        "task" => &["planKey", "capability", "input"],
        other => {
            let kinds = "tool, agent, decision, input, condition, parallel, loop, workflow, task";
            reader.fault("kind", format!("unknown kind {other:?}, expected one of {kinds}"));
            return None;
        }
    };
    let known: Vec<&str> = COMMON.iter().chain(own).copied().collect();
    known_fields(reader.fields, &known, reader.path, reader.id, reader.faults);
    Some(match name.as_str() {
        "tool" | "tool_call" => StepKind::Tool { tool: reader.required_name("tool"), args: reader.object("args") },
        "agent" => StepKind::Agent { agent: reader.required_name("agent"), task: reader.required("task") },
        "decision" | "llm_decision" => {
            StepKind::Decision { prompt: reader.required("prompt"), schema: reader.required("schema") }
        }
        "input" | "user_input" => {
            StepKind::Input { title: reader.required("title"), fields: Value::Object(reader.object("fields")) }
        }
        "condition" => StepKind::Condition {
            test: reader.required_expression("if"),
            then: reader.steps("then"),
            otherwise: reader.steps("else"),
        },
        "parallel" => parallel(reader),
        "loop" => repeat(reader),
        "workflow" => StepKind::Workflow { workflow: reader.required_name("workflow"), args: reader.object("args") },
        _ => child(reader),
    })
}

fn parallel(reader: &mut Reader<'_>) -> StepKind {
    let Some(Value::Array(items)) = get(reader.fields, "branches") else {
        reader.fault("branches", "branches must be a list of lists of steps");
        return StepKind::Parallel { branches: Vec::new() };
    };
    let branches = items
        .iter()
        .enumerate()
        .map(|(n, branch)| step_list(branch, &format!("{}/branches/{n}", reader.path), reader.depth + 1, reader.faults))
        .collect();
    StepKind::Parallel { branches }
}

fn repeat(reader: &mut Reader<'_>) -> StepKind {
    let over = get(reader.fields, "over").cloned();
    let test = reader.text("while");
    let source = match (over, test) {
        (Some(items), None) => LoopSource::Over(items),
        (None, Some(test)) => LoopSource::While(test),
        (Some(_), Some(_)) | (None, None) => {
            reader.fault("over", "a loop needs either over or while");
            LoopSource::Over(Value::Null)
        }
    };
    let max_iterations = match get(reader.fields, "maxIterations") {
        None => limits::DEFAULT_ITERATIONS,
        Some(value) => match value.as_u64().and_then(|n| u32::try_from(n).ok()) {
            Some(n) if (1..=limits::MAX_ITERATIONS).contains(&n) => n,
            Some(_) | None => {
                let message = format!("maxIterations must be an integer from 1 to {}", limits::MAX_ITERATIONS);
                reader.fault("maxIterations", message);
                limits::DEFAULT_ITERATIONS
            }
        },
    };
    StepKind::Loop { source, max_iterations, steps: reader.steps("steps") }
}

fn child(reader: &mut Reader<'_>) -> StepKind {
    let target = match (reader.name("planKey"), reader.name("capability")) {
        (Some(key), None) => TaskTarget::Plan(key),
        (None, Some(key)) => TaskTarget::Capability(key),
        (Some(_), Some(_)) | (None, None) => {
            reader.fault("planKey", "a task step needs either planKey or capability");
            TaskTarget::Plan(String::new())
        }
    };
    StepKind::Task { target, input: get(reader.fields, "input").cloned().unwrap_or(Value::Null) }
}

fn condition(reader: &mut Reader<'_>) -> Option<String> {
    match get(reader.fields, "condition")? {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(format!("{{{{ {value} }}}}")),
        other @ (Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            reader.fault("condition", format!("condition must be a text or a boolean, found {}", kind_of(other)));
            None
        }
    }
}

fn when(reader: &mut Reader<'_>) -> When {
    match reader.text("when").as_deref() {
        None | Some("success") => When::Success,
        Some("always") => When::Always,
        Some(other) => {
            reader.fault("when", format!("when must be success or always, found {other:?}"));
            When::Success
        }
    }
}

fn depends_on(reader: &mut Reader<'_>) -> Option<Vec<StepId>> {
    let value = get(reader.fields, "dependsOn")?;
    let ids: Option<Vec<StepId>> =
        value.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(StepId::trusted)).collect());
    if ids.is_none() {
        reader.fault("dependsOn", "dependsOn must be a list of step ids");
    }
    ids
}

fn save_as(reader: &mut Reader<'_>) -> Option<String> {
    let name = reader.text("saveAs")?;
    if name.is_empty() || name.starts_with('_') || name.len() > 100 {
        reader.fault("saveAs", "saveAs must be 1 to 100 characters and not begin with _");
    }
    Some(name)
}

fn stop_on_failure(reader: &mut Reader<'_>) -> Option<bool> {
    let value = get(reader.fields, "stopOnFailure")?;
    if value.as_bool().is_none() {
        reader.fault("stopOnFailure", format!("stopOnFailure must be a boolean, found {}", kind_of(value)));
    }
    value.as_bool()
}

fn timeout(reader: &mut Reader<'_>) -> Option<Millis> {
    let value = get(reader.fields, "timeoutMs")?;
    let timeout = value.as_u64().filter(|ms| (1..=MAX_TIMEOUT).contains(ms));
    if timeout.is_none() {
        reader.fault("timeoutMs", format!("timeoutMs must be an integer from 1 to {MAX_TIMEOUT}"));
    }
    timeout.map(Millis)
}

fn retry(reader: &mut Reader<'_>) -> Option<RetryPolicy> {
    let value = get(reader.fields, "retry")?;
    let Value::Object(fields) = value else {
        reader.fault("retry", format!("retry must be an object, found {}", kind_of(value)));
        return None;
    };
    const NAMES: [&str; 4] = ["maxAttempts", "initialDelayMs", "maxDelayMs", "backoffMultiplier"];
    let path = format!("{}/retry", reader.path);
    known_fields(fields, &NAMES, &path, reader.id, reader.faults);
    let mut policy = RetryPolicy::DEFAULT;
    let mut whole = |name: &str, low: u64, high: u64| -> Option<u64> {
        let value = get(fields, name)?;
        let number = value.as_u64().filter(|number| (low..=high).contains(number));
        if number.is_none() {
            reader.fault("retry", format!("{name} must be an integer from {low} to {high}"));
        }
        number
    };
    if let Some(attempts) = whole(NAMES[0], 1, 20).and_then(|n| u32::try_from(n).ok()) {
        policy.max_attempts = attempts;
    }
    if let Some(delay) = whole(NAMES[1], 0, MAX_TIMEOUT) {
        policy.initial_delay_ms = Millis(delay);
        policy.max_delay_ms = policy.max_delay_ms.max(Millis(delay));
    }
    if let Some(delay) = whole(NAMES[2], 0, MAX_TIMEOUT) {
        policy.max_delay_ms = Millis(delay);
    }
    if let Some(value) = get(fields, NAMES[3]) {
        match value.as_f64().filter(|factor| (1.0..=10.0).contains(factor)) {
            Some(factor) => policy.backoff_multiplier = factor,
            None => reader.fault("retry", "backoffMultiplier must be a number from 1 to 10"),
        }
    }
    Some(policy)
}
