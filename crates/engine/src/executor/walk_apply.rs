//! How a walk takes in journal rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::plan::{PatchMode, PlanPatch};
use kybern_core::task::{JournalEntry, JournalRow, Resolution, Signal, StepOutcome, StepStatus, Wait, WaitKind};
use serde_json::{Map, Value};

use super::node::{NodeState, Phase};
use super::walk::{Walk, is_container};

/// How deep corrections are merged into what stands in the state.
const MERGE_DEPTH: usize = 16;

impl Walk {
    /// Takes in one row.
    pub fn apply(&mut self, row: &JournalRow) {
        self.last_seq = self.last_seq.max(row.seq);
        let phase = row.step.as_ref().and_then(|step| Phase::of_step(step.as_str()));
        match (&row.entry, phase) {
            (JournalEntry::Finished(outcome), Some(phase)) => {
                let state = self.phases.entry(phase.step_id()).or_default();
                state.outcome = Some(Arc::new((**outcome).clone()));
                state.wait = None;
                self.note_progress();
            }
            (JournalEntry::Waiting(wait), Some(phase)) => {
                self.phases.entry(phase.step_id()).or_default().wait = Some(wait.clone());
            }
            (JournalEntry::Answered { number, signal }, _) => self.take_signal(*number, signal),
            (JournalEntry::Recovered { recoveries, .. }, _) => self.recoveries_noted = *recoveries,
            (JournalEntry::Ended { .. }, _) => {}
            (entry, None) => self.apply_to_step(row, entry),
            (JournalEntry::Retrying { .. } | JournalEntry::Opened(_), Some(_)) => {}
        }
        self.open_rounds();
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
        self.nodes[index].attempts = self.nodes[index].attempts.max(row.attempt);
        match entry {
            JournalEntry::Finished(outcome) => {
                if first_row && outcome.status != StepStatus::Skipped {
                    self.nodes[index].attempts = self.nodes[index].attempts.max(1);
                }
                self.finish(index, Arc::new((**outcome).clone()));
            }
            JournalEntry::Retrying { due, .. } => self.nodes[index].state = NodeState::Backoff(*due),
            JournalEntry::Opened(opening) => {
                self.open(index, opening.clone());
                self.note_progress();
            }
            JournalEntry::Waiting(wait) => {
                self.nodes[index].state = NodeState::Waiting(wait.clone());
                self.note_progress();
            }
            JournalEntry::Answered { .. } | JournalEntry::Recovered { .. } | JournalEntry::Ended { .. } => {}
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
            }
            self.nodes[index].injected = Some(injected);
        }
        if let Some(patch) = &outcome.patch {
            self.patch(patch, outcome.tainted);
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
    fn patch(&mut self, patch: &PlanPatch, tainted: bool) {
        if self.lists.is_empty() {
            return;
        }
        if patch.mode == PatchMode::Replace {
            for index in self.lists[0].nodes.clone() {
                if self.nodes[index].state == NodeState::Pending {
                    self.nodes[index].replaced = true;
                }
            }
        }
        self.extend_list(0, &patch.steps, None, (tainted, true), |_| None);
    }

    /// Brings the state up to date after a node has ended. In plan order, so that later steps win whatever the order
    /// in which they ended.
    fn merge_state(&mut self, index: usize) {
        let in_order = self.last_merged.is_none_or(|last| last < index) && self.node(index).list == 0;
        if in_order && self.nodes.len() == self.lists.first().map_or(0, |list| list.nodes.len()) {
            self.last_merged = Some(index);
            let mut state = std::mem::take(&mut self.state);
            let mut tainted = std::mem::take(&mut self.tainted);
            self.merge_node(index, Arc::make_mut(&mut state), Arc::make_mut(&mut tainted));
            self.state = state;
            self.tainted = tainted;
            return;
        }
        self.rebuild_state();
    }

    /// Makes the state anew from all outcomes in plan order.
    pub(super) fn rebuild_state(&mut self) {
        let (mut state, mut tainted) = (Map::new(), BTreeMap::new());
        for phase in self.phases.values() {
            merge_corrections(&super::phases::free_corrections(&phase.corrections), &mut state, &mut tainted);
        }
        for index in self.in_plan_order() {
            self.merge_node(index, &mut state, &mut tainted);
        }
        self.last_merged = Some(usize::MAX);
        self.state = Arc::new(state);
        self.tainted = Arc::new(tainted);
    }

    fn merge_node(&self, index: usize, state: &mut Map<String, Value>, tainted: &mut BTreeMap<String, bool>) {
        let node = self.node(index);
        merge_corrections(&node.corrections, state, tainted);
        let Some(outcome) = node.outcome().filter(|outcome| outcome.status == StepStatus::Completed) else { return };
        match (&node.spec.save_as, &outcome.data) {
            (Some(name), data) => {
                state.insert(name.clone(), data.clone());
                tainted.insert(name.clone(), outcome.tainted);
            }
            // What holds steps has a result of its own, and its steps have entered the state themselves.
            (None, _) if is_container(&node.spec.kind) => {}
            (None, Value::Object(data)) => {
                for (name, value) in data.iter().filter(|(name, _)| !name.starts_with('_')) {
                    state.insert(name.clone(), value.clone());
                    tainted.insert(name.clone(), outcome.tainted);
                }
            }
            (None, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {}
        }
    }

    fn take_signal(&mut self, number: i64, signal: &Signal) {
        self.signals_seen = self.signals_seen.max(number);
        self.note_progress();
        match signal {
            Signal::Review { step, wait_seq, corrections, resolution, .. } => {
                if let Some(phase) = Phase::of_step(step.as_str()) {
                    let state = self.phases.entry(phase.step_id()).or_default();
                    if state.wait.as_ref().is_some_and(|wait| wait.seq == *wait_seq) {
                        state.wait = None;
                        state.corrections.clone_from(corrections);
                        self.rebuild_state();
                    }
                } else if let Some(index) = self.find(step)
                    && let NodeState::Waiting(wait) = self.node(index).state.clone()
                    && wait.seq == *wait_seq
                {
                    self.answer(index, &wait, corrections, *resolution);
                }
            }
            Signal::Retry { .. } => self.retry_failed(),
            Signal::Callback { step, workflow_id, .. } => {
                let node = self.find(step).map(|index| self.node(index));
                if node.is_none_or(|node| !matches!(node.state, NodeState::Waiting(_) | NodeState::Done(_))) {
                    self.early_callbacks.insert(workflow_id.clone(), signal.clone());
                }
            }
            // The row that ends the step follows in the same commit.
            Signal::ChildEnded { .. } => {}
        }
    }

    /// What a person's answer does to the node that waited. Answers that end the step are followed by its own row.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    fn answer(&mut self, index: usize, wait: &Wait, corrections: &Map<String, Value>, resolution: Option<Resolution>) {
        let node = &mut self.nodes[index];
        node.state = NodeState::Pending;
        match wait.kind {
            WaitKind::Confirmation => {
                let mut args = wait.details.get("args").and_then(Value::as_object).cloned().unwrap_or_default();
                args.extend(corrections.clone());
                node.answer.approved_args = Some(args);
            }
            WaitKind::Ambiguous if resolution == Some(Resolution::Retry) => {
                node.answer.possible_duplicate = true;
                node.generation += 1;
                node.attempts = 0;
            }
            WaitKind::Review => {
                // The next try is another call: its arguments may differ, and so its key must.
                node.generation += 1;
                node.attempts = 0;
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

    /// Whether a retry lets a node go on: it failed and that was not tolerated, or it was interrupted by a failure.
    fn goes_on_at_retry(&self, index: usize) -> bool {
        let node = self.node(index);
        node.outcome().is_some_and(|outcome| match outcome.status {
            StepStatus::Failed => !outcome.tolerated,
            StepStatus::Skipped => node.opening.is_some(),
            StepStatus::Completed => false,
        })
    }

    /// Whether a node lies in one that has ended and stays so.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    fn is_shut(&self, index: usize) -> bool {
        let mut at = self.lists[self.node(index).list].owner;
        while let Some(owner) = at {
            let node = self.node(owner);
            if is_container(&node.spec.kind) && node.outcome().is_some() && !self.goes_on_at_retry(owner) {
                return true;
            }
            at = self.lists[node.list].owner;
        }
        false
    }

    /// A person wants a failed task tried again: what failed begins anew under its next generation, what was never
    /// reached can be reached again.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    fn retry_failed(&mut self) {
        let shut: Vec<bool> = (0..self.nodes.len()).map(|index| self.is_shut(index)).collect();
        for list in self.lists.iter_mut().filter(|list| list.nodes.iter().all(|index| !shut[*index])) {
            list.stopped_by = None;
        }
        for index in
            (0..self.nodes.len()).filter(|index| !shut[*index] && self.goes_on_at_retry(*index)).collect::<Vec<_>>()
        {
            let node = &mut self.nodes[index];
            if is_container(&node.spec.kind) && node.opening.is_some() {
                node.state = NodeState::Opened;
            } else {
                node.state = NodeState::Pending;
                node.generation += 1;
                node.attempts = 0;
                node.answer = super::node::Answer::default();
            }
        }
        for phase in self.phases.values_mut() {
            if phase.outcome.as_ref().is_some_and(|outcome| outcome.status == StepStatus::Failed) {
                phase.outcome = None;
            }
        }
        self.rebuild_state();
    }
}

fn merge_corrections(
    corrections: &Map<String, Value>,
    state: &mut Map<String, Value>,
    tainted: &mut BTreeMap<String, bool>,
) {
    for name in corrections.keys() {
        // A value that a person has looked at and put right is trusted; what it is merged into keeps its taint.
        let whole = !matches!(state.get(name), Some(Value::Object(_)));
        if whole {
            tainted.insert(name.clone(), false);
        }
    }
    merge_deep(state, corrections, 0);
}

pub(super) fn merge_deep(into: &mut Map<String, Value>, from: &Map<String, Value>, depth: usize) {
    for (name, value) in from {
        match (into.get_mut(name), value) {
            (Some(Value::Object(old)), Value::Object(new)) if depth < MERGE_DEPTH => merge_deep(old, new, depth + 1),
            (Some(old), new) => *old = new.clone(),
            (None, new) => {
                into.insert(name.clone(), new.clone());
            }
        }
    }
}
