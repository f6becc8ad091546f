//! What tools, models, workflows and persons answer: what was given for a step, or else what the plan reads of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::plan::StepKind;
use kybern_core::plan::step::LoopSource;
use kybern_core::task::StepOutcome;
use kybern_engine::templates::{Context, Path, context::StepView, truth};
use serde_json::{Map, Value, json};

use super::facts::{Facts, HTTP_NAMES, NameRead, StepFact};
use super::shape::{Shape, of_schema, two_of};
use super::stage::{KnownTool, is_pure};

/// Answers by step.
#[derive(Default, Debug)]
pub(super) struct Answers {
    given: Map<String, Value>,
    made: BTreeMap<String, Map<String, Value>>,
    /// What a step in a `while` answers from its second round on, so that the loop can end.
    ending: BTreeMap<String, Map<String, Value>>,
}

/// The id of a step as its plan writes it, of the id under which it runs in a branch or a round.
pub(super) fn base_of(id: &str) -> &str {
    id.rsplit_once("__").map_or(id, |(_, base)| base)
}

impl Answers {
    /// Whether somebody gave an answer for that step.
    pub(super) fn is_given(&self, step: &str) -> bool {
        self.given.contains_key(base_of(step))
    }

    /// The answer that was given for the `n`th time a step is answered, from 0: of a list the last one holds for all
    /// that follow.
    pub(super) fn given_for(&self, step: &str, n: usize) -> Option<&Value> {
        match self.given.get(base_of(step))? {
            Value::Array(all) => all.get(n).or_else(|| all.last()),
            one => Some(one),
        }
    }

    /// The data of the `n`th answer of a step.
    pub(super) fn of(&self, step: &str, n: usize) -> Map<String, Value> {
        let base = base_of(step);
        if let Some(given) = self.given_for(step, n) {
            return given.as_object().cloned().unwrap_or_default();
        }
        let mut data = self.made.get(base).cloned().unwrap_or_default();
        if n > 0
            && let Some(ending) = self.ending.get(base)
        {
            data.extend(ending.clone());
        }
        data
    }
}

/// Answers, and the payload that the plan reads.
pub(super) struct Invented {
    pub(super) answers: Answers,
    pub(super) payload: Value,
}

/// Makes up what nobody has given.
pub(super) fn invent(facts: &Facts, tools: &BTreeMap<String, KnownTool>, given: Map<String, Value>) -> Invented {
    let mut maker =
        Maker { facts, tools, by_step: BTreeMap::new(), by_tool: BTreeMap::new(), payload: Shape::default() };
    // What a schema says goes before what an expression lets guess.
    let (sure, rest): (Vec<&NameRead>, Vec<&NameRead>) = facts.reads.iter().partition(|read| read.schema.is_some());
    for read in sure.into_iter().chain(rest) {
        if read.path.first().is_some_and(|root| root != "item") {
            maker.note(&read.path, read, hint_of(read));
        }
    }
    // The lists last: what is known of their items is known by then.
    for step in &facts.steps {
        if let StepKind::Loop { source: LoopSource::Over(over), .. } = &step.spec.kind {
            maker.items(step, over);
        }
    }
    let mut answers = Answers { given, ..Answers::default() };
    for step in &facts.steps {
        let mut shape = maker.by_step.get(&step.id).cloned().unwrap_or_default();
        if let (Some(tool), None) = (recorded(step, tools), &step.spec.save_as)
            && let Some(guess) = maker.by_tool.get(tool)
            && !guess.is_empty()
        {
            shape.merge(guess);
        }
        let mut data = shape.members();
        if let Some(known) = step.spec.tool_key().and_then(|key| tools.get(key)) {
            if known.spec.needs.http {
                data.insert("status".to_owned(), json!(200));
            }
            if let Some(schema) = &known.output_schema {
                data.insert("json".to_owned(), of_schema(schema));
            }
        }
        if let StepKind::Decision { schema, .. } = &step.spec.kind
            && let Value::Object(mut decided) = of_schema(&kybern_engine::schema::form(schema))
        {
            data.retain(|name, _| !decided.contains_key(name));
            decided.append(&mut data);
            data = decided;
        }
        answers.made.insert(step.id.clone(), data);
    }
    for step in &facts.steps {
        if let StepKind::Loop { source: LoopSource::While(test), .. } = &step.spec.kind {
            end_loop(facts, step, test, &mut answers);
        }
    }
    let payload = if maker.payload.is_empty() { json!({}) } else { maker.payload.make() };
    Invented { answers, payload }
}

/// The tool that a recorder stands in for at that step.
fn recorded<'a>(step: &'a StepFact, tools: &BTreeMap<String, KnownTool>) -> Option<&'a str> {
    let key = step.spec.tool_key()?;
    tools.get(key).is_some_and(|tool| !is_pure(&tool.spec)).then_some(key)
}

struct Maker<'a> {
    facts: &'a Facts,
    tools: &'a BTreeMap<String, KnownTool>,
    by_step: BTreeMap<String, Shape>,
    by_tool: BTreeMap<String, Shape>,
    payload: Shape,
}

impl Maker<'_> {
    /// Notes a read where its value comes from.
    fn note(&mut self, path: &Path, read: &NameRead, value: Option<Value>) {
        let part = |from: usize| path.get(from..).unwrap_or_default();
        match (path.first().map(String::as_str), path.get(1).map(String::as_str)) {
            (Some("task"), Some("payload")) => self.payload.read(part(2), value),
            (Some("steps"), Some(step)) if path.get(2).is_some_and(|name| name == "result") => {
                self.by_step.entry(step.to_owned()).or_default().read(part(3), value);
            }
            (Some("state"), Some(name)) => {
                let saved = |step: &&StepFact| step.spec.save_as.as_deref() == Some(name);
                let savers: Vec<String> = self.facts.steps.iter().filter(saved).map(|step| step.id.clone()).collect();
                if !savers.is_empty() {
                    for step in savers {
                        self.by_step.entry(step).or_default().read(part(2), value.clone());
                    }
                } else if !self.is_set(name)
                    && let Some(tool) = self.nearest_tool(read.step.as_deref(), name)
                {
                    self.by_tool.entry(tool).or_default().read(part(1), value);
                }
            }
            _ => {}
        }
    }

    /// Whether a step puts that name into the state by what the plan itself says.
    fn is_set(&self, name: &str) -> bool {
        self.facts.steps.iter().any(|step| self.facts.written_by(step).iter().any(|known| known == name))
    }

    /// The tool of the last recorded step before that one that may give such a name: its data enters the state under its
    /// own names.
    fn nearest_tool(&self, reader: Option<&str>, name: &str) -> Option<String> {
        let before = || self.facts.steps.iter().take_while(|step| Some(step.id.as_str()) != reader);
        let gives = |step: &&StepFact| {
            step.spec.save_as.is_none() && !step.is_tolerated && (!step.is_http || HTTP_NAMES.contains(&name))
        };
        // On what may be skipped a later step does not count, unless there is nothing else.
        let is_sure = |step: &&StepFact| gives(step) && step.spec.condition.is_none();
        let sure = before().filter(is_sure).filter_map(|step| recorded(step, self.tools)).last();
        sure.or_else(|| before().filter(gives).filter_map(|step| recorded(step, self.tools)).last()).map(str::to_owned)
    }

    /// A list of two items for a loop, with what its steps read of each.
    fn items(&mut self, step: &StepFact, over: &Value) {
        let own = |read: &&NameRead| {
            let reader = read.step.as_deref().and_then(|id| self.facts.step(id));
            let is_inside = reader.is_some_and(|reader| reader.in_loop.as_deref() == Some(step.id.as_str()));
            is_inside && read.path.first().is_some_and(|root| root == "item")
        };
        let mut item = Shape::default();
        for read in self.facts.reads.iter().filter(own) {
            item.read(&read.path[1..], hint_of(read));
        }
        let list = two_of(&item.make());
        let whole = |read: &&NameRead| read.step.as_deref() == Some(step.id.as_str()) && json!(read.source) == *over;
        let Some(read) = self.facts.reads.iter().find(whole).cloned() else { return };
        self.note_list(&read, list);
    }

    /// Puts a list in the place of what was noted before, which knew nothing of its items.
    fn note_list(&mut self, read: &NameRead, list: Value) {
        let mut fresh = Maker {
            facts: self.facts,
            tools: self.tools,
            by_step: BTreeMap::new(),
            by_tool: BTreeMap::new(),
            payload: Shape::default(),
        };
        fresh.note(&read.path, read, Some(list));
        for (step, mut shape) in fresh.by_step {
            let known = self.by_step.entry(step).or_default();
            shape.merge(known);
            *known = shape;
        }
        for (tool, mut shape) in fresh.by_tool {
            let known = self.by_tool.entry(tool).or_default();
            shape.merge(known);
            *known = shape;
        }
        fresh.payload.merge(&self.payload);
        self.payload = fresh.payload;
    }
}

/// What a value seems to be, by the schema of what it is there for or by what the expression does with it.
fn hint_of(read: &NameRead) -> Option<Value> {
    let name = read.path.join(".");
    let inside = read.source.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    if inside == name {
        return match &read.schema {
            Some(schema) => Some(of_schema(schema)),
            None => read.decides.then(|| json!(true)),
        };
    }
    let (_, after) = read.source.split_once(&name)?;
    let after = after.trim_start();
    if let Some(filter) = after.strip_prefix('|') {
        let word: String = filter.trim_start().chars().take_while(char::is_ascii_alphanumeric).collect();
        return match word.as_str() {
            "length" | "first" | "last" | "join" | "map" | "sum" | "selectattr" | "rejectattr" | "unique" | "sort" => {
                Some(json!(["value"]))
            }
            "int" | "float" | "round" | "abs" => Some(json!(1)),
            "default" => default_of(filter, read),
            _ => None,
        };
    }
    if let Some(other) = after.strip_prefix("==") {
        return literal(other);
    }
    if let Some(other) = after.strip_prefix("!=") {
        return literal(other).map(|_| json!("value"));
    }
    let compares = after.strip_prefix(">=").or_else(|| after.strip_prefix('>'));
    if let Some(other) = compares {
        return literal(other).and_then(|other| other.as_i64()).map(|least| json!(least.saturating_add(1)));
    }
    if after.starts_with(['<', '+', '-', '*', '/', '%']) {
        return Some(json!(1));
    }
    read.decides.then(|| json!(true))
}

/// A value like the one that stands in for a missing one, or beyond what it is compared with.
fn default_of(filter: &str, read: &NameRead) -> Option<Value> {
    let inside = filter.split_once('(')?.1;
    let (default, after) = inside.split_once(')')?;
    if let Some(other) = after.trim_start().strip_prefix('>') {
        let least = literal(other.trim_start_matches('='))?.as_i64()?;
        return Some(json!(least.saturating_add(1)));
    }
    match literal(default)? {
        Value::Array(_) => Some(json!(["value"])),
        Value::Number(number) => Some(Value::Number(number)),
        Value::Bool(_) if read.decides => Some(json!(true)),
        other => Some(other),
    }
}

/// The literal with which a text begins.
fn literal(text: &str) -> Option<Value> {
    let text = text.trim_start();
    if let Some(quote) = text.chars().next().filter(|quote| matches!(quote, '\'' | '"')) {
        return text[1..].split_once(quote).map(|(inside, _)| json!(inside));
    }
    let word: String =
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '[' | ']')).collect();
    match word.as_str() {
        "[]" => Some(json!([])),
        "true" | "True" => Some(json!(true)),
        "false" | "False" => Some(json!(false)),
        "none" | "None" => Some(Value::Null),
        number => serde_json::from_str::<serde_json::Number>(number).ok().map(Value::Number),
    }
}

/// Looks for an answer of the steps in a `while` with which its condition becomes false.
fn end_loop(facts: &Facts, holder: &StepFact, test: &str, answers: &mut Answers) {
    let inside: Vec<&StepFact> =
        facts.steps.iter().filter(|step| step.around.iter().any(|(id, _)| *id == holder.id)).collect();
    for read in facts.reads.iter().filter(|read| read.step.as_deref() == Some(holder.id.as_str()) && read.decides) {
        let (from, path) = match (read.path.first().map(String::as_str), read.path.get(1)) {
            (Some("steps"), Some(step)) => (inside.iter().find(|known| known.id == *step), read.path.get(3..)),
            (Some("state"), Some(name)) => {
                let saves = |step: &&&StepFact| step.spec.save_as.as_ref() == Some(name);
                match inside.iter().find(saves) {
                    Some(step) => (Some(step), read.path.get(2..)),
                    None => {
                        let makes = |step: &&&StepFact| {
                            step.spec.save_as.is_none()
                                && answers.made.get(&step.id).is_some_and(|data| data.contains_key(name))
                        };
                        (inside.iter().rfind(makes), read.path.get(1..))
                    }
                }
            }
            _ => continue,
        };
        let (Some(step), Some([name, rest @ ..])) = (from, path) else { continue };
        let data = answers.made.get(&step.id).cloned().unwrap_or_default();
        for value in candidates(test) {
            let mut changed = data.clone();
            let slot = changed.entry(name.clone()).or_insert(Value::Null);
            *slot = put(slot.take(), rest, value);
            if ends(test, step, &changed) {
                let ending = [(name.clone(), changed[name].clone())].into_iter().collect();
                answers.ending.insert(step.id.clone(), ending);
                break;
            }
        }
    }
}

fn candidates(test: &str) -> Vec<Value> {
    let mut all = vec![json!(false), json!(true), json!(0), json!(1_000_000_000), json!(""), json!([]), Value::Null];
    let quoted = test.split(['\'', '"']).skip(1).step_by(2);
    all.extend(quoted.map(|text| json!(text)));
    all
}

fn put(old: Value, path: &[String], value: Value) -> Value {
    let Some((name, rest)) = path.split_first() else { return value };
    let mut members = match old {
        Value::Object(members) => members,
        _other => Map::new(),
    };
    let inner = members.remove(name).unwrap_or_default();
    members.insert(name.clone(), put(inner, rest, value));
    Value::Object(members)
}

/// Whether the condition is false once that step has answered so.
fn ends(test: &str, step: &StepFact, data: &Map<String, Value>) -> bool {
    let outcome = Arc::new(StepOutcome::completed(Value::Object(data.clone())));
    let state = match &step.spec.save_as {
        Some(name) => [(name.clone(), Value::Object(data.clone()))].into_iter().collect(),
        None => data.clone(),
    };
    let context = Context {
        state: Arc::new(state),
        steps: Arc::new(vec![StepView { id: step.id.clone(), outcome }]),
        args: None,
        ..Context::of_args(Map::new(), 0)
    };
    truth(test, &context) == Ok(false)
}
