//! Making one call, outside of every transaction.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::money::NanoUsd;
use kybern_core::task::{Attempt, CommitRefused, Lease, StepError};
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{ToolFailure, ToolOutcome};
use tracing::Instrument as _;

use super::drive::Stop;
use super::patience::until_available;
use super::step::{Call, Target};
use crate::agent::{Came, Ready, Written};
use crate::parts::Inner;
use crate::tools::admit::{NotAdmitted, admit, settle};
use crate::tools::service::limited;

/// How a call ended.
pub(super) struct Returned {
    pub(super) call: Box<Call>,
    /// Whether the door let the call through.
    pub(super) admitted: bool,
    /// The attempt that was recorded before it.
    pub(super) attempt: Option<Box<Attempt>>,
    pub(super) result: Result<ToolOutcome, ToolFailure>,
    /// What came of a question; the result says nothing of it.
    pub(super) came: Option<Came>,
    pub(super) duration: Millis,
    /// What the call itself cost, besides what it asked of models.
    pub(super) cost: NanoUsd,
}

impl Returned {
    /// A call that was not made.
    fn unmade(call: Box<Call>, admitted: bool, failure: ToolFailure) -> Self {
        Self { call, admitted, attempt: None, result: Err(failure), came: None, duration: Millis(0), cost: NanoUsd(0) }
    }

    /// A question that has ended.
    fn answered(inner: &Inner, call: Box<Call>, came: Came, began: Timestamp) -> Self {
        let duration = inner.clock.now().since(began);
        let result = Ok(ToolOutcome::default());
        Self { call, admitted: true, attempt: None, result, came: Some(came), duration, cost: NanoUsd(0) }
    }
}

/// A call that did not get to begin.
pub(super) enum NotBegun {
    /// The run stops.
    Stop(Stop),
    /// Somebody wants the task cancelled.
    Cancelled(usize),
    /// There is no place under a rate before that moment.
    Later(Box<Call>, Timestamp, StepError),
    /// A question that is written. It is asked when what it can cost is reserved, and what led to it is stored.
    Asks(Asks),
}

/// A question that is written, and not asked.
pub(super) struct Asks {
    call: Box<Call>,
    written: Box<Written>,
    began: Timestamp,
}

/// A question for which is reserved what it can cost.
pub(super) struct Granted {
    call: Box<Call>,
    ready: Box<Ready>,
    began: Timestamp,
}

impl Asks {
    /// Reserves what the question can cost.
    ///
    /// # Errors
    /// The end of a question for which nothing can be reserved.
    pub(super) async fn reserved(self, inner: Arc<Inner>) -> Result<Granted, Box<Returned>> {
        let Self { call, written, began } = self;
        match written.reserved().await {
            Ok(ready) => Ok(Granted { call, ready: Box::new(ready), began }),
            Err(came) => Err(Box::new(Returned::answered(&inner, call, came, began))),
        }
    }
}

impl Granted {
    /// Asks.
    pub(super) async fn ask(self, inner: Arc<Inner>) -> Result<Returned, NotBegun> {
        let Self { call, ready, began } = self;
        let span = tracing::debug_span!("model.ask", step.id = call.step());
        let came = crate::agent::ask(*ready).instrument(span).await;
        Ok(Returned::answered(&inner, call, came, began))
    }
}

/// Whether a call touches nothing outside, so that nobody can tell whether it was made twice.
pub(super) fn is_unseen(call: &Call) -> bool {
    match &call.target {
        Target::Tool(prepared) => {
            let needs = prepared.needs();
            let reaches_out = needs.http || needs.model || needs.language_model || prepared.is_metered();
            !prepared.effect.needs_attempt_row() && !reaches_out && !call.is_suspect
        }
        Target::Handler(..) | Target::Question(_) => false,
    }
}

/// Whether a model has replied: what follows may be written together with it.
pub(super) fn is_reply(returned: &Returned) -> bool {
    matches!(returned.came, Some(Came::Reply(..)))
}

/// Whether a try must be recorded before it begins.
pub(super) fn is_effectful(call: &Call) -> bool {
    match &call.target {
        Target::Tool(prepared) => prepared.effect.needs_attempt_row(),
        Target::Handler(..) | Target::Question(_) => false,
    }
}

/// Makes a call, recording first that it begins where nobody could otherwise know.
pub(super) async fn perform(inner: Arc<Inner>, lease: Lease, call: Box<Call>) -> Result<Returned, NotBegun> {
    if let Some(key) = call.asked_with {
        // A person may have thought for days: whoever asked may be somebody who must not ask any more.
        let stands = until_available(|| inner.store.key_stands(key)).await;
        if !stands.map_err(|error| NotBegun::Stop(error.into()))? {
            let message = format!(
                "not made: the key {key}, with which the task was submitted, has been revoked since; whoever still wants \
                 the call submits it anew"
            );
            let failure = ToolFailure::permanent(message).code(ErrorCode::PermissionDenied);
            return Ok(Returned::unmade(call, false, failure));
        }
    }
    let mut held = match &call.target {
        Target::Tool(prepared) => match admit(&inner, prepared, &call.context, call.timeout).await {
            Ok(held) => held,
            Err(NotAdmitted::Later(due, error)) => return Err(NotBegun::Later(call, due, error)),
            Err(NotAdmitted::Refused(failure)) => return Ok(Returned::unmade(call, false, failure)),
        },
        Target::Handler(..) | Target::Question(_) => None,
    };
    // Among those that may be what a worker died of, the next worker has to see which one it was.
    let _alone = if call.is_suspect { Some(inner.suspect.lock().await) } else { None };
    let began: Timestamp = inner.clock.now();
    let mut begun = None;
    if (is_effectful(&call) || call.is_suspect)
        && let Target::Tool(prepared) = &call.target
        && let Some(step) = &call.context.step
    {
        let attempt = Attempt {
            step: step.clone(),
            generation: call.generation,
            attempt: call.attempt,
            tool: prepared.spec().key.clone(),
            effect: prepared.effect,
            // What has no effect outside may be called with other arguments the next time.
            args_hash: if call.is_suspect { String::new() } else { prepared.args_hash() },
            at: began,
            rendered: if call.is_suspect { None } else { call.rendered.clone() },
            tool_hash: prepared.definition.source().map(|_| Arc::clone(prepared.definition.hash())),
        };
        match until_available(|| inner.store.begin_attempt(&lease, &attempt)).await {
            Ok(committed) if committed.cancel_requested && !call.is_suspect => {
                return Err(NotBegun::Cancelled(call.index));
            }
            Ok(_) => {}
            Err(CommitRefused::Store(error)) if error.code() == ErrorCode::Conflict => {
                let failure = ToolFailure::permanent(error.to_string()).code(ErrorCode::Conflict);
                return Ok(Returned::unmade(call, true, failure));
            }
            Err(refused) => return Err(NotBegun::Stop(refused.into())),
        }
        begun = (!call.is_suspect).then(|| Box::new(attempt));
    }
    if let Some(held) = &mut held {
        held.on_its_way();
    }
    let result = match &call.target {
        Target::Question(question) => {
            // Boxed, or every call of a tool would carry the room for it.
            return match Box::pin(crate::agent::prepare(&inner, question, call.timeout)).await {
                Ok(written) => Err(NotBegun::Asks(Asks { call, written: Box::new(written), began })),
                Err(came) => Ok(Returned::answered(&inner, call, came, began)),
            };
        }
        Target::Tool(prepared) => {
            let step = call.step();
            // One a step: who exports traces sees it, the log of a quiet server does not pay for it.
            let span = tracing::debug_span!("tool.call", step.id = step, tool.name = %prepared.spec().key);
            inner.tools.call(prepared, &call.context, call.timeout).instrument(span).await
        }
        Target::Handler(handler, kind, rendered) => {
            let run = handler.run(&call.context, kind, rendered.clone());
            let came = tokio::time::timeout(call.timeout.as_duration(), run).await.unwrap_or_else(|_elapsed| {
                let message = format!("the {} took longer than {}", kind.name(), call.timeout);
                Err(ToolFailure::transient(message).code(ErrorCode::Timeout))
            });
            came.and_then(limited)
        }
    };
    let duration = inner.clock.now().since(began);
    let cost = match (&call.target, held) {
        (Target::Tool(prepared), Some(held)) => settle(&inner, &held, prepared, &call.context, &result, duration),
        (Target::Tool(_) | Target::Handler(..) | Target::Question(_), _) => NanoUsd(0),
    };
    Ok(Returned { call, admitted: true, attempt: begun, result, came: None, duration, cost })
}
