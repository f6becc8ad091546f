//! What language models say of messages and documents: journaled before anything is made of it, and asked once.
//!
//! A phase journals an answer itself. A call of a tool runs beside its run, which alone may write the journal: it hands
//! the answer over and goes on when it is written. An answer for which the journal has no room is used by nobody.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::plan::StepId;
use kybern_core::ports::{Extractor, ModelAnswer};
use kybern_core::task::{JournalEntry, StepError, StepOutcome, limits};
use kybern_core::time::Millis;
use serde_json::{Value, json};
use tokio::sync::{Mutex, OnceCell, mpsc, oneshot};

use super::task_steps::TaskSteps;
use crate::executor::phases::PhaseInterrupted;
use crate::executor::step::RowDraft;
use crate::executor::steps::CallNote;
use crate::executor::{TaskRun, weight};
use crate::models::prompt::UNDERSTAND_INTENT;
use crate::understanding::{AidedExtractor, AskModel, Inquirer, Inquiry, ModelUse, NoAnswer};

/// Answers of one task: a mail with some twenty papers needs no more, and what floods a mailbox costs no more.
const MAX_ANSWERS: usize = 48;
/// How many of them the papers leave to the intent: a question and its repair.
const FOR_INTENT: usize = 2;
/// How long the questions of one phase may take together, in times of one try of a step.
const PHASE_TRIES: u64 = 5;
/// About how many bytes of memory they take together: an eighth of what a task may keep.
const MAX_SIZE: usize = limits::MAX_TASK_DATA / 8;

type Answers = Arc<BTreeMap<StepId, Arc<StepOutcome>>>;

/// An answer as it stands in the journal.
///
/// # Errors
/// Why the journal has refused it.
fn journaled(outcome: &StepOutcome) -> Result<ModelAnswer, StepError> {
    if let Some(error) = &outcome.error {
        return Err(error.clone());
    }
    let of = |name: &str| outcome.data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(ModelAnswer { text: of("text"), model: of("model"), usage: outcome.usage })
}

fn row(inquiry: &Inquiry, answer: &ModelAnswer, duration: Millis) -> RowDraft {
    let data = json!({"prompt": inquiry.prompt.name, "model": answer.model, "text": answer.text});
    let mut outcome = StepOutcome::completed(data);
    outcome.tainted = true;
    outcome.usage = answer.usage;
    let summary = format!("{} answered ({})", answer.model, inquiry.prompt.name);
    let row = RowDraft::bare(Some(inquiry.id()), 1, summary, JournalEntry::Finished(Arc::new(outcome)));
    RowDraft { duration, ..row }
}

/// Whether a task that has had so many answers, of so many bytes, may have another one.
fn may_have_more(inquiry: &Inquiry, count: usize, size: usize) -> Result<(), NoAnswer> {
    let most = if inquiry.prompt.name == UNDERSTAND_INTENT.name { MAX_ANSWERS } else { MAX_ANSWERS - FOR_INTENT };
    if count < most && size < MAX_SIZE {
        return Ok(());
    }
    let size = size / 1024;
    Err(NoAnswer::No(format!("no language model was asked: the task has had {count} answers of {size} KiB together")))
}

fn size_of<'o>(outcomes: impl Iterator<Item = &'o Arc<StepOutcome>>) -> usize {
    outcomes.map(|outcome| weight::of_value(&outcome.data)).sum()
}

pub(super) struct PhaseAsking<'r> {
    run: &'r mut TaskRun,
    inquirer: &'r mut Inquirer,
    /// Whether a model may be asked what no journal has answered.
    may_ask: bool,
    interrupted: Option<PhaseInterrupted>,
}

impl<'r> PhaseAsking<'r> {
    pub(super) fn new(run: &'r mut TaskRun, inquirer: &'r mut Inquirer) -> Self {
        Self { run, inquirer, may_ask: true, interrupted: None }
    }

    /// One that asks nobody, and knows what was answered before.
    pub(super) fn recalling(run: &'r mut TaskRun, inquirer: &'r mut Inquirer) -> Self {
        Self { run, inquirer, may_ask: false, interrupted: None }
    }

    /// What came of asking, or why the phase stops.
    pub(super) fn end<T>(self, came: Result<T, Error>) -> Result<T, PhaseInterrupted> {
        came.map_err(|error| self.interrupted.unwrap_or(PhaseInterrupted::Port(error)))
    }

    fn stop(&mut self, why: PhaseInterrupted) -> NoAnswer {
        self.interrupted = Some(why);
        NoAnswer::Stopped(Error::new(ErrorCode::Unavailable, "the phase was interrupted"))
    }
}

#[async_trait]
impl AskModel for PhaseAsking<'_> {
    async fn answer(&mut self, inquiry: &Inquiry) -> Result<ModelAnswer, NoAnswer> {
        let id = inquiry.id();
        if let Some(known) = self.run.walk.answers().get(&id) {
            return kept(known);
        }
        if !self.may_ask {
            return Err(NoAnswer::No("no language model may be asked any more".to_owned()));
        }
        if self.run.wanted.cancel || self.run.wanted.paused || self.run.kernel.stopping.is_cancelled() {
            return Err(self.stop(PhaseInterrupted::Held));
        }
        let answers = self.run.walk.answers();
        may_have_more(inquiry, answers.len(), size_of(answers.values()))?;
        let (answer, took) = self.inquirer.ask(inquiry).await?;
        if let Err(stop) = self.run.keep_answer(row(inquiry, &answer, took), answer.usage).await {
            return Err(self.stop(PhaseInterrupted::Stop(stop)));
        }
        self.run.walk.answers().get(&id).map_or_else(|| Err(NoAnswer::No(NO_PLACE.to_owned())), |known| kept(known))
    }

    fn give_up(&mut self, why: &str) {
        self.inquirer.give_up(why);
    }
}

const NO_PLACE: &str = "the answer of a language model found no place in the task's journal";

/// What a phase makes of an answer in the journal: without one that could not be kept the rules' answer stands.
fn kept(outcome: &StepOutcome) -> Result<ModelAnswer, NoAnswer> {
    journaled(outcome).map_err(|error| NoAnswer::No(format!("{NO_PLACE}: {}", error.message)))
}

/// What the calls of one run ask: two that read the same paper ask about it once, side by side or one after the other.
#[derive(Default)]
pub(super) struct CallAnswers(std::sync::Mutex<BTreeMap<StepId, Arc<OnceCell<Arc<StepOutcome>>>>>);

impl CallAnswers {
    /// The place of an answer, where the task may have it. `known` is what the journal had when the call began.
    fn place(&self, inquiry: &Inquiry, known: &Answers) -> Result<Arc<OnceCell<Arc<StepOutcome>>>, NoAnswer> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = inquiry.id();
        if let Some(place) = places.get(&id).filter(|place| place.initialized()) {
            return Ok(Arc::clone(place));
        }
        // A question that failed, or whose call was given up, has taken nothing.
        places.retain(|_, place| place.initialized() || Arc::strong_count(place) > 1);
        let others = || places.iter().filter(|(other, _)| **other != id && !known.contains_key(*other));
        let size = size_of(known.values()) + size_of(others().filter_map(|(_, place)| place.get()));
        may_have_more(inquiry, known.len() + others().count(), size)?;
        Ok(Arc::clone(places.entry(id).or_default()))
    }
}

/// How a call of a tool asks.
struct CallAsking {
    inquirer: Inquirer,
    known: Answers,
    others: Arc<CallAnswers>,
    notes: mpsc::Sender<CallNote>,
}

impl CallAsking {
    /// Asks, and has the answer journaled.
    async fn ask(
        inquirer: &mut Inquirer,
        notes: &mpsc::Sender<CallNote>,
        inquiry: &Inquiry,
    ) -> Result<Arc<StepOutcome>, NoAnswer> {
        let (answer, took) = inquirer.ask(inquiry).await?;
        let (written, is_written) = oneshot::channel();
        let gone = || NoAnswer::Stopped(Error::new(ErrorCode::Unavailable, "the run that keeps the journal is gone"));
        let note = CallNote { row: row(inquiry, &answer, took), usage: answer.usage, written };
        notes.send(note).await.map_err(|_| gone())?;
        is_written.await.map_err(|_| gone())
    }
}

#[async_trait]
impl AskModel for CallAsking {
    async fn answer(&mut self, inquiry: &Inquiry) -> Result<ModelAnswer, NoAnswer> {
        let outcome = match self.known.get(&inquiry.id()) {
            Some(known) => Arc::clone(known),
            None => {
                let place = self.others.place(inquiry, &self.known)?;
                let (inquirer, notes) = (&mut self.inquirer, &self.notes);
                Arc::clone(place.get_or_try_init(|| Self::ask(inquirer, notes, inquiry)).await?)
            }
        };
        // Without room for the answer there is none for what a step would make of it.
        journaled(&outcome).map_err(|error| {
            NoAnswer::Stopped(Error::new(
                error.code,
                format!("the answer of a language model was not used: {}", error.message),
            ))
        })
    }

    fn give_up(&mut self, why: &str) {
        self.inquirer.give_up(why);
    }
}

impl TaskSteps {
    pub(super) fn model_use(&self) -> ModelUse {
        if self.services.reads_with_model() { self.services.understanding } else { ModelUse::Off }
    }

    /// Whoever asks for a phase.
    pub(super) fn inquirer(&self, run: &TaskRun) -> Inquirer {
        self.inquirer_within(run, Millis(run.kernel.settings.step_timeout.0.saturating_mul(PHASE_TRIES)))
    }

    fn inquirer_within(&self, run: &TaskRun, time: Millis) -> Inquirer {
        Inquirer::new(&self.services.models, &run.lease, self.desk(run, time))
    }

    /// What a tool reads documents with.
    pub(super) fn extractor(&self, run: &TaskRun, timeout: Millis) -> Arc<dyn Extractor> {
        let rules = self.rules(run);
        let Some(notes) = &self.shared.notes else { return rules };
        let asking = CallAsking {
            inquirer: self.inquirer_within(run, timeout),
            known: Arc::clone(run.walk.answers()),
            others: Arc::clone(&self.shared.answers),
            notes: notes.clone(),
        };
        Arc::new(AidedExtractor {
            rules,
            registry: Arc::clone(&self.services.plan_catalogue.registry),
            model_use: self.model_use(),
            asking: Mutex::new(Box::new(asking)),
        })
    }
}
