//! A number as the calculator knows it: exact while it can be, and honest when it no longer is.

use std::cmp::Ordering;
use std::f64::consts::PI;

use kybern_core::tool::ToolFailure;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::super::refuse;

/// Bits of a numerator or a denominator: 3,010 digits, and some numbers of 3,011.
pub(super) const MAX_BITS: u64 = 10_000;
/// What one expression may cost: machine words touched. The most that is allowed takes well under a second.
const MAX_WORK: u64 = 400_000_000;

/// A number. It has no `==`: see [`same`].
#[derive(Clone, Debug)]
pub(super) enum Number {
    /// Exactly this.
    Exact(BigRational),
    /// Exactly that many times pi, so that `sin(pi)` is 0. Never zero times.
    Pi(BigRational),
    /// The nearest that a machine number comes; always finite.
    Near(f64),
}

impl Number {
    /// A whole number.
    pub(super) fn whole(value: i64) -> Self {
        Self::Exact(BigRational::from_integer(value.into()))
    }

    /// So many times pi.
    pub(super) fn times_pi(times: BigRational) -> Self {
        if times.is_zero() { Self::whole(0) } else { Self::Pi(times) }
    }

    /// A machine number.
    ///
    /// # Errors
    /// When it is none: too large, or not a real number.
    pub(super) fn near(value: f64) -> Result<Self, ToolFailure> {
        if value.is_nan() {
            return Err(refuse("the result is not a real number"));
        }
        if value.is_infinite() {
            return Err(too_large_for_a_machine());
        }
        Ok(Self::Near(value))
    }

    /// As a machine number, rounded.
    ///
    /// # Errors
    /// When it is too large for one.
    pub(super) fn to_near(&self) -> Result<f64, ToolFailure> {
        let value = match self {
            Self::Exact(exact) => rounded(exact),
            Self::Pi(times) => rounded(times) * PI,
            Self::Near(value) => *value,
        };
        if value.is_finite() { Ok(value) } else { Err(too_large_for_a_machine()) }
    }

    /// The exact value, when there is one that is a fraction.
    pub(super) const fn exact(&self) -> Option<&BigRational> {
        match self {
            Self::Exact(exact) => Some(exact),
            Self::Pi(_) | Self::Near(_) => None,
        }
    }

    /// The value as a whole number, when it is exactly one.
    pub(super) fn integer(&self) -> Option<&BigInt> {
        self.exact().filter(|exact| exact.is_integer()).map(BigRational::numer)
    }

    /// Whether it is nothing.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Exact(exact) => exact.is_zero(),
            Self::Pi(_) => false,
            Self::Near(value) => *value == 0.0,
        }
    }

    /// Whether it is below nothing.
    pub(super) fn is_negative(&self) -> bool {
        match self {
            Self::Exact(exact) | Self::Pi(exact) => exact.is_negative(),
            Self::Near(value) => *value < 0.0,
        }
    }

    /// The other way round zero.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Exact(exact) => Self::Exact(-exact),
            Self::Pi(times) => Self::Pi(-times),
            Self::Near(value) => Self::Near(-value),
        }
    }

    /// Which of two is larger.
    ///
    /// # Errors
    /// When one is too large to be compared with a rounded one.
    pub(super) fn compare(&self, other: &Self) -> Result<Ordering, ToolFailure> {
        Ok(match (self, other) {
            (Self::Exact(a), Self::Exact(b)) | (Self::Pi(a), Self::Pi(b)) => order(a, b),
            _ => self.to_near()?.total_cmp(&other.to_near()?),
        })
    }
}

/// Which of two fractions is larger. The library's own comparison recurses as deep as they agree.
fn order(a: &BigRational, b: &BigRational) -> Ordering {
    (a.numer() * b.denom()).cmp(&(b.numer() * a.denom()))
}

/// Whether two fractions are the same. They are kept in lowest terms, so their parts are.
pub(super) fn same(a: &BigRational, b: &BigRational) -> bool {
    a.numer() == b.numer() && a.denom() == b.denom()
}

/// The nearest machine number; infinite when it is too large.
pub(super) fn rounded(exact: &BigRational) -> f64 {
    exact.to_f64().unwrap_or(f64::INFINITY)
}

/// The refusal of what has too many digits.
pub(super) fn too_large() -> ToolFailure {
    refuse("the result is too large to be written: numbers have up to 10,000 bits, about 3,010 digits")
}

/// The refusal of what has no exact value and is too large for a machine number.
fn too_large_for_a_machine() -> ToolFailure {
    refuse("a number is too large: what has no exact value goes up to about 1.8e308, as machine numbers do")
}

/// The refusal of a division by nothing.
pub(super) fn division_by_zero() -> ToolFailure {
    refuse("division by zero: check that the divisor cannot be 0")
}

/// Counts the work of an expression, so that it ends on every machine at the same place.
#[derive(Debug)]
pub(super) struct WorkMeter {
    left: u64,
}

impl WorkMeter {
    pub(super) const fn new() -> Self {
        Self { left: MAX_WORK }
    }

    /// Pays for an operation on these, and refuses numbers that grew too large.
    ///
    /// # Errors
    /// When the numbers are too large or the work is used up.
    pub(super) fn pay(&mut self, numbers: &[&BigRational]) -> Result<(), ToolFailure> {
        for number in numbers {
            let bits = number.numer().bits().max(number.denom().bits());
            if bits > MAX_BITS {
                return Err(too_large());
            }
            // Finding a common divisor takes as many steps as there are bits, each over all words.
            let cost = if number.denom().is_one() { bits + 1 } else { bits * (bits / 64 + 1) };
            self.left = self.left.checked_sub(cost).ok_or_else(too_much)?;
        }
        Ok(())
    }
}

fn too_much() -> ToolFailure {
    refuse("the expression takes too much work: its numbers have too many digits, work it out in parts or round")
}
