//! Amounts of US dollars. One of another currency, or written as elsewhere, is read as far as it goes and doubted.

use super::{DOUBTED, ReadValue, percentages};

const NANOS: i64 = 1_000_000_000;
const NANO_DIGITS: usize = 9;
/// Characters that an amount before its dollar sign may have.
const MAX_SPACED: usize = 24;
/// Blanks between an amount and its currency.
const MAX_BLANKS: usize = 2;

/// What is wrong with an amount as it is written elsewhere.
const OF_ELSEWHERE: &str =
    "the amount is not written as US dollars are, with commas between thousands and a point before cents";

/// Blanks, as they stand between thousands and before a currency.
const BLANKS: [char; 3] = [' ', '\u{a0}', '\u{202f}'];
/// Signs of other currencies.
const SIGNS: [char; 4] = ['€', '£', '¥', '₹'];
/// Codes and names of other currencies.
const CURRENCIES: [&str; 18] = [
    "EUR", "GBP", "CHF", "CAD", "MXN", "AUD", "NZD", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "BRL", "euro",
    "euros", "pesos",
];
/// What stands right before the sign of a dollar that is not the US dollar.
const OTHER_DOLLARS: [&str; 8] = ["C", "CA", "A", "AU", "NZ", "HK", "MX", "R"];
/// What stands right behind such a sign.
const DOLLARS_OF: [&str; 6] = ["CA", "CAN", "AU", "NZ", "HK", "MX"];

/// An amount, as nano-dollars: `$1,000,000`, `1,000.50`, `USD 5`, `$1.5M`, `(120.00)`.
pub(super) fn money(text: &str) -> Option<ReadValue> {
    let ahead = currency_ahead(text);
    let from = ahead.map_or(0, |(start, currency)| start + currency.len());
    let rest = &text[from..];
    let mut read = spaced(rest).or_else(|| dollars(rest))?.moved(from);
    if let Some((start, currency)) = ahead {
        read = ReadValue { start, ..in_currency(read, currency) };
    }
    if let Some((length, currency)) = currency_behind(&text[read.end..], text[..read.end].ends_with('$')) {
        read.end += length;
        read = in_currency(read, currency);
    }
    Some(read)
}

/// An amount of another currency, which nobody converts.
pub(in crate::models::offline) fn in_currency(read: ReadValue, currency: &str) -> ReadValue {
    let problem = format!("the amount is in {currency}, not in US dollars");
    ReadValue { fit: read.fit.min(DOUBTED), problem: Some(problem), ..read }
}

/// Whether an amount as it is written says that it is one: by a sign, a currency, or commas.
pub(in crate::models::offline) fn is_marked(written: &str) -> bool {
    written.contains(|c: char| matches!(c, '$' | ',') || SIGNS.contains(&c) || c.is_alphabetic())
}

/// The other currency at the beginning of a text, an amount behind it, and where it begins.
fn currency_ahead(text: &str) -> Option<(usize, &str)> {
    let after = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '*' | '('));
    let start = text.len() - after.len();
    let length = after.find(|c: char| c.is_ascii_digit() || c == '$' || BLANKS.contains(&c))?;
    let rest = after[length..].trim_start_matches(BLANKS);
    let is_amount = rest.starts_with(|c: char| c.is_ascii_digit() || c == '$');
    let currency = currency_at_end(&after[..length], after[length..].starts_with('$'))?;
    (is_amount && currency.len() == length).then_some((start, currency))
}

/// The other currency that follows an amount, with how many bytes it and the blanks before it take.
fn currency_behind(rest: &str, dollars: bool) -> Option<(usize, &str)> {
    let after = rest.trim_start_matches(BLANKS);
    let blanks = rest.len() - after.len();
    if rest[..blanks].chars().count() > MAX_BLANKS {
        return None;
    }
    let length = match after.chars().next()? {
        sign if SIGNS.contains(&sign) => sign.len_utf8(),
        _word => after.chars().take_while(|c| c.is_alphanumeric()).map(char::len_utf8).sum(),
    };
    let currency = &after[..length];
    let is_other = is_other_currency(currency) || dollars && DOLLARS_OF.contains(&currency);
    is_other.then_some((blanks + length, currency))
}

fn is_other_currency(word: &str) -> bool {
    word.starts_with(SIGNS) || CURRENCIES.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The other currency that stands right before what may be an amount: `EUR `, `€`, the `CA` of `CA$`.
pub(in crate::models::offline) fn currency_before<'a>(before: &'a str, amount: &str) -> Option<&'a str> {
    if amount.starts_with('$') && !before.ends_with(BLANKS) {
        return currency_at_end(before, true);
    }
    currency_at_end(before.trim_end_matches(BLANKS), false)
}

/// The other currency with which a text ends. `dollars` is whether a dollar sign follows.
fn currency_at_end(text: &str, dollars: bool) -> Option<&str> {
    if let Some(sign) = text.chars().next_back().filter(|c| SIGNS.contains(c)) {
        return Some(&text[text.len() - sign.len_utf8()..]);
    }
    let length: usize = text.chars().rev().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
    let word = &text[text.len() - length..];
    (is_other_currency(word) || dollars && OTHER_DOLLARS.contains(&word)).then_some(word)
}

fn dollars(text: &str) -> Option<ReadValue> {
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
    let (nanos, mut end, mut fit, problem) = match of_elsewhere(text, at, dollars) {
        ElsewhereAmount::Read(nanos, end) => (nanos, end, DOUBTED, Some(OF_ELSEWHERE.to_owned())),
        ElsewhereAmount::GoesOn => return None,
        ElsewhereAmount::No => {
            let (nanos, end) = of_here(text, at)?;
            (nanos, end, if dollars { 1.0 } else { 0.8 }, None)
        }
    };
    if text[start..].starts_with('(') && text[end..].starts_with(')') {
        end += 1;
    } else if text[start..].starts_with('(') {
        fit *= 0.8;
        negative = false;
    }
    let read = ReadValue::new(if negative { -nanos } else { nanos }, start, end, fit);
    Some(ReadValue { problem, ..read })
}

/// An amount with commas between its thousands and a point before its cents, or with a word for thousands or millions
/// behind it: as nano-units, and where it ends.
fn of_here(text: &str, at: usize) -> Option<(i64, usize)> {
    let rest = &text[at..];
    let whole = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
    let digits = rest[..whole].trim_end_matches(',');
    let mut end = at + digits.len();
    let mut nanos = groups(digits)?.checked_mul(NANOS)?;
    let rest = &text[end..];
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
        || goes_on(&text[end..])
    {
        return None;
    }
    Some((nanos, end))
}

/// An amount as it is written elsewhere.
enum ElsewhereAmount {
    /// It is not.
    No,
    /// It is, and goes on as no amount does: as a range, or two limits in one.
    GoesOn,
    /// As nano-units, and where it ends.
    Read(i64, usize),
}

/// An amount with points, blanks or apostrophes between its thousands, and perhaps a comma before its cents. Behind a
/// dollar sign, and before `million`, `1.250` has three places behind its point.
fn of_elsewhere(text: &str, from: usize, dollars: bool) -> ElsewhereAmount {
    let rest = &text[from..];
    let digits = |at: usize| rest[at..].bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(0);
    let mark = rest[first..].chars().next().filter(|c| BLANKS.contains(c) || matches!(c, '.' | '\'' | '’'));
    let Some(mark) = mark.filter(|_| (1..=3).contains(&first) && !rest.starts_with('0')) else {
        return ElsewhereAmount::No;
    };
    let (mut whole, mut end) = (rest[..first].to_owned(), first);
    while rest[end..].starts_with(mark) && digits(end + mark.len_utf8()) == 3 {
        let at = end + mark.len_utf8();
        whole.push_str(&rest[at..at + 3]);
        end = at + 3;
    }
    let groups = whole.len() / 3 - first / 3;
    let has_cents = rest[end..].starts_with(',') || mark != '.' && rest[end..].starts_with('.');
    let places = if has_cents { digits(end + 1) } else { 0 };
    let mut cents = 0;
    if (1..=2).contains(&places) {
        cents = format!("{:0<2}", &rest[end + 1..end + 1 + places]).parse().unwrap_or(0);
        end += 1 + places;
    }
    let after = &rest[end..];
    let is_fraction = mark == '.' && groups == 1 && places == 0 && (dollars || million(after).is_some());
    if groups == 0 || is_fraction {
        return ElsewhereAmount::No;
    }
    if after.strip_prefix(['/', '-']).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit() || c == '$')) {
        return ElsewhereAmount::GoesOn;
    }
    // The next column of a table, a date, a telephone number.
    let is_other = after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '-'))
        || after.strip_prefix(mark).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()))
        || percentages::sign(after).is_some()
        || goes_on(after);
    let nanos = || whole.parse::<i64>().ok()?.checked_mul(NANOS)?.checked_add(cents * (NANOS / 100));
    match nanos() {
        Some(nanos) if !is_other => ElsewhereAmount::Read(nanos, from + end),
        _other_or_too_large => ElsewhereAmount::No,
    }
}

/// Whether a point or a comma with digits follows a number that seemed to be over.
fn goes_on(rest: &str) -> bool {
    rest.strip_prefix([',', '.']).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()))
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
    fn what_is_no_sure_amount_of_dollars_is_doubted() {
        for (text, expected) in [
            ("500 EUR", 500 * NANOS),
            ("EUR 500", 500 * NANOS),
            ("€ 500", 500 * NANOS),
            ("CA$500", 500 * NANOS),
            ("CAD 1 250 000 $", 1_250_000 * NANOS),
            ("EUR 1 250 000,50", 1_250_000 * NANOS + NANOS / 2),
            ("3 150,00 $ CA", 3_150 * NANOS),
            ("3 150,00 $CAN", 3_150 * NANOS),
            ("(1.250,50) EUR", -1_250 * NANOS - NANOS / 2),
            ("500 GBP", 500 * NANOS),
            ("500 CHF", 500 * NANOS),
            ("500 €", 500 * NANOS),
            ("500€", 500 * NANOS),
            ("$500 CAD", 500 * NANOS),
            ("3 150,00 $ CAD", 3_150 * NANOS),
            ("1.250,50 EUR", 1_250 * NANOS + NANOS / 2),
            ("1.250,50", 1_250 * NANOS + NANOS / 2),
            ("1 250,50", 1_250 * NANOS + NANOS / 2),
            ("1\u{a0}250", 1_250 * NANOS),
            ("1.250.000", 1_250_000 * NANOS),
            ("$1.250.000", 1_250_000 * NANOS),
            ("1'250.50", 1_250 * NANOS + NANOS / 2),
            ("1.250", 1_250 * NANOS),
        ] {
            let read = money(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(read.value.as_i64(), Some(expected), "{text}");
            assert!(read.fit <= DOUBTED && read.problem.is_some() && read.end == text.len(), "{text}: {read:?}");
        }
        for text in ["1250,50", "1.250,5555", "$1 000 000/$2 000 000", "1 250-1 300", "EUR"] {
            assert_eq!(nanos(text), None, "{text}");
        }
        assert_eq!(nanos("(2 500 units"), Some(2_500 * NANOS), "no bracket ends it");
        assert_eq!(nanos("1.250 million"), Some(1_250_000 * NANOS));
        for (text, expected) in
            [("$3.459 per gallon", 3_459_000_000), ("0.125", NANOS / 8), ("500 300 50", 500 * NANOS)]
        {
            let read = money(text).unwrap();
            assert_eq!((read.value.as_i64(), read.problem), (Some(expected), None), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in ["", "none", "10/01/2025", "1,00", "12%", "2 %", "2.5 percent", "$99,999,999,999"] {
            assert_eq!(nanos(text), None, "{text}");
        }
    }
}
