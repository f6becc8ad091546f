//! An expression's tokens. What is not part of an expression is refused here, with its place.

use kybern_core::tool::ToolFailure;
use num_bigint::BigInt;
use num_rational::BigRational;

use super::super::refuse;

/// Largest power of ten that a number may be written with.
const MAX_EXPONENT: u32 = 2_000;

/// What a token is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum TokenKind {
    /// A number, never negative.
    Number(BigRational),
    /// A name: a function, a constant, a unit, or a word such as `mod`.
    Name(String),
    /// One of `+ - * / ^ % ! ( ) , °`.
    Sign(char),
}

/// A token and where it begins, counting characters from 1.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) at: usize,
}

impl Token {
    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.kind == TokenKind::Sign(sign)
    }

    pub(super) fn name(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::Name(name) => Some(name),
            TokenKind::Number(_) | TokenKind::Sign(_) => None,
        }
    }

    /// How a message calls it.
    pub(super) fn shown(&self) -> String {
        match &self.kind {
            TokenKind::Number(_) => "the number".to_owned(),
            TokenKind::Name(name) => name.clone(),
            TokenKind::Sign(sign) => sign.to_string(),
        }
    }
}

/// Takes an expression apart.
///
/// # Errors
/// A refusal that names the character and its place.
pub(super) fn read(expression: &str) -> Result<Vec<Token>, ToolFailure> {
    let letters: Vec<char> = expression.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let place = at + 1;
        if letter.is_whitespace() {
            at += 1;
            continue;
        }
        let begins_number =
            letter.is_ascii_digit() || (letter == '.' && letters.get(at + 1).is_some_and(char::is_ascii_digit));
        let kind = if begins_number {
            number(&letters, &mut at)?
        } else if letter.is_alphabetic() || letter == '_' {
            name(&letters, &mut at)
        } else {
            sign(&letters, &mut at)?
        };
        tokens.push(Token { kind, at: place });
    }
    Ok(tokens)
}

fn name(letters: &[char], at: &mut usize) -> TokenKind {
    let start = *at;
    while letters.get(*at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
        *at += 1;
    }
    let name: String = letters[start..*at].iter().collect();
    TokenKind::Name(if name == "π" { "pi".to_owned() } else { name })
}

fn sign(letters: &[char], at: &mut usize) -> Result<TokenKind, ToolFailure> {
    let (letter, place) = (letters[*at], *at + 1);
    *at += 1;
    let sign = match letter {
        '*' if letters.get(*at) == Some(&'*') => {
            *at += 1;
            '^'
        }
        '+' | '-' | '*' | '/' | '^' | '%' | '!' | '(' | ')' | ',' | '°' => letter,
        '×' | '·' | '∙' => '*',
        '÷' => '/',
        '−' | '–' => '-',
        _ => return Err(stray(letter, place)),
    };
    Ok(TokenKind::Sign(sign))
}

fn stray(letter: char, place: usize) -> ToolFailure {
    let why = match letter {
        '=' | '<' | '>' | ':' => "there is no assignment and no comparison: give one expression to work out",
        ';' => "there is one expression in a call: make a call for each",
        '\\' => "there are no functions to define: use those that exist",
        '[' | ']' | '{' | '}' => "there are no lists: give numbers to a function, as in mean(1, 2, 3)",
        '$' | '€' | '£' | '¥' => "leave the currency out and give the number alone",
        '"' | '\'' | '`' => "there are no texts, only numbers",
        '&' | '|' | '~' | '?' => "there is no logic, only arithmetic",
        '√' => "write sqrt(…)",
        _ => "it is not part of an expression",
    };
    refuse(format!("{letter:?} at character {place}: {why}"))
}

/// A number such as `12`, `0.5`, `.5`, `1e6` or `1.5E-3`, exactly.
fn number(letters: &[char], at: &mut usize) -> Result<TokenKind, ToolFailure> {
    let place = *at + 1;
    let digits = |from: usize| letters[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let whole = digits(*at);
    let mut mantissa: String = letters[*at..*at + whole].iter().collect();
    if whole > 1 && mantissa.starts_with('0') {
        return Err(refuse(format!(
            "the number at character {place} begins with a 0: write numbers without commas inside, 1000 and not 1,000, and without a 0 before"
        )));
    }
    *at += whole;
    let mut scale: i64 = 0;
    if letters.get(*at) == Some(&'.') {
        let fraction = digits(*at + 1);
        mantissa.extend(&letters[*at + 1..*at + 1 + fraction]);
        scale -= i64::try_from(fraction).unwrap_or(i64::MAX);
        *at += 1 + fraction;
    }
    scale += exponent(letters, at, place)?;
    if letters.get(*at) == Some(&'.') {
        return Err(refuse(format!("the number at character {place} has two points")));
    }
    let mantissa: BigInt = mantissa.parse().map_err(|_| refuse(format!("no number at character {place}")))?;
    let power = u32::try_from(scale.unsigned_abs()).ok().filter(|power| *power <= MAX_EXPONENT);
    let power = power.ok_or_else(|| {
        refuse(format!(
            "the number at character {place} is too large or too small: its exponent is over {MAX_EXPONENT}"
        ))
    })?;
    let ten = BigInt::from(10).pow(power);
    let value = if scale < 0 { BigRational::new(mantissa, ten) } else { BigRational::from_integer(mantissa * ten) };
    Ok(TokenKind::Number(value))
}

/// The power of ten after an `e`, when digits follow it; `2 e` and `2 eV` have none.
fn exponent(letters: &[char], at: &mut usize, place: usize) -> Result<i64, ToolFailure> {
    if !matches!(letters.get(*at), Some('e' | 'E')) {
        return Ok(0);
    }
    let (negative, from) = match letters.get(*at + 1) {
        Some('-' | '−') => (true, *at + 2),
        Some('+') => (false, *at + 2),
        _ => (false, *at + 1),
    };
    let length = letters.get(from..).map_or(0, |rest| rest.iter().take_while(|c| c.is_ascii_digit()).count());
    if length == 0 {
        return Ok(0);
    }
    let digits: String = letters[from..from + length].iter().collect();
    let power: i64 = digits.parse().ok().filter(|power| *power <= i64::from(MAX_EXPONENT)).ok_or_else(|| {
        refuse(format!(
            "the number at character {place} is too large or too small: its exponent is over {MAX_EXPONENT}"
        ))
    })?;
    *at = from + length;
    Ok(if negative { -power } else { power })
}
