//! What a task's journal says, row by row and without the engine's own walk.

use std::collections::{BTreeMap, BTreeSet};

use kybern_core::id::TaskId;
use kybern_core::plan::PatchMode;
use kybern_core::task::{
    ContainerOpening, JournalEntry, JournalRow, Resolution, Signal, StepOutcome, StepStatus, Task, TaskStatus, Wait,
    WaitKind,
};
use kybern_core::time::Timestamp;
use kybern_engine::task::TaskView;
use serde_json::{Map, Value};

use super::judge::ancestors;
use super::program::{Kind, Program, Step};

/// A task as it was left.
pub struct Seen {
    pub task: Task,
    pub view: TaskView,
    pub rows: Vec<JournalRow>,
    pub steps: BTreeMap<String, SeenStep>,
    /// By the step that started it.
    pub children: BTreeMap<String, Vec<TaskId>>,
    /// Whether a person had it tried again: what was decided before may have seen another state.
    pub retried: bool,
    /// Tokens of steps that have run once more since.
    pub spent_before: u64,
    /// The children that those had started. One that was tried again was waited for more than once.
    pub left: BTreeSet<TaskId>,
    /// The rows in which steps ended as persons had said.
    pub told: BTreeSet<i64>,
    /// What the ids of the steps that were added to the plan begin with.
    added: Vec<String>,
    program: Program,
}

/// A step as its rows tell of it.
#[derive(Clone, Default, Debug)]
pub struct SeenStep {
    /// Its first row.
    pub first: i64,
    pub end: Option<End>,
    pub branch: Option<bool>,
    pub is_open: bool,
    /// The rounds of a while loop.
    pub rounds: u32,
    pub waits: Vec<Wait>,
    /// The answer to its last question.
    pub answer: Option<(Option<Resolution>, Map<String, Value>)>,
    /// What a person put right.
    pub corrections: Map<String, Value>,
    /// Whether it failed, was to begin again with its task, and did not come to that.
    pub is_undone: bool,
}

impl SeenStep {
    /// The tasks that it waited for.
    fn children(&self) -> impl Iterator<Item = TaskId> {
        let children = self.waits.iter().filter(|wait| wait.kind == WaitKind::Child);
        children.filter_map(|wait| wait.reference.as_ref()?.parse().ok())
    }
}

/// How a step ended last.
#[derive(Clone, Debug)]
pub struct End {
    pub seq: i64,
    pub at: Timestamp,
    pub generation: u32,
    pub outcome: StepOutcome,
}

/// Steps with the ids that they have in a list.
fn listed(steps: &[Step], prefix: &str) -> Vec<(String, Step)> {
    steps.iter().map(|step| (format!("{prefix}{}", step.id()), step.clone())).collect()
}

/// The number of a step whose id is `s3`, or ends with it.
pub fn number_of(id: &str) -> u32 {
    let last = id.rsplit("__").next().unwrap();
    last.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

impl Seen {
    pub fn of(task: Task, view: TaskView, rows: Vec<JournalRow>, program: Program) -> Self {
        let mut seen = Self {
            task,
            view,
            rows: Vec::new(),
            steps: BTreeMap::new(),
            children: BTreeMap::new(),
            retried: false,
            spent_before: 0,
            left: BTreeSet::new(),
            told: BTreeSet::new(),
            added: Vec::new(),
            program,
        };
        for row in &rows {
            seen.take(row);
        }
        seen.rows = rows;
        seen
    }

    /// Whether somebody cancelled it, which is not what a person's no to a question of its own does.
    pub fn is_cancelled(&self) -> bool {
        self.task.status == TaskStatus::Cancelled && self.task.error.is_none()
    }

    fn take(&mut self, row: &JournalRow) {
        if let JournalEntry::Answered { signal, .. } = &row.entry {
            return self.answered(signal);
        }
        let Some(id) = row.step.as_ref().map(|id| id.as_str().to_owned()) else { return };
        if matches!(&row.entry, JournalEntry::Finished(outcome) if outcome.patch.is_some()) {
            self.added.push(format!("{id}__"));
        }
        let step = self.steps.entry(id).or_default();
        step.is_undone = false;
        if step.first == 0 {
            step.first = row.seq;
        }
        match &row.entry {
            JournalEntry::Finished(outcome) => {
                if step.answer.is_some() {
                    self.told.insert(row.seq);
                }
                let outcome = (**outcome).clone();
                step.end = Some(End { seq: row.seq, at: row.at, generation: row.generation, outcome });
            }
            JournalEntry::Opened(opening) => {
                step.is_open = true;
                match opening {
                    ContainerOpening::Branch { taken } => step.branch = Some(*taken),
                    ContainerOpening::Round { .. } => step.rounds += 1,
                    ContainerOpening::Branches | ContainerOpening::Items { .. } | ContainerOpening::Turn(_) => {}
                }
            }
            JournalEntry::Waiting(wait) => {
                step.waits.push((**wait).clone());
                step.answer = None;
            }
            _ => {}
        }
    }

    fn answered(&mut self, signal: &Signal) {
        match signal {
            Signal::Review { step, wait_seq, corrections, resolution, .. } => {
                let Some(step) = self.steps.get_mut(step.as_str()) else { return };
                if step.end.is_none() && step.waits.last().is_some_and(|wait| wait.seq == *wait_seq) {
                    step.answer = Some((*resolution, corrections.clone()));
                    if resolution.is_none() {
                        step.corrections.clone_from(corrections);
                    }
                }
            }
            Signal::Retry { .. } => self.begin_again(),
            Signal::Unreadable { .. } => {}
            Signal::Callback { .. } | Signal::ChildEnded { .. } => {}
        }
    }

    /// What failed, and was not tolerated, has not ended any more; nor has what a failure interrupted.
    fn begin_again(&mut self) {
        self.retried = true;
        let ended: Vec<String> =
            self.steps.iter().filter(|(_, step)| step.end.is_some()).map(|(id, _)| id.clone()).collect();
        let goes_on = |step: &SeenStep| match step.end.as_ref().map(|end| &end.outcome) {
            Some(outcome) if outcome.status == StepStatus::Failed => !outcome.tolerated,
            Some(outcome) if outcome.status == StepStatus::Skipped => step.is_open,
            _ => false,
        };
        let shut: Vec<String> = self
            .steps
            .iter()
            .filter(|(_, step)| step.is_open && step.end.is_some() && !goes_on(step))
            .map(|(id, _)| id.clone())
            .collect();
        let begins = |id: &String| !shut.iter().any(|shut| self.is_inside(id, shut));
        let again: Vec<String> =
            self.steps.iter().filter(|(id, step)| goes_on(step) && begins(id)).map(|(id, _)| id.clone()).collect();
        for id in again {
            let step = self.steps.entry(id).or_default();
            // A child to which a person said no does not come back: another takes its place.
            if step.end.as_ref().is_some_and(|end| end.outcome.refused) {
                self.left.extend(step.children());
            }
            (step.end, step.answer) = (None, None);
            step.is_undone = !step.is_open;
        }
        let mut behind = Vec::new();
        self.behind(&self.plan(), false, &mut behind);
        behind.retain(|id| ended.contains(id));
        behind.iter().for_each(|id| self.run_once_more(id));
    }

    /// The steps of the plan with what was added to it.
    fn plan(&self) -> Vec<(String, Step)> {
        let mut entries = listed(&self.program.steps, "");
        let mut at = 0;
        while let Some((id, step)) = entries.get(at).cloned() {
            at += 1;
            for (by, replaces, steps) in self.patches(&id, &step) {
                if replaces {
                    let row = self.completed(&by).map_or(0, |end| end.seq);
                    let rest = entries.split_off(at);
                    let begun = |(id, _): &(String, Step)| self.steps.get(id).is_some_and(|step| step.first < row);
                    entries.extend(rest.into_iter().filter(begun));
                }
                entries.extend(listed(&steps, &format!("{by}__")));
            }
        }
        entries
    }

    /// What a step, and what it holds, has added to the plan: by which step, and whether in place of the rest.
    fn patches(&self, id: &str, step: &Step) -> Vec<(String, bool, Vec<Step>)> {
        if let Kind::Patch { replaces, steps } = &step.kind {
            let added = self.completed(id).map(|_| (id.to_owned(), *replaces, steps.clone()));
            return added.into_iter().collect();
        }
        let Some(seen) = self.steps.get(id) else { return Vec::new() };
        let inside = self.lists(id, step, seen).into_iter().flatten();
        inside.flat_map(|(id, step)| self.patches(&id, &step)).collect()
    }

    /// What has run always although something before it is to begin again, or has never been reached.
    fn behind(&self, entries: &[(String, Step)], outer: bool, found: &mut Vec<String>) {
        for (at, (id, step)) in entries.iter().enumerate() {
            let Some(seen) = self.steps.get(id) else { continue };
            let open = outer || ancestors(entries, at).into_iter().any(|dep| !self.has_settled(&entries[dep]));
            let has_begun = seen.end.as_ref().map_or(seen.is_open, |end| end.outcome.patch.is_none());
            match &seen.end {
                _ if step.always && open && has_begun => found.push(id.clone()),
                Some(_) => {
                    if let (Kind::Inject(steps), Some(_)) = (&step.kind, self.completed(id)) {
                        self.behind(&listed(steps, &format!("{id}__")), open, found);
                    }
                }
                None => self.lists(id, step, seen).iter().for_each(|list| self.behind(list, open, found)),
            }
        }
    }

    /// The lists in a step that has been opened.
    fn lists(&self, id: &str, step: &Step, seen: &SeenStep) -> Vec<Vec<(String, Step)>> {
        let prefix = format!("{id}__");
        match &step.kind {
            Kind::Condition { then, otherwise, .. } => match seen.branch {
                Some(true) => vec![listed(then, &prefix)],
                Some(false) => vec![listed(otherwise, &prefix)],
                None => Vec::new(),
            },
            Kind::Parallel(branches) => branches.iter().map(|branch| listed(branch, &prefix)).collect(),
            Kind::Over { steps, .. } | Kind::While { steps, .. } => {
                let rounds = (0..).map(|round| format!("{prefix}{round}__"));
                let begun = |prefix: &String| self.steps.keys().any(|id| id.starts_with(prefix));
                rounds.take_while(begun).map(|prefix| listed(steps, &prefix)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn completed(&self, id: &str) -> Option<&End> {
        self.steps.get(id)?.end.as_ref().filter(|end| end.outcome.status == StepStatus::Completed)
    }

    fn has_settled(&self, (id, step): &(String, Step)) -> bool {
        let injected = || match &step.kind {
            Kind::Inject(steps) if self.completed(id).is_some() => listed(steps, &format!("{id}__")),
            _ => Vec::new(),
        };
        let has_ended = self.steps.get(id).is_some_and(|step| step.end.is_some());
        has_ended && injected().iter().all(|step| self.has_settled(step))
    }

    /// A step that has ended runs once more, with nothing inside it.
    fn run_once_more(&mut self, id: &str) {
        let inside: Vec<String> = self.steps.keys().filter(|known| self.is_inside(known, id)).cloned().collect();
        let own = self.steps.get(id).cloned();
        let gone: Vec<SeenStep> = inside.iter().filter_map(|id| self.steps.remove(id)).chain(own).collect();
        for step in &gone {
            let end = step.end.iter().filter(|end| end.outcome.status == StepStatus::Completed);
            self.spent_before += end.map(|end| end.outcome.usage.input_tokens.0).sum::<u64>();
            self.left.extend(step.children());
        }
        let step = self.steps.entry(id.to_owned()).or_default();
        *step = SeenStep {
            first: step.first,
            waits: std::mem::take(&mut step.waits),
            corrections: std::mem::take(&mut step.corrections),
            is_undone: true,
            ..SeenStep::default()
        };
    }

    /// Whether a step lies inside another. What was added to the plan bears the name of a step that it is not inside of.
    fn is_inside(&self, id: &str, outer: &str) -> bool {
        let added = |added: &String| id.starts_with(added) && !outer.starts_with(added);
        id.strip_prefix(outer).is_some_and(|rest| rest.starts_with("__")) && !self.added.iter().any(added)
    }

    /// Whether a step replaced what had not begun of the plan.
    pub fn is_replaced(&self) -> bool {
        self.rows.iter().any(|row| match &row.entry {
            JournalEntry::Finished(outcome) => {
                outcome.patch.as_ref().is_some_and(|patch| patch.mode == PatchMode::Replace)
            }
            _ => false,
        })
    }

    /// The last row in which a step, or anything inside it, ended.
    pub fn last_end(&self, id: &str) -> i64 {
        let ends = self.steps.iter().filter(|(known, _)| *known == id || self.is_inside(known, id));
        ends.filter_map(|(_, step)| Some(step.end.as_ref()?.seq)).max().unwrap_or(0)
    }
}
