//! What a walk looks like from outside: its steps in plan order, by how they ended, and the plan as it is walked.

use std::sync::Arc;

use kybern_core::plan::{FrozenPlan, StepId, When};
use kybern_core::task::{StepOutcome, StepStatus};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::node::{Node, NodeState};
use super::walk::Walk;

/// The plan as it is walked.
#[derive(Clone, Debug)]
pub enum EffectivePlan {
    /// As it was frozen.
    AsWritten(Arc<FrozenPlan>),
    /// With injected steps in their places, and without replaced ones.
    Steps(Vec<Value>),
}

impl EffectivePlan {
    #[must_use]
    pub fn steps(&self) -> Vec<Value> {
        match self {
            Self::AsWritten(plan) => plan.steps.iter().map(|step| json!(**step)).collect(),
            Self::Steps(steps) => steps.clone(),
        }
    }
}

impl Default for EffectivePlan {
    fn default() -> Self {
        Self::Steps(Vec::new())
    }
}

impl Serialize for EffectivePlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::AsWritten(plan) => plan.steps_json().serialize(serializer),
            Self::Steps(steps) => steps.serialize(serializer),
        }
    }
}

impl Walk {
    /// Ids of steps that have no end because they never ran, and of those that may have run all the same: each in plan
    /// order.
    #[must_use]
    pub fn without_end(&self) -> (Vec<String>, Vec<String>) {
        let nodes = self.in_plan_order().into_iter().map(|index| self.node(index));
        let pending = nodes.filter(|node| node.state == NodeState::Pending && !node.is_open());
        let (may, never): (Vec<&Node>, Vec<&Node>) = pending.partition(|node| node.may_have_run);
        let ids = |nodes: Vec<&Node>| nodes.into_iter().map(|node| node.id.as_str().to_owned()).collect();
        (ids(never), ids(may))
    }

    /// Ids of the steps that are being executed, or whose call is open, but for one of them.
    #[must_use]
    pub fn running(&self, but: usize) -> Vec<&StepId> {
        let begun = |node: &Node| node.state == NodeState::Running || node.is_open();
        let running = |index: &usize| *index != but && begun(self.node(*index));
        self.in_plan_order().into_iter().filter(running).map(|index| &self.node(index).id).collect()
    }

    /// Ids of completed steps in plan order.
    #[must_use]
    pub fn completed(&self) -> Vec<String> {
        self.ids_with(StepStatus::Completed)
    }

    /// Ids of failed steps in plan order.
    #[must_use]
    pub fn failed(&self) -> Vec<String> {
        self.ids_with(StepStatus::Failed)
    }

    /// Ids of skipped steps in plan order.
    #[must_use]
    pub fn skipped(&self) -> Vec<String> {
        self.ids_with(StepStatus::Skipped)
    }

    fn ids_with(&self, status: StepStatus) -> Vec<String> {
        self.outcomes().filter(|(_, outcome)| outcome.status == status).map(|(id, _)| id.as_str().to_owned()).collect()
    }

    /// Outcomes in plan order.
    pub fn outcomes(&self) -> impl Iterator<Item = (&StepId, &Arc<StepOutcome>)> {
        self.in_plan_order().into_iter().filter_map(|index| {
            let node = self.node(index);
            node.outcome().map(|outcome| (&node.id, outcome))
        })
    }

    /// Every node in plan order: a step, then what is inside it, then what it injected.
    #[must_use]
    pub fn in_plan_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.nodes.len());
        if !self.lists.is_empty() {
            self.order_of(0, &mut order);
        }
        order
    }

    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn order_of(&self, list: usize, order: &mut Vec<usize>) {
        for &index in &self.lists[list].nodes {
            order.push(index);
            for &inner in &self.nodes[index].lists {
                self.order_of(inner, order);
            }
            if let Some(injected) = self.nodes[index].injected {
                self.order_of(injected, order);
            }
        }
    }

    /// The plan as it is walked: its steps with the injected ones in their places, without those that a patch
    /// replaced.
    #[must_use]
    pub fn effective_plan(&self) -> EffectivePlan {
        match (self.plan(), self.lists.first()) {
            (Some(plan), Some(first)) if self.walks_as_written(plan, &first.nodes) => {
                EffectivePlan::AsWritten(Arc::clone(plan))
            }
            (_, Some(_)) => {
                let mut steps = Vec::new();
                self.effective_of(0, &mut steps);
                EffectivePlan::Steps(steps)
            }
            (_, None) => EffectivePlan::default(),
        }
    }

    /// Whether nothing was injected or replaced.
    fn walks_as_written(&self, plan: &FrozenPlan, nodes: &[usize]) -> bool {
        let as_written = |index: &usize| {
            let node = self.node(*index);
            !node.replaced && node.injected.is_none()
        };
        nodes.len() == plan.steps.len() && nodes.iter().all(as_written)
    }

    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn effective_of(&self, list: usize, steps: &mut Vec<Value>) {
        for &index in &self.lists[list].nodes {
            let node = &self.nodes[index];
            if node.replaced {
                continue;
            }
            let mut step = json!(*node.spec);
            if let Value::Object(fields) = &mut step {
                fields.insert("id".to_owned(), json!(node.id));
            }
            steps.push(step);
            if let Some(injected) = node.injected {
                self.effective_of(injected, steps);
            }
        }
    }
}

impl Walk {
    /// The nodes of the lists around a node, outermost first: what it can mean by an id as written.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    pub fn around(&self, index: usize) -> Vec<usize> {
        let mut lists = Vec::new();
        let mut at = Some(self.node(index).list);
        while let Some(list) = at {
            lists.push(list);
            at = self.lists[list].owner.map(|owner| self.node(owner).list);
        }
        lists.into_iter().rev().flat_map(|list| self.lists[list].nodes.clone()).collect()
    }
}

impl Walk {
    /// Whether a node that is open was stopped by a failure beside or around it, not inside it.
    #[must_use]
    pub fn is_interrupted(&self, index: usize) -> bool {
        self.is_stopped(self.node(index).list)
    }

    /// Whether it was interrupted before a step inside it began whose turn it was: what failed inside came later, from a
    /// step that runs always or ran beside it.
    #[must_use]
    pub fn is_cut_short(&self, index: usize) -> bool {
        self.is_interrupted(index) && self.has_unreached(index)
    }

    /// Whether a step inside a node, at whatever depth, was refused because its task may schedule no more.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    pub fn is_over_cap_inside(&self, node: &Node) -> bool {
        let mut left = vec![node];
        while let Some(node) = left.pop() {
            for inner in node.lists.iter().chain(&node.injected).flat_map(|list| &self.lists[*list].nodes) {
                let inner = &self.nodes[*inner];
                if inner.outcome().is_some_and(|end| end.over_cap.is_some()) {
                    return true;
                }
                left.push(inner);
            }
        }
        false
    }

    /// Whether a step in a node never began, at whatever depth, although all that it waits for has ended well.
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose nodes and lists only grow")]
    fn has_unreached(&self, index: usize) -> bool {
        let failed = |dep: &usize| {
            let outcome = self.nodes[*dep].outcome();
            outcome.is_none_or(|end| end.status == StepStatus::Failed && !end.tolerated)
        };
        let mut left = vec![index];
        while let Some(index) = left.pop() {
            let node = &self.nodes[index];
            for inner in node.lists.iter().chain(&node.injected).flat_map(|list| &self.lists[*list].nodes) {
                let node = &self.nodes[*inner];
                if node.spec.when != When::Success || node.replaced || node.deps.iter().any(failed) {
                    continue;
                }
                match node.outcome().map(|end| end.status) {
                    None if node.state == NodeState::Pending => return true,
                    // It was opened, and interrupted.
                    Some(StepStatus::Skipped) if node.opening.is_some() => return true,
                    _ => left.push(*inner),
                }
            }
        }
        false
    }

    /// For each list inside a node, the data of its last completed step; `null` where none completed.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    pub fn last_results(&self, index: usize) -> Vec<Value> {
        let last = |list: &usize| {
            let outcomes = self.lists[*list].nodes.iter().rev().filter_map(|node| self.node(*node).outcome());
            let done = |outcome: &&Arc<StepOutcome>| outcome.status == StepStatus::Completed;
            outcomes.into_iter().find(done).map(|outcome| outcome.data.clone()).unwrap_or_default()
        };
        self.node(index).lists.iter().map(last).collect()
    }

    /// The questions of an agent's turn, in order.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    pub fn questions(&self, agent: usize) -> Vec<usize> {
        self.node(agent).lists.iter().filter_map(|list| self.lists[*list].nodes.first().copied()).collect()
    }

    /// Whether any step inside a node has untrusted data.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "indices are given out by this walk, whose lists only grow")]
    pub fn tainted_inside(&self, index: usize) -> bool {
        let tainted = |node: &usize| self.node(*node).outcome().is_some_and(|outcome| outcome.tainted);
        self.node(index).lists.iter().any(|list| self.lists[*list].nodes.iter().any(tainted))
    }
}
