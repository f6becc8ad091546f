//! The search for a smaller case that still fails.

use super::Case;
use super::program::{Bulk, Kind, Script, Step, Test};

/// How many cases are tried.
const MOST: usize = 1_500;

/// The smallest case that was found to fail, and how it fails.
pub fn shrink(case: &Case, why: String, fails: impl Fn(&Case) -> Option<String>) -> (Case, String) {
    let (mut smallest, mut why, mut tried) = (case.clone(), why, 0);
    'again: loop {
        for next in smaller(&smallest) {
            tried += 1;
            if tried > MOST {
                return (smallest, why);
            }
            if let Some(reason) = fails(&next) {
                (smallest, why) = (next, reason);
                continue 'again;
            }
        }
        return (smallest, why);
    }
}

fn smaller(case: &Case) -> Vec<Case> {
    let mut found: Vec<Case> =
        lists(&case.program.steps).into_iter().map(|steps| case.with(|case| case.program.steps = steps)).collect();
    found.extend(case.schedule.smaller().into_iter().map(|schedule| case.with(|case| case.schedule = schedule)));
    if case.program.max_steps.is_some() {
        found.push(case.with(|case| case.program.max_steps = None));
    }
    found
}

/// Lists that are a little smaller.
fn lists(steps: &[Step]) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for at in 0..steps.len() {
        let mut less = steps.to_vec();
        let gone = less.remove(at);
        for after in less.iter_mut().filter_map(|step| step.after.as_mut()) {
            after.retain(|n| *n != gone.n);
        }
        if !less.is_empty() {
            found.push(less.clone());
        }
        // What it holds may do in its place.
        let mut kind = gone.kind.clone();
        if !matches!(kind, Kind::Inject(_) | Kind::Patch { .. }) {
            for list in kind.all_lists_mut() {
                let mut instead = less.clone();
                instead.splice(at..at, list.iter().cloned());
                if !instead.is_empty() {
                    found.push(instead);
                }
            }
        }
        for step in one(&steps[at]) {
            let mut other = steps.to_vec();
            other[at] = step;
            found.push(other);
        }
    }
    found
}

/// A step that is a little simpler.
fn one(step: &Step) -> Vec<Step> {
    let mut found = Vec::new();
    let mut with = |change: &dyn Fn(&mut Step)| {
        let mut less = step.clone();
        change(&mut less);
        if format!("{less:?}") != format!("{step:?}") {
            found.push(less);
        }
    };
    with(&|less| less.test = Test::None);
    with(&|less| less.always = false);
    with(&|less| less.after = None);
    with(&|less| less.saves = false);
    with(&|less| less.tolerated = false);
    with(&|less| less.tries = 1);
    with(&|less| match &mut less.kind {
        Kind::Call(_, act) | Kind::Decision(act) => act.script = Script::Succeeds,
        Kind::Over { rounds, .. } | Kind::While { rounds, .. } => *rounds = (*rounds).min(1),
        Kind::Wait(ms) => *ms = 0,
        _ => {}
    });
    with(&|less| {
        if let Kind::Call(_, act) | Kind::Decision(act) = &mut less.kind {
            (act.before, act.after, act.reads) = (0, 0, false);
        }
    });
    with(&|less| {
        if let Kind::Call(_, act) = &mut less.kind {
            act.bulk = Bulk::None;
        }
    });
    if let Kind::Parallel(branches) = &step.kind {
        for at in 0..branches.len() {
            with(&|less| {
                if let Kind::Parallel(branches) = &mut less.kind
                    && branches.len() > 1
                {
                    branches.remove(at);
                }
            });
        }
    }
    let count = step.kind.clone().all_lists_mut().len();
    for at in 0..count {
        for list in lists(step.kind.clone().all_lists_mut()[at]) {
            let mut less = step.clone();
            less.kind.all_lists_mut()[at].clone_from(&list);
            found.push(less);
        }
    }
    found
}
