//! One question to a model: written, reserved for, and asked.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::plan::StepId;
use kybern_core::ports::Clock;
use kybern_core::task::Lease;
use kybern_core::time::{Millis, Timestamp};
use tracing::Instrument as _;

use super::question;
use crate::agent::{Question, QuestionOutcome, TurnServices};
use crate::executor::TaskRun;
use crate::executor::call::{Call, CallEnd, KernelFacts, NotBegun, OnItsWay};
use crate::executor::step::Draft;

/// A question to ask.
pub(super) struct QuestionCall {
    pub(super) facts: KernelFacts,
    pub(super) turns: Arc<TurnServices>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) step: StepId,
    pub(super) attempt: u32,
    pub(super) timeout: Millis,
    pub(super) tainted: bool,
    pub(super) question: Arc<Question>,
    /// What came of it, and how long that took.
    pub(super) came: Option<(QuestionOutcome, Millis)>,
}

#[async_trait]
impl Call for QuestionCall {
    fn facts(&self) -> KernelFacts {
        self.facts
    }

    async fn perform(self: Box<Self>, _lease: Lease) -> CallEnd {
        let began = self.clock.now();
        let written = match crate::agent::prepare(&self.turns, &self.question, self.timeout).await {
            Ok(written) => written,
            Err(came) => return Ok(self.answered(came, began)),
        };
        Err(NotBegun::Written(Box::pin(async move {
            match written.reserved().await {
                Ok(ready) => Ok(Box::pin(async move {
                    let span = tracing::debug_span!("model.ask", step.id = self.step.as_str());
                    let came = crate::agent::ask(ready).instrument(span).await;
                    Ok(self.answered(came, began))
                }) as OnItsWay),
                Err(came) => Err(self.answered(came, began)),
            }
        })))
    }

    fn conclude(mut self: Box<Self>, run: &TaskRun, now: Timestamp) -> Draft {
        let Some((came, duration)) = self.came.take() else { return Draft::default() };
        question::conclude(run, &self, came, duration, now)
    }
}

impl QuestionCall {
    fn answered(mut self: Box<Self>, came: QuestionOutcome, began: Timestamp) -> Box<dyn Call> {
        self.facts.is_reply = matches!(came, QuestionOutcome::Reply(..));
        self.came = Some((came, self.clock.now().since(began)));
        self
    }
}
