//! How the text around a label is written: what may stand before it, and what parts it from its value.

use kybern_core::list;

use super::analyse::clip;

/// Longest remark in brackets between a label and its colon.
const MAX_REMARK: usize = 40;
/// Words before a label that change nothing: `your policy number`, `new driver`.
const LEADS: &[&str] = list!(
    "your, our, their, the, this, my, new, additional, su, nuestro, nuestra, mi, el, la, nuevo, nueva, votre, notre, \
     mon, le, nouveau, nouvelle, neuer, neue"
);
/// Words before a label that may be such.
const MAX_LEADS: usize = 2;
/// Words with which a form asks for what a label names: `What is the contract number?`
const QUESTIONS: [&str; 8] = ["what", "which", "when", "cuál", "cual", "quel", "quelle", "welche"];
const VERBS_OF_QUESTIONS: [&str; 8] = ["is", "are", "was", "s", "es", "est", "ist", "does"];
/// What the items of a form are called.
const ITEMS: [&str; 8] = ["item", "section", "part", "box", "field", "question", "punto", "rubrique"];
/// Words between a label and its value in a sentence: `the contract number is …`
const VERBS: [&str; 12] = [
    "is ",
    "was ",
    "es ",
    "es el ",
    "est ",
    "est le ",
    "ist ",
    "of the company is ",
    ", it is ",
    ", it's ",
    ", which is ",
    ", c'est ",
];

/// What the number of a thing is called behind the thing.
const NUMBERS: [&str; 7] = ["number", "no", "nr", "#", "num", "número", "numéro"];

/// What stands between a label and its value on the next line.
const POINTERS: &[&str] = list!(
    "is, are, below, is below, as follows, is as follows, the following, the following company, \
     the following companies, the company below, the companies below, the party below, the holder below, this company, \
     la siguiente empresa, la empresa siguiente, l entreprise suivante"
);

/// Whether nothing that matters stands before a label: a bullet, or words such as `your`.
pub(super) fn opens(before: &str) -> bool {
    let mut words = before.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    if enumerates(before) {
        return true;
    }
    let leads = words.clone().take(MAX_LEADS + 1).count() <= MAX_LEADS
        && words.all(|word| LEADS.contains(&word.to_lowercase().as_str()));
    leads || is_bullet(before)
}

/// Whether a text begins a question that the label behind it ends.
pub(super) fn asks(before: &str) -> bool {
    let words = before.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = words.skip_while(|word| word.bytes().all(|b| b.is_ascii_digit())).map(str::to_lowercase);
    let asked = words.next().is_some_and(|word| QUESTIONS.contains(&word.as_str()));
    let rest = words.skip_while(|word| VERBS_OF_QUESTIONS.contains(&word.as_str()));
    let rest: Vec<String> = rest.take(MAX_LEADS + 1).collect();
    asked && rest.len() <= MAX_LEADS && rest.iter().all(|word| LEADS.contains(&word.as_str()))
}

/// Whether a text says which of the items of a form follows: `Item ONE.`
fn enumerates(before: &str) -> bool {
    let Some(before) = before.trim_end().strip_suffix(['.', ':', ')', '-']) else { return false };
    let mut words = before.split_whitespace();
    let item = words.next().is_some_and(|word| ITEMS.contains(&word.to_lowercase().as_str()));
    item && words.next().is_some_and(|word| word.chars().all(char::is_alphanumeric)) && words.next().is_none()
}

/// A text without the number of the item of a form that it begins with: `Part 1. Policy Number / Term`.
pub(super) fn past_item(text: &str) -> &str {
    let cut = text.find(['.', ':', ')']).filter(|at| enumerates(&text[..=*at]));
    cut.map_or(text, |at| text[at + 1..].trim_start())
}

/// Where a value may begin after a label, and whether a colon or its like was passed.
pub(super) fn past_separator(text: &str, from: usize, limit: usize) -> (usize, bool) {
    let mut at = from;
    let mut colon = false;
    while at < limit {
        let rest = &text[at..limit];
        let Some(letter) = rest.chars().next() else { break };
        let step = match letter {
            ':' | '=' | '：' if !colon => {
                colon = true;
                letter.len_utf8()
            }
            '(' if !colon => match clip(rest, MAX_REMARK).find(')') {
                Some(close) if is_time(&rest[1..close]) => close + 1,
                Some(close) if !rest[..close].contains(':') && !has_digits(&rest[..close]) => close + 1,
                _ => break,
            },
            '-' | '–' | '—' if !colon => {
                let after = &rest[letter.len_utf8()..];
                colon = (after.starts_with(' ') || after.is_empty()) && text[..at].ends_with(' ');
                letter.len_utf8()
            }
            '"' if colon && rest.starts_with("\"\"") => break,
            '"' | '\'' | '*' | '.' | '?' | '#' => 1,
            '°' | 'º' => letter.len_utf8(),
            _ if letter.is_whitespace() => letter.len_utf8(),
            _ => break,
        };
        at += step;
    }
    let verb = VERBS.iter().find(|verb| text[at..limit].starts_with(**verb)).filter(|_| !colon);
    (at + verb.map_or(0, |verb| verb.len()), colon)
}

/// Where a value may begin behind a single letter and a colon.
pub(super) fn past_letter(text: &str, from: usize, limit: usize) -> Option<usize> {
    let rest = text.get(from..limit)?;
    let after = rest.strip_prefix(|c: char| c.is_ascii_uppercase())?.trim_start_matches(' ').strip_prefix(':')?;
    Some(limit - after.trim_start().len())
}

/// Whether the rest of a sentence behind a label says no more than that its value stands beneath.
pub(super) fn points_down(rest: &str) -> bool {
    let rest = clip(rest, MAX_REMARK).trim_end_matches(['?', ':', '.', '!', ' ']).to_lowercase();
    POINTERS.contains(&rest.as_str())
}

/// Whether a word says that the number of what stands before it or above it follows.
pub(super) fn calls_number(word: &str) -> bool {
    NUMBERS.contains(&word.trim_end_matches([':', '.']).to_lowercase().as_str())
}

/// Whether nothing inside a phrase parts it in two: `policy, number` is one label all the same.
pub(super) fn is_one(phrase: &str) -> bool {
    let parts = |c: char| matches!(c, ':' | '(' | ')' | ';' | '"');
    let listed = phrase.split_once(',').is_some_and(|(_, rest)| !calls_number(rest.trim()));
    !phrase.contains(parts) && !listed
}

/// A cell without brackets around all of it, and without a time of the day in brackets at its end.
pub(super) fn bare(text: &str, start: usize, end: usize) -> (usize, usize) {
    let cell = &text[start..end];
    let inside = cell.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    if inside.is_some_and(|inside| !inside.contains(['(', ')'])) {
        return (start + 1 + own(&cell[1..]), end - 1);
    }
    let owned = own(cell);
    if owned > 0 {
        return (start + owned, end);
    }
    let timed = cell.strip_suffix([':', ' ']).unwrap_or(cell).trim_end().strip_suffix(')');
    let remark = timed.and_then(|cell| cell.rsplit_once(" (")).filter(|(_, remark)| is_time(remark));
    remark.map_or((start, end), |(label, _)| (start, start + label.len()))
}

/// How many bytes the word takes that says whose it is: `Your policy number`.
fn own(cell: &str) -> usize {
    const OWNERS: [&str; 8] = ["your ", "our ", "my ", "su ", "sus ", "votre ", "vos ", "ihre "];
    let begins = |owner: &&&str| cell.get(..owner.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(owner));
    OWNERS.iter().find(begins).map_or(0, |owner| owner.len())
}

/// Whether a remark is a time of the day: `12:01 a.m.`
pub(super) fn is_time(remark: &str) -> bool {
    let digits = remark.bytes().filter(u8::is_ascii_digit).count();
    (3..=4).contains(&digits) && remark.contains([':', 'h']) && remark.len() <= MAX_REMARK
}

pub(super) fn has_digits(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_digit).count() >= 4
}

fn is_bullet(before: &str) -> bool {
    let before = before.trim_end_matches(['.', ')']);
    before.len() <= 3 && before.bytes().all(|b| b.is_ascii_digit())
}
