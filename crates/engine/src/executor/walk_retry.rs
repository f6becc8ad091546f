//! A person wants a failed task tried again: what of its walk can go on.

use std::collections::HashSet;
use std::sync::Arc;

use kybern_core::plan::{FrozenPlan, When};
use kybern_core::task::{JournalEntry, JournalRow, Signal, StepOutcome, StepStatus, TaskStatus, WaitKind};
use kybern_core::time::{Millis, Timestamp};

use super::node::NodeState;
use super::turn_rounds::rounds;
use super::walk::{Walk, is_container};

impl Walk {
    /// Whether a failed step goes on with the child that it has, which keeps what it has done. A cancelled one is not
    /// coming back: another takes its place.
    fn keeps_child(&self, index: usize) -> bool {
        let ended = self.node(index).child.as_ref().and_then(|child| child.ended);
        matches!(ended, Some(TaskStatus::Failed | TaskStatus::Completed))
    }

    /// Whether a retry lets a node go on: it failed and that was not tolerated, or it was interrupted by a failure.
    fn goes_on_at_retry(&self, index: usize) -> bool {
        let node = self.node(index);
        node.outcome().is_some_and(|outcome| match outcome.status {
            StepStatus::Failed => !outcome.tolerated,
            StepStatus::Skipped => node.opening.is_some() || self.was_not_asked(index),
            StepStatus::Completed => false,
        })
    }

    /// Whether it is the question that a turn came to no more, because it had failed by then: its time was up.
    fn was_not_asked(&self, index: usize) -> bool {
        self.node(index).turn.is_some_and(|agent| {
            let failed = |outcome: &StepOutcome| outcome.status == StepStatus::Failed && !outcome.tolerated;
            self.questions(agent).last() == Some(&index) && self.node(agent).outcome().is_some_and(|one| failed(one))
        })
    }

    /// Whether all that comes before a node, or before what it stands in, has settled: not only what it waits for
    /// itself. That is the same until something has failed: a step that will never begin has settled, although one
    /// before it may still run, because it runs always, or begin anew in a retry.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    pub(super) fn settled_before(&self, index: usize) -> bool {
        if !self.tried_again && !self.is_stopped(self.nodes[index].list) {
            return true;
        }
        let mut open = Vec::new();
        let mut at = Some(index);
        while let Some(index) = at {
            open.extend(&self.nodes[index].deps);
            at = self.lists[self.nodes[index].list].owner;
        }
        let mut looked = HashSet::new();
        while let Some(dep) = open.pop() {
            if looked.insert(dep) {
                if !self.settled(dep) {
                    return false;
                }
                open.extend(&self.nodes[dep].deps);
            }
        }
        true
    }

    /// Whether a step, or one inside it, has changed the plan.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    fn has_changed_plan(&self, index: usize) -> bool {
        let mut left = vec![index];
        while let Some(index) = left.pop() {
            let node = self.node(index);
            if node.outcome().is_some_and(|outcome| outcome.patch.is_some()) {
                return true;
            }
            left.extend(node.lists.iter().chain(&node.injected).flat_map(|list| &self.lists[*list].nodes));
        }
        false
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

    /// The answers of workflows that came after their steps had failed, and that end these steps when the task is tried
    /// again: what has answered is not asked a second time.
    pub(super) fn late_answers(&self) -> Vec<(usize, &Signal)> {
        let counts = |index: &usize| self.goes_on_at_retry(*index) && !self.is_shut(*index);
        let nodes = (0..self.nodes.len()).filter(|index| self.node(*index).late_answer.is_some()).filter(counts);
        nodes.filter_map(|index| Some((index, self.node(index).late_answer.as_deref()?))).collect()
    }

    /// A person wants a failed task tried again: what failed begins anew under its next generation, what was never
    /// reached can be reached again. A workflow that is still under way goes on being waited for; one whose time is up
    /// is begun anew.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub(super) fn retry_failed(&mut self, at: Timestamp) {
        self.tried_again = true;
        let has_run_always = |index: &usize| {
            let node = self.node(*index);
            node.spec.when == When::Always && node.outcome().is_some() && !self.has_changed_plan(*index)
        };
        let ran_always: Vec<usize> = self.in_plan_order().into_iter().filter(has_run_always).collect();
        let shut: Vec<bool> = (0..self.nodes.len()).map(|index| self.is_shut(index)).collect();
        for list in self.lists.iter_mut().filter(|list| list.nodes.iter().all(|index| !shut[*index])) {
            list.stopped_by = None;
        }
        for index in
            (0..self.nodes.len()).filter(|index| !shut[*index] && self.goes_on_at_retry(*index)).collect::<Vec<_>>()
        {
            let keeps_child = self.keeps_child(index);
            let node = &mut self.nodes[index];
            if node.late_answer.is_some() {
                // The row that its answer ends it with follows in the same commit.
                node.state = NodeState::Pending;
            } else if keeps_child {
                // Its child goes on when its turn comes: what stands before it may begin anew.
                node.state = NodeState::Pending;
            } else if is_container(&node.spec.kind) && node.opening.is_some() {
                node.state = NodeState::Opened;
            } else {
                node.state = NodeState::Pending;
                node.next_generation();
                node.answer = node.answer.for_another_call();
                node.child = None;
            }
        }
        // The questions of a task that has ended are withdrawn, also those that it was given up with: it asks again.
        for node in &mut self.nodes {
            let NodeState::Waiting(wait) = &node.state else { continue };
            if wait.kind == WaitKind::Workflow && wait.until.is_some_and(|until| until <= at) {
                node.state = NodeState::Pending;
                node.next_generation();
                continue;
            }
            if !wait.kind.is_person() {
                continue;
            }
            if wait.kind == WaitKind::Review {
                // The call that asked has been made: the next one is another, and a yes to the first is no yes to it.
                node.next_generation();
                node.answer = node.answer.for_another_call();
            }
            node.state = NodeState::Pending;
        }
        self.repeat_what_ran_always(ran_always);
        // A turn that goes on has the whole of its time before it.
        for index in 0..self.nodes.len() {
            if self.nodes[index].state == NodeState::Opened
                && let Some(took) = rounds(self, index).map(|rounds| rounds.took())
            {
                self.nodes[index].spent = took;
            }
        }
        for phase in self.phases.values_mut() {
            phase.wait = None;
            if phase.outcome.as_ref().is_some_and(|outcome| outcome.status == StepStatus::Failed) {
                phase.outcome = None;
            }
        }
        self.rebuild_state();
    }

    /// What ran always behind a failure runs once more when what failed has ended anew: what it found out is about the
    /// failure, and not about what came of the task. A step that has changed the plan, or that holds
    /// one that has, stays as it ended, because the plan stays changed.
    fn repeat_what_ran_always(&mut self, ended: Vec<usize>) {
        let is_outdated = |index: &usize| {
            // What was interrupted would go on, with what it had decided; any other failure begins anew in any case.
            let stands = matches!(self.node(*index).state, NodeState::Done(_) | NodeState::Opened);
            stands && !self.settled_before(*index) && !self.is_shut(*index)
        };
        let outdated: Vec<usize> = ended.into_iter().filter(is_outdated).collect();
        for index in outdated {
            self.repeat(index);
        }
    }

    /// Lets a step that has ended run once more, under its next generation and with nothing inside it.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn repeat(&mut self, index: usize) {
        let since = self.last_seq;
        let node = &mut self.nodes[index];
        node.state = NodeState::Pending;
        node.next_generation();
        node.since = since;
        node.answer = node.answer.for_another_call();
        node.child = None;
        node.opening = None;
        node.opened_at = None;
        node.spent = Millis(0);
        let mut left = std::mem::take(&mut node.lists);
        left.extend(node.injected.take());
        while let Some(list) = left.pop() {
            for index in self.lists[list].nodes.clone() {
                let node = &mut self.nodes[index];
                left.append(&mut node.lists);
                left.extend(node.injected.take());
                node.state = NodeState::Pending;
                node.replaced = true;
                node.scheduled = false;
            }
        }
    }
}

/// What of a journal still holds where its task is tried again from its end.
pub(crate) struct StandingWalk(Walk);

impl StandingWalk {
    /// Walks the rows and tries again.
    pub(crate) fn after(rows: &[JournalRow], plan: Option<&Arc<FrozenPlan>>) -> Self {
        let mut walk = Walk::new(plan.cloned());
        rows.iter().for_each(|row| walk.apply(row));
        walk.retry_failed(rows.last().map_or_else(Timestamp::default, |row| row.at));
        Self(walk)
    }

    /// Whether a row is about a step as it stands: neither about what was to run once more since, nor about what that
    /// held.
    pub(crate) fn counts(&self, row: &JournalRow) -> bool {
        let index = row.step.as_ref().and_then(|step| self.0.find(step));
        let node = index.map(|index| self.0.node(index));
        node.is_none_or(|node| !node.replaced && row.seq > node.since)
    }

    /// Whether a row is the end of its step, and the step does not begin anew.
    pub(crate) fn is_end(&self, row: &JournalRow) -> bool {
        let JournalEntry::Finished(outcome) = &row.entry else { return false };
        match row.step.as_ref().and_then(|step| self.0.find(step)) {
            Some(index) => self.0.node(index).outcome().is_some() && self.counts(row),
            // A phase.
            None => outcome.status != StepStatus::Failed,
        }
    }
}
