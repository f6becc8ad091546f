//! Reads an expression and works it out on the way: no tree, no recursion but for what is nested.
//!
//! From weak to strong: `+ -`, then `* / % mod of`, then a sign in front, then `^` (from the right), then `!`, a
//! percent sign and `deg` behind. So `-2^2` is -4, and `2^3^2` is 512.

use kybern_core::tool::ToolFailure;

use super::super::refuse;
use super::lexer::{Token, TokenKind};
use super::number::{Number, WorkMeter};
use super::{arithmetic, functions, power, trigonometry};

/// How deep parentheses, functions, signs and powers may lie in one another.
const MAX_DEPTH: usize = 64;

const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const SIGN: u8 = 3;
const POWER: u8 = 4;
const BEHIND: u8 = 5;

/// A number, and whether it was written with a percent sign and nothing was done with it yet.
struct Value {
    number: Number,
    percent: bool,
}

impl Value {
    const fn plain(number: Number) -> Self {
        Self { number, percent: false }
    }
}

/// What stands between or behind numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Of,
    Power,
    Factorial,
    Percent,
    Degrees,
}

impl Operator {
    const fn strength(self) -> u8 {
        match self {
            Self::Add | Self::Subtract => SUM,
            Self::Multiply | Self::Divide | Self::Modulo | Self::Of => PRODUCT,
            Self::Power => POWER,
            Self::Factorial | Self::Percent | Self::Degrees => BEHIND,
        }
    }
}

/// Reads tokens from left to right.
pub(super) struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    depth: usize,
    work: WorkMeter,
    notes: Vec<&'static str>,
}

impl<'a> Parser<'a> {
    pub(super) const fn new(tokens: &'a [Token]) -> Self {
        Self { tokens, next: 0, depth: 0, work: WorkMeter::new(), notes: Vec::new() }
    }

    /// What a reader of the answer should know about how the expression was understood.
    pub(super) fn notes(&self) -> &[&'static str] {
        &self.notes
    }

    /// The work that is left.
    pub(super) const fn work(&mut self) -> &mut WorkMeter {
        &mut self.work
    }

    /// The value of all tokens.
    ///
    /// # Errors
    /// A refusal that names the place.
    pub(super) fn whole(&mut self) -> Result<Number, ToolFailure> {
        let value = self.value()?;
        match self.peek() {
            None => Ok(value),
            Some(token) => Err(self.unexpected(token)),
        }
    }

    /// The value of the tokens up to one that does not go on with it, such as a unit.
    ///
    /// # Errors
    /// A refusal that names the place.
    pub(super) fn value(&mut self) -> Result<Number, ToolFailure> {
        self.expression(SUM).map(|value| value.number)
    }

    /// The token that comes next.
    pub(super) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.next)
    }

    /// Takes the next token when it is that sign.
    pub(super) fn take(&mut self, sign: char) -> bool {
        let there = self.peek().is_some_and(|token| token.is_sign(sign));
        self.next += usize::from(there);
        there
    }

    /// Goes past the next token.
    pub(super) const fn skip(&mut self) {
        self.next += 1;
    }

    /// One operand of a product, with a unit behind it: no sum, so that `5 ft + 3 in` stays two.
    ///
    /// # Errors
    /// A refusal that names the place.
    pub(super) fn measured(&mut self) -> Result<Number, ToolFailure> {
        self.expression(PRODUCT).map(|value| value.number)
    }

    fn expression(&mut self, weakest: u8) -> Result<Value, ToolFailure> {
        self.depth += 1;
        if self.depth > MAX_DEPTH + 1 {
            return Err(refuse(format!("the expression is nested deeper than {MAX_DEPTH}: work it out in parts")));
        }
        let mut left = self.operand()?;
        while let Some(operator) = self.operator() {
            if operator.strength() < weakest {
                break;
            }
            self.skip();
            left = self.apply(left, operator)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    /// The operator that comes next; not taken yet.
    fn operator(&self) -> Option<Operator> {
        let token = self.peek()?;
        match &token.kind {
            TokenKind::Number(_) => None,
            TokenKind::Name(name) => match name.to_ascii_lowercase().as_str() {
                "mod" => Some(Operator::Modulo),
                "of" => Some(Operator::Of),
                "deg" => Some(Operator::Degrees),
                _ => None,
            },
            TokenKind::Sign(sign) => match sign {
                '+' => Some(Operator::Add),
                '-' => Some(Operator::Subtract),
                '*' => Some(Operator::Multiply),
                '/' => Some(Operator::Divide),
                '^' => Some(Operator::Power),
                '!' => Some(Operator::Factorial),
                '°' => Some(Operator::Degrees),
                '%' if self.begins_operand(self.next + 1) => Some(Operator::Modulo),
                '%' => Some(Operator::Percent),
                _ => None,
            },
        }
    }

    /// Whether a number, a name or a parenthesis stands there: then a percent sign before it is a remainder.
    fn begins_operand(&self, index: usize) -> bool {
        self.tokens.get(index).is_some_and(|token| match &token.kind {
            TokenKind::Number(_) => true,
            TokenKind::Name(name) if name.eq_ignore_ascii_case("mod") => self.begins_numbers(index + 1),
            TokenKind::Name(name) => functions::constant(name).is_some() || functions::is_function(name),
            TokenKind::Sign(sign) => *sign == '(',
        })
    }

    /// Whether a function's numbers stand there, with a comma between them, and not one operand in parentheses: so
    /// `10 % mod(7, 3)` is told from `10 % mod (3)`.
    fn begins_numbers(&self, index: usize) -> bool {
        let mut depth = 0_usize;
        for token in self.tokens.get(index..).unwrap_or_default() {
            match token.kind {
                TokenKind::Sign('(') => depth += 1,
                TokenKind::Sign(')') => depth = depth.saturating_sub(1),
                TokenKind::Sign(',') if depth == 1 => return true,
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        false
    }

    fn apply(&mut self, left: Value, operator: Operator) -> Result<Value, ToolFailure> {
        match operator {
            Operator::Add | Operator::Subtract => {
                let right = self.expression(PRODUCT)?;
                return self.sum(left, right, operator == Operator::Subtract);
            }
            Operator::Percent => {
                let number = arithmetic::divide(&mut self.work, &left.number, &Number::whole(100))?;
                return Ok(Value { number, percent: true });
            }
            _ => {}
        }
        let number = match operator {
            Operator::Factorial => {
                if self.peek().is_some_and(|token| token.is_sign('!')) {
                    return Err(refuse("there is no double factorial: write (n!)! when that is meant"));
                }
                power::factorial(&mut self.work, &left.number)?
            }
            Operator::Degrees => trigonometry::from_degrees(&mut self.work, &left.number)?,
            Operator::Power => {
                let right = self.expression(SIGN)?;
                power::power(&mut self.work, &left.number, &right.number)?
            }
            Operator::Of if !left.percent => {
                return Err(refuse("of stands behind a percentage, as in 15% of 80: write * otherwise"));
            }
            Operator::Divide => {
                let right = self.expression(SIGN)?;
                arithmetic::divide(&mut self.work, &left.number, &right.number)?
            }
            Operator::Modulo => {
                let right = self.expression(SIGN)?;
                self.note_remainder(&left.number, &right.number);
                arithmetic::remainder(&mut self.work, &left.number, &right.number)?
            }
            _ => {
                let right = self.expression(SIGN)?;
                arithmetic::multiply(&mut self.work, &left.number, &right.number)?
            }
        };
        Ok(Value::plain(number))
    }

    /// A sum. A percentage that is added to a plain number is a part of that number.
    fn sum(&mut self, left: Value, right: Value, subtract: bool) -> Result<Value, ToolFailure> {
        let percent = left.percent && right.percent;
        let part = if right.percent && !left.percent {
            self.note("a percentage that is added or taken off is a part of what stands before it: 200 + 10% is 220");
            arithmetic::multiply(&mut self.work, &left.number, &right.number)?
        } else {
            right.number
        };
        let number = if subtract {
            arithmetic::subtract(&mut self.work, &left.number, &part)?
        } else {
            arithmetic::add(&mut self.work, &left.number, &part)?
        };
        Ok(Value { number, percent })
    }

    fn operand(&mut self) -> Result<Value, ToolFailure> {
        let Some(token) = self.peek() else {
            return Err(refuse("the expression ends where a number is expected: complete it"));
        };
        self.skip();
        match &token.kind {
            TokenKind::Number(number) => Ok(Value::plain(Number::Exact(number.clone()))),
            TokenKind::Sign('+') => self.expression(SIGN),
            TokenKind::Sign('-') => {
                let value = self.expression(SIGN)?;
                Ok(Value { number: value.number.negated(), percent: value.percent })
            }
            TokenKind::Sign('(') => {
                let value = self.expression(SUM)?;
                self.close(token)?;
                Ok(Value::plain(value.number))
            }
            TokenKind::Name(name) => self.named(token, name),
            TokenKind::Sign(sign) => {
                let at = token.at;
                Err(refuse(format!("{sign:?} at character {at} stands where a number is expected: complete it")))
            }
        }
    }

    /// A constant, or a function with its numbers.
    fn named(&mut self, token: &Token, name: &str) -> Result<Value, ToolFailure> {
        if !functions::is_function(name) {
            let constant = functions::constant(name).ok_or_else(|| functions::unknown(name, token.at))?;
            return Ok(Value::plain(constant));
        }
        let Some(open) = self.peek().filter(|next| next.is_sign('(')) else {
            return Err(refuse(format!("{name} at character {} needs its numbers in parentheses", token.at)));
        };
        self.skip();
        let first = self.next;
        let mut numbers = Vec::new();
        if !self.take(')') {
            loop {
                numbers.push(self.expression(SUM)?.number);
                if !self.take(',') {
                    break;
                }
            }
            self.close(open)?;
        }
        match (name.to_ascii_lowercase().as_str(), numbers.as_slice()) {
            ("log", [_]) => self.note("log is to base 10; ln is the natural logarithm, and log(x, b) is to base b"),
            ("sin" | "cos" | "tan", [angle])
                if !angle.is_zero() && (angle.exact().is_some() || !self.names_an_angle(first)) =>
            {
                self.note("angles are radians; write 30 deg for degrees");
            }
            ("mod", [left, right]) => self.note_remainder(left, right),
            _ => {}
        }
        functions::call(&mut self.work, name, token.at, &numbers).map(Value::plain)
    }

    fn close(&mut self, open: &Token) -> Result<(), ToolFailure> {
        if self.take(')') {
            return Ok(());
        }
        match self.peek() {
            None => Err(refuse(format!("the parenthesis at character {} is not closed: add a )", open.at))),
            Some(token) => Err(self.unexpected(token)),
        }
    }

    fn unexpected(&self, token: &Token) -> ToolFailure {
        let (shown, at) = (token.shown(), token.at);
        match &token.kind {
            TokenKind::Sign(',') => refuse(format!(
                "the comma at character {at} is not inside a function: write 1000, not 1,000, and a point in decimals"
            )),
            TokenKind::Sign(')') => refuse(format!("the parenthesis at character {at} closes nothing: take it out")),
            TokenKind::Name(name) if functions::constant(name).is_none() && !functions::is_function(name) => {
                functions::unknown(name, at)
            }
            _ => {
                refuse(format!("{shown} at character {at} follows a value: write an operator between them, such as *"))
            }
        }
    }

    /// Whether what was read from there on says by itself which unit its angle has.
    fn names_an_angle(&self, first: usize) -> bool {
        self.tokens[first..self.next].iter().any(|token| match &token.kind {
            TokenKind::Sign(sign) => *sign == '°',
            TokenKind::Name(name) => functions::names_an_angle(name),
            TokenKind::Number(_) => false,
        })
    }

    fn note_remainder(&mut self, left: &Number, right: &Number) {
        if left.is_negative() || right.is_negative() {
            self.note("a remainder has the sign of the divisor: -7 mod 3 is 2");
        }
    }

    fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
