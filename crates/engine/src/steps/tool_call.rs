//! One call of a tool, or of a handler: made outside of every transaction.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::error::ErrorCode;
use kybern_core::id::KeyId;
use kybern_core::money::NanoUsd;
use kybern_core::plan::StepKind;
use kybern_core::ports::{StepHandler, ToolContext};
use kybern_core::task::{Attempt, CommitRefused, Lease, RenderedArgs, StepError};
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{ToolFailure, ToolOutcome};
use serde_json::Value;
use tracing::Instrument as _;

use super::services::StepServices;
use super::tool_step;
use crate::budget::NotAdmitted;
use crate::executor::call::{Call, CallEnd, KernelFacts, NotBegun};
use crate::executor::patience::until_available;
use crate::executor::step::Draft;
use crate::executor::{RunStop, TaskRun};
use crate::tools::PreparedCall;
use crate::tools::service::limited;

/// What is called.
pub(super) enum Target {
    Tool(PreparedCall),
    /// A decision, with its rendered text.
    Handler(Arc<dyn StepHandler>, Box<StepKind>, Value),
}

/// A call to make.
pub(super) struct ToolCall {
    pub(super) facts: KernelFacts,
    pub(super) services: Arc<StepServices>,
    pub(super) generation: u32,
    /// The last row of the journal when its arguments were rendered.
    pub(super) saw: i64,
    pub(super) attempt: u32,
    pub(super) target: Target,
    pub(super) context: ToolContext,
    pub(super) timeout: Millis,
    pub(super) tainted: bool,
    pub(super) possible_duplicate: bool,
    /// Whether it may be what a worker died of: it is recorded before it begins, and made while no other such call is.
    pub(super) is_suspect: bool,
    pub(super) args_hash: Option<String>,
    /// The key by which its task was submitted, where a person has said yes to the call: it has to stand still.
    pub(super) asked_with: Option<KeyId>,
    /// What its first row, or its attempt, keeps of its arguments for other tries.
    pub(super) rendered: Option<Arc<RenderedArgs>>,
    pub(super) came: Option<QuestionOutcome>,
}

/// What came of a call: how it ended, or when there is a place under a rate.
pub(super) type QuestionOutcome = Result<Returned, (Timestamp, StepError)>;

/// For so long it holds what the store said of a task when a call was recorded.
const FRESH: Millis = Millis(250);
/// How often a call is recorded at most until the answer is fresh: a store that is always slow stops no work.
const MAX_ASKED: u32 = 3;

/// How a call ended.
pub(super) struct Returned {
    /// Whether the door let the call through.
    pub(super) admitted: bool,
    /// The attempt that was recorded before it.
    pub(super) attempt: Option<Box<Attempt>>,
    pub(super) result: Result<ToolOutcome, ToolFailure>,
    pub(super) duration: Millis,
    /// What the call itself cost, besides what it asked of models.
    pub(super) cost: NanoUsd,
}

impl Returned {
    /// A call that was not made.
    fn unmade(admitted: bool, failure: ToolFailure) -> Self {
        Self { admitted, attempt: None, result: Err(failure), duration: Millis(0), cost: NanoUsd(0) }
    }
}

/// Why a call has not begun.
enum NotCalled {
    Stop(RunStop),
    Cancelled,
    Later(Timestamp, StepError),
}

#[async_trait]
impl Call for ToolCall {
    fn facts(&self) -> KernelFacts {
        self.facts
    }

    async fn perform(mut self: Box<Self>, lease: Lease) -> CallEnd {
        match self.made(&lease).await {
            Ok(returned) => {
                self.came = Some(Ok(returned));
                Ok(self)
            }
            Err(NotCalled::Stop(stop)) => Err(NotBegun::Stop(stop)),
            Err(NotCalled::Cancelled) => Err(NotBegun::Cancelled(self.facts.index)),
            Err(NotCalled::Later(due, error)) => {
                self.came = Some(Err((due, error)));
                Err(NotBegun::Later(self))
            }
        }
    }

    fn conclude(mut self: Box<Self>, run: &TaskRun, now: Timestamp) -> Draft {
        match self.came.take() {
            Some(Ok(returned)) => tool_step::conclude(run, &self, returned, now),
            Some(Err((due, error))) => tool_step::later(run, &self, due, error),
            None => Draft::default(),
        }
    }
}

impl ToolCall {
    /// Makes the call, recording first that it begins where nobody could otherwise know.
    async fn made(&self, lease: &Lease) -> Result<Returned, NotCalled> {
        let services = &self.services;
        if let Some(key) = self.asked_with {
            // A person may have thought for days: whoever asked may be somebody who must not ask any more.
            let stands = until_available(|| services.store.key_stands(key)).await;
            if !stands.map_err(|error| NotCalled::Stop(error.into()))? {
                let message = format!(
                    "not made: the key {key}, with which the task was submitted, has been revoked since; whoever still \
                     wants the call submits it anew"
                );
                let failure = ToolFailure::permanent(message).code(ErrorCode::PermissionDenied);
                return Ok(Returned::unmade(false, failure));
            }
        }
        let mut held = match &self.target {
            Target::Tool(prepared) => match services.budget.admit(prepared, &self.context, self.timeout).await {
                Ok(held) => held,
                Err(NotAdmitted::Later(due, error)) => return Err(NotCalled::Later(due, error)),
                Err(NotAdmitted::Refused(failure)) => return Ok(Returned::unmade(false, failure)),
            },
            Target::Handler(..) => None,
        };
        // Among those that may be what a worker died of, the next worker has to see which one it was.
        let _alone = if self.is_suspect { Some(services.suspect.lock().await) } else { None };
        let began: Timestamp = services.clock.now();
        let begun = match &self.target {
            Target::Tool(prepared) if self.facts.is_effectful || self.is_suspect => {
                match self.recorded(lease, prepared, began).await? {
                    Ok(attempt) => attempt,
                    Err(failure) => return Ok(Returned::unmade(true, failure)),
                }
            }
            Target::Tool(_) | Target::Handler(..) => None,
        };
        if let Some(held) = &mut held {
            held.on_its_way();
        }
        let result = match &self.target {
            Target::Tool(prepared) => {
                let step = self.context.step.as_ref().map_or("", |step| step.as_str());
                // One a step: who exports traces sees it, the log of a quiet server does not pay for it.
                let span = tracing::debug_span!("tool.call", step.id = step, tool.name = %prepared.spec().key);
                services.tools.call(prepared, &self.context, self.timeout).instrument(span).await
            }
            Target::Handler(handler, kind, rendered) => {
                let run = handler.run(&self.context, kind, rendered.clone());
                let came = tokio::time::timeout(self.timeout.as_duration(), run).await.unwrap_or_else(|_elapsed| {
                    let message = format!("the {} took longer than {}", kind.name(), self.timeout);
                    Err(ToolFailure::transient(message).code(ErrorCode::Timeout))
                });
                came.and_then(limited)
            }
        };
        let duration = services.clock.now().since(began);
        let cost = match (&self.target, held) {
            (Target::Tool(prepared), Some(held)) => {
                services.budget.settle(&held, prepared, &self.context, &result, duration)
            }
            (Target::Tool(_) | Target::Handler(..), _) => NanoUsd(0),
        };
        Ok(Returned { admitted: true, attempt: begun, result, duration, cost })
    }

    /// Records that a try begins; why it may not, when its key was used for another call.
    async fn recorded(
        &self,
        lease: &Lease,
        prepared: &PreparedCall,
        began: Timestamp,
    ) -> Result<Result<Option<Box<Attempt>>, ToolFailure>, NotCalled> {
        let Some(step) = &self.context.step else { return Ok(Ok(None)) };
        let attempt = Attempt {
            step: step.clone(),
            generation: self.generation,
            attempt: self.attempt,
            tool: prepared.spec().key.clone(),
            effect: prepared.effect,
            // What has no effect outside may be called with other arguments the next time.
            args_hash: if self.is_suspect { String::new() } else { prepared.args_hash() },
            at: began,
            rendered: if self.is_suspect { None } else { self.rendered.clone() },
            tool_hash: prepared.definition.source().map(|_| Arc::clone(prepared.definition.hash())),
        };
        let mut recorded;
        let mut asked = 0;
        loop {
            let before = self.services.clock.elapsed();
            recorded = until_available(|| self.services.store.begin_attempt(lease, &attempt)).await;
            asked += 1;
            // An answer that was long on its way, or lay here while the run wrote something else, says how things stood:
            // somebody may have cancelled the task since. Recorded once more, it says how they stand.
            let is_fresh = self.services.clock.elapsed().0.saturating_sub(before.0) <= FRESH.0;
            if is_fresh || recorded.is_err() || asked == MAX_ASKED {
                break;
            }
        }
        match recorded {
            Ok(committed) if committed.cancel_requested && !self.is_suspect => Err(NotCalled::Cancelled),
            Ok(_) => Ok(Ok((!self.is_suspect).then(|| Box::new(attempt)))),
            Err(CommitRefused::Store(error)) if error.code() == ErrorCode::Conflict => {
                Ok(Err(ToolFailure::permanent(error.to_string()).code(ErrorCode::Conflict)))
            }
            Err(refused) => Err(NotCalled::Stop(refused.into())),
        }
    }
}
