//! Money and tokens as integers with their units in the type.
//!
//! A nano-dollar is 10⁻⁹ USD: one token of a small model costs less than a micro-dollar.

use serde::{Deserialize, Serialize};

/// An amount of money in nano-dollars.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NanoUsd(pub i64);

/// A number of model tokens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(pub u64);

/// What a step, or a whole task, has used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens read by models.
    pub input_tokens: Tokens,
    /// Tokens written by models.
    pub output_tokens: Tokens,
    /// What it cost.
    pub cost_nanos: NanoUsd,
}

impl Usage {
    /// Both together; stays at the largest number instead of overflowing.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: Tokens(self.input_tokens.0.saturating_add(other.input_tokens.0)),
            output_tokens: Tokens(self.output_tokens.0.saturating_add(other.output_tokens.0)),
            cost_nanos: NanoUsd(self.cost_nanos.0.saturating_add(other.cost_nanos.0)),
        }
    }

    /// What is left of it without that; never less than nothing.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        let cost = self.cost_nanos.0.saturating_sub(other.cost_nanos.0);
        Self {
            input_tokens: Tokens(self.input_tokens.0.saturating_sub(other.input_tokens.0)),
            output_tokens: Tokens(self.output_tokens.0.saturating_sub(other.output_tokens.0)),
            cost_nanos: NanoUsd(if cost < 0 { 0 } else { cost }),
        }
    }

    /// Whether nothing was used.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.input_tokens.0 == 0 && self.output_tokens.0 == 0 && self.cost_nanos.0 == 0
    }
}
