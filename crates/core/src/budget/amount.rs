//! What a call costs in the three units that budgets count.

use serde::{Deserialize, Serialize};

use crate::money::{NanoUsd, Tokens};

/// Money, tokens and calls together. None is ever negative.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Amount {
    #[serde(rename = "costNanos")]
    cost: NanoUsd,
    tokens: Tokens,
    calls: u64,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self { cost: NanoUsd(0), tokens: Tokens(0), calls: 0 };

    /// An amount. A negative cost, as a price or a tool's own word may make it, counts as none.
    #[must_use]
    pub const fn new(cost: NanoUsd, tokens: Tokens, calls: u64) -> Self {
        Self { cost: if cost.0 < 0 { NanoUsd(0) } else { cost }, tokens, calls }
    }

    /// The money.
    #[must_use]
    pub const fn cost(&self) -> NanoUsd {
        self.cost
    }

    /// The tokens, read and written.
    #[must_use]
    pub const fn tokens(&self) -> Tokens {
        self.tokens
    }

    #[must_use]
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    /// Both together; stays at the largest number instead of overflowing.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            cost: NanoUsd(self.cost.0.saturating_add(other.cost.0)),
            tokens: Tokens(self.tokens.0.saturating_add(other.tokens.0)),
            calls: self.calls.saturating_add(other.calls),
        }
    }

    /// Whether it is nothing in every unit.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.cost.0 == 0 && self.tokens.0 == 0 && self.calls == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_never_negative_and_never_overflows() {
        assert_eq!(Amount::new(NanoUsd(-5), Tokens(1), 1).cost(), NanoUsd(0));
        let most = Amount::new(NanoUsd(i64::MAX), Tokens(u64::MAX), u64::MAX);
        assert_eq!(most.plus(Amount::new(NanoUsd(1), Tokens(1), 1)), most);
        assert!(Amount::ZERO.is_zero() && !most.is_zero());
    }
}
