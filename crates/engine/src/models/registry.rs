//! The configured providers and what is known of their models.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use kybern_core::id::TaskId;
use kybern_core::model::{ModelFailure, ModelFailureKind, ModelKind, ModelSpec};
use kybern_core::ports::LanguageModel;
use kybern_core::time::{Millis, Timestamp};

use super::listing::ModelListing;
use super::route::Unroutable;
use crate::breaker::Breaker;

/// A provider as the configuration makes it.
#[derive(Clone)]
pub struct ProviderParts {
    /// Asks it.
    pub model: Arc<dyn LanguageModel>,
    /// What is known of its models. The first conversational one is its default. Where there are none and `others` may
    /// be named, the provider is asked for its list.
    pub models: Vec<ModelSpec>,
    /// Whether a model that is not listed may be named.
    pub others: bool,
    /// Whether what is not priced costs nothing, because the provider is one's own.
    pub free: bool,
}

/// How a provider has done lately.
#[derive(Default)]
struct ProviderRecord {
    breaker: Breaker,
    /// What it failed with last, and when, as long as it has not answered since.
    last: Option<(Timestamp, String)>,
    /// Whose questions failed since its last answer, where they were one asker's.
    asker: Option<String>,
    /// The trees of tasks whose failures are counted since then.
    trees: Vec<TaskId>,
}

/// A call that failed, as its provider's breaker counts it.
pub(crate) struct FailedCall<'a> {
    /// Who asked.
    pub(crate) asker: &'a str,
    /// The first task of the tree for which it was asked.
    pub(crate) tree: Option<TaskId>,
    /// Whether it is another try of a question that has failed here before.
    pub(crate) again: bool,
    /// Whether it had less time than a provider is given to begin its answer.
    pub(crate) cut_short: bool,
}

/// A provider at work.
pub(crate) struct Provider {
    pub(crate) model: Arc<dyn LanguageModel>,
    models: RwLock<Arc<[Arc<ModelSpec>]>>,
    pub(crate) others: bool,
    pub(crate) free: bool,
    /// How it stands with its own list, where that is what is known of its models.
    pub(crate) listing: Option<ModelListing>,
    standing: Mutex<ProviderRecord>,
    /// Milliseconds to the first piece of an answer, smoothed; 0 before the first.
    latency: AtomicU64,
}

impl Provider {
    fn new(parts: ProviderParts) -> Self {
        let listing = (parts.others && parts.models.is_empty()).then(ModelListing::default);
        Self {
            model: parts.model,
            models: RwLock::new(parts.models.into_iter().map(Arc::new).collect()),
            others: parts.others,
            listing,
            free: parts.free,
            standing: Mutex::default(),
            latency: AtomicU64::new(0),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.model.provider()
    }

    /// What is known of its models.
    pub(crate) fn models(&self) -> Arc<[Arc<ModelSpec>]> {
        Arc::clone(&self.models.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// These are its models from now on.
    pub(crate) fn set_models(&self, models: Vec<ModelSpec>) {
        let models = models.into_iter().map(Arc::new).collect();
        *self.models.write().unwrap_or_else(PoisonError::into_inner) = models;
    }

    /// Whether anybody knows what a model of it costs; where one's own provider says nothing, it costs nothing.
    pub(crate) fn is_priced(&self, spec: &ModelSpec) -> bool {
        spec.prices.is_some() || self.free
    }

    fn standing(&self) -> std::sync::MutexGuard<'_, ProviderRecord> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the breaker lets a call through; if so, the call has to tell its end.
    pub(crate) fn may_ask(&self, now: Timestamp) -> bool {
        let mut standing = self.standing();
        let (may, next) = standing.breaker.ask(now);
        standing.breaker = next;
        may
    }

    pub(crate) fn is_open(&self, now: Timestamp) -> bool {
        self.standing().breaker.is_open(now)
    }

    /// Until when it is left alone, where its breaker is open.
    pub(crate) fn open_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.standing().breaker.open_until(now)
    }

    /// How its breaker stands, for people.
    pub(crate) fn health(&self) -> &'static str {
        self.standing().breaker.as_str()
    }

    /// What it failed with last, and when; `None` once it has answered.
    pub(crate) fn last_failure(&self) -> Option<(Timestamp, String)> {
        self.standing().last.clone()
    }

    /// A call began to be answered after that time.
    pub(crate) fn succeeded(&self, first: Millis) {
        let mut standing = self.standing();
        let was_tripped = standing.breaker.is_tripped();
        if standing.breaker != Breaker::Closed {
            *standing = ProviderRecord::default();
        }
        drop(standing);
        if was_tripped {
            tracing::info!(provider = self.name(), "provider of models answers again, circuit breaker closed");
        }
        let known = self.latency.load(Ordering::Relaxed);
        // One fifth of the new: a few calls are enough to learn, and one outlier does not decide.
        let next = if known == 0 { first.0.max(1) } else { (known * 4 + first.0.max(1)) / 5 };
        self.latency.store(next, Ordering::Relaxed);
    }

    /// A call failed. `asker` asked, and `again` says that it is another try of a question that has failed here before:
    /// the breaker counts questions, and of one tree of tasks, such as a turn and its retries, the first. It takes more of them when they are one asker's alone: what they ask may be what the
    /// provider cannot take. Where there is no connection it is not the question. A silence that its caller cut short
    /// tells nothing, unless it is of the call that tries whether the provider is back.
    pub(crate) fn failed(&self, failure: &ModelFailure, call: FailedCall<'_>, now: Timestamp) {
        let FailedCall { asker, tree, again, cut_short } = call;
        let mut standing = self.standing();
        if cut_short && failure.kind == ModelFailureKind::FirstTimeout && !standing.breaker.is_tripped() {
            return;
        }
        if !failure.kind.is_sickness() {
            *standing = ProviderRecord::default();
            return;
        }
        // Its own words are the caller's: they may repeat what was asked.
        let status = failure.status.map(|status| format!(", status {status}")).unwrap_or_default();
        let what = format!("{}{status}", failure.kind.as_str());
        standing.last = Some((now, what.clone()));
        let is_counted = again || tree.is_some_and(|tree| standing.trees.contains(&tree));
        let before = standing.breaker;
        if is_counted && !before.is_tripped() {
            return;
        }
        if !before.is_tripped() {
            standing.trees.extend(tree);
        }
        standing.asker = match (standing.breaker, standing.asker.take()) {
            (Breaker::Closed, _) => Some(asker.to_owned()),
            (_, known) => known.filter(|known| known == asker),
        };
        let may_be_the_question = standing.asker.is_some() && failure.kind != ModelFailureKind::Connect;
        standing.breaker = match may_be_the_question {
            true => standing.breaker.failed_for_one(now),
            false => standing.breaker.failed(now),
        };
        let after = standing.breaker;
        drop(standing);
        if after.is_tripped() && !before.is_tripped() {
            tracing::warn!(provider = self.name(), failure = what, "provider of models fails, circuit breaker open");
        } else if before == Breaker::Closed {
            tracing::warn!(provider = self.name(), failure = what, "provider of models has failed");
        }
    }

    /// The smoothed time to the first piece; `None` before the first call.
    pub(crate) fn latency(&self) -> Option<Millis> {
        Some(self.latency.load(Ordering::Relaxed)).filter(|ms| *ms > 0).map(Millis)
    }
}

/// A model at a provider.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) provider: Arc<Provider>,
    pub(crate) spec: Arc<ModelSpec>,
}

impl Candidate {
    /// `provider/model`.
    pub(crate) fn key(&self) -> String {
        format!("{}/{}", self.provider.name(), self.spec.name)
    }

    /// Whether its provider is known to have it, and not only said to.
    pub(crate) fn is_listed(&self) -> bool {
        self.provider.models().contains(&self.spec)
    }
}

/// Every provider, in the order of the configuration.
#[derive(Default)]
pub(crate) struct ModelRegistry {
    providers: Vec<Arc<Provider>>,
}

impl ModelRegistry {
    pub(crate) fn new(parts: Vec<ProviderParts>) -> Self {
        Self { providers: parts.into_iter().map(|parts| Arc::new(Provider::new(parts))).collect() }
    }

    /// The names of all providers.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.providers.iter().map(|provider| provider.name())
    }

    pub(crate) fn providers(&self) -> &[Arc<Provider>] {
        &self.providers
    }

    /// The providers that can be asked to converse.
    pub(crate) fn conversing(&self) -> impl Iterator<Item = &Arc<Provider>> {
        let converses = |spec: &Arc<ModelSpec>| spec.kind == ModelKind::Chat;
        self.providers.iter().filter(move |provider| provider.others || provider.models().iter().any(converses))
    }

    /// Every known model of a kind.
    pub(crate) fn all(&self, kind: ModelKind) -> impl Iterator<Item = Candidate> {
        let of = move |provider: &Arc<Provider>| {
            let models = provider.models();
            let specs = models.iter().filter(|spec| spec.kind == kind).map(Arc::clone);
            specs.map(|spec| Candidate { provider: Arc::clone(provider), spec }).collect::<Vec<_>>()
        };
        self.providers.iter().flat_map(of)
    }

    /// Why [`ModelRegistry::find`] finds nothing of that name.
    pub(crate) fn missing(&self, name: &str) -> Unroutable {
        let has = |provider: &&Arc<Provider>| provider.models().iter().any(|spec| spec.name == name);
        let having: Vec<String> = self.providers.iter().filter(has).map(|one| one.name().to_owned()).collect();
        match having.as_slice() {
            [] | [_] => Unroutable::Unknown(name.to_owned()),
            _several => Unroutable::Several(name.to_owned(), having),
        }
    }

    /// The model that is named so: `provider/model`, `provider` for its default, or a bare name that only one provider
    /// has.
    pub(crate) fn find(&self, name: &str, kind: ModelKind) -> Option<Candidate> {
        let known = |provider: &Arc<Provider>, model: &str| {
            let spec = provider.models().iter().find(|spec| spec.name == model && spec.kind == kind).map(Arc::clone);
            let other = || provider.others.then(|| Arc::new(ModelSpec { kind, ..ModelSpec::unknown(model) }));
            spec.or_else(other).map(|spec| Candidate { provider: Arc::clone(provider), spec })
        };
        let named = |wanted: &str| self.providers.iter().find(|provider| provider.name() == wanted);
        // Names of models have slashes too: what begins with a provider's name is that one's.
        if let Some((provider, model)) = name.split_once('/')
            && let Some(provider) = named(provider)
        {
            // As `openrouter/auto` of the provider `openrouter` is called.
            let lists = |wanted: &str| provider.models().iter().any(|spec| spec.name == wanted && spec.kind == kind);
            let found = known(provider, if lists(name) && !lists(model) { name } else { model });
            if found.is_some() {
                return found;
            }
        }
        let has = |provider: &&Arc<Provider>| provider.models().iter().any(|spec| spec.name == name);
        let mut having = self.providers.iter().filter(has);
        if let (Some(only), None) = (having.next(), having.next()) {
            return known(only, name);
        }
        if let Some(provider) = named(name) {
            let models = provider.models();
            let of_kind = || models.iter().filter(|spec| spec.kind == kind);
            // One that strategies choose, where there is one.
            let is_choice = |spec: &&Arc<ModelSpec>| spec.quality.is_some() && provider.is_priced(spec);
            let spec = of_kind().find(is_choice).or_else(|| of_kind().next()).map(Arc::clone)?;
            return Some(Candidate { provider: Arc::clone(provider), spec });
        }
        None
    }
}
