//! The functions and constants, by name. Any other name is refused.

use std::cmp::Ordering;
use std::f64::consts::E;

use kybern_core::tool::ToolFailure;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive};

use super::super::{refuse, short};
use super::arithmetic::remainder;
use super::number::{Number, WorkMeter};
use super::statistics::{self, Rounding};
use super::{power, trigonometry};

/// What a function makes of its numbers, of which there are as many as it takes.
type Function = fn(&mut WorkMeter, &[Number]) -> Result<Number, ToolFailure>;

/// Every function, with how few and how many numbers it takes.
const FUNCTIONS: &[(&str, usize, usize, Function)] = &[
    ("abs", 1, 1, |_, n| Ok(if n[0].is_negative() { n[0].clone().negated() } else { n[0].clone() })),
    ("acos", 1, 1, |_, n| trigonometry::arc("acos", &n[0])),
    ("asin", 1, 1, |_, n| trigonometry::arc("asin", &n[0])),
    ("atan", 1, 1, |_, n| trigonometry::arc("atan", &n[0])),
    ("atan2", 2, 2, |_, n| trigonometry::direction(&n[0], &n[1])),
    ("average", 1, MANY, statistics::mean),
    ("avg", 1, MANY, statistics::mean),
    ("cbrt", 1, 1, |work, n| power::root(work, &n[0], 3)),
    ("ceil", 1, 1, |_, n| statistics::whole(&n[0], Rounding::Above)),
    ("cos", 1, 1, |_, n| trigonometry::cosine(&n[0])),
    ("degrees", 1, 1, |work, n| trigonometry::to_degrees(work, &n[0])),
    ("exp", 1, 1, |_, n| power::exponential(&n[0])),
    ("factorial", 1, 1, |work, n| power::factorial(work, &n[0])),
    ("floor", 1, 1, |_, n| statistics::whole(&n[0], Rounding::Below)),
    ("gcd", 2, MANY, |work, n| statistics::divisor(work, n, false)),
    ("lcm", 2, MANY, |work, n| statistics::divisor(work, n, true)),
    ("ln", 1, 1, |work, n| power::logarithm(work, &n[0], None)),
    ("log", 1, 2, |work, n| power::logarithm(work, &n[0], Some(n.get(1).unwrap_or(&Number::whole(10))))),
    ("log10", 1, 1, |work, n| power::logarithm(work, &n[0], Some(&Number::whole(10)))),
    ("log2", 1, 1, |work, n| power::logarithm(work, &n[0], Some(&Number::whole(2)))),
    ("max", 1, MANY, |_, n| statistics::extreme(n, Ordering::Greater)),
    ("mean", 1, MANY, statistics::mean),
    ("median", 1, MANY, statistics::median),
    ("min", 1, MANY, |_, n| statistics::extreme(n, Ordering::Less)),
    ("mod", 2, 2, |work, n| remainder(work, &n[0], &n[1])),
    ("ncr", 2, 2, |work, n| power::combinations(work, &n[0], &n[1])),
    ("npr", 2, 2, |work, n| power::permutations(work, &n[0], &n[1])),
    ("pow", 2, 2, |work, n| power::power(work, &n[0], &n[1])),
    ("radians", 1, 1, |work, n| trigonometry::from_degrees(work, &n[0])),
    ("root", 2, 2, |work, n| root(work, &n[0], &n[1])),
    ("round", 1, 2, |work, n| statistics::round(work, &n[0], n.get(1))),
    ("sign", 1, 1, |_, n| Ok(Number::whole(i64::from(!n[0].is_zero()) - 2 * i64::from(n[0].is_negative())))),
    ("sin", 1, 1, |_, n| trigonometry::sine(&n[0])),
    ("sqrt", 1, 1, |work, n| power::root(work, &n[0], 2)),
    ("sum", 1, MANY, statistics::sum),
    ("tan", 1, 1, |work, n| trigonometry::tangent(work, &n[0])),
    ("trunc", 1, 1, |_, n| statistics::whole(&n[0], Rounding::Zero)),
];

/// An expression has no room for more.
const MANY: usize = 500;

pub(super) fn constant(name: &str) -> Option<Number> {
    match name {
        "pi" | "PI" | "Pi" => Some(Number::Pi(BigRational::one())),
        "tau" => Some(Number::Pi(BigRational::from_integer(2.into()))),
        "e" | "E" => Some(Number::Near(E)),
        _ => None,
    }
}

/// Whether there is a function of that name, in any case of its letters.
pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, ..)| known.eq_ignore_ascii_case(name))
}

/// Whether an angle with that name in it is one in radians, or degrees that were made radians.
pub(super) fn names_an_angle(name: &str) -> bool {
    let radians = matches!(constant(name), Some(Number::Pi(_)));
    let lower = name.to_ascii_lowercase();
    radians || matches!(lower.as_str(), "deg" | "radians" | "acos" | "asin" | "atan" | "atan2")
}

/// The refusal of a name.
pub(super) fn unknown(name: &str, at: usize) -> ToolFailure {
    let name = short(name);
    if name == "deg" {
        return refuse(format!(
            "deg at character {at} stands behind a number, as in sin(30 deg): use degrees(x) or radians(x) to convert"
        ));
    }
    let known: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
    refuse(format!(
        "there is nothing called {name:?} (character {at}): there are pi, e, tau and the functions {}; a unit stands \
         only in a conversion, as in 5 km to miles",
        known.join(" ")
    ))
}

/// Calls a function.
///
/// # Errors
/// When there is none of that name, it takes another number of numbers, or it has no value there.
pub(super) fn call(work: &mut WorkMeter, name: &str, at: usize, numbers: &[Number]) -> Result<Number, ToolFailure> {
    let lower = name.to_ascii_lowercase();
    let found = FUNCTIONS.iter().find(|(known, ..)| *known == lower);
    let (known, least, most, function) = found.ok_or_else(|| unknown(name, at))?;
    if !(*least..=*most).contains(&numbers.len()) {
        let wanted = match (least, most) {
            (least, most) if least == most => format!("{least}"),
            (least, &MANY) => format!("{least} or more"),
            (least, most) => format!("{least} or {most}"),
        };
        return Err(refuse(format!("{known} at character {at} takes {wanted} numbers, not {}", numbers.len())));
    }
    function(work, numbers).map_err(|failure| refuse(format!("{} ({known} at character {at})", failure.message)))
}

fn root(work: &mut WorkMeter, value: &Number, degree: &Number) -> Result<Number, ToolFailure> {
    let degree = degree.integer().and_then(ToPrimitive::to_u32).filter(|degree| *degree <= 1_000);
    power::root(work, value, degree.ok_or_else(|| refuse("root needs a degree between 1 and 1000"))?)
}
