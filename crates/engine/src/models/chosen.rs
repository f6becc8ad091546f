//! A question between the choice of its model and its answer: chosen, reserved, asked.
//!
//! Whoever has to write something before anybody is asked does that beside the reservation: one cannot be asked without
//! being [`ReservedCall`].

use futures::future::BoxFuture;
use kybern_core::budget::SpendKind;
use kybern_core::error::{ErrorCode, Result};
use kybern_core::model::{ModelFailure, ModelReply, ModelRequest, ModelTimeouts, TokenUsage};

use super::call::{AnsweredCall, Ask, CallContext};
use super::estimate;
use super::registry::{Candidate, Provider};
use super::route::{self, Route, refused};
use super::run::{AfterFailure, ModelRun};
use super::service::ModelService;
use super::stream::Streaming;

/// The most tokens of a reply when nobody says: the orchestrator's default.
const MAX_OUTPUT: u32 = 4_000;

type CallOf<T> =
    for<'a> fn(&'a Provider, &'a ModelRequest, ModelTimeouts) -> BoxFuture<'a, std::result::Result<T, ModelFailure>>;

fn ask_whole<'a>(
    provider: &'a Provider,
    request: &'a ModelRequest,
    timeouts: ModelTimeouts,
) -> BoxFuture<'a, std::result::Result<ModelReply, ModelFailure>> {
    // Providers send the head of a whole reply when it is complete: until then there is nothing to be seen of it.
    provider.model.complete(request, ModelTimeouts { first: timeouts.whole, ..timeouts })
}

/// A question whose models are chosen. Nothing is reserved for it, and nobody has been asked.
pub(crate) struct ChosenCall {
    models: ModelService,
    run: ModelRun,
    ask: Ask,
    candidates: Vec<Candidate>,
    /// The most tokens of the reply, as far as the question says.
    output: u32,
}

/// A question for whose first call the most that it can cost is reserved. Dropped, it gives that back.
pub(crate) struct ReservedCall(ChosenCall);

impl ModelService {
    /// Chooses whom to ask, in order.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown model; `UNPROCESSABLE` when no model can do it.
    pub(crate) async fn choose(&self, caller: &CallContext, mut ask: Ask) -> Result<ChosenCall> {
        let inner = &self.inner;
        let output = ask.request.max_output_tokens.unwrap_or(MAX_OUTPUT);
        let about = estimate::about(&ask.request);
        let policy = inner.policy(caller.scope).await?;
        let wanted = route::wanted(&ask.request, about.saturating_add(u64::from(output)), policy);
        let chain = if ask.may_fall_back { inner.settings.fallback.as_slice() } else { &[] };
        let by = if ask.route == Route::Default { &inner.settings.default } else { &ask.route };
        let candidates = inner.candidates(by, &wanted, chain).await.map_err(|why| refused(&why))?;
        let mut run = ModelRun::new(inner, caller.clone(), SpendKind::Model, ask.timeouts.whole);
        run.about = about;
        run.prompt = ask.prompt.take();
        match ask.digest.take() {
            Some(digest) => run.set_input_digest(digest),
            None => run.set_input(&ask.request),
        }
        ask.request.traceparent.clone_from(&caller.traceparent);
        Ok(ChosenCall { models: self.clone(), run, ask, candidates, output })
    }
}

impl ChosenCall {
    /// Reserves for the call of the first model.
    ///
    /// # Errors
    /// `BUDGET_EXCEEDED`, or why nothing can be reserved.
    ///
    /// # Cancel safety
    /// Dropping the future gives back what it may have reserved.
    pub(crate) async fn reserved(mut self) -> Result<ReservedCall> {
        if let Some(first) = self.candidates.first().cloned() {
            self.hold(&first).await?;
        }
        Ok(ReservedCall(self))
    }

    /// Reserves for a model's call by the cheap bound; where a budget does not cover that, by the tokens counted one by
    /// one.
    async fn hold(&mut self, candidate: &Candidate) -> Result<()> {
        if self.run.is_reserved() {
            return Ok(());
        }
        let request = &mut self.ask.request;
        candidate.spec.name.clone_into(&mut request.model);
        let most = candidate.spec.max_output.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX);
        let output = self.output.min(most);
        request.max_output_tokens = Some(output);
        let (input, output) = (estimate::at_most(request), u64::from(output));
        let short = match self.run.hold(candidate, input, output).await {
            Err(error) if error.code() == ErrorCode::BudgetExceeded => error,
            held => return held,
        };
        let Some(counter) = self.models.inner.counter.clone() else { return Err(short) };
        let (request, model) = (request.clone(), candidate.spec.name.clone());
        // It may take a while, and others are served on this thread.
        let counting = tokio::task::spawn_blocking(move || estimate::counted(&request, &model, counter.as_ref()));
        match counting.await.unwrap_or_default() {
            Some(counted) if counted < input => self.run.hold(candidate, counted, output).await,
            Some(_) | None => Err(short),
        }
    }
}

impl ReservedCall {
    /// Asks for a whole reply: see [`ModelService::complete`].
    pub(crate) async fn complete(self) -> Result<AnsweredCall> {
        let (mut run, candidate, reply) = self.first_that_answers(ask_whole).await?;
        let usage = reply.usage.unwrap_or_else(|| {
            let written = reply.parts.iter().map(crate::size::of_part).sum();
            TokenUsage {
                input: run.about,
                output: estimate::of_bytes(written),
                estimated: true,
                ..TokenUsage::default()
            }
        });
        run.settle(&candidate, usage, Some(reply.finish));
        let (cost, tries) = run.into_costs();
        Ok(AnsweredCall { reply, model: candidate.key(), usage, cost, tries })
    }

    /// Asks for a reply in pieces: see [`ModelService::stream`].
    pub(crate) async fn stream(self) -> Result<Streaming> {
        let (run, candidate, begun) = self.first_that_answers(super::stream::begin).await?;
        Ok(Streaming::new(run, candidate, begun))
    }

    /// Asks one model after the other, each as often as it makes sense, until one answers.
    async fn first_that_answers<T>(self, call: CallOf<T>) -> Result<(ModelRun, Candidate, T)> {
        let Self(mut asked) = self;
        let inner = std::sync::Arc::clone(&asked.models.inner);
        inner.again.earn();
        for candidate in std::mem::take(&mut asked.candidates) {
            let mut retry = 0;
            loop {
                match asked.hold(&candidate).await {
                    Ok(()) => {}
                    // That a fallback is too dear does not hide why it was needed; the next one may be cheaper.
                    Err(_) if !asked.run.tries().is_empty() => break,
                    Err(refused) => return Err(refused),
                }
                if !asked.run.may_ask(&candidate) {
                    break;
                }
                let begun = inner.clock.now();
                let timeouts = asked.ask.timeouts.within(asked.run.left());
                match call(&candidate.provider, &asked.ask.request, timeouts).await {
                    Ok(answer) => {
                        candidate.provider.succeeded(inner.clock.now().since(begun));
                        asked.run.answered(&candidate);
                        return Ok((asked.run, candidate, answer));
                    }
                    Err(failure) => match asked.run.failed(&candidate, failure, &mut retry).await {
                        AfterFailure::RetrySame => {}
                        AfterFailure::TryNext => break,
                    },
                }
            }
            asked.run.let_go();
            if !asked.ask.may_fall_back || !asked.run.may_fall_back() {
                break;
            }
        }
        Err(asked.run.give_up())
    }
}
