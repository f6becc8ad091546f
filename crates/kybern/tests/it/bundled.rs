//! Every step of every bundled plan: failed once, and repeated once because the process dies. The end is that of a
//! run that nobody disturbed.
//!
//! The steps are found by running each plan, so a new plan or a new step is tried without a line here.

mod life;
mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kybern_core::plan::Plan;

use self::life::{Disturbance, World};
use self::seen::Seen;
use crate::offline::packs;
use crate::samples;

#[test]
fn every_step_failed_once_or_repeated_once_leaves_the_same() {
    let registry = packs::registry().unwrap();
    let plans: Vec<Arc<Plan>> = registry.plans().cloned().collect();
    let tried: usize = std::thread::scope(|scope| {
        let trying: Vec<_> = plans.iter().map(|plan| scope.spawn(|| try_every_step(plan))).collect();
        trying.into_iter().map(|plan| plan.join().unwrap()).sum()
    });
    let steps: usize = plans.iter().map(|plan| plan.steps.len()).sum();
    assert!(tried == steps && steps > 0, "{tried} of {steps} steps were tried");
}

/// How many steps of the plan were disturbed. What one message skips, another one may need.
fn try_every_step(plan: &Plan) -> usize {
    let mut tried = BTreeSet::new();
    for message in messages_for(plan) {
        if tried.len() == plan.steps.len() {
            break;
        }
        let (expected, calls) = run(plan, message.as_deref(), None);
        for (step, count) in calls {
            assert_eq!(count, 1, "{} {step} is called once when nobody disturbs it", plan.key);
            if tried.insert(step.clone()) {
                disturb(plan, message.as_deref(), &step, &expected);
            }
        }
    }
    tried.len()
}

fn disturb(plan: &Plan, message: Option<&[u8]>, step: &String, expected: &Seen) {
    for how in [Disturbance::Fails, Disturbance::DiesBeforeCommit, Disturbance::DiesAfterCommit] {
        let (seen, calls) = run(plan, message, Some((step, how)));
        let what = format!("{} {step} {how:?}", plan.key);
        assert_eq!(calls[step], if how == Disturbance::DiesAfterCommit { 1 } else { 2 }, "{what}");
        seen.is(expected, &what);
    }
}

/// The mails that the plan is for; nothing but an instruction where the samples have none.
fn messages_for(plan: &Plan) -> Vec<Option<Vec<u8>>> {
    let fits = |sample: &samples::Sample| {
        sample.expected["intent"] == plan.intent_key.as_str() && sample.file.starts_with("mail/")
    };
    let mails: Vec<_> = samples::all().into_iter().filter(fits).map(|sample| Some(sample.ask.body)).collect();
    if mails.is_empty() { vec![None] } else { mails }
}

/// Runs the plan in a world of its own; what is left, and how often each step's tool was called.
fn run(
    plan: &Plan,
    message: Option<&[u8]>,
    disturbed: Option<(&String, Disturbance)>,
) -> (Seen, BTreeMap<String, usize>) {
    let world = World::new(packs::registry().unwrap(), disturbed);
    let id = world.begin(plan, message);
    world.to_the_end(id);
    (Seen::of(&world, id), world.calls())
}
