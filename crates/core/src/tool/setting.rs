//! What a tenant says about a tool: whether it may be used, how risky it is, how often it may be called, what it costs.

use serde::{Deserialize, Serialize};

use super::price::ToolPrice;
use super::spec::Risk;
use crate::budget::RateRule;
use crate::error::Detail;
use crate::money::{MAX_COST, NanoUsd};
use crate::time::{Millis, Timestamp};

/// How often each user may call a tool; what is missing is not limited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ToolLimits))]
pub struct ToolRateLimits {
    /// Within any minute.
    #[serde(alias = "per_minute", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, maximum = 10_000))]
    pub per_minute: Option<u32>,
    /// Within any hour.
    #[serde(alias = "per_hour", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, maximum = 10_000))]
    pub per_hour: Option<u32>,
    /// Within any 24 hours.
    #[serde(alias = "per_day", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, maximum = 10_000))]
    pub per_day: Option<u32>,
}

/// The most calls of a rate.
pub const MAX_CALLS: u32 = 10_000;

impl ToolRateLimits {
    /// So many in a minute.
    #[must_use]
    pub const fn per_minute(calls: u32) -> Self {
        Self { per_minute: Some(calls), per_hour: None, per_day: None }
    }

    /// The rules under which a call by `who` counts.
    pub fn rules<'a, W: Fn() -> String + 'a>(
        &self,
        who: W,
        tool: &'a str,
    ) -> impl Iterator<Item = RateRule> + use<'a, W> {
        let spans = [
            (self.per_minute, "minute", Millis::from_secs(60)),
            (self.per_hour, "hour", Millis::from_secs(3_600)),
            (self.per_day, "day", Millis::from_secs(86_400)),
        ];
        spans.into_iter().filter_map(move |(most, span, window)| {
            most.map(|most| RateRule { key: format!("{}/tool:{tool}/{span}", who()), most, window })
        })
    }
}

/// What a tenant has set about one tool. What is `None` is as the tool itself says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSetting {
    /// The tool's key.
    pub tool: String,
    /// Whether it may be called.
    pub enabled: bool,
    /// How much harm a call can do.
    pub risk: Option<Risk>,
    /// How often it may be called by each user.
    pub limits: Option<ToolRateLimits>,
    /// What it costs.
    pub price: Option<ToolPrice>,
    /// Whether every call asks a person first, whoever makes it.
    pub confirm: bool,
    /// Whether every call asks a second person first: not whoever asked for it, unless `governance.self_approval` is
    /// set.
    #[serde(default)]
    pub four_eyes: bool,
    /// When it was set last.
    pub updated_at: Timestamp,
}

impl ToolSetting {
    /// Nothing said yet.
    #[must_use]
    pub fn of(tool: &str, at: Timestamp) -> Self {
        Self {
            tool: tool.to_owned(),
            enabled: true,
            risk: None,
            limits: None,
            price: None,
            confirm: false,
            four_eyes: false,
            updated_at: at,
        }
    }

    /// What stands in the place of one that nobody can read: the tool is not called. Nobody knows whether its calls asked
    /// before, so they ask two persons once somebody turns it on again, until somebody says otherwise.
    #[must_use]
    pub fn unreadable(tool: &str, at: Timestamp) -> Self {
        Self { enabled: false, confirm: true, four_eyes: true, ..Self::of(tool, at) }
    }

    /// What is wrong with it.
    #[must_use]
    pub fn faults(&self) -> Vec<Detail> {
        let mut faults = Vec::new();
        let limits = self.limits.unwrap_or_default();
        for (name, most) in [("perMinute", limits.per_minute), ("perHour", limits.per_hour), ("perDay", limits.per_day)]
        {
            if most.is_some_and(|most| most > MAX_CALLS) {
                let message = format!("at most {MAX_CALLS} calls, or null for no limit");
                faults.push(Detail::new(format!("/limits/{name}"), message));
            }
        }
        if let Some(price) = &self.price {
            let problem = |nanos: NanoUsd| match nanos {
                nanos if nanos.0 < 0 => Some("a price is not negative".to_owned()),
                nanos if nanos > MAX_COST => {
                    Some(format!("a price is at most {MAX_COST}, {} nano-dollars", MAX_COST.0))
                }
                _fits => None,
            };
            faults.extend(problem(price.fixed_nanos).map(|problem| Detail::new("/price/fixedNanos", problem)));
            if let Some(unit) = &price.per_unit {
                faults.extend(problem(unit.nanos).map(|problem| Detail::new("/price/perUnit/nanos", problem)));
                if unit.argument.is_none() && unit.unit != super::price::PriceUnit::Second {
                    let message = "say which argument is measured";
                    faults.push(Detail::new("/price/perUnit/argument", message));
                }
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_span_has_a_rule_of_its_own() {
        let rate = ToolRateLimits { per_minute: Some(3), per_hour: None, per_day: Some(50) };
        let rules: Vec<RateRule> = rate.rules(|| "user:1".to_owned(), "search").collect();
        let keys: Vec<&str> = rules.iter().map(|rule| rule.key.as_str()).collect();
        assert_eq!(keys, ["user:1/tool:search/minute", "user:1/tool:search/day"]);
        assert_eq!((rules[0].most, rules[1].window), (3, Millis::from_secs(86_400)));
    }
}
