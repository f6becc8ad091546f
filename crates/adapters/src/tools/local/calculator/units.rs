//! Conversions such as `5 ft 3 in to cm`. We read the numbers and the shape of the units; `fend-core` knows how much
//! of one unit another is, and is asked for nothing else.

use std::sync::atomic::{AtomicU32, Ordering};

use kybern_core::tool::ToolFailure;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use serde_json::{Map, Value, json};

use super::super::{refuse, short};
use super::lexer::{Token, TokenKind};
use super::number::Number;
use super::parser::Parser;
use super::{answer, arithmetic, functions, unit_names};

/// Times that the unit table may ask whether to go on. A real conversion asks a thousand times at most.
const MAX_TICKS: u32 = 50_000;
/// Quantities that may be added up, as in `5 ft 3 in`.
const MAX_TERMS: usize = 8;
/// Names in one unit, as in `kg * m / s^2`.
const MAX_NAMES: usize = 8;

/// The place of the word that asks for a conversion, when there is one.
pub(super) fn conversion(tokens: &[Token]) -> Option<usize> {
    let inner = 1..tokens.len().saturating_sub(1);
    let last = |word: &str| inner.clone().rev().find(|index| tokens[*index].name() == Some(word));
    last("to").or_else(|| last("into")).or_else(|| last("in"))
}

/// Converts what stands before the word into the unit after it.
///
/// # Errors
/// When a unit is unknown, or they measure different things.
pub(super) fn convert(tokens: &[Token], keyword: usize) -> Result<Map<String, Value>, ToolFailure> {
    let (head, tail) = (with_degrees(&tokens[..keyword]), with_degrees(&tokens[keyword + 1..]));
    let mut target = Parser::new(&tail);
    let unit = read_unit(&mut target)?;
    if let Some(token) = target.peek() {
        return Err(refuse(format!(
            "{} at character {} is no part of the unit after {:?}: give one unit, as in 5 km to miles",
            token.shown(),
            token.at,
            tokens[keyword].shown()
        )));
    }
    let mut parser = Parser::new(&head);
    let mut total = Number::whole(0);
    let mut exact = true;
    let mut negative = head.first().is_some_and(|token| token.is_sign('-'));
    let mut texts = vec![unit.text.clone()];
    for term in 0..=MAX_TERMS {
        if term == MAX_TERMS {
            return Err(refuse(format!("more than {MAX_TERMS} quantities are added: convert them in parts")));
        }
        // The sign of the first quantity is read with its number. One without a sign of its own is taken off where
        // the one before it was: -5 ft 3 in is 3 in less than -5 ft.
        if term > 0 {
            negative = !parser.take('+') && (parser.take('-') || negative);
        }
        let named = parser.peek().is_some_and(|token| token.name().is_some_and(|name| !functions::is_function(name)));
        let value = if named && term == 0 { Number::whole(1) } else { parser.measured()? };
        let from = read_unit(&mut parser)?;
        let only = term == 0 && parser.peek().is_none();
        if let Some(value) = temperature(&value, &from, &unit).filter(|_| only) {
            return finish(value?, &unit, true, &texts, parser.notes());
        }
        let (factor, is_exact) = factor(&from, &unit)?;
        exact &= is_exact;
        let value = arithmetic::multiply(parser.work(), &value, &Number::Exact(factor))?;
        let value = if negative && term > 0 { value.negated() } else { value };
        if !value.is_zero() {
            negative = value.is_negative();
        }
        total = arithmetic::add(parser.work(), &total, &value)?;
        texts.push(from.text);
        if parser.peek().is_none() {
            break;
        }
    }
    finish(total, &unit, exact, &texts, parser.notes())
}

fn finish(
    total: Number,
    unit: &Unit,
    exact: bool,
    texts: &[String],
    notes: &[&str],
) -> Result<Map<String, Value>, ToolFailure> {
    // What the table only knows roughly is not exact, however it is written.
    let total = if exact { total } else { Number::near(total.to_near()?)? };
    let mut notes = notes.to_vec();
    let calendar = ["year", "yr", "month", "decade", "century"];
    if texts.iter().any(|text| calendar.iter().any(|word| text.split(' ').any(|part| part.starts_with(word)))) {
        notes.push("a year is 365.2422 days on average, and a month a twelfth of it");
    }
    let mut data = answer::build(&total, &notes)?;
    data.insert("unit".to_owned(), json!(unit.shown));
    Ok(data)
}

/// A unit, as it was written and as the table is asked for it.
struct Unit {
    shown: String,
    text: String,
}

/// `deg` and `°` behind a number make radians of it. In a conversion they are a unit, and before the name of a scale of
/// temperature they say nothing more than it does.
fn with_degrees(tokens: &[Token]) -> Vec<Token> {
    let mut read = Vec::with_capacity(tokens.len());
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Sign('(') => depth += 1,
            TokenKind::Sign(')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 || !token.is_sign('°') && token.name() != Some("deg") {
            read.push(token.clone());
        } else if tokens.get(index + 1).and_then(Token::name).and_then(scale).is_none() {
            read.push(Token { kind: TokenKind::Name("degree".to_owned()), at: token.at });
        }
    }
    read
}

/// Reads names, `/`, `*`, `per` and small powers.
fn read_unit(parser: &mut Parser<'_>) -> Result<Unit, ToolFailure> {
    let mut unit = Unit { shown: String::new(), text: String::new() };
    let mut names = 0;
    while let Some(token) = parser.peek() {
        let (shown, text) = match &token.kind {
            TokenKind::Name(name) if matches!(name.as_str(), "to" | "into") => break,
            TokenKind::Name(name) if name == "per" && names > 0 => ("/".to_owned(), "/".to_owned()),
            TokenKind::Name(name) => {
                names += 1;
                if names > MAX_NAMES {
                    return Err(refuse(format!("a unit has more than {MAX_NAMES} names: convert it in parts")));
                }
                parser.skip();
                let (shown, text) = named(parser, name, token.at)?;
                push(&mut unit, &shown, &text);
                continue;
            }
            TokenKind::Sign(sign @ ('/' | '*')) if names > 0 => (sign.to_string(), sign.to_string()),
            TokenKind::Sign(_) | TokenKind::Number(_) => break,
        };
        parser.skip();
        if parser.peek().and_then(Token::name).is_none() {
            return Err(refuse(format!("{shown} at character {} needs a unit behind it", token.at)));
        }
        push(&mut unit, &shown, &text);
    }
    if names == 0 {
        return Err(match parser.peek() {
            Some(token) => {
                refuse(format!("{} at character {} stands where a unit is expected", token.shown(), token.at))
            }
            None => refuse("a unit is missing: give one on each side, as in 5 km to miles"),
        });
    }
    Ok(unit)
}

fn push(unit: &mut Unit, shown: &str, text: &str) {
    if !unit.shown.is_empty() && shown != "/" && !unit.shown.ends_with('/') {
        unit.shown.push(' ');
    }
    unit.shown.push_str(shown);
    unit.text.push(' ');
    unit.text.push_str(text);
}

/// One name with its power; the name itself was taken.
fn named(parser: &mut Parser<'_>, name: &str, at: usize) -> Result<(String, String), ToolFailure> {
    let power = match name {
        "square" | "sq" => Some(2),
        "cubic" | "cu" => Some(3),
        _ => None,
    };
    if let Some(power) = power {
        let next = parser.peek().and_then(|token| Some((token.name()?, token.at)));
        let (next, at) = next.ok_or_else(|| refuse(format!("{name} at character {at} needs a unit behind it")))?;
        parser.skip();
        return Ok((format!("{name} {next}"), format!("({})^{power}", known(next, at)?)));
    }
    if let Some(second) = parser.peek().and_then(Token::name)
        && let Some(text) = unit_names::pair(name, second)
    {
        parser.skip();
        return Ok((format!("{name} {second}"), text.to_owned()));
    }
    // `m2` and `ft3` are read as one name.
    let (letters, digit) = match name.as_bytes().last() {
        Some(b'2' | b'3') if name.len() > 1 => name.split_at(name.len() - 1),
        _ => (name, ""),
    };
    let text = known(letters, at)?;
    if !digit.is_empty() {
        return Ok((name.to_owned(), format!("({text})^{digit}")));
    }
    if !parser.take('^') {
        return Ok((name.to_owned(), text));
    }
    let sign = if parser.take('-') { "-" } else { "" };
    let digit = match parser.peek().map(|token| &token.kind) {
        Some(TokenKind::Number(number)) if number.is_integer() && *number.numer() < BigInt::from(10) => {
            number.to_string()
        }
        _ => return Err(refuse(format!("the power of {} at character {at} must be a small number", short(name)))),
    };
    parser.skip();
    Ok((format!("{name}^{sign}{digit}"), format!("({text})^({sign}{digit})")))
}

/// A name as the table knows it. No other reaches the table.
fn known(name: &str, at: usize) -> Result<String, ToolFailure> {
    if matches!(name, "ton" | "tons") {
        return Err(refuse("a ton may be three things: write tonne or short ton, or give it in lb"));
    }
    let unknown = || refuse(no_unit(name, at));
    unit_names::known(name).map(str::to_owned).ok_or_else(unknown)
}

fn no_unit(name: &str, at: usize) -> String {
    let currency = name.len() == 3 && name.bytes().all(|b| b.is_ascii_uppercase());
    let hint = if currency { "; there are no exchange rates here, multiply by the rate yourself" } else { "" };
    format!("there is no unit called {:?} (character {at}){hint}", short(name))
}

/// Counts how often the table asks, so that it ends on every machine at the same place.
struct LookupTicks(AtomicU32);

impl fend_core::Interrupt for LookupTicks {
    fn should_interrupt(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) > MAX_TICKS
    }
}

/// How many of one unit make one of the other, and whether that is exact.
fn factor(from: &Unit, to: &Unit) -> Result<(BigRational, bool), ToolFailure> {
    let question = format!("(1 ({})) to ({}) to fraction", from.text.trim(), to.text.trim());
    let mut context = fend_core::Context::new();
    let answer = fend_core::evaluate_with_interrupt(&question, &mut context, &LookupTicks(AtomicU32::new(0)));
    let answer = answer.map_err(|_| no_factor(from, to))?;
    let text = answer.get_main_result();
    let (text, exact) = text.strip_prefix("approx. ").map_or((text, true), |rest| (rest, false));
    let number = text.split(' ').next().unwrap_or_default();
    let parsed = match number.split_once('/') {
        None => number.parse().ok().map(BigRational::from_integer),
        Some((top, bottom)) => top
            .parse::<BigInt>()
            .ok()
            .zip(bottom.parse::<BigInt>().ok())
            .and_then(|(top, bottom)| (!bottom.is_zero()).then(|| BigRational::new(top, bottom))),
    };
    let factor = parsed.filter(|factor| !factor.is_zero());
    factor.map(|factor| (factor, exact)).ok_or_else(|| no_factor(from, to))
}

fn no_factor(from: &Unit, to: &Unit) -> ToolFailure {
    let (from, to) = (short(&from.shown), short(&to.shown));
    refuse(format!("{from} cannot be converted to {to}: they do not measure the same, or one of them is no unit"))
}

/// Scales of temperature, which do not begin at the same zero.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Kelvin,
    Celsius,
    Fahrenheit,
}

fn scale(unit: &str) -> Option<Scale> {
    match unit.to_ascii_lowercase().as_str() {
        "k" | "kelvin" | "kelvins" => Some(Scale::Kelvin),
        "c" | "celsius" | "degc" => Some(Scale::Celsius),
        "f" | "fahrenheit" | "degf" => Some(Scale::Fahrenheit),
        _ => None,
    }
}

/// A temperature on the other scale, when both are temperatures.
fn temperature(value: &Number, from: &Unit, to: &Unit) -> Option<Result<Number, ToolFailure>> {
    let (from, to) = (scale(&from.shown)?, scale(&to.shown)?);
    let ninths = BigRational::new(9.into(), 5.into());
    let (freezing, zero) = (BigRational::from_integer(32.into()), BigRational::new(5463.into(), 20.into()));
    let linear = |times: BigRational, plus: BigRational| {
        let mut work = super::number::WorkMeter::new();
        let scaled = arithmetic::multiply(&mut work, value, &Number::Exact(times))?;
        arithmetic::add(&mut work, &scaled, &Number::Exact(plus))
    };
    let one = BigRational::one();
    // The value in degrees Celsius is `value * a + b`; the wanted scale is `celsius * c + d`.
    let (a, b) = match from {
        Scale::Celsius => (one.clone(), BigRational::zero()),
        Scale::Kelvin => (one.clone(), -zero.clone()),
        Scale::Fahrenheit => (ninths.recip(), -freezing.clone() / &ninths),
    };
    let (c, d) = match to {
        Scale::Celsius => (one, BigRational::zero()),
        Scale::Kelvin => (one, zero.clone()),
        Scale::Fahrenheit => (ninths, freezing),
    };
    let absolute_zero = Number::Exact(-zero);
    let celsius = match linear(a.clone(), b.clone()).and_then(|celsius| celsius.compare(&absolute_zero)) {
        Ok(order) => order,
        Err(failure) => return Some(Err(failure)),
    };
    if celsius.is_lt() {
        return Some(Err(refuse("there is no temperature below absolute zero, -273.15 degrees Celsius")));
    }
    Some(linear(&a * &c, b * c + d))
}
