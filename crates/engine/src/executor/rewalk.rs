//! The same walk once more, over rows that are all there already: the proof that the journal is complete.

use std::collections::HashSet;
use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::identity::User;
use kybern_core::plan::step::LoopSource;
use kybern_core::plan::{FrozenPlan, StepKind};
use kybern_core::task::{ContainerOpening, JournalEntry, JournalRow, StepOutcome, StepStatus, Task, TaskStatus};
use kybern_core::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::arguments::hash_args;
use super::ending;
use super::node::{NodeState, Phase};
use super::snapshot::RunContext;
use super::walk::{Walk, WalkAction};
use super::walk_apply::is_about_lessons;
use crate::templates::{self, Context};

/// What a replay found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayReport {
    pub task_id: TaskId,
    /// Whether it arrived at the same end.
    pub matches: bool,
    /// Where it did not: of rows the first 50.
    pub differences: Vec<String>,
    /// How many differences there are beyond those.
    pub more_differences: usize,
    /// Rows that were walked.
    pub rows: usize,
    /// Steps that ended.
    pub steps: usize,
    /// The status it arrived at.
    pub status: TaskStatus,
    /// The result it arrived at.
    pub result: Value,
}

/// Differences of rows that are listed.
const MAX_DIFFERENCES: usize = 50;

/// A replay under way.
pub(crate) struct ReplayWalk {
    walk: Walk,
    surroundings: RunContext,
    created_at: Timestamp,
    plan: Option<Arc<FrozenPlan>>,
    differences: Vec<String>,
    more_differences: usize,
    rows: usize,
    steps: usize,
    ended: Option<TaskStatus>,
    /// The rows so far, for what a step saw that began earlier than it ended.
    behind: Vec<JournalRow>,
    past: Walk,
    /// The nodes that could have begun at some moment.
    startable: HashSet<usize>,
    /// The nodes that have begun: their condition has been decided.
    begun: HashSet<(usize, u32)>,
}

impl ReplayWalk {
    pub(crate) fn new(task: &Task, tenant: &str, user: Option<&User>, plan: Option<Arc<FrozenPlan>>) -> Self {
        Self {
            // A plan that was chosen along the way is taken when the journal says so.
            walk: Walk::new(None),
            surroundings: RunContext::new(task, tenant, user),
            created_at: task.forked_from.map_or(Timestamp::default(), |_| task.created_at),
            plan,
            differences: Vec::new(),
            more_differences: 0,
            rows: 0,
            steps: 0,
            ended: None,
            behind: Vec::new(),
            past: Walk::new(None),
            startable: HashSet::new(),
            begun: HashSet::new(),
        }
    }

    fn differ(&mut self, row: &JournalRow, what: impl std::fmt::Display) {
        if self.differences.len() < MAX_DIFFERENCES {
            let step = row.step.as_ref().map_or("-", |step| step.as_str());
            self.differences.push(format!("row {} (step {step}): {what}", row.seq));
        } else {
            self.more_differences += 1;
        }
    }

    /// Walks one row.
    pub(crate) fn step(&mut self, row: &JournalRow) {
        self.rows += 1;
        if row.seq != self.walk.last_seq() + 1 {
            self.differ(row, format!("expected row {}", self.walk.last_seq() + 1));
        }
        if !is_kernels(row) {
            take_plan(&mut self.walk, self.plan.as_ref(), row);
            self.note_startable();
            self.check(row);
        }
        if let JournalEntry::Ended { status, .. } = &row.entry {
            self.ended = Some(*status);
        }
        self.walk.apply(row);
        self.behind.push(row.clone());
    }

    /// Calls begin when they can and are journaled when they end; until then others may have stopped their list.
    fn note_startable(&mut self) {
        let end_of_time = Timestamp::from_millis(i64::MAX);
        let starts = self.walk.actions(end_of_time).into_iter().filter_map(|action| match action {
            WalkAction::Start(index) => Some(index),
            WalkAction::Advance(_) | WalkAction::TimeUp(_) => None,
        });
        self.startable.extend(starts);
    }

    /// What a step could read when it began.
    fn context_of(&mut self, index: usize, outcome: &StepOutcome) -> Context {
        let saw = outcome.saw.unwrap_or(i64::MAX);
        if saw >= self.walk.last_seq() {
            return self.surroundings.context(&self.walk, Some(index));
        }
        if self.past.last_seq() > saw {
            self.past = Walk::new(None);
        }
        let after = self.past.last_seq();
        for row in self.behind.iter().filter(|row| row.seq > after && row.seq <= saw) {
            take_plan(&mut self.past, self.plan.as_ref(), row);
            self.past.apply(row);
        }
        let index = self.past.find(&self.walk.node(index).id);
        self.surroundings.context(&self.past, index)
    }

    fn check(&mut self, row: &JournalRow) {
        if let JournalEntry::Unreadable { problem } = &row.entry {
            return self.differ(row, format!("it cannot be read: {problem}"));
        }
        let Some(step) = &row.step else { return };
        let Some(index) = self.walk.find(step) else {
            return self.differ(row, "the plan, as far as it is known, has no such step");
        };
        match &row.entry {
            JournalEntry::Finished(outcome) => {
                self.steps += 1;
                self.check_end(row, index, outcome);
                self.begun.insert((index, row.generation));
            }
            JournalEntry::Opened(opening) => {
                // What was taken over is older than the task, was decided in the one it was forked from, and may name
                // that one.
                if row.at >= self.created_at {
                    self.check_opening(row, index, opening);
                }
                self.begun.insert((index, row.generation));
            }
            JournalEntry::Waiting(_) | JournalEntry::Retrying { .. } => {
                self.check_order(row, index);
                self.begun.insert((index, row.generation));
            }
            JournalEntry::Answered { .. }
            | JournalEntry::Recovered { .. }
            | JournalEntry::Ended { .. }
            | JournalEntry::Unreadable { .. } => {}
        }
    }

    /// Whether the walk would have let this step begin, now or earlier.
    fn check_order(&mut self, row: &JournalRow, index: usize) {
        let pending = self.walk.node(index).state == NodeState::Pending;
        let early = pending && !self.walk.could_start(index) && !self.startable.contains(&index);
        if early {
            self.differ(row, "a step it waits for had not ended");
        }
    }

    fn check_end(&mut self, row: &JournalRow, index: usize, outcome: &StepOutcome) {
        self.check_order(row, index);
        if self.walk.node(index).outcome().is_some() {
            self.differ(row, "the step ended twice");
        }
        let node = self.walk.node(index).clone();
        let context = self.context_of(index, outcome);
        if outcome.taken_over {
            // It was decided in the task that this one was forked from, and is checked there.
            return;
        }
        let begun = self.begun.contains(&(index, row.generation));
        if let (Some(condition), NodeState::Pending, false) = (&node.spec.condition, &node.state, begun) {
            let held = templates::truth(condition, &context);
            let skipped = outcome.status == StepStatus::Skipped;
            if held.as_ref().is_ok_and(|held| *held == skipped) {
                self.differ(row, "its condition comes out differently");
            }
        }
        if let (StepKind::Agent { .. }, StepStatus::Completed | StepStatus::Failed) = (&node.spec.kind, outcome.status)
            && let Some(ended) = super::turn::end_of(&self.walk, index, false)
            && Value::Object(ended.data) != outcome.data
        {
            self.differ(row, "the turn comes out differently");
        }
        if let (StepKind::Tool { args, .. }, Some(recorded)) = (&node.spec.kind, &outcome.args_hash) {
            let rendered = match (&node.answer.approved_args, node.literal_args) {
                (Some(approved), _) => Ok(approved.values.clone()),
                (None, true) => Ok(args.clone()),
                (None, false) => templates::render_members(args, &context),
            };
            match rendered {
                Ok(rendered) if hash_args(&rendered) == *recorded => {}
                Ok(_) => self.differ(row, "its arguments come out differently"),
                Err(error) => self.differ(row, format!("its arguments cannot be made: {error}")),
            }
        }
    }

    fn check_opening(&mut self, row: &JournalRow, index: usize, opening: &ContainerOpening) {
        let node = self.walk.node(index).clone();
        let context = self.surroundings.context(&self.walk, Some(index));
        let same = match (&node.spec.kind, opening) {
            (StepKind::Condition { test, .. }, ContainerOpening::Branch { taken }) => {
                templates::truth(test, &context).is_ok_and(|truth| truth == *taken)
            }
            (StepKind::Parallel { .. }, ContainerOpening::Branches) => true,
            (StepKind::Loop { source: LoopSource::Over(over), .. }, ContainerOpening::Items { items, .. }) => {
                templates::render(over, &context).is_ok_and(|value| value == Value::Array(items.clone()))
            }
            (StepKind::Loop { source: LoopSource::While(test), .. }, ContainerOpening::Round { .. }) => {
                templates::truth(test, &context).unwrap_or(false)
            }
            // Which agent it was, and what was said of it then, is what the row tells.
            (StepKind::Agent { .. }, ContainerOpening::Turn(_)) => true,
            (
                _,
                ContainerOpening::Branch { .. }
                | ContainerOpening::Branches
                | ContainerOpening::Items { .. }
                | ContainerOpening::Round { .. }
                | ContainerOpening::Turn(_),
            ) => false,
        };
        if !same {
            self.differ(row, "it opens differently");
        }
    }

    /// Compares the end.
    pub(crate) fn finish(mut self, task: &Task) -> ReplayReport {
        let cancelled = self.ended == Some(TaskStatus::Cancelled);
        let walked_out = self.walk.plan().is_some() && self.walk.is_finished();
        let end = if cancelled && task.error.is_none() {
            ending::cancelled(&self.walk)
        } else if walked_out {
            ending::end(&self.walk, &self.surroundings)
        } else if cancelled {
            let error = task.error.clone().unwrap_or_else(ending::unexplained);
            ending::refused(&self.walk, error, task.current_step.as_deref())
        } else {
            // It was given up on the way: the reason is the row's, everything else must still be the same.
            let error = task.error.clone().unwrap_or_else(ending::unexplained);
            ending::failed(&self.walk, error, task.current_step.as_deref())
        };
        let mut say = |what: String| self.differences.push(what);
        if end.status != task.status {
            say(format!("the task is {}, the replay arrives at {}", task.status, end.status));
        }
        let stored = task.result.clone().unwrap_or_default();
        if end.result != stored {
            say("the result comes out differently".to_owned());
        }
        ReplayReport {
            task_id: task.id,
            matches: self.differences.is_empty(),
            differences: self.differences,
            more_differences: self.more_differences,
            rows: self.rows,
            steps: self.steps,
            status: end.status,
            result: end.result,
        }
    }
}

/// A plan that was chosen along the way is taken with the first row about one of its steps.
fn take_plan(walk: &mut Walk, plan: Option<&Arc<FrozenPlan>>, row: &JournalRow) {
    let of_step = row.step.is_some() && !is_kernels(row);
    if of_step && let Some(plan) = plan {
        walk.take_plan(Arc::clone(plan));
    }
}

/// Whether a row is about a phase, an answer that a phase or a step was given, or the lessons that steps read with.
fn is_kernels(row: &JournalRow) -> bool {
    is_about_lessons(row)
        || row.step.as_ref().is_some_and(|step| step.is_answer() || Phase::of_step(step.as_str()).is_some())
}
