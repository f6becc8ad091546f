//! The model service: questions in, answers or streams out.

use std::sync::Arc;

use kybern_core::budget::{Amount, SpendKind};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::model::{Abilities, EmbedRequest, Embedded, ModelKind, ModelSpec, ModelTimeouts, TokenUsage};
use kybern_core::money::Tokens;
use kybern_core::ports::{Clock, IdSource, Keys, Random, Store, TokenCounter};
use kybern_core::task::WorkerId;
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use tokio_util::task::TaskTracker;

use crate::budget::ledger::Ledger;
use crate::meter::Meter;

use super::call::{AnsweredCall, Ask, CallContext};
use super::estimate;
use super::policy::{self, Policies};
use super::registry::{Candidate, ModelRegistry, Provider, ProviderParts};
use super::retry::RetryBudget;
use super::route::{self, Route, Unroutable, refused};
use super::run::{AfterFailure, ModelRun};
use super::stream::Streaming;

/// Whose vectors are meant when nobody names a model.
pub(crate) const BUILT_IN: &str = "builtin";

/// What an operator may set.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// Keys of models that are asked when the chosen one fails, in order.
    pub fallback: Vec<String>,
    /// What is meant by `default`.
    pub default: Route,
    /// Whom tools ask to think a problem through.
    pub reasoning: Route,
    /// Whom tools ask to summarise, to translate and to take facts out of texts.
    pub texts: Route,
    /// Who is asked what messages want and what documents say.
    pub understanding: Route,
    /// Who makes the vectors of memories and knowledge: a provider, or `provider/model`.
    pub embedding: String,
    /// How long a call may take.
    pub timeouts: ModelTimeouts,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            fallback: Vec::new(),
            default: Route::Balanced,
            reasoning: Route::Reasoning,
            texts: Route::Cheapest,
            understanding: Route::Balanced,
            embedding: BUILT_IN.to_owned(),
            timeouts: ModelTimeouts::DEFAULT,
        }
    }
}

/// The language models of an engine.
#[derive(Default)]
pub struct ModelParts {
    /// The configured providers, the preferred one first.
    pub providers: Vec<ProviderParts>,
    /// What an operator may set.
    pub settings: ModelSettings,
    /// Counts tokens where a cheap bound is near a limit.
    pub counter: Option<Arc<dyn TokenCounter>>,
}

/// What the service is made of.
pub(crate) struct ServiceParts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) worker: WorkerId,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) registry: ModelRegistry,
    pub(crate) settings: ModelSettings,
    pub(crate) again: RetryBudget,
    pub(crate) counter: Option<Arc<dyn TokenCounter>>,
    pub(crate) policies: Policies,
    /// What runs beside the questions.
    pub(crate) spawned: TaskTracker,
    pub(crate) meter: Arc<Meter>,
}

/// The way to the models. Cheap to clone.
#[derive(Clone)]
pub struct ModelService {
    pub(crate) inner: Arc<ServiceParts>,
}

/// A model as callers see it.
#[derive(Clone, Debug)]
pub struct ModelView {
    /// `provider/model`.
    pub key: String,
    /// The provider; `kybern` of a strategy.
    pub provider: String,
    /// What is known of it.
    pub spec: ModelSpec,
    /// How the provider's circuit breaker stands: `closed`, `failing`, `open` or `probing`.
    pub health: &'static str,
    /// How long its provider takes to begin an answer; `None` before the first.
    pub latency: Option<Millis>,
}

pub(crate) struct ProviderHealth {
    /// Its name.
    pub(crate) provider: String,
    /// How its circuit breaker stands: `closed`, `failing`, `open` or `probing`.
    pub(crate) breaker: &'static str,
    /// What it failed with last, and when, as long as it has not answered since.
    pub(crate) last: Option<(Timestamp, String)>,
}

impl ModelService {
    /// Every known model that the tenant allows, in the order of the configuration.
    pub async fn models(&self, scope: TenantScope) -> Result<Vec<ModelView>> {
        let policy = self.inner.policy(scope).await?;
        let registry = self.inner.listed().await;
        let all = registry.all(ModelKind::Chat).chain(registry.all(ModelKind::Embedding));
        Ok(all.filter(|candidate| policy::allows(&policy, candidate.provider.name())).map(view).collect())
    }

    /// The model that can be named so; `None` when its provider has a list without it, or the tenant does not allow the
    /// provider.
    pub async fn named(&self, scope: TenantScope, name: &str) -> Result<Option<ModelView>> {
        let policy = self.inner.policy(scope).await?;
        let registry = self.inner.listed().await;
        let found = [ModelKind::Chat, ModelKind::Embedding].map(|kind| registry.find(name, kind));
        // Of a provider without a list nobody knows what it has.
        let exists = |found: &Candidate| found.is_listed() || found.provider.models().is_empty();
        let found = found.into_iter().flatten().filter(exists).min_by_key(|found| !found.is_listed());
        Ok(found.filter(|candidate| policy::allows(&policy, candidate.provider.name())).map(view))
    }

    pub(crate) fn health(&self) -> Vec<ProviderHealth> {
        let providers = self.inner.registry.providers().iter();
        let health = |one: &Arc<Provider>| ProviderHealth {
            provider: one.name().to_owned(),
            breaker: one.health(),
            last: one.last_failure(),
        };
        providers.map(health).collect()
    }

    /// The names of the providers whose models converse.
    #[must_use]
    pub fn providers(&self) -> Vec<String> {
        let registry = &self.inner.registry;
        registry.conversing().map(|provider| provider.name().to_owned()).collect()
    }

    /// Whether there is any model that converses.
    pub(crate) fn converses(&self) -> bool {
        self.inner.registry.conversing().next().is_some()
    }

    /// For those to whom the server's own words are no answer.
    ///
    /// # Errors
    /// `UNPROCESSABLE` when no model that converses is configured.
    pub fn there_is_one(&self) -> Result<()> {
        if self.converses() { Ok(()) } else { Err(refused(&Unroutable::NoProvider)) }
    }

    /// What an operator has set.
    #[must_use]
    pub fn settings(&self) -> &ModelSettings {
        &self.inner.settings
    }

    /// How many tokens the model that a route chooses takes in; `None` when nobody knows.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown model; `UNPROCESSABLE` when no model can do it; `PERMISSION_DENIED` when the tenant
    /// allows none that could.
    pub(crate) async fn window(&self, scope: TenantScope, by: &Route, needs: Abilities) -> Result<Option<u64>> {
        let found = self.able(scope, by, needs).await?.map_err(|why| refused(&why))?;
        Ok(found.first().and_then(|candidate| candidate.spec.window))
    }

    /// Whether there is a model to ask that can do this.
    pub(crate) async fn can(&self, scope: TenantScope, by: &Route, needs: Abilities) -> Result<bool> {
        Ok(self.able(scope, by, needs).await?.is_ok())
    }

    async fn able(
        &self,
        scope: TenantScope,
        by: &Route,
        needs: Abilities,
    ) -> Result<Result<Vec<Candidate>, route::Unroutable>> {
        let inner = &self.inner;
        let wanted = route::RouteLimits { needs, tokens: 0, policy: inner.policy(scope).await? };
        let by = if *by == Route::Default { &inner.settings.default } else { by };
        Ok(inner.candidates(by, &wanted, &[]).await)
    }

    /// Asks for a whole reply.
    ///
    /// # Errors
    /// `BUDGET_EXCEEDED`; `NOT_FOUND` for an unknown model; `UNPROCESSABLE` when no model can do it; `RATE_LIMITED`,
    /// `TIMEOUT` or `MODEL_ERROR` when the providers fail, with every try in the details.
    ///
    /// # Cancel safety
    /// Dropping the future ends the request; what it may have cost is settled at its estimate.
    pub async fn complete(&self, caller: &CallContext, ask: Ask) -> Result<AnsweredCall> {
        self.choose(caller, ask).await?.reserved().await?.complete().await
    }

    /// Asks for a reply in pieces. Returns when the first piece is there; from then on nobody else is asked.
    ///
    /// # Errors
    /// The same as of [`ModelService::complete`].
    pub async fn stream(&self, caller: &CallContext, ask: Ask) -> Result<Streaming> {
        self.choose(caller, ask).await?.reserved().await?.stream().await
    }

    /// Turns texts into vectors.
    ///
    /// # Errors
    /// The same as of [`ModelService::complete`].
    pub async fn embed(
        &self,
        caller: &CallContext,
        model: &str,
        mut request: EmbedRequest,
    ) -> Result<(Embedded, String)> {
        let model = if model.is_empty() { BUILT_IN } else { model };
        let found = self.inner.find(|registry| registry.find(model, ModelKind::Embedding)).await;
        let candidate = found.ok_or_else(|| refused(&self.inner.registry.missing(model)))?;
        let provider = candidate.provider.name();
        if !policy::allows(self.inner.policy(caller.scope).await?.as_ref(), provider) {
            return Err(refused(&Unroutable::NotAllowed(provider.to_owned())));
        }
        request.model.clone_from(&candidate.spec.name);
        request.traceparent.clone_from(&caller.traceparent);
        let bytes: u64 = request.texts.iter().map(|text| u64::try_from(text.len()).unwrap_or(u64::MAX)).sum();
        let timeouts = self.inner.settings.timeouts;
        let mut run = ModelRun::new(&self.inner, caller.clone(), SpendKind::Embedding, timeouts.whole);
        run.about = estimate::of_bytes(bytes);
        run.set_input(&request.texts);
        self.inner.again.earn();
        let mut retry = 0;
        loop {
            run.hold(&candidate, bytes + 8, 0).await?;
            if !run.may_ask(&candidate) {
                return Err(run.give_up());
            }
            let begun = self.inner.clock.now();
            match candidate.provider.model.embed(&request, timeouts.within(run.left())).await {
                Ok(embedded) => {
                    candidate.provider.succeeded(self.inner.clock.now().since(begun));
                    let known = TokenUsage { input: run.about, estimated: true, ..TokenUsage::default() };
                    run.settle(&candidate, embedded.usage.unwrap_or(known), None);
                    return Ok((embedded, candidate.key()));
                }
                Err(failure) => match run.failed(&candidate, failure, &mut retry).await {
                    AfterFailure::RetrySame => {}
                    AfterFailure::TryNext => return Err(run.give_up()),
                },
            }
        }
    }

    /// The amount that a call takes at most.
    pub(crate) fn most(candidate: &Candidate, input: u64, output: u64) -> Result<Amount> {
        let cost = match candidate.spec.prices {
            Some(prices) => prices.most(input, output),
            None if candidate.provider.free => kybern_core::money::NanoUsd(0),
            None => {
                let message = format!(
                    "the price of {} is not known, so no budget can hold it: name it in the models of its provider, \
                     with its prices",
                    candidate.key()
                );
                return Err(Error::new(ErrorCode::Unprocessable, message));
            }
        };
        Ok(Amount::new(cost, Tokens(input.saturating_add(output)), 1))
    }
}

fn view(candidate: Candidate) -> ModelView {
    ModelView {
        key: candidate.key(),
        provider: candidate.provider.name().to_owned(),
        spec: (*candidate.spec).clone(),
        health: candidate.provider.health(),
        latency: candidate.provider.latency(),
    }
}

impl ModelService {
    /// Puts the service together.
    pub(crate) fn new(inner: ServiceParts) -> Self {
        Self { inner: Arc::new(inner) }
    }
}
