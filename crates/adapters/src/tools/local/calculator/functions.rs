//! The functions and constants, by name. Any other name is refused.

use std::cmp::Ordering;
use std::f64::consts::E;

use kybern_core::tool::ToolFailure;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive};

use super::super::{refuse, short};
use super::arithmetic::remainder;
use super::number::{Number, Work};
use super::statistics::{self, Towards};
use super::{power, trigonometry};

/// Every function, with how few and how many numbers it takes.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("abs", 1, 1),
    ("acos", 1, 1),
    ("asin", 1, 1),
    ("atan", 1, 1),
    ("atan2", 2, 2),
    ("average", 1, MANY),
    ("avg", 1, MANY),
    ("cbrt", 1, 1),
    ("ceil", 1, 1),
    ("cos", 1, 1),
    ("degrees", 1, 1),
    ("exp", 1, 1),
    ("factorial", 1, 1),
    ("floor", 1, 1),
    ("gcd", 2, MANY),
    ("lcm", 2, MANY),
    ("ln", 1, 1),
    ("log", 1, 2),
    ("log10", 1, 1),
    ("log2", 1, 1),
    ("max", 1, MANY),
    ("mean", 1, MANY),
    ("median", 1, MANY),
    ("min", 1, MANY),
    ("mod", 2, 2),
    ("ncr", 2, 2),
    ("npr", 2, 2),
    ("pow", 2, 2),
    ("radians", 1, 1),
    ("root", 2, 2),
    ("round", 1, 2),
    ("sign", 1, 1),
    ("sin", 1, 1),
    ("sqrt", 1, 1),
    ("sum", 1, MANY),
    ("tan", 1, 1),
    ("trunc", 1, 1),
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
pub(super) fn call(work: &mut Work, name: &str, at: usize, numbers: &[Number]) -> Result<Number, ToolFailure> {
    let lower = name.to_ascii_lowercase();
    let (known, least, most) = FUNCTIONS.iter().find(|(known, ..)| *known == lower).ok_or_else(|| unknown(name, at))?;
    if !(*least..=*most).contains(&numbers.len()) {
        let wanted = match (least, most) {
            (least, most) if least == most => format!("{least}"),
            (least, &MANY) => format!("{least} or more"),
            (least, most) => format!("{least} or {most}"),
        };
        return Err(refuse(format!("{known} at character {at} takes {wanted} numbers, not {}", numbers.len())));
    }
    let first = &numbers[0];
    match numbers {
        [_, second, ..] => of_several(work, known, first, second, numbers),
        _ => of_one(work, known, first),
    }
    .map_err(|failure| refuse(format!("{} ({known} at character {at})", failure.message)))
}

fn of_several(
    work: &mut Work,
    name: &str,
    first: &Number,
    second: &Number,
    numbers: &[Number],
) -> Result<Number, ToolFailure> {
    match name {
        "atan2" => trigonometry::direction(first, second),
        "gcd" => statistics::divisor(work, numbers, false),
        "lcm" => statistics::divisor(work, numbers, true),
        "log" => power::logarithm(work, first, Some(second)),
        "mod" => remainder(work, first, second),
        "ncr" => power::combinations(work, first, second),
        "npr" => power::permutations(work, first, second),
        "pow" => power::power(work, first, second),
        "root" => {
            let degree = second.integer().and_then(ToPrimitive::to_u32).filter(|degree| *degree <= 1_000);
            power::root(work, first, degree.ok_or_else(|| refuse("root needs a degree between 1 and 1000"))?)
        }
        "round" => statistics::round(work, first, Some(second)),
        _ => of_many(work, name, numbers),
    }
}

fn of_one(work: &mut Work, name: &str, value: &Number) -> Result<Number, ToolFailure> {
    match name {
        "abs" => Ok(if value.is_negative() { value.clone().negated() } else { value.clone() }),
        "acos" | "asin" | "atan" => trigonometry::arc(name, value),
        "cbrt" => power::root(work, value, 3),
        "ceil" => statistics::whole(value, Towards::Above),
        "cos" => trigonometry::cosine(value),
        "degrees" => trigonometry::to_degrees(work, value),
        "exp" => power::exponential(value),
        "factorial" => power::factorial(work, value),
        "floor" => statistics::whole(value, Towards::Below),
        "ln" => power::logarithm(work, value, None),
        "log" | "log10" => power::logarithm(work, value, Some(&Number::whole(10))),
        "log2" => power::logarithm(work, value, Some(&Number::whole(2))),
        "radians" => trigonometry::from_degrees(work, value),
        "round" => statistics::round(work, value, None),
        "sign" => Ok(Number::whole(if value.is_zero() { 0 } else { 1 - 2 * i64::from(value.is_negative()) })),
        "sin" => trigonometry::sine(value),
        "sqrt" => power::root(work, value, 2),
        "tan" => trigonometry::tangent(work, value),
        "trunc" => statistics::whole(value, Towards::Zero),
        _ => of_many(work, name, std::slice::from_ref(value)),
    }
}

fn of_many(work: &mut Work, name: &str, numbers: &[Number]) -> Result<Number, ToolFailure> {
    match name {
        "average" | "avg" | "mean" => statistics::mean(work, numbers),
        "max" => statistics::extreme(numbers, Ordering::Greater),
        "median" => statistics::median(work, numbers),
        "min" => statistics::extreme(numbers, Ordering::Less),
        "sum" => statistics::sum(work, numbers),
        _ => Err(refuse(format!("{name} takes another number of numbers"))),
    }
}
