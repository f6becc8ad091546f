//! The walk over a plan: pure. It takes in journal rows and says what can be done next.
//!
//! Invariants: the same rows in the same order give the same walk; a node runs only after all it depends on have
//! settled; a list that was stopped starts nothing new but `when: always` steps; what the walk knows is only what
//! rows have told it, so nothing is lost when the process dies.
//!
//! The walk does not know templates, tools, time or storage.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::money::Usage;
use kybern_core::plan::{FrozenPlan, StepId, StepKind, When};
use kybern_core::task::{Attempt, Signal, StepOutcome, StepStatus, Wait, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Map, Value};

use super::node::{List, Node, NodeState, Phase, PhaseState};
use super::walk_state::NodePlace;

/// What can be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum WalkAction {
    /// Execute this node (evaluate its condition first).
    Start(usize),
    /// All lists inside this node have come to rest: look whether it goes on (the next round) or ends.
    Advance(usize),
    /// The clock says that this node's wait is over.
    TimeUp(usize),
}

/// A task's walk. It is not copied: it grows with the task, and each step would pay for all before it.
#[derive(Debug, Default)]
pub struct Walk {
    pub(super) nodes: Vec<Node>,
    pub(super) lists: Vec<List>,
    pub(super) by_id: HashMap<StepId, usize>,
    pub(super) phases: BTreeMap<&'static str, PhaseState>,
    pub(super) state: Arc<Map<String, Value>>,
    pub(super) tainted: Arc<BTreeMap<String, bool>>,
    pub(super) last_seq: i64,
    pub(super) signals_seen: i64,
    pub(super) recoveries_at_progress: u32,
    pub(super) recoveries_noted: u32,
    /// The last place in plan order whose node has entered the state.
    pub(super) last_merged: Option<NodePlace>,
    /// Whether a person has had the task tried again.
    pub(super) tried_again: bool,
    /// What children have used, as far as they have told.
    pub(super) children_used: BTreeMap<TaskId, Usage>,
    /// Callbacks that came before their delegation, by workflow id.
    pub(super) early_callbacks: BTreeMap<String, Signal>,
    /// What a language model said of messages and documents, by the question's id.
    pub(super) answers: Arc<BTreeMap<StepId, Arc<StepOutcome>>>,
    /// The version of the lessons with which calls read, once a row of its own has said so.
    pub(super) lessons_version: Option<u32>,
    /// Whether a person was ever asked.
    pub(super) has_asked: bool,
    /// About how many bytes of memory the values of all rows take.
    pub(super) weight: usize,
    plan: Option<Arc<FrozenPlan>>,
}

impl Walk {
    /// Whether a person was ever asked.
    pub(super) const fn has_asked(&self) -> bool {
        self.has_asked
    }

    /// A walk before anything has happened. Without a plan only the phases can be walked.
    #[must_use]
    pub fn new(plan: Option<Arc<FrozenPlan>>) -> Self {
        let mut walk = Self::default();
        if let Some(plan) = plan {
            walk.take_plan(plan);
        }
        walk
    }

    /// Takes the plan once it has been chosen.
    pub fn take_plan(&mut self, plan: Arc<FrozenPlan>) {
        if self.plan.is_none() {
            self.add_list(None, &plan.steps, None, |_| None);
            self.plan = Some(plan);
        }
    }

    #[must_use]
    pub fn plan(&self) -> Option<&Arc<FrozenPlan>> {
        self.plan.as_ref()
    }

    /// A node.
    ///
    /// # Panics
    /// Never for an index that this walk gave out.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// The node with that id.
    #[must_use]
    pub fn find(&self, id: &StepId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The sequence number of the last row that was taken in.
    #[must_use]
    pub fn last_seq(&self) -> i64 {
        self.last_seq
    }

    /// The number of the last signal that was taken in.
    #[must_use]
    pub fn signals_seen(&self) -> i64 {
        self.signals_seen
    }

    /// How many steps have been scheduled: started, whether they ended or not. Skipped ones do not count, nor do those
    /// that the cap refused.
    #[must_use]
    pub fn scheduled(&self) -> usize {
        // What a turn asks and calls has limits of its own.
        let begun = |node: &Node| node.scheduled || node.is_open() || node.state == NodeState::Running;
        let counts = |node: &&Node| node.turn.is_none() && begun(node);
        self.nodes.iter().filter(counts).count()
    }

    /// How many recoveries there have been since the last progress, given the row's count.
    #[must_use]
    pub fn recoveries_without_progress(&self, on_row: u32) -> u32 {
        on_row.saturating_sub(self.recoveries_at_progress)
    }

    /// The state as it stands.
    #[must_use]
    pub fn state(&self) -> &Arc<Map<String, Value>> {
        &self.state
    }

    /// For each name in the state, whether its value comes from untrusted sources.
    #[must_use]
    pub fn tainted(&self) -> &Arc<BTreeMap<String, bool>> {
        &self.tainted
    }

    /// What is known of a phase.
    #[must_use]
    pub fn phase(&self, phase: Phase) -> Option<&PhaseState> {
        self.phases.get(phase.step_id())
    }

    /// What a language model said of messages and documents, by the question's id.
    pub(crate) fn answers(&self) -> &Arc<BTreeMap<StepId, Arc<StepOutcome>>> {
        &self.answers
    }

    /// What a child has used, as far as it has told.
    #[must_use]
    pub(super) fn used_by_child(&self, child: TaskId) -> Usage {
        self.children_used.get(&child).copied().unwrap_or_default()
    }

    /// What can be done next, in plan order.
    #[must_use]
    pub fn actions(&self, now: Timestamp) -> Vec<WalkAction> {
        let mut actions = Vec::new();
        if !self.lists.is_empty() {
            self.actions_of(0, now, &mut actions);
        }
        actions
    }

    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn actions_of(&self, list: usize, now: Timestamp, actions: &mut Vec<WalkAction>) {
        for &index in &self.lists[list].nodes {
            let node = &self.nodes[index];
            match &node.state {
                NodeState::Pending if self.may_start(index) => actions.push(WalkAction::Start(index)),
                NodeState::Backoff(due) if *due <= now => actions.push(WalkAction::Start(index)),
                NodeState::Waiting(wait) if wait.until.is_some_and(|until| until <= now) => {
                    actions.push(WalkAction::TimeUp(index));
                }
                NodeState::Opened => {
                    let before = actions.len();
                    let mut resting = true;
                    for &inner in &node.lists {
                        self.actions_of(inner, now, actions);
                        resting &= self.list_rests(inner);
                    }
                    if actions.len() == before && resting && self.settled_before(index) {
                        actions.push(WalkAction::Advance(index));
                    }
                }
                NodeState::Done(_) => {
                    if let Some(injected) = node.injected {
                        self.actions_of(injected, now, actions);
                    }
                }
                NodeState::Pending | NodeState::Running | NodeState::Backoff(_) | NodeState::Waiting(_) => {}
            }
        }
    }

    /// Whether a pending node could start now.
    #[must_use]
    pub fn could_start(&self, index: usize) -> bool {
        self.may_start(index)
    }

    /// Whether a pending node may start: all it depends on has settled, and its list (and every list around it) has
    /// not been stopped unless it runs always. One whose call is open has started already.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    fn may_start(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        let may_begin = || {
            (node.spec.when == When::Always || !self.is_stopped(node.list))
                && node.deps.iter().all(|dep| self.settled(*dep))
                && self.settled_before(index)
        };
        !node.replaced && node.state == NodeState::Pending && (node.is_open() || may_begin())
    }

    /// Whether this list, or one around it, has been stopped by a failure.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    pub(super) fn is_stopped(&self, list: usize) -> bool {
        let mut at = Some(list);
        while let Some(list) = at {
            if self.lists[list].stopped_by.is_some() {
                return true;
            }
            let owner = self.lists[list].owner;
            // A branch that fails stops its sibling branches from starting anything new.
            let sibling = owner.is_some_and(|owner| {
                self.nodes[owner].lists.iter().any(|other| self.lists[*other].stopped_by.is_some())
            });
            if sibling {
                return true;
            }
            at = owner.map(|owner| self.nodes[owner].list);
        }
        false
    }

    /// Whether nothing more is to be expected of a node: it has ended with all it injected, or it never will run.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub(super) fn settled(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        match &node.state {
            NodeState::Done(_) => node.injected.is_none_or(|list| self.list_rests(list)),
            NodeState::Pending => {
                let never_begins = node.spec.when == When::Success && self.is_stopped(node.list);
                node.replaced || (never_begins && !node.is_open())
            }
            NodeState::Running | NodeState::Opened | NodeState::Waiting(_) | NodeState::Backoff(_) => false,
        }
    }

    /// Whether nothing more is to be expected of a list.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    pub(super) fn list_rests(&self, list: usize) -> bool {
        self.lists[list].nodes.iter().all(|index| self.settled(*index))
    }

    /// The failure that stopped a list inside a node, or the plan itself for `None`.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    pub fn stopped_inside(&self, owner: Option<usize>) -> Option<usize> {
        let lists: &[usize] = match owner {
            None if self.lists.is_empty() => &[],
            None => &[0],
            Some(owner) => &self.nodes[owner].lists,
        };
        lists.iter().find_map(|list| self.lists[*list].stopped_by)
    }

    /// Whether the whole plan rests: nothing runs, nothing waits, nothing is left to do.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !self.lists.is_empty() && self.list_rests(0)
    }

    /// The waits for which a person is asked, in plan order, phases first.
    #[must_use]
    pub fn person_waits(&self) -> Vec<Wait> {
        let phases = self.phases.values().filter_map(|phase| phase.wait.as_deref());
        let steps = self.waiting_nodes().map(|(_, wait)| wait);
        phases.chain(steps).filter(|wait| wait.kind.is_person()).cloned().collect()
    }

    /// The nodes that wait, in order of appearance.
    pub fn waiting_nodes(&self) -> impl Iterator<Item = (usize, &Wait)> {
        self.nodes.iter().enumerate().filter_map(|(index, node)| match &node.state {
            NodeState::Waiting(wait) => Some((index, &**wait)),
            NodeState::Pending
            | NodeState::Running
            | NodeState::Opened
            | NodeState::Backoff(_)
            | NodeState::Done(_) => None,
        })
    }

    /// The workflow for which the task waits, when it waits for one.
    #[must_use]
    pub fn delegated_to(&self) -> Option<String> {
        self.waiting_nodes()
            .find(|(_, wait)| wait.kind == WaitKind::Workflow)
            .and_then(|(_, wait)| wait.reference.clone())
    }

    /// The callback of a delegation that has not been committed yet.
    #[must_use]
    pub fn early_callback(&self, workflow_id: &str) -> Option<&Signal> {
        self.early_callbacks.get(workflow_id)
    }

    /// The next moment at which the clock changes something.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.dues().min()
    }

    /// The same, of those that are not due yet.
    #[must_use]
    pub fn next_due_after(&self, now: Timestamp) -> Option<Timestamp> {
        self.dues().filter(|due| *due > now).min()
    }

    fn dues(&self) -> impl Iterator<Item = Timestamp> {
        self.nodes.iter().filter_map(|node| match &node.state {
            NodeState::Backoff(due) => Some(*due),
            NodeState::Waiting(wait) => wait.until,
            NodeState::Pending | NodeState::Running | NodeState::Opened | NodeState::Done(_) => None,
        })
    }

    /// How many nodes are known that will be, or have been, scheduled: for the check of an injection.
    #[must_use]
    pub fn known_steps(&self) -> usize {
        self.nodes
            .iter()
            .filter(|node| node.turn.is_none())
            .filter(|node| !node.replaced && node.outcome().is_none_or(|outcome| outcome.status != StepStatus::Skipped))
            .count()
    }

    /// Takes up an attempt of which the rows may not say how it ended. One without an effect outside is not looked for.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub fn take_up(&mut self, attempt: &Attempt) {
        let Some(index) = self.find(&attempt.step) else { return };
        let node = &mut self.nodes[index];
        if node.generation == attempt.generation && attempt.effect.needs_attempt_row() {
            node.begun = node.begun.max(attempt.attempt);
            node.replaced &= !node.is_open();
        }
    }

    /// Marks a node as being executed.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub fn mark_running(&mut self, index: usize) {
        self.nodes[index].state = NodeState::Running;
    }

    /// Takes over what no row says: which nodes are being executed, and which may have been. The other walk has gone on
    /// from this one.
    pub(super) fn keep_marks(&mut self, other: &Self) {
        for (node, other) in self.nodes.iter_mut().zip(&other.nodes) {
            if other.state == NodeState::Running {
                node.state = NodeState::Running;
            }
            node.may_have_run |= other.may_have_run;
        }
    }

    /// Takes a node's mark back: its execution was given up and nothing was written.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub fn unmark_running(&mut self, index: usize) {
        if self.nodes[index].state == NodeState::Running {
            self.nodes[index].state = NodeState::Pending;
        }
    }

    /// Takes a node's mark back although its execution had begun: nobody knows how far it came.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub fn give_up(&mut self, index: usize) {
        self.nodes[index].may_have_run |= self.nodes[index].state == NodeState::Running;
        self.unmark_running(index);
    }

    /// Takes in that a worker may have begun a step before it died.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub(super) fn note_may_have_run(&mut self, step: &StepId) {
        if let Some(index) = self.find(step) {
            self.nodes[index].may_have_run = true;
        }
    }
}

/// Whether a step holds steps.
#[must_use]
pub fn is_container(kind: &StepKind) -> bool {
    match kind {
        StepKind::Condition { .. } | StepKind::Parallel { .. } | StepKind::Loop { .. } | StepKind::Agent { .. } => true,
        StepKind::Tool { .. }
        | StepKind::Question
        | StepKind::Decision { .. }
        | StepKind::Input { .. }
        | StepKind::Workflow { .. }
        | StepKind::Task { .. } => false,
    }
}
