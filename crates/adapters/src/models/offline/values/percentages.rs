//! Percentages: `2 %`, `2.5%`, `12 percent`.

use super::{ReadValue, indent};

/// Digits before and behind the point.
const MAX_WHOLE: usize = 4;
const MAX_FRACTION: usize = 6;
/// Blanks between a number and its sign.
const MAX_BLANKS: usize = 2;
/// Words for the sign.
const WORDS: [&str; 8] = ["percent", "per cent", "pct", "por ciento", "pour cent", "pourcent", "prozent", "procent"];

/// A percentage, as a decimal number without zeros that say nothing. A number alone is none.
pub(super) fn percentage(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let from = start + usize::from(text[start..].starts_with('-'));
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(from);
    let mut end = from + whole;
    let mut fraction = "";
    if text[end..].starts_with(['.', ',']) {
        let length = digits(end + 1);
        // Three digits behind a comma are thousands as well as thousandths.
        if length > MAX_FRACTION || length == 0 || text[end..].starts_with(',') && length > 2 {
            return None;
        }
        fraction = text[end + 1..end + 1 + length].trim_end_matches('0');
        end += 1 + length;
    }
    if whole > MAX_WHOLE || end == from {
        return None;
    }
    end += sign(&text[end..])?;
    let whole = text[from..from + whole].trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    let minus = if from > start && (whole, fraction) != ("0", "") { "-" } else { "" };
    Some(ReadValue::new(format!("{minus}{whole}{point}{fraction}"), start, end, 1.0))
}

/// How many bytes the sign or the word takes, with the blanks before it.
pub(super) fn sign(rest: &str) -> Option<usize> {
    let after = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let blanks = rest.len() - after.len();
    if rest[..blanks].chars().count() > MAX_BLANKS {
        return None;
    }
    if after.starts_with('%') {
        return Some(blanks + 1);
    }
    let is_word = |word: &&&str| {
        after.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
            && !after[word.len()..].starts_with(char::is_alphanumeric)
    };
    WORDS.iter().find(is_word).map(|word| blanks + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> String {
        percentage(text).and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    #[test]
    fn percentages_become_exact_decimals() {
        for (text, expected) in [
            ("2 %", "2"),
            ("2.50% of the value", "2.5"),
            ("12 percent", "12"),
            ("8.875 Pct.", "8.875"),
            ("100%", "100"),
            ("2,5 %", "2.5"),
            ("007.0 per cent", "7"),
            (".5%", "0.5"),
            ("-3%", "-3"),
            ("-0.0 %", "0"),
            ("(15%)", "15"),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn what_has_no_sign_is_none() {
        for text in
            ["", "%", "2", "2.5", "$2%", "2 percentile", "1,250 %", "2.%", "2   %", "12345%", "1/2 %", "two percent"]
        {
            assert_eq!(value(text), "", "{text}");
        }
    }
}
