//! Money and tokens as integers with their units in the type.
//!
//! A nano-dollar is 10⁻⁹ USD: one token of a small model costs less than a micro-dollar.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount of money in nano-dollars.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NanoUsd(pub i64);

/// The most that one call of a tool or a model counts for: ten thousand dollars. What says more is mistaken, and sums of
/// such calls would not fit where they are added up; of this it takes 900,000 in one account.
pub const MAX_COST: NanoUsd = NanoUsd(10_000_000_000_000);

impl fmt::Display for NanoUsd {
    /// Dollars, exactly and without zeros at the end: `$1.25`, `$0.000003`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, nanos) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let (dollars, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        if rest == 0 {
            return write!(f, "{sign}${dollars}");
        }
        let digits = format!("{rest:09}");
        write!(f, "{sign}${dollars}.{}", digits.trim_end_matches('0'))
    }
}

/// A number of model tokens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(pub u64);

/// What was used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Usage {
    /// Tokens read by models.
    #[cfg_attr(feature = "schema", schema(required))]
    pub input_tokens: Tokens,
    /// Tokens written by models.
    #[cfg_attr(feature = "schema", schema(required))]
    pub output_tokens: Tokens,
    /// Nano-dollars.
    #[cfg_attr(feature = "schema", schema(required))]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_written_exactly() {
        for (nanos, text) in [
            (0, "$0"),
            (1, "$0.000000001"),
            (1_250_000_000, "$1.25"),
            (-3_000, "-$0.000003"),
            (i64::MIN, "-$9223372036.854775808"),
        ] {
            assert_eq!(NanoUsd(nanos).to_string(), text);
        }
    }
}
