//! Between which bounds the amounts of a field can be right.

use serde_json::Value;

use super::ValueKind;
use crate::money::NanoUsd;

/// Billionths of one.
const BILLION: i64 = 1_000_000_000;
/// Digits of a decimal behind the point.
const MAX_FRACTION: usize = 9;

/// The least and the most that an amount can be, in billionths of its unit: of a dollar, of a percent, of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ValueRange {
    /// The least; `None` when it may be as small as it likes.
    pub min: Option<i64>,
    /// The most; `None` when it may be as large as it likes.
    pub max: Option<i64>,
}

impl ValueRange {
    /// From so many dollars, percent or things to so many.
    #[must_use]
    pub const fn between(min: i64, max: i64) -> Self {
        Self { min: Some(min.saturating_mul(BILLION)), max: Some(max.saturating_mul(BILLION)) }
    }

    /// Whether a kind's values are amounts that have a range.
    #[must_use]
    pub const fn is_of(kind: ValueKind) -> bool {
        matches!(kind, ValueKind::Money | ValueKind::Percentage | ValueKind::Integer)
    }

    /// What is wrong with a value of that kind; `None` when nothing is.
    #[must_use]
    pub fn problem(self, kind: ValueKind, value: &Value) -> Option<String> {
        let found = if kind == ValueKind::Percentage {
            billionths(value.as_str()?)?.into()
        } else if Self::is_of(kind) {
            let unit = if kind == ValueKind::Money { 1 } else { BILLION };
            i128::from(value.as_i64()?) * i128::from(unit)
        } else {
            return None;
        };
        let short = self.min.filter(|min| found < i128::from(*min));
        let long = self.max.filter(|max| found > i128::from(*max));
        let (bound, than) = short.map(|min| (min, "less")).or_else(|| long.map(|max| (max, "more")))?;
        Some(format!("it is {than} than {}", shown(kind, bound)))
    }
}

/// A bound as a person reads it.
fn shown(kind: ValueKind, billionths: i64) -> String {
    let dollars = NanoUsd(billionths).to_string();
    if kind == ValueKind::Money {
        return dollars;
    }
    let percent = if kind == ValueKind::Percentage { " %" } else { "" };
    format!("{}{percent}", dollars.replace('$', ""))
}

/// A decimal number, such as `2.5` or `-1000`, in billionths; `None` when it is none, or too large or too fine.
#[must_use]
pub fn billionths(decimal: &str) -> Option<i64> {
    let (sign, digits) = decimal.strip_prefix('-').map_or((1, decimal), |digits| (-1, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > MAX_FRACTION {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<9}").parse().ok()?;
    let whole: i64 = whole.parse().ok()?;
    whole.checked_mul(BILLION)?.checked_add(fraction)?.checked_mul(sign)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(billionths("1000"), Some(1_000 * BILLION));
        assert_eq!(billionths("-0.5"), Some(-BILLION / 2));
        assert_eq!(billionths("8.875"), Some(8_875_000_000));
        for text in ["", "-", "1.", ".5", "1e3", "1,000", "+1", "0.0000000001", "99999999999"] {
            assert_eq!(billionths(text), None, "{text}");
        }
    }

    #[test]
    fn a_value_out_of_its_range_says_which_bound_it_breaks() {
        let limit = ValueRange::between(1_000, 1_000_000_000);
        let problem = |range: ValueRange, kind, value| range.problem(kind, &value);
        assert_eq!(problem(limit, ValueKind::Money, json!(1_000_000_000_000_i64)), None);
        let small = problem(limit, ValueKind::Money, json!(999_999_999_999_i64));
        assert_eq!(small.as_deref(), Some("it is less than $1000"));
        let large = problem(limit, ValueKind::Money, json!(5_000_000_000_000_000_000_i64));
        assert_eq!(large.as_deref(), Some("it is more than $1000000000"));
        let share = ValueRange::between(0, 100);
        assert_eq!(problem(share, ValueKind::Percentage, json!("100")), None);
        let most = problem(share, ValueKind::Percentage, json!("100.5"));
        assert_eq!(most.as_deref(), Some("it is more than 100 %"));
        let least = problem(ValueRange { min: Some(BILLION), max: None }, ValueKind::Integer, json!(0));
        assert_eq!(least.as_deref(), Some("it is less than 1"));
        assert_eq!(problem(share, ValueKind::Year, json!(2026)), None, "years have no range");
    }
}
