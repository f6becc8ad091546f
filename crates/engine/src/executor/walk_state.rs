//! The state of a walk: what its steps left, later steps of the plan over earlier ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::plan::StepKind;
use kybern_core::task::StepStatus;
use serde_json::{Map, Value};

use super::node::PhaseState;
use super::phases::EXTRACTIONS;
use super::walk::{Walk, is_container};

/// How deep corrections are merged into what stands in the state.
const MERGE_DEPTH: usize = 16;

/// Where a node stands in plan order: the places of the nodes around it and its own. What injects, or holds, comes
/// before what it injected or holds.
pub(super) type NodePlace = Vec<usize>;

impl Walk {
    /// Brings the state up to date after a node has ended. In plan order, so that later steps win whatever the order
    /// in which they ended: what ends last in plan order, as nearly everything does, is merged over what is there.
    pub(super) fn merge_state(&mut self, index: usize) {
        let node = self.node(index);
        let own = is_container(&node.spec.kind) && !matches!(node.spec.kind, StepKind::Agent { .. });
        if node.turn.is_some() || (own && node.spec.save_as.is_none()) {
            return;
        }
        let place = self.place_of(index);
        if self.last_merged.as_ref().is_some_and(|last| *last >= place) {
            self.rebuild_state();
            return;
        }
        self.last_merged = Some(place);
        let mut state = std::mem::take(&mut self.state);
        let mut tainted = std::mem::take(&mut self.tainted);
        self.merge_node(index, Arc::make_mut(&mut state), Arc::make_mut(&mut tainted));
        self.state = state;
        self.tainted = tainted;
    }

    /// Makes the state anew from all outcomes in plan order.
    pub(super) fn rebuild_state(&mut self) {
        let (mut state, mut tainted) = (Map::new(), BTreeMap::new());
        for phase in self.phases.values() {
            if let Some(read) = extractions(phase) {
                state.insert(EXTRACTIONS.to_owned(), read.clone());
                tainted.insert(EXTRACTIONS.to_owned(), true);
            }
            merge_corrections(&super::phases::free_corrections(&phase.corrections), &mut state, &mut tainted);
        }
        let mut last = None;
        for index in self.in_plan_order() {
            self.merge_node(index, &mut state, &mut tainted);
            let node = self.node(index);
            if node.outcome().is_some() || !node.corrections.is_empty() {
                last = Some(index);
            }
        }
        self.last_merged = last.map(|index| self.place_of(index));
        self.state = Arc::new(state);
        self.tainted = Arc::new(tainted);
    }

    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn place_of(&self, index: usize) -> NodePlace {
        let mut place = Vec::new();
        let mut at = index;
        loop {
            let number = self.nodes[at].list;
            let list = &self.lists[number];
            // Nodes enter a list in the order in which they come into being.
            place.push(list.nodes.binary_search(&at).unwrap_or(usize::MAX));
            let Some(owner) = list.owner else { break };
            // What a node injected comes after what it holds.
            place.push(self.nodes[owner].lists.binary_search(&number).unwrap_or(usize::MAX));
            at = owner;
        }
        place.reverse();
        place
    }

    fn merge_node(&self, index: usize, state: &mut Map<String, Value>, tainted: &mut BTreeMap<String, bool>) {
        let node = self.node(index);
        if node.turn.is_some() {
            // What a turn found out enters the state as the answer of its agent.
            return;
        }
        // What somebody answered to a step that was replaced before it ran again went with it.
        if !node.replaced || node.outcome().is_some() {
            merge_corrections(&node.corrections, state, tainted);
        }
        let Some(outcome) = node.outcome().filter(|outcome| outcome.status == StepStatus::Completed) else { return };
        match (&node.spec.save_as, &outcome.data) {
            (Some(name), data) => {
                state.insert(name.clone(), data.clone());
                tainted.insert(name.clone(), outcome.tainted);
            }
            // What holds steps has a result of its own, and its steps have entered the state themselves.
            (None, _) if is_container(&node.spec.kind) && !matches!(node.spec.kind, StepKind::Agent { .. }) => {}
            (None, Value::Object(data)) => {
                for (name, value) in data.iter().filter(|(name, _)| !name.starts_with('_')) {
                    state.insert(name.clone(), value.clone());
                    tainted.insert(name.clone(), outcome.tainted);
                }
            }
            (None, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {}
        }
    }
}

/// What documents say, as a phase found it or asks with it.
fn extractions(phase: &PhaseState) -> Option<&Value> {
    let found = phase.outcome.as_ref().and_then(|outcome| outcome.data.get(EXTRACTIONS));
    found.or_else(|| phase.wait.as_ref()?.details.get(EXTRACTIONS))
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
