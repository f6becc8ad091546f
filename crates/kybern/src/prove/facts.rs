//! What a plan says, step by step: who stands where, what is tolerated, and which names are read by whom.

use std::collections::BTreeMap;

use kybern_core::plan::step::LoopSource;
use kybern_core::plan::{StepKind, StepSpec, When};
use kybern_engine::templates::{Path, compile, expressions_in};
use serde_json::{Value, json};

use super::stage::KnownTool;

/// What a call over HTTP puts into the state.
pub(super) const HTTP_NAMES: [&str; 3] = ["status", "json", "text"];

/// One step, with what stands around it.
#[derive(Clone, Debug)]
pub(super) struct StepFact {
    pub(super) id: String,
    pub(super) spec: StepSpec,
    /// The steps that hold it, outermost first, each with the number of the list in which it stands.
    pub(super) around: Vec<(String, usize)>,
    /// Whether its failure, or that of a step around it, lets the task go on.
    pub(super) is_tolerated: bool,
    /// Whether its tool calls over HTTP.
    pub(super) is_http: bool,
    /// The innermost loop around it.
    pub(super) in_loop: Option<String>,
}

/// A name that an expression reads.
#[derive(Clone, Debug)]
pub(super) struct NameRead {
    /// The step that reads it; `None` for the output.
    pub(super) step: Option<String>,
    pub(super) path: Path,
    /// The text in which the expression stands.
    pub(super) source: String,
    /// What the value is there for, where a schema says so.
    pub(super) schema: Option<Value>,
    /// Whether the text decides: a condition, or what a `while` asks.
    pub(super) decides: bool,
}

/// A plan, read.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// In plan order, each before the steps inside it.
    pub(super) steps: Vec<StepFact>,
    pub(super) reads: Vec<NameRead>,
}

impl Facts {
    pub(super) fn of(steps: &[StepSpec], output: Option<&str>, tools: &BTreeMap<String, KnownTool>) -> Self {
        let mut facts = Self::default();
        facts.list(steps, &[], (false, None), tools);
        if let Some(output) = output {
            facts.texts(None, &json!(output), None);
        }
        facts
    }

    fn list(
        &mut self,
        steps: &[StepSpec],
        around: &[(String, usize)],
        (tolerated, in_loop): (bool, Option<&str>),
        tools: &BTreeMap<String, KnownTool>,
    ) {
        for step in steps {
            let id = step.id.as_str();
            let tool = step.tool_key().and_then(|key| tools.get(key));
            let by_tool = tool.is_some_and(|tool| !tool.spec.stop_on_failure);
            let is_tolerated = tolerated || step.stop_on_failure.map_or(by_tool, |stops| !stops);
            self.steps.push(StepFact {
                id: id.to_owned(),
                spec: step.clone(),
                around: around.to_vec(),
                is_tolerated,
                is_http: tool.is_some_and(|tool| tool.spec.needs.http),
                in_loop: in_loop.map(str::to_owned),
            });
            self.reads_of(step, tools);
            let within = if matches!(step.kind, StepKind::Loop { .. }) { Some(id) } else { in_loop };
            for (n, inner) in step.kind.inner().into_iter().enumerate() {
                let around: Vec<_> = around.iter().cloned().chain([(id.to_owned(), n)]).collect();
                self.list(inner, &around, (is_tolerated, within), tools);
            }
        }
    }

    fn reads_of(&mut self, step: &StepSpec, tools: &BTreeMap<String, KnownTool>) {
        let id = step.id.as_str();
        if let Some(condition) = &step.condition {
            self.condition(id, condition);
        }
        match &step.kind {
            StepKind::Tool { tool, args } => {
                let schema = tools.get(tool).map(|tool| &tool.spec.input_schema);
                for (name, value) in args {
                    let property = schema.and_then(|schema| schema.get("properties")?.get(name)).cloned();
                    self.texts(Some(id), value, property);
                }
            }
            StepKind::Workflow { args, .. } => args.values().for_each(|value| self.texts(Some(id), value, None)),
            StepKind::Agent { task: value, .. }
            | StepKind::Decision { prompt: value, .. }
            | StepKind::Input { title: value, .. }
            | StepKind::Task { input: value, .. } => self.texts(Some(id), value, None),
            StepKind::Condition { test, .. } | StepKind::Loop { source: LoopSource::While(test), .. } => {
                self.condition(id, test);
            }
            StepKind::Loop { source: LoopSource::Over(over), .. } => {
                self.texts(Some(id), over, Some(json!({"type": "array"})));
            }
            StepKind::Question | StepKind::Parallel { .. } => {}
        }
    }

    fn condition(&mut self, id: &str, condition: &str) {
        let found = match condition.contains("{{") {
            true => expressions_in(&json!(condition)).unwrap_or_default(),
            false => compile(condition.trim()).map(|compiled| compiled.paths().to_vec()).unwrap_or_default(),
        };
        self.found(Some(id), found, condition, None, true);
    }

    /// Every text in a value. `schema` says what the whole value is.
    fn texts(&mut self, step: Option<&str>, value: &Value, schema: Option<Value>) {
        match value {
            Value::String(text) => {
                let found = expressions_in(value).unwrap_or_default();
                self.found(step, found, text, schema, false);
            }
            Value::Array(items) => items.iter().for_each(|item| self.texts(step, item, None)),
            Value::Object(members) => members.values().for_each(|member| self.texts(step, member, None)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn found(&mut self, step: Option<&str>, paths: Vec<Path>, source: &str, schema: Option<Value>, decides: bool) {
        for path in paths {
            let (step, source, schema) = (step.map(str::to_owned), source.to_owned(), schema.clone());
            self.reads.push(NameRead { step, path, source, schema, decides });
        }
    }

    pub(super) fn step(&self, id: &str) -> Option<&StepFact> {
        self.steps.iter().find(|step| step.id == id)
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.id == id)
    }

    /// Whether a step stands behind another: later in the plan, neither inside it nor in another branch beside it.
    pub(super) fn is_behind(&self, later: &str, earlier: &str) -> bool {
        let (Some(at), Some(before)) = (self.place(later), self.place(earlier)) else { return false };
        let (later, earlier) = (&self.steps[at], &self.steps[before]);
        let is_inside = later.around.iter().any(|(holder, _)| *holder == earlier.id);
        let beside = |(holder, branch): &(String, usize)| {
            later.around.iter().any(|(other, theirs)| other == holder && theirs != branch)
        };
        at > before && !is_inside && !earlier.around.iter().any(beside)
    }

    /// Whether a step runs even after a failure or a refusal has stopped the task.
    pub(super) fn runs_always(&self, id: &str) -> bool {
        let is_always = |step: &StepFact| step.spec.when == When::Always;
        self.step(id).is_some_and(|step| {
            is_always(step) || step.around.iter().filter_map(|(holder, _)| self.step(holder)).any(is_always)
        })
    }

    /// Whether an expression outside of a step reads its outcome, as `steps.ID` or under the name that it is saved as.
    pub(super) fn is_read(&self, id: &str) -> bool {
        let saved = self.step(id).and_then(|step| step.spec.save_as.clone());
        self.reads.iter().filter(|read| read.step.as_deref() != Some(id)).any(|read| names(&read.path, id, &saved))
    }

    /// Whether that step reads what another one has left.
    pub(super) fn reads_from(&self, reader: Option<&str>, id: &str) -> bool {
        let saved = self.step(id).and_then(|step| step.spec.save_as.clone());
        self.reads.iter().filter(|read| read.step.as_deref() == reader).any(|read| names(&read.path, id, &saved))
    }

    /// The names that a step surely puts into the state.
    pub(super) fn written_by(&self, step: &StepFact) -> Vec<String> {
        if let Some(name) = &step.spec.save_as {
            return vec![name.clone()];
        }
        match &step.spec.kind {
            StepKind::Tool { tool, args } if tool == "core.set" => args.keys().cloned().collect(),
            StepKind::Tool { tool, args } if tool == "core.ask" => {
                args.get("fields").map(form_names).unwrap_or_default()
            }
            StepKind::Input { fields, .. } | StepKind::Decision { schema: fields, .. } => form_names(fields),
            _ => Vec::new(),
        }
    }

    /// Whether that step reads what another one has left, also under a name that the other puts into the state.
    pub(super) fn needs(&self, reader: Option<&str>, id: &str) -> bool {
        let left = self.step(id).map(|step| self.written_by(step)).unwrap_or_default();
        let of_state = |path: &Path| {
            path.first().is_some_and(|root| root == "state") && path.get(1).is_some_and(|name| left.contains(name))
        };
        let mut reads = self.reads.iter().filter(|read| read.step.as_deref() == reader);
        self.reads_from(reader, id) || reads.any(|read| of_state(&read.path))
    }

    /// A step with all that stand around it, from the inside out.
    pub(super) fn with_holders(&self, id: &str) -> Vec<String> {
        let holders = self.step(id).map(|step| step.around.clone()).unwrap_or_default();
        std::iter::once(id.to_owned()).chain(holders.into_iter().rev().map(|(holder, _)| holder)).collect()
    }
}

/// The fields of a form.
fn form_names(fields: &Value) -> Vec<String> {
    let form = kybern_engine::schema::form(fields);
    form.get("properties").and_then(Value::as_object).map(|names| names.keys().cloned().collect()).unwrap_or_default()
}

fn names(path: &Path, id: &str, saved: &Option<String>) -> bool {
    match (path.first().map(String::as_str), path.get(1)) {
        (Some("steps"), Some(step)) => step == id,
        (Some("state"), Some(name)) => Some(name) == saved.as_ref(),
        _ => false,
    }
}
