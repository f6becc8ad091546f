//! Numbers that identify something, years and counts.

use super::{DOUBTED, ReadValue, indent};

const MAX_POLICY: usize = 32;
/// Letters of a piece of a policy number that has no digit.
const MAX_LETTERS: usize = 8;
/// Codes of currencies, after which an amount stands and no number.
const CURRENCIES: [&str; 4] = ["USD", "CAD", "MXN", "EUR"];
/// Digits at the end of a cell that go on with a number.
const LEAST_REST: usize = 3;
/// Digits of a policy number that has no letter.
const LEAST_DIGITS: usize = 5;
/// Capitals that are words by themselves.
const WORDS: [char; 6] = ['A', 'E', 'I', 'O', 'X', 'Y'];
/// Pieces behind which two capitals at the end are the last piece, and not what the policy covers.
const MANY_PIECES: usize = 3;

/// A run of ASCII digits at the beginning, with its byte range.
fn digits(text: &str, from: usize) -> Option<(&str, usize)> {
    let rest = text.get(from..)?;
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let run = rest.get(..length)?;
    let joined = rest[length..].starts_with(|c: char| c.is_alphanumeric());
    (length > 0 && !joined).then_some((run, from + length))
}

fn identifier(text: &str, least: usize, most: usize, prefixes: &[&str]) -> Option<ReadValue> {
    let mut from = indent(text);
    let upper = text.get(from..from + 8).or_else(|| text.get(from..))?.to_ascii_uppercase();
    if let Some(prefix) = prefixes.iter().find(|prefix| upper.starts_with(**prefix)) {
        from += prefix.len();
    }
    from += text[from..].len() - text[from..].trim_start_matches([' ', '#', ':', '-', '.']).len();
    let (run, end) = digits(text, from)?;
    // A spreadsheet may have made a number of it.
    let rest = &text[end..];
    let end =
        if rest.starts_with(".0") && !rest[2..].starts_with(|c: char| c.is_ascii_digit()) { end + 2 } else { end };
    let fraction =
        text[end..].starts_with(['/', ',', '.', '-']) && text[end + 1..].starts_with(|c: char| c.is_ascii_digit());
    ((least..=most).contains(&run.len()) && !fraction).then(|| ReadValue::new(run, from, end, 1.0))
}

/// A USDOT number.
pub(super) fn dot(text: &str) -> Option<ReadValue> {
    identifier(text, 4, 8, &["USDOT", "US DOT", "DOT"])
}

/// A motor carrier number.
pub(super) fn motor_carrier(text: &str) -> Option<ReadValue> {
    identifier(text, 4, 8, &["MC"])
}

/// An insurer's NAIC code; of several that stand behind one another nobody knows whose is whose.
pub(super) fn naic(text: &str) -> Option<ReadValue> {
    let read = identifier(text, 5, 5, &["NAIC"])?;
    let next = text[read.end..].trim_start_matches([' ', '/']);
    let is_another =
        next.len() < text[read.end..].len() && identifier(next, 5, 5, &[]).is_some_and(|next| next.start == 0);
    (!is_another).then_some(read)
}

/// A policy number: up to six pieces of capitals, digits and dashes, at least one with a digit. A single capital at the
/// very end belongs to it, and so do two behind several pieces.
pub(super) fn policy(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let start = start + text[start..].len() - text[start..].trim_start_matches(['#', ' ']).len();
    let mut end = start;
    let mut at = start;
    for pieces in 0..6 {
        let rest = &text[at..];
        let length =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '/' | '.'))).unwrap_or(rest.len());
        let piece = rest[..length].trim_end_matches(['.', '-', '/']);
        let has_digit = piece.bytes().any(|b| b.is_ascii_digit());
        let capitals = !piece.bytes().any(|b| b.is_ascii_lowercase());
        let first_lower = at == start && has_digit && !piece.starts_with(|c: char| c.is_ascii_lowercase());
        if piece.is_empty() || !(capitals || first_lower) || too_long(piece, at == start) || looks_like_date(piece) {
            break;
        }
        let ends = text[at + piece.len()..].trim_start_matches('.').trim().is_empty();
        let most = if pieces >= MANY_PIECES { 2 } else { 1 };
        let lettered = pieces > 0 && is_last_letter(piece, &text[at + piece.len()..]);
        if has_digit || lettered || (ends && end > start && piece.len() <= most) {
            end = at + piece.len();
        }
        let after = at + length;
        if (end > start || piece.len() > 1) && piece.len() < length && goes_on(&text[at + piece.len()..]) {
            at = after + 1;
            continue;
        }
        if piece.len() < length || !text[after..].starts_with(' ') || text[after..].starts_with("  ") {
            break;
        }
        at = after + 1;
    }
    let number = text.get(start..end)?;
    let count = number.bytes().filter(u8::is_ascii_digit).count();
    let first = number.split(' ').next().unwrap_or_default();
    let other = super::vin::vin(number).is_some()
        || CURRENCIES.contains(&first)
        || CURRENCIES.iter().any(|c| amount(number, c));
    // `69 300 $` is an amount.
    let spaced = number.bytes().all(|b| b.is_ascii_digit() || b == b' ');
    let priced = spaced && text[end..].trim_start().starts_with(['$', '€', '£']);
    let plain = count == number.len() && count < LEAST_DIGITS || is_edition(&text[end..]) || priced;
    let fits = (4..=MAX_POLICY).contains(&number.len()) && count >= 2 && !other && !plain;
    let fit = if number.len() >= 6 && count >= 4 { 1.0 } else { 0.85 };
    let value = number.replace("- ", "-").replace("/ ", "/");
    fits.then(|| ReadValue::new(value, start, end, fit))
}

/// Whether a piece is a single capital that is no word by itself, behind which a sentence goes on or a clause ends.
fn is_last_letter(piece: &str, rest: &str) -> bool {
    let ends = rest.starts_with([',', ';', ')']);
    let mut rest = rest.chars();
    let goes_on = ends || rest.next() == Some(' ') && rest.next().is_some_and(char::is_lowercase);
    goes_on && piece.len() == 1 && piece.starts_with(|c: char| c.is_ascii_uppercase() && !WORDS.contains(&c))
}

/// Whether a month and a year in brackets follow, `(03 21)`: then the number is a printed form's.
fn is_edition(rest: &str) -> bool {
    let Some((inside, _)) = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return false;
    };
    let pair = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
    inside.split_once([' ', '/', '-']).is_some_and(|(month, year)| pair(month) && pair(year))
}

/// Whether a number goes on behind a dash or a stroke and a gap that its print has left there.
fn goes_on(rest: &str) -> bool {
    let Some(next) = rest.strip_prefix("- ").or_else(|| rest.strip_prefix("/ ")) else { return false };
    // What ends a cell needs no length of its own.
    let ends = next.trim_end().len() >= LEAST_REST && next.trim_end().bytes().all(|b| b.is_ascii_digit());
    if ends {
        return true;
    }
    let next = next.split(' ').next().unwrap_or_default();
    let written = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    next.len() >= LEAST_DIGITS
        && next.chars().all(written)
        && next.bytes().any(|b| b.is_ascii_digit())
        && !looks_like_date(next)
}

/// Whether a piece without a digit is too long to be a part of a number; the first one may be longer.
fn too_long(piece: &str, is_first: bool) -> bool {
    let most = if is_first { MAX_LETTERS } else { 5 };
    piece.len() > most && !piece.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a number is an amount of a currency: `USD39`.
fn amount(number: &str, currency: &str) -> bool {
    number.strip_prefix(currency).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}

fn looks_like_date(piece: &str) -> bool {
    super::dates::date(piece).is_some_and(|read| read.end == piece.len())
}

/// A number that somebody gave something: one piece, or a word of capitals and a number.
pub(super) fn reference(text: &str) -> Option<ReadValue> {
    let mut read = policy(text).or_else(|| {
        let start = indent(text);
        let start = start + text[start..].len() - text[start..].trim_start_matches(['#', ' ']).len();
        let length = text[start..].bytes().take_while(u8::is_ascii_digit).count();
        let joined = text[start + length..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | ','));
        let number = text.get(start..start + length).filter(|number| number.len() >= 3 && !joined)?;
        Some(ReadValue::new(number, start, start + length, 0.85))
    })?;
    // Numbers of the same page, such as amounts, are no part of it.
    if let Some(first) = text.get(read.start..read.end).and_then(|whole| whole.split(' ').next())
        && first.bytes().filter(u8::is_ascii_digit).count() >= 3
        && first.len() < read.end - read.start
    {
        read.value = first.into();
        read.end = read.start + first.len();
    }
    (!is_day(read.value.as_str().unwrap_or_default())).then_some(read)
}

/// Whether a text is a day without its year, or with it: `10/22`.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').collect();
    let number = |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit());
    (2..=3).contains(&parts.len()) && parts[..2].iter().all(|part| part.len() <= 2) && parts.iter().all(number)
}

/// The two letters of a state before a licence's number, and the number: letters, digits and dashes.
pub(super) fn license(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let rest = &text[start..];
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut end = 0;
    for piece in rest.split_inclusive(' ').take(5) {
        let bare = piece.trim_end();
        let bare = bare.trim_end_matches([',', ';', '.', ')']);
        let digits = bare.bytes().filter(u8::is_ascii_digit).count();
        let state = end == 0 && bare.len() == 2 && bare.bytes().all(|b| b.is_ascii_uppercase());
        let fits = !bare.is_empty() && bare.chars().all(is_part) && !bare.bytes().any(|b| b.is_ascii_lowercase());
        if !(state || (fits && digits >= 2)) || looks_like_date(bare) {
            break;
        }
        end += piece.len();
        if piece.len() > bare.len() + 1 {
            break;
        }
    }
    let number = rest[..end].trim_end().trim_end_matches([',', ';', '.', ')']);
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    ((5..=17).contains(&digits) && number.len() <= 24)
        .then(|| ReadValue::new(number, start, start + number.len(), 0.95))
}

/// A UUID, perhaps in `[Request:…]`.
pub(super) fn token(text: &str) -> Option<ReadValue> {
    const PARTS: [usize; 5] = [8, 4, 4, 4, 12];
    let start = indent(text);
    let upper = text.get(start..).unwrap_or_default();
    let start = start + upper.len() - upper.trim_start_matches(['#', ':', ' ']).len();
    let mut end = start;
    for (index, length) in PARTS.into_iter().enumerate() {
        if index > 0 {
            text[end..].starts_with('-').then_some(())?;
            end += 1;
        }
        let part = text.get(end..end + length)?;
        part.bytes().all(|b| b.is_ascii_hexdigit()).then_some(())?;
        end += length;
    }
    let joined = text[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
    (!joined).then(|| ReadValue::new(text[start..end].to_lowercase(), start, end, 1.0))
}

/// A year between 1900 and 2099.
pub(super) fn year(text: &str) -> Option<ReadValue> {
    let from = indent(text);
    let (run, end) = digits(text, from)?;
    let number: u32 = run.parse().ok()?;
    (run.len() == 4 && (1900..2100).contains(&number) && !text[end..].starts_with(['-', '/']))
        .then(|| ReadValue::new(number, from, end, 1.0))
}

/// A whole number, perhaps with thousands' commas. One with a fraction, or whose thousands are parted otherwise, is
/// doubted.
pub(super) fn integer(text: &str) -> Option<ReadValue> {
    let from = indent(text);
    let rest = &text[from..];
    let (parts, marks, end) = parts(rest);
    let first = *parts.first()?;
    // A fraction does not break the thousands before it. Zeros are what a spreadsheet may have added.
    let (whole, marks, is_whole) = match (parts.split_last(), marks.strip_suffix('.')) {
        (Some((last, whole)), Some(marks)) if last.len() != 3 && marks.chars().all(|mark| mark == ',') => {
            (whole, marks, last.bytes().all(|digit| digit == b'0'))
        }
        _no_fraction => (parts.as_slice(), marks.as_str(), true),
    };
    let (whole, is_sure) = if whole.iter().skip(1).all(|part| part.len() == 3) {
        (whole.concat(), marks.chars().all(|mark| mark == ',') && (first.len() <= 3 || marks.is_empty()) && is_whole)
    } else {
        (first.to_owned(), false)
    };
    let number: i64 = whole.parse().ok()?;
    let joined = rest[end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '-'));
    let mut read = ReadValue::new(number, from, from + end, 0.9);
    if !is_sure {
        read.fit *= DOUBTED;
        read.problem = Some("it is no whole number, or its thousands are not parted by commas".to_owned());
    }
    (!joined).then_some(read)
}

/// The runs of digits of a number, the marks between them, and where it ends. A blank parts only thousands: what else
/// follows it, such as the next column, is another number.
fn parts(text: &str) -> (Vec<&str>, String, usize) {
    let digits = |at: usize| text[at..].bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(0);
    let (mut parts, mut marks, mut end) = (vec![&text[..first]], String::new(), first);
    if first == 0 {
        return (Vec::new(), marks, 0);
    }
    let is_blank = |mark: char| matches!(mark, ' ' | '\u{a0}' | '\u{202f}');
    while let Some(mark) = text[end..].chars().next().filter(|c| is_blank(*c) || matches!(c, ',' | '.' | '\'' | '’'))
    {
        let at = end + mark.len_utf8();
        let length = digits(at);
        let is_other = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-');
        let parts_thousands =
            length == 3 && first <= 3 && !text.starts_with('0') && !text[at + length..].starts_with(is_other);
        if length == 0 || is_blank(mark) && !(parts_thousands && marks.chars().all(|other| other == mark)) {
            break;
        }
        parts.push(&text[at..at + length]);
        marks.push(mark);
        end = at + length;
    }
    let mut after = text[end..].chars();
    let is_column = after.next().is_some_and(is_blank) && after.next().is_some_and(|c| c.is_ascii_digit());
    if is_column && marks.starts_with(is_blank) {
        return (vec![&text[..first]], String::new(), first);
    }
    (parts, marks, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(read: Option<ReadValue>) -> String {
        read.map_or_else(String::new, |read| read.value.as_str().map_or_else(|| read.value.to_string(), str::to_owned))
    }

    #[test]
    fn identifiers_drop_their_prefix_and_check_their_length() {
        assert_eq!(value(dot(" 9104417.")), "9104417");
        assert_eq!(value(dot("USDOT# 9104417")), "9104417");
        assert_eq!(value(dot("9104417.0")), "9104417");
        assert_eq!(value(motor_carrier("MC-1904417")), "1904417");
        assert_eq!(value(naic("# 99101)")), "99101");
        assert_eq!(value(naic("991011")), "");
        assert_eq!(value(naic("99101 99202 99303")), "");
        assert_eq!(value(naic("99101 10/01/2025")), "99101");
        assert_eq!(value(dot("03/01/2025")), "");
        assert_eq!(value(motor_carrier("20 14 Coverage")), "");
    }

    #[test]
    fn policy_numbers_keep_their_spaces_and_stop_at_prose() {
        assert_eq!(value(policy("NRC-AL-204417-02")), "NRC-AL-204417-02");
        assert_eq!(value(policy("BHA 40 118265")), "BHA 40 118265");
        assert_eq!(value(policy("NXA-2231, eff 4/1")), "NXA-2231");
        assert_eq!(value(policy("NXA-2231 eff 4/1")), "NXA-2231");
        assert_eq!(value(policy("CHM-7710293 Page 1")), "CHM-7710293");
        assert_eq!(value(policy("03/01/2025 to 03/01/2026")), "");
        assert_eq!(value(policy("RXM 3310 0091 A")), "RXM 3310 0091 A");
        assert_eq!(value(policy("RXM 3310 0091 B from today")), "RXM 3310 0091 B");
        assert_eq!(value(policy("RXM 3310 0091 A truck")), "RXM 3310 0091");
        assert_eq!(value(policy("KX WC 26 300471 NC")), "KX WC 26 300471 NC");
        assert_eq!(value(policy("KX 300471 AL")), "KX 300471", "that may be what it covers");
        assert_eq!(value(policy("MPCTRK 7411823")), "MPCTRK 7411823");
        assert_eq!(value(policy("KX-AB-20- 118")), "KX-AB-20-118");
        for text in ["period", "USD 39,516", "2022 Kenworth", "1XKYD49X5MJ914201", "KX 0001 (03 21), KX 0102 (03 21)"] {
            assert_eq!(value(policy(text)), "", "{text}");
        }
    }

    #[test]
    fn references_licences_and_tokens() {
        assert_eq!(value(reference("KG26-17198  07/19/2023")), "KG26-17198");
        assert_eq!(value(reference("5520771")), "5520771");
        assert_eq!(value(reference("none")), "");
        assert_eq!(value(reference("10/22 at the plant")), "", "a day is no number of a load");
        assert_eq!(value(reference("4410/22")), "4410/22");
        assert_eq!(value(license("NC 000041187")), "NC 000041187");
        assert_eq!(value(license("G400-1172-2011, Class A")), "G400-1172-2011");
        assert_eq!(value(license("Class A")), "");
        let id = "019d8af3-e727-7af3-a727-8af3e727727e";
        assert_eq!(value(token(&format!(" {id}]"))), id);
        assert_eq!(value(token("019d8af3-e727")), "");
    }

    #[test]
    fn counts_and_years() {
        for (text, number) in [
            ("1,250 units", "1250"),
            ("1,250,000.", "1250000"),
            ("12, 5 of them new", "12"),
            ("12.0", "12"),
            ("42,000.00 lbs", "42000"),
            ("1250", "1250"),
            ("5 120 40", "5"),
            ("5 100-gallon drums", "5"),
            ("0 500", "0"),
        ] {
            let read = integer(text).unwrap();
            assert_eq!((value(Some(read.clone())).as_str(), read.problem), (number, None), "{text}");
        }
        for (text, number) in [
            ("12.5", "12"),
            ("44,000.5", "44000"),
            ("12,5", "12"),
            ("1.250", "1250"),
            ("1 250", "1250"),
            ("1\u{a0}250 units", "1250"),
            ("1'250", "1250"),
            ("3,4,5", "3"),
            ("1250,000", "1250000"),
        ] {
            let read = integer(text).unwrap();
            assert_eq!(value(Some(read.clone())), number, "{text}");
            assert!(read.problem.is_some() && read.fit < DOUBTED, "{text}");
        }
        assert_eq!(value(integer("12.5-foot")), "");
        assert_eq!(value(year("2021")), "2021");
        assert_eq!(value(year("1021")), "");
    }
}
