//! What a call of a tool costs: known before it is made, and never by the tool's own word.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::money::{MAX_COST, NanoUsd};
use crate::time::Millis;

words! {
    /// By what a price grows.
    pub enum PriceUnit {
        /// A token of a text, four characters each.
        Token = "token",
        /// A character of a text.
        Character = "character",
        /// A record that is asked for, or an item of a list.
        Record = "record",
        /// A second that the call takes.
        Second = "second",
    }
}

/// A price for each unit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UnitPrice {
    pub unit: PriceUnit,
    /// Nano-dollars for one of them.
    #[cfg_attr(feature = "schema", schema(value_type = i64, minimum = 0, maximum = 10_000_000_000_000_i64))]
    pub nanos: NanoUsd,
    /// The argument that is measured; not needed for seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
}

/// What a call costs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ToolPrice {
    /// Nano-dollars for each call; 0 when left out.
    #[serde(default, alias = "fixed_nanos")]
    #[cfg_attr(feature = "schema", schema(required = false, value_type = i64, minimum = 0, maximum = 10_000_000_000_000_i64))]
    pub fixed_nanos: NanoUsd,
    /// For each unit besides.
    #[serde(default, alias = "per_unit", skip_serializing_if = "Option::is_none")]
    pub per_unit: Option<UnitPrice>,
}

/// The most units that one argument counts for: beyond it the price is that of so many, and no arithmetic overflows.
const MAX_UNITS: u64 = 1_000_000_000;
/// Characters of one token, where nothing counts them better.
const CHARACTERS_PER_TOKEN: u64 = 4;

impl ToolPrice {
    /// A price for each call and nothing else.
    #[must_use]
    pub const fn fixed(nanos: NanoUsd) -> Self {
        Self { fixed_nanos: nanos, per_unit: None }
    }

    /// What a call with these arguments costs: with the time that it may take the most that it can, with the time that
    /// it took what it did.
    #[must_use]
    pub fn cost(&self, args: &Map<String, Value>, time: Millis) -> NanoUsd {
        let unit = self.per_unit.as_ref().map_or(0, |price| {
            let units = i64::try_from(units(price, args, time).min(MAX_UNITS)).unwrap_or(i64::MAX);
            price.nanos.0.max(0).saturating_mul(units)
        });
        NanoUsd(self.fixed_nanos.0.max(0).saturating_add(unit)).min(MAX_COST)
    }

    /// Whether a call costs nothing.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.fixed_nanos.0 <= 0 && self.per_unit.as_ref().is_none_or(|price| price.nanos.0 <= 0)
    }
}

/// How many units arguments hold. A number that a model chose below nothing counts as one.
fn units(price: &UnitPrice, args: &Map<String, Value>, time: Millis) -> u64 {
    let value = price.argument.as_ref().and_then(|name| args.get(name));
    let characters = || match value {
        Some(Value::String(text)) => u64::try_from(text.chars().count()).unwrap_or(u64::MAX),
        Some(Value::Null) | None => 0,
        Some(other) => u64::try_from(other.to_string().len()).unwrap_or(u64::MAX),
    };
    match price.unit {
        PriceUnit::Token => characters().div_ceil(CHARACTERS_PER_TOKEN),
        PriceUnit::Character => characters(),
        PriceUnit::Record => match value {
            Some(Value::Array(items)) => u64::try_from(items.len()).unwrap_or(u64::MAX),
            Some(Value::Number(number)) => match number.as_u64() {
                Some(whole) => whole.max(1),
                // A fraction counts as the next whole number; what is negative as one.
                None => number.as_f64().filter(|count| *count > 1.0).map_or(1, ceiling),
            },
            Some(Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_)) | None => 1,
        },
        PriceUnit::Second => time.0.div_ceil(1_000),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held between 1 and a billion")]
fn ceiling(count: f64) -> u64 {
    count.ceil().clamp(1.0, 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_call_costs_more_than_sums_can_hold_and_no_price_is_misspelt() {
        let dear = ToolPrice::fixed(NanoUsd(i64::MAX));
        assert_eq!(dear.cost(&Map::new(), Millis(0)), MAX_COST);
        assert!(serde_json::from_value::<ToolPrice>(json!({"perCallNanos": 5})).is_err());
    }

    fn price(unit: PriceUnit, nanos: i64) -> ToolPrice {
        let per_unit = UnitPrice { unit, nanos: NanoUsd(nanos), argument: Some("count".to_owned()) };
        ToolPrice { fixed_nanos: NanoUsd(10_000_000), per_unit: Some(per_unit) }
    }

    fn args(count: Value) -> Map<String, Value> {
        Map::from_iter([("count".to_owned(), count)])
    }

    #[test]
    fn a_search_costs_its_fee_and_a_little_for_each_result() {
        let search = price(PriceUnit::Record, 1_000_000);
        assert_eq!(search.cost(&args(json!(5)), Millis(0)), NanoUsd(15_000_000));
        assert_eq!(search.cost(&args(json!(["a", "b"])), Millis(0)), NanoUsd(12_000_000));
        assert_eq!(search.cost(&args(json!(2.5)), Millis(0)), NanoUsd(13_000_000));
    }

    #[test]
    fn no_argument_makes_a_call_cheaper_than_its_fee_or_overflows() {
        let search = price(PriceUnit::Record, 1_000_000);
        for odd in [json!(-50), json!(-0.5), json!(0), json!(null), json!("many"), json!({}), json!(true)] {
            assert_eq!(search.cost(&args(odd.clone()), Millis(0)), NanoUsd(11_000_000), "{odd}");
        }
        let most = price(PriceUnit::Record, i64::MAX).cost(&args(json!(u64::MAX)), Millis(0));
        assert_eq!(most, MAX_COST);
        assert_eq!(ToolPrice::fixed(NanoUsd(-5)).cost(&Map::new(), Millis(0)), NanoUsd(0));
    }

    #[test]
    fn texts_are_measured_in_characters_and_tokens_and_time_in_seconds() {
        let text = args(json!("äöüäöüäöü"));
        assert_eq!(price(PriceUnit::Character, 1).cost(&text, Millis(0)), NanoUsd(10_000_009));
        assert_eq!(price(PriceUnit::Token, 1).cost(&text, Millis(0)), NanoUsd(10_000_003));
        let timed = price(PriceUnit::Second, 1);
        assert_eq!(timed.cost(&text, Millis(30_000)), NanoUsd(10_000_030));
        assert_eq!(timed.cost(&text, Millis(1_001)), NanoUsd(10_000_002));
    }
}
