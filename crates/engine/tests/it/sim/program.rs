//! A program: a plan in the simulator's own words, from which the plan's JSON is written and by which its end is
//! judged.

use kybern_core::task::limits;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The step that counts a loop's rounds has the loop's number and this.
pub const COUNTER: u32 = 1_000;

/// Steps, and a cap on how many of them may be scheduled.
#[derive(Clone, Debug)]
pub struct Program {
    /// The plan's key is made of it.
    pub n: u32,
    pub steps: Vec<Step>,
    pub max_steps: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct Step {
    /// Unique in the whole program, its children included.
    pub n: u32,
    pub kind: Kind,
    pub test: Test,
    pub always: bool,
    /// `dependsOn`, by number; the step before it for `None`.
    pub after: Option<Vec<u32>>,
    pub saves: bool,
    pub tolerated: bool,
    pub tries: u32,
    /// How long one try, or an answer, may take.
    pub patience: Option<u64>,
}

/// A step's condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    None,
    Is(bool),
    /// Whether `state.v{n}` is defined.
    Knows(u8),
}

/// What happens outside when the process dies during a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Read,
    Local,
    Keyed,
    Queryable,
    Unkeyed,
}

/// How a call, or a decision, goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Script {
    Succeeds,
    Fails,
    /// Until a person lets the task be tried again.
    FailsOnce,
    /// The first tries of a generation fail. With `unknown` nobody can say whether they had their effect.
    Stumbles {
        times: u32,
        unknown: bool,
    },
}

/// What else a call's result carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Bulk {
    None,
    /// A text of so many thousand bytes.
    Huge(usize),
    /// A text that takes a result just up to the limit of its size, or just beyond.
    Brim {
        over: bool,
    },
    /// So many lists in each other.
    Deep(usize),
}

impl Bulk {
    pub fn value(self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Huge(thousands) => json!("x".repeat(thousands * 1_000)),
            // The names of its members and its other values have room in so many bytes.
            Self::Brim { over: false } => json!("x".repeat(limits::MAX_STEP_DATA - 64)),
            Self::Brim { over: true } => json!("x".repeat(limits::MAX_STEP_DATA)),
            Self::Deep(depth) => super::story::nested(depth),
        }
    }
}

/// A call's script with how long it takes before and after its effect.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    pub var: u8,
    pub script: Script,
    pub before: u64,
    pub after: u64,
    /// Whether an argument is made of the state.
    pub reads: bool,
    pub bulk: Bulk,
}

/// How an outside engine answers a delegation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// Once, in time.
    Once(bool),
    /// Before it was asked.
    Early(bool),
    /// The same twice at the same time.
    Twice(bool),
    /// Two that contradict each other, at the same time.
    Quarrel,
    /// After the deadline.
    Late,
    Never,
    /// It refuses to be asked.
    Refused,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Kind {
    Call(Class, Act),
    Decision(Act),
    /// Puts a record that other steps put too.
    Share(u8),
    Wait(u64),
    /// A tool that asks a person; the answer is its result.
    Ask,
    /// A tool that asks a person to look, and is called again.
    Review,
    Input,
    Inject(Vec<Step>),
    Patch {
        replaces: bool,
        steps: Vec<Step>,
    },
    /// A tool that hands its step over.
    Delegate(Reply),
    Workflow(Reply),
    Condition {
        test: Test,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    Parallel(Vec<Vec<Step>>),
    Over {
        rounds: u32,
        steps: Vec<Step>,
    },
    /// Counts its rounds in the state.
    While {
        rounds: u32,
        steps: Vec<Step>,
    },
    Child(Program),
    /// Counts the rounds of a loop; part of the loop, and never made by itself.
    Count(u32),
}

impl Class {
    pub fn tool(self) -> &'static str {
        match self {
            Self::Read => "s.read",
            Self::Local => "s.local",
            Self::Keyed => "s.keyed",
            Self::Queryable => "s.queryable",
            Self::Unkeyed => "s.unkeyed",
        }
    }
}

impl Script {
    pub fn text(self) -> String {
        match self {
            Self::Succeeds => "succeeds".to_owned(),
            Self::Fails => "fails".to_owned(),
            Self::FailsOnce => "once".to_owned(),
            Self::Stumbles { times, unknown } => format!("{} {times}", if unknown { "unknown" } else { "stumbles" }),
        }
    }
}

impl Kind {
    /// The lists of steps inside, in order; empty for a step that holds none.
    pub fn lists(&self) -> Vec<&Vec<Step>> {
        match self {
            Self::Condition { then, otherwise, .. } => vec![then, otherwise],
            Self::Parallel(branches) => branches.iter().collect(),
            Self::Over { steps, .. } | Self::While { steps, .. } => vec![steps],
            _ => Vec::new(),
        }
    }

    /// The same, with what a step injects, adds, or starts as a child.
    pub fn all_lists_mut(&mut self) -> Vec<&mut Vec<Step>> {
        match self {
            Self::Condition { then, otherwise, .. } => vec![then, otherwise],
            Self::Parallel(branches) => branches.iter_mut().collect(),
            Self::Over { steps, .. }
            | Self::While { steps, .. }
            | Self::Inject(steps)
            | Self::Patch { steps, .. }
            | Self::Child(Program { steps, .. }) => vec![steps],
            _ => Vec::new(),
        }
    }

    pub fn is_container(&self) -> bool {
        matches!(self, Self::Condition { .. } | Self::Parallel(_) | Self::Over { .. } | Self::While { .. })
    }
}

impl Program {
    pub fn key(&self) -> String {
        format!("sim.p{}", self.n)
    }

    /// Every plan of the program, children first: a plan is stored after those it starts.
    pub fn plans(&self) -> Vec<Value> {
        let mut plans = Vec::new();
        children(&self.steps, &mut plans);
        plans.push(json!({"key": self.key(), "steps": written(&self.steps, false)}));
        plans
    }
}

fn children(steps: &[Step], plans: &mut Vec<Value>) {
    for step in steps {
        if let Kind::Child(child) = &step.kind {
            plans.extend(child.plans());
        }
        for list in step.kind.lists() {
            children(list, plans);
        }
    }
}

fn written(steps: &[Step], literal: bool) -> Vec<Value> {
    steps.iter().map(|step| step.written(literal)).collect()
}

impl Step {
    pub fn id(&self) -> String {
        format!("s{}", self.n)
    }

    fn written(&self, literal: bool) -> Value {
        let Value::Object(mut fields) = self.body(literal) else { return Value::Null };
        fields.insert("id".to_owned(), json!(self.id()));
        match self.test {
            Test::None => {}
            Test::Is(truth) => drop(fields.insert("condition".to_owned(), json!(format!("{truth}")))),
            Test::Knows(var) => drop(fields.insert("condition".to_owned(), json!(knows(var)))),
        }
        if self.always {
            fields.insert("when".to_owned(), json!("always"));
        }
        if let Some(after) = &self.after {
            let ids: Vec<String> = after.iter().map(|n| format!("s{n}")).collect();
            fields.insert("dependsOn".to_owned(), json!(ids));
        }
        if self.saves {
            fields.insert("saveAs".to_owned(), json!(format!("kept{}", self.n)));
        }
        if let Some(patience) = self.patience {
            fields.insert("timeoutMs".to_owned(), json!(patience));
        }
        if !self.kind.is_container() {
            let retry = json!({"maxAttempts": self.tries, "initialDelayMs": 50, "maxDelayMs": 400});
            fields.insert("retry".to_owned(), retry);
        }
        fields.insert("stopOnFailure".to_owned(), json!(!self.tolerated));
        Value::Object(fields)
    }

    fn body(&self, literal: bool) -> Value {
        let n = self.n;
        let form = json!({format!("a{n}"): {"type": "integer"}});
        match &self.kind {
            Kind::Call(class, act) => json!({"tool": class.tool(), "args": act.written(n, literal)}),
            Kind::Decision(act) => {
                json!({"kind": "decision", "schema": {"type": "object"}, "prompt": act.written(n, literal)})
            }
            Kind::Share(which) => {
                json!({"tool": "s.share", "args": {"n": n, "key": format!("shared{which}")}})
            }
            Kind::Wait(ms) => json!({"tool": "core.wait", "args": {"ms": ms}}),
            Kind::Ask => json!({"tool": "core.ask", "args": {"title": "what?", "fields": form}}),
            Kind::Review => json!({"tool": "s.review", "args": {"n": n}}),
            Kind::Input => json!({"kind": "input", "title": "what?", "fields": form}),
            Kind::Inject(steps) => json!({"tool": "s.grow", "args": {"steps": quoted(steps), "mode": "inject"}}),
            Kind::Patch { replaces, steps } => {
                let mode = if *replaces { "replace" } else { "append" };
                json!({"tool": "s.grow", "args": {"steps": quoted(steps), "mode": mode}})
            }
            Kind::Delegate(reply) => json!({"tool": "s.delegate", "args": {"workflow": reply.endpoint(), "n": n}}),
            Kind::Workflow(reply) => json!({"kind": "workflow", "workflow": reply.endpoint(), "args": {"n": n}}),
            Kind::Condition { test, then, otherwise } => json!({
                "kind": "condition", "if": test.expression(),
                "then": written(then, literal), "else": written(otherwise, literal),
            }),
            Kind::Parallel(branches) => {
                let branches: Vec<_> = branches.iter().map(|branch| written(branch, literal)).collect();
                json!({"kind": "parallel", "branches": branches})
            }
            Kind::Over { rounds, steps } => {
                let items: Vec<u32> = (0..*rounds).collect();
                json!({"kind": "loop", "over": items, "steps": written(steps, literal)})
            }
            Kind::While { rounds, steps } => {
                let mut inner = written(steps, literal);
                let count = format!("(state.c{n} | default(0))");
                inner.push(json!({
                    "id": format!("s{}", n + COUNTER), "tool": "core.set",
                    "args": {format!("c{n}"): format!("{{{{ {count} + 1 }}}}")},
                }));
                json!({"kind": "loop", "while": format!("{count} < {rounds}"), "steps": inner})
            }
            Kind::Child(child) => json!({"kind": "task", "planKey": child.key(), "input": {"n": n}}),
            Kind::Count(_) => Value::Null,
        }
    }
}

/// Steps that a tool proposes travel through its arguments as text: the plan's own checks do not see them.
fn quoted(steps: &[Step]) -> String {
    json!(written(steps, true)).to_string()
}

fn knows(var: u8) -> String {
    format!("state.v{var} is defined")
}

impl Test {
    fn expression(self) -> String {
        match self {
            Self::None => "true".to_owned(),
            Self::Is(truth) => truth.to_string(),
            Self::Knows(var) => knows(var),
        }
    }
}

impl Reply {
    fn endpoint(self) -> &'static str {
        if self == Self::Refused { "closed" } else { "open" }
    }
}

impl Act {
    fn written(&self, n: u32, literal: bool) -> Map<String, Value> {
        let mut args = Map::new();
        args.insert("n".to_owned(), json!(n));
        args.insert("var".to_owned(), json!(format!("v{}", self.var)));
        args.insert("script".to_owned(), json!(self.script.text()));
        args.insert("before".to_owned(), json!(self.before));
        args.insert("after".to_owned(), json!(self.after));
        if self.bulk != Bulk::None {
            args.insert("bulk".to_owned(), json!(self.bulk));
        }
        if self.reads && !literal {
            args.insert("saw".to_owned(), json!(format!("{{{{ state.v{} | default(0) }}}}", self.var)));
        }
        args
    }
}
