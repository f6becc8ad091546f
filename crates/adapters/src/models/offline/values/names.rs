//! Names of businesses, and free text.

use super::{Read, indent};

const MAX_NAME: usize = 120;
const MAX_NAME_WORDS: usize = 12;
const MAX_TEXT: usize = 300;
/// Words of a run of capitals that may be a name.
const MAX_RUN: usize = 8;
/// Words that a bare business name may have before its form.
const MAX_BARE_WORDS: usize = 6;
/// Words before a name in a sentence.
const ARTICLES: [&str; 8] = ["the ", "la ", "le ", "el ", "les ", "los ", "las ", "l'"];
/// Legal forms, as they end a business's name.
const FORMS: [&str; 34] = [
    "llc",
    "l.l.c.",
    "l.l.c",
    "inc",
    "inc.",
    "incorporated",
    "corp",
    "corp.",
    "corporation",
    "ltd",
    "ltd.",
    "limited",
    "ltée",
    "ltee",
    "ltée.",
    "lp",
    "l.p.",
    "llp",
    "l.l.p.",
    "lllp",
    "pllc",
    "plc",
    "co.",
    "co-op",
    "cooperative",
    "gmbh",
    "s.a.",
    "c.v.",
    "cv",
    "s.l.",
    "enr.",
    "s.e.n.c.",
    "jv",
    "pc",
];

fn is_form(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ':', ')']).to_lowercase();
    FORMS.contains(&word.as_str()) || FORMS.contains(&word.trim_end_matches('.'))
}

/// Whether the full stop after a word is part of it, as in `Inc.`
fn keeps_stop(word: &str) -> bool {
    word.ends_with('.') && FORMS.contains(&word.to_lowercase().as_str())
}

/// Cuts what no longer belongs to a name: remarks in brackets, numbers of telephones, the next sentence.
fn tidy(text: &str) -> &str {
    let mut end = text.len();
    for mark in [" (", " [", " <", "; ", " | ", "\","] {
        if let Some(at) = text[..end].find(mark) {
            end = at;
        }
    }
    let whole = &text[..end];
    for (place, mark) in whole.match_indices([',', '.']) {
        let before = whole[..place].rsplit(' ').next().unwrap_or_default();
        let rest = whole[place + 1..].trim_start();
        let next = rest.split_whitespace().next().unwrap_or_default();
        if rest.is_empty() || is_form(next) {
            continue;
        }
        let contact = next.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '(' | '+')) || next.contains('@');
        let town = rest.split(['.', ';']).next().unwrap_or_default();
        let state = town.split_whitespace().last().is_some_and(|word| {
            word.len() == 2 && word.bytes().all(|b| b.is_ascii_uppercase()) && town.split_whitespace().count() > 1
        });
        if mark == "," && (contact || is_form(before) || state) {
            end = place;
            break;
        }
        let sentence = whole[place + 1..].starts_with(' ') && (before.chars().count() > 3 || is_form(before));
        if mark == "." && sentence {
            end = place + 1;
            break;
        }
    }
    let kept = text[..end].trim_end_matches(|c: char| c.is_whitespace() || "\"'”*,;:-–(".contains(c));
    let last = kept.rsplit(' ').next().unwrap_or_default();
    if keeps_stop(last) { kept } else { kept.trim_end_matches('.') }
}

/// A name: the rest of the line without remarks.
pub(super) fn name(text: &str) -> Option<Read> {
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
    if digits > letters || super::ends_with_zip(value) {
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
    let form = value.split_whitespace().any(is_form);
    let lower = value.chars().next().is_some_and(char::is_lowercase);
    let fit = if form {
        1.0
    } else if lower {
        0.6
    } else {
        0.93
    };
    Some(Read::new(value, start, start + value.len(), fit))
}

/// Free text: the rest of the line.
pub(super) fn text(text: &str) -> Option<Read> {
    let start = indent(text);
    let line = text[start..].split('\n').next().unwrap_or_default();
    let cut = line.char_indices().nth(MAX_TEXT).map_or(line.len(), |(at, _)| at);
    let value = line[..cut].trim_end().trim_end_matches(['"', ',', ';', '*']).trim_end();
    value.chars().any(char::is_alphanumeric).then(|| Read::new(value, start, start + value.len(), 0.95))
}

/// Every name in a line that ends with a legal form and begins with capitals.
pub(in super::super) fn find_businesses(line: &str) -> Vec<Read> {
    let mut found = Vec::new();
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    for piece in line.split(' ') {
        let start = at;
        at += piece.len() + 1;
        if piece.is_empty() {
            continue;
        }
        if is_form(piece) && !words.is_empty() {
            let first = words[0].0;
            let end = start + piece.trim_end_matches([',', ';', ':', ')', '"']).len();
            let value = line[first..end].trim_start_matches(['"', '(', '“', '\'', '*']);
            let first = end - value.len();
            let value = tidy(value);
            found.push(Read::new(value, first, first + value.len(), 1.0));
            words.clear();
            continue;
        }
        let bare = piece.trim_start_matches(['"', '(', '“', '\'', '*']);
        if matches!(bare.to_lowercase().as_str(), "for" | "para" | "pour" | "für") {
            words.clear();
            continue;
        }
        let capital = bare.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let joins = matches!(bare, "&" | "and" | "of" | "the") && !words.is_empty();
        let ends = bare.ends_with([':', ';', '.', '!', '?', ')'])
            || (bare.ends_with(',') && !next_is_form(&line[at.min(line.len())..]));
        if !(capital || joins) {
            words.clear();
            continue;
        }
        words.push((start, piece));
        if words.len() > MAX_BARE_WORDS {
            words.remove(0);
        }
        if ends {
            words.clear();
        }
    }
    found
}

/// Every run of two to eight words that begin with capitals; `of`, `and` and `&` may stand between them.
pub(in super::super) fn find_capitalised(line: &str) -> Vec<Read> {
    let mut found = Vec::new();
    let mut run: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    let mut close = |run: &mut Vec<(usize, &str)>| {
        while run.last().is_some_and(|(_, word)| word.starts_with(char::is_lowercase) || *word == "&") {
            run.pop();
        }
        if let (Some((start, _)), Some((last, word))) = (run.first(), run.last())
            && (2..=MAX_RUN).contains(&run.len())
        {
            let value = tidy(&line[*start..last + word.len()]);
            found.push(Read::new(value, *start, start + value.len(), 1.0));
        }
        run.clear();
    };
    for piece in line.split(' ') {
        let start = at;
        at += piece.len() + 1;
        let bare = piece.trim_start_matches(['"', '(', '“', '\'', '*', '¿', '¡']);
        let start = start + piece.len() - bare.len();
        let joins = matches!(bare, "&" | "and" | "of") && !run.is_empty();
        if !(bare.starts_with(char::is_uppercase) || joins) {
            close(&mut run);
            continue;
        }
        run.push((start, bare));
        if bare.ends_with([',', ':', ';', '!', '?', ')']) || (bare.ends_with('.') && !keeps_stop(bare)) {
            close(&mut run);
        }
    }
    close(&mut run);
    found
}

fn next_is_form(rest: &str) -> bool {
    rest.split(' ').find(|word| !word.is_empty()).is_some_and(is_form)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(read: Option<Read>) -> String {
        read.and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    #[test]
    fn names_end_where_remarks_begin() {
        for (text, expected) in [
            ("Prairie Lantern Mutual Insurance Company (NAIC", "Prairie Lantern Mutual Insurance Company"),
            ("Copper Kettle Hauling Inc.", "Copper Kettle Hauling Inc."),
            ("Ironwood Lane Insurance Agency, (512) 555-0100", "Ironwood Lane Insurance Agency"),
            ("Thistle Run Carriers LLC. ", "Thistle Run Carriers LLC"),
            ("Bramble Fork Trucking,", "Bramble Fork Trucking"),
            ("Acme Freight, LLC", "Acme Freight, LLC"),
            ("Dry Creek Hauling LLC, Waco, TX", "Dry Creek Hauling LLC"),
            ("\"Sorrel Canyon Carriers LLC\",", "Sorrel Canyon Carriers LLC"),
            ("none", ""),
        ] {
            assert_eq!(value(name(text)), expected, "{text}");
        }
    }

    #[test]
    fn businesses_are_found_by_their_form() {
        let found = |line: &str| find_businesses(line).into_iter().map(|read| value(Some(read))).collect::<Vec<_>>();
        assert_eq!(found("Need a quote: Dry Creek Hauling LLC, DOT 9228815, Waco, TX."), ["Dry Creek Hauling LLC"]);
        assert_eq!(found("Merci – Bureau, Côte Blanche Carriers LLC"), ["Côte Blanche Carriers LLC"]);
        assert_eq!(found("we like trucks inc"), Vec::<String>::new());
        assert_eq!(found("Windmill Draw Transport Inc."), ["Windmill Draw Transport Inc."]);
    }
}
