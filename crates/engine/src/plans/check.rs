//! Whether a plan fits this program: known tools with fitting arguments, compilable expressions, no reference to a
//! step that comes later or stands in another branch, and none to an item outside a loop.

use std::collections::HashSet;
use std::sync::Arc;

use kybern_core::agent::Agent;
use kybern_core::plan::step::LoopSource;
use kybern_core::plan::{PlanFault, StepKind, StepSpec, TaskTarget};
use serde_json::{Map, Value};

use super::catalogue::PlanCatalogue;
use crate::templates::{Path, check_text, compile, expressions_in, has_expression};
use crate::tools::ToolSnapshot;

/// What values of a plan are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// Texts may be templates: a plan that somebody wrote.
    Templates,
    /// Everything is data: steps that a tool proposed.
    Literal,
}

/// What steps may be made of.
#[derive(Clone, Copy)]
pub struct StepParts<'a> {
    /// Workflows, handlers and what is bundled.
    pub plan_catalogue: &'a PlanCatalogue,
    /// What the tenant can call.
    pub tools: &'a ToolSnapshot,
    /// The tenant's agents; a bundled plan has the bundled ones.
    pub agents: Option<&'a [Agent]>,
}

/// Every fault of a plan beyond its form.
#[must_use]
pub fn plan(steps: &[StepSpec], output: Option<&str>, parts: StepParts<'_>) -> Vec<PlanFault> {
    let mut faults = Vec::new();
    let mut checker = Checker::new(parts, Values::Templates, &mut faults);
    checker.steps(steps, "/steps");
    if let Some(output) = output {
        checker.text(output, "/output", None);
    }
    faults
}

/// Adds every fault of steps beyond their form.
pub fn steps_with(steps: &[StepSpec], path: &str, parts: StepParts<'_>, values: Values, faults: &mut Vec<PlanFault>) {
    Checker::new(parts, values, faults).steps(steps, path);
}

struct Checker<'a> {
    parts: StepParts<'a>,
    values: Values,
    /// Ids of steps that come before the one that is looked at, or that an earlier round of a loop around it ran.
    known: HashSet<&'a str>,
    /// The same in the order in which they became known, so that a branch can be forgotten for the next one.
    learned: Vec<&'a str>,
    /// The steps around it that hold branches, each with the number of the branch in which it stands.
    around: Vec<(&'a str, &'a StepKind, usize)>,
    /// Whether it stands in a loop.
    in_loop: bool,
    faults: &'a mut Vec<PlanFault>,
}

impl<'a> Checker<'a> {
    fn new(parts: StepParts<'a>, values: Values, faults: &'a mut Vec<PlanFault>) -> Self {
        let (known, learned, around) = (HashSet::new(), Vec::new(), Vec::new());
        Self { parts, values, known, learned, around, in_loop: false, faults }
    }

    fn fault(&mut self, path: impl Into<String>, step: Option<&str>, message: impl Into<String>) {
        self.faults.push(PlanFault::new(path, step, message));
    }

    fn steps(&mut self, steps: &'a [StepSpec], path: &str) {
        for (n, step) in steps.iter().enumerate() {
            self.step(step, &format!("{path}/{n}"));
        }
    }

    /// The lists inside a step of which none can count on what another one does; what follows the step can count on all.
    fn branches(&mut self, id: &'a str, kind: &'a StepKind, path: impl Fn(usize) -> String) {
        let (before, mut all) = (self.learned.len(), Vec::new());
        for (n, steps) in kind.inner().into_iter().enumerate() {
            self.around.push((id, kind, n));
            self.steps(steps, &path(n));
            self.around.pop();
            // A step of a loop may read what an earlier round has done in another branch.
            if !self.in_loop {
                for id in self.learned.drain(before..) {
                    self.known.remove(id);
                    all.push(id);
                }
            }
        }
        self.know(all);
    }

    fn know(&mut self, ids: impl IntoIterator<Item = &'a str>) {
        for id in ids {
            if self.known.insert(id) {
                self.learned.push(id);
            }
        }
    }

    /// The step around the one that is looked at of which another branch holds a step.
    fn holder_of_other_branch(&self, id: &str) -> Option<&'a str> {
        let beside = |n: usize, kind: &StepKind| {
            kind.inner().into_iter().enumerate().any(|(other, steps)| other != n && holds(steps, id))
        };
        self.around.iter().find(|(_, kind, n)| beside(*n, kind)).map(|(holder, ..)| *holder)
    }

    fn step(&mut self, step: &'a StepSpec, path: &str) {
        let id = Some(step.id.as_str());
        if self.values == Values::Literal && !may_be_proposed(&step.kind) {
            self.fault(path, id, format!("a {} step may not be proposed by a tool", step.kind.name()));
        }
        if let Some(condition) = &step.condition {
            if self.values == Values::Literal {
                self.fault(format!("{path}/condition"), id, "a proposed step may have no condition");
            }
            self.condition(condition, &format!("{path}/condition"), id);
        }
        self.kind(&step.kind, path, step.id.as_str());
        self.know([step.id.as_str()]);
    }

    fn kind(&mut self, kind: &'a StepKind, path: &str, step: &'a str) {
        let id = Some(step);
        match kind {
            StepKind::Tool { tool, args } => self.tool(tool, args, path, id),
            StepKind::Agent { agent, task } => {
                self.value(task, &format!("{path}/task"), id);
                let is_known = match self.parts.agents {
                    Some(agents) => agents.iter().any(|known| known.draft.key == *agent),
                    None => self.parts.plan_catalogue.registry().find_agent(agent).is_some(),
                };
                if !is_known {
                    let message = format!("agent {agent:?} is not known, see GET /api/agents");
                    self.fault(format!("{path}/agent"), id, message);
                }
            }
            StepKind::Question => self.fault(path, id, "a question is asked by an agent step, not by a plan"),
            StepKind::Decision { prompt: value, schema: _ } => {
                self.value(value, &format!("{path}/prompt"), id);
                match self.parts.plan_catalogue.handler(kind) {
                    None => {
                        let message = format!("{} steps need a language model, and none is configured", kind.name());
                        self.fault(path, id, message);
                    }
                    Some(handler) => {
                        for fault in handler.faults(kind) {
                            self.fault(path, id, fault);
                        }
                    }
                }
            }
            StepKind::Input { title, fields } => {
                self.value(title, &format!("{path}/title"), id);
                if let Err(problem) = crate::schema::compile(&crate::schema::form(fields)) {
                    self.fault(format!("{path}/fields"), id, problem);
                }
            }
            StepKind::Condition { test, .. } => {
                self.condition(test, &format!("{path}/if"), id);
                self.branches(step, kind, |n| format!("{path}/{}", if n == 0 { "then" } else { "else" }));
            }
            StepKind::Parallel { .. } => self.branches(step, kind, |n| format!("{path}/branches/{n}")),
            StepKind::Loop { source, steps, .. } => {
                match source {
                    LoopSource::Over(items) => self.value(items, &format!("{path}/over"), id),
                    LoopSource::While(test) => {
                        // A later round may read what an earlier one did.
                        self.know(all_ids(steps));
                        self.condition(test, &format!("{path}/while"), id);
                    }
                }
                let around = std::mem::replace(&mut self.in_loop, true);
                self.steps(steps, &format!("{path}/steps"));
                self.in_loop = around;
            }
            StepKind::Workflow { workflow, args } => {
                if !self.parts.plan_catalogue.workflows.contains(workflow) {
                    let message = format!("workflow {workflow:?} is not configured, add [workflows.{workflow}] url");
                    self.fault(format!("{path}/workflow"), id, message);
                }
                self.members(args, &format!("{path}/args"), id);
            }
            StepKind::Task { target, input } => {
                if let TaskTarget::Capability(key) = target {
                    let message = format!("capability {key:?} cannot be used: there is no marketplace on this server");
                    self.fault(format!("{path}/capability"), id, message);
                }
                self.value(input, &format!("{path}/input"), id);
            }
        }
    }

    fn tool(&mut self, tool: &str, args: &Map<String, Value>, path: &str, id: Option<&str>) {
        self.members(args, &format!("{path}/args"), id);
        let Some(found) = self.parts.tools.find(tool) else {
            let message = format!("there is no tool {tool:?}, see `kybern tool list`");
            self.fault(format!("{path}/tool"), id, message);
            return;
        };
        let (found, before) = (Arc::clone(found), self.faults.len());
        let schema = found.spec().input_schema.clone();
        let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let open = schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !args.contains_key(name) {
                self.fault(format!("{path}/args"), id, format!("tool {tool} needs the argument {name:?}"));
            }
        }
        for (name, value) in args {
            match properties.get(name) {
                None if !open => {
                    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                    let message = format!("tool {tool} knows no argument {name:?}, it takes: {}", known.join(", "));
                    self.fault(format!("{path}/args/{name}"), id, message);
                }
                Some(property) if self.values == Values::Literal || !has_expression(value) => {
                    for detail in crate::schema::check(property, value) {
                        self.fault(format!("{path}/args/{name}{}", detail.path), id, detail.message);
                    }
                }
                Some(_) | None => {}
            }
        }
        if self.faults.len() == before {
            let is_plain = |value: &Value| self.values == Values::Literal || !has_expression(value);
            let plain = args.iter().filter(|(_, value)| is_plain(value));
            let plain: Map<String, Value> = plain.map(|(name, value)| (name.clone(), value.clone())).collect();
            let mut details = found.tool().faults(&plain);
            if !details.is_empty() && plain.len() < args.len() {
                // What a template will say is not known yet: only what is wrong with it as well as without it stays so.
                let with_templates = found.tool().faults(args);
                details.retain(|detail| with_templates.contains(detail));
            }
            for detail in details {
                self.fault(format!("{path}/args{}", detail.path), id, detail.message);
            }
        }
    }

    fn members(&mut self, members: &Map<String, Value>, path: &str, id: Option<&str>) {
        for (name, value) in members {
            self.value(value, &format!("{path}/{name}"), id);
        }
    }

    fn value(&mut self, value: &Value, path: &str, id: Option<&str>) {
        if self.values == Values::Literal {
            return;
        }
        match expressions_in(value) {
            Ok(paths) => self.paths(&paths, path, id),
            Err(error) => self.fault(path, id, error.to_string()),
        }
    }

    fn text(&mut self, text: &str, path: &str, id: Option<&str>) {
        match check_text(text) {
            Ok(paths) => self.paths(&paths, path, id),
            Err(error) => self.fault(path, id, error.to_string()),
        }
    }

    fn condition(&mut self, condition: &str, path: &str, id: Option<&str>) {
        if condition.contains("{{") {
            return self.text(condition, path, id);
        }
        match compile(condition.trim()) {
            Ok(compiled) => self.paths(compiled.paths(), path, id),
            Err(error) => self.fault(path, id, error.to_string()),
        }
    }

    fn paths(&mut self, paths: &[Path], path: &str, id: Option<&str>) {
        const ROOTS: [&str; 8] = ["state", "steps", "task", "tenant", "user", "item", "index", "context"];
        for name in paths {
            let Some(root) = name.first() else { continue };
            if !ROOTS.contains(&root.as_str()) {
                let message = format!("{root:?} is no name an expression can read, use {}", ROOTS.join(", "));
                self.fault(path, id, message);
            }
            if matches!(root.as_str(), "item" | "index") && !self.in_loop {
                let message = format!("{root} exists only in the steps of a loop, move what reads it into one");
                self.fault(path, id, message);
            }
            if let ("steps", Some(step)) = (root.as_str(), name.get(1))
                && !self.known.contains(step.as_str())
                && !step.contains("__")
            {
                let message = match self.holder_of_other_branch(step) {
                    Some(holder) => format!(
                        "steps.{step} stands in another branch of {holder:?}, which need not have run before this step: \
                         read it in a step after {holder:?}"
                    ),
                    None => format!("steps.{step} does not come before this step"),
                };
                self.fault(path, id, message);
            }
        }
    }
}

fn all_ids(steps: &[StepSpec]) -> Vec<&str> {
    steps
        .iter()
        .flat_map(|step| {
            let inner = step.kind.inner().into_iter().flat_map(all_ids);
            std::iter::once(step.id.as_str()).chain(inner).collect::<Vec<_>>()
        })
        .collect()
}

/// Whether a step with that id is among these or inside one of them.
fn holds(steps: &[StepSpec], id: &str) -> bool {
    steps.iter().any(|step| step.id.as_str() == id || step.kind.inner().into_iter().any(|inner| holds(inner, id)))
}

/// Whether a kind may be proposed by a tool. What asks models or decides where the plan goes needs a plan that a person
/// wrote.
#[must_use]
pub fn may_be_proposed(kind: &StepKind) -> bool {
    match kind {
        StepKind::Tool { .. } | StepKind::Input { .. } | StepKind::Parallel { .. } | StepKind::Workflow { .. } => true,
        StepKind::Agent { .. }
        | StepKind::Question
        | StepKind::Decision { .. }
        | StepKind::Condition { .. }
        | StepKind::Loop { .. }
        | StepKind::Task { .. } => false,
    }
}
