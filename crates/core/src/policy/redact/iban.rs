//! Bank accounts by their international number, whose check digits have to hold.

use super::bytes::{at, slice};

/// How long each country's numbers are, from the registry of ISO 13616.
const LENGTHS: [(&[u8; 2], usize); 78] = [
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NL", 18),
    (b"NO", 15),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"XK", 20),
];

/// Where a number that begins at `from` ends, also one in groups of four.
pub(super) fn ends(text: &[u8], from: usize) -> Option<usize> {
    let length = LENGTHS.iter().find(|(country, _)| slice(text, from, from + 2) == *country)?.1;
    let (mut letters, mut count, mut n) = ([0_u8; 34], 0, from);
    while count < length {
        let byte = at(text, n);
        let gap = matches!(byte, b' ' | b'-') && count > 0 && count % 4 == 0;
        if byte.is_ascii_alphanumeric() {
            *letters.get_mut(count)? = byte.to_ascii_uppercase();
            count += 1;
        } else if !gap || !at(text, n + 1).is_ascii_alphanumeric() {
            return None;
        }
        n += 1;
    }
    let ends_here = !at(text, n).is_ascii_alphanumeric() && at(text, n) != b'_';
    (ends_here && holds(slice(&letters, 0, length))).then_some(n)
}

/// The check of ISO 7064, modulo 97: the first four characters go to the end, and letters count from 10.
fn holds(letters: &[u8]) -> bool {
    let (head, tail) = letters.split_at(4.min(letters.len()));
    let rest = tail.iter().chain(head).fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte.saturating_sub(b'A')) + 10) % 97,
    });
    rest == 1
}
