//! `kybern plan prove`: a plan walked by the real engine while one thing after the other goes wrong outside, and what
//! would then be lost, doubled or left to a person. No server, no network, no real tool, a temporary database.
//!
//! [`stage`] is the outside, [`sandbox`] the process, [`run`] one run, [`judge`] what a run shows.

mod answers;
mod facts;
mod fault;
mod judge;
mod plans;
mod report;
mod run;
mod sandbox;
mod shape;
mod stage;
#[cfg(test)]
mod tests;
mod time;

use std::collections::BTreeSet;
use std::sync::Arc;

use kybern_core::plan::parse::readable;
use kybern_core::plan::{PlanFault, StepKind};
use kybern_core::task::WaitKind;
use kybern_core::tool::OwnDefinition;
use serde_json::{Map, Value};

use self::answers::{Answers, Invented, base_of, invent};
use self::facts::Facts;
use self::fault::Fault;
use self::judge::Judged;
use self::plans::Prepared;
use self::run::{Run, RunEnd, written};
use self::sandbox::Sandbox;

use crate::output::Failure;

pub(crate) use self::plans::{bundled, own_definition};
pub(crate) use self::report::{Finding, FindingKind, Proof, RunReport, junit, line_of};

/// The most runs for one plan. What goes beyond is left out, and the report says so.
const MAX_RUNS: usize = 400;

/// What is proved, and with what.
pub(crate) struct ProveOptions {
    /// The plans, as they are written.
    pub(crate) plans: Vec<Value>,
    /// What tasks come with; made up when not given.
    pub(crate) payload: Option<Value>,
    /// What tools, models, workflows and persons answer, by step; made up where not given.
    pub(crate) answers: Map<String, Value>,
    /// The tenant's own tools that the plans call.
    pub(crate) tools: Vec<OwnDefinition>,
}

/// What came of it.
pub(crate) enum Proving {
    Proved(Vec<Proof>),
    /// A plan is none, and nothing was run: its key, and its faults.
    Refused(String, Vec<PlanFault>),
}

/// Proves plans, on a thread that may block.
///
/// # Errors
/// When a tool cannot be used, an answer is for no step, the temporary database cannot be made, or the engine fails in a
/// way that no plan should make it fail.
pub(crate) fn prove(runtime: &tokio::runtime::Handle, options: ProveOptions) -> anyhow::Result<Proving> {
    let ProveOptions { plans, payload, answers, tools } = options;
    let plans = match plans::prepared(&plans)? {
        Ok(plans) => plans,
        Err((key, faults)) => return Ok(Proving::Refused(key, faults)),
    };
    let workflows: BTreeSet<String> = plans.iter().flat_map(|plan| plans::workflows(&plan.value)).collect();
    let sandbox = Sandbox::new(runtime, tools, workflows)?;
    for plan in &plans {
        let faults = sandbox.put(std::slice::from_ref(&plan.value))?;
        if !faults.is_empty() {
            return Ok(Proving::Refused(plan.key.clone(), faults));
        }
    }
    let known = sandbox.stage.tools();
    let read = |plan: &Prepared| {
        let draft = readable(&plan.value).0?;
        Some((Facts::of(&draft.steps, draft.output.as_deref(), &known), draft))
    };
    let read: Vec<_> = plans.iter().filter_map(|plan| read(plan).map(|(facts, draft)| (plan, facts, draft))).collect();
    if let Some(step) = answers.keys().find(|step| read.iter().all(|(_, facts, _)| facts.step(step).is_none())) {
        let message = format!("--answers names {step}, and no step has that id");
        return Err(Failure::usage(message, "name steps as the plan writes them").into());
    }
    let mut proofs = Vec::new();
    for (plan, facts, draft) in read {
        let Invented { answers: made, payload: needed } = invent(&facts, &known, answers.clone());
        let payload = payload.clone().unwrap_or(needed);
        let prover =
            Prover { sandbox: &sandbox, plan: &plan.value, key: &draft.key, facts, answers: Arc::new(made), payload };
        proofs.push(prover.prove()?);
    }
    Ok(Proving::Proved(proofs))
}

/// One plan that is proved.
struct Prover<'a> {
    sandbox: &'a Sandbox,
    plan: &'a Value,
    key: &'a str,
    facts: Facts,
    answers: Arc<Answers>,
    payload: Value,
}

/// A run that is to be made.
struct Planned {
    fault: Fault,
    /// The step under its derived id.
    target: String,
    told: String,
    /// The plan in which a condition is decided, where the plan's own is not walked.
    variant: Option<Value>,
    /// The steps that do not run because of it.
    skipped: Vec<String>,
}

impl Prover<'_> {
    fn prove(&self) -> anyhow::Result<Proof> {
        let clean = self.run(Fault::None, "")?;
        let mut proof = Proof {
            plan: self.key.to_owned(),
            runs: vec![RunReport { fault: Fault::None, step: None, told: Fault::None.told("", "") }],
            left_out: 0,
            calls: clean.calls.len(),
            findings: judge::of_plan(&self.facts),
        };
        proof.findings.extend(judge::of_clean(&self.facts, &clean));
        if clean.is_completed() {
            let mut planned = self.planned(&clean);
            proof.left_out = planned.len().saturating_sub(MAX_RUNS);
            planned.truncate(MAX_RUNS);
            for next in planned {
                let end = match &next.variant {
                    None => self.run(next.fault, &next.target)?,
                    Some(variant) => self.run_variant(variant, &next)?,
                };
                proof.calls += end.calls.len();
                let Planned { fault, target, told, skipped, .. } = &next;
                let judged = Judged { facts: &self.facts, clean: &clean, fault: *fault, target, skipped, told };
                proof.findings.extend(judged.findings(&end));
                let step = Some(base_of(target).to_owned());
                proof.runs.push(RunReport { fault: *fault, step, told: told.clone() });
            }
            proof.findings.extend(self.not_reached(&clean));
        }
        proof.findings = sorted(proof.findings);
        Ok(proof)
    }

    fn run(&self, fault: Fault, target: &str) -> anyhow::Result<RunEnd> {
        let Self { sandbox, key, answers, payload, .. } = self;
        Run { plan_key: key, payload, answers, fault, target }.end(sandbox)
    }

    /// Walks another version of the plan, and puts the plan's own back.
    fn run_variant(&self, variant: &Value, next: &Planned) -> anyhow::Result<RunEnd> {
        let faults = self.sandbox.put(std::slice::from_ref(variant))?;
        if let Some(fault) = faults.first() {
            anyhow::bail!("the plan with another condition in {} is refused: {fault}", next.target);
        }
        let end = self.run(next.fault, &next.target);
        self.sandbox.put(std::slice::from_ref(self.plan))?;
        end
    }

    /// Every run that what was seen in the undisturbed one gives reason for. Of a step in a loop its first round counts.
    fn planned(&self, clean: &RunEnd) -> Vec<Planned> {
        let mut planned = Vec::new();
        let mut seen = BTreeSet::new();
        let mut add = |fault: Fault, target: &str, what: &str| {
            let told = fault.told(base_of(target), what);
            planned.push(Planned { fault, target: target.to_owned(), told, variant: None, skipped: Vec::new() });
        };
        for call in &clean.calls {
            if !seen.insert(base_of(&call.step)) {
                continue;
            }
            let faults: &[Fault] = if clean.dispatched.contains(&call.step) {
                use Fault::{
                    AnswerLost, CalledBackFailed, CalledBackTwice, DiesAfter, DiesAnswered, DiesBefore, NotCalledBack,
                };
                &[DiesBefore, DiesAfter, AnswerLost, CalledBackTwice, DiesAnswered, CalledBackFailed, NotCalledBack]
            } else if call.effect.needs_attempt_row() {
                use Fault::{AnswerLost, DiesAfter, DiesBefore, FailsForGood, FailsOnce, Slow};
                &[DiesBefore, DiesAfter, FailsOnce, AnswerLost, FailsForGood, Slow]
            } else {
                &[Fault::DiesAfter, Fault::FailsOnce, Fault::FailsForGood]
            };
            faults.iter().for_each(|fault| add(*fault, &call.step, &call.tool));
        }
        let mut seen = BTreeSet::new();
        for asked in clean.asked.iter().filter(|asked| asked.kind != WaitKind::Ambiguous) {
            if !seen.insert(base_of(&asked.step)) {
                continue;
            }
            let says_no = asked.is_approval && asked.kind != WaitKind::Confirmation;
            let faults = [Fault::DiesAnswered, Fault::Refused, Fault::Unanswered];
            faults
                .into_iter()
                .chain(says_no.then_some(Fault::AnsweredNo))
                .for_each(|fault| add(fault, &asked.step, ""));
        }
        planned.extend(self.ways());
        planned
    }

    /// The runs in which conditions are decided otherwise. Conditions of the same words are decided together.
    fn ways(&self) -> Vec<Planned> {
        let mut planned = Vec::new();
        let mut seen = BTreeSet::new();
        for step in &self.facts.steps {
            if let Some(condition) = &step.spec.condition
                && seen.insert(condition.clone())
            {
                let same = self.facts.steps.iter().filter(|other| other.spec.condition.as_ref() == Some(condition));
                let mut skipped: Vec<String> = same.map(|other| other.id.clone()).collect();
                let inside =
                    self.facts.steps.iter().filter(|other| other.around.iter().any(|(id, _)| skipped.contains(id)));
                let inside: Vec<String> = inside.map(|other| other.id.clone()).collect();
                skipped.extend(inside);
                let told = Fault::Skipped.told(&step.id, "");
                let variant = Some(plans::without(self.plan, condition));
                planned.push(Planned { fault: Fault::Skipped, target: step.id.clone(), told, variant, skipped });
            }
            if let StepKind::Condition { test, .. } = &step.spec.kind
                && let Some(variant) = plans::other_way(self.plan, &step.id, test)
            {
                let inside = self.facts.steps.iter().filter(|other| other.around.iter().any(|(id, _)| *id == step.id));
                let skipped = inside.map(|other| other.id.clone()).collect();
                let told = Fault::OtherWay.told(&step.id, "");
                let variant = Some(variant);
                planned.push(Planned { fault: Fault::OtherWay, target: step.id.clone(), told, variant, skipped });
            }
        }
        planned
    }

    /// The calls of the plan that the undisturbed run did not make.
    fn not_reached(&self, clean: &RunEnd) -> Vec<Finding> {
        let called: BTreeSet<&str> = clean.calls.iter().map(|call| base_of(&call.step)).collect();
        let steps = self.facts.steps.iter().filter(|step| {
            let is_recorded = step.spec.tool_key().is_some_and(|key| self.sandbox.stage.is_recorded(key));
            is_recorded && !called.contains(step.id.as_str()) && !written(&clean.failed).any(|failed| failed == step.id)
        });
        steps
            .map(|step| Finding {
                kind: FindingKind::NotReached,
                step: Some(step.id.clone()),
                run: None,
                message: "nothing went wrong in it, because no undisturbed run comes to it".to_owned(),
                remedy: "give a --payload or --answers with which its condition holds".to_owned(),
                is_note: true,
            })
            .collect()
    }
}

/// What each run showed, once: findings before notes.
fn sorted(findings: Vec<Finding>) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let (notes, sure): (Vec<Finding>, Vec<Finding>) = findings.into_iter().partition(|finding| finding.is_note);
    for finding in sure.into_iter().chain(notes) {
        if !all.contains(&finding) {
            all.push(finding);
        }
    }
    all
}
