//! Providers whose models nobody has listed: they are asked for their lists.
//!
//! A provider is asked when somebody wants a model, not on a timer: a server that nobody asks anything asks nobody. A
//! question waits for a list only where it cannot be answered without one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kybern_core::model::{ListedModel, ModelFailure, ModelFailureKind, ModelKind, ModelSpec, ModelTimeouts};
use kybern_core::ports::Clock;
use kybern_core::time::{Millis, Timestamp};
use tokio::sync::OwnedMutexGuard;

use super::policy;
use super::registry::{Candidate, ModelRegistry, Provider};
use super::route::{self, Route, RouteLimits, Unroutable};
use super::service::ServiceParts;

/// How long a list is taken as it is. Models come and go by the day.
const FRESH: Millis = Millis::from_secs(600);
/// After how long a provider that gave no list is asked for it once more.
const AGAIN: Millis = Millis::from_secs(5);
/// How long a provider may take for its list; a server that stops waits for it.
const PATIENCE: Millis = Millis::from_secs(5);
/// How long a question waits for a list.
const WAIT: Duration = Duration::from_secs(3);
/// The quality of a model that nobody has judged, so that strategies find it: the middle of the scale.
const UNJUDGED: u8 = 50;
/// Parts of names by which models that make vectors are known; lists say nothing else of them.
const EMBEDDING: [&str; 5] = ["embed", "bge-", "gte-", "e5-", "minilm"];
/// Parts of names of models that do not converse. They can be named, and no strategy chooses them.
const SILENT: [&str; 8] = ["whisper", "tts", "dall-e", "diffusion", "moderation", "rerank", "transcribe", "guard"];

/// How it stands with a provider's list.
#[derive(Default)]
pub(crate) struct ModelListing {
    state: Mutex<ListingState>,
    /// Held while it is asked for.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct ListingState {
    /// When it is asked for next; `None` before the first time.
    next: Option<Timestamp>,
    /// Why it was not given the last time.
    failure: Option<ModelFailure>,
}

impl ModelListing {
    /// The turn to ask, when it is time and nobody is asking.
    fn due(&self, now: Timestamp) -> Option<OwnedMutexGuard<()>> {
        if self.state().next.is_some_and(|next| now < next) {
            return None;
        }
        Arc::clone(&self.turn).try_lock_owned().ok()
    }

    /// It was asked for. Says whether this is the first time that it was not given.
    fn asked(&self, failure: Option<ModelFailure>, now: Timestamp) -> bool {
        let mut state = self.state();
        let failed = failure.is_some();
        state.next = Some(now.plus(if failed { AGAIN } else { FRESH }));
        std::mem::replace(&mut state.failure, failure).is_none() && failed
    }

    /// Why there is none, or no newer one.
    fn failure(&self, provider: &str) -> Option<ModelFailure> {
        let state = self.state();
        if state.next.is_some() {
            return state.failure.clone();
        }
        Some(ModelFailure::new(ModelFailureKind::FirstTimeout, "it has not given its list yet").of(provider))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ListingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody asks, within limits.
    async fn settled(&self) {
        let _ = tokio::time::timeout(WAIT, self.turn.lock()).await;
    }
}

impl ServiceParts {
    /// Every provider. Those that have no list yet are waited for.
    pub(crate) async fn listed(self: &Arc<Self>) -> &ModelRegistry {
        self.ask_for_lists();
        for listing in self.registry.providers().iter().filter_map(awaited) {
            listing.settled().await;
        }
        &self.registry
    }

    /// What `find` finds, with the lists that are missing where it finds nothing without them.
    pub(crate) async fn find(
        self: &Arc<Self>,
        find: impl Fn(&ModelRegistry) -> Option<Candidate>,
    ) -> Option<Candidate> {
        self.ask_for_lists();
        match find(&self.registry) {
            None => find(self.listed().await),
            found => found,
        }
    }

    /// See [`route::candidates`].
    pub(crate) async fn candidates(
        self: &Arc<Self>,
        route: &Route,
        wanted: &RouteLimits,
        chain: &[String],
    ) -> Result<Vec<Candidate>, Unroutable> {
        self.ask_for_lists();
        let choose = |registry: &ModelRegistry| route::candidates(registry, route, wanted, chain, self.clock.now());
        match choose(&self.registry) {
            Err(Unroutable::NoneAble | Unroutable::NoneListed | Unroutable::Unknown(_)) => {
                choose(self.listed().await).map_err(|why| self.explained(why, wanted))
            }
            chosen => chosen,
        }
    }

    /// Why nobody can be asked. That a model is unknown means nothing while no list was given that could name it.
    fn explained(&self, why: Unroutable, wanted: &RouteLimits) -> Unroutable {
        let asked = || self.registry.conversing().filter(|provider| policy::allows(&wanted.policy, provider.name()));
        let is_unknown = matches!(why, Unroutable::Unknown(_) | Unroutable::NoneListed);
        if !is_unknown || asked().any(|provider| !provider.models().is_empty()) {
            return why;
        }
        let failure = asked().find_map(|provider| provider.listing.as_ref()?.failure(provider.name()));
        failure.map_or(why, Unroutable::Unlisted)
    }

    /// Has the lists asked for that are due.
    fn ask_for_lists(self: &Arc<Self>) {
        let now = self.clock.now();
        for provider in self.registry.providers() {
            let Some(turn) = provider.listing.as_ref().and_then(|listing| listing.due(now)) else { continue };
            let (clock, provider) = (Arc::clone(&self.clock), Arc::clone(provider));
            // On its own: whoever wanted a model may leave, and others wait for the same list.
            self.spawned.spawn(async move {
                ask_for_list(&provider, clock.as_ref()).await;
                drop(turn);
            });
        }
    }
}

async fn ask_for_list(provider: &Provider, clock: &dyn Clock) {
    let answered = provider.model.models(ModelTimeouts::DEFAULT.within(PATIENCE)).await;
    let Some(listing) = &provider.listing else { return };
    let first_failure = listing.asked(answered.as_ref().err().cloned(), clock.now());
    match answered {
        Ok(models) => provider.set_models(models.into_iter().map(|model| spec_of(model, provider.free)).collect()),
        // The list that it gave before holds until it gives another.
        Err(failure) if first_failure => {
            let (provider, failure) = (provider.name(), failure.to_string());
            tracing::warn!(provider, failure, "the provider gives no list of its models");
        }
        Err(_) => {}
    }
}

/// A listing that nobody has got yet.
fn awaited(provider: &Arc<Provider>) -> Option<&ModelListing> {
    provider.listing.as_ref().filter(|_| provider.models().is_empty())
}

/// What is known of a model that is only listed. `free` is whether what has no price costs nothing: elsewhere it cannot
/// be asked, so no strategy chooses it.
fn spec_of(ListedModel { name, prices }: ListedModel, free: bool) -> ModelSpec {
    let lower = name.to_lowercase();
    let is = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let silent = is(&SILENT);
    let kind = if !silent && is(&EMBEDDING) { ModelKind::Embedding } else { ModelKind::Chat };
    let quality = (!silent && (free || prices.is_some())).then_some(UNJUDGED);
    ModelSpec { kind, prices, quality, ..ModelSpec::unknown(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_model_is_for() {
        let of = |name: &str| {
            let spec = spec_of(ListedModel::named(name), true);
            (spec.kind, spec.quality.is_some())
        };
        for name in ["llama-3.2-3b-instruct", "gpt-oss-20b", "qwen3:8b", "models/small.gguf"] {
            assert_eq!(of(name), (ModelKind::Chat, true), "{name}");
        }
        for name in ["text-embedding-3-small", "nomic-embed-text", "BAAI/bge-m3", "all-MiniLM-L6-v2"] {
            assert_eq!(of(name), (ModelKind::Embedding, true), "{name}");
        }
        for name in ["whisper-1", "tts-1-hd", "dall-e-3", "bge-reranker-v2-m3", "omni-moderation-latest"] {
            assert!(!of(name).1, "{name}");
        }
    }

    #[test]
    fn no_strategy_chooses_what_is_neither_priced_nor_free() {
        let chosen = |prices, free| spec_of(ListedModel { name: "a/b".to_owned(), prices }, free).quality.is_some();
        assert!(
            chosen(Some(kybern_core::model::Prices::default()), false) && chosen(None, true) && !chosen(None, false)
        );
    }
}
