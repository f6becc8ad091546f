//! Cutting a text into pieces that can be found by themselves.
//!
//! A piece ends at the end of a sentence or a paragraph, and begins again with the last sentences of the piece before
//! it, as far as they are short: what stands at a cut is found from both sides. A sentence that alone is too long is cut
//! between words, and a word that alone is too long between characters. The same text gives the same pieces.

use std::ops::Range;

/// The most characters of a piece.
pub const MAX_PIECE: usize = 800;
/// The most characters that a piece repeats of the one before it.
pub const OVERLAP: usize = 160;

/// The pieces of a text, each without the space around it; none when it says nothing.
#[must_use]
pub fn pieces(text: &str) -> Vec<&str> {
    let units = units(text);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    // The units of the present piece.
    let mut first = 0;
    for next in 1..=units.len() {
        let fits = units.get(next).is_some_and(|unit| length(text, units[first].start..unit.end) <= MAX_PIECE);
        if fits {
            continue;
        }
        pieces.push(units[first].start..units[next - 1].end);
        first = match units.get(next) {
            None => break,
            Some(unit) => begin(text, &units, (first, next), unit.end),
        };
    }
    pieces.into_iter().filter_map(|range| text.get(range)).collect()
}

/// Where the piece begins that ends behind unit `next`: with as many units of the piece before as are short enough
/// together and leave it room.
fn begin(text: &str, units: &[Range<usize>], (first, next): (usize, usize), end: usize) -> usize {
    let mut begin = next;
    while begin > first + 1 {
        let start = units[begin - 1].start;
        let repeats = length(text, start..units[next - 1].end);
        if repeats > OVERLAP || length(text, start..end) > MAX_PIECE {
            break;
        }
        begin -= 1;
    }
    begin
}

fn length(text: &str, range: Range<usize>) -> usize {
    text.get(range).map_or(0, |part| part.chars().count())
}

/// The sentences of a text, in order: none is empty, none is longer than a piece, and only space lies between them.
fn units(text: &str) -> Vec<Range<usize>> {
    let mut units = Vec::new();
    let (mut start, mut ended, mut blank) = (None::<usize>, false, 0);
    let mut stop = 0;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            blank += usize::from(c == '\n');
            // After a sentence any space ends it, elsewhere only an empty line does.
            if let Some(begun) = start.filter(|_| ended || blank > 1) {
                cut(text, begun..stop, &mut units);
                start = None;
            }
            continue;
        }
        start = start.or(Some(at));
        blank = 0;
        // Quotes and brackets may close behind the end of a sentence.
        ended = matches!(c, '.' | '!' | '?' | '…' | '。') || (ended && matches!(c, '"' | '\'' | ')' | ']' | '”' | '’'));
        stop = at + c.len_utf8();
    }
    if let Some(begun) = start {
        cut(text, begun..stop, &mut units);
    }
    units
}

/// Adds a sentence, in parts where it is longer than a piece.
fn cut(text: &str, sentence: Range<usize>, units: &mut Vec<Range<usize>>) {
    let mut start = sentence.start;
    while let Some(rest) = text.get(start..sentence.end).filter(|rest| !rest.is_empty()) {
        let Some((end, _)) = rest.char_indices().nth(MAX_PIECE) else {
            units.push(start..sentence.end);
            return;
        };
        // The last space that leaves a part which is not empty.
        let space = rest.get(..end).and_then(|part| part.rfind(char::is_whitespace)).filter(|at| *at > 0);
        let end = space.unwrap_or(end);
        let part = rest.get(..end).unwrap_or_default().trim_end();
        units.push(start..start + part.len());
        let skipped = rest.get(end..).map_or(0, |after| after.len() - after.trim_start().len());
        start += end + skipped;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_is_one_piece() {
        assert_eq!(pieces("  One. Two!\n\nThree \n"), ["One. Two!\n\nThree"]);
        assert!(pieces(" \n\t ").is_empty() && pieces("").is_empty());
    }

    #[test]
    fn pieces_end_with_sentences_and_repeat_the_last_short_ones() {
        let sentence =
            |n: usize| format!("This is sentence number {n:03} of a text that goes on for quite a while here.");
        let text = (0..30).map(sentence).collect::<Vec<_>>().join(" ");
        let pieces = pieces(&text);
        assert!(pieces.len() > 2);
        for pair in pieces.windows(2) {
            assert!(pair[0].ends_with("here."), "{:?}", pair[0]);
            let last: String = pair[0].chars().skip(pair[0].chars().count() - 76).collect();
            assert!(pair[1].starts_with("This is") && pair[1].contains(last.trim()), "{:?}", pair[1]);
        }
    }

    #[test]
    fn an_empty_line_ends_a_piece_and_a_long_word_is_cut() {
        let paragraphs = format!("{}\n\n{}", "word ".repeat(120).trim(), "other ".repeat(60).trim());
        assert_eq!(pieces(&paragraphs).len(), 2);
        let long = "ä".repeat(2 * MAX_PIECE + 1);
        let lengths: Vec<usize> = pieces(&long).iter().map(|piece| piece.chars().count()).collect();
        assert_eq!(lengths, [MAX_PIECE, MAX_PIECE, 1]);
    }

    proptest! {
        #[test]
        fn pieces_are_bounded_and_leave_nothing_out(text in "([a-zäß.!? \n]{0,12}|[a-z]{0,900}|\\PC{0,20}){0,60}") {
            let found = pieces(&text);
            let mut covered = 0;
            for piece in &found {
                prop_assert!(!piece.is_empty() && piece.trim() == *piece && piece.chars().count() <= MAX_PIECE);
                let start = piece.as_ptr().addr() - text.as_ptr().addr();
                // Only space lies between what is covered and the next piece.
                if let Some(between) = text.get(covered..start) {
                    prop_assert!(between.trim().is_empty(), "{between:?}");
                }
                prop_assert!(start + piece.len() > covered, "a piece that adds nothing");
                covered = start + piece.len();
            }
            prop_assert!(text.get(covered..).unwrap_or_default().trim().is_empty());
        }
    }
}
