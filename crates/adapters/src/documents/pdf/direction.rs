//! Text that runs from right to left, put from the order in which it is seen into the order in which it is read.

use unicode_normalization::UnicodeNormalization as _;

/// The text of a cell whose characters stand from left to right as they are seen.
pub(super) fn logical(seen: String) -> String {
    if !seen.chars().any(is_from_right) {
        return seen;
    }
    let (right, left) = seen.chars().fold((0usize, 0usize), |(right, left), c| {
        (right + usize::from(is_from_right(c)), left + usize::from(!is_from_right(c) && c.is_alphabetic()))
    });
    let chars: Vec<char> = seen.chars().collect();
    let mut read = String::with_capacity(seen.len());
    if right > left {
        // What runs to the right inside of it, numbers above all, stays as it is.
        let mut rest: &[char] = &chars;
        while let Some(last) = rest.last().copied() {
            let run = if is_to_right(last) { run_to_right(rest) } else { 1 };
            let (before, run) = rest.split_at(rest.len() - run);
            read.extend(run.iter().map(|c| if run.len() == 1 { mirrored(*c) } else { *c }));
            rest = before;
        }
    } else {
        let mut rest: &[char] = &chars;
        while let Some(first) = rest.first() {
            let run = if is_from_right(*first) { run_from_right(rest) } else { 1 };
            let (run, after) = rest.split_at(run);
            read.extend(run.iter().rev());
            rest = after;
        }
    }
    // Fonts draw the shapes of letters; the letters are meant.
    read.chars().flat_map(|c| if is_shape(c) { c.nfkc().collect::<Vec<_>>() } else { vec![c] }).collect()
}

/// How many characters at the end belong to one text that runs to the right.
fn run_to_right(chars: &[char]) -> usize {
    let inside = |c: &char| is_to_right(*c) || matches!(c, '.' | ',' | ':' | '/' | '-' | '+' | '\'' | '@' | '_' | '&');
    let run = chars.iter().rev().take_while(|c| inside(c)).count();
    let start = &chars[chars.len() - run..];
    run - start.iter().take_while(|c| !is_to_right(**c)).count()
}

/// How many characters at the start belong to one text that runs to the left.
fn run_from_right(chars: &[char]) -> usize {
    let inside = |c: &char| is_from_right(*c) || (!is_to_right(*c) && !c.is_control());
    let run = chars.iter().take_while(|c| inside(c)).count();
    run - chars[..run].iter().rev().take_while(|c| !is_from_right(**c)).count()
}

fn is_to_right(c: char) -> bool {
    c.is_numeric() || (c.is_alphabetic() && !is_from_right(c)) || matches!(c, '$' | '€' | '%' | '#')
}

/// Hebrew, Arabic and their neighbours, and the shapes of their letters.
pub(in super::super) const fn is_from_right(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{65f}' | '\u{66e}'..='\u{6ef}' | '\u{6fa}'..='\u{8ff}') || is_shape(c)
}

const fn is_shape(c: char) -> bool {
    matches!(c, '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

const fn mirrored(c: char) -> char {
    match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_from_the_right_and_numbers_from_the_left() {
        assert_eq!(logical("12,345 :הסילופ".to_owned()), "פוליסה: 12,345");
        assert_eq!(logical("Policy הסילופ 7".to_owned()), "Policy פוליסה 7");
        assert_eq!(logical("Policy No. 7".to_owned()), "Policy No. 7");
    }
}
