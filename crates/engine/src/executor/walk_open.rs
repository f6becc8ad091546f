//! Opening nodes that hold steps: which lists come into being.

use std::borrow::Borrow;
use std::sync::Arc;

use kybern_core::plan::{StepId, StepKind, StepSpec};
use kybern_core::task::{ContainerOpening, StepStatus};
use kybern_core::time::Millis;
use serde_json::{Map, Value};

use super::node::{List, LoopRound, Node, NodeState};
use super::walk::Walk;

impl Walk {
    /// Opens a node, or opens the next round of a while loop.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub(super) fn open(&mut self, index: usize, opening: ContainerOpening) {
        let (id, kind) = (self.nodes[index].id.clone(), self.nodes[index].spec.kind.clone());
        self.nodes[index].state = NodeState::Opened;
        match (&kind, &opening) {
            (StepKind::Condition { then, otherwise, .. }, ContainerOpening::Branch { taken }) => {
                let steps = if *taken { then } else { otherwise };
                let list = self.add_list(Some(index), steps, None, |step| Some(id.child(step)));
                self.nodes[index].lists.push(list);
            }
            (StepKind::Parallel { branches }, ContainerOpening::Branches) => {
                for branch in branches {
                    let list = self.add_list(Some(index), branch, None, |step| Some(id.child(step)));
                    self.nodes[index].lists.push(list);
                }
            }
            (StepKind::Loop { .. }, ContainerOpening::Items { .. }) => {
                self.nodes[index].opening = Some(opening);
                self.open_next_item(index);
                return;
            }
            (StepKind::Agent { .. }, ContainerOpening::Turn(_)) => {
                self.nodes[index].opening = Some(opening);
                self.open_next_question(index);
                return;
            }
            (StepKind::Loop { steps, .. }, ContainerOpening::Round { n }) => {
                let round = Arc::new(LoopRound { item: Value::Null, index: *n, tainted: false });
                let n = *n;
                let list = self.add_list(Some(index), steps, Some(round), |step| Some(id.in_round(n, step)));
                self.nodes[index].lists.push(list);
            }
            // A row that does not fit its step cannot come from this program; the node stays open and empty, and the
            // walk ends it at the next look.
            (
                StepKind::Tool { .. }
                | StepKind::Agent { .. }
                | StepKind::Question
                | StepKind::Decision { .. }
                | StepKind::Input { .. }
                | StepKind::Condition { .. }
                | StepKind::Parallel { .. }
                | StepKind::Loop { .. }
                | StepKind::Workflow { .. }
                | StepKind::Task { .. },
                ContainerOpening::Branch { .. }
                | ContainerOpening::Branches
                | ContainerOpening::Items { .. }
                | ContainerOpening::Round { .. }
                | ContainerOpening::Turn(_),
            ) => {}
        }
        self.nodes[index].opening = Some(opening);
    }

    /// Opens the rounds of a loop over items as far as they can be: the next one when the last rests. Needs no row:
    /// it follows from the items and the outcomes.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes only grow")]
    pub(super) fn open_next_item(&mut self, index: usize) -> bool {
        let Some(ContainerOpening::Items { items, tainted }) = &self.nodes[index].opening else { return false };
        let n = self.nodes[index].lists.len();
        let Some(item) = items.get(n) else { return false };
        let StepKind::Loop { steps, .. } = self.nodes[index].spec.kind.clone() else { return false };
        let number = u32::try_from(n).unwrap_or(u32::MAX);
        let round = Arc::new(LoopRound { item: item.clone(), index: number, tainted: *tainted });
        let id: StepId = self.nodes[index].id.clone();
        let list = self.add_list(Some(index), &steps, Some(round), |step| Some(id.in_round(number, step)));
        self.nodes[index].lists.push(list);
        true
    }

    /// Opens the first round of an agent's turn, or the next one when the last reply asked for calls and all of them
    /// have ended. Needs no row: it follows from the reply.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn open_next_question(&mut self, index: usize) -> bool {
        if !matches!(self.nodes[index].opening, Some(ContainerOpening::Turn(_))) {
            return false;
        }
        if let Some(last) = self.nodes[index].lists.last() {
            let asked = self.lists[*last].nodes.first().and_then(|question| self.nodes[*question].outcome());
            let wants_more = asked
                .filter(|outcome| outcome.status == StepStatus::Completed)
                .and_then(|outcome| outcome.reply.as_ref())
                .is_some_and(|reply| !reply.calls.is_empty());
            if !wants_more {
                return false;
            }
        }
        let number = u32::try_from(self.nodes[index].lists.len()).unwrap_or(u32::MAX);
        let id: StepId = self.nodes[index].id.clone();
        // What an agent step says of tries is said of its questions: a turn as a whole, whose calls were made, has one.
        let retry = self.nodes[index].spec.retry;
        let question = [Arc::new(StepSpec { retry, ..StepSpec::question() })];
        let list = self.add_list(Some(index), &question, None, |step| Some(id.in_round(number, step)));
        for node in self.lists[list].nodes.clone() {
            self.nodes[node].turn = Some(index);
        }
        self.nodes[index].lists.push(list);
        true
    }

    /// After something inside has changed: opens the next rounds of every loop over items, and of every turn, whose
    /// last round rests.
    pub(super) fn open_rounds(&mut self) {
        let mut again = true;
        while again {
            again = false;
            for index in 0..self.nodes.len() {
                let ready = {
                    let node = self.node(index);
                    node.state == NodeState::Opened
                        && matches!(node.opening, Some(ContainerOpening::Items { .. } | ContainerOpening::Turn(_)))
                        && node.lists.iter().all(|list| self.list_rests(*list))
                        && self.stopped_inside(Some(index)).is_none()
                        && !self.is_stopped(node.list)
                };
                if ready && (self.open_next_item(index) || self.open_next_question(index)) {
                    again = true;
                }
            }
        }
    }

    /// Adds a list of steps with the ids that `derive` gives them (their own for `None`).
    pub(super) fn add_list(
        &mut self,
        owner: Option<usize>,
        steps: &[impl Borrow<StepSpec> + Clone + Into<Arc<StepSpec>>],
        round: Option<Arc<LoopRound>>,
        derive: impl Fn(&StepId) -> Option<StepId>,
    ) -> usize {
        let list = self.lists.len();
        self.lists.push(List { owner, nodes: Vec::new(), stopped_by: None });
        let round = round.or_else(|| owner.and_then(|owner| self.node(owner).round.clone()));
        let (tainted, literal) = owner.map_or((false, false), |owner| {
            let owner = self.node(owner);
            (owner.tainted_args, owner.literal_args)
        });
        self.extend_list(list, steps, round, (tainted, literal), derive);
        list
    }

    /// Adds steps at the end of a list.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    pub(super) fn extend_list(
        &mut self,
        list: usize,
        steps: &[impl Borrow<StepSpec> + Clone + Into<Arc<StepSpec>>],
        round: Option<Arc<LoopRound>>,
        (tainted_args, literal_args): (bool, bool),
        derive: impl Fn(&StepId) -> Option<StepId>,
    ) {
        let first = self.nodes.len();
        let before = self.lists[list].nodes.iter().rev().copied().find(|index| !self.nodes[*index].replaced);
        let deps = kybern_core::plan::graph::dependencies(steps);
        for (n, (shared, deps)) in steps.iter().zip(deps).enumerate() {
            let step = shared.borrow();
            let id = derive(&step.id).unwrap_or_else(|| step.id.clone());
            let mut deps: Vec<usize> = deps.into_iter().map(|dep| first + dep).collect();
            if n == 0 && step.depends_on.is_none() {
                deps.extend(before);
            }
            // What its container held before it ran once more had keys of its own.
            let known = self.by_id.insert(id.clone(), first + n);
            let known = known.map(|known| &self.nodes[known]);
            let generation = known.map_or(0, |known| known.generation + 1);
            let answer = known.map(|known| known.answer.for_another_call()).unwrap_or_default();
            self.lists[list].nodes.push(first + n);
            self.nodes.push(Node {
                spec: shared.clone().into(),
                id,
                list,
                deps,
                state: NodeState::Pending,
                lists: Vec::new(),
                injected: None,
                generation,
                attempts: 0,
                begun: 0,
                rendered: None,
                misses: 0,
                scheduled: false,
                opening: None,
                answer,
                asked: None,
                child: None,
                delegated: None,
                late_answer: None,
                spent: Millis(0),
                corrections: Map::new(),
                tainted_args,
                literal_args,
                round: round.clone(),
                may_have_run: false,
                replaced: false,
                turn: None,
                opened_at: None,
                took: Millis(0),
                since: self.last_seq,
            });
        }
    }
}
