//! Which models are asked, and in which order. Pure: what is measured comes in as numbers.

use std::sync::Arc;

use kybern_core::error::{Error, ErrorCode};
use kybern_core::model::{Abilities, ModelFailure, ModelKind, ModelPolicy, ModelRequest};
use kybern_core::time::{Millis, Timestamp};

use super::policy;
use super::registry::{Candidate, ModelRegistry};

/// By what a model is chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// This one: a key of the registry.
    Named(String),
    /// The one that costs least.
    Cheapest,
    /// The one whose provider answered fastest lately.
    Fastest,
    /// The one of the highest quality.
    Smartest,
    /// The smartest of those that think before they answer; the smartest of all where none does.
    Reasoning,
    /// Much quality for the money.
    Balanced,
    /// What the operator has set for those who do not say.
    Default,
    /// The providers in their order.
    Fallback,
}

impl Route {
    /// The route that a caller names: a strategy, or else a model.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name {
            "cheapest" => Self::Cheapest,
            "fastest" => Self::Fastest,
            "smartest" => Self::Smartest,
            "reasoning" => Self::Reasoning,
            "balanced" => Self::Balanced,
            "default" | "" => Self::Default,
            "fallback" => Self::Fallback,
            model => Self::Named(model.to_owned()),
        }
    }
}

/// What limits the choice.
#[derive(Clone, Debug, Default)]
pub(crate) struct RouteLimits {
    /// What the model must be able to do.
    pub(crate) needs: Abilities,
    /// The tokens that must fit into its window, the reply included.
    pub(crate) tokens: u64,
    /// The providers that the tenant allows.
    pub(crate) policy: Arc<ModelPolicy>,
}

/// Why nobody can be asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unroutable {
    /// No provider is configured.
    NoProvider,
    /// There is no such model.
    Unknown(String),
    /// These providers have a model of that bare name.
    Several(String, Vec<String>),
    /// The tenant does not allow its provider.
    NotAllowed(String),
    /// The tenant allows none of the configured providers.
    NoneAllowed,
    /// It cannot do what the request asks for.
    Unable(String),
    /// The conversation does not fit into any that could be chosen.
    TooLong(u64),
    /// None can do what the request asks for.
    NoneAble,
    /// No model that a strategy could choose is known.
    NoneListed,
    /// No model is known, because a provider did not give the list of its own.
    Unlisted(ModelFailure),
}

/// The models to be asked, the first first. `chain` are the keys of the configured fallbacks, which follow a named
/// model and a strategy's own choice.
pub(crate) fn candidates(
    registry: &ModelRegistry,
    route: &Route,
    wanted: &RouteLimits,
    chain: &[String],
    now: Timestamp,
) -> Result<Vec<Candidate>, Unroutable> {
    if registry.conversing().next().is_none() {
        return Err(Unroutable::NoProvider);
    }
    let may = |name: &str| policy::allows(&wanted.policy, name);
    if !registry.conversing().any(|provider| may(provider.name())) {
        return Err(Unroutable::NoneAllowed);
    }
    let allowed = |candidate: &Candidate| may(candidate.provider.name());
    let mut chosen = match route {
        Route::Named(name) => vec![named(registry, name, wanted, &allowed)?],
        Route::Cheapest
        | Route::Fastest
        | Route::Smartest
        | Route::Reasoning
        | Route::Balanced
        | Route::Default
        | Route::Fallback => by_strategy(registry, route, wanted, &allowed)?,
    };
    for key in chain {
        let next = registry.find(key, ModelKind::Chat).filter(|next| {
            allowed(next) && is_priced(next) && next.spec.abilities.cover(wanted.needs) && fits(next, wanted.tokens)
        });
        chosen.extend(next.filter(|next| chosen.iter().all(|known| known.key() != next.key())));
    }
    // Whoever is left alone for now comes last; when all are, the call fails and says so.
    chosen.sort_by_key(|candidate| candidate.provider.is_open(now));
    Ok(chosen)
}

fn named(
    registry: &ModelRegistry,
    name: &str,
    wanted: &RouteLimits,
    allowed: &impl Fn(&Candidate) -> bool,
) -> Result<Candidate, Unroutable> {
    let found = registry.find(name, ModelKind::Chat).ok_or_else(|| registry.missing(name))?;
    if !allowed(&found) {
        return Err(Unroutable::NotAllowed(found.provider.name().to_owned()));
    }
    if !found.spec.abilities.cover(wanted.needs) {
        return Err(Unroutable::Unable(found.key()));
    }
    Ok(found)
}

fn fits(candidate: &Candidate, tokens: u64) -> bool {
    candidate.spec.window.is_none_or(|window| tokens <= window)
}

fn is_priced(candidate: &Candidate) -> bool {
    candidate.provider.is_priced(&candidate.spec)
}

fn by_strategy(
    registry: &ModelRegistry,
    route: &Route,
    wanted: &RouteLimits,
    allowed: &impl Fn(&Candidate) -> bool,
) -> Result<Vec<Candidate>, Unroutable> {
    let mut able: Vec<Candidate> = registry
        .all(ModelKind::Chat)
        .filter(|candidate| candidate.spec.quality.is_some() && is_priced(candidate) && allowed(candidate))
        .collect();
    if able.is_empty() {
        return Err(Unroutable::NoneListed);
    }
    able.retain(|candidate| candidate.spec.abilities.cover(wanted.needs));
    if able.is_empty() {
        return Err(Unroutable::NoneAble);
    }
    let mut fitting: Vec<Candidate> = able.into_iter().filter(|candidate| fits(candidate, wanted.tokens)).collect();
    if fitting.is_empty() {
        return Err(Unroutable::TooLong(wanted.tokens));
    }
    let quality = |candidate: &Candidate| u64::from(candidate.spec.quality.unwrap_or(0));
    let price = |candidate: &Candidate| candidate.spec.prices.map_or(0, |prices| prices.blended());
    match route {
        Route::Cheapest => fitting.sort_by_key(|candidate| (price(candidate), std::cmp::Reverse(quality(candidate)))),
        Route::Fastest => {
            // Whoever has not been measured yet is worth a try, after those that are known to be quick.
            let unknown = Millis(1_500);
            fitting.sort_by_key(|candidate| (candidate.provider.latency().unwrap_or(unknown), price(candidate)));
        }
        Route::Smartest => fitting.sort_by_key(|candidate| (std::cmp::Reverse(quality(candidate)), price(candidate))),
        Route::Reasoning => fitting.sort_by_key(|candidate| {
            let thinks = candidate.spec.abilities.reasoning;
            (std::cmp::Reverse((thinks, quality(candidate))), price(candidate))
        }),
        Route::Balanced | Route::Default | Route::Named(_) => {
            fitting.sort_by_key(|candidate| std::cmp::Reverse(worth(quality(candidate), price(candidate))))
        }
        // The sort keeps the order of the configuration, and within a provider that of its models.
        Route::Fallback => {
            let mut seen: Vec<String> = Vec::new();
            fitting.retain(|candidate| {
                let first = !seen.iter().any(|name| name == candidate.provider.name());
                seen.push(candidate.provider.name().to_owned());
                first
            });
        }
    }
    Ok(fitting)
}

/// The error of a question that no model is asked.
pub(crate) fn refused(why: &Unroutable) -> Error {
    let unprocessable = |message: String| Error::new(ErrorCode::Unprocessable, message);
    match why {
        Unroutable::NoProvider => unprocessable(
            "no language model is configured, and the offline rules cannot write: set OPENAI_API_KEY, \
             ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY or OLLAMA_HOST, or a [providers.NAME]"
                .to_owned(),
        ),
        Unroutable::Unknown(model) => {
            Error::new(ErrorCode::NotFound, format!("there is no model {model:?}; GET /v1/models lists them"))
        }
        Unroutable::Several(model, providers) => {
            let names: Vec<String> = providers.iter().map(|provider| format!("{provider}/{model}")).collect();
            unprocessable(format!("several providers have a model {model:?}: name it as {}", names.join(" or ")))
        }
        Unroutable::NotAllowed(provider) => {
            let message = format!(
                "this tenant does not allow the provider {provider}: an admin may, with PUT /api/models/policy"
            );
            Error::new(ErrorCode::PermissionDenied, message)
        }
        Unroutable::NoneAllowed => Error::new(
            ErrorCode::PermissionDenied,
            "this tenant allows none of the configured providers: an admin may, with PUT /api/models/policy",
        ),
        Unroutable::Unable(model) => {
            unprocessable(format!("{model} cannot do what the request asks for: tools, images or a JSON schema"))
        }
        Unroutable::NoneAble => unprocessable(
            "no configured model can do what the request asks for: tools, images or a JSON schema".to_owned(),
        ),
        Unroutable::NoneListed => unprocessable(
            "no provider lists a model that could be chosen: load one there, name it as provider/model, or set models, with \
             their prices, in its section"
                .to_owned(),
        ),
        Unroutable::Unlisted(failure) => {
            let (said, provider) = (&failure.message, &failure.provider);
            let message = format!(
                "{said}, so its models are not known: name one as {provider}/MODEL, or set models in \
                 [providers.{provider}]"
            );
            Error::from(ModelFailure { message, ..failure.clone() })
        }
        Unroutable::TooLong(tokens) => unprocessable(format!(
            "about {tokens} tokens fit into no configured model's window: ask with less, or configure a model with a larger one"
        )),
    }
}

/// Quality squared for each doubling of the price above ten cents a million: twice the price has to buy visibly more.
fn worth(quality: u64, price: u64) -> u64 {
    let cents = price / 100_000_000;
    let doublings = u64::from(u64::BITS - cents.leading_zeros());
    quality * quality * 100 / (4 + doublings)
}

/// What a request needs of a model, with the tokens that it takes at most.
pub(crate) fn wanted(request: &ModelRequest, tokens: u64, policy: Arc<ModelPolicy>) -> RouteLimits {
    RouteLimits { needs: request.needs(), tokens, policy }
}

#[cfg(test)]
mod tests {
    use kybern_core::agent::STRATEGIES;

    use super::*;

    #[test]
    fn a_strategy_that_is_named_is_not_the_operators_default() {
        assert_eq!(Route::parse("balanced"), Route::Balanced);
        assert_eq!([Route::parse(""), Route::parse("default")], [Route::Default, Route::Default]);
        assert!(STRATEGIES.iter().all(|name| !matches!(Route::parse(name), Route::Named(_) | Route::Default)));
        assert_eq!(Route::parse("openai/gpt-5.4"), Route::Named("openai/gpt-5.4".to_owned()));
    }

    #[test]
    fn twice_the_price_has_to_buy_visibly_more() {
        // A dollar a million at quality 85 against fifteen at 95 and ten cents at 30.
        let (fair, dear, cheap) = (worth(85, 1_750_000_000), worth(95, 30_000_000_000), worth(30, 175_000_000));
        assert!(fair > dear && fair > cheap, "{fair} {dear} {cheap}");
        assert!(worth(50, 0) > worth(50, u64::MAX), "what costs beyond measure comes last");
    }
}
