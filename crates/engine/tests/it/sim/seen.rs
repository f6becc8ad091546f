//! What a task's journal says, row by row and without the engine's own walk.

use std::collections::BTreeMap;

use kybern_core::id::TaskId;
use kybern_core::task::{
    JournalEntry, JournalRow, Opening, Resolution, Signal, StepOutcome, StepStatus, Task, TaskStatus, Wait,
};
use kybern_core::time::Timestamp;
use kybern_engine::task::TaskView;
use serde_json::{Map, Value};

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
}

/// How a step ended last.
#[derive(Clone, Debug)]
pub struct End {
    pub seq: i64,
    pub at: Timestamp,
    pub generation: u32,
    pub outcome: StepOutcome,
}

/// The number of a step whose id is `s3`, or ends with it.
pub fn number_of(id: &str) -> u32 {
    let last = id.rsplit("__").next().unwrap();
    last.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

impl Seen {
    pub fn of(task: Task, view: TaskView, rows: Vec<JournalRow>) -> Self {
        let mut seen =
            Self { task, view, rows: Vec::new(), steps: BTreeMap::new(), children: BTreeMap::new(), retried: false };
        for row in &rows {
            seen.take(row);
        }
        seen.rows = rows;
        seen
    }

    pub fn is_cancelled(&self) -> bool {
        self.task.status == TaskStatus::Cancelled
    }

    fn take(&mut self, row: &JournalRow) {
        if let JournalEntry::Answered { signal, .. } = &row.entry {
            return self.answered(signal);
        }
        let Some(id) = row.step.as_ref().map(|id| id.as_str().to_owned()) else { return };
        let step = self.steps.entry(id).or_default();
        if step.first == 0 {
            step.first = row.seq;
        }
        match &row.entry {
            JournalEntry::Finished(outcome) => {
                let outcome = (**outcome).clone();
                step.end = Some(End { seq: row.seq, at: row.at, generation: row.generation, outcome });
            }
            JournalEntry::Opened(opening) => {
                step.is_open = true;
                match opening {
                    Opening::Branch { taken } => step.branch = Some(*taken),
                    Opening::Round { .. } => step.rounds += 1,
                    Opening::Branches | Opening::Items { .. } => {}
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
            Signal::Callback { .. } | Signal::ChildEnded { .. } => {}
        }
    }

    /// What failed, and was not tolerated, has not ended any more; nor has what a failure interrupted.
    fn begin_again(&mut self) {
        self.retried = true;
        let goes_on = |step: &SeenStep| match step.end.as_ref().map(|end| &end.outcome) {
            Some(outcome) if outcome.status == StepStatus::Failed => !outcome.tolerated,
            Some(outcome) if outcome.status == StepStatus::Skipped => step.is_open,
            _ => false,
        };
        let shut: Vec<String> = self
            .steps
            .iter()
            .filter(|(_, step)| step.is_open && step.end.is_some() && !goes_on(step))
            .map(|(id, _)| format!("{id}__"))
            .collect();
        for (id, step) in &mut self.steps {
            if goes_on(step) && !shut.iter().any(|shut| id.starts_with(shut)) {
                step.end = None;
                step.answer = None;
            }
        }
    }

    /// The last row in which a step, or anything inside it, ended. What begins with one of the prefixes in `added` was
    /// added to the plan, and bears the name of a step that it is not inside of.
    pub fn last_end(&self, id: &str, added: &[String]) -> i64 {
        let inside = format!("{id}__");
        let elsewhere = |known: &str| added.iter().any(|added| known.starts_with(added) && !id.starts_with(added));
        let is_inside = |known: &str| known == id || (known.starts_with(&inside) && !elsewhere(known));
        let ends = self.steps.iter().filter(|(known, _)| is_inside(known));
        ends.filter_map(|(_, step)| Some(step.end.as_ref()?.seq)).max().unwrap_or(0)
    }
}
