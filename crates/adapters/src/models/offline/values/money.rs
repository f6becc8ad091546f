//! Amounts of US dollars.

use super::{ReadValue, percentages};

const NANOS: i64 = 1_000_000_000;
const NANO_DIGITS: usize = 9;
/// Characters that an amount before its dollar sign may have.
const MAX_SPACED: usize = 24;

/// An amount, as nano-dollars: `$1,000,000`, `1,000.50`, `USD 5`, `$1.5M`, `(120.00)`.
pub(super) fn money(text: &str) -> Option<ReadValue> {
    if let Some(read) = spaced(text) {
        return Some(read);
    }
    let marks = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '*');
    let mut at = text.len() - text.trim_start_matches(marks).len();
    let start = at;
    let mut negative = false;
    let mut dollars = false;
    loop {
        let rest = &text[at..];
        let step = if rest.starts_with(['(', '-']) && !negative {
            negative = true;
            1
        } else if rest.starts_with('$') {
            dollars = true;
            1
        } else if rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("usd")) {
            dollars = true;
            3
        } else if rest.starts_with(' ') && dollars {
            1
        } else {
            break;
        };
        at += step;
    }
    let rest = &text[at..];
    let whole = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
    let digits = rest[..whole].trim_end_matches(',');
    let mut end = at + digits.len();
    let mut nanos = groups(digits)?.checked_mul(NANOS)?;
    let rest = &text[end..];
    let mut fit = if dollars { 1.0 } else { 0.8 };
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if (1..=NANO_DIGITS).contains(&length) {
            nanos = nanos.checked_add(format!("{:0<9}", &fraction[..length]).parse().ok()?)?;
            end += 1 + length;
        }
    }
    let after = text[end..].bytes().next().map(|b| b.to_ascii_lowercase());
    let alone = !text[end..].chars().nth(1).is_some_and(char::is_alphanumeric);
    let (times, letters) = match after {
        Some(b'k') if alone => (1_000, 1),
        Some(b'm') if alone => (1_000_000, 1),
        _ => million(&text[end..]).map_or((1, 0), |letters| (1_000_000, letters)),
    };
    if times > 1 {
        nanos = nanos.checked_mul(times)?;
        end += letters;
    } else if text[end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '-'))
        || percentages::sign(&text[end..]).is_some()
    {
        return None;
    }
    if text[start..].starts_with('(') && text[end..].starts_with(')') {
        end += 1;
    } else if text[start..].starts_with('(') {
        fit *= 0.8;
        negative = false;
    }
    Some(ReadValue::new(if negative { -nanos } else { nanos }, start, end, fit))
}

/// An amount with its thousands parted by blanks and its dollar sign behind it: `3 150,00 $`.
fn spaced(text: &str) -> Option<ReadValue> {
    let start = text.len() - text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '*')).len();
    let rest = &text[start..];
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '\u{a0}' | '\u{202f}' | ',' | '.');
    let length: usize = rest.chars().take(MAX_SPACED).take_while(|c| is_part(*c)).map(char::len_utf8).sum();
    let number = rest[..length].trim_end();
    if !rest[length..].starts_with('$') || number.is_empty() {
        return None;
    }
    let (whole, cents) = match number.rfind([',', '.']) {
        Some(at) if number.len() - at == 3 => (&number[..at], &number[at + 1..]),
        _ => (number, "0"),
    };
    let parts: Vec<&str> = whole.split([' ', '\u{a0}', '\u{202f}', ',', '.']).collect();
    let grouped = parts.len() == 1 || parts.iter().skip(1).all(|part| part.len() == 3) && parts[0].len() <= 3;
    let digits: i64 = parts.concat().parse().ok().filter(|_| grouped)?;
    let cents: i64 = cents.parse().ok()?;
    let nanos = digits.checked_mul(NANOS)?.checked_add(cents * (NANOS / 100))?;
    Some(ReadValue::new(nanos, start, start + length + 1, 1.0))
}

/// How many bytes `million` and its like take when they follow an amount.
fn million(rest: &str) -> Option<usize> {
    let word = rest.trim_start_matches([' ', '\u{a0}']);
    let blanks = rest.len() - word.len();
    let length: usize = word.chars().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
    let known = ["million", "millions", "mil", "mm", "millones", "millón"];
    known.contains(&word[..length].to_lowercase().as_str()).then_some(blanks + length)
}

/// Digits with thousands' commas in the right places, or none.
fn groups(digits: &str) -> Option<i64> {
    let mut parts = digits.split(',');
    let first = parts.next()?;
    let grouped = digits.contains(',');
    if first.is_empty() || (grouped && first.len() > 3) || parts.any(|part| part.len() != 3) {
        return None;
    }
    digits.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> Option<i64> {
        money(text).and_then(|read| read.value.as_i64())
    }

    #[test]
    fn amounts_become_nano_dollars() {
        assert_eq!(nanos("$1,000,000"), Some(1_000_000 * NANOS));
        assert_eq!(nanos("$ 3,150.25 per year"), Some(3_150_250_000_000));
        assert_eq!(nanos("USD 5"), Some(5 * NANOS));
        assert_eq!(nanos("$1.5M"), Some(1_500_000 * NANOS));
        assert_eq!(nanos("$1 million CSL"), Some(1_000_000 * NANOS));
        assert_eq!(nanos("$2MM"), Some(2_000_000 * NANOS));
        assert_eq!(nanos("3 150,00 $"), Some(3_150 * NANOS));
        assert_eq!(nanos("1 000 000 $ par sinistre"), Some(1_000_000 * NANOS));
        assert_eq!(nanos("(120.00)"), Some(-120 * NANOS));
        assert_eq!(nanos("96000"), Some(96_000 * NANOS));
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in ["", "none", "10/01/2025", "1,00", "12%", "2 %", "2.5 percent", "$99,999,999,999"] {
            assert_eq!(nanos(text), None, "{text}");
        }
    }
}
