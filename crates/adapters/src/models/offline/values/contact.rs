//! Telephone numbers, e-mail addresses and postal addresses.

use super::{ReadValue, indent};

const MAX_EMAIL: usize = 254;
const MAX_ADDRESS: usize = 240;

/// A telephone number with ten digits, at the beginning of the text.
pub(super) fn phone(text: &str) -> Option<ReadValue> {
    let start =
        text.len() - text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '*' | ':')).len();
    let mut digits = String::new();
    let mut end = start;
    let mut gap = 0;
    for (at, letter) in text[start..].char_indices() {
        match letter {
            '0'..='9' => {
                digits.push(letter);
                end = start + at + 1;
                gap = 0;
            }
            '(' | ')' | '-' | '.' | ' ' | '+' | '\u{a0}' | '–' if gap < 3 => gap += 1,
            _ => break,
        }
        if digits.len() == 10 && !digits.starts_with('1') || digits.len() == 11 {
            break;
        }
    }
    if text[end..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let local = if digits.len() == 11 { digits.strip_prefix('1')? } else { &digits };
    let valid = local.len() == 10 && !local.starts_with(['0', '1']) && !local[3..].starts_with(['0', '1']);
    // Ten digits in a row are more often some other number.
    let fit = if text[start..end].len() > digits.len() { 1.0 } else { 0.8 };
    valid.then(|| ReadValue::new(local, start, end, fit))
}

/// Every telephone number in a text that is written like one.
pub(in super::super) fn find_phones(text: &str) -> Vec<ReadValue> {
    let mut found: Vec<ReadValue> = Vec::new();
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let begins = matches!(letter, '(' | '+' | '2'..='9' | '1')
            && !before.is_alphanumeric()
            && !matches!(before, '-' | '.' | '/' | '(' | '+' | '$' | ',');
        before = letter;
        if !begins || found.last().is_some_and(|last| last.end > at) {
            continue;
        }
        let window = text[at..].char_indices().nth(24).map_or(text.len(), |(length, _)| at + length);
        let read = phone(&text[at..window]).filter(|read| read.fit > 0.9).map(|read| read.moved(at));
        found.extend(read.filter(|read| is_grouped(&text[read.start..read.end])));
    }
    found
}

/// Whether digits are grouped as those of a telephone are: an area code, three and four.
fn is_grouped(number: &str) -> bool {
    let groups: Vec<usize> =
        number.split(|c: char| !c.is_ascii_digit()).map(str::len).filter(|length| *length > 0).collect();
    matches!(groups.as_slice(), [.., 3, 3, 4] | [.., 3, 7] | [.., 6, 4] | [10 | 11] | [1, 10])
}

const fn is_local(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, b'.' | b'_' | b'%' | b'+' | b'-')
}

const fn is_domain(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, b'.' | b'-')
}

/// The e-mail address around the `@` at a byte.
fn around(text: &str, at: usize) -> Option<ReadValue> {
    let bytes = text.as_bytes();
    let window = at.saturating_sub(MAX_EMAIL);
    let start = at - bytes[window..at].iter().rev().take_while(|b| is_local(**b)).count();
    let length = bytes[at + 1..].iter().take(MAX_EMAIL).take_while(|b| is_domain(**b)).count();
    let address = text.get(start..at + 1 + length)?.trim_end_matches(['.', '-']);
    let trimmed = address.trim_start_matches(['.', '-']);
    let start = start + address.len() - trimmed.len();
    let (local, domain) = trimmed.split_once('@')?;
    let (_, top) = domain.rsplit_once('.')?;
    let valid = !local.is_empty()
        && !domain.starts_with('.')
        && !domain.contains("..")
        && top.len() >= 2
        && trimmed.len() <= MAX_EMAIL;
    valid.then(|| ReadValue::new(trimmed.to_ascii_lowercase(), start, start + trimmed.len(), 1.0))
}

/// An e-mail address at the beginning of the text.
pub(super) fn email(text: &str) -> Option<ReadValue> {
    let start = text.len()
        - text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '*' | '<' | '(' | '[')).len();
    let rest = &text[start..];
    let at = rest.bytes().take(MAX_EMAIL).position(|b| b == b'@')?;
    let read = around(rest, at)?;
    let only = rest[..read.start].trim_start_matches("mailto:").trim().is_empty();
    only.then(|| read.moved(start))
}

/// Every e-mail address in a text.
pub(in super::super) fn find_emails(text: &str) -> Vec<ReadValue> {
    text.bytes().enumerate().filter(|(_, b)| *b == b'@').filter_map(|(at, _)| around(text, at)).collect()
}

/// A postal address: some text with a number in it. Lines are joined with commas.
pub(super) fn address(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let rest = text[start..].trim_end().trim_end_matches(['"', ',', ';']);
    let cut = rest.char_indices().nth(MAX_ADDRESS).map_or(rest.len(), |(at, _)| at);
    let rest = &rest[..cut];
    let lines: Vec<&str> =
        rest.split('\n').map(|line| line.trim().trim_end_matches(',')).filter(|line| !line.is_empty()).collect();
    let value = lines.join(", ");
    let digits = value.bytes().any(|b| b.is_ascii_digit());
    let letters = value.chars().filter(|c| c.is_alphabetic()).count() >= 3;
    let fit = if ends_with_zip(&value) { 1.0 } else { 0.7 };
    (digits && letters && !value.contains('@') && !value.contains('$'))
        .then(|| ReadValue::new(value, start, start + rest.len(), fit))
}

/// Whether a text ends with a state's two letters and a ZIP code, or a province's and a Canadian postal code.
pub(in super::super) fn ends_with_zip(text: &str) -> bool {
    let mut words = text.trim_end().trim_end_matches(['.', ',']).rsplit([' ', ',']).filter(|word| !word.is_empty());
    let last = words.next().unwrap_or_default();
    let (five, four) = last.split_once('-').map_or((last, None), |(five, four)| (five, Some(four)));
    let is_zip = five.len() == 5 && five.bytes().all(|b| b.is_ascii_digit()) && four.is_none_or(|four| four.len() == 4);
    // `J7E 9A3`
    let is_half = |word: &str, digits: [bool; 3]| {
        word.len() == 3
            && word.bytes().zip(digits).all(|(b, digit)| b.is_ascii_digit() == digit && b.is_ascii_alphanumeric())
    };
    let is_code = is_zip
        || (is_half(last, [true, false, true])
            && words.next().is_some_and(|first| is_half(first, [false, true, false])));
    is_code && words.next().is_some_and(|state| state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(read: Option<ReadValue>) -> String {
        read.and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    #[test]
    fn phones_become_ten_digits() {
        for text in
            ["(512) 555-0142", "512-555-0142", "512.555.0142 ext 5", "+1 512 555 0142", "1-512-555-0142", "5125550142"]
        {
            assert_eq!(value(phone(text)), "5125550142", "{text}");
        }
        for text in ["555-0142", "n/a", "012-555-0142", "51255501423"] {
            assert_eq!(value(phone(text)), "", "{text}");
        }
    }

    #[test]
    fn contacts_are_found_in_prose() {
        let text = "Call (229) 555-0136 or write to Ops@Pecan.example. Policy 7710293.";
        assert_eq!(find_phones(text).len(), 1);
        let mails = find_emails(text);
        assert_eq!(mails[0].value, "ops@pecan.example");
        assert!(find_phones("Account 512 55 50 142, 5125 550 142").is_empty());
        assert_eq!(find_phones("+1 (512) 555-0142, 512.555.0142").len(), 2);
        assert_eq!(&text[mails[0].start..mails[0].end], "Ops@Pecan.example");
    }

    #[test]
    fn addresses_need_a_number() {
        assert_eq!(value(address("715 Foundry Row\nPueblo, CO 81003")), "715 Foundry Row, Pueblo, CO 81003");
        assert!(ends_with_zip("Pueblo, CO 81003-1234") && ends_with_zip("Val-Clair, QC J7E 9A3"));
        assert!(!ends_with_zip("Unit QC J7E") && !ends_with_zip("model QC 77E 9A3"));
        assert_eq!(value(address("to be assigned")), "");
    }
}
