//! Order inside one list of steps: sequential by default, a graph where `dependsOn` says so.
//!
//! A step without `dependsOn` waits for the step before it; a step with it waits for exactly those it names, which
//! must stand in the same list. `check` refuses unknown names and cycles before anything runs.

use std::borrow::Borrow;
use std::collections::HashMap;

use super::fault::PlanFault;
use super::step::StepSpec;

/// For each step of a list, the positions it waits for.
#[must_use]
pub fn dependencies(list: &[impl Borrow<StepSpec>]) -> Vec<Vec<usize>> {
    let steps = || list.iter().map(Borrow::borrow).enumerate();
    let position: HashMap<&str, usize> = steps().map(|(n, step)| (step.id.as_str(), n)).collect();
    steps()
        .map(|(n, step)| match &step.depends_on {
            None => n.checked_sub(1).into_iter().collect(),
            Some(ids) => ids.iter().filter_map(|id| position.get(id.as_str()).copied()).collect(),
        })
        .collect()
}

/// Adds a fault for each unknown name, and for each step on a cycle, in this list and in those inside it.
pub fn check(list: &[StepSpec], path: &str, faults: &mut Vec<PlanFault>) {
    let position: HashMap<&str, usize> = list.iter().enumerate().map(|(n, step)| (step.id.as_str(), n)).collect();
    for (n, step) in list.iter().enumerate() {
        for id in step.depends_on.iter().flatten() {
            if !position.contains_key(id.as_str()) {
                let message = format!("dependsOn names {:?}, which is no step of the same list", id.as_str());
                faults.push(PlanFault::new(format!("{path}/{n}/dependsOn"), Some(step.id.as_str()), message));
            }
        }
        for inner in step.kind.inner() {
            check(inner, &format!("{path}/{n}"), faults);
        }
    }
    for n in on_a_cycle(&dependencies(list)) {
        let id = list[n].id.as_str();
        let message = format!("step {id:?} waits for itself through dependsOn, break the cycle");
        faults.push(PlanFault::new(format!("{path}/{n}/dependsOn"), Some(id), message));
    }
}

/// Positions that no order can reach: those on a cycle, or behind one. The work is that of looking at each name once,
/// because a plan that is far over its limits is looked over, too.
fn on_a_cycle(waits_for: &[Vec<usize>]) -> Vec<usize> {
    let mut open: Vec<usize> = waits_for.iter().map(Vec::len).collect();
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); waits_for.len()];
    for (n, needs) in waits_for.iter().enumerate() {
        needs.iter().for_each(|need| waiting[*need].push(n));
    }
    let mut ready: Vec<usize> = (0..open.len()).filter(|n| open[*n] == 0).collect();
    while let Some(done) = ready.pop() {
        for n in std::mem::take(&mut waiting[done]) {
            open[n] -= 1;
            if open[n] == 0 {
                ready.push(n);
            }
        }
    }
    (0..open.len()).filter(|n| open[*n] > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(steps: serde_json::Value) -> Vec<String> {
        let mut faults = Vec::new();
        super::super::parse::steps(&steps, "/steps", &mut faults);
        faults.into_iter().map(|fault| fault.to_string()).collect()
    }

    #[test]
    fn a_list_is_sequential_by_default() {
        let steps = json!([{"id": "a", "tool": "x"}, {"id": "b", "tool": "x"}]);
        let mut none = Vec::new();
        let list = super::super::parse::steps(&steps, "", &mut none);
        assert_eq!(dependencies(&list), vec![vec![], vec![0]]);
    }

    #[test]
    fn a_cycle_is_refused() {
        let found = faults(json!([
            {"id": "a", "tool": "x", "dependsOn": ["b"]},
            {"id": "b", "tool": "x", "dependsOn": ["a"]},
        ]));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn an_unknown_name_and_a_double_id_are_refused() {
        let found = faults(json!([
            {"id": "a", "tool": "x", "dependsOn": ["ghost"]},
            {"id": "a", "tool": "x"},
        ]));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_name_that_is_given_twice_counts_once() {
        let found = faults(json!([
            {"id": "a", "tool": "x"},
            {"id": "b", "tool": "x", "dependsOn": ["a", "a"]},
            {"id": "c", "tool": "x", "dependsOn": ["b", "a", "b"]},
        ]));
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_plan_far_over_its_limits_is_looked_over_step_by_step() {
        let waits_for: Vec<Vec<usize>> = (0..200_000_usize).map(|n| n.checked_sub(1).into_iter().collect()).collect();
        assert!(on_a_cycle(&waits_for).is_empty(), "looking at each pair of steps would take minutes");
    }
}
