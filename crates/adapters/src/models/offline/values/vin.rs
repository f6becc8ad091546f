//! Vehicle identification numbers.

use super::{ReadValue, indent};

const LENGTH: usize = 17;
/// Digits of something that is a VIN but for a letter.
const LEAST_DIGITS: usize = 6;
/// The place of the check digit.
const CHECK: usize = 8;
const WEIGHTS: [u32; LENGTH] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/// What each letter counts (49 CFR 565.15).
const fn worth(letter: u8) -> Option<u32> {
    Some(match letter {
        b'0'..=b'9' => (letter - b'0') as u32,
        b'A'..=b'H' => (letter - b'A') as u32 + 1,
        b'J'..=b'N' => (letter - b'J') as u32 + 1,
        b'P' => 7,
        b'R' => 9,
        b'S'..=b'Z' => (letter - b'S') as u32 + 2,
        _ => return None,
    })
}

/// The check digit that a number ought to have; `None` when it is no VIN at all.
fn check_digit(number: &str) -> Option<char> {
    let mut sum = 0;
    for (letter, weight) in number.bytes().zip(WEIGHTS) {
        sum += worth(letter)? * weight;
    }
    char::from_digit(sum % 11, 11).map(|digit| if digit == 'a' { 'X' } else { digit })
}

/// Seventeen characters of a VIN's alphabet with letters and digits; its last four are digits.
pub(super) fn is_shaped(number: &str) -> bool {
    number.len() == LENGTH
        && number.bytes().all(|letter| worth(letter).is_some())
        && number.bytes().any(|letter| letter.is_ascii_alphabetic())
        && number.bytes().skip(LENGTH - 4).all(|letter| letter.is_ascii_digit())
}

/// The letter in a text, otherwise written like a VIN, that no VIN has: somebody has typed it for a 1 or a 0.
fn forbidden(number: &str) -> Option<char> {
    let digit = |letter: char| if letter == 'I' { '1' } else { '0' };
    let letter = number.chars().find(|letter| matches!(letter, 'I' | 'O' | 'Q'))?;
    let mended: String = number.chars().map(|c| if matches!(c, 'I' | 'O' | 'Q') { digit(c) } else { c }).collect();
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    (number.len() == LENGTH && digits >= LEAST_DIGITS && is_shaped(&mended)).then_some(letter)
}

/// A VIN; a wrong check digit is a problem, not a refusal.
pub(super) fn vin(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let rest = &text[start..];
    let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let number = rest.get(..length)?.to_ascii_uppercase();
    if let Some(letter) = forbidden(&number) {
        let mut read = ReadValue::new(number, start, start + length, 0.6);
        read.problem = Some(format!("it has the letter {letter}, which no vehicle's number has"));
        return Some(read);
    }
    if !is_shaped(&number) {
        return None;
    }
    let expected = check_digit(&number)?;
    let mut read = ReadValue::new(number.clone(), start, start + length, 1.0);
    let found = number.chars().nth(CHECK)?;
    if found != expected {
        read.fit = 0.6;
        read.problem = Some(format!("the check digit is {found}, it should be {expected}"));
    }
    Some(read)
}

pub(in super::super) fn find_vins(text: &str) -> Vec<ReadValue> {
    let mut found = Vec::new();
    let mut at = 0;
    for piece in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        if piece.len() == LENGTH {
            found.extend(vin(piece).map(|read| read.moved(at)));
        }
        // A separator may be longer than one byte.
        at += piece.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_digit_is_checked() {
        assert_eq!(vin("1XKYD49X5MJ914201").unwrap().problem, None);
        assert_eq!(vin("1m8gdm9axkp042788").unwrap().problem, None);
        let wrong = vin("1M1AN4GY4LM961047").unwrap();
        assert!(wrong.problem.unwrap().contains("should be"));
        assert_eq!(vin("1XKYD49X5MJ91420"), None);
        assert!(vin("IXKYD49X5MJ914201").unwrap().problem.unwrap().contains("letter I"));
        assert_eq!(vin("IMPLEMENTATION123"), None);
    }

    #[test]
    fn vins_are_found_in_prose() {
        let text = "é: 1XKYD49X5MJ914201, und 1UYVS2531KU914222.";
        let found = find_vins(text);
        assert_eq!(found.len(), 2);
        assert_eq!(&text[found[1].start..found[1].end], "1UYVS2531KU914222");
    }
}
