//! Federal employer identification numbers.

use super::{DOUBTED, ReadValue, indent};

/// Digits before and behind the dash.
const PREFIX: usize = 2;
const SERIAL: usize = 7;
/// Prefixes that no campus of the Internal Revenue Service gives ("How EINs are assigned and valid EIN prefixes", IRS).
const UNGIVEN: [&str; 17] =
    ["00", "07", "08", "09", "17", "18", "19", "28", "29", "49", "69", "70", "78", "79", "89", "96", "97"];

/// `12-3456789`, or nine digits in a row; a prefix that nobody is given is a problem, not a refusal.
///
/// A social security number has its dashes elsewhere, and is none.
pub(super) fn fein(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let start = start + text[start..].len() - text[start..].trim_start_matches(['#', ' ']).len();
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let (prefix, serial, end, fit) = match digits(start) {
        PREFIX => {
            let gap = text[start + PREFIX..].chars().next().filter(|gap| matches!(gap, '-' | '–' | '\u{2011}'))?;
            let from = start + PREFIX + gap.len_utf8();
            if digits(from) != SERIAL {
                return None;
            }
            (&text[start..start + PREFIX], &text[from..from + SERIAL], from + SERIAL, 1.0)
        }
        length if length == PREFIX + SERIAL => {
            let end = start + length;
            (&text[start..start + PREFIX], &text[start + PREFIX..end], end, 0.9)
        }
        _ => return None,
    };
    let mut after = text[end..].chars();
    let goes_on = match after.next() {
        Some('-' | '/' | '.' | ',') => after.next().is_some_and(|next| next.is_ascii_digit()),
        Some(letter) => letter.is_alphanumeric(),
        None => false,
    };
    if goes_on {
        return None;
    }
    let mut read = ReadValue::new(format!("{prefix}-{serial}"), start, end, fit);
    if UNGIVEN.contains(&prefix) {
        read.fit = DOUBTED;
        read.problem = Some(format!("no employer's number begins with {prefix}"));
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> String {
        fein(text).and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    #[test]
    fn an_employers_number_has_its_dash_after_two_digits() {
        for text in ["84-5550142", " # 845550142.", "84–5550142, Waco", "84-5550142\tTX"] {
            assert_eq!(value(text), "84-5550142", "{text}");
        }
        for text in
            ["123-45-6789", "84-555014", "84-55501423", "8455501423", "84-5550142-1", "84-5550142A", "84/5550142"]
        {
            assert_eq!(value(text), "", "{text}");
        }
    }

    #[test]
    fn a_prefix_that_nobody_is_given_is_told() {
        let read = fein("07-5550142").unwrap();
        assert_eq!(read.value, "07-5550142");
        assert_eq!(read.problem.as_deref(), Some("no employer's number begins with 07"));
        assert_eq!(fein("06-5550142").unwrap().problem, None);
    }
}
