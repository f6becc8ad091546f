//! Names in a line of text: of businesses by their legal form or the name under which they trade, and runs of capitals.

use kybern_core::list;

use smol_str::StrExt;

use super::ReadValue;
use super::names::{is_form, is_shortened, keeps_stop, tidy};

/// Words of a run of capitals that may be a name.
const MAX_RUN: usize = 8;
/// Words that a bare business name may have before its form.
const MAX_BARE_WORDS: usize = 8;
/// Digits of a word that is no part of a run of capitals.
const LEAST_DIGITS: usize = 3;
/// Small words inside the name of a business.
const INNER: [&str; 17] =
    ["&", "and", "of", "the", "y", "e", "et", "de", "del", "du", "des", "la", "las", "los", "le", "les", "und"];

/// Words that are no company's own: `No LLC yet` and `my LLC` name none.
const NOT_OWN: [&str; 12] =
    ["limited", "liability", "company", "naic", "the", "a", "an", "any", "no", "my", "our", "your"];

/// Every name in a line that ends with a legal form and begins with capitals.
pub(in super::super) fn find_businesses(line: &str) -> Vec<ReadValue> {
    businesses_from(line, usize::MAX)
}

/// The same, as far as they begin at or before a byte.
pub(super) fn businesses_from(line: &str, last: usize) -> Vec<ReadValue> {
    let mut found = Vec::new();
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    for piece in line.split(' ') {
        let mut start = at;
        at += piece.len() + 1;
        if piece.is_empty() {
            continue;
        }
        if start > last && words.first().is_none_or(|(first, _)| *first > last) {
            break;
        }
        let mut piece = piece;
        if let Some((_, name)) = piece.rsplit_once(':').filter(|(_, name)| name.starts_with(char::is_uppercase)) {
            // A label that stands close to its value.
            words.clear();
            start += piece.len() - name.len();
            piece = name;
        }
        // `Company` is a word of labels too: `Insurance Company`.
        let least = if piece.to_lowercase_smolstr().starts_with("company") { 2 } else { 1 };
        if is_form(piece) && words.len() >= least {
            let first = words[0].0;
            let end = past_forms(line, start + piece.trim_end_matches([',', ';', ':', ')', '"']).len());
            let value = line[first..end].trim_start_matches(['"', '(', '“', '\'', '*']);
            let first = end - value.len();
            let value = tidy(value);
            if has_own_word(value) && found.last().is_none_or(|last: &ReadValue| last.end <= first) {
                found.push(ReadValue::new(value, first, first + value.len(), 1.0));
            }
            words.clear();
            continue;
        }
        let bare = piece.trim_start_matches(['"', '(', '“', '\'', '*']);
        if is_no_part(bare) {
            words.clear();
            continue;
        }
        let capital = bare.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()) || is_oddly_set(bare);
        let joins = INNER.contains(&bare) && !words.is_empty();
        let digits = |word: &str| word.bytes().filter(u8::is_ascii_digit).count();
        if joins && words.last().is_some_and(|(_, last)| digits(last) >= LEAST_DIGITS) {
            // The number of something that is the company's: `NBI-100234 of Fern Hollow LLC`.
            words.clear();
            continue;
        }
        if piece.starts_with('(') {
            // What stands in brackets is a name of its own.
            words.clear();
        }
        let more = &line[at.min(line.len())..];
        let ends = bare.ends_with([':', ';', '!', '?', ')'])
            || (bare.ends_with('.') && !is_shortened(bare) && !more.starts_with("de R.L."))
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
    let mut trades = find_trade_names(line);
    trades.retain(|trade| trade.start <= last);
    found.retain(|read| {
        let next = trades.partition_point(|trade| trade.end <= read.start);
        trades.get(next).is_none_or(|trade| trade.start >= read.end)
    });
    found.append(&mut trades);
    found.sort_by_key(|read| read.start);
    found
}

/// Whether a word has a capital within it: `expReSS`, as a letterhead in several sizes reads.
fn is_oddly_set(word: &str) -> bool {
    word.contains(char::is_uppercase) && word.chars().all(|c| c.is_alphabetic() || c == ',')
}

/// Whether a word is never part of a name that begins behind it: `for`, how a letter begins, and who speaks.
pub(super) fn is_no_part(word: &str) -> bool {
    const WORDS: &[&str] = list!(
        "for, para, pour, für, dear, estimado, estimada, estimados, estimadas, chers, somos, soy, habla, sommes, suis, \
         wir, we're, i'm, it's, we’re, i’m, it’s"
    );
    WORDS.contains(&word.to_lowercase_smolstr().as_str())
}

/// Every name in a line that says under which name somebody does business: `Ada Example D/B/A Fern Hollow`.
fn find_trade_names(line: &str) -> Vec<ReadValue> {
    let mut found = Vec::new();
    let pieces: Vec<(usize, &str)> = line
        .split(' ')
        .scan(0, |at, piece| {
            let start = *at;
            *at += piece.len() + 1;
            Some((start, piece))
        })
        .collect();
    for (place, _) in pieces.iter().enumerate().filter(|(_, (_, piece))| is_trade_mark(piece)) {
        let parts = |piece: &str| piece.ends_with([',', ';', ':', '.', '!', '?', ')']);
        let capital = |piece: &str| piece.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let before = pieces[..place].iter().rev().take(MAX_BARE_WORDS);
        let before = before.take_while(|(_, piece)| !parts(piece) && (capital(piece) || INNER.contains(piece)));
        let mut end = None;
        for (start, piece) in pieces[place + 1..].iter().take(MAX_RUN) {
            let bare = piece.trim_end_matches([',', ';', ':', '!', '?', ')', '.']);
            if !(capital(bare) || INNER.contains(&bare)) {
                break;
            }
            if capital(bare) {
                end = Some(start + bare.len());
            }
            if parts(piece) {
                break;
            }
        }
        let first = before.filter(|(_, piece)| capital(piece)).last();
        if let (Some((first, _)), Some(end)) = (first, end) {
            found.push(ReadValue::new(&line[*first..end], *first, end, 1.0));
        }
    }
    found
}

/// Whether a word stands between somebody's name and the name under which they do business.
pub(super) fn is_trade_mark(word: &str) -> bool {
    ["dba", "d/b/a", "d.b.a."].contains(&word.to_lowercase().as_str())
}

/// Where a business's name ends that has a legal form up to here: `S.A. de C.V.`, `Co. of Waco`.
fn past_forms(line: &str, mut end: usize) -> usize {
    loop {
        let rest = &line[end..];
        let Some(rest) = rest.strip_prefix(' ') else { return end };
        let (joint, next) = match rest.split_once(' ') {
            Some((joint @ ("of" | "de" | "du"), next)) => (joint.len() + 1, next),
            _ => (0, rest),
        };
        let word = next.split(' ').next().unwrap_or_default();
        let bare = word.trim_end_matches([',', ';', ':', ')', '"']);
        let place = joint > 0 && bare.starts_with(char::is_uppercase);
        if bare.is_empty() || !(is_form(bare) || place) {
            return end;
        }
        end += 1 + joint + bare.len();
        if bare.len() < word.len() {
            return end;
        }
    }
}

/// Whether a name has a word of its own beside what says that it is a company.
fn has_own_word(name: &str) -> bool {
    name.split_whitespace().any(|word| !is_form(word) && !NOT_OWN.contains(&word.to_lowercase().as_str()))
}

/// Every run of two to eight words that begin with capitals; `of`, `and` and `&` may stand between them.
pub(in super::super) fn find_capitalised(line: &str) -> Vec<ReadValue> {
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
            let value = if value.contains('(') { value } else { value.trim_end_matches(')') };
            found.push(ReadValue::new(value, *start, start + value.len(), 1.0));
        }
        run.clear();
    };
    for piece in line.split(' ') {
        let start = at;
        at += piece.len() + 1;
        let bare = piece.trim_start_matches(['"', '(', '“', '\'', '*', '¿', '¡']);
        let start = start + piece.len() - bare.len();
        let joins = INNER.contains(&bare) && bare != "the" && !run.is_empty();
        let opens = !run.is_empty() || !["and", "of"].contains(&bare.to_lowercase().as_str());
        // A number of something ends the name before it.
        let number = bare.bytes().filter(u8::is_ascii_digit).count() >= LEAST_DIGITS;
        if number || !(bare.starts_with(char::is_uppercase) && opens || joins) {
            close(&mut run);
            continue;
        }
        run.push((start, bare));
        // `Fern Hollow Co. Need it today`: behind a name with its form a sentence may begin.
        let next = line.get(at..).unwrap_or_default();
        let formed = keeps_stop(bare) && run.len() > 2 && !next_is_form(next);
        if bare.ends_with([',', ':', ';', '!', '?', ')']) || (bare.ends_with('.') && !keeps_stop(bare)) || formed {
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

    #[test]
    fn businesses_are_found_by_their_form() {
        let found = |line: &str| {
            find_businesses(line)
                .into_iter()
                .map(|read| read.value.as_str().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(found("Need a quote: Dry Creek Hauling LLC, DOT 9228815, Waco, TX."), ["Dry Creek Hauling LLC"]);
        assert_eq!(found("Merci – Bureau, Côte Blanche Carriers LLC"), ["Côte Blanche Carriers LLC"]);
        assert_eq!(found("we like trucks inc"), Vec::<String>::new());
        assert_eq!(found("Dry Creek Freight expReSS, Inc."), ["Dry Creek Freight expReSS, Inc."]);
        assert_eq!(found("LIMITED LIABILITY CO."), Vec::<String>::new());
        assert_eq!(found("Dear Dry Creek Hauling LLC,"), ["Dry Creek Hauling LLC"]);
        assert_eq!(found("We're Dry Creek Hauling LLC, and I’m Ann"), ["Dry Creek Hauling LLC"]);
        assert_eq!(found("Somos Transportes Fern LLC"), ["Transportes Fern LLC"]);
        assert_eq!(found("No LLC or DOT yet. My LLC comes later."), Vec::<String>::new());
        for name in ["Carga y Logística Luna S.A. de C.V.", "Fern Hollow Co. of America", "Luna S. de R.L. de C.V."] {
            assert_eq!(found(&format!("about {name}, DOT 9228815")), [name]);
        }
        assert_eq!(found("Ada Example D/B/A Fern Hollow runs 2 trucks"), ["Ada Example D/B/A Fern Hollow"]);
        assert_eq!(found("ADA EXAMPLE DBA FERN HOLLOW FREIGHT, WACO"), ["ADA EXAMPLE DBA FERN HOLLOW FREIGHT"]);
        assert_eq!(found("what does dba mean"), Vec::<String>::new());
        assert_eq!(found("Windmill Draw Transport Inc."), ["Windmill Draw Transport Inc."]);
        assert_eq!(found("for Windmill Bros. Freight Inc, DOT 9228815"), ["Windmill Bros. Freight Inc"]);
    }
}
