//! Every step of every bundled plan: failed once, and repeated once because the process dies. The end is that of a
//! run that nobody disturbed.
//!
//! The steps are found by running each plan, so a new plan or a new step is tried without a line here.

mod life;
mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kybern_core::pack::PackRegistry;
use kybern_core::plan::{Plan, StepKind};

use self::life::{Disturbance, World};
use self::seen::Seen;
use crate::offline::packs;
use crate::samples;

#[test]
fn every_step_failed_once_or_repeated_once_leaves_the_same() {
    let registry = packs::registry(packs::USUAL).unwrap();
    let plans: Vec<Arc<Plan>> = registry.plans().cloned().collect();
    let missed: Vec<String> = std::thread::scope(|scope| {
        let trying: Vec<_> = plans
            .iter()
            .map(|plan| {
                let steps = of_packs(&registry, plan);
                assert!(!steps.is_empty(), "{}", plan.key);
                scope.spawn(move || {
                    let tried = try_every_step(plan, steps.len());
                    steps
                        .into_iter()
                        .filter(|step| !tried.contains(step))
                        .map(|step| format!("{} {step}", plan.key))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        trying.into_iter().flat_map(|plan| plan.join().unwrap()).collect()
    });
    assert_eq!(missed, [] as [String; 0], "these steps were not tried");
}

/// The steps whose tools the packs bring. The engine's own are disturbed in its tests.
fn of_packs(registry: &PackRegistry, plan: &Plan) -> Vec<String> {
    let is_of_pack = |kind: &StepKind| match kind {
        StepKind::Tool { tool, .. } => registry.registered_tool(tool).is_some(),
        other => panic!("{}: {other:?}", plan.key),
    };
    plan.steps.iter().filter(|step| is_of_pack(&step.kind)).map(|step| step.id.to_string()).collect()
}

/// The steps of the plan that were disturbed. What one message skips, another one may need.
fn try_every_step(plan: &Plan, steps: usize) -> BTreeSet<String> {
    let mut tried = BTreeSet::new();
    for message in messages_for(plan) {
        if tried.len() == steps {
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
    tried
}

fn disturb(plan: &Plan, message: Option<&[u8]>, step: &String, expected: &Seen) {
    for how in [Disturbance::Fails, Disturbance::DiesBeforeCommit, Disturbance::DiesAfterCommit] {
        let (seen, calls) = run(plan, message, Some((step, how)));
        let what = format!("{} {step} {how:?}", plan.key);
        assert_eq!(calls[step], if how == Disturbance::DiesAfterCommit { 1 } else { 2 }, "{what}");
        seen.is(expected, &what);
    }
}

/// Where a mail names the request that the world holds.
const REQUEST: &str = "{REQUEST}";

/// An answer: with the token and the policy of the request it can be filed without a person.
fn answer(token: &str, number: &str) -> String {
    let today = crate::storm::now()[..10].to_owned();
    format!(
        "Authentication-Results: mx.example.com; dmarc=pass header.from=harrowplains.example\r\n\
         From: desk@harrowplains.example\r\nTo: in@example.com\r\nMessage-ID: <1@harrowplains.example>\r\n\
         Subject: RE: Loss runs {token}\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=cut\r\n\r\n--cut\r\nContent-Type: text/plain\r\n\r\n\
         Please find attached the loss runs that you requested.\r\n--cut\r\nContent-Type: text/plain\r\n\
         Content-Disposition: attachment; filename=\"loss-run.txt\"\r\n\r\nLOSS RUN REPORT\r\n\r\n\
         Insurance company: Harrow Plains Mutual\r\nPolicy number: {number}\r\nValuation date: {today}\r\n\r\n\
         No losses reported.\r\n--cut--\r\n"
    )
}

/// The mails that the plan is for; nothing but an instruction where the samples have none.
fn messages_for(plan: &Plan) -> Vec<Option<Vec<u8>>> {
    let fits = |sample: &samples::Sample| {
        sample.expected["intent"] == plan.intent_key.as_str() && sample.file.starts_with("mail/")
    };
    let mut mails: Vec<_> = samples::all().into_iter().filter(fits).map(|sample| Some(sample.ask.body)).collect();
    if plan.key == "insurance.loss_run_reply_pipeline" {
        let token = format!("[Request:{REQUEST}]");
        for (token, number) in [(token.as_str(), "HPM-93318"), ("", "HPM-10001")] {
            mails.push(Some(answer(token, number).into_bytes()));
        }
    }
    if mails.is_empty() { vec![None] } else { mails }
}

/// Runs the plan in a world of its own; what is left, and how often each step's tool was called.
fn run(
    plan: &Plan,
    message: Option<&[u8]>,
    disturbed: Option<(&String, Disturbance)>,
) -> (Seen, BTreeMap<String, usize>) {
    let world = World::new(packs::registry(packs::USUAL).unwrap(), disturbed);
    let id = world.begin(plan, message);
    world.to_the_end(id);
    (Seen::of(&world, id), world.calls())
}
