//! What a step that holds steps may come to.

use kybern_core::json::MAX_DEPTH;
use kybern_core::task::StepStatus;
use serde_json::{Value, json};

use super::judge::{Around, Judge, Reached};
use super::leaf::depth;
use super::program::{COUNTER, Kind, Step, Test};
use super::seen::{End, SeenStep};

impl Judge<'_> {
    pub(super) fn container(&mut self, id: &str, step: &Step, seen: &SeenStep, end: &End, around: Around) -> Reached {
        let status = end.outcome.status;
        let inner = match status {
            StepStatus::Completed => Around::Calm,
            StepStatus::Failed => around,
            StepStatus::Skipped => Around::Maybe,
        };
        let refused = self.refused.len();
        let lists = self.inside(id, step, seen, inner);
        let is_tolerated = step.tolerated && self.refused.len() == refused;
        let stopped = lists.iter().any(|list| list.stops);
        let lasts: Vec<Value> = lists.into_iter().map(|list| list.data.unwrap_or_default()).collect();
        let data = match &step.kind {
            Kind::Condition { .. } => json!({"taken": seen.branch, "result": lasts.first()}),
            Kind::Parallel(_) => json!({"branches": lasts}),
            _ => json!({"iterations": lasts.len(), "results": lasts}),
        };
        let too_deep = !stopped && depth(&data) > MAX_DEPTH;
        let legal = match status {
            StepStatus::Completed => !stopped && !too_deep,
            StepStatus::Failed => stopped || too_deep,
            // What is tolerated and was cut short before it failed inside goes on when the task is tried again.
            StepStatus::Skipped => around != Around::Calm && (!stopped || is_tolerated),
        };
        if !legal {
            let what = format!("stopped inside: {stopped}, too deep: {too_deep}, around: {around:?}");
            self.fault(id, format!("it is {status:?}; {what}"));
        }
        if status != StepStatus::Completed {
            return Reached::default();
        }
        if data != end.outcome.data {
            self.fault(id, format!("its data is {}, and should be {data}", end.outcome.data));
        }
        Reached { data: Some(data), ..Reached::default() }
    }

    /// Judges the lists of a step that holds steps.
    pub(super) fn inside(&mut self, id: &str, step: &Step, seen: &SeenStep, around: Around) -> Vec<Reached> {
        match &step.kind {
            Kind::Condition { test, then, otherwise } => {
                let expected = match test {
                    Test::Knows(_) if self.seen.retried => seen.branch,
                    Test::Knows(var) => Some(self.knows(*var)),
                    Test::Is(truth) => Some(*truth),
                    Test::None => Some(true),
                };
                if seen.branch.is_some() && seen.branch != expected {
                    self.fault(id, format!("it took {:?}, its condition is {expected:?}", seen.branch));
                }
                let list = if seen.branch == Some(true) { then } else { otherwise };
                vec![self.list(list, &format!("{id}__"), around)]
            }
            Kind::Parallel(branches) => {
                let prefix = format!("{id}__");
                let stops: Vec<bool> = branches
                    .iter()
                    .map(|list| list.iter().any(|step| self.stops_seen(&format!("{prefix}{}", step.id()))))
                    .collect();
                let beside = |at: usize| stops.iter().enumerate().any(|(other, stops)| other != at && *stops);
                let around_of = |at: usize| if beside(at) { around.max(Around::Maybe) } else { around };
                let stop_of = |judge: &Self, at: usize| {
                    branches[at].iter().filter_map(|step| judge.stop_of(&format!("{prefix}{}", step.id()))).min()
                };
                let outer = self.stopped;
                let mut lists = Vec::new();
                for at in 0..branches.len() {
                    let beside = (0..branches.len()).filter(|other| *other != at);
                    self.stopped = beside.filter_map(|other| stop_of(self, other)).chain(outer).min();
                    lists.push(self.list(&branches[at], &prefix, around_of(at)));
                }
                self.stopped = outer;
                lists
            }
            Kind::Over { rounds, steps } => self.rounds(id, steps, *rounds, *rounds, around),
            Kind::While { rounds, steps } => {
                let mut steps = steps.clone();
                steps.push(counting(step.n));
                self.rounds(id, &steps, *rounds, seen.rounds, around)
            }
            _ => Vec::new(),
        }
    }

    fn rounds(&mut self, id: &str, steps: &[Step], most: u32, opened: u32, around: Around) -> Vec<Reached> {
        let mut lists: Vec<Reached> = Vec::new();
        if opened > most {
            self.fault(id, format!("{opened} rounds, at most {most}"));
        }
        for round in 0..most {
            let prefix = format!("{id}__{round}__");
            let begun = round < opened && self.seen.steps.keys().any(|id| id.starts_with(&prefix));
            let stopped = lists.last().is_some_and(|list| list.stops);
            if !begun && (stopped || around != Around::Calm || self.seen.is_cancelled()) {
                break;
            }
            if stopped {
                self.fault(id, format!("round {round} began after a failure"));
            }
            if begun && round > 0 {
                self.no_round_after_stop(id, &format!("{id}__{}__", round - 1));
            }
            lists.push(self.list(steps, &prefix, around));
        }
        lists
    }
}

/// The step that a while loop counts its rounds with.
fn counting(n: u32) -> Step {
    Step {
        n: n + COUNTER,
        kind: Kind::Count(n),
        test: Test::None,
        always: false,
        after: None,
        saves: false,
        tolerated: false,
        tries: 1,
        patience: None,
    }
}
