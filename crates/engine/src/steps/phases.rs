//! The phases before the plan: documents become text, the intent is found out, the plan is chosen. Each is journaled
//! like a step, so a resume never asks a model again.

use std::collections::BTreeSet;

use kybern_core::error::Result;
use kybern_core::plan::StepId;
use kybern_core::task::{Wait, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Value, json};

use super::answers::PhaseAsking;
use super::task_steps::TaskSteps;
use crate::executor::node::PhaseState;
use crate::executor::phases::{PhaseInterrupted, finished, waits};
use crate::executor::step::{AfterJournal, Draft, wait_of};
use crate::executor::{Phase, TaskRun};
use crate::understanding::message::{classify_input, doubt_about_sender, doubtful_sender};
use crate::understanding::{UnderstoodIntent, understood};

fn known(run: &TaskRun, phase: Phase) -> PhaseState {
    run.walk.phase(phase).cloned().unwrap_or_default()
}

/// Runs a phase.
///
/// # Errors
/// When a port fails; nothing but answers of models was written, and the task is tried again later.
pub(super) async fn run_phase(
    own: &TaskSteps,
    run: &mut TaskRun,
    phase: Phase,
    now: Timestamp,
) -> Result<Draft, PhaseInterrupted> {
    let known_of = known(run, phase);
    match phase {
        Phase::Extraction => super::phase_documents::read(own, run, &known_of, now).await,
        Phase::Intent => detect(own, run, &known_of, now).await,
        Phase::Planning => Ok(choose(own, run, &known(run, phase), now)),
    }
}

async fn detect(
    own: &TaskSteps,
    run: &mut TaskRun,
    known: &PhaseState,
    now: Timestamp,
) -> Result<Draft, PhaseInterrupted> {
    if let Some(intent) = known.corrections.get("intent").and_then(Value::as_str) {
        let data = json!({"intent": intent, "confidence": 1.0, "reasoning": "a person said so", "model": "person"});
        let mut end = Draft::phase(own.found_out(Phase::Intent, format!("{intent}, said a person"), data, false));
        end.then = AfterJournal::Found { intent: Some((intent.to_owned(), 1.0)), plan: None };
        return Ok(end);
    }
    let plan_catalogue = &own.services.plan_catalogue;
    let intents = plan_catalogue.intents.get(plan_catalogue.registry(), run.task.tenant, &own.plans, &own.lessons);
    let input = classify_input(&run.task, &run.walk, &own.documents(run)).await?;
    let rules = intents.classify(own.services.intents.as_ref(), &input).await?;
    let (model_use, threshold) = (own.model_use(), run.task.confidence_threshold);
    let mut inquirer = own.inquirer(run);
    let mut asking = PhaseAsking::new(run, &mut inquirer);
    let came = understood(&mut asking, model_use, (&input, &intents.for_models()), rules, threshold).await;
    let mut understood = asking.end(came)?;
    let answer = &mut understood.answer;
    if doubtful_sender(&run.task).is_some_and(|sender| !own.lessons.trusts(sender)) {
        answer.doubts.push(doubt_about_sender(&run.task.payload).to_owned());
    }
    let sure = answer.confidence >= run.task.confidence_threshold && answer.doubts.is_empty();
    let is_known = |key: &String| intents.keys.contains(key);
    if let Some(intent) = answer.intent.clone().filter(is_known)
        && sure
    {
        let summary = format!("{intent} with confidence {:.2}", answer.confidence);
        let confidence = answer.confidence;
        let mut end = Draft::phase(own.found_out(Phase::Intent, summary, understood.to_json(), true));
        end.then = AfterJournal::Found { intent: Some((intent, confidence)), plan: None };
        return Ok(end);
    }
    // What nothing can be done for now is no answer.
    let offered = plan_catalogue.served(&own.plans);
    let mut end = Draft::phase(waits(Phase::Intent, unsure(run, &understood, &offered, now)));
    let answer = understood.answer;
    end.then = AfterJournal::Found { intent: answer.intent.map(|intent| (intent, answer.confidence)), plan: None };
    Ok(end)
}

fn unsure(run: &TaskRun, understood: &UnderstoodIntent, offered: &BTreeSet<&str>, now: Timestamp) -> Wait {
    let answer = &understood.answer;
    let reason = match &answer.intent {
        _ if !answer.doubts.is_empty() => answer.doubts.join("; "),
        None => "no intent matches this message".to_owned(),
        Some(intent) => format!(
            "the intent is perhaps {intent}, with confidence {:.0} % below the threshold of {:.0} %",
            answer.confidence * 100.0,
            run.task.confidence_threshold * 100.0
        ),
    };
    let mut wait = wait_of(&StepId::trusted(StepId::INTENT), WaitKind::Intent, reason, now);
    wait.title = Some("What does this message want?".to_owned());
    wait.schema = json!({
        "type": "object",
        "properties": {"intent": {"type": "string", "enum": offered}},
        "required": ["intent"],
        "additionalProperties": true
    });
    wait.details = json!({
        "best": answer.intent,
        "confidence": answer.confidence,
        "reasoning": answer.reasoning,
        "alternatives": answer.alternatives,
        "doubts": answer.doubts,
        "model": answer.model,
    });
    understood.tell(&mut wait.details);
    wait
}

fn choose(own: &TaskSteps, run: &TaskRun, known: &PhaseState, now: Timestamp) -> Draft {
    let intent = run.task.intent.clone().unwrap_or_default();
    let named = known.corrections.get("planKey").and_then(Value::as_str);
    let services = &own.services;
    let plan = match named {
        Some(key) => services.plan_catalogue.find(&own.plans, key).filter(|plan| plan.quarantine.is_empty()),
        None => services.plan_catalogue.choose(&own.plans, &intent),
    };
    if let Some(plan) = plan {
        let data = json!({"plan": plan.key, "version": plan.version, "origin": plan.origin});
        let summary = format!("plan {} version {}", plan.key, plan.version);
        let mut end = Draft::phase(finished(Phase::Planning, summary, data, false));
        end.then = AfterJournal::Found { intent: None, plan: Some(run.kernel.frozen.freeze(plan)) };
        return end;
    }
    let quarantined = own.plans.iter().any(|plan| plan.intent_key == intent && !plan.quarantine.is_empty());
    let reason = match (named, quarantined) {
        (Some(key), _) => format!("plan {key} cannot be used, name another"),
        (None, true) => format!("the plan for {intent} is in quarantine, see `kybern plan list`"),
        (None, false) => format!("no plan serves the intent {intent}"),
    };
    let keys: Vec<String> = services
        .plan_catalogue
        .registry()
        .plans()
        .map(|plan| plan.key.clone())
        .chain(own.plans.iter().filter(|plan| plan.quarantine.is_empty()).map(|plan| plan.key.clone()))
        .collect();
    let mut wait = wait_of(&StepId::trusted(StepId::PLANNING), WaitKind::Plan, reason, now);
    wait.title = Some("Which plan?".to_owned());
    wait.schema = json!({
        "type": "object",
        "properties": {"planKey": {"type": "string", "enum": keys}},
        "additionalProperties": true
    });
    Draft::phase(waits(Phase::Planning, wait))
}
