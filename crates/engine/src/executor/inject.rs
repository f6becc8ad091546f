//! Steps that a tool proposes: checked like a plan, given derived ids, and data only.

use std::collections::HashMap;

use kybern_core::count::count;
use kybern_core::error::ErrorCode;
use kybern_core::plan::{PlanFault, PlanPatch, StepId, StepSpec, parse};
use kybern_core::task::StepError;
use kybern_core::tool::ToolOutcome;
use serde_json::Value;

use super::node::Node;
use super::steps::Steps;
use super::walk::Walk;

/// Steps that one call may propose.
const MAX_INJECTED: usize = 50;

/// What a call proposed, ready to be journaled.
#[derive(Debug, Default)]
pub(crate) struct Proposal {
    pub(crate) injected: Vec<StepSpec>,
    pub(crate) patch: Option<PlanPatch>,
}

/// Checks what a call proposed.
pub(crate) fn proposal(
    outcome: &ToolOutcome,
    node: &Node,
    walk: &Walk,
    max_steps: u32,
    known: &dyn Steps,
) -> Result<Proposal, StepError> {
    if outcome.new_steps.is_empty() && outcome.patch.is_none() {
        return Ok(Proposal::default());
    }
    let mut faults = Vec::new();
    let patched = outcome.patch.as_ref().map(|patch| patch.steps.clone()).unwrap_or_default();
    faults.extend(parse::too_large(&outcome.new_steps, "/newSteps"));
    faults.extend(parse::too_large(&patched, "/patch/steps"));
    let injected = if faults.is_empty() { read(&outcome.new_steps, &mut faults) } else { Vec::new() };
    let proposed: usize = injected.iter().chain(&patched).map(StepSpec::count).sum();
    if proposed > MAX_INJECTED {
        faults.push(PlanFault::new("/newSteps", None, format!("{proposed} steps at once are over {MAX_INJECTED}")));
    }
    for (steps, path) in [(&injected, "/newSteps"), (&patched, "/patch/steps")] {
        faults.extend(known.faults(steps, path));
    }
    if let Some(fault) = faults.first() {
        let message = format!("the proposed steps are refused ({}), first: {fault}", count(faults.len(), "fault"));
        return Err(StepError { code: ErrorCode::Unprocessable, message, retryable: false });
    }
    let cap = usize::try_from(max_steps).unwrap_or(usize::MAX);
    if walk.known_steps() + proposed > cap {
        let message = format!(
            "Max execution steps exceeded ({max_steps}): {proposed} more proposed by step {}. Possible runaway injection",
            node.id
        );
        return Err(StepError { code: ErrorCode::Unprocessable, message, retryable: false });
    }
    let patch = outcome.patch.as_ref().map(|patch| PlanPatch {
        mode: patch.mode,
        steps: derive(&patch.steps, &node.id),
        reason: patch.reason.chars().take(500).collect(),
    });
    Ok(Proposal { injected: derive(&injected, &node.id), patch })
}

fn read(proposed: &[Value], faults: &mut Vec<PlanFault>) -> Vec<StepSpec> {
    if proposed.is_empty() {
        return Vec::new();
    }
    parse::steps(&Value::Array(proposed.to_vec()), "/newSteps", faults)
}

/// Gives steps the ids derived from their parent, also in `dependsOn`. The ids of steps inside them are derived when
/// those are opened.
fn derive(steps: &[StepSpec], parent: &StepId) -> Vec<StepSpec> {
    let ids: HashMap<&StepId, StepId> = steps.iter().map(|step| (&step.id, parent.child(&step.id))).collect();
    let mut derived = steps.to_vec();
    for step in &mut derived {
        if let Some(depends_on) = &mut step.depends_on {
            for id in depends_on {
                if let Some(mapped) = ids.get(id) {
                    *id = mapped.clone();
                }
            }
        }
        step.id = parent.child(&step.id);
    }
    derived
}
