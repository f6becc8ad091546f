//! How a result is written: as a JSON number where that loses nothing, otherwise with all its digits.

use kybern_core::tool::ToolFailure;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use serde_json::{Map, Value, json};

use super::super::fields;
use super::number::{Number, rounded, same, too_large};
use super::statistics::decimal;

/// A decimal number with more digits than this is rounded.
const MAX_DIGITS: usize = 40;
/// A fraction with more letters than this is not shown.
const MAX_FRACTION: usize = 40;

/// `result`, `resultType`, `exact`, and where they help `fraction` and `notes`.
///
/// # Errors
/// When the result is too large for any of them.
pub(super) fn build(value: &Number, notes: &[&str]) -> Result<Map<String, Value>, ToolFailure> {
    let (result, exact) = match value.exact() {
        Some(exact) => written(exact)?,
        None => (near(value.to_near()?), false),
    };
    let kind = if result.is_string() { "string" } else { "number" };
    let mut data = fields([("result", result), ("resultType", json!(kind)), ("exact", json!(exact))]);
    if let Some(fraction) = value.exact().filter(|value| !exact && !value.is_integer()) {
        let fraction = fraction.to_string();
        if fraction.len() <= MAX_FRACTION {
            data.insert("fraction".to_owned(), json!(fraction));
        }
    }
    if !notes.is_empty() {
        data.insert("notes".to_owned(), json!(notes));
    }
    Ok(data)
}

/// A machine number; a whole one is written as such.
fn near(value: f64) -> Value {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    let whole = (value.fract() == 0.0 && value.abs() < WHOLE).then(|| BigRational::from_float(value)).flatten();
    match whole.and_then(|whole| whole.to_integer().to_i64()) {
        Some(whole) => json!(whole),
        None => json!(value),
    }
}

/// An exact value, and whether what is written is exactly it.
fn written(exact: &BigRational) -> Result<(Value, bool), ToolFailure> {
    if exact.is_integer() {
        let whole = exact.numer();
        return Ok((whole.to_i64().map_or_else(|| json!(whole.to_string()), |whole| json!(whole)), true));
    }
    let near = rounded(exact);
    // The number by which JSON writes the machine number may be this very number.
    if near.is_normal() && same(&decimal(near)?, exact) {
        return Ok((json!(near), true));
    }
    match digits(exact) {
        Some(digits) => Ok((json!(digits), true)),
        None if near.is_normal() => Ok((json!(near), false)),
        None => scientific(exact).map(|(text, exact)| (json!(text), exact)),
    }
}

/// All digits of a decimal number, when there are few.
fn digits(exact: &BigRational) -> Option<String> {
    let mut rest = exact.denom().clone();
    let mut places = 0_u32;
    let (two, five, ten) = (BigInt::from(2), BigInt::from(5), BigInt::from(10));
    let mut twos = 0_u32;
    while (&rest % &two).is_zero() {
        rest /= &two;
        twos += 1;
        places = places.max(twos);
    }
    let mut fives = 0_u32;
    while (&rest % &five).is_zero() {
        rest /= &five;
        fives += 1;
        places = places.max(fives);
    }
    if !rest.is_one() {
        return None;
    }
    let digits = (exact.numer().abs() * ten.pow(places) / exact.denom()).to_string();
    let places = usize::try_from(places).ok()?;
    if digits.len().max(places) > MAX_DIGITS {
        return None;
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    Some(format!("{}{whole}.{fraction}", if exact.is_negative() { "-" } else { "" }))
}

/// Seventeen digits and a power of ten, for what no machine number reaches, and whether these are all.
fn scientific(exact: &BigRational) -> Result<(String, bool), ToolFailure> {
    const DIGITS: i64 = 17;
    let (top, bottom) = (exact.numer().abs(), exact.denom());
    let length = |number: &BigInt| i64::try_from(number.to_string().len()).map_err(|_| too_large());
    let power = length(&top)? - length(bottom)?;
    let shift = i32::try_from(DIGITS - power).map_err(|_| too_large())?;
    let scaled = BigRational::new(top, bottom.clone()) * BigRational::from_integer(10.into()).pow(shift);
    let all = scaled.is_integer();
    let digits = scaled.round().to_integer().to_string();
    let exponent = i64::try_from(digits.len()).map_err(|_| too_large())? - 1 - i64::from(shift);
    let sign = if exact.is_negative() { "-" } else { "" };
    let (first, rest) = digits.split_at(1);
    let all = all && rest.get(16..).is_none_or(|rest| rest.chars().all(|digit| digit == '0'));
    let rest = rest.get(..16).unwrap_or(rest).trim_end_matches('0');
    let point = if rest.is_empty() { "" } else { "." };
    Ok((format!("{sign}{first}{point}{rest}e{exponent}"), all))
}
