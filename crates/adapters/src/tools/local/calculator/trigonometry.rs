//! Angles, in radians. A multiple of pi is known exactly, so `sin(pi)` is 0 and `tan(pi / 2)` is refused.

use std::f64::consts::PI;

use kybern_core::tool::ToolFailure;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use super::super::refuse;
use super::arithmetic::{divide, multiply};
use super::number::{Number, WorkMeter, rounded};

/// Beyond this a machine number no longer says where on the circle it is.
const MAX_ANGLE: f64 = 1e9;

/// The sine.
///
/// # Errors
/// When the angle is too large to be told from its neighbours.
pub(super) fn sine(angle: &Number) -> Result<Number, ToolFailure> {
    match turns(angle) {
        Some(half_turns) => of_half_turns(&half_turns),
        None => Number::near(radians(angle)?.sin()),
    }
}

/// The cosine.
///
/// # Errors
/// As [`sine`].
pub(super) fn cosine(angle: &Number) -> Result<Number, ToolFailure> {
    match turns(angle) {
        Some(half_turns) => of_half_turns(&(half_turns + fraction(1, 2))),
        None => Number::near(radians(angle)?.cos()),
    }
}

/// The tangent.
///
/// # Errors
/// As [`sine`], and where there is none.
pub(super) fn tangent(work: &mut WorkMeter, angle: &Number) -> Result<Number, ToolFailure> {
    let Some(half_turns) = turns(angle) else { return Number::near(radians(angle)?.tan()) };
    let rest = &half_turns - half_turns.floor();
    if rest == fraction(1, 2) {
        return Err(refuse("tan has no value there: the angle is an odd multiple of pi / 2"));
    }
    if rest == fraction(1, 4) {
        return Ok(Number::whole(1));
    }
    if rest == fraction(3, 4) {
        return Ok(Number::whole(-1));
    }
    let (sine, cosine) = (sine(angle)?, cosine(angle)?);
    divide(work, &sine, &cosine)
}

/// The angle whose sine, cosine or tangent it is.
///
/// # Errors
/// When there is no such angle.
pub(super) fn arc(name: &str, value: &Number) -> Result<Number, ToolFailure> {
    if let Some(exact) = value.exact()
        && let Some(times) = known_arc(name, exact)
    {
        return Ok(Number::times_pi(times));
    }
    let near = value.to_near()?;
    if name != "atan" && near.abs() > 1.0 {
        return Err(refuse(format!("{name} needs a number between -1 and 1")));
    }
    Number::near(match name {
        "asin" => near.asin(),
        "acos" => near.acos(),
        _ => near.atan(),
    })
}

/// The direction of a point.
///
/// # Errors
/// When both are zero.
pub(super) fn direction(y: &Number, x: &Number) -> Result<Number, ToolFailure> {
    if y.is_zero() && x.is_zero() {
        return Err(refuse("atan2 has no value at 0, 0"));
    }
    if y.is_zero() {
        return Ok(if x.is_negative() { Number::times_pi(fraction(1, 1)) } else { Number::whole(0) });
    }
    if x.is_zero() {
        return Ok(Number::times_pi(fraction(if y.is_negative() { -1 } else { 1 }, 2)));
    }
    Number::near(y.to_near()?.atan2(x.to_near()?))
}

/// Degrees as radians.
///
/// # Errors
/// When the number is too large.
pub(super) fn from_degrees(work: &mut WorkMeter, degrees: &Number) -> Result<Number, ToolFailure> {
    multiply(work, degrees, &Number::times_pi(fraction(1, 180)))
}

/// Radians as degrees.
///
/// # Errors
/// When the number is too large.
pub(super) fn to_degrees(work: &mut WorkMeter, radians: &Number) -> Result<Number, ToolFailure> {
    divide(work, radians, &Number::times_pi(fraction(1, 180)))
}

/// The angle as a multiple of pi, where it is known to be one.
fn turns(angle: &Number) -> Option<BigRational> {
    match angle {
        Number::Pi(times) => Some(times.clone()),
        Number::Exact(zero) if zero.is_zero() => Some(BigRational::zero()),
        Number::Exact(_) | Number::Near(_) => None,
    }
}

fn radians(angle: &Number) -> Result<f64, ToolFailure> {
    let near = angle.to_near()?;
    if near.abs() > MAX_ANGLE {
        return Err(refuse("the angle is too large: take off whole turns, such as x mod (2 * pi)"));
    }
    Ok(near)
}

/// The sine of so many half turns.
fn of_half_turns(half_turns: &BigRational) -> Result<Number, ToolFailure> {
    let two = BigRational::from_integer(2.into());
    let rest = half_turns - (half_turns / &two).floor() * two;
    // The second half of the circle mirrors the first, and the second quarter the first quarter.
    let (rest, negative) = if rest >= fraction(1, 1) { (rest - fraction(1, 1), true) } else { (rest, false) };
    let rest = if rest > fraction(1, 2) { fraction(1, 1) - rest } else { rest };
    let value = if rest.is_zero() {
        Number::whole(0)
    } else if rest == fraction(1, 2) {
        Number::whole(1)
    } else if rest == fraction(1, 6) {
        Number::Exact(fraction(1, 2))
    } else {
        Number::near((rounded(&rest) * PI).sin())?
    };
    Ok(if negative { value.negated() } else { value })
}

/// The arcs that are even parts of pi.
fn known_arc(name: &str, value: &BigRational) -> Option<BigRational> {
    let halves = (value * BigRational::from_integer(2.into())).to_integer().to_i64()?;
    if *value != fraction(halves, 2) {
        return None;
    }
    let sine = match halves {
        0 => Some(fraction(0, 1)),
        1 | -1 => Some(fraction(halves, 6)),
        2 | -2 => Some(fraction(halves / 2, 2)),
        _ => None,
    };
    match name {
        "asin" => sine,
        "acos" => sine.map(|sine| fraction(1, 2) - sine),
        _ if value.abs() == fraction(1, 1) => Some(fraction(halves / 2, 4)),
        _ => value.is_zero().then(BigRational::zero),
    }
}

fn fraction(top: i64, bottom: i64) -> BigRational {
    BigRational::new(BigInt::from(top), BigInt::from(bottom))
}
