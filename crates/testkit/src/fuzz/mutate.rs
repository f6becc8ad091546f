//! Small damage to an input.

use super::{Chance, MAX_INPUT};

/// Numbers at which programs go wrong.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "255",
    "256",
    "32768",
    "65535",
    "65536",
    "99999",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e308",
    "0.00001",
    "999999999999999999999999999999",
];

/// Damages an input once: bytes, pieces, words of the format, numbers. `other` lends pieces.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], words: &[&'static [u8]], chance: &Chance) {
    let at = chance.index(input.len());
    let most = 1 << chance.below(8);
    let end = input.len().min(at + 1 + chance.index(most));
    match chance.below(12) {
        0 => input.truncate(at),
        1 | 2 if !input.is_empty() => input[at] = chance.byte(),
        3 if !input.is_empty() => input[at] ^= 1 << chance.below(8),
        4 => {
            input.drain(at.min(end)..end);
        }
        5 => {
            let piece = piece(input, most, chance);
            input.splice(at..at, piece);
        }
        6 => {
            let piece = piece(other, most * 4, chance);
            input.splice(at..at, piece);
        }
        7 => replace_number(input, at, chance),
        8 => {
            // Many times the same: nesting, counts, long lines.
            let piece = piece(input, 1 << chance.below(6), chance);
            let times = 1 << chance.below(12);
            let room = MAX_INPUT.saturating_sub(input.len());
            let times = times.min(room / piece.len().max(1));
            input.splice(at..at, piece.repeat(times));
        }
        9 => {
            let twin = chance.index(input.len());
            if !input.is_empty() {
                input.swap(at, twin);
            }
        }
        _ if words.is_empty() => input.insert(at, chance.byte()),
        _ => {
            let word = words[chance.index(words.len())];
            let until = if chance.percent(50) { at } else { input.len().min(at + word.len()) };
            input.splice(at..until, word.iter().copied());
        }
    }
}

fn piece(from: &[u8], most: usize, chance: &Chance) -> Vec<u8> {
    let at = chance.index(from.len());
    from[at..from.len().min(at + 1 + chance.index(most))].to_vec()
}

fn replace_number(input: &mut Vec<u8>, at: usize, chance: &Chance) {
    let Some(start) = input[at..].iter().position(u8::is_ascii_digit).map(|digit| at + digit) else { return };
    let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    input.splice(start..start + length, chance.one(NUMBERS).bytes());
}
