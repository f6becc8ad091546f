//! The four operations and the remainder.

use kybern_core::tool::ToolFailure;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::One;

use super::number::{Number, WorkMeter, division_by_zero};

/// The sum.
///
/// # Errors
/// When it is too large.
pub(super) fn add(work: &mut WorkMeter, left: &Number, right: &Number) -> Result<Number, ToolFailure> {
    match (left, right) {
        (Number::Exact(a), Number::Exact(b)) => {
            work.pay(&[a, b])?;
            checked(work, sum(a, b)).map(Number::Exact)
        }
        (Number::Pi(a), Number::Pi(b)) => {
            work.pay(&[a, b])?;
            checked(work, sum(a, b)).map(Number::times_pi)
        }
        (Number::Exact(zero), other) | (other, Number::Exact(zero)) if zero.numer().bits() == 0 => Ok(other.clone()),
        _ => Number::near(left.to_near()? + right.to_near()?),
    }
}

/// The difference.
///
/// # Errors
/// When it is too large.
pub(super) fn subtract(work: &mut WorkMeter, left: &Number, right: &Number) -> Result<Number, ToolFailure> {
    add(work, left, &right.clone().negated())
}

/// The product.
///
/// # Errors
/// When it is too large.
pub(super) fn multiply(work: &mut WorkMeter, left: &Number, right: &Number) -> Result<Number, ToolFailure> {
    match (left, right) {
        (Number::Exact(a), Number::Exact(b)) => {
            work.pay(&[a, b])?;
            checked(work, product(a, b)).map(Number::Exact)
        }
        (Number::Exact(a), Number::Pi(b)) | (Number::Pi(a), Number::Exact(b)) => {
            work.pay(&[a, b])?;
            checked(work, product(a, b)).map(Number::times_pi)
        }
        _ if left.is_zero() || right.is_zero() => Ok(Number::whole(0)),
        _ => Number::near(left.to_near()? * right.to_near()?),
    }
}

/// The quotient.
///
/// # Errors
/// When the divisor is zero or the quotient too large.
pub(super) fn divide(work: &mut WorkMeter, left: &Number, right: &Number) -> Result<Number, ToolFailure> {
    if right.is_zero() {
        return Err(division_by_zero());
    }
    match (left, right) {
        (Number::Exact(a), Number::Exact(b)) | (Number::Pi(a), Number::Pi(b)) => {
            work.pay(&[a, b])?;
            checked(work, a / b).map(Number::Exact)
        }
        (Number::Pi(a), Number::Exact(b)) => {
            work.pay(&[a, b])?;
            checked(work, a / b).map(Number::times_pi)
        }
        _ => Number::near(left.to_near()? / right.to_near()?),
    }
}

/// What is left over after a division to the next lower whole number: it has the divisor's sign.
///
/// # Errors
/// When the divisor is zero.
pub(super) fn remainder(work: &mut WorkMeter, left: &Number, right: &Number) -> Result<Number, ToolFailure> {
    if right.is_zero() {
        return Err(division_by_zero());
    }
    match (left, right) {
        (Number::Exact(a), Number::Exact(b)) => {
            work.pay(&[a, b])?;
            if let (Some(a), Some(b)) = (left.integer(), right.integer()) {
                return Ok(Number::Exact(BigRational::from_integer(a.mod_floor(b))));
            }
            let times = (a / b).floor();
            checked(work, a - b * times).map(Number::Exact)
        }
        _ => {
            let (a, b) = (left.to_near()?, right.to_near()?);
            let rest = a % b;
            Number::near(if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest })
        }
    }
}

/// Whole numbers are added without looking for a common divisor.
fn sum(a: &BigRational, b: &BigRational) -> BigRational {
    if a.denom().is_one() && b.denom().is_one() {
        return BigRational::from_integer(a.numer() + b.numer());
    }
    a + b
}

fn product(a: &BigRational, b: &BigRational) -> BigRational {
    if a.denom().is_one() && b.denom().is_one() {
        return BigRational::from_integer(a.numer() * b.numer());
    }
    a * b
}

fn checked(work: &mut WorkMeter, value: BigRational) -> Result<BigRational, ToolFailure> {
    work.pay(&[&value])?;
    Ok(value)
}
