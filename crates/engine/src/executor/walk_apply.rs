//! How a walk takes in journal rows.

use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::plan::{PatchMode, PlanPatch, StepId};
use kybern_core::task::{
    JournalEntry, JournalRow, Resolution, Signal, StepOutcome, StepStatus, TaskStatus, Wait, WaitKind,
};
use kybern_core::time::{Millis, Timestamp};
use serde_json::{Map, Value};

use super::lessons;
use super::node::{ApprovedArgs, Child, NodeState, PersonAnswer, Phase};
use super::phases::DOCUMENTS;
use super::walk::Walk;
use super::walk_state::merge_deep;

impl Walk {
    /// Takes in one row.
    pub fn apply(&mut self, row: &JournalRow) {
        self.last_seq = self.last_seq.max(row.seq);
        self.weight = self.weight.saturating_add(super::weight::of(&row.entry));
        self.has_asked |= matches!(&row.entry, JournalEntry::Waiting(wait) if wait.kind.is_person());
        let phase = row.step.as_ref().and_then(|step| Phase::of_step(step.as_str()));
        match (&row.entry, phase) {
            (JournalEntry::Finished(outcome), None) if row.step.as_ref().is_some_and(StepId::is_answer) => {
                let answers = Arc::make_mut(&mut self.answers);
                answers.extend(row.step.clone().map(|step| (step, Arc::clone(outcome))));
                self.note_progress();
            }
            (JournalEntry::Finished(outcome), None) if is_about_lessons(row) => {
                self.lessons_version = Some(lessons::version_in(&outcome.data));
            }
            (JournalEntry::Finished(outcome), Some(phase)) => {
                let state = self.phases.entry(phase.step_id()).or_default();
                state.outcome = Some(Arc::clone(outcome));
                state.wait = None;
                self.note_progress();
                self.take_extractions(phase);
            }
            (JournalEntry::Waiting(wait), Some(phase)) => {
                self.phases.entry(phase.step_id()).or_default().wait = Some(wait.clone());
                self.take_extractions(phase);
            }
            (JournalEntry::Answered { number, signal }, _) => self.take_signal(row.at, *number, signal),
            (JournalEntry::Recovered { recoveries, may_have_begun, .. }, _) => {
                self.recoveries_noted = *recoveries;
                may_have_begun.iter().for_each(|step| self.note_may_have_run(step));
            }
            (JournalEntry::Ended { .. } | JournalEntry::Unreadable { .. }, _) => {}
            (entry, None) => self.apply_to_step(row, entry),
            (JournalEntry::Retrying { .. } | JournalEntry::Opened(_), Some(_)) => {}
        }
        self.open_rounds();
    }

    /// What documents say enters the state before any step has run.
    fn take_extractions(&mut self, phase: Phase) {
        if phase == Phase::Extraction {
            self.rebuild_state();
        }
    }

    fn note_progress(&mut self) {
        self.recoveries_at_progress = self.recoveries_noted;
    }

    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    fn apply_to_step(&mut self, row: &JournalRow, entry: &JournalEntry) {
        let Some(index) = row.step.as_ref().and_then(|step| self.find(step)) else { return };
        let first_row = matches!(self.nodes[index].state, NodeState::Pending | NodeState::Running)
            && self.nodes[index].attempts == 0;
        // A step that ran while a patch replaced what had not begun had begun all the same.
        self.nodes[index].replaced = false;
        self.nodes[index].generation = row.generation;
        let known_attempts = self.nodes[index].attempts;
        self.nodes[index].attempts = known_attempts.max(row.attempt);
        self.nodes[index].scheduled |= schedules(entry);
        self.nodes[index].took = Millis(self.nodes[index].took.0.saturating_add(row.duration.0));
        match entry {
            JournalEntry::Finished(outcome) => {
                if first_row && outcome.status != StepStatus::Skipped {
                    self.nodes[index].attempts = self.nodes[index].attempts.max(1);
                }
                self.finish(index, Arc::clone(outcome));
            }
            JournalEntry::Retrying { due, rendered, .. } => {
                if let Some(rendered) = rendered {
                    self.nodes[index].rendered = Some(Arc::clone(rendered));
                }
                // Put off without a try that ended: the worker did not have its tool or plan, or died.
                self.nodes[index].misses += u32::from(row.attempt <= known_attempts);
                self.nodes[index].state = NodeState::Backoff(*due);
            }
            JournalEntry::Opened(opening) => {
                self.nodes[index].opened_at.get_or_insert(row.at);
                self.open(index, opening.clone());
                self.note_progress();
            }
            JournalEntry::Waiting(wait) => {
                self.nodes[index].child = child_of(wait);
                self.nodes[index].delegated = wait.reference.clone().filter(|_| wait.kind == WaitKind::Workflow);
                self.nodes[index].asked = wait.kind.is_person().then_some(wait.seq);
                self.nodes[index].state = NodeState::Waiting(wait.clone());
                self.note_progress();
            }
            JournalEntry::Answered { .. }
            | JournalEntry::Recovered { .. }
            | JournalEntry::Ended { .. }
            | JournalEntry::Unreadable { .. } => {}
        }
    }

    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn finish(&mut self, index: usize, outcome: Arc<StepOutcome>) {
        self.nodes[index].state = NodeState::Done(Arc::clone(&outcome));
        let list = self.nodes[index].list;
        if outcome.status == StepStatus::Failed && !outcome.tolerated {
            self.stop(list, index);
        }
        if !outcome.injected.is_empty() {
            // Injected ids are derived already; `extend_list` keeps them.
            let injected = self.add_list(Some(index), &outcome.injected, None, |_| None);
            self.lists[injected].owner = Some(index);
            let round = self.nodes[index].round.clone();
            for node in self.lists[injected].nodes.clone() {
                self.nodes[node].tainted_args = outcome.tainted;
                self.nodes[node].literal_args = true;
                self.nodes[node].round.clone_from(&round);
                // What was chosen in a turn, and what that brings along, stands in it.
                self.nodes[node].turn = self.nodes[index].turn;
            }
            self.nodes[index].injected = Some(injected);
        }
        if let Some(patch) = &outcome.patch {
            self.patch(patch, &outcome);
        }
        self.note_progress();
        self.merge_state(index);
    }

    /// Stops a list. An injected list is part of the list of the step that injected it.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn stop(&mut self, list: usize, by: usize) {
        let mut at = list;
        loop {
            self.lists[at].stopped_by.get_or_insert(by);
            match self.lists[at].owner {
                Some(owner) if self.nodes[owner].injected == Some(at) => at = self.nodes[owner].list,
                Some(_) | None => return,
            }
        }
    }

    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn patch(&mut self, patch: &PlanPatch, by: &StepOutcome) {
        if self.lists.is_empty() {
            return;
        }
        if patch.mode == PatchMode::Replace {
            // What ran at that moment had begun, although no row says so.
            for index in self.lists[0].nodes.clone() {
                let node = &mut self.nodes[index];
                if node.state == NodeState::Pending && !node.is_open() && !by.ran_meanwhile.contains(&node.id) {
                    node.replaced = true;
                }
            }
        }
        self.extend_list(0, &patch.steps, None, (by.tainted, true), |_| None);
    }

    fn take_signal(&mut self, at: Timestamp, number: i64, signal: &Signal) {
        self.signals_seen = self.signals_seen.max(number);
        self.note_progress();
        match signal {
            Signal::Review { step, wait_seq, corrections, resolution, replaces, .. } => {
                if let Some(phase) = Phase::of_step(step.as_str()) {
                    let state = self.phases.entry(phase.step_id()).or_default();
                    if state.wait.as_ref().is_some_and(|wait| wait.seq == *wait_seq) {
                        state.wait = None;
                        if phase == Phase::Planning {
                            // An answer that names no plan lets the task choose among those that there are now.
                            state.corrections.remove("planKey");
                        }
                        add_corrections(&mut state.corrections, corrections);
                        self.rebuild_state();
                    }
                } else if let Some(index) = self.find(step)
                    && let NodeState::Waiting(wait) = self.node(index).state.clone()
                    && wait.seq == *wait_seq
                {
                    self.answer(index, &wait, (corrections, *replaces), *resolution);
                }
            }
            Signal::Retry { .. } => self.retry_failed(at),
            // It has been taken in, and the task has failed for it.
            Signal::Unreadable { .. } => {}
            Signal::Callback { step, workflow_id, success, .. } => {
                let index = self.find(step);
                let state = index.map(|index| &self.node(index).state);
                match (index, state) {
                    (Some(_), Some(NodeState::Waiting(_))) => {}
                    (Some(index), Some(NodeState::Done(_))) => self.answered_late(index, workflow_id, *success, signal),
                    _ => drop(self.early_callbacks.insert(workflow_id.clone(), signal.clone())),
                }
            }
            // The row that ends the step follows in the same commit.
            Signal::ChildEnded { step, child, status, usage, .. } => {
                self.children_used.insert(*child, *usage);
                if let Some(index) = self.find(step) {
                    self.child_ended(index, *child, *status);
                }
            }
        }
    }

    /// A workflow succeeded after its step had failed without it: that counts once the task is tried again.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    fn answered_late(&mut self, index: usize, workflow_id: &str, success: bool, signal: &Signal) {
        let node = &mut self.nodes[index];
        let has_failed = node.outcome().is_some_and(|outcome| outcome.status == StepStatus::Failed);
        if success && has_failed && node.delegated.as_deref() == Some(workflow_id) {
            node.late_answer.get_or_insert_with(|| Box::new(signal.clone()));
        }
    }

    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    fn child_ended(&mut self, index: usize, child: TaskId, status: TaskStatus) {
        if let Some(known) = self.nodes[index].child.as_mut().filter(|known| known.id == child) {
            known.ended = Some(status);
        }
    }

    /// What a person's answer does to the node that waited. Answers that end the step are followed by its own row.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    fn answer(
        &mut self,
        index: usize,
        wait: &Wait,
        (corrections, replaces): (&Map<String, Value>, bool),
        resolution: Option<Resolution>,
    ) {
        let node = &mut self.nodes[index];
        node.state = NodeState::Pending;
        match wait.kind {
            WaitKind::Confirmation => {
                let shown = || wait.details.get("args").and_then(Value::as_object).cloned().unwrap_or_default();
                let mut args = if replaces { Map::new() } else { shown() };
                args.extend(corrections.clone());
                let (tainted, until) = (wait.tainted_args.clone(), wait.until);
                let tool_hash = wait.details.get("toolHash").and_then(Value::as_str).map(str::to_owned);
                node.answer.approved_args = Some(ApprovedArgs { values: args, tainted, tool_hash, until });
            }
            WaitKind::Ambiguous if resolution == Some(Resolution::Retry) => {
                // It is another call, and whoever answers is one person: a yes to the first is no yes to it.
                node.answer = PersonAnswer { approved_args: None, possible_duplicate: true };
                node.next_generation();
            }
            // It is not done again now. When the task is tried again it is, and nobody knows still.
            WaitKind::Ambiguous if resolution == Some(Resolution::Fail) => node.answer.possible_duplicate = true,
            WaitKind::Review => {
                // The next try is another call: its arguments may differ, and so its key must. A yes to the first is no
                // yes to it.
                node.answer.approved_args = None;
                node.next_generation();
                merge_deep(&mut node.corrections, corrections, 0);
                self.rebuild_state();
            }
            WaitKind::Ambiguous
            | WaitKind::Input
            | WaitKind::Intent
            | WaitKind::Document
            | WaitKind::Plan
            | WaitKind::Timer
            | WaitKind::Child
            | WaitKind::Workflow => {}
        }
    }
}

/// What a person answers to a phase adds to what was answered before: a question that is asked again is about those
/// documents only that are still open. About the same document, or the same thing, the newest answer holds.
fn add_corrections(into: &mut Map<String, Value>, new: &Map<String, Value>) {
    for (name, value) in new {
        match (into.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(more)) if name == DOCUMENTS => known.extend(more.clone()),
            _ => drop(into.insert(name.clone(), value.clone())),
        }
    }
}

/// Whether a row says nothing but with which lessons a task reads.
pub(super) fn is_about_lessons(row: &JournalRow) -> bool {
    row.step.as_ref().is_some_and(|step| step.as_str() == StepId::LESSONS)
}

/// Whether a row tells that its step has been scheduled.
fn schedules(entry: &JournalEntry) -> bool {
    match entry {
        JournalEntry::Finished(outcome) => outcome.status != StepStatus::Skipped && outcome.over_cap.is_none(),
        JournalEntry::Opened(_) | JournalEntry::Waiting(_) | JournalEntry::Retrying { .. } => true,
        JournalEntry::Answered { .. }
        | JournalEntry::Recovered { .. }
        | JournalEntry::Ended { .. }
        | JournalEntry::Unreadable { .. } => false,
    }
}

fn child_of(wait: &Wait) -> Option<Child> {
    let id = wait.reference.as_ref().filter(|_| wait.kind == WaitKind::Child)?.parse::<TaskId>().ok()?;
    Some(Child { id, wait: Box::new(wait.clone()), ended: None })
}
