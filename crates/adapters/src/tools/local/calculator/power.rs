//! Powers, roots, exponentials, logarithms and factorials. What comes out even stays exact.

use kybern_core::tool::ToolFailure;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::super::refuse;
use super::number::{MAX_BITS, Number, WorkMeter, division_by_zero, rounded, same, too_large};

/// Roots up to this one are looked for exactly.
const MAX_EXACT_ROOT: u32 = 64;

/// A power.
///
/// # Errors
/// When it is too large, or has no real value.
pub(super) fn power(work: &mut WorkMeter, base: &Number, exponent: &Number) -> Result<Number, ToolFailure> {
    let (Some(exact_base), Some(exact_exponent)) = (base.exact(), exponent.exact()) else {
        return near_power(base, exponent);
    };
    work.pay(&[exact_base, exact_exponent])?;
    if exact_exponent.is_integer() {
        return whole_power(work, exact_base, exact_exponent.numer());
    }
    if exact_base.is_negative() {
        return Err(no_real_power());
    }
    if exact_base.is_zero() {
        return if exact_exponent.is_negative() { Err(division_by_zero()) } else { Ok(Number::whole(0)) };
    }
    let root = exact_exponent.denom().to_u32().and_then(|degree| exact_root(exact_base, degree));
    match root {
        Some(root) => whole_power(work, &root, exact_exponent.numer()),
        None => near_power(base, exponent),
    }
}

/// A power with a whole exponent: exact when it has room, rounded when only a fraction's digits run over.
fn whole_power(work: &mut WorkMeter, base: &BigRational, exponent: &BigInt) -> Result<Number, ToolFailure> {
    if exponent.is_zero() || base.is_one() {
        return Ok(Number::whole(1));
    }
    if base.is_zero() {
        return if exponent.is_negative() { Err(division_by_zero()) } else { Ok(Number::whole(0)) };
    }
    if (-base).is_one() {
        return Ok(Number::whole(if exponent.is_even() { 1 } else { -1 }));
    }
    let bits = base.numer().bits().max(base.denom().bits());
    let times = exponent.magnitude().to_u64().and_then(|times| (bits - 1).max(1).checked_mul(times));
    if times.is_some_and(|bits| bits <= MAX_BITS)
        && let Some(times) = exponent.to_i32()
    {
        let value = base.pow(times);
        work.pay(&[&value])?;
        return Ok(Number::Exact(value));
    }
    if base.is_integer() {
        return Err(too_large());
    }
    near_power(&Number::Exact(base.clone()), &Number::Exact(BigRational::from_integer(exponent.clone())))
}

fn near_power(base: &Number, exponent: &Number) -> Result<Number, ToolFailure> {
    if base.is_zero() && exponent.is_negative() {
        return Err(division_by_zero());
    }
    if base.is_negative() && exponent.integer().is_none() {
        return Err(no_real_power());
    }
    let value = base.to_near()?.powf(exponent.to_near()?);
    if value == 0.0 && !base.is_zero() {
        return Err(too_small());
    }
    Number::near(value)
}

/// The root of that degree; the root of a negative number only when the degree is odd.
///
/// # Errors
/// When there is no such real number.
pub(super) fn root(work: &mut WorkMeter, value: &Number, degree: u32) -> Result<Number, ToolFailure> {
    if degree == 0 {
        return Err(refuse("there is no root of degree 0: give 2 for the square root"));
    }
    if value.is_negative() {
        if degree.is_multiple_of(2) {
            return Err(refuse("the root of a negative number is not a real number"));
        }
        return Ok(root(work, &value.clone().negated(), degree)?.negated());
    }
    if let Some(exact) = value.exact() {
        work.pay(&[exact])?;
        if let Some(root) = exact_root(exact, degree) {
            return Ok(Number::Exact(root));
        }
    }
    let near = value.to_near()?;
    Number::near(match degree {
        2 => near.sqrt(),
        3 => near.cbrt(),
        _ => near.powf(1.0 / f64::from(degree)),
    })
}

/// The root of a fraction that is not negative, when it comes out even.
fn exact_root(value: &BigRational, degree: u32) -> Option<BigRational> {
    if degree > MAX_EXACT_ROOT {
        return None;
    }
    let even = |number: &BigUint| {
        let root = number.nth_root(degree);
        (root.pow(degree) == *number).then_some(root)
    };
    let (top, bottom) = (even(value.numer().magnitude())?, even(value.denom().magnitude())?);
    Some(BigRational::new(top.into(), bottom.into()))
}

/// `e` to that power.
///
/// # Errors
/// When it is too large.
pub(super) fn exponential(value: &Number) -> Result<Number, ToolFailure> {
    if value.is_zero() {
        return Ok(Number::whole(1));
    }
    let result = value.to_near()?.exp();
    if result == 0.0 { Err(too_small()) } else { Number::near(result) }
}

/// The logarithm to a base, or the natural one without.
///
/// # Errors
/// When the number is not positive, or the base is none.
pub(super) fn logarithm(work: &mut WorkMeter, value: &Number, base: Option<&Number>) -> Result<Number, ToolFailure> {
    let positive = |number: &Number| !number.is_zero() && !number.is_negative();
    if !positive(value) {
        return Err(refuse("a logarithm needs a number above 0"));
    }
    if value.exact().is_some_and(One::is_one) {
        return Ok(Number::whole(0));
    }
    let Some(base) = base else { return Number::near(natural(value)?) };
    if !positive(base) || base.exact().is_some_and(One::is_one) {
        return Err(refuse("a logarithm's base must be above 0 and not 1"));
    }
    let near = match (base.exact().and_then(ToPrimitive::to_u32), value.to_near()) {
        (Some(10), Ok(value)) if value > 0.0 => value.log10(),
        (Some(2), Ok(value)) if value > 0.0 => value.log2(),
        _ => natural(value)? / natural(base)?,
    };
    // What looks like a whole number is one when raising the base to it gives the number back.
    let guess = near.round();
    if (near - guess).abs() < 1e-9 && guess.abs() < 10_000.0 {
        let guess = Number::Exact(BigRational::from_float(guess).unwrap_or_else(BigRational::zero));
        let back = power(work, base, &guess).ok();
        if let (Some(back), Some(value)) = (back.as_ref().and_then(Number::exact), value.exact())
            && same(back, value)
        {
            return Ok(guess);
        }
    }
    Number::near(near)
}

/// The natural logarithm, also of what is too large or too small for a machine number.
fn natural(value: &Number) -> Result<f64, ToolFailure> {
    let Number::Exact(exact) = value else { return Ok(value.to_near()?.ln()) };
    let near = rounded(exact);
    if near.is_normal() {
        return Ok(near.ln());
    }
    let (top, bottom) = (exact.numer().bits(), exact.denom().bits());
    let scaled = BigRational::new(exact.numer() << bottom, exact.denom() << top);
    // Both are under a few thousand bits, so the conversion loses nothing.
    let bits = top.to_f64().unwrap_or_default() - bottom.to_f64().unwrap_or_default();
    Ok(rounded(&scaled).ln() + bits * std::f64::consts::LN_2)
}

/// The product of the whole numbers from 1.
///
/// # Errors
/// When the number is not whole, negative or too large.
pub(super) fn factorial(work: &mut WorkMeter, value: &Number) -> Result<Number, ToolFailure> {
    let number = count(value, "a factorial")?;
    falling(work, number, number)
}

/// In how many ways so many of them can be chosen.
///
/// # Errors
/// When the numbers are not whole, negative or too large.
pub(super) fn combinations(work: &mut WorkMeter, all: &Number, chosen: &Number) -> Result<Number, ToolFailure> {
    let (all, chosen) = (count(all, "ncr")?, count(chosen, "ncr")?);
    if chosen > all {
        return Ok(Number::whole(0));
    }
    let mut value = BigInt::one();
    for step in 0..chosen.min(all - chosen) {
        value = value * (all - step) / (step + 1);
        paid(work, &value)?;
    }
    Ok(Number::Exact(BigRational::from_integer(value)))
}

/// In how many ways so many of them can be put in a row.
///
/// # Errors
/// When the numbers are not whole, negative or too large.
pub(super) fn permutations(work: &mut WorkMeter, all: &Number, chosen: &Number) -> Result<Number, ToolFailure> {
    let (all, chosen) = (count(all, "npr")?, count(chosen, "npr")?);
    if chosen > all { Ok(Number::whole(0)) } else { falling(work, all, chosen) }
}

/// `from * (from - 1) * …`, so many factors.
fn falling(work: &mut WorkMeter, from: u64, factors: u64) -> Result<Number, ToolFailure> {
    let mut value = BigInt::one();
    for step in 0..factors {
        value *= from - step;
        paid(work, &value)?;
    }
    Ok(Number::Exact(BigRational::from_integer(value)))
}

fn paid(work: &mut WorkMeter, value: &BigInt) -> Result<(), ToolFailure> {
    if value.bits() > MAX_BITS {
        return Err(too_large());
    }
    work.pay(&[&BigRational::from_integer(value.clone())])
}

/// A whole number that is not negative.
fn count(value: &Number, what: &str) -> Result<u64, ToolFailure> {
    let whole = value.integer().filter(|whole| !whole.is_negative());
    let whole = whole.ok_or_else(|| refuse(format!("{what} needs whole numbers of 0 or more")))?;
    whole.to_u64().ok_or_else(too_large)
}

fn no_real_power() -> ToolFailure {
    refuse("a negative number to a power that is not whole is not a real number: use cbrt or root for odd roots")
}

fn too_small() -> ToolFailure {
    refuse("the result is too small to be told from 0")
}
