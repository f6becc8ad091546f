//! What must have happened: an interpreter of programs that shares nothing with the engine. Where several ends are
//! legal (a race, a cancel), it takes the one that was seen and holds the rest of the task to it.

use std::collections::{BTreeMap, BTreeSet};

use kybern_core::id::TaskId;
use kybern_core::task::{JournalEntry, Resolution, StepStatus, TaskStatus};
use serde_json::{Map, Value};

use super::laws::find;
use super::ledger::Ledger;
use super::program::{Kind, Program, Step, Test};
use super::seen::{End, Seen, SeenStep, number_of};

/// Whether what stands around a step lets it begin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Around {
    /// Nothing stops it.
    Calm,
    /// Something beside it failed for good, nobody knows when.
    Maybe,
    /// It had been stopped before the step could begin.
    Stopped,
}

/// What a step, or a list, came to.
#[derive(Default)]
pub(super) struct Reached {
    /// A failure that stops what follows.
    pub(super) stops: bool,
    /// It never ran, so nothing after it may.
    pub(super) never: bool,
    pub(super) data: Option<Value>,
}

/// What enters the state at one place in plan order.
#[derive(Default)]
struct Entry {
    merged: Map<String, Value>,
    data: Option<Value>,
}

/// What a task must be.
pub struct Verdict {
    pub status: TaskStatus,
    pub state: Map<String, Value>,
    pub last: Value,
    /// Tokens.
    pub used: u64,
}

/// The judge of one task.
pub struct Judge<'a> {
    pub(super) all: &'a BTreeMap<TaskId, Seen>,
    pub(super) seen: &'a Seen,
    pub(super) ledger: &'a Ledger,
    pub faults: Vec<String>,
    entries: Vec<Entry>,
    visited: BTreeSet<String>,
    pub(super) used: u64,
    pub(super) scheduled: u32,
    /// How many steps may have waited for a key that another held when a failure beside them stopped them: each had
    /// been scheduled, and left no row.
    pub(super) waited: u32,
    /// How many steps may be scheduled.
    pub(super) cap: u32,
    /// The ids of the plan's own steps.
    pub(super) own: Vec<String>,
    /// The most steps that the task can come to know.
    pub(super) most: u32,
    /// The rows in which steps were refused because of the cap.
    pub(super) refused: Vec<i64>,
    /// What has been added to the plan: whether it replaces, by which step, what.
    patches: Vec<(bool, String, Vec<Step>)>,
    /// The row in which a failure stopped the list that is being judged, or one around it.
    pub(super) stopped: Option<i64>,
    /// Whether what stopped the task first is a person's no.
    is_refused: bool,
}

impl<'a> Judge<'a> {
    pub fn new(all: &'a BTreeMap<TaskId, Seen>, seen: &'a Seen, ledger: &'a Ledger, cap: u32) -> Self {
        Self {
            all,
            seen,
            ledger,
            faults: Vec::new(),
            entries: Vec::new(),
            visited: BTreeSet::new(),
            used: 0,
            scheduled: 0,
            waited: 0,
            cap,
            own: Vec::new(),
            most: 0,
            refused: Vec::new(),
            patches: Vec::new(),
            stopped: None,
            is_refused: false,
        }
    }

    pub(super) fn fault(&mut self, id: &str, what: impl std::fmt::Display) {
        self.faults.push(format!("task {} step {id}: {what}", self.seen.task.id));
    }

    /// Judges a task by its program.
    pub fn task(&mut self, program: &Program) -> Verdict {
        self.own = program.steps.iter().map(Step::id).collect();
        self.most = super::cap::most(&program.steps);
        let came = self.list(&program.steps, "", Around::Calm);
        let ran: Vec<String> = self.seen.steps.keys().filter(|id| !self.visited.contains(*id)).cloned().collect();
        for id in ran {
            self.fault(&id, "it ran, and never should have");
        }
        self.within_cap();
        self.used += self.spent_in_vain(program) + self.seen.spent_before;
        // What was started by a step that has run once more since has used what it has used.
        let left = self.seen.left.iter().filter_map(|child| self.all.get(child));
        self.used += left.map(|child| child.task.usage.input_tokens.0).sum::<u64>();
        let mut state = Map::new();
        let mut last = Value::Null;
        for entry in std::mem::take(&mut self.entries) {
            state.extend(entry.merged);
            last = entry.data.unwrap_or(last);
        }
        let status = match (self.seen.is_cancelled(), came.stops) {
            (true, _) => TaskStatus::Cancelled,
            (false, true) if self.is_refused => TaskStatus::Cancelled,
            (false, true) => TaskStatus::Failed,
            (false, false) => TaskStatus::Completed,
        };
        Verdict { status, state, last, used: self.used }
    }

    /// Judges a list, and answers the data of its last completed step.
    pub(super) fn list(&mut self, steps: &[Step], prefix: &str, around: Around) -> Reached {
        let mut entries: Vec<(String, Step)> =
            steps.iter().map(|step| (format!("{prefix}{}", step.id()), step.clone())).collect();
        let mut came: Vec<Reached> = Vec::new();
        let outer = self.stopped;
        let mut at = 0;
        while let Some((id, step)) = entries.get(at).cloned() {
            let before = ancestors(&entries, at);
            let here = self.around(&entries, &came, &before, at, around);
            self.in_order(&id, &entries, at);
            let own = entries.iter().filter_map(|(id, _)| self.stop_of(id));
            self.stopped = outer.into_iter().chain(own).min();
            self.not_after_stop(&id, &entries, at);
            came.push(self.step(&id, &step, here));
            if prefix.is_empty() {
                for (replaces, by, added) in std::mem::take(&mut self.patches) {
                    if replaces {
                        let rest = entries.split_off(at + 1);
                        entries.extend(self.left_by(&by, rest));
                    }
                    entries.extend(added.into_iter().map(|step| (format!("{by}__{}", step.id()), step)));
                }
            }
            at += 1;
        }
        self.stopped = outer;
        if prefix.is_empty() {
            let first = entries.iter().filter_map(|(id, _)| self.stopper(id)).min();
            self.is_refused = first.is_some_and(|(_, refused)| refused);
        }
        let stops = came.iter().any(|came| came.stops);
        let data = came.into_iter().rev().find_map(|came| came.data);
        Reached { stops, never: false, data }
    }

    /// What a step that replaces the rest of the plan leaves of it: what had begun, because it ran although something
    /// before it had failed.
    fn left_by(&mut self, by: &str, rest: Vec<(String, Step)>) -> Vec<(String, Step)> {
        let row = self.seen.steps.get(by).and_then(|step| step.end.as_ref()).map_or(0, |end| end.seq);
        let (begun, replaced): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .partition(|(id, _)| self.seen.steps.get(id).is_some_and(|step| step.first < row && !step.is_undone));
        for (id, step) in replaced {
            if self.seen.steps.get(&id).is_some_and(|step| step.is_undone) {
                self.undone(&id, &step);
            }
        }
        begun
    }

    /// A step that was to begin again with its task, and did not come to that.
    fn undone(&mut self, id: &str, step: &Step) {
        self.visited.insert(id.to_owned());
        if let Kind::Child(program) = &step.kind
            && !self.children(id).is_empty()
        {
            self.child(id, program);
        }
    }

    fn around(
        &self,
        entries: &[(String, Step)],
        came: &[Reached],
        before: &BTreeSet<usize>,
        at: usize,
        around: Around,
    ) -> Around {
        if before.iter().any(|dep| came[*dep].stops || came[*dep].never) {
            return Around::Stopped;
        }
        let beside = (0..entries.len())
            .any(|other| other != at && !ancestors(entries, other).contains(&at) && self.stops_seen(&entries[other].0));
        if beside { around.max(Around::Maybe) } else { around }
    }

    /// Whether a step, or what it injected, is seen to have failed for good.
    pub(super) fn stops_seen(&self, id: &str) -> bool {
        let failed = |step: &SeenStep| {
            step.end.as_ref().is_some_and(|end| end.outcome.status == StepStatus::Failed && !end.outcome.tolerated)
        };
        let Some(step) = self.seen.steps.get(id) else { return false };
        let injected = step.end.iter().flat_map(|end| &end.outcome.injected);
        failed(step) || injected.into_iter().any(|step| self.stops_seen(step.id.as_str()))
    }

    /// A step begins after what it waits for has ended.
    fn in_order(&mut self, id: &str, entries: &[(String, Step)], at: usize) {
        let Some(first) = self.seen.steps.get(id).map(|step| step.first).filter(|_| !self.seen.retried) else {
            return;
        };
        for dep in dependencies(entries, at) {
            let ended = self.seen.last_end(&entries[dep].0);
            if first < ended {
                self.fault(id, format!("its row {first} comes before row {ended} of what it waits for"));
            }
        }
    }

    fn step(&mut self, id: &str, step: &Step, around: Around) -> Reached {
        let Some(seen) = self.seen.steps.get(id).cloned() else {
            if around == Around::Calm && self.seen.retried && self.seen.is_replaced() && !id.contains("__") {
                // Not reached before the retry, it was replaced by a step that ran although something had failed.
                return Reached::default();
            }
            if !(self.seen.is_cancelled() || (around != Around::Calm && !step.always)) {
                self.fault(id, "it never ran");
            }
            self.waited += u32::from(around == Around::Maybe && matches!(step.kind, Kind::Share(_)));
            return Reached { never: true, ..Reached::default() };
        };
        self.visited.insert(id.to_owned());
        if seen.is_undone && around != Around::Calm {
            self.undone(id, step);
            return Reached { never: true, ..Reached::default() };
        }
        if around == Around::Stopped && !step.always {
            self.fault(id, "it ran although a failure had stopped what it stands in");
        }
        if seen.end.is_none() && !self.seen.is_cancelled() && !(around == Around::Maybe && is_to_begin_again(&seen)) {
            self.fault(id, "it never ended");
        }
        let place = self.entries.len();
        self.entries.push(Entry::default());
        if matches!(step.kind, Kind::Review) {
            self.entries[place].merged.extend(seen.corrections.clone());
        }
        let Some(end) = &seen.end else {
            // One that is to begin again may have been refused before.
            self.scheduled += u32::from(!seen.is_undone);
            if step.kind.is_container() {
                self.inside(id, step, &seen, Around::Maybe);
            }
            return Reached { never: true, ..Reached::default() };
        };
        if !self.let_in(id, step, end, &seen) {
            return Reached::default();
        }
        if self.is_refused(id, end) {
            // A task that may not go on is not let off because the step's own failures are tolerated.
            return Reached { stops: true, ..Reached::default() };
        }
        self.scheduled += 1;
        let refused = self.refused.len();
        let mut came = if step.kind.is_container() {
            self.container(id, step, &seen, end, around)
        } else {
            self.leaf(id, step, &seen, end)
        };
        if end.outcome.status == StepStatus::Failed {
            // Nor because what it stands in is.
            let is_tolerated = step.tolerated && self.refused.len() == refused;
            if end.outcome.tolerated != is_tolerated {
                self.fault(id, "whether its failure stops is not what the plan says");
            }
            came.stops = !is_tolerated;
        }
        if let Some(data) = &came.data {
            let entry = &mut self.entries[place];
            match data {
                data if step.saves => drop(entry.merged.insert(format!("kept{}", step.n), data.clone())),
                Value::Object(members) if !step.kind.is_container() => entry.merged.extend(members.clone()),
                _ => {}
            }
            entry.data = Some(data.clone());
        }
        self.grows(id, step, end, around, &mut came);
        came
    }

    /// What a step injected is judged as a list of its own, which stops the list that its step stands in.
    fn grows(&mut self, id: &str, step: &Step, end: &End, around: Around, came: &mut Reached) {
        if end.outcome.status != StepStatus::Completed {
            return;
        }
        match &step.kind {
            Kind::Inject(steps) => {
                let inner = self.list(steps, &format!("{id}__"), around);
                came.stops |= inner.stops;
            }
            Kind::Patch { replaces, steps } => self.patches.push((*replaces, id.to_owned(), steps.clone())),
            _ => {}
        }
    }

    /// Whether the condition let the step in, as it should.
    fn let_in(&mut self, id: &str, step: &Step, end: &End, seen: &SeenStep) -> bool {
        let skipped = end.outcome.status == StepStatus::Skipped;
        let expected = match step.test {
            Test::None => Some(true),
            Test::Is(truth) => Some(truth),
            Test::Knows(_) if self.seen.retried => None,
            Test::Knows(var) => Some(self.knows(var)),
        };
        let went_in = !skipped || seen.is_open;
        if expected.is_some_and(|expected| expected != went_in) {
            self.fault(id, format!("its condition is {expected:?}, yet it is {:?}", end.outcome.status));
        }
        went_in
    }

    /// The tokens of calls that did not end their step well, however often a person had it tried again: their result
    /// could not be kept, or they asked, or handed the step over.
    fn spent_in_vain(&self, program: &Program) -> u64 {
        let unkept = |message: &str| message.contains("cannot be kept") || message.contains("over the limit of");
        let spent = self.seen.rows.iter().filter_map(|row| {
            let n = number_of(row.step.as_ref().filter(|step| !step.as_str().starts_with('_'))?.as_str());
            let has_spent = match (&row.entry, &find(program, n)?.kind) {
                (JournalEntry::Finished(end), Kind::Call(..)) => {
                    end.error.as_ref().is_some_and(|error| unkept(&error.message))
                }
                (JournalEntry::Waiting(_), Kind::Review | Kind::Delegate(_)) => true,
                _ => false,
            };
            has_spent.then_some(u64::from(n))
        });
        spent.sum()
    }

    pub(super) fn knows(&self, var: u8) -> bool {
        self.known(&format!("v{var}")).is_some()
    }

    /// What the state has under a name, as far as the judge has come.
    pub(super) fn known(&self, name: &str) -> Option<&Value> {
        self.entries.iter().rev().find_map(|entry| entry.merged.get(name))
    }
}

/// Whether a person's last word was that the step shall be called again. Then a failure beside it may keep it from that.
fn is_to_begin_again(seen: &SeenStep) -> bool {
    seen.answer.as_ref().is_some_and(|(resolution, _)| matches!(resolution, None | Some(Resolution::Retry)))
}

/// The steps that one waits for.
pub(super) fn dependencies(entries: &[(String, Step)], at: usize) -> Vec<usize> {
    match &entries[at].1.after {
        Some(after) => (0..entries.len()).filter(|other| after.contains(&entries[*other].1.n)).collect(),
        None => at.checked_sub(1).into_iter().collect(),
    }
}

/// The steps that one waits for, and those that they wait for.
pub(super) fn ancestors(entries: &[(String, Step)], at: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = dependencies(entries, at);
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(dependencies(entries, next));
        }
    }
    found
}
