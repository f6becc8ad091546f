//! Names of businesses, and free text.

use kybern_core::list;

use super::super::analyse::clip;
use super::businesses::{businesses_from, find_capitalised, is_trade_mark};
use super::{ReadValue, indent};

const MAX_NAME: usize = 120;
const MAX_NAME_WORDS: usize = 12;
const MAX_TEXT: usize = 300;
/// Bytes of a text in which the name that it begins with is looked for: a label that stands often in one long line must
/// not have all of it read each time.
const MAX_LEADING: usize = 2 * 1024;
/// Words before a name in a sentence.
const ARTICLES: [&str; 8] = ["the ", "la ", "le ", "el ", "les ", "los ", "las ", "l'"];
/// Words that join the parts of a name.
const JOINTS: [&str; 6] = ["and", "the", "des", "del", "les", "und"];
/// Words that lead to a telephone number or an address.
const CONTACTS: [&str; 11] =
    ["phone", "ph", "tel", "telephone", "fax", "cell", "mobile", "email", "e-mail", "tél", "teléfono"];
/// What streets are called.
const STREETS: &[&str] = list!(
    "st, street, rd, road, ave, avenue, ct, court, ln, lane, dr, drive, blvd, boulevard, hwy, highway, pkwy, parkway, \
     way, row, loop, pl, place, sq, ste, suite, terrace, trail, pike, plaza, plz, circle, cir, crossing, xing, route"
);
/// Letters of the label of a number that follows a name: `MC 123456`.
const MAX_ACRONYM: usize = 5;
/// Digits of such a number.
const LEAST_DIGITS: usize = 4;
/// Words of labels that stand before a code: `Company NAIC / Code NAIC: 99101`. Together they name nobody.
const OF_LABELS: [&str; 8] = ["", "company", "naic", "code", "number", "no", "carrier", "insurer"];
/// Legal forms, as they end a business's name.
const FORMS: &[&str] = list!(
    "llc, l.l.c., l.l.c, inc, inc., incorporated, corp, corp., corporation, ltd, ltd., limited, ltée, ltee, ltée., lp, \
     l.p., llp, l.l.p., lllp, pllc, plc, co., company, co-op, cooperative, gmbh, s.a., r.l., sarl, c.v., cv, s.l., \
     enr., s.e.n.c., jv, pc"
);

/// Words of names that are written short, with a stop that ends no sentence: `Fern Bros. Hauling`, `St. Fern Freight`.
const SHORTENED: [&str; 22] = [
    "bros", "assoc", "assocs", "intl", "natl", "mfg", "mgmt", "svc", "svcs", "serv", "transp", "trans", "trkg", "frt",
    "dist", "logis", "equip", "constr", "const", "st", "mt", "ft",
];

/// Whether the stop behind a word of a name says that it is written short.
pub(super) fn is_shortened(word: &str) -> bool {
    let Some(word) = word.strip_suffix('.').filter(|word| word.starts_with(char::is_uppercase)) else { return false };
    word.chars().count() == 1 || SHORTENED.contains(&word.to_lowercase().as_str())
}

pub(super) fn is_form(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ':', ')']);
    if word.is_ascii() {
        // Nearly every word: nothing need be copied into small letters.
        let (same, bare) = (|form: &&str| form.eq_ignore_ascii_case(word), word.trim_end_matches('.'));
        return FORMS.iter().any(|form| same(form) || form.eq_ignore_ascii_case(bare));
    }
    let word = word.to_lowercase();
    FORMS.contains(&word.as_str()) || FORMS.contains(&word.trim_end_matches('.'))
}

/// Whether the full stop after a word is part of it, as in `Inc.`
pub(super) fn keeps_stop(word: &str) -> bool {
    word.ends_with('.') && FORMS.contains(&word.to_lowercase().as_str())
}

/// Cuts what no longer belongs to a name: remarks in brackets, numbers of telephones, the next sentence.
pub(super) fn tidy(text: &str) -> &str {
    let mut end = text.len();
    for mark in [" (", " [", " <", "; ", " | ", "\","] {
        if let Some(at) = text[..end].find(mark) {
            end = at;
        }
    }
    // `Some Company of 91 Mill Row` is somewhere.
    let placed = text[..end]
        .match_indices(" of ")
        .find(|(at, of)| text[at + of.len()..end].starts_with(|c: char| c.is_ascii_digit()) && has_form(&text[..*at]));
    end = placed.map_or(end, |(at, _)| at);
    let whole = &text[..end];
    if let Some(at) = numbered(whole) {
        end = at;
    }
    if let Some(at) = labelled(&text[..end]) {
        end = at;
    }
    let whole = &text[..end];
    for (place, mark) in whole.match_indices([',', '.']) {
        let before = whole[..place].rsplit(' ').next().unwrap_or_default();
        let rest = whole[place + 1..].trim_start();
        let next = rest.split_whitespace().next().unwrap_or_default();
        if rest.is_empty() || is_form(next) {
            continue;
        }
        let contact = next.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '(' | '+'))
            || next.contains('@')
            || CONTACTS.contains(&next.trim_end_matches(['.', ':']).to_lowercase().as_str());
        let town = rest.split(['.', ';']).next().unwrap_or_default();
        let state = town.split_whitespace().last().is_some_and(|word| {
            word.len() == 2 && word.bytes().all(|b| b.is_ascii_uppercase()) && town.split_whitespace().count() > 1
        });
        let address = super::ends_with_zip(rest) || is_post_box(rest);
        // A remark goes on in small letters: `Some Mutual, runs out in May`.
        let small = next.len() > 2 && next.bytes().all(|b| b.is_ascii_lowercase());
        let remark = small && !is_trade_mark(next) && !JOINTS.contains(&next);
        if mark == "," && (contact || is_form(before) || state || address || remark) {
            end = place;
            break;
        }
        let is_short = before.chars().count() <= 3 || is_shortened(&whole[place - before.len()..=place]);
        // `Fern Insurance Co. of Texas` goes on.
        let named_place = rest.split_whitespace().nth(1).is_some_and(|word| word.starts_with(char::is_uppercase));
        let goes_on = matches!(next, "of" | "de" | "du") && named_place;
        let sentence = whole[place + 1..].starts_with(' ') && (!is_short || is_form(before)) && !goes_on;
        if mark == "." && sentence {
            end = place + 1;
            break;
        }
    }
    let kept = text[..end].trim_end_matches(|c: char| c.is_whitespace() || "\"'”*,;:-–(?!".contains(c));
    let last = kept.rsplit(' ').next().unwrap_or_default();
    if keeps_stop(last) { kept } else { kept.trim_end_matches('.') }
}

/// Words of a label behind a name.
const MAX_LABEL: usize = 3;

/// Where a name with its legal form ends before the label of something else: `Fern Hollow LLC Client code: FERN-01`.
fn labelled(text: &str) -> Option<usize> {
    let (name, _) = text.split_once(": ")?;
    let mut words = name.rsplit(' ');
    let label: usize = words.by_ref().take_while(|word| !is_form(word)).map(|word| word.len() + 1).sum();
    let end = name.len().checked_sub(label).filter(|end| *end > 0 && label > 0)?;
    (name[end..].split_whitespace().count() <= MAX_LABEL).then_some(end)
}

/// Where a number begins that is no part of a name: the house's, with a whole address behind it, or one with its label,
/// such as `MC 123456`.
fn numbered(text: &str) -> Option<usize> {
    let addressed = super::ends_with_zip(text);
    let mut at = 0;
    let mut label: Option<usize> = None;
    for piece in text.split(' ') {
        let start = at;
        at += piece.len() + 1;
        let bare = piece.trim_matches(['#', ':', '-', ',', '.', '(', ')']);
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        if start > 0 && addressed && (digits > 0 || is_post_box(&text[start..])) {
            return Some(start);
        }
        if let Some(label) = label.filter(|_| digits >= LEAST_DIGITS && digits == bare.len()) {
            return Some(label);
        }
        if start > 0
            && CONTACTS.contains(&bare.to_lowercase().as_str())
            && begins_with_number(&text[at.min(text.len())..])
        {
            return Some(start);
        }
        let letters = bare.bytes().take_while(u8::is_ascii_uppercase).count();
        let glued = bare[letters..].trim_start_matches(['#', '-']);
        let is_glued = glued.len() >= LEAST_DIGITS && glued.bytes().all(|b| b.is_ascii_digit());
        let acronym = (2..=MAX_ACRONYM).contains(&letters) && start > 0 && !is_form(piece);
        if acronym && is_glued {
            return Some(start);
        }
        label = match label {
            Some(label) if bare.is_empty() => Some(label),
            _ => (acronym && letters == bare.len()).then_some(start),
        };
    }
    None
}

fn begins_with_number(text: &str) -> bool {
    text.trim_start_matches([' ', '(', '+']).starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a text is the line of an address: the number of a house and a street, or a post office box.
fn is_street(text: &str) -> bool {
    let street = |word: &str| STREETS.contains(&word.trim_end_matches(['.', ',']).to_lowercase().as_str());
    let numbered = text.starts_with(|c: char| c.is_ascii_digit()) && text.split(' ').skip(1).any(street);
    (numbered || is_post_box(text)) && !has_form(text)
}

/// Whether a text is a town with its state: `Fern Hollow, CO`. Where all of it is in capitals, `CO` may be a company's.
fn is_town(text: &str) -> bool {
    let Some((town, state)) = text.rsplit_once(", ") else { return false };
    let is_state = state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase());
    is_state && (state == "CO" || !is_form(state)) && town.contains(char::is_lowercase) && !has_form(town)
}

/// Whether a text begins with a post office box.
fn is_post_box(text: &str) -> bool {
    let plain: String = text.chars().take(8).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    plain.starts_with("pobox")
}

/// Whether a name has a legal form.
pub(in super::super) fn has_form(name: &str) -> bool {
    name.split_whitespace().any(|word| is_form(word) || is_trade_mark(word))
}

/// Past an article at the beginning of a text.
fn past_article(text: &str) -> usize {
    let start = text.len() - text.trim_start().len();
    let article = ARTICLES.iter().find(|article| text[start..].starts_with(**article));
    start + article.map_or(0, |article| article.len())
}

/// The business with a legal form that a text begins with.
pub(in super::super) fn leading_business(text: &str) -> Option<ReadValue> {
    let line = clip(text, MAX_LEADING).split('\n').next().unwrap_or_default();
    let start = past_article(line);
    businesses_from(line, start).into_iter().next().filter(|read| read.start == start)
}

/// The run of words with capitals that a text begins with.
pub(in super::super) fn leading_run(text: &str) -> Option<ReadValue> {
    let line = clip(text, MAX_LEADING).split('\n').next().unwrap_or_default();
    let start = past_article(line);
    let run = find_capitalised(line).into_iter().next().filter(|read| read.start == start)?;
    Some(ReadValue { fit: 0.93, ..run })
}

/// A name: the rest of the line without remarks.
pub(super) fn name(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let article = ARTICLES.iter().find(|article| text[start..].starts_with(**article));
    let start = start + article.map_or(0, |article| article.len());
    let line = text[start..].split('\n').next().unwrap_or_default();
    let cut = line.char_indices().nth(MAX_NAME + 1).map_or(line.len(), |(at, _)| at);
    let value = tidy(&line[..cut]);
    let words = value.split_whitespace().count();
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let length = value.chars().count();
    let digits = value.chars().filter(char::is_ascii_digit).count();
    if digits > letters || super::ends_with_zip(value) || is_street(value) || is_town(value) {
        return None;
    }
    if letters < 2 || length > MAX_NAME || words > MAX_NAME_WORDS || value.contains('@') || value.contains("://") {
        return None;
    }
    if ["none", "n/a", "na", "tbd", "unknown", "to be assigned", "same", "null", "true", "false"]
        .contains(&value.to_lowercase().as_str())
    {
        return None;
    }
    let of_label = |word: &str| OF_LABELS.contains(&word.to_lowercase().as_str());
    if words > 1 && value.split(|c: char| !c.is_alphanumeric()).all(of_label) {
        return None;
    }
    let form = has_form(value);
    let lower = value.chars().next().is_some_and(char::is_lowercase);
    let fit = if form {
        1.0
    } else if lower {
        0.6
    } else {
        0.93
    };
    Some(ReadValue::new(value, start, start + value.len(), fit))
}

/// A name that goes on in the next line, as a narrow column breaks it. What follows a whole name, such as the lines of an
/// address, is no part of it.
pub(in super::super) fn name_over_lines(text: &str) -> Option<ReadValue> {
    let mut whole = 0;
    for line in text.split_inclusive('\n') {
        let (before, line_of) = (text[..whole].trim_end(), line.trim());
        let last = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let goes_on = line_of.starts_with(char::is_alphabetic)
            && (!is_form(last) || line_of.starts_with(char::is_lowercase))
            && !(super::ends_with_zip(line_of) || is_street(line_of) || is_town(line_of));
        if whole > 0 && !goes_on {
            break;
        }
        whole += line.len();
    }
    let one_line = text[..whole].trim_end().replace(['\n', '\r'], " ");
    let read = name(&one_line)?;
    let value = one_line[read.start..read.end].split_whitespace().collect::<Vec<_>>().join(" ");
    Some(ReadValue::new(value, read.start, read.end, read.fit))
}

/// Free text: the rest of the line.
pub(super) fn text(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let line = text[start..].split('\n').next().unwrap_or_default();
    let cut = line.char_indices().nth(MAX_TEXT).map_or(line.len(), |(at, _)| at);
    let value = line[..cut].trim_end().trim_end_matches(['"', ',', ';', '*']).trim_end();
    value.chars().any(char::is_alphanumeric).then(|| ReadValue::new(value, start, start + value.len(), 0.95))
}

#[cfg(test)]
mod tests;
