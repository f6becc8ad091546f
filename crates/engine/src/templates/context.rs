//! The names that expressions may read: `state`, `steps.ID`, `task`, `tenant`, `user`, `item`, `index`, with or
//! without a leading `context.`.

use std::sync::Arc;

use kybern_core::task::StepOutcome;
use minijinja::value::{Enumerator, Object, ObjectRepr, Value as Jinja};
use serde_json::{Map, Value};

use super::value::{ObjectValue, convert, text};
use crate::beside::beside_the_runtime;

/// One step as expressions see it.
#[derive(Clone, Debug)]
pub struct StepView {
    /// The id under which it is found.
    pub id: String,
    /// How it ended, with its result.
    pub outcome: Arc<StepOutcome>,
}

/// Everything an expression can read. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    pub state: Arc<Map<String, Value>>,
    /// Steps that have ended; of two with one id the later wins.
    pub steps: Arc<Vec<StepView>>,
    pub task: Arc<Map<String, Value>>,
    pub tenant: Arc<Map<String, Value>>,
    /// The user; `null` when there is none.
    pub user: Arc<Value>,
    /// The item and the index of the loop round.
    pub round: Option<(Arc<Value>, u32)>,
    /// The arguments of a call: what a tool's own templates read, and no plan's.
    pub args: Option<Arc<Map<String, Value>>>,
    /// How many bytes of memory all of it takes, about.
    pub weight: usize,
}

/// Up to this weight whatever reads it takes no longer than moving others out of its way.
const LIGHT: usize = 256 * 1024;

impl Context {
    /// The arguments of a call, which take about so many bytes, and nothing else.
    #[must_use]
    pub fn of_args(args: Map<String, Value>, weight: usize) -> Self {
        Self {
            state: Arc::default(),
            steps: Arc::default(),
            task: Arc::default(),
            tenant: Arc::default(),
            user: Arc::new(Value::Null),
            round: None,
            args: Some(Arc::new(args)),
            weight,
        }
    }

    /// Computes something that reads it. A filter over megabytes takes a moment, and there may be many: the runtime moves
    /// everything else on this thread to another one first.
    pub(super) fn beside_the_runtime<T>(&self, compute: impl FnOnce() -> T) -> T {
        if self.weight > LIGHT { beside_the_runtime(compute) } else { compute() }
    }

    pub(super) fn root(&self, numeric: bool) -> Jinja {
        Jinja::from_object(RootObject { context: self.clone(), numeric })
    }
}

#[derive(Debug)]
struct RootObject {
    context: Context,
    numeric: bool,
}

impl Object for RootObject {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        let members = |map: &Arc<Map<String, Value>>| {
            Some(Jinja::from_object(ObjectValue { map: Arc::clone(map), numeric: self.numeric }))
        };
        match key.as_str()? {
            "state" => members(&self.context.state),
            "steps" => {
                Some(Jinja::from_object(Steps { steps: Arc::clone(&self.context.steps), numeric: self.numeric }))
            }
            "task" => members(&self.context.task),
            "tenant" => members(&self.context.tenant),
            "user" => Some(convert(&self.context.user, self.numeric)),
            "args" => self.context.args.as_ref().and_then(members),
            "item" => self.context.round.as_ref().map(|(item, _)| convert(item, self.numeric)),
            "index" => self.context.round.as_ref().map(|(_, index)| Jinja::from(*index)),
            "context" => Some(Jinja::from_object(Self { context: self.context.clone(), numeric: self.numeric })),
            _unknown => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let names = ["state", "steps", "task", "tenant", "user"];
        Enumerator::Values(names.map(|name| text(name, self.numeric)).into())
    }
}

#[derive(Debug)]
struct Steps {
    steps: Arc<Vec<StepView>>,
    numeric: bool,
}

impl Object for Steps {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        let id = key.as_str()?;
        let step = self.steps.iter().rev().find(|step| step.id == id)?;
        Some(Jinja::from_object(OutcomeObject { outcome: Arc::clone(&step.outcome), numeric: self.numeric }))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.steps.iter().map(|step| text(&step.id, self.numeric)).collect())
    }
}

#[derive(Debug)]
struct OutcomeObject {
    outcome: Arc<StepOutcome>,
    numeric: bool,
}

impl Object for OutcomeObject {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        match key.as_str()? {
            "status" => Some(text(self.outcome.status.as_str(), self.numeric)),
            "result" => Some(convert(&self.outcome.data, self.numeric)),
            "error" => Some(match &self.outcome.error {
                None => Jinja::from(()),
                Some(error) => convert(&serde_json::to_value(error).unwrap_or_default(), self.numeric),
            }),
            _unknown => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(["status", "result", "error"].map(|name| text(name, self.numeric)).into())
    }
}
