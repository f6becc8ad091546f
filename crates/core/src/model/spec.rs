//! What is known of a model: its window, its prices, what it can do.

use serde::{Deserialize, Serialize};

use super::reply::TokenUsage;
use super::request::Abilities;
use crate::money::{MAX_COST, NanoUsd};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// It converses.
    #[default]
    Chat,
    /// It turns texts into vectors.
    Embedding,
}

/// Prices in nano-dollars per million tokens: $3.00 per million is 3,000,000,000.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Prices {
    /// Tokens read.
    pub input: u64,
    /// Tokens read out of the provider's cache; `input` when it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Tokens written into the provider's cache; `input` when it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Tokens written.
    pub output: u64,
}

/// Tokens to which prices belong.
const PER: u128 = 1_000_000;

impl Prices {
    /// What those tokens cost, rounded up to a whole nano-dollar.
    #[must_use]
    pub fn cost(&self, usage: &TokenUsage) -> NanoUsd {
        let cached = usage.cached_input.min(usage.input);
        let written = usage.cache_write.min(usage.input - cached);
        let plain = usage.input - cached - written;
        let parts = [
            (plain, self.input),
            (cached, self.cached.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
            (usage.output, self.output),
        ];
        let sum = parts.into_iter().map(|(tokens, price)| u128::from(tokens) * u128::from(price));
        // Four products of 64 bits each fit into 128 only just; a sum past that is past all money.
        let sum = sum.fold(0, u128::saturating_add);
        i64::try_from(sum.div_ceil(PER)).map_or(MAX_COST, NanoUsd).min(MAX_COST)
    }

    /// The most that so many tokens can cost, whatever the provider's cache does.
    #[must_use]
    pub fn most(&self, input: u64, output: u64) -> NanoUsd {
        let dearest = self.input.max(self.cached.unwrap_or(0)).max(self.cache_write.unwrap_or(0));
        let prices = Self { input: dearest, cached: None, cache_write: None, output: self.output };
        prices.cost(&TokenUsage { input, output, ..TokenUsage::default() })
    }

    /// One number by which models are compared: three tokens read for one written, as conversations go.
    #[must_use]
    pub const fn blended(&self) -> u64 {
        self.input.saturating_mul(3).saturating_add(self.output) / 4
    }
}

/// A model as its provider lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedModel {
    /// The provider's own name of it.
    pub name: String,
    /// What it costs, where the list says so.
    pub prices: Option<Prices>,
}

impl ListedModel {
    /// One of which the list says no more than its name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), prices: None }
    }
}

/// What is known of a model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelSpec {
    /// The provider's own name of it.
    pub name: String,
    #[serde(default)]
    pub kind: ModelKind,
    /// How many tokens it takes in, the reply included; `None` when nobody said.
    #[serde(default)]
    pub window: Option<u64>,
    /// How many tokens it writes at most.
    #[serde(default)]
    pub max_output: Option<u64>,
    /// What it costs; `None` when nobody said.
    #[serde(default)]
    pub prices: Option<Prices>,
    /// What it can do.
    #[serde(default, flatten)]
    pub abilities: Abilities,
    /// How good it is, from 1 to 100; `None` for models that are not chosen by themselves.
    #[serde(default)]
    pub quality: Option<u8>,
}

impl ModelSpec {
    /// A model of which no more than its name is known.
    pub fn unknown(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: ModelKind::Chat,
            window: None,
            max_output: None,
            prices: None,
            abilities: Abilities { functions: true, images: true, json_schema: true, reasoning: true },
            quality: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// $3 and $15 a million, $0.30 from the cache, $3.75 into it.
    const PRICES: Prices = Prices {
        input: 3_000_000_000,
        cached: Some(300_000_000),
        cache_write: Some(3_750_000_000),
        output: 15_000_000_000,
    };

    fn usage(input: u64, cached_input: u64, cache_write: u64, output: u64) -> TokenUsage {
        TokenUsage { input, cached_input, cache_write, output, ..TokenUsage::default() }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        for (used, nanos) in [
            (usage(1_000_000, 0, 0, 0), 3_000_000_000),
            (usage(1_000_000, 1_000_000, 0, 0), 300_000_000),
            (usage(1_000_000, 0, 1_000_000, 0), 3_750_000_000),
            (usage(0, 0, 0, 1_000), 15_000_000),
            (usage(1_000, 400, 100, 10), 500 * 3_000 + 400 * 300 + 100 * 3_750 + 10 * 15_000),
            (usage(0, 0, 0, 0), 0),
        ] {
            assert_eq!(PRICES.cost(&used), NanoUsd(nanos), "{used:?}");
        }
    }

    #[test]
    fn a_part_of_a_nano_dollar_counts_as_one_and_nonsense_does_not_overflow() {
        let cheap = Prices { input: 37_500_000, ..Prices::default() };
        assert_eq!(cheap.cost(&usage(1, 0, 0, 0)), NanoUsd(38));
        assert_eq!(PRICES.cost(&usage(10, 50, 50, 0)), NanoUsd(3_000), "more cached than read counts as all cached");
        let most = Prices { input: u64::MAX, cached: None, cache_write: None, output: u64::MAX };
        assert_eq!(most.cost(&usage(u64::MAX, 0, 0, u64::MAX)), MAX_COST);
    }

    #[test]
    fn the_most_is_never_less_than_the_cost() {
        for cached in [0, 100, 500] {
            for written in [0, 200, 500] {
                let cost = PRICES.cost(&usage(500, cached, written, 70));
                assert!(PRICES.most(500, 70) >= cost);
            }
        }
    }
}
