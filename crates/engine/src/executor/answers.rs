//! What language models say of messages and documents: journaled before anything is made of it, and asked once.
//!
//! A phase journals an answer itself. A call of a tool runs beside its run, which alone may write the journal: it hands
//! the answer over and goes on when it is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::money::Usage;
use kybern_core::plan::StepId;
use kybern_core::ports::{Extractor, ModelAnswer};
use kybern_core::task::{JournalEntry, StepOutcome, limits};
use kybern_core::time::Millis;
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::drive::{Flow, Stop};
use super::phases::Interrupted;
use super::run::Run;
use super::step::{Draft, RowDraft};
use super::weight;
use crate::models::Desk;
use crate::parts::Inner;
use crate::understanding::{AidedExtractor, Asking, Inquirer, Inquiry, ModelUse, Unasked};

/// Answers of one task: a hundred long papers need no more, and what floods a mailbox costs no more.
const MAX_ANSWERS: usize = 256;
/// About how many bytes of memory they take together: an eighth of what a task may keep.
const MAX_SIZE: usize = limits::MAX_TASK_DATA / 8;

/// An answer that a call wants journaled.
pub(super) struct Note {
    row: RowDraft,
    usage: Usage,
    written: oneshot::Sender<()>,
}

/// The way of such answers to their run; none where no model is asked.
pub(super) struct Notes(Option<(mpsc::Sender<Note>, mpsc::Receiver<Note>)>);

impl Notes {
    pub(super) fn new(inner: &Inner) -> Self {
        Self(reads_with_model(inner).then(|| mpsc::channel(limits::MAX_PARALLEL)))
    }

    /// The next one; waits for ever where none can come.
    ///
    /// # Cancel safety
    /// None is lost.
    pub(super) async fn next(&mut self) -> Option<Note> {
        match &mut self.0 {
            Some((_, notes)) => notes.recv().await,
            None => std::future::pending().await,
        }
    }
}

/// Whether any model is asked what messages want and what documents say.
fn reads_with_model(inner: &Inner) -> bool {
    inner.settings.understanding != ModelUse::Off && inner.models.converses()
}

type Answers = Arc<BTreeMap<StepId, Arc<StepOutcome>>>;

/// An answer as it stands in the journal.
fn journaled(outcome: &StepOutcome) -> ModelAnswer {
    let of = |name: &str| outcome.data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    ModelAnswer { text: of("text"), model: of("model"), usage: outcome.usage }
}

fn row(inquiry: &Inquiry, answer: &ModelAnswer, duration: Millis) -> RowDraft {
    let data = json!({"prompt": inquiry.prompt.name, "model": answer.model, "text": answer.text});
    let mut outcome = StepOutcome::completed(data);
    outcome.tainted = true;
    outcome.usage = answer.usage;
    RowDraft {
        step: Some(inquiry.id()),
        tool: None,
        attempt: 1,
        generation: 0,
        duration,
        summary: format!("{} answered ({})", answer.model, inquiry.prompt.name),
        entry: JournalEntry::Finished(Box::new(outcome)),
    }
}

fn may_have_more(answers: &Answers) -> Result<(), Unasked> {
    let size: usize = answers.values().map(|outcome| weight::of_value(&outcome.data)).sum();
    if answers.len() < MAX_ANSWERS && size < MAX_SIZE {
        return Ok(());
    }
    let (count, size) = (answers.len(), size / 1024);
    Err(Unasked::No(format!("no language model was asked: the task has had {count} answers of {size} KiB together")))
}

/// How a phase asks.
pub(super) struct PhaseAsking<'r> {
    run: &'r mut Run,
    inquirer: &'r mut Inquirer,
    /// Whether a model may be asked what no journal has answered.
    may_ask: bool,
    interrupted: Option<Interrupted>,
}

impl<'r> PhaseAsking<'r> {
    pub(super) fn new(run: &'r mut Run, inquirer: &'r mut Inquirer) -> Self {
        Self { run, inquirer, may_ask: true, interrupted: None }
    }

    /// One that asks nobody, and knows what was answered before.
    pub(super) fn recalling(run: &'r mut Run, inquirer: &'r mut Inquirer) -> Self {
        Self { run, inquirer, may_ask: false, interrupted: None }
    }

    /// What came of asking, or why the phase stops.
    pub(super) fn end<T>(self, came: Result<T, Error>) -> Result<T, Interrupted> {
        came.map_err(|error| self.interrupted.unwrap_or(Interrupted::Port(error)))
    }

    fn stop(&mut self, why: Interrupted) -> Unasked {
        self.interrupted = Some(why);
        Unasked::Stopped(Error::new(ErrorCode::Unavailable, "the phase was interrupted"))
    }
}

#[async_trait]
impl Asking for PhaseAsking<'_> {
    async fn answer(&mut self, inquiry: &Inquiry) -> Result<ModelAnswer, Unasked> {
        let id = inquiry.id();
        if let Some(known) = self.run.walk.answers().get(&id) {
            return Ok(journaled(known));
        }
        if !self.may_ask {
            return Err(Unasked::No("no language model may be asked any more".to_owned()));
        }
        if self.run.cancel || self.run.paused || self.run.inner.stopping.is_cancelled() {
            return Err(self.stop(Interrupted::Held));
        }
        may_have_more(self.run.walk.answers())?;
        let desk = self.run.desk(self.run.inner.settings.step_timeout);
        let (answer, took) = self.inquirer.ask(&desk, inquiry).await?;
        if let Err(stop) = self.run.keep_answer(row(inquiry, &answer, took), answer.usage).await {
            return Err(self.stop(Interrupted::Stop(stop)));
        }
        kept(self.run.walk.answers(), &id)
    }
}

/// An answer that was written; a journal that is full has refused it.
fn kept(answers: &Answers, id: &StepId) -> Result<ModelAnswer, Unasked> {
    let known = answers.get(id).filter(|outcome| outcome.error.is_none());
    known
        .map(|outcome| journaled(outcome))
        .ok_or_else(|| Unasked::No("the answer of a language model found no place in the task's journal".to_owned()))
}

/// How a call of a tool asks.
struct CallAsking {
    desk: Desk,
    inquirer: Inquirer,
    known: Answers,
    notes: mpsc::Sender<Note>,
}

#[async_trait]
impl Asking for CallAsking {
    async fn answer(&mut self, inquiry: &Inquiry) -> Result<ModelAnswer, Unasked> {
        let id = inquiry.id();
        if let Some(known) = self.known.get(&id) {
            return Ok(journaled(known));
        }
        may_have_more(&self.known)?;
        let (answer, took) = self.inquirer.ask(&self.desk, inquiry).await?;
        let row = row(inquiry, &answer, took);
        if let JournalEntry::Finished(outcome) = &row.entry {
            Arc::make_mut(&mut self.known).insert(id, Arc::new((**outcome).clone()));
        }
        let (written, is_written) = oneshot::channel();
        let gone = |_| Unasked::Stopped(Error::new(ErrorCode::Unavailable, "the run that keeps the journal is gone"));
        let note = Note { row, usage: answer.usage, written };
        if self.notes.send(note).await.is_err() {
            return Err(gone(()));
        }
        is_written.await.map_err(|_| gone(()))?;
        Ok(answer)
    }
}

impl Run {
    /// Whether a language model is asked what the message wants and what its documents say.
    pub(super) fn reads_with_model(&self) -> bool {
        reads_with_model(&self.inner)
    }

    pub(super) fn model_use(&self) -> ModelUse {
        if self.reads_with_model() { self.inner.settings.understanding } else { ModelUse::Off }
    }

    /// Whoever asks for a phase.
    pub(super) fn inquirer(&self) -> Inquirer {
        Inquirer::new(&self.inner.models, &self.lease)
    }

    /// What a tool reads documents with.
    pub(super) fn extractor(&self, timeout: Millis) -> Arc<dyn Extractor> {
        let rules = self.rules();
        let Some((notes, _)) = &self.notes.0 else { return rules };
        let asking = CallAsking {
            desk: self.desk(timeout),
            inquirer: self.inquirer(),
            known: Arc::clone(self.walk.answers()),
            notes: notes.clone(),
        };
        Arc::new(AidedExtractor {
            rules,
            registry: Arc::clone(&self.inner.catalog.registry),
            model_use: self.model_use(),
            asking: Mutex::new(Box::new(asking)),
        })
    }

    /// Journals an answer that a call was given, and lets the call go on.
    pub(super) async fn take_note(&mut self, note: Note) -> Result<Flow, Stop> {
        let flow = self.keep_answer(note.row, note.usage).await?;
        // A call that was given up waits no more.
        let _ = note.written.send(());
        Ok(flow)
    }

    async fn keep_answer(&mut self, row: RowDraft, usage: Usage) -> Result<Flow, Stop> {
        Box::pin(self.settle(Draft { usage, ..Draft::row(row) })).await
    }
}
