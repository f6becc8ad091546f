//! A person wants a failed task tried again: what of its walk can go on.

use std::collections::HashSet;

use kybern_core::task::{Signal, StepOutcome, StepStatus, TaskStatus, WaitKind};
use kybern_core::time::Timestamp;

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
    /// itself. That is the same until a retry lets a step begin anew behind which others have run already, because
    /// they run always.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    pub(super) fn settled_before(&self, index: usize) -> bool {
        if !self.tried_again {
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
                node.answer = super::node::Answer::default();
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
                node.answer = super::node::Answer::default();
            }
            node.state = NodeState::Pending;
        }
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
}
