//! The phases before the plan: documents become text, the intent is found out, the plan is chosen. Each is journaled
//! like a step, so a resume never asks a model again.

use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::mail::{MailKind, Passage};
use kybern_core::model::ClassifyInput;
use kybern_core::plan::StepId;
use kybern_core::task::{Channel, JournalEntry, StepOutcome, Task, TaskStatus, Wait, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::answers::PhaseAsking;
use super::drive::Stop;
use super::node::{Phase, PhaseState};
use super::run::Run;
use super::signals::{NO, said};
use super::step::{Draft, RowDraft, Then, failure, wait_of};
use super::walk::Walk;
use crate::tools::documents::TaskDocuments;
use crate::understanding::{Understood, understood};

/// Characters of documents that are shown to the intent model.
const DOCUMENT_EXCERPT: usize = 8_000;

/// Why a phase did not come to its end. What it had asked models is in the journal.
#[derive(Debug)]
pub(super) enum Interrupted {
    /// A port failed.
    Port(Error),
    /// The run stops.
    Stop(Stop),
    /// The task is to be cancelled or paused, or the process ends.
    Held,
}

impl From<Error> for Interrupted {
    fn from(error: Error) -> Self {
        Self::Port(error)
    }
}

/// The status of a task that is in a phase.
pub(super) const fn status_in(phase: Phase) -> TaskStatus {
    match phase {
        Phase::Extraction => TaskStatus::Extracting,
        Phase::Intent => TaskStatus::DetectingIntent,
        Phase::Planning => TaskStatus::Planning,
    }
}

/// A row about a phase.
pub(super) fn row_of(phase: Phase, summary: impl Into<String>, entry: JournalEntry) -> RowDraft {
    RowDraft::bare(Some(StepId::trusted(phase.step_id())), 1, summary, entry)
}

pub(super) fn finished(phase: Phase, summary: impl Into<String>, data: Value, tainted: bool) -> RowDraft {
    let mut outcome = StepOutcome::completed(data);
    outcome.tainted = tainted;
    row_of(phase, summary, JournalEntry::Finished(Box::new(outcome)))
}

pub(super) fn waits(phase: Phase, wait: Wait) -> RowDraft {
    row_of(phase, wait.reason.clone(), JournalEntry::Waiting(Box::new(wait)))
}

fn known(run: &Run, phase: Phase) -> PhaseState {
    run.walk.phase(phase).cloned().unwrap_or_default()
}

/// Whether somebody may see a task in that phase.
pub(super) fn takes_time(run: &Run, phase: Phase) -> bool {
    match phase {
        Phase::Extraction => true,
        Phase::Intent => !run.inner.intents.answers_at_once() || run.reads_with_model(),
        Phase::Planning => false,
    }
}

/// Runs a phase.
///
/// # Errors
/// When a port fails; nothing but answers of models was written, and the task is tried again later.
pub(super) async fn run_phase(run: &mut Run, phase: Phase, now: Timestamp) -> Result<Draft, Interrupted> {
    let known_of = known(run, phase);
    match phase {
        Phase::Extraction => super::phase_documents::read(run, &known_of, now).await,
        Phase::Intent => detect(run, &known_of, now).await,
        Phase::Planning => Ok(choose(run, &known(run, phase), now)),
    }
}

async fn detect(run: &mut Run, known: &PhaseState, now: Timestamp) -> Result<Draft, Interrupted> {
    if let Some(intent) = known.corrections.get("intent").and_then(Value::as_str) {
        let data = json!({"intent": intent, "confidence": 1.0, "reasoning": "a person said so", "model": "person"});
        let mut end = Draft::phase(run.found_out(Phase::Intent, format!("{intent}, said a person"), data, false));
        end.then = Then::Found { intent: Some((intent.to_owned(), 1.0)), plan: None };
        return Ok(end);
    }
    let catalog = &run.inner.catalog;
    let intents = catalog.intents.get(catalog.registry(), run.task.tenant, &run.own.plans, &run.own.lessons);
    let input = classify_input(&run.task, &run.walk, &run.documents()).await?;
    let rules = intents.classify(run.inner.intents.as_ref(), &input).await?;
    let (model_use, threshold) = (run.model_use(), run.task.confidence_threshold);
    let mut inquirer = run.inquirer();
    let mut asking = PhaseAsking::new(run, &mut inquirer);
    let came = understood(&mut asking, model_use, (&input, &intents.for_models()), rules, threshold).await;
    let mut understood = asking.end(came)?;
    let answer = &mut understood.answer;
    if doubtful_sender(&run.task).is_some_and(|sender| !run.own.lessons.trusts(sender)) {
        answer.doubts.push("the receiving server says that the mail does not come from its sender's domain".to_owned());
    }
    let sure = answer.confidence >= run.task.confidence_threshold && answer.doubts.is_empty();
    let is_known = |key: &String| intents.keys.contains(key);
    if let Some(intent) = answer.intent.clone().filter(is_known)
        && sure
    {
        let summary = format!("{intent} with confidence {:.2}", answer.confidence);
        let confidence = answer.confidence;
        let mut end = Draft::phase(run.found_out(Phase::Intent, summary, understood.to_json(), true));
        end.then = Then::Found { intent: Some((intent, confidence)), plan: None };
        return Ok(end);
    }
    let mut end = Draft::phase(waits(Phase::Intent, unsure(run, &understood, &intents.keys, now)));
    let answer = understood.answer;
    end.then = Then::Found { intent: answer.intent.map(|intent| (intent, answer.confidence)), plan: None };
    Ok(end)
}

fn unsure(run: &Run, understood: &Understood, keys: &[String], now: Timestamp) -> Wait {
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
        "properties": {"intent": {"type": "string", "enum": keys}},
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

/// The address in whose name a mail came of which the receiving server says that it is not from there.
pub(crate) fn doubtful_sender(task: &Task) -> Option<&str> {
    let is_doubtful = task.payload.pointer("/sender/authenticated") == Some(&json!(false));
    task.payload.pointer("/from/address").and_then(Value::as_str).filter(|_| is_doubtful)
}

/// Whether a mail carries the token of a request, or stands in the thread of one of ours that does.
pub(super) fn answers_request(payload: &Value) -> bool {
    let has_token = payload.get("requestTokens").and_then(Value::as_array).is_some_and(|tokens| !tokens.is_empty());
    has_token || payload.get("answersRequest") == Some(&json!(true))
}

/// What the intent model is shown. How a mail was taken apart stands in the payload; what does not fit there, as in a
/// task that somebody made by hand, counts as not said.
///
/// # Errors
/// When the store fails, or a document cannot be read right now.
pub(crate) async fn classify_input(task: &Task, walk: &Walk, texts: &TaskDocuments) -> Result<ClassifyInput> {
    let payload = &task.payload;
    let is_mail = task.channel == Channel::Email;
    let read = |name: &str| payload.get(name).filter(|_| is_mail).cloned().unwrap_or_default();
    let kind = serde_json::from_value::<MailKind>(read("kind")).unwrap_or_default();
    let passages = serde_json::from_value::<Vec<Passage>>(read("passages")).unwrap_or_default();
    let subject = payload.get("subject").and_then(Value::as_str).unwrap_or_default();
    let documents = walk.phase(Phase::Extraction).and_then(|phase| phase.outcome.as_ref());
    let listed = || documents.and_then(|outcome| outcome.data.get("documents")?.as_array()).into_iter().flatten();
    let mut input = ClassifyInput::of_mail(kind, subject, &task.input, &passages);
    input.answers_request = is_mail && answers_request(payload);
    input.files = listed().count();
    let categories = listed().filter_map(|document| document.get("category")?.as_str().map(str::to_owned));
    input.document_categories = categories.collect();
    if documents.is_some() {
        use kybern_core::ports::Documents;
        for (_, text) in texts.texts().await? {
            for page in &text.pages {
                if input.document_text.len() < DOCUMENT_EXCERPT {
                    input.document_text.extend(page.text.chars().take(DOCUMENT_EXCERPT));
                    input.document_text.push('\n');
                }
            }
        }
    }
    Ok(input)
}

fn choose(run: &Run, known: &PhaseState, now: Timestamp) -> Draft {
    let intent = run.task.intent.clone().unwrap_or_default();
    let named = known.corrections.get("planKey").and_then(Value::as_str);
    let plan = match named {
        Some(key) => run.inner.catalog.find(&run.own.plans, key).filter(|plan| plan.quarantine.is_empty()),
        None => run.inner.catalog.choose(&run.own.plans, &intent),
    };
    if let Some(plan) = plan {
        let data = json!({"plan": plan.key, "version": plan.version, "origin": plan.origin});
        let summary = format!("plan {} version {}", plan.key, plan.version);
        let mut end = Draft::phase(finished(Phase::Planning, summary, data, false));
        end.then = Then::Found { intent: None, plan: Some(run.inner.frozen.freeze(plan)) };
        return end;
    }
    let quarantined = run.own.plans.iter().any(|plan| plan.intent_key == intent && !plan.quarantine.is_empty());
    let reason = match (named, quarantined) {
        (Some(key), _) => format!("plan {key} cannot be used, name another"),
        (None, true) => format!("the plan for {intent} is in quarantine, see `kybern plan list`"),
        (None, false) => format!("no plan serves the intent {intent}"),
    };
    let keys: Vec<String> = run
        .inner
        .catalog
        .registry()
        .plans()
        .map(|plan| plan.key.clone())
        .chain(run.own.plans.iter().filter(|plan| plan.quarantine.is_empty()).map(|plan| plan.key.clone()))
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

/// A phase to which a person said no.
pub(super) fn refused(phase: Phase, note: Option<&str>) -> RowDraft {
    let error = failure(ErrorCode::Unprocessable, said(NO, note));
    let outcome = StepOutcome { refused: true, ..StepOutcome::failed(error, false) };
    row_of(phase, "refused by a person", JournalEntry::Finished(Box::new(outcome)))
}

/// Corrections that are no phase's own names enter the state, as the specifications have it.
pub(super) fn free_corrections(corrections: &Map<String, Value>) -> Map<String, Value> {
    let own = ["intent", "planKey", "documents"];
    corrections
        .iter()
        .filter(|(name, _)| !own.contains(&name.as_str()) && !name.starts_with('_'))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
