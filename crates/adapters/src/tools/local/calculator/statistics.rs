//! Functions of any number of numbers, and rounding.

use std::cmp::Ordering;

use kybern_core::tool::ToolFailure;
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::super::refuse;
use super::arithmetic::{add, divide};
use super::number::{Number, WorkMeter};

/// Most digits that are rounded to, on either side of the point.
const MAX_PLACES: i32 = 100;

/// The smallest or the largest.
///
/// # Errors
/// When they cannot be compared.
pub(super) fn extreme(numbers: &[Number], wanted: Ordering) -> Result<Number, ToolFailure> {
    let mut best = numbers.first().ok_or_else(|| refuse("give at least one number"))?;
    for number in numbers {
        if number.compare(best)? == wanted {
            best = number;
        }
    }
    Ok(best.clone())
}

/// The sum.
///
/// # Errors
/// When it is too large.
pub(super) fn sum(work: &mut WorkMeter, numbers: &[Number]) -> Result<Number, ToolFailure> {
    numbers.iter().try_fold(Number::whole(0), |total, number| add(work, &total, number))
}

/// The sum divided by how many there are.
///
/// # Errors
/// When it is too large.
pub(super) fn mean(work: &mut WorkMeter, numbers: &[Number]) -> Result<Number, ToolFailure> {
    let total = sum(work, numbers)?;
    divide(work, &total, &Number::whole(i64::try_from(numbers.len()).unwrap_or(i64::MAX)))
}

/// The one in the middle, or the mean of the two there.
///
/// # Errors
/// When they cannot be compared.
pub(super) fn median(work: &mut WorkMeter, numbers: &[Number]) -> Result<Number, ToolFailure> {
    let mut sorted: Vec<&Number> = Vec::with_capacity(numbers.len());
    for number in numbers {
        let mut place = sorted.len();
        while place > 0 && number.compare(sorted[place - 1])? == Ordering::Less {
            place -= 1;
        }
        sorted.insert(place, number);
    }
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle).ok_or_else(|| refuse("give at least one number"))?;
    if sorted.len() % 2 == 1 {
        return Ok(upper.clone());
    }
    let both = add(work, sorted[middle - 1], upper)?;
    divide(work, &both, &Number::whole(2))
}

/// The greatest number that divides both, or the least that both divide.
///
/// # Errors
/// When one is not whole.
pub(super) fn divisor(work: &mut WorkMeter, numbers: &[Number], least_multiple: bool) -> Result<Number, ToolFailure> {
    let mut result: Option<BigInt> = None;
    for number in numbers {
        let whole = number.integer().ok_or_else(|| refuse("gcd and lcm need whole numbers"))?;
        result = Some(match result {
            None => whole.abs(),
            Some(so_far) if least_multiple => so_far.lcm(whole),
            Some(so_far) => so_far.gcd(whole),
        });
        if let Some(so_far) = &result {
            // Paid as a fraction: looking for a divisor is what costs.
            work.pay(&[&BigRational::new_raw(so_far.clone(), so_far.clone() + 2)])?;
        }
    }
    result.map(|whole| Number::Exact(BigRational::from_integer(whole))).ok_or_else(|| refuse("give two whole numbers"))
}

/// Towards which side a number is made whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    Below,
    Above,
    Zero,
}

/// A whole number beside it.
///
/// # Errors
/// When it is too large.
pub(super) fn whole(value: &Number, towards: Rounding) -> Result<Number, ToolFailure> {
    if let Some(exact) = value.exact() {
        return Ok(Number::Exact(match towards {
            Rounding::Below => exact.floor(),
            Rounding::Above => exact.ceil(),
            Rounding::Zero => exact.trunc(),
        }));
    }
    let near = value.to_near()?;
    Number::near(match towards {
        Rounding::Below => near.floor(),
        Rounding::Above => near.ceil(),
        Rounding::Zero => near.trunc(),
    })
}

/// Rounded to so many digits after the point; a half goes away from zero. What was near before is near afterwards.
///
/// # Errors
/// When the digits are no small whole number.
pub(super) fn round(work: &mut WorkMeter, value: &Number, digits: Option<&Number>) -> Result<Number, ToolFailure> {
    let places = match digits {
        None => Some(0),
        Some(digits) => digits.integer().and_then(ToPrimitive::to_i32).filter(|places| places.abs() <= MAX_PLACES),
    };
    let places = places.ok_or_else(|| {
        refuse(format!("round needs a whole number of digits between -{MAX_PLACES} and {MAX_PLACES}"))
    })?;
    let near = value.exact().is_none();
    let exact = match value.exact() {
        Some(exact) => exact.clone(),
        // Rounding what is seen: 2.675 as a machine number lies a hair below.
        None => decimal(value.to_near()?)?,
    };
    work.pay(&[&exact])?;
    let scale = BigRational::from_integer(BigInt::from(10)).pow(places);
    let half = BigRational::new(1.into(), 2.into());
    let scaled = exact.abs() * &scale;
    work.pay(&[&scaled])?;
    let rounded = (scaled + half).floor() / scale;
    let rounded = Number::Exact(if exact.is_negative() { -rounded } else { rounded });
    if near { Number::near(rounded.to_near()?) } else { Ok(rounded) }
}

/// The decimal number by which a machine number is written.
///
/// # Errors
/// When it is none.
pub(super) fn decimal(value: f64) -> Result<BigRational, ToolFailure> {
    let written = format!("{value:e}");
    let parts = written.split_once('e').and_then(|(mantissa, exponent)| {
        let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits: BigInt = mantissa.replace('.', "").parse().ok()?;
        let power = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction).ok()?)?;
        Some(BigRational::from_integer(digits) * BigRational::from_integer(BigInt::from(10)).pow(power))
    });
    parts.ok_or_else(|| refuse("the number cannot be rounded"))
}
