//! What a step that holds no steps may come to.

use kybern_core::error::ErrorCode;
use kybern_core::id::TaskId;
use kybern_core::json::MAX_DEPTH;
use kybern_core::ports::CallbackOutcome;
use kybern_core::task::{Resolution, StepStatus, TaskStatus};
use serde_json::{Value, json};

use super::judge::{Judge, Reached};
use super::program::{Act, Bulk, Class, Kind, Program, Script, Step};
use super::seen::{End, SeenStep};

/// The legal ends of a step.
#[derive(Default, Debug)]
pub(super) struct Legal {
    /// With which data it may complete.
    pub(super) completed: Option<Value>,
    pub(super) fails: bool,
    /// Whether that is a person's no.
    pub(super) refused: bool,
    /// Tokens of a success.
    pub(super) used: u64,
}

impl Legal {
    fn fails() -> Self {
        Self { fails: true, ..Self::default() }
    }

    fn refused() -> Self {
        Self { refused: true, ..Self::fails() }
    }

    fn completes(data: Value) -> Self {
        Self { completed: Some(data), ..Self::default() }
    }

    fn uses(self, used: u64) -> Self {
        Self { used, ..self }
    }
}

impl Judge<'_> {
    pub(super) fn leaf(&mut self, id: &str, step: &Step, seen: &SeenStep, end: &End) -> Reached {
        let n = u64::from(step.n);
        let legal = match &step.kind {
            Kind::Call(class, act) => self.call(step, *class, *act, seen, end),
            Kind::Decision(act) => self.call(step, Class::Read, *act, seen, end),
            Kind::Share(_) => Legal::completes(json!({"shared": n})).uses(n),
            Kind::Wait(_) => Legal::completes(json!({})),
            Kind::Inject(steps) | Kind::Patch { steps, .. } => self.proposal(id, steps, end),
            Kind::Count(of) => {
                let name = format!("c{of}");
                let before = self.known(&name).and_then(Value::as_u64).unwrap_or(0);
                Legal::completes(json!({name: before + 1}))
            }
            Kind::Ask | Kind::Input => asked(step, seen, end),
            Kind::Review if end.generation > 0 => Legal::completes(json!({format!("q{n}"): n})).uses(n),
            Kind::Review => match &seen.answer {
                Some((Some(Resolution::Fail), _)) => Legal::refused(),
                _ => Legal::default(),
            },
            Kind::Delegate(_) | Kind::Workflow(_) => self.delegated(id, step, seen, end),
            Kind::Child(program) => self.child(id, program),
            Kind::Condition { .. } | Kind::Parallel(_) | Kind::Over { .. } | Kind::While { .. } => Legal::default(),
        };
        if matches!(step.kind, Kind::Review) && seen.waits.len() > 1 && !self.seen.retried {
            self.fault(id, "it asked again what a person had answered");
        }
        match end.outcome.status {
            StepStatus::Completed if legal.completed.as_ref() == Some(&end.outcome.data) => {
                self.used += legal.used;
                Reached { data: legal.completed, ..Reached::default() }
            }
            StepStatus::Failed if legal.fails && legal.refused == end.outcome.refused => Reached::default(),
            status => {
                let (error, data) = (&end.outcome.error, &end.outcome.data);
                self.fault(
                    id,
                    format!(
                        "it is {status:?} in generation {} with {data} {error:?}, legal: {legal:?}",
                        end.generation
                    ),
                );
                Reached::default()
            }
        }
    }

    fn call(&mut self, step: &Step, class: Class, act: Act, seen: &SeenStep, end: &End) -> Legal {
        let success = || {
            let mut data = json!({format!("v{}", act.var): step.n});
            if act.bulk != Bulk::None {
                data[format!("x{}", step.n)] = act.bulk.value();
            }
            if depth(&data) > MAX_DEPTH || act.bulk == (Bulk::Brim { over: true }) {
                return Legal::fails();
            }
            Legal::completes(data).uses(u64::from(step.n))
        };
        let answer = seen.answer.as_ref().filter(|_| class == Class::Unkeyed);
        match answer {
            Some((Some(Resolution::Done), corrections)) => return Legal::completes(json!(corrections)),
            Some((Some(Resolution::Fail), _)) => return Legal::fails(),
            Some(_) | None => {}
        }
        match act.script {
            Script::Succeeds => success(),
            Script::Fails => Legal::fails(),
            Script::FailsOnce if end.generation == 0 => Legal::fails(),
            Script::FailsOnce => success(),
            // Nobody knows what it did, so a person must have said what to make of it.
            Script::Stumbles { unknown: true, .. } if class == Class::Unkeyed => Legal::default(),
            Script::Stumbles { times, .. } if times < step.tries => success(),
            Script::Stumbles { .. } => Legal::fails(),
        }
    }

    fn delegated(&mut self, id: &str, step: &Step, seen: &SeenStep, end: &End) -> Legal {
        let task = &self.seen.task;
        let workflow_id = format!("v1:{}:{}:{id}:{}", task.tenant, task.id, end.generation);
        let callbacks = self.ledger.callbacks(&workflow_id);
        let taken = |outcome| matches!(outcome, Some(CallbackOutcome::Accepted | CallbackOutcome::Kept));
        let winner = callbacks.iter().find(|callback| taken(callback.outcome)).map(|callback| callback.success);
        // An answer that got lost on its way back may have been the first.
        let may = |success: bool| match winner {
            Some(winner) => winner == success,
            None => callbacks
                .iter()
                .any(|callback| callback.success == success && callback.outcome != Some(CallbackOutcome::Conflict)),
        };
        let wait = seen.waits.last();
        let late = wait.and_then(|wait| wait.until).is_some_and(|until| until <= end.at);
        let refused = matches!(
            &step.kind,
            Kind::Delegate(super::program::Reply::Refused) | Kind::Workflow(super::program::Reply::Refused)
        );
        let code = end.outcome.error.as_ref().map(|error| error.code);
        let cut_off =
            end.outcome.error.as_ref().is_some_and(|error| error.message.contains("the last try was cut off"));
        let unsent = cut_off && self.ledger.doom.lost_job();
        // What came before the step waited is there when it does.
        let kept = callbacks.iter().any(|callback| callback.outcome == Some(CallbackOutcome::Kept));
        Legal {
            completed: may(true).then(|| json!({format!("w{}", step.n): 1})),
            fails: match code {
                Some(ErrorCode::Timeout) => late && !kept,
                _ => refused || unsent || may(false),
            },
            ..Legal::default()
        }
    }

    /// The children of a step as it ran last.
    pub(super) fn children(&self, id: &str) -> Vec<TaskId> {
        let all = self.seen.children.get(id).into_iter().flatten();
        all.filter(|child| !self.seen.left.contains(child)).copied().collect()
    }

    pub(super) fn child(&mut self, id: &str, program: &Program) -> Legal {
        let children = self.children(id);
        let [child] = children[..] else {
            self.fault(id, format!("it has the children {children:?}, and should have one"));
            return Legal::default();
        };
        let Some(seen) = self.all.get(&child) else { return Legal::default() };
        let mut judge = Judge::new(self.all, seen, self.ledger, self.cap);
        let verdict = judge.task(program);
        let faults = std::mem::take(&mut judge.faults);
        self.faults.extend(faults);
        self.faults.extend(super::laws::holds(seen, &verdict));
        // What it used counts whatever became of it.
        self.used += verdict.used;
        match verdict.status {
            TaskStatus::Completed => {
                let data = match verdict.last {
                    Value::Object(members) => Value::Object(members),
                    other => json!({"result": other, "child_task_id": child}),
                };
                Legal::completes(data)
            }
            TaskStatus::Cancelled if !seen.is_cancelled() => Legal::refused(),
            _ => Legal::fails(),
        }
    }
}

/// How many lists and objects stand in each other.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn asked(step: &Step, seen: &SeenStep, end: &End) -> Legal {
    match &seen.answer {
        Some((None, corrections)) => Legal::completes(json!(corrections)),
        Some((Some(_), _)) => Legal::refused(),
        None => {
            let wait = seen.waits.last();
            let late = wait.and_then(|wait| wait.until).is_some_and(|until| until <= end.at);
            Legal { fails: step.patience.is_some() && late, ..Legal::default() }
        }
    }
}
